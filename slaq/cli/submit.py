"""`slaq submit`."""

import os
import sys

import click

from slaq.spark.submit import find_spark_home, in_keys, parse, with_slaq


@click.command(
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    options_metavar="[spark-submit options]",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def command(ctx: click.Context, arguments: tuple[str, ...]) -> None:
    """Run a Spark application, unmodified, with SLAQ in its driver.

    Takes a PySpark script or a Scala or Java jar, with the options and arguments of spark-submit. SLAQ's settings are
    Spark keys, such as `--conf spark.slaq.endpoint=http://scheduler:7527` or `--conf spark.slaq.progress=false`;
    `slaq conf template` explains them. `--deadline 20min` is the time that each training job should take at most,
    `--utility` what its end is worth by the time, `--te` marks trials, which get in at once. spark-submit
    replaces this process: signals reach it, and its exit code is the command's.
    """
    if not arguments or arguments in (("--help",), ("-h",)):
        click.echo(ctx.get_help())
        return
    home = find_spark_home(os.environ)
    if parse(in_keys(arguments)).cluster:
        click.echo("slaq: --deploy-mode cluster needs slaq at the same path on the driver's host", err=True)
    program = str(home / "bin" / "spark-submit")
    sys.stdout.flush()
    os.execve(program, [program, *with_slaq(arguments, os.environ, home)], dict(os.environ))
