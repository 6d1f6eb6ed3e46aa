"""Every key of SLAQ's configuration, defined once: its type, default, range and meaning.

The field names are the key names, the annotations carry the rest; `slaq.config.keys` derives the names in the
environment and in Spark's configuration, and `slaq.config.template` the commented conf file.
"""

import math
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from slaq.config.rule import Rule
from slaq.protocol.wishes import KINDS, wished
from slaq.records import WEIGHTS, Wish

DRIVER_EPOCH_S = 0.5
"""Seconds between decisions of a scheduler inside a driver: there is no network to spare, and the iterations of small
fits take a fraction of a second. Half a second measured better than one; less than that costs CPU time."""


class ProbeConfig(Struct, frozen=True):
    """How losses are read inside a driver."""

    extra_passes: Annotated[
        bool,
        Rule(
            "Sum up losses that MLlib does not compute (ALS, boosting, …) inside Spark's tasks; false leaves the tasks "
            "exactly as they are.",
            jvm=True,
        ),
    ] = True


class BudgetConfig(Struct, frozen=True):
    """What each training job may use before it is stopped with the model it has."""

    time_s: Annotated[float, Rule("Seconds since it began, waiting included.", low=0.0, time=True, since="0.2.0")] = (
        math.inf
    )
    core_time_s: Annotated[float, Rule("Core-seconds that its tasks have held.", low=0.0, time=True, since="0.2.0")] = (
        math.inf
    )


class SchedulerConfig(Struct, frozen=True):
    """The scheduler process, `slaq scheduler`."""

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
    epoch_s: Annotated[float, Rule("Seconds between decisions.", low=0.1, high=60.0, time=True, driver=True)] = 1.0
    lease_s: Annotated[
        float,
        Rule(
            "Seconds for which a grant holds unless it is renewed. Afterwards the driver runs unthrottled, and the "
            "cores of a silent driver go to others. At least three epochs.",
            low=0.3,
            high=600.0,
            time=True,
            driver=True,
        ),
    ] = 10.0
    policy: Annotated[str, Rule("Who gets the cores.", choices="policies", driver=True)] = "finish-line"
    prefer: Annotated[
        str,
        Rule(
            "What finish-line is after: `good` brings models to 90 % sooner, `done` brings jobs to their end sooner, "
            "`balanced` both.",
            choices=("good", "balanced", "done"),
            driver=True,
            since="0.2.0",
        ),
    ] = "balanced"
    between_users: Annotated[
        str,
        Rule(
            'How users share: "fair" decides the cores of each user by weight first, and the policy divides them among '
            'that user\'s jobs; with "policy" it looks at all jobs alike, whoever they belong to.',
            choices=("policy", "fair"),
            driver=True,
            since="0.2.0",
        ),
    ] = "policy"
    predictor: Annotated[
        str,
        Rule(
            'Who forecasts the losses: "learned", or "weighted-fit", the curve fits of the SLAQ paper.',
            choices="predictors",
            driver=True,
            since="0.2.0",
        ),
    ] = "learned"
    archive: Annotated[
        str,
        Rule(
            'Whether a new fit is expected to take what fits like it took before: "on", "off", or the file in which a '
            "driver without an endpoint keeps this. Usually that is ~/.cache/slaq/fits.jsonl; the scheduler process "
            "takes it from its history. Numbers and parameters are kept, no data and no users.",
            driver=True,
            since="0.2.0",
        ),
    ] = "on"
    capacity: Annotated[
        int | str,
        Rule(
            'Cores to share out: a number, "drivers" (those of all drivers\' executors) or "master" (those that the '
            "standalone master at `master_url` reports). A driver without an endpoint reads only its own Spark "
            "configuration for this, because a conf file describes the central scheduler.",
            low=1,
            high=1_000_000,
            choices=("drivers", "master"),
            driver=True,
        ),
    ] = "drivers"
    master_url: Annotated[
        str, Rule('Web address of the standalone master, e.g. "http://master:8080"; needed for capacity = "master".')
    ] = ""
    oversubscription: Annotated[
        float,
        Rule(
            "Cores declared to Spark per real core; a discovered capacity is divided by it.",
            low=1.0,
            high=1000.0,
        ),
    ] = 1.0


class LimitsConfig(Struct, frozen=True):
    """What one scheduler accepts before it refuses requests (HTTP 413 or 429)."""

    applications: Annotated[int, Rule("Drivers connected at once.", low=1, high=1_000_000)] = 10_000
    jobs: Annotated[int, Rule("Active jobs of all drivers.", low=1, high=1_000_000)] = 50_000
    jobs_per_application: Annotated[int, Rule("Active jobs of one driver.", low=1, high=100_000)] = 1_000
    body_bytes: Annotated[int, Rule("Bytes of the largest request.", low=1_024, high=1_000_000_000)] = 1_048_576
    requests_per_s: Annotated[
        float, Rule("Requests per second from one driver or one token; more are refused.", low=1.0, high=1e6)
    ] = 50.0


class RetentionConfig(Struct, frozen=True):
    """How much history the scheduler keeps on disk."""

    age_d: Annotated[float, Rule("Days that finished jobs stay in the history.", low=0.0, high=36_500.0)] = 30.0
    size_mb: Annotated[float, Rule("Size of the history database in MB; the oldest jobs go first.", low=1.0)] = 1_000.0
    log_mb: Annotated[float, Rule("Size of the decision log in MB; the oldest decisions go first.", low=1.0)] = 200.0


class UserConfig(Struct, frozen=True):
    """What one user gets."""

    weight: Annotated[
        float,
        Rule(
            "Multiplies the weight of each of their jobs, or the user's share where `between_users` is fair.",
            low=WEIGHTS[0],
            high=WEIGHTS[1],
        ),
    ] = 1.0
    reserved_cores: Annotated[
        float, Rule("Cores that their active jobs get together before the rest is shared out.", low=0.0, high=1e6)
    ] = 0.0
    max_cores: Annotated[
        float,
        Rule("Cores that their active jobs may hold together; less than 1 needs `between_users` = fair.", low=0.05),
    ] = math.inf
    token_file: Annotated[
        str, Rule("File (mode 0600) with this user's token; it opens this user's jobs only.", path=True)
    ] = ""
    admin: Annotated[bool, Rule("May see and change everyone's jobs.")] = False
    serves_others: Annotated[
        bool,
        Rule(
            "An application with this user's token may name the user of each job, as a Spark Connect server does.",
            since="0.2.0",
        ),
    ] = False


class Config(Struct, frozen=True, rename={"kind": "class"}):
    """The whole configuration; the keys without a section belong to drivers and to the command line."""

    endpoint: Annotated[
        str,
        Rule(
            'Where drivers and commands find the scheduler, e.g. "http://scheduler:7527"; several addresses, separated '
            "by commas, are tried in order. Empty: a driver schedules its own jobs, and commands ask this host."
        ),
    ] = ""
    token_file: Annotated[
        str,
        Rule(
            "File (mode 0600) with the token to send to the scheduler; the scheduler's own file holds the "
            "administrator's token.",
            path=True,
        ),
    ] = ""
    ca_file: Annotated[
        str, Rule("Certificate (PEM) to trust for an https endpoint; empty: the system's.", path=True)
    ] = ""
    timeout_s: Annotated[
        float, Rule("Seconds that drivers and commands wait for the scheduler.", low=0.1, high=60.0, time=True)
    ] = 2.0
    enabled: Annotated[bool, Rule("Whether the plugin does anything in this driver.", jvm=True)] = True
    strict: Annotated[bool, Rule("Hold a job to its grant even while other cores of its driver idle.")] = False
    user: Annotated[str, Rule("User to whom the jobs belong; empty: Spark's user.")] = ""
    weight: Annotated[float, Rule("Weight of this application's jobs.", low=WEIGHTS[0], high=WEIGHTS[1])] = 1.0
    reserved_cores: Annotated[
        float, Rule("Cores that each job gets before the rest is shared out.", low=0.0, high=1e6)
    ] = 0.0
    max_cores: Annotated[float, Rule("Cores that each job may hold.", low=1.0)] = math.inf
    deadline_s: Annotated[
        float,
        Rule(
            "Seconds after its beginning by which each job should have ended; policy oasis plans for it.",
            low=0.0,
            time=True,
            since="0.2.0",
        ),
    ] = math.inf
    utility: Annotated[
        str,
        Rule(
            'What the end of each job is worth by the time: with a deadline "time-critical" (the default then: nothing '
            'soon after it) or "time-sensitive" (less and less), "insensitive", or three numbers: worth, urgency per '
            "second and target in seconds, of worth / (1 + exp(urgency (t - target))). Empty: nothing is said.",
            since="0.2.0",
        ),
    ] = ""
    kind: Annotated[
        str,
        Rule(
            '"te" for trials that somebody watches: they get in at once, before "best-effort" jobs, of which one that '
            "loses little makes room.",
            choices=KINDS,
            since="0.2.0",
        ),
    ] = "best-effort"
    progress: Annotated[bool, Rule("Show the progress of fits while they run.")] = True
    mlflow: Annotated[
        bool,
        Rule(
            "Log every iteration's loss of a fit to the MLflow run that is active where `fit` is called, after "
            "`slaq.attach` in a program that has imported mlflow.",
            since="0.2.0",
        ),
    ] = True
    ui: Annotated[
        bool,
        Rule(
            "Serve the page (see `slaq ui`) of a driver that schedules its own jobs, on the loopback; needs "
            "slaq[scheduler].",
            since="0.2.0",
        ),
    ] = False
    tensorboard: Annotated[
        str,
        Rule("Folder for every fit's losses as TensorBoard event files (extra tensorboard).", path=True, since="0.2.0"),
    ] = ""
    journal: Annotated[str, Rule("File that gets one line of JSON per ended job, with its loss curve.", path=True)] = ""
    python: Annotated[
        str,
        Rule(
            "Python that runs the agent beside a driver; slaq must be installed in it. Empty: PySpark's, or python3.",
            jvm=True,
        ),
    ] = ""
    early_answer: Annotated[
        str,
        Rule(
            "What happens when a job is good enough: nothing, its user is told, or it stops with the model it has.",
            choices=("off", "tell", "stop"),
        ),
    ] = "off"
    early_share: Annotated[
        float,
        Rule("A job is good enough when it has reached this share of its expected loss reduction …", low=0.0, high=1.0),
    ] = 0.99
    early_patience: Annotated[int, Rule("… and has, for this many iterations in a row, …", low=1, high=100_000)] = 5
    early_tolerance: Annotated[
        float, Rule("… gained less than this share of the reduction so far in each.", low=0.0, high=1.0)
    ] = 0.001

    budget: BudgetConfig = BudgetConfig()
    probe: ProbeConfig = ProbeConfig()
    scheduler: SchedulerConfig = SchedulerConfig()
    limits: LimitsConfig = LimitsConfig()
    retention: RetentionConfig = RetentionConfig()
    users: dict[str, UserConfig] = {}
    tuning: dict[str, float] = {}
    """Fields of `slaq.model.Tuning` with values of the operator's own."""
    sources: dict[str, str] = {}
    """Where each value that was set came from, by key name."""

    def source(self, key: str) -> str:
        """Where the value of a key came from: "default", a file and line, a variable, a Spark key or a flag."""
        return self.sources.get(key, "default")

    def standing(self, user: str) -> UserConfig:
        """The table of a user, or the one for everybody else."""
        return self.users.get(user) or self.users.get("*") or UserConfig()

    def in_driver(self) -> "Config":
        """The configuration of a driver that schedules its own jobs, with the cores of its own executors.

        A capacity in a conf file is that of the central scheduler; one in Spark's configuration or a flag is meant
        for this driver. It decides more often than a central scheduler unless somebody says otherwise.
        """
        scheduler = self.scheduler
        if not self.source("scheduler.capacity").startswith(("spark.", "flag")):
            scheduler = replace(scheduler, capacity="drivers")
        if self.source("scheduler.epoch_s") == "default":
            scheduler = replace(scheduler, epoch_s=DRIVER_EPOCH_S)
        return replace(self, scheduler=scheduler)

    @property
    def wish(self) -> Wish:
        """By when the jobs of this application should end, what that is worth, and their class."""
        return wished(None if self.deadline_s == math.inf else self.deadline_s, self.utility or None, self.kind)

    @property
    def endpoints(self) -> tuple[str, ...]:
        """The addresses in `endpoint`, in the order in which they are tried."""
        return tuple(address.strip() for address in self.endpoint.split(",") if address.strip())

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where people's commands find the scheduler: at `endpoint`, or at the port on this host."""
        scheme = "https" if self.scheduler.tls_cert else "http"
        return self.endpoints or (f"{scheme}://127.0.0.1:{self.scheduler.port}",)
