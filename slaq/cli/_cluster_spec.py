"""The shape of a local cluster, as asked for and as started."""

import msgspec

from slaq.cli._processes import free_port, is_free
from slaq.errors import SlaqError

HOST = "127.0.0.1"
PORTS = ("master_port", "web_port", "scheduler_port")


class Spec(msgspec.Struct, frozen=True):
    """What is asked for; a port of 0 stands for any free one."""

    workers: int
    cores: int
    """Real cores of each worker."""
    memory: str
    """Memory of each executor."""
    applications: int
    """Applications that can run at once."""
    epoch_s: float
    policy: str
    master_port: int = 0
    web_port: int = 0
    scheduler_port: int = 0

    @property
    def capacity(self) -> int:
        """Cores to share out; also what one application may take."""
        return self.workers * self.cores

    @property
    def worker_cores(self) -> int:
        """Cores that each worker declares to Spark."""
        return self.cores * self.applications

    @property
    def worker_memory(self) -> str:
        """Memory that each worker declares to Spark."""
        return f"{int(self.memory[:-1]) * self.applications}{self.memory[-1]}"


class Running(msgspec.Struct, frozen=True):
    """What was started: the spec with the ports in use, and the workers' ports."""

    spec: Spec
    worker_ports: tuple[int, ...]

    @property
    def master(self) -> str:
        return f"spark://{HOST}:{self.spec.master_port}"

    @property
    def web(self) -> str:
        return f"http://{HOST}:{self.spec.web_port}"

    @property
    def endpoint(self) -> str:
        return f"http://{HOST}:{self.spec.scheduler_port}"


def with_ports(spec: Spec) -> Running:
    """The spec with a free port for every 0; a SlaqError if a given port is taken."""
    for name in PORTS:
        port = getattr(spec, name)
        if port and not is_free(port):
            raise SlaqError(f"port {port} is taken; give another --{name.replace('_', '-')}, or 0 for a free one")
    ports = {name: getattr(spec, name) or free_port() for name in PORTS}
    return Running(msgspec.structs.replace(spec, **ports), tuple(free_port() for _ in range(spec.workers)))


def as_asked(there: Spec, asked: Spec) -> bool:
    """Whether a running cluster is what is asked for; a port of 0 fits any."""
    kept = {name: getattr(there, name) for name in PORTS if not getattr(asked, name)}
    return msgspec.structs.replace(asked, **kept) == there
