"""How a driver reaches its scheduler: the configured one over HTTP, or an embedded one in a thread."""

from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING

from slaq.agent import Agent, Failover, Hooks, Http, Transport
from slaq.config import Config, read_token
from slaq.errors import SlaqError

if TYPE_CHECKING:
    from slaq.scheduler.embedded import Embedded
    from slaq.scheduler.page.in_driver import DriverPage


class Connection:
    """Makes the agent of one application; `close` ends the embedded scheduler, if there is one.

    Raises SlaqError for an address, a token or a certificate that cannot be used; it does not wait for the scheduler.
    """

    def __init__(self, config: Config, name: str, user: str) -> None:
        self._config, self._name, self._user = config, name, user
        self.embedded: Embedded | None = None
        self.page: DriverPage | None = None
        self._transport: Transport
        if config.endpoint:
            token: Callable[[], str] = partial(read_token, config.token_file) if config.token_file else str
            self._transport = Failover(
                [Http(endpoint, token, config.ca_file, config.timeout_s) for endpoint in config.endpoints]
            )
            self._about = f"the scheduler at {config.endpoint} shares out the cores"
        else:
            self.embedded = _embedded(config.in_driver())
            self._transport = self.embedded.transport
            self._about = f"its own scheduler ({config.scheduler.policy}) shares out the cores"

    def agent(self, hooks: Hooks) -> Agent:
        """An agent on this connection."""
        return Agent(self._transport, hooks, name=self._name, user=self._user)

    def serve_page(self) -> None:
        """Serve the embedded scheduler's page, if the configuration asks for one; a central scheduler has its own.

        A SlaqError says what is missing.
        """
        if self._config.ui and self.embedded is not None and self.page is None:
            self.page = _page(self._config, self.embedded)
            self._about += f"; its page is at {self.page.address}"

    def close(self) -> None:
        """End the embedded scheduler and its page. Close the agent first."""
        if self.page is not None:
            self.page.close()
        if self.embedded is not None:
            self.embedded.close()

    def __str__(self) -> str:
        return self._about

    def __enter__(self) -> "Connection":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _embedded(config: Config) -> "Embedded":
    # Imported here: a driver of a central scheduler does without the engine.
    from slaq.scheduler.embedded import Embedded

    return Embedded(config)


def _page(config: Config, embedded: "Embedded") -> "DriverPage":
    # Imported here: only a driver that asks for a page needs a web server.
    try:
        from slaq.scheduler.page.in_driver import DriverPage
    except ImportError as error:
        raise SlaqError(
            f"the page of a driver (spark.slaq.ui) needs {error.name}; run: pip install 'slaq[scheduler]'"
        ) from error
    return DriverPage(config, embedded)
