"""Files that hold a token: one line, readable by their owner only."""

import os
import stat
from pathlib import Path

from slaq.errors import SlaqError

SHORTEST, LARGEST = 16, 4096
"""Characters of a token, and bytes of its file that are read."""
REMEDY = "make one with: (umask 077; python3 -c 'import secrets; print(secrets.token_urlsafe(32))' > FILE)"


def read_token(file: str | Path) -> str:
    """The token in a file; a SlaqError if others may read the file or it holds no token."""
    path = Path(file).expanduser()
    try:
        # One opening for all three: what is looked at is what is read. A pipe must not make us wait.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as source:
            mode = os.fstat(source.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise SlaqError(f"{path} is not a file; {REMEDY}")
            text = source.read(LARGEST).decode().strip()
    except IsADirectoryError:
        raise SlaqError(f"{path} is not a file; {REMEDY}") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SlaqError(f"cannot read the token in {path}: {reason}; {REMEDY}") from None
    if stat.S_IMODE(mode) & 0o077:
        raise SlaqError(f"{path} holds a token and has mode {stat.S_IMODE(mode):04o}; run: chmod 600 {path}")
    if len(text) < SHORTEST or not text.isascii() or not text.isprintable() or " " in text:
        raise SlaqError(f"{path} holds no token of {SHORTEST} or more printable characters; {REMEDY}")
    return text
