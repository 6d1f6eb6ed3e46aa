"""One ES module of several: a widget is given to the notebook's front end as a single text.

The charts are those of the scheduler's page, read as files; nothing of the scheduler is imported.
"""

import re
from functools import cache
from pathlib import Path

import slaq

PACKAGE = Path(slaq.__file__).parent
PAGE = PACKAGE / "scheduler" / "page" / "static"
OWN = PACKAGE / "sdk" / "live"

MODULES = (
    PAGE / "dom.js",
    PAGE / "format.js",
    PAGE / "forecast.js",
    PAGE / "charts.js",
    OWN / "watch.js",
)
"""In the order in which they use each other."""

_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:const|let|function|class) (\w+))", re.MULTILINE)


@cache
def script() -> str:
    """The widget's module: uPlot, then every module as a function of its own, so that their names stay apart."""
    parts = [(PAGE / "vendor" / "uPlot.iife.min.js").read_text(encoding="utf-8")]
    parts += [_as_function(path.stem, path.read_text(encoding="utf-8")) for path in MODULES]
    return "\n".join([*parts, "export default { render: module_watch.render };\n"])


@cache
def style() -> str:
    """The widget's style sheet, with uPlot's."""
    return (PAGE / "vendor" / "uPlot.min.css").read_text(encoding="utf-8") + (OWN / "watch.css").read_text("utf-8")


def _as_function(name: str, text: str) -> str:
    exported = ", ".join(_EXPORT.findall(text))
    body = _IMPORT.sub(r"const \1 = module_\2;", _EXPORT.sub("", text))
    return f"const module_{name} = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();"
