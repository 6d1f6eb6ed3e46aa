"""`slaq.watch()`: the jobs live under a notebook's cell."""

from typing import Any

from slaq.driver.notices import once
from slaq.sdk.jobs import jobs

_view: Any = None


def watch() -> Any:
    """Show the jobs of this program live under the cell: curve, forecast, cores and progress of each.

    Needs the extra `notebook`; without it the table of `slaq.jobs()` is returned. Every call returns the same widget.
    """
    global _view
    try:
        from slaq.sdk.live.widget import LiveView
    except ImportError as error:
        once("watch", "%s; to see the jobs live run: pip install 'slaq[notebook]'. This is slaq.jobs()", error)
        return jobs()
    if _view is None or _view.comm is None:
        _view = LiveView()
    return _view
