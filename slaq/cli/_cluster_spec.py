"""The shape of a local cluster, as asked for and as started."""

from msgspec.structs import replace

from slaq.cli._daemons import HOST, Shape
from slaq.cli._ports import with_ports
from slaq.cli._processes import free_port


class Spec(Shape, frozen=True, kw_only=True):
    """A master and its workers."""

    workers: int
    cores: int
    """Real cores of each worker."""
    memory: str
    """Memory of each executor."""
    applications: int
    """Applications that can run at once."""
    master_port: int = 0
    web_port: int = 0
    worker_ports: tuple[int, ...] = ()

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

    @property
    def master(self) -> str:
        return f"spark://{HOST}:{self.master_port}"

    @property
    def web(self) -> str:
        return f"http://{HOST}:{self.web_port}"


def startable(asked: Spec) -> Spec:
    """The spec with the ports that its processes will use."""
    return replace(with_ports(asked), worker_ports=tuple(free_port() for _ in range(asked.workers)))
