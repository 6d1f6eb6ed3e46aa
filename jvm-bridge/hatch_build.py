"""Hatchling hook: build the bridge's jar before the wheel (or the editable install) is made."""

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class JarBuildHook(BuildHookInterface[Any]):
    """Puts `slaq/spark/jars/slaq-bridge.jar` where the wheel picks it up as an artifact."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Compile; a missing JDK ends the installation with one sentence that says what to install."""
        # Loaded by path: hatchling loads this file the same way, so its neighbour cannot be imported by name.
        builder = runpy.run_path(str(Path(__file__).resolve().with_name("build.py")))
        try:
            builder["build"]()
        except builder["BuildError"] as error:
            raise SystemExit(f"error: {error}") from None
