"""`slaq simulate --paper fitgpp`: FitGpp beside its baselines, and beside the published changes against FIFO."""

from typing import Any

import click
import msgspec

import slaq
from slaq.cli._output import console, echo_json
from slaq.errors import SlaqError
from slaq.sim.fitgpp_compare import PUBLISHED, compare, switched
from slaq.sim.fitgpp_workload import FitGppSetting

ALL_SWITCHES = "switches=all"


def setting_of(settings: tuple[str, ...]) -> FitGppSetting:
    """The setting with the changes of `name=value`."""
    changes: dict[str, str] = {}
    for text in settings:
        name, found, value = text.partition("=")
        if not found or name not in FitGppSetting.__struct_fields__:
            known = ", ".join(FitGppSetting.__struct_fields__)
            raise SlaqError(
                f"--set {text}: there is no such switch; choose one of {known}, as NAME=VALUE, or {ALL_SWITCHES}"
            )
        changes[name] = value
    try:
        return msgspec.convert(changes, FitGppSetting, strict=False)
    except msgspec.ValidationError as error:
        raise SlaqError(f"--set: {error}") from None


def show(settings: tuple[str, ...], seeds: int, first_seed: int, processes: int, output_format: str) -> None:
    """Simulate and print."""
    setting = setting_of(tuple(text for text in settings if text != ALL_SWITCHES))
    chosen = range(first_seed, first_seed + seeds)
    rows = compare(setting, chosen, processes=processes)
    others: list[dict[str, Any]] = [
        {"switch": name, "disciplines": compare(changed, chosen, ("fifo", "fitgpp", "lrtp", "rand"), processes)}
        for name, changed in (switched(setting) if ALL_SWITCHES in settings else ())
    ]
    if output_format == "json":
        facts = {"version": slaq.__version__, "setting": setting, "seeds": list(chosen), "published": PUBLISHED}
        echo_json({**facts, "disciplines": rows, "switches": others})
        return
    _table(rows)
    _changes(rows)
    for other in others:
        click.echo(f"\n{other['switch']}")
        _changes(other["disciplines"])
    click.echo(
        f"All jobs of {seeds} sets of {setting.jobs} together, without the first and the last 5 %. Published: FitGpp "
        "against FIFO. The paper's workload parameters are unverified: docs/fitgpp.md."
    )


def _table(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    columns = ("TE p50", "p95", "p99", "BE p50", "p95", "p99", "preempted", "≥ 2", "most", "again after", "p95", "away")
    table = Table("discipline", *columns, "no candidate")
    for row in rows:
        table.add_row(
            row["discipline"],
            *(_number(row[f"{kind}_p{at}"], "{:.2f}") for kind in ("te", "be") for at in (50, 95, 99)),
            f"{row['preempted']['1']:.1%}",
            f"{row['preempted']['2']:.1%}",
            str(row["most_preemptions"]),
            _number(row["interval_p50_s"], "{:.0f} s"),
            _number(row["interval_p95_s"], "{:.0f} s"),
            _number(row["away_p50_s"], "{:.0f} s"),
            f"{row['fallbacks']:.1%}",
        )
    console().print(table)


def _changes(rows: list[dict[str, Any]]) -> None:
    """Against FIFO, beside what was published of FitGpp."""
    for row in rows[1:]:
        texts = [
            f"{key.upper().replace('_', ' ')} {_number(row['change'][key], '{:+.1%}')}"
            + (f" (published {value:+.1%})" if row["discipline"] == "fitgpp" else "")
            for key, value in PUBLISHED.items()
        ]
        click.echo(f"{row['discipline']:>9}: {', '.join(texts)}")


def _number(value: float | None, shape: str) -> str:
    return "–" if value is None else shape.format(value)
