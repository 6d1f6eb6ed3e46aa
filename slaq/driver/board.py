"""What the sidecar shows to the application: every job it follows, and which of them should end."""

from msgspec import Struct

from slaq.driver.status import JobStatus
from slaq.records import Standing


class Board(Struct, frozen=True):
    """The state of all jobs as the sidecar last wrote it."""

    heard_at: float
    """Everything posted before this time is on the board."""
    jobs: list[JobStatus] = []
    cancelled: list[str] = []
    standings: dict[str, Standing] = {}
    stopping: list[str] = []
