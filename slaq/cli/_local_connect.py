"""A Spark Connect server on this host with SLAQ in it, and a scheduler that shares its cores between its users."""

import re
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress

from slaq.cli import _processes as processes
from slaq.cli._daemons import HOST, Daemons, Part, Shape
from slaq.cli._ports import with_ports
from slaq.cli._spark_install import spark_home
from slaq.errors import SlaqError
from slaq.spark.jar import launch_conf

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


class Spec(Shape, frozen=True, kw_only=True):
    """A Connect server."""

    cores: int
    memory: str
    """Of the server's JVM, in which the tasks run too."""
    conf: dict[str, str]
    """Further settings of the server's Spark."""
    server_port: int = 0

    @property
    def capacity(self) -> int:
        return self.cores

    @property
    def remote(self) -> str:
        """What clients give to `SparkSession.builder.remote`."""
        return f"sc://{HOST}:{self.server_port}"


class LocalConnect(Daemons[Spec]):
    """The Connect server whose files are in one folder."""

    name = "connect"
    title = "Connect server"
    spec = Spec

    def up(self, asked: Spec) -> tuple[Spec, bool]:
        require_connect()
        return super().up(asked)

    def parts(self, spec: Spec) -> list[Part]:
        return [self._part("server", spec.remote), self._scheduler_part(spec)]

    def _startable(self, asked: Spec) -> Spec:
        return with_ports(asked)

    def _launch(self, spec: Spec) -> dict[str, processes.Child]:  # noqa: ARG002 (the conf folder says it all)
        command = [str(spark_home() / "bin" / "spark-submit"), "--class", SERVER, "spark-internal"]
        more = {"SPARK_CONF_DIR": str(self.conf), "PYSPARK_PYTHON": sys.executable}
        return {"server": self._run("server", command, **more)}

    def _late(self, spec: Spec) -> str | None:
        with suppress(OSError), socket.create_connection((HOST, spec.server_port), timeout=1.0):
            return None
        return "server"

    def _spark_conf(self, spec: Spec) -> Mapping[str, str]:
        ours = launch_conf()
        agent = ours.pop("spark.driver.extraJavaOptions")
        return {
            "spark.master": f"local[{spec.cores}]",
            "spark.driver.memory": spec.memory,
            "spark.driver.host": HOST,
            "spark.driver.bindAddress": HOST,
            "spark.driver.extraJavaOptions": f"{agent} {self._mark('server')} ",
            "spark.ui.enabled": "false",
            "spark.connect.grpc.binding.address": HOST,
            "spark.connect.grpc.binding.port": str(spec.server_port),
            "spark.slaq.python": sys.executable,
            "spark.slaq.endpoint": self.endpoint(spec),
            **ours,
            **spec.conf,
        }

    def _scheduling(self) -> Mapping[str, str]:
        return {"between_users": "fair"}


def require_connect() -> None:
    """A SlaqError unless the installed pyspark brings a Connect server."""
    jars = spark_home() / "jars"
    if not any(jars.glob("spark-connect_*.jar")):
        core = next(jars.glob("spark-core_*.jar")).name
        found = re.fullmatch(r"spark-core_(?P<scala>[\d.]+)-(?P<spark>.+)\.jar", core)
        scala, spark = (found["scala"], found["spark"]) if found else ("SCALA", "VERSION")
        raise SlaqError(
            f"pyspark {spark} brings no Connect server; install pyspark 4, or run the server's package yourself: "
            f"slaq submit --packages org.apache.spark:spark-connect_{scala}:{spark} --class {SERVER} spark-internal"
        )
