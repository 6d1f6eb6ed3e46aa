"""Every key of SLAQ's configuration, defined once: its type, default, range and meaning.

The field names are the key names, the annotations carry the rest; `slaq.config.keys` derives the names in the
environment and in Spark's configuration, and `slaq.config.template` the commented conf file.
"""

import math
from typing import Annotated

from msgspec import Struct

from slaq.config.rule import Rule

WEIGHT = {"low": 1e-6, "high": 1e6}
"""The range of weights that the decision core accepts (`slaq.model.job.WEIGHTS`)."""


class ProbeConfig(Struct, frozen=True):
    """How losses are read inside a driver."""

    extra_passes: Annotated[
        bool,
        Rule(
            "Let losses that MLlib does not compute (ALS, boosting, …) be summed beside its own tasks; false "
            "leaves Spark's tasks exactly as they are.",
            jvm=True,
        ),
    ] = True


class SchedulerConfig(Struct, frozen=True):
    """The central process, `slaq scheduler`."""

    host: Annotated[
        str,
        Rule("Address to listen on. Any but the loopback needs `token_file`, and TLS unless the network is trusted."),
    ] = "127.0.0.1"
    port: Annotated[int, Rule("Port to listen on; 0 takes a free one.", low=0, high=65535)] = 7527
    tls_cert: Annotated[str, Rule("Certificate chain (PEM) for HTTPS; empty: plain HTTP.", path=True)] = ""
    tls_key: Annotated[str, Rule("Private key (PEM) of `tls_cert`.", path=True)] = ""
    state_dir: Annotated[
        str, Rule("Folder of the history database, the decision log and the incarnation number.", path=True)
    ] = "~/.local/state/slaq"
    epoch_s: Annotated[float, Rule("Seconds between two decisions.", low=0.1, high=60.0)] = 1.0
    lease_s: Annotated[
        float,
        Rule(
            "Seconds a grant holds without being renewed. Afterwards a driver runs unthrottled, and the cores of a "
            "silent driver return. At least three epochs.",
            low=0.3,
            high=600.0,
        ),
    ] = 10.0
    policy: Annotated[str, Rule("Who gets the cores.", choices="policies")] = "finish-line"
    capacity: Annotated[
        int | str,
        Rule(
            'Cores to share out: a number, "drivers" (what the executors of all drivers offer together) or "master" '
            "(what the standalone master at `master_url` says).",
            low=1,
            high=1_000_000,
            choices=("drivers", "master"),
        ),
    ] = "drivers"
    master_url: Annotated[
        str, Rule('Web address of the standalone master, e.g. "http://master:8080"; needed for capacity = "master".')
    ] = ""
    oversubscription: Annotated[
        float,
        Rule(
            "Cores declared to Spark for each core that exists; a discovered capacity is divided by it.",
            low=1.0,
            high=1000.0,
        ),
    ] = 1.0


class LimitsConfig(Struct, frozen=True):
    """What one scheduler takes on before it refuses more (HTTP 413 or 429)."""

    applications: Annotated[int, Rule("Drivers connected at once.", low=1, high=1_000_000)] = 10_000
    jobs: Annotated[int, Rule("Active jobs of all drivers.", low=1, high=1_000_000)] = 50_000
    jobs_per_application: Annotated[int, Rule("Active jobs of one driver.", low=1, high=100_000)] = 1_000
    body_bytes: Annotated[int, Rule("Largest request.", low=1_024, high=1_000_000_000)] = 1_048_576
    requests_per_s: Annotated[
        float, Rule("Requests a second from one driver or one token before it has to slow down.", low=1.0, high=1e6)
    ] = 50.0


class RetentionConfig(Struct, frozen=True):
    """How much of the past the scheduler keeps on disk."""

    age_d: Annotated[float, Rule("Days that finished jobs stay in the history.", low=0.0, high=36_500.0)] = 30.0
    size_mb: Annotated[float, Rule("Size of the history database in MB; the oldest jobs go first.", low=1.0)] = 1_000.0
    log_mb: Annotated[float, Rule("Size of the decision log in MB; the oldest decisions go first.", low=1.0)] = 200.0


class UserConfig(Struct, frozen=True):
    """What one user gets."""

    weight: Annotated[float, Rule("Multiplies the weight of each of their jobs.", **WEIGHT)] = 1.0
    reserved_cores: Annotated[
        float, Rule("Cores their active jobs get together before anything is shared out.", low=0.0, high=1e6)
    ] = 0.0
    max_cores: Annotated[float, Rule("Cores their active jobs may hold together.", low=1.0)] = math.inf
    token_file: Annotated[
        str, Rule("File (mode 0600) with this user's token; it opens this user's jobs only.", path=True)
    ] = ""
    admin: Annotated[bool, Rule("May see and change everyone's jobs.")] = False


class Config(Struct, frozen=True):
    """The whole configuration; the keys without a section belong to drivers and to the command line."""

    endpoint: Annotated[
        str,
        Rule(
            'Where drivers and commands find the scheduler, e.g. "http://scheduler:7527". Empty: a driver schedules '
            "its own jobs, and commands ask this host."
        ),
    ] = ""
    token_file: Annotated[
        str,
        Rule(
            "File (mode 0600) with the token for the scheduler, which takes its own for the admin's.",
            path=True,
        ),
    ] = ""
    ca_file: Annotated[
        str, Rule("Certificate (PEM) to trust for an https endpoint; empty: the system's.", path=True)
    ] = ""
    timeout_s: Annotated[
        float, Rule("Seconds a driver or a command waits for an answer of the scheduler.", low=0.1, high=60.0)
    ] = 2.0
    enabled: Annotated[bool, Rule("Whether the plugin does anything in this driver.", jvm=True)] = True
    strict: Annotated[bool, Rule("Hold a job to its grant even while other cores of its driver are idle.")] = False
    user: Annotated[str, Rule("In whose name the jobs run; empty: Spark's user.")] = ""
    weight: Annotated[float, Rule("Weight of this application's jobs.", **WEIGHT)] = 1.0
    reserved_cores: Annotated[float, Rule("Cores each job gets before anything is shared out.", low=0.0, high=1e6)] = (
        0.0
    )
    max_cores: Annotated[float, Rule("Cores each job may hold.", low=1.0)] = math.inf
    progress: Annotated[bool, Rule("Show a progress line while a fit runs.")] = True
    journal: Annotated[
        str, Rule("File to which every job that ended is added as a line of JSON, with its loss curve.", path=True)
    ] = ""
    python: Annotated[
        str, Rule("Python that runs the agent beside a driver; it needs slaq. Empty: PySpark's, or python3.", jvm=True)
    ] = ""
    early_answer: Annotated[
        str,
        Rule(
            "What happens when a job is good enough: nothing, the program is told, or the loop is stopped.",
            choices=("off", "tell", "stop"),
        ),
    ] = "off"
    early_share: Annotated[
        float,
        Rule("Good enough: this share of the predicted total loss reduction is reached, …", low=0.0, high=1.0),
    ] = 0.99
    early_patience: Annotated[int, Rule("… for this many iterations in a row, …", low=1, high=100_000)] = 5
    early_tolerance: Annotated[
        float, Rule("… each of which gained less than this share of the reduction so far.", low=0.0, high=1.0)
    ] = 0.001

    probe: ProbeConfig = ProbeConfig()
    scheduler: SchedulerConfig = SchedulerConfig()
    limits: LimitsConfig = LimitsConfig()
    retention: RetentionConfig = RetentionConfig()
    users: dict[str, UserConfig] = {}
    sources: dict[str, str] = {}
    """Where each value that is no default came from, by key name."""

    def source(self, key: str) -> str:
        """Where the value of a key came from: "default", a file and line, a variable, a Spark key or a flag."""
        return self.sources.get(key, "default")

    def standing(self, user: str) -> UserConfig:
        """The table of a user, or that of everyone else."""
        return self.users.get(user) or self.users.get("*") or UserConfig()

    @property
    def address(self) -> str:
        """Where people's commands find the scheduler: `endpoint`, or the port on this host."""
        if self.endpoint:
            return self.endpoint
        scheme = "https" if self.scheduler.tls_cert else "http"
        return f"{scheme}://127.0.0.1:{self.scheduler.port}"
