"""`slaq ui`."""

import http.client
import socket
import webbrowser
from collections.abc import Iterator
from contextlib import closing

import click

from slaq.cli._client import Client
from slaq.cli._options import conf_option
from slaq.config import load
from slaq.errors import SlaqError
from slaq.protocol import routes
from slaq.protocol.address import DRIVER_PORTS

WAIT_S = 1.0
TITLE = b"<title>SLAQ</title>"


@click.command()
@conf_option
@click.option("--endpoint", metavar="URL", help="The scheduler's address.  [default: key endpoint, or this host]")
@click.option("--open", "opens", is_flag=True, help="Open the first one in a browser.")
def command(conf_file: str | None, endpoint: str | None, opens: bool) -> None:
    """Print where the page is, or open it.

    That of the scheduler, and those of drivers on this host that have one of their own.
    A driver without a scheduler serves the page with `slaq.attach(spark, ui=True)` or spark.slaq.ui=true.
    """
    config = load(conf_file, flags={"endpoint": endpoint})
    port = config.scheduler.port
    if config.endpoints:
        found = [Client(config).address + routes.PAGE]
    else:
        found = list(_on_this_host(port, "https" if config.scheduler.tls_cert else "http"))
    if not found:
        raise SlaqError(
            f"no page on the ports {port} to {port + DRIVER_PORTS} of this host; start `slaq scheduler`, give a driver "
            "spark.slaq.ui=true, or set endpoint (--endpoint, SLAQ_ENDPOINT) to the address of a scheduler"
        )
    for address in found:
        click.echo(address)
    if opens:
        webbrowser.open(found[0])


def _on_this_host(port: int, scheme: str) -> Iterator[str]:
    """The pages of the scheduler and of drivers. Nobody is sent a token: who listens there is not known."""
    if _listens(port) if scheme == "https" else _is_page(port):
        yield f"{scheme}://127.0.0.1:{port}{routes.PAGE}"
    for other in range(port + 1, port + 1 + DRIVER_PORTS):
        if _is_page(other):
            yield f"http://127.0.0.1:{other}{routes.PAGE}"


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), WAIT_S).close()
    except (OSError, OverflowError):
        return False
    return True


def _is_page(port: int) -> bool:
    try:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)) as connection:
            connection.request("GET", routes.PAGE)
            return TITLE in connection.getresponse().read(10_000)
    except (OSError, http.client.HTTPException, OverflowError):
        return False
