"""What `--help` says of a command beyond its description and options: its arguments, examples, exit codes."""

import click

ARGUMENTS = {
    "ID": "The job's id, a short id as in `slaq jobs`, the beginning of an id, or the job's name.",
    "ID...": "Jobs as `slaq jobs` names them: by id, short id, beginning of an id, or name.",
    "KEY=VALUE": "What to change; the key is weight, the value a number, usually 1.",
    "FILE": "A conf file (TOML), as `slaq conf template` prints one.",
    "LOG": "A decision log `decisions-*.log`, or the folder of a scheduler's state.",
    "RECORDING": "A file that `slaq trace record` or `slaq trace draw` wrote, or a decision log.",
    "ARGUMENTS": "Options of spark-submit, the application, and the application's own arguments.",
}

EXAMPLES: dict[str, tuple[str, ...]] = {
    "submit": (
        "slaq submit train.py",
        "slaq submit --conf spark.slaq.endpoint=http://scheduler:7527 --class Train app.jar",
    ),
    "cluster up": ("slaq cluster up --workers 2 --cores 4",),
    "cluster down": ("slaq cluster down",),
    "cluster status": ("slaq cluster status --format json",),
    "connect up": ("slaq connect up --cores 8",),
    "connect down": ("slaq connect down",),
    "connect status": ("slaq connect status --format json",),
    "demo": ("slaq demo", "slaq demo --jobs 4 --no-compare"),
    "top": ("slaq top --sort=-loss", "slaq top --once"),
    "jobs": ("slaq jobs --state all --sort=-core_s --limit 20", "slaq jobs --user alice --format csv"),
    "job": ("slaq job k3j2-fit-17", "slaq job nightly --watch"),
    "explain": ("slaq explain k3j2-fit-17",),
    "set": ("slaq set k3j2-fit-17 weight=2",),
    "hold": ("slaq hold k3j2-fit-17 k3j2-fit-18",),
    "release": ("slaq release k3j2-fit-17",),
    "stop": ("slaq stop k3j2-fit-17",),
    "cancel": ("slaq cancel k3j2-fit-17",),
    "scheduler": ("slaq scheduler --capacity 64", "slaq scheduler --conf /etc/slaq/slaq.toml --standby"),
    "ui": ("slaq ui", "slaq ui --open"),
    "status": ("slaq status --endpoint http://scheduler:7527",),
    "conf check": ("slaq conf check /etc/slaq/slaq.toml",),
    "conf show": ("slaq conf show --conf /etc/slaq/slaq.toml",),
    "conf template": ("slaq conf template > slaq.toml",),
    "dump": ("slaq dump > dump.json",),
    "doctor": ("slaq doctor",),
    "version": ("slaq version --format json",),
    "simulate": ("slaq simulate --policies fair,finish-line --jobs 40 --seeds 3", "slaq simulate --paper fitgpp"),
    "trace record": ("slaq trace record ~/.local/state/slaq --out yesterday.log",),
    "trace draw": ("slaq trace draw --jobs 40 --out drawn.log",),
    "trace curves": ("slaq trace curves yesterday.log --out curves.json",),
    "figures": ("slaq figures --out figures",),
    "bench cluster": ("slaq bench cluster --jobs 8 --rounds 1 --save runs.json",),
    "bench fuzz": ("slaq bench fuzz --cases 1000000 --seed 7", "slaq bench fuzz --only 'conf files'"),
    "bench load": ("slaq bench load --agents 1000 --seconds 30",),
}
"""Command lines by command; a test reads every one of them with the command itself."""

EXIT_CODES = """\b
Exit codes:
  0  It is done.
  1  What was asked about does not hold: `doctor`, `cluster status`,
     `bench fuzz`.
  2  A mistake in the command line, the configuration or the request, or
     nobody answers; one sentence on stderr names it and the remedy.

Most keys of the configuration have a variable, as `endpoint` has SLAQ_ENDPOINT; `slaq conf template` explains all
keys."""


def shown(argument: click.Argument) -> str:
    """What the usage line calls it."""
    return argument.metavar or (argument.name or "").upper()


def explained(path: str, command: click.Command) -> click.Command:
    """The command, or every command of a group, with its arguments and examples at the end of `--help`."""
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            explained(f"{path} {name}", inner)
        return command
    # The title says which command it is; the module's docstring, from which some descriptions come, does too.
    command.help = (command.help or "").removeprefix(f"`slaq {path}`: ")
    command.help = command.help[:1].upper() + command.help[1:]
    arguments = [each for each in command.params if isinstance(each, click.Argument)]
    names = [shown(each) for each in arguments]
    sections = [f"{name}: {ARGUMENTS[name]}" for name in names]
    if path in EXAMPLES:
        examples = "\n".join(f"  {example}" for example in EXAMPLES[path])
        sections.append(f"\b\nExample{'s' * (len(EXAMPLES[path]) > 1)}:\n{examples}")
    command.epilog = "\n\n".join(sections)
    return command
