"""What `slaq --help` and `slaq bench --help` say of each command: known without importing the commands."""

from slaq.cli._groups import Sections

COMMANDS: Sections = {
    "Run applications": {
        "submit": "Run a Spark application, unmodified, with SLAQ in its driver",
        "cluster": "Start, inspect and stop a SLAQ-enabled Spark cluster on this host",
        "connect": "Start, inspect and stop a Spark Connect server with SLAQ",
        "demo": "Train real MLlib jobs with SLAQ, then under Spark's FAIR pools",
    },
    "Watch and change jobs": {
        "top": "Show the active jobs live, those with the most cores first",
        "jobs": "List jobs",
        "job": "Show one job: its progress, its loss curve, its cores over time",
        "explain": "Say why a job has the cores it has",
        "set": "Change the weight of a job",
        "hold": "Take all cores away from jobs until they are released",
        "release": "Let held jobs have cores again",
        "stop": "End jobs after their iteration under way and keep their models",
        "cancel": "Ask the drivers of jobs to end them",
    },
    "Operate a scheduler": {
        "ui": "Print where the page is, or open it",
        "scheduler": "Share out a cluster's cores among the jobs of all its drivers",
        "status": "Show the scheduler at a glance",
        "conf": "Check, show and print configuration",
        "dump": "Print everything the scheduler holds in memory, as JSON",
        "doctor": "Start a small local Spark and tell what of SLAQ works in it",
        "version": "Show the versions of SLAQ, of Spark and of the scheduler",
    },
    "Simulate and measure": {
        "simulate": "Compare policies on simulated jobs",
        "trace": "Turn decision logs and simulated runs into recordings",
        "figures": "Draw the paper's figures from new runs",
        "bench": "Measure SLAQ beside a baseline",
    },
}

BENCHMARKS: Sections = {
    "Decisions and forecasts": {
        "decide": "CPU time of one decision, beside the paper's Algorithm 1",
        "predict": "Error of loss forecasts, beside the paper's and simpler ones",
        "learn": "Learn the forecaster and judge it on runs it has not seen",
        "fuzz": "Hostile input for every route, message, file and command line",
        "load": "Thousands of agents against one scheduler process",
    },
    "Faults and time": {
        "chaos": "Faults against scheduler, agents, disk and network",
        "soak": "A day of decisions on virtual clocks: memory, disk, time",
    },
    "Training on real Spark": {
        "cluster": "A stream of MLlib jobs under SLAQ and under Spark's schedulers",
        "deadlines": "Jobs with deadlines under OASiS and under others",
        "trials": "Trials among best-effort jobs, beside Spark's FAIR",
        "queues": "Long-lived applications on one cluster, with and without SLAQ",
        "search": "A CrossValidator with plain Spark and with SLAQ attached",
        "race": "A search in full, as a race, and with constant iterations",
        "single": "One training job alone, with SLAQ and with plain Spark",
        "coverage": "PySpark's example programs, plain and under `slaq submit`",
    },
    "The bridge into Spark": {
        "applications": "Whether applications together keep to the cluster's cores",
        "share": "Whether jobs get the share of CPU time that they were granted",
        "offers": "What a round of offers costs with a thousand pools",
        "reaction": "How soon a changed grant shows in the running tasks",
        "overhead": "What the bridge costs an application that is not throttled",
        "fits": "What a driver keeps of thousands of fits that are over",
        "probe": "What it costs to read the loss of every iteration",
        "report": "What one `slaq.report` costs a training loop",
        "tracker": "What an MLflow server that is away costs a fit",
    },
}


def summary(name: str) -> str:
    """What `slaq --help` says of a command."""
    return next(summaries[name] for summaries in COMMANDS.values() if name in summaries)
