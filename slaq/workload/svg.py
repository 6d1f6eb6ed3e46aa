"""Line charts and strips as inline SVG, drawn with nothing but text."""

from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 16, 40
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22")

Points = Sequence[tuple[float, float]]


def line_chart(lines: Mapping[str, Points], x_title: str, y_title: str, steps: bool = False) -> str:
    """One line per entry with a legend; `steps` holds a value until the next."""
    right = max((x for points in lines.values() for x, _ in points), default=1.0) or 1.0
    high = max((y for points in lines.values() for _, y in points), default=1.0) or 1.0
    parts = [axes(right, high, x_title, y_title)]
    for number, (name, points) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        placed = [(across(x, right), up(y, high)) for x, y in points]
        parts.append(f'<path d="{path(placed, steps)}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
        y = TOP + 14 * number + 6
        parts.append(f'<rect x="{WIDTH - 150}" y="{y - 8}" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{WIDTH - 135}" y="{y + 1}">{escape(name)}</text>')
    return picture(parts, HEIGHT)


def bars(groups: Mapping[str, Mapping[str, float]], title: str) -> str:
    """Horizontal bars: one group per entry, one bar per name in it, all on one scale."""
    names = list(dict.fromkeys(name for group in groups.values() for name in group))
    high = max((value for group in groups.values() for value in group.values()), default=1.0) or 1.0
    parts, y = [f'<text x="{LEFT + 60}" y="14">{escape(title)}</text>'], 26
    for group, values in groups.items():
        parts.append(f'<text x="4" y="{y + 10}">{escape(group)}</text>')
        for name, value in values.items():
            length = value / high * (WIDTH - LEFT - 130)
            colour = COLOURS[names.index(name) % len(COLOURS)]
            parts.append(f'<rect x="{LEFT + 60}" y="{y}" width="{length:.1f}" height="9" fill="{colour}"/>')
            parts.append(
                f'<text x="{LEFT + 64 + length:.1f}" y="{y + 8}" class="small">{value:.1f} {escape(name)}</text>'
            )
            y += 11
        y += 6
    return picture(parts, y + 4)


def axes(right: float, high: float, x_title: str, y_title: str) -> str:
    """Frame, five ticks each way, titles."""
    parts = [f'<path d="M{LEFT},{TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="#888"/>']
    for i in range(5):
        x, y = across(right * i / 4, right), up(high * i / 4, high)
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{right * i / 4:.3g}</text>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{high * i / 4:.2g}</text>')
        parts.append(f'<path d="M{LEFT},{y:.1f}H{WIDTH - RIGHT}" stroke="#eee"/>')
    parts.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 6}" text-anchor="middle">{escape(x_title)}</text>')
    parts.append(f'<text x="{LEFT}" y="{TOP - 5}" class="small">{escape(y_title)}</text>')
    return "".join(parts)


def path(points: Points, steps: bool) -> str:
    """The `d` of a line through points."""
    if not points:
        return ""
    first, *rest = points
    drawn = [f"M{first[0]:.1f},{first[1]:.1f}"]
    drawn += [f"H{x:.1f}V{y:.1f}" if steps else f"L{x:.1f},{y:.1f}" for x, y in rest]
    return "".join(drawn)


def across(x: float, right: float) -> float:
    """A value as a horizontal position."""
    return LEFT + x / right * (WIDTH - LEFT - RIGHT)


def up(y: float, high: float) -> float:
    """A value as a vertical position."""
    return HEIGHT - BOTTOM - y / high * (HEIGHT - TOP - BOTTOM)


def picture(parts: Sequence[str], height: float) -> str:
    """The parts as one scalable image."""
    return f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img">{"".join(parts)}</svg>'
