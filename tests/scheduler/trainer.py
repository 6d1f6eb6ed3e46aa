"""A job whose speed is what the agent's hooks say, to see what a scheduler's faults cost it."""

import threading
import time

from slaq.agent import Agent, Hooks, Http
from slaq.protocol import Declaration

STEP_S = 0.01


class Trainer:
    """Trains for `work_s` seconds at full speed: longer with fewer cores than `full`, never faster."""

    def __init__(self, url: str, work_s: float, full: float = 8.0, app: str | None = None, name: str = "fit") -> None:
        self.cores: float | None = None
        """None: unthrottled."""
        self.grants: list[float] = []
        self.opened = 0
        """How often it was let go unthrottled after its first grant."""
        self.cancelled = threading.Event()
        self.full, self.work_s, self.done_s = full, work_s, 0.0
        self.took_s: float | None = None
        hooks = Hooks(self._granted, self._open, lambda _: self.cancelled.set(), lambda: full)
        self.agent = Agent(Http(url, timeout_s=0.5), hooks, name="trainer", user="alice", app=app)
        self.key = f"{self.agent.app}-1"
        self.agent.begin("1", Declaration(name, "Trainer", max_cores=full))
        self._thread = threading.Thread(target=self._train, daemon=True)
        self._thread.start()

    def _granted(self, cores: dict[str, float], *_: object) -> None:
        if "1" in cores:
            self.cores = cores["1"]
            self.grants.append(cores["1"])

    def _open(self) -> None:
        self.opened += self.cores is not None
        self.cores = None

    def _train(self) -> None:
        began = before = time.monotonic()
        iteration = 0
        while self.done_s < self.work_s and not self.cancelled.is_set():
            time.sleep(STEP_S)
            now = time.monotonic()
            self.done_s += (now - before) * (1.0 if self.cores is None else min(self.cores / self.full, 1.0))
            before = now
            if self.done_s * 20 >= iteration:
                self.agent.report("1", 1.0 / (1 + iteration), iteration)
                iteration += 1
        self.took_s = time.monotonic() - began
        self.agent.end("1", "cancelled" if self.cancelled.is_set() else "finished")

    def finish(self, timeout_s: float = 20.0) -> float:
        """Wait for the end; the seconds it took."""
        self._thread.join(timeout_s)
        assert self.took_s is not None, "it did not finish"
        return self.took_s

    def close(self) -> None:
        self.work_s = 0.0
        self._thread.join(5.0)
        self.agent.close(0.5)
