"""The way from a driver to its scheduler: the configured one over HTTP, or one of its own in a thread."""

from types import TracebackType

from msgspec.structs import replace

from slaq.agent import Agent, Hooks, Http, Transport
from slaq.config import Config, read_token
from slaq.scheduler.embedded import Embedded


class Connection:
    """Makes the agent of one application; `close` ends the embedded scheduler, if that is what it talks to."""

    def __init__(self, config: Config, name: str, user: str) -> None:
        self._name, self._user = name, user
        self._embedded: Embedded | None = None
        self._transport: Transport
        if config.endpoint:
            token = read_token(config.token_file) if config.token_file else ""
            self._transport = Http(config.endpoint, token, config.ca_file, config.timeout_s)
            self._about = f"the scheduler at {config.endpoint} shares out the cores"
        else:
            # Whatever a central scheduler would share out: this one has the driver's executors.
            own = replace(config, scheduler=replace(config.scheduler, capacity="drivers"))
            self._embedded = Embedded(own)
            self._transport = self._embedded.transport
            self._about = f"its own scheduler ({config.scheduler.policy}) shares out the cores"

    def agent(self, hooks: Hooks) -> Agent:
        """An agent on this connection."""
        return Agent(self._transport, hooks, name=self._name, user=self._user)

    def close(self) -> None:
        """End the embedded scheduler; the agent is closed by whoever asked for it."""
        if self._embedded is not None:
            self._embedded.close()

    def __str__(self) -> str:
        return self._about

    def __enter__(self) -> "Connection":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
