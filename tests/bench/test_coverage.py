"""What the coverage table calls the same, and which programs it is about."""

import os

import pytest

from slaq.bench._programs import IN_TESTS, ML, MLLIB, PROGRAMS
from slaq.bench.coverage import Run, chosen, compared, normal
from slaq.errors import SlaqError
from slaq.spark.submit import find_spark_home


def ran(printed):
    return Run(0, printed, 1.0)


def test_the_programs_are_those_of_the_wheel():
    home = find_spark_home(os.environ)
    assert (len(ML), len(MLLIB)) == (24, 22)
    assert [program.path for program in PROGRAMS if not (home / program.path).is_file()] == []
    assert set(IN_TESTS) <= {program.name for program in PROGRAMS}


def test_identities_and_blanks_do_not_count_but_numbers_do():
    assert normal("KMeans_0123456789ab  a\n0x7f11") == normal("KMeans_ba9876543210 a 0x8e22\n")
    assert normal("loss 0.5") != normal("loss 0.6")


@pytest.mark.parametrize(
    ("ours", "again", "verdict"),
    [
        ("weights 1", "never run", "same"),
        ("weights 2", "weights 3", "varies, plain as well"),
        ("weights 2", "weights 1", "differs"),
        ("an error instead", "weights 3", "differs"),
    ],
)
def test_only_a_program_that_differs_from_itself_may_differ(ours, again, verdict):
    assert compared(ran("weights 1"), ran(ours), lambda: ran(again)) == verdict


def test_an_unknown_program_is_named():
    with pytest.raises(SlaqError, match="'ml/none' is none of the programs"):
        chosen(("ml/none",))
