"""Make recordings of schedulers and of simulations, and loss curves from them, for `slaq simulate`."""

from pathlib import Path
from typing import Any

import click

from slaq.cli._workload_options import curves_of, setting_of, workload_options
from slaq.sim import recording
from slaq.sim.compare import Comparison, record_one
from slaq.sim.curves import Curve, write_curves

_out = click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="File to write.")


@click.group(name="trace", help=__doc__)
def command() -> None:
    pass


@command.command()
@click.argument("log", metavar="LOG", type=click.Path(exists=True, path_type=Path))
@_out
def record(log: Path, out: Path) -> None:
    """Make one recording of a scheduler's decision log.

    LOG is a single log file, or the data folder of a scheduler, which may still be running: its latest life is taken.
    """
    made = recording.read(log)
    recording.write(out, made)
    _tell(out, made)


@command.command()
@workload_options
@click.option("--policy", default="fair", show_default=True, help="Policy to record.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Workload to draw.")
@_out
def draw(policy: str, seed: int, out: Path, **options: Any) -> None:
    """Make a recording of a simulated run.

    The workload is drawn as `slaq simulate` draws it, and decided by one policy.
    """
    made = record_one(Comparison((policy,), setting_of(options), tuple(curves_of(options))), policy, seed)
    recording.write(out, made)
    _tell(out, made)


@command.command()
@click.argument("source", metavar="RECORDING", type=click.Path(exists=True, path_type=Path))
@_out
def curves(source: Path, out: Path) -> None:
    """Write the loss curves of a recording's jobs, for `slaq simulate --traces`."""
    workload = recording.workload_of(recording.read(source))
    found = [
        Curve(
            job.id,
            tuple(workload.losses[i, : workload.length[i] + 1].tolist()),
            job.max_iterations,
            job.estimator,
        )
        for i, job in enumerate(workload.declared)
        if job.ml
    ]
    write_curves(out, found)
    click.echo(f"{out}: {len(found)} loss curves")


def _tell(out: Path, made: recording.Recording) -> None:
    jobs = len(recording.workload_of(made))
    click.echo(f"{out}: {len(made.epochs)} epochs, {jobs} jobs, {made.state.cores} cores under {made.state.policy}")
