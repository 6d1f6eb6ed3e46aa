"""`slaq explain ID`."""

import click

from slaq.cli._client import Client
from slaq.cli._options import client_options, format_option
from slaq.cli._output import echo_facts, echo_json
from slaq.cli._text import cores, duration, number, plain
from slaq.errors import SlaqError
from slaq.protocol import Ahead, Explanation


@click.command()
@click.argument("job_id", metavar="ID")
@format_option("table", "json")
@client_options
def command(client: Client, job_id: str, output_format: str) -> None:
    """Say why a job has the cores it has."""
    detail = client.job(job_id)
    explanation = detail.explanation
    if explanation is None:
        raise SlaqError(f"job {plain(detail.job.id)} is {detail.job.state}: no decision is in force for it")
    if output_format == "json":
        echo_json(explanation)
    else:
        echo_facts(_facts(explanation), plain(detail.job.id))


def _milestone(share: float) -> str:
    return "its end" if share == 1.0 else f"{share:.0%} of its loss reduction".replace("%", " %")


def _ahead(ahead: Ahead, most_cores: float) -> str:
    """How long the way to a milestone is for a job that has all the cores it can use."""
    usual, least, most = (duration(each / most_cores) for each in (ahead.core_s, ahead.least_core_s, ahead.most_core_s))
    return f"in about {usual} with {cores(most_cores)} cores ({least} to {most} in four cases of five)"


def _facts(why: Explanation) -> dict[str, str]:
    facts = {
        "why": plain(why.sentence),
        "cores": cores(why.cores),
        "one more core would buy": number(why.next_gain),
        "the last core handed out bought": number(why.cutoff),
        "floor": cores(why.floor),
        "cap": cores(why.cap),
        "reserved": cores(why.reserved_cores),
        "weight": f"{why.weight:g}, its own times its user's",
        "decided": f"in epoch {why.epoch} by {plain(why.policy)}, rule {plain(why.rule)}",
    }
    facts |= {_milestone(ahead.share): _ahead(ahead, why.cap) for ahead in why.ahead if ahead.core_s > 0.0}
    if why.waited:
        facts["waited"] = f"{why.waited} epochs with less than an even share"
    return facts
