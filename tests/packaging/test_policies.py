"""A policy or predictor from another package: found by its entry point, used, and named if it is broken."""

import subprocess
from pathlib import Path

import pytest

from tests.packaging.beside import installed_beside

GOOD = """
from msgspec import Struct
from slaq.policy import Policy, get


class Turns(Struct, frozen=True):
    taken: int = 0


def allocate(snapshot, memory):
    decision, _ = get("fair").allocate(snapshot, None)
    return decision, Turns(memory.taken + 1)


policy = Policy("theirs", allocate, Turns())
"""
DECIDES = """
from slaq import policy
from slaq.engine import Allocated, CapacityChanged, EpochEnded, JobJoined, PolicyChanged, State, run
from slaq.model import Job

assert policy.names() == sorted(policy.names())
assert {"theirs", "fair"} <= set(policy.names())
events = [CapacityChanged(0.0, 4), PolicyChanged(0.0, "theirs"), JobJoined(0.0, Job("a"))]
state, effects = run(State(), [*events, EpochEnded(1.0), EpochEnded(2.0)])
assert [type(effect) for effect in effects] == [Allocated, Allocated], effects
assert effects[-1].decision.cores == {"a": 4.0}
assert state.memory.taken == 2
"""
NAMES = "from slaq import policy; print(policy.names())"
CONFIGURED = "from slaq.config import load; print(load(env={}, spark={'spark.slaq.policy': 'theirs'}).scheduler.policy)"


@pytest.fixture
def run(tmp_path: Path):
    """Run a program with a package installed whose module has this text."""

    def with_package(module: str, program: str, name: str = "theirs") -> subprocess.CompletedProcess[str]:
        return installed_beside(tmp_path, module, program, name)

    return with_package


def test_the_engine_decides_with_it_and_keeps_its_memory(run):
    done = run(GOOD, DECIDES)
    assert done.returncode == 0, done.stderr


def test_it_can_be_configured_by_its_name(run):
    assert run(GOOD, CONFIGURED).stdout == "theirs\n"


@pytest.mark.parametrize(
    ("module", "name", "sentence"),
    [
        ("import nowhere_to_be_found", "theirs", "policy 'theirs' (their_policy:policy) cannot be loaded"),
        ("policy = 3", "theirs", "their_policy:policy is not a slaq.policy.Policy named 'theirs'"),
        (GOOD, "other", "their_policy:policy is not a slaq.policy.Policy named 'other'"),
    ],
)
def test_a_broken_one_is_named_with_its_place(run, module, name, sentence):
    done = run(module, NAMES, name)
    assert done.returncode == 1
    assert f"slaq.errors.SlaqError: {sentence}" in done.stderr


def test_a_name_of_ours_stays_ours(run):
    program = "from slaq import policy; print(policy.get('fair').allocate.__module__)"
    done = run(GOOD.replace('"theirs"', '"fair"'), program, "fair")
    assert done.stdout.startswith("slaq."), done.stderr


PREDICTOR = """
from slaq.predict import look_ahead


def predictor(jobs, epoch_s, tuning):
    print("asked for", [job.id for job in jobs])
    return look_ahead(jobs, epoch_s, tuning)
"""
PREDICTS = """
from slaq.engine import EpochEnded, JobJoined, PredictorChanged, State, run
from slaq.model import Job

run(State(cores=4), [PredictorChanged(0.0, "theirs"), JobJoined(0.0, Job("a")), EpochEnded(1.0)])
"""


def test_the_engine_predicts_with_it(run):
    done = run(PREDICTOR, PREDICTS)
    assert done.stdout == "asked for ['a']\n", done.stderr


@pytest.mark.parametrize(
    ("module", "sentence"),
    [
        ("import nowhere_to_be_found", "predictor 'theirs' (their_policy:predictor) cannot be loaded"),
        ("predictor = 3", "predictor 'theirs' (their_policy:predictor) is no function"),
    ],
)
def test_a_broken_predictor_is_named_with_its_place(run, module, sentence):
    assert f"slaq.errors.SlaqError: {sentence}" in run(module, PREDICTS).stderr
