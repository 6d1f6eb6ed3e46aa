"""`slaq scheduler`."""

import logging
from contextlib import suppress

import click

from slaq.cli._extras import naming_the_extra
from slaq.cli._options import conf_option
from slaq.config import Config, load


@click.command(name="scheduler")
@conf_option
@click.option("--host", metavar="ADDRESS", help="Address to listen on.  [default: key scheduler.host]")
@click.option("--port", metavar="PORT", help="Port to listen on.  [default: key scheduler.port]")
@click.option("--capacity", metavar="CORES", help='Cores to share out, "drivers" or "master".')
@click.option("--policy", metavar="NAME", help="Who gets the cores.  [default: key scheduler.policy]")
@click.option("--epoch-s", metavar="SECONDS", help="Time between decisions.  [default: key scheduler.epoch_s]")
@click.option("--lease-s", metavar="SECONDS", help="Time for which a grant holds.  [default: key scheduler.lease_s]")
@click.option("--state-dir", metavar="FOLDER", help="Folder of the history and the decision log.")
@click.option("--token-file", metavar="FILE", help="File with the administrator's token.  [default: key token_file]")
@click.option("--standby", is_flag=True, help="Wait while another scheduler uses the state folder, then take over.")
def command(conf_file: str | None, token_file: str | None, standby: bool, **flags: str | None) -> None:
    """Share out a cluster's cores among the jobs of all its drivers.

    Decides once an epoch. Runs in the foreground until SIGTERM; SIGHUP reads the conf file again. Needs the extra
    slaq[scheduler].
    """
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")

    def read() -> Config:
        values = {f"scheduler.{name}": value for name, value in flags.items()}
        return load(conf_file, flags={**values, "token_file": token_file})

    with naming_the_extra("`slaq scheduler`"):
        from slaq.scheduler.server import Server
        from slaq.scheduler.standby import take_over
    config = read()
    if standby:
        click.echo(f"slaq scheduler stands by for {config.scheduler.state_dir}")
    server = take_over(read) if standby else Server(config, reload=read)
    scheme = "https" if config.scheduler.tls_cert else "http"
    with suppress(OSError):  # a full disk may take no log, but it must not keep the scheduler from its work
        click.echo(
            f"slaq scheduler {server.archive.incarnation} listens on {scheme}://{config.scheduler.host}:{server.port}"
        )
    server.run()
