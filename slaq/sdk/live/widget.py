"""The widget. Needs anywidget, which the extra `notebook` brings."""

import threading
from collections.abc import Callable
from typing import Any

import anywidget
import traitlets

from slaq.driver.notices import once
from slaq.sdk.jobs import jobs
from slaq.sdk.live.bundle import script, style
from slaq.sdk.live.shown import shown

EVERY_S = 1.0
"""Between two looks at the jobs; what has not changed since is not sent."""


class LiveView(anywidget.AnyWidget):
    """The jobs of this process, followed while somebody looks.

    A cell that trains keeps the kernel from hearing its front ends, so a thread of ours sends and nobody has to ask. It
    runs from the first time the widget is shown until its last view is gone.
    """

    _esm = script()
    _css = style()
    seen = traitlets.Dict().tag(sync=True)

    def __init__(self, look: Callable[[], dict[str, Any]] = lambda: shown(jobs())) -> None:
        self._look = look
        super().__init__(seen=look())
        self._views: set[str] = set()
        self._changing = threading.Lock()
        self._over: threading.Event | None = None
        self.on_msg(self._told)

    @property
    def following(self) -> bool:
        """Whether the thread runs."""
        return self._over is not None

    def follow(self) -> None:
        """Begin to send; does nothing if it has begun."""
        with self._changing:
            if self._over is None:
                self._over = threading.Event()
                threading.Thread(target=self._run, args=(self._over,), name="slaq-watch", daemon=True).start()

    def rest(self) -> None:
        """Stop sending until somebody looks again."""
        with self._changing:
            if self._over is not None:
                self._over.set()
                self._over = None

    def close(self) -> None:
        """Stop sending, and remove the widget from every cell."""
        self.rest()
        super().close()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        self.follow()
        return super()._repr_mimebundle_(**options)

    def __repr__(self) -> str:
        return "SLAQ: shown live in a notebook; slaq.jobs() lists the jobs anywhere"

    def _told(self, _: Any, content: Any, __: Any) -> None:
        """A view says that it opened or closed; each has a name of its own."""
        view = content.get("view") if isinstance(content, dict) else None
        if not isinstance(view, str):
            return
        if content.get("open"):
            self._views.add(view)
            self.follow()
        else:
            self._views.discard(view)
            if not self._views:
                self.rest()

    def _run(self, over: threading.Event) -> None:
        while not over.wait(EVERY_S):
            try:
                seen = self._look()
                if seen != self.seen and not over.is_set():
                    self.seen = seen
            except Exception as error:
                once("watch", "slaq.watch() cannot show the jobs (%r); training is not affected", error)
