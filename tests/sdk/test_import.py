"""Importing slaq starts nothing and brings neither Spark nor numpy; the public names arrive when used."""

import subprocess
import sys

import pytest

import slaq


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)


def test_importing_starts_nothing_and_imports_no_spark():
    done = run(
        "import sys, threading, slaq\n"
        "assert not {'pyspark', 'py4j', 'numpy', 'slaq.sdk', 'slaq.driver'} & set(sys.modules), sorted(sys.modules)\n"
        "assert threading.active_count() == 1"
    )
    assert done.returncode == 0, done.stderr


def test_reporting_works_without_spark():
    done = run(
        "import sys, slaq\n"
        "for k in range(5): slaq.report(1.0 / (k + 1))\n"
        "assert 'pyspark' not in sys.modules\n"
        "(job,) = slaq.jobs()\n"
        "assert job.losses == (1.0, 1 / 2, 1 / 3, 1 / 4, 1 / 5), job"
    )
    assert done.returncode == 0, done.stderr


def test_attaching_without_spark_is_refused_in_one_sentence():
    done = run("import slaq\ntry: slaq.attach()\nexcept slaq.SlaqError as error: print(error)")
    assert done.stdout.startswith("no Spark session is running: create one with")
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize("name", slaq.__all__)
def test_every_public_name_is_there(name):
    assert getattr(slaq, name) is not None


def test_an_unknown_name_is_an_ordinary_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'reprot'"):
        slaq.reprot  # noqa: B018
