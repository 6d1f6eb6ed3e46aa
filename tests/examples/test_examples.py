"""Every example is short, says how to run it, and is run by a test."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path for path in (ROOT / "examples").rglob("*") if path.suffix in (".py", ".java"))
RUN_BY = {
    "ask_tell": "sdk/test_attach.py",
    "cross_validator": "sdk/test_attach.py",
    "custom_optimizer": "sdk/test_attach.py",
    "optuna_trials": "tuning/test_optuna.py",
    "unmodified_mllib": "driver/test_drivers.py",
    "xgboost_barrier": "sdk/test_xgboost.py",
    "Train": "driver/test_drivers.py",
}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_it_is_run_by_a_test_and_says_how_to_run_it(path):
    test = (ROOT / "tests" / RUN_BY[path.stem]).read_text("utf-8")
    assert path.stem in test
    text = path.read_text("utf-8")
    assert f"slaq submit --master 'local[2]' examples/{path.name}" in text or (
        f"python examples/{path.name}" in text or "slaq submit --master 'local[2]' --class Train train.jar" in text
    )
    assert len(text.splitlines()) <= 120
