"""`slaq explain ID`."""

import click

from slaq.cli._client import Client
from slaq.cli._options import client_options, format_option
from slaq.cli._output import echo_json, facts_text
from slaq.cli._states import COLOURS
from slaq.cli._text import cores, duration, number, plain
from slaq.cli._watch import interval_option, refuse_for_programs, show, watch_option
from slaq.cli._wishes import wish_facts
from slaq.errors import SlaqError
from slaq.protocol import Ahead, Explanation, JobDetail


@click.command()
@click.argument("job_id", metavar="ID")
@watch_option
@interval_option
@format_option("table", "json")
@client_options
def command(client: Client, job_id: str, watch: bool, interval: float | None, output_format: str) -> None:
    """Say why a job has the cores it has.

    The sentence of the latest decision about it, what one more core would have bought it and what the last core
    handed out bought, its floor and its cap, and how far its milestones are.
    """
    refuse_for_programs(watch, output_format)
    if output_format == "json":
        echo_json(_explained(client.job(job_id)))
    else:
        show(lambda: _text(client.job(job_id)), client, watch, interval)


def _explained(detail: JobDetail) -> Explanation:
    if detail.explanation is None:
        raise SlaqError(f"job {plain(detail.job.id)} is {detail.job.state}: no decision is in force for it")
    return detail.explanation


def _text(detail: JobDetail) -> str:
    explained = _explained(detail)
    job = {"job": plain(detail.job.name)} | ({"group": plain(detail.job.group)} if detail.job.group else {})
    return facts_text(job | _facts(explained), plain(detail.job.id), COLOURS[detail.job.state])


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
        "weight": f"{why.weight:g} (its own times its user's)" if why.user_cores is None else f"{why.weight:g}",
        "decided": f"in epoch {why.epoch} by {plain(why.policy)}, rule {plain(why.rule)}",
    }
    facts |= {_milestone(ahead.share): _ahead(ahead, why.cap) for ahead in why.ahead if ahead.core_s > 0.0}
    facts |= wish_facts(why.wish, why.policy)
    if why.preemptions:
        facts["made room for trials"] = f"{why.preemptions} times"
    if why.user_cores is not None:
        facts["its user's jobs together"] = f"{cores(why.user_cores)} cores, by what users are due"
    if why.waited:
        facts["waited"] = f"{why.waited} epochs with less than an even share"
    return facts
