"""Running `slaq` as a person does, without the price of a new process."""

import contextlib
import io
from dataclasses import dataclass
from unittest.mock import patch

from slaq.cli import main


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


def slaq(*arguments: str) -> Result:
    """The exit code and what was printed, of the very function that the installed script calls."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), patch("sys.argv", ["slaq", *arguments]):
        try:
            main()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return Result(code, out.getvalue(), err.getvalue())
