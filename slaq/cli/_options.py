"""Options that several commands share, defined once."""

import functools
from collections.abc import Callable
from typing import Any

import click

from slaq.cli._client import Client
from slaq.config import load

Function = Callable[..., Any]

conf_option = click.option(
    "--conf",
    "conf_file",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Conf file.  [default: $SLAQ_CONF, or slaq.toml in $SPARK_CONF_DIR]",
)


def format_option(*formats: str) -> Callable[[Function], Function]:
    """`--format`; the first format is the default."""
    return click.option(
        "--format",
        "output_format",
        type=click.Choice(formats),
        default=formats[0],
        show_default=True,
        help="For people, or for programs.",
    )


def known_policy(_: click.Context, __: click.Parameter, name: str) -> str:
    """Check the name of a policy. The registry, and with it numpy, is loaded only then."""
    from slaq import policy

    if name not in policy.names():
        raise click.BadParameter(f"{name!r} is not a policy; choose one of {', '.join(policy.names())}")
    return name


def client_options(function: Function) -> Function:
    """The options that name the scheduler to ask; the command receives `client`."""

    @conf_option
    @click.option("--endpoint", metavar="URL", help="The scheduler's address.  [default: key endpoint, or this host]")
    @click.option("--token-file", metavar="FILE", help="File with your token.  [default: key token_file]")
    @functools.wraps(function)
    def command(
        *args: object, conf_file: str | None, endpoint: str | None, token_file: str | None, **kwargs: object
    ) -> Any:
        config = load(conf_file, flags={"endpoint": endpoint, "token_file": token_file})
        return function(*args, client=Client(config), **kwargs)

    return command
