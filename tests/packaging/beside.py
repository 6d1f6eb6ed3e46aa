"""A package of somebody else's, installed beside slaq."""

import subprocess
import sys
from pathlib import Path


def installed_beside(folder: Path, module: str, program: str, name: str) -> subprocess.CompletedProcess[str]:
    """Run a program where a package with this module registers its `policy` and its `predictor` under a name."""
    (folder / "their_policy.py").write_text(module)
    info = folder / "their_policy-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-policy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        f"[slaq.policies]\n{name} = their_policy:policy\n[slaq.predictors]\n{name} = their_policy:predictor\n"
    )
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(folder)!r})\n{program}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
