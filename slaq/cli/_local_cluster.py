"""A SLAQ-enabled Spark standalone cluster on this host: a real master, real workers, the scheduler beside them.

Several applications share it because the workers declare room for all of them: `applications` times the cores and
the memory that one application takes. SLAQ keeps the sum of their running tasks at the cores that exist.
"""

import json
from collections.abc import Mapping
from typing import Any

from slaq.cli import _processes as processes
from slaq.cli._cluster_spec import Spec, startable
from slaq.cli._daemons import HOST, Daemons, Part, get
from slaq.cli._spark_install import java, spark_home
from slaq.spark.jar import launch_conf

JVM = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""Master and workers only pass messages: a small heap and the quick compiler are enough."""


class LocalCluster(Daemons[Spec]):
    """The cluster whose files are in one folder."""

    name = title = "cluster"
    spec = Spec

    def parts(self, spec: Spec) -> list[Part]:
        workers = [self._part(f"worker-{n}", f"{HOST}:{port}") for n, port in enumerate(spec.worker_ports, 1)]
        return [self._part("master", spec.master), *workers, self._scheduler_part(spec)]

    def _startable(self, asked: Spec) -> Spec:
        return startable(asked)

    def _is_ours(self, process: processes.Process, spec: Spec | None) -> bool:
        # Executors briefly outlive a worker that was killed; their command line names it.
        urls = [f"--worker-url spark://Worker@{HOST}:{port} " for port in spec.worker_ports] if spec else []
        return super()._is_ours(process, spec) or any(url in f"{process.command} " for url in urls)

    def _launch(self, spec: Spec) -> dict[str, processes.Child]:
        ports = ("--port", str(spec.master_port), "--webui-port", str(spec.web_port))
        children = {"master": self._jvm("master", "master.Master", *ports)}
        for number, port in enumerate(spec.worker_ports, 1):
            children[f"worker-{number}"] = self._jvm(
                f"worker-{number}",
                "worker.Worker",
                *("--port", str(port), "--webui-port", "0", "--work-dir", str(self.folder / "work")),
                *("--cores", str(spec.worker_cores), "--memory", spec.worker_memory),
                spec.master,
            )
        return children

    def _jvm(self, role: str, name: str, *arguments: str) -> processes.Child:
        jars = f"{spark_home()}/jars/*"
        command = [java(), *JVM, self._mark(role), "-cp", jars, f"org.apache.spark.deploy.{name}", "--host", HOST]
        return self._run(role, [*command, *arguments])

    def _late(self, spec: Spec) -> str | None:
        return None if ready(spec) else "master"

    def _spark_conf(self, spec: Spec) -> Mapping[str, str]:
        return {
            "spark.master": spec.master,
            "spark.driver.host": HOST,
            "spark.driver.bindAddress": HOST,
            "spark.cores.max": str(spec.capacity),
            "spark.executor.cores": str(spec.cores),
            "spark.executor.memory": spec.memory,
            "spark.slaq.endpoint": self.endpoint(spec),
            **launch_conf(),
        }


def master_facts(cluster: Spec) -> dict[str, Any] | None:
    """What the master's web page says, or None if it does not answer."""
    body = get(cluster.web, "/json/")
    try:
        facts: dict[str, Any] | None = None if body is None else json.loads(body)
    except ValueError:
        return None
    return facts


def ready(cluster: Spec) -> bool:
    """Whether all workers are registered with the master."""
    facts = master_facts(cluster)
    return facts is not None and facts.get("aliveworkers") == cluster.workers
