"""A page in one file, which also works where it is opened from a disk: modules, styles and data are all inside.

A browser does not load modules from a disk, so each becomes a function that returns what it exports.
"""

import hashlib
import json
import re
from base64 import b64encode
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class) (\w+))", re.MULTILINE)

STATIC = files("slaq.scheduler.page") / "static"


def one_file(title: str, main: Traversable, data: object) -> str:
    """The page that this module draws; it finds `data` in the element of that id, as JSON."""
    style = (STATIC / "vendor" / "uPlot.min.css").read_text("utf-8") + (STATIC / "style.css").read_text("utf-8")
    scripts = (STATIC / "vendor" / "uPlot.iife.min.js").read_text("utf-8"), bundled(main)
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {' '.join(map(_hash, scripts))}; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    licence = (STATIC / "vendor" / "uPlot.LICENSE").read_text("utf-8")
    return f"""<!doctype html>
<html lang="en"><head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>{style}</style>
</head><body>
<main id="main"></main>
<noscript><p class="card">This page needs JavaScript.</p></noscript>
<script type="application/json" id="data">{json.dumps(data).replace("<", chr(92) + "u003c")}</script>
<!-- {licence} -->
<script>{scripts[0]}</script>
<script>{scripts[1]}</script>
</body></html>
"""


def bundled(main: Traversable) -> str:
    """A module and all that it imports as one script."""
    found: dict[str, str] = {}
    body = _gathered(main.read_text("utf-8"), found)
    modules = "".join(f"const {name} = (() => {{\n{text}}})();\n" for name, text in found.items())
    return f'"use strict";\n{modules}{body}'


def _gathered(text: str, found: dict[str, str]) -> str:
    """The text of a module with its imports as constants; what it imports goes to `found` first."""
    for _, name in _IMPORT.findall(text):
        if (variable := f"module_{name}") not in found:
            module = _gathered((STATIC / f"{name}.js").read_text("utf-8"), found)
            exports = _EXPORT.findall(module)
            found[variable] = f"{_EXPORT.sub('', module)}return {{ {', '.join(exports)} }};\n"
    return _IMPORT.sub(lambda match: f"const {{{match[1]}}} = module_{match[2]};\n", text)


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
