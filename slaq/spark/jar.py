"""Where the bridge's jar is, and the Spark settings that load it when a driver starts."""

from pathlib import Path

from slaq.errors import SlaqError

PLUGIN = "io.slaq.bridge.SlaqPlugin"


def jar_path() -> Path:
    """The jar inside the installed package."""
    jar = Path(__file__).resolve().parent / "jars" / "slaq-bridge.jar"
    if not jar.is_file():
        raise SlaqError(f"{jar} is missing; build it with `python jvm-bridge/build.py`, or reinstall slaq")
    return jar


def launch_conf(strict: bool = False) -> dict[str, str]:
    """Settings for a driver that is yet to start: agent (probe and gate) and plugin (pools); executors need nothing."""
    return {
        "spark.driver.extraJavaOptions": f"-javaagent:{jar_path()}",
        "spark.plugins": PLUGIN,
        "spark.slaq.strict": str(strict).lower(),
    }
