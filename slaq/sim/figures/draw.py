"""Drawing the figures with matplotlib, from plain data."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from slaq.errors import SlaqError
from slaq.sim.contenders import PUBLISHED

Data = Mapping[str, Any]

_COLOURS = {"fair": "#8c8c8c", PUBLISHED: "#dd8452", "max-total": "#c44e52", "finish-line": "#4c72b0"}

_OVERVIEW = {"fair": "fair sharing", "finish-line": "SLAQ", PUBLISHED: "SLAQ as published"}


def pyplot() -> Any:
    """matplotlib, drawing into files only."""
    try:
        import matplotlib
    except ImportError as error:
        raise SlaqError("figures need matplotlib; run: pip install 'slaq[report]'") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    return plt


def draw_all(data: Data, folder: Path) -> dict[str, Path]:
    """One PNG per figure; the paths by figure number."""
    plt = pyplot()
    paths = {}
    for number, draw in _DRAWINGS.items():
        figure, axes = plt.subplots(figsize=(6.4, 3.8), dpi=130)
        draw(axes, data)
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        figure.tight_layout()
        paths[number] = folder / f"figure-{number}.png"
        figure.savefig(paths[number])
        plt.close(figure)
    return paths


def draw_overview(data: Data, path: Path) -> None:
    """The result in one picture: how far jobs are by their age, and how long they take to 90 %, 95 % and the end."""
    plt = pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 3.7), dpi=110)
    for name, label in _OVERVIEW.items():
        reached = [100 * share for share in data["by_age"][name]]
        left.plot(data["by_age"]["age_s"], reached, color=_COLOURS[name], linewidth=2, label=label)
        seconds = [data["7b"][name][data["7b"]["shares"].index(share)] for share in (0.9, 0.95, 1.0)]
        places = [x + 0.27 * len(right.containers) for x in range(3)]
        bars = right.bar(places, seconds, 0.25, color=_COLOURS[name], label=label)
        right.bar_label(bars, fmt="%.0f s", fontsize=8)
    left.set(xlabel="seconds since a job came", ylabel="loss reduction reached, mean, %", ylim=(0, 102), xlim=(0, None))
    left.set_title("How good the models are")
    left.legend(loc="lower right")
    right.set_xticks([x + 0.27 for x in range(3)], ["90 % of the\nloss reduction", "95 %", "its end"])
    right.set(title="Time until a job reaches", ylabel="seconds, mean")
    right.legend(loc="upper left")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", alpha=0.25)
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def _diminishing_returns(axes: Any, data: Data) -> None:
    found = data["1"]
    for name, shares in found["time_share"].items():
        axes.plot([100 * share for share in found["shares"]], [100 * share for share in shares], marker="o", label=name)
    axes.set(xlabel="loss reduction, %", ylabel="time, % of the whole run", ylim=(0, 105))
    axes.legend()


def _one_job(axes: Any, data: Data) -> None:
    for name, colour in _COLOURS.items():
        found = data["3"][name]
        axes.step(
            found["time_s"], found["loss"], where="post", color=colour, label=f"{name}: 90 % in {found['t90_s']:.0f} s"
        )
    axes.axhline(0.1, color="black", linewidth=0.6, linestyle=":")
    axes.set(xlabel="seconds since the job came", ylabel=f"normalised loss ({data['3']['algorithm']})")
    axes.legend()


def _changes(axes: Any, data: Data) -> None:
    for name, change in data["5"]["change"].items():
        axes.plot(range(1, len(change) + 1), change, linewidth=1, label=name)
    axes.set(xlabel="iteration", ylabel="change of loss / largest so far")
    axes.legend(ncols=3, fontsize=7)


def _errors(axes: Any, data: Data) -> None:
    found = data["6"]
    width = 0.8 / len(found["by_horizon"])
    for i, (name, errors) in enumerate(found["by_horizon"].items()):
        bars = axes.bar([x + i * width for x in range(len(errors))], [100 * e for e in errors], width, label=name)
        axes.bar_label(bars, fmt="%.1f", fontsize=7)
    axes.set_xticks([x + 0.4 - width / 2 for x in range(len(found["ahead"]))], [str(n) for n in found["ahead"]])
    axes.set(xlabel="iterations ahead", ylabel="mean error, % of the whole reduction")
    axes.legend()


def _average_loss(axes: Any, data: Data) -> None:
    for name, colour in _COLOURS.items():
        found = data["7a"][name]
        mean = sum(found["mean_loss"]) / max(len(found["mean_loss"]), 1)
        axes.plot(found["time_s"], found["mean_loss"], color=colour, linewidth=1, label=f"{name}: mean {mean:.3f}")
    axes.set(xlabel="seconds", ylabel="average normalised loss", ylim=(0, None))
    axes.legend()


def _time_to(axes: Any, data: Data) -> None:
    found = data["7b"]
    labels = [f"{100 * share:.0f}" for share in found["shares"]]
    for name, colour in _COLOURS.items():
        axes.plot(labels, found[name], marker="o", color=colour, label=name)
    axes.set(xlabel="loss reduction, % (100: job completed)", ylabel="mean seconds", yscale="log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("{x:g}")
    axes.tick_params(axis="y", which="minor", labelsize=6)
    axes.legend()


def _core_groups(axes: Any, data: Data) -> None:
    found = data["8"]
    means = [100 * share for share in found["mean_shares"]]
    names = ("highest quarter", "next quarter", "lower half")
    axes.stackplot(
        found["time_s"],
        *([100 * row[i] for row in found["shares"]] for i in range(3)),
        labels=[f"{name}: {mean:.0f} %" for name, mean in zip(names, means, strict=True)],
        colors=["#c44e52", "#dd8452", "#a6bddb"],
    )
    axes.set(xlabel="seconds", ylabel="share of the cores, %", ylim=(0, 100))
    axes.legend(loc="lower right", title="jobs by loss; mean share", fontsize=7)


def _contention(axes: Any, data: Data) -> None:
    found = data["9"]
    labels = [f"{gap:g}" for gap in found["gap_s"]]
    for name, colour in _COLOURS.items():
        axes.plot(labels, found[name]["t90_s"], color=colour, marker="o", label=f"{name}, 90 %")
        axes.plot(labels, found[name]["t95_s"], color=colour, marker="s", linestyle="--", label=f"{name}, 95 %")
    axes.set(xlabel="mean seconds between arrivals", ylabel="mean seconds", ylim=(0, None))
    axes.legend(fontsize=7)


def _errors_by_algorithm(axes: Any, data: Data) -> None:
    found = data["10a"]
    width = 0.8 / len(found)
    algorithms: list[str] = list(next(iter(found.values())))
    for i, (name, errors) in enumerate(found.items()):
        axes.bar(
            [x + i * width for x in range(len(algorithms))], [100 * errors[a] for a in algorithms], width, label=name
        )
    axes.axhline(5, color="black", linewidth=0.6, linestyle=":")
    axes.set_xticks([x + 0.4 - width / 2 for x in range(len(algorithms))], algorithms, rotation=40, fontsize=7)
    # The last change of a noisy run extrapolates to hundreds of per cent; on its scale the others would be flat.
    axes.set(ylabel="error 10 ahead, % (cut off at 20)", ylim=(0, 20))
    axes.legend(fontsize=7)


def _iteration_times(axes: Any, data: Data) -> None:
    found = data["10b"]
    for name in (key for key in found if key != "cores"):
        (line,) = axes.plot(found["cores"], found[name]["true_s"], label=f"{name}, true")
        axes.plot(found["cores"], found[name]["predicted_s"], "x", color=line.get_color(), label=f"{name}, predicted")
    axes.set(xlabel="cores", ylabel="seconds per iteration", xscale="log", yscale="log")
    axes.legend(fontsize=7)


def _decision_times(axes: Any, data: Data) -> None:
    found = data["10c"]
    for cores, seconds in found["cpu_s"].items():
        axes.plot(found["jobs"], seconds, marker="o", label=f"{int(cores):,} cores")
    axes.set(xlabel="jobs", ylabel="CPU seconds of a decision", ylim=(0, None))
    axes.legend()


_DRAWINGS: dict[str, Callable[[Any, Data], None]] = {
    "1": _diminishing_returns,
    "3": _one_job,
    "5": _changes,
    "6": _errors,
    "7a": _average_loss,
    "7b": _time_to,
    "8": _core_groups,
    "9": _contention,
    "10a": _errors_by_algorithm,
    "10b": _iteration_times,
    "10c": _decision_times,
}
