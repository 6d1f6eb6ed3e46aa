"""The options of `slaq simulate` and `slaq figures` that describe a workload."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from slaq.sim.curves import Curve, read_curves, recorded
from slaq.sim.workload import Setting

_DEFAULT = Setting()


def _share(name: str, explanation: str) -> Callable[..., Any]:
    return click.option(
        name, default=0.0, show_default=True, type=click.FloatRange(0.0, 1.0), metavar="SHARE", help=explanation
    )


def _amount(name: str, default: float | None, explanation: str, **kwargs: Any) -> Callable[..., Any]:
    return click.option(
        name, default=default, show_default=default is not None, type=click.FloatRange(**kwargs), help=explanation
    )


_OPTIONS = (
    click.option("--jobs", default=_DEFAULT.jobs, show_default=True, type=click.IntRange(1), help="Jobs that arrive."),
    click.option(
        "--cores", default=None, type=click.IntRange(1), help=f"Cores to share out.  [default: {_DEFAULT.cores}]"
    ),
    _amount("--gap", _DEFAULT.gap_s, "Mean seconds between arrivals (exponential); 0: all at once.", min=0.0),
    _amount("--epoch", None, f"Seconds between decisions.  [default: {_DEFAULT.epoch_s:g}]", min=0.01),
    _amount("--cap", None, "Cores one job can use (its partitions).  [default: no limit]", min=1.0),
    click.option(
        "--iterations",
        default=_DEFAULT.iterations,
        show_default=True,
        type=click.IntRange(1),
        help="A job is done after so many, or where its curve ends.",
    ),
    _amount("--work", _DEFAULT.work_core_s, "Mean core-seconds of an iteration.", min=1e-6),
    _amount("--work-spread", _DEFAULT.work_spread, "How much jobs differ in it (sigma of the logarithm).", min=0.0),
    _share("--serial", "Share of an iteration that more cores do not speed up."),
    _amount("--switch-cost", _DEFAULT.switch_s, "Seconds for which newly given cores do nothing yet.", min=0.0),
    _amount("--noise", _DEFAULT.noise, "Noise of iteration times (sigma of the logarithm).", min=0.0),
    _share("--crash", "Share of jobs that crash on the way."),
    _share("--nonsense", "Share of jobs whose reports are partly nonsense."),
    _share("--others", "Share of jobs that train nothing."),
    _share("--unnamed", "Share of jobs that do not name their estimator."),
    click.option(
        "--traces",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="JSON file of loss curves.  [default: those recorded from MLlib that ship with SLAQ]",
    ),
)


def workload_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options, which arrive as keyword arguments."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def setting_of(options: dict[str, Any]) -> Setting:
    """The setting that the options describe; what was not given keeps the paper's value."""
    return Setting(
        jobs=options["jobs"],
        cores=options["cores"] or _DEFAULT.cores,
        gap_s=options["gap"],
        epoch_s=options["epoch"] or _DEFAULT.epoch_s,
        iterations=options["iterations"],
        work_core_s=options["work"],
        work_spread=options["work_spread"],
        cap=options["cap"] or math.inf,
        serial=options["serial"],
        switch_s=options["switch_cost"],
        noise=options["noise"],
        crash=options["crash"],
        nonsense=options["nonsense"],
        others=options["others"],
        unnamed=options["unnamed"],
    )


def curves_of(options: dict[str, Any]) -> list[Curve]:
    """The loss curves to draw from."""
    return read_curves(options["traces"]) if options["traces"] else recorded()
