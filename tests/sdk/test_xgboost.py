"""XGBoost on Spark trains in a barrier stage; a callback brings its losses to SLAQ."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.spark
@pytest.mark.slow
def test_the_losses_of_a_barrier_job_arrive() -> None:
    for package in ("xgboost", "pandas", "pyarrow", "sklearn"):
        pytest.importorskip(
            package, reason=f"{package} is not installed: pip install xgboost-cpu pandas pyarrow scikit-learn"
        )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    command = [sys.executable, str(ROOT / "examples" / "xgboost_barrier.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    found = re.search(r"20 rounds, loss (\S+) to (\S+)", done.stdout)
    assert found, done.stdout
    assert float(found[2]) < float(found[1])
