"""Threads, file descriptors, memory and files stay flat."""

import re

from slaq.bench._chaos.evidence import Evidence, Sample, Watched

MOST_THREADS, MOST_FILES = 48, 80
"""Of a process: anyio's pool for questions has 40 threads, and a connection is a file."""
GROWTH_MB = 40.0
WARM_S = 2.0
"""After this time a process has loaded what it needs."""
EXPECTED = re.compile(r"history\.db(-wal|-shm|\.damaged-\d+)?$|decisions-\d+-\d{6}\.log$|lock$|ballast$")
LOGS_PER_START = 40
"""Gaps in the log begin new files: with a disk that takes nothing, as many as epochs are tried."""


def check(evidence: Evidence) -> list[str]:
    """What contradicts it."""
    found = [sentence for watched in evidence.watched for sentence in _grown(watched)]
    found += [f"{name} lies in the state folder" for name in evidence.files if not EXPECTED.match(name)]
    logs = sum(name.startswith("decisions-") for name in evidence.files)
    if logs > LOGS_PER_START * evidence.starts:
        found.append(f"there are {logs} files of the decision log after {evidence.starts} starts")
    if sum(".damaged-" in name for name in evidence.files) > 1:
        found.append("more than one damaged database was kept")
    return found


def _grown(watched: Watched) -> list[str]:
    if not watched.samples:
        return []
    last = watched.samples[-1]
    warm = next((seen for seen in watched.samples if seen.at_s > watched.samples[0].at_s + WARM_S), last)
    found = []
    if last.threads > MOST_THREADS:
        found.append(f"{watched.name} has {last.threads} threads")
    if last.files > MOST_FILES:
        found.append(f"{watched.name} has {last.files} open files")
    if growth(warm, last) > GROWTH_MB:
        found.append(f"{watched.name} grew by {growth(warm, last):.0f} MB")
    return found


def growth(before: Sample, after: Sample) -> float:
    """How much memory a process took, in MB."""
    return after.rss_mb - before.rss_mb
