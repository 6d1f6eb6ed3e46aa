"""`slaq simulate --paper oasis`: OASiS beside its baselines and beside the published values."""

from typing import Any

import click
import msgspec
from msgspec.structs import replace

import slaq
from slaq.cli._extras import naming_the_extra
from slaq.cli._output import console, echo_json
from slaq.errors import SlaqError
from slaq.sim.oasis_acceptance import Mark, hindsight, totals
from slaq.sim.oasis_compare import PUBLISHED, compare, offline, steepness
from slaq.sim.oasis_setting import OasisSetting


def setting_of(settings: tuple[str, ...]) -> tuple[OasisSetting, tuple[int, ...]]:
    """The setting with the changes of `name=value`, and the numbers of jobs; without one, those of the paper."""
    changes: dict[str, Any] = {}
    for text in settings:
        name, found, value = text.partition("=")
        if not found or name not in OasisSetting.__struct_fields__:
            known = ", ".join(OasisSetting.__struct_fields__)
            raise SlaqError(f"--set {text}: there is no such switch; choose one of {known}, as NAME=VALUE")
        changes[name] = value.split(",") if "," in value else value
    try:
        setting = msgspec.convert(changes, OasisSetting, strict=False)
    except msgspec.ValidationError as error:
        raise SlaqError(f"--set: {error}") from None
    return setting, (setting.jobs,) if "jobs" in changes else tuple(PUBLISHED)


def show(settings: tuple[str, ...], seeds: int, first_seed: int, processes: int, output_format: str) -> None:
    """Simulate and print."""
    setting, jobs = setting_of(settings)
    chosen = range(first_seed, first_seed + seeds)
    rows = compare(setting, jobs, chosen, processes=processes)
    with naming_the_extra("the offline optimum"):
        ratios = offline(setting, chosen, processes)
    log_range = steepness(replace(setting, jobs=jobs[-1]), first_seed).tolist()
    marks = [*totals(rows), *hindsight(ratios)]
    if output_format == "json":
        judged = [{"name": m.name, "wanted": m.wanted, "found": m.found, "met": m.met} for m in marks]
        facts = {"version": slaq.__version__, "setting": setting, "seeds": list(chosen), "ln_u_l": log_range}
        echo_json({**facts, "schemes": rows, "offline": ratios, "marks": judged})
        return
    _table(rows)
    click.echo(f"Medians of {seeds} seeds; ln(U/L) {log_range[0]:.3g} for workers, {log_range[1]:.3g} for servers.")
    proven = [row["ratio"] for row in ratios if row["proven"]]
    click.echo(
        f"Offline optimum ÷ OASiS (10 jobs, 10 slots, {len(proven)} of {len(ratios)} instances solved to the end): "
        + (f"{min(proven):.3f} to {max(proven):.3f}, mean {sum(proven) / len(proven):.3f}" if proven else "none")
        + "; published 1.11 to 1.50, mean 1.27"
    )
    _judged(marks)


def _judged(marks: list[Mark]) -> None:
    from rich.table import Table

    table = Table("a reproduction has to reach", "wanted", "found", "met")
    for mark in marks:
        table.add_row(mark.name, mark.wanted, f"{mark.found:.2f}", "yes" if mark.met else "no")
    console().print(table)


def _table(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table("jobs", "scheme", "utility", "range", "OASiS ÷ it", "ended", "critical on time", "published")
    for row in rows:
        table.add_row(
            str(row["jobs"]),
            row["scheme"],
            f"{row['utility']:.0f}",
            f"{row['low']:.0f}–{row['high']:.0f}",
            f"{row['ratio']:.2f}",
            f"{row['ended']:.0%}",
            f"{row['critical_on_time']:.0%}",
            "" if row["published"] is None else str(row["published"]),
        )
    console().print(table)
