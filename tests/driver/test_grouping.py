"""Jobs by group, told apart by what differs."""

from slaq.driver.grouping import grouped, labels, sections
from slaq.driver.status import JobStatus


def candidate(reg):
    return JobStatus(f"fit-{reg}", f"LogisticRegression_a1 (regParam={reg})", "LogisticRegression", group="g")


def test_members_that_differ_in_parameters_only_are_called_by_them():
    assert sections([candidate(0.1), JobStatus("k", "KMeans_b2", "KMeans"), candidate(0.2)]) == [
        ("LogisticRegression_a1", [("regParam=0.1", candidate(0.1)), ("regParam=0.2", candidate(0.2))]),
        ("", [("KMeans_b2", JobStatus("k", "KMeans_b2", "KMeans"))]),
    ]


def test_a_group_of_several_kinds_keeps_the_names():
    members = [candidate(0.1), JobStatus("k", "KMeans_b2", "KMeans", group="g")]
    assert labels(members) == ("g", ["LogisticRegression_a1 (regParam=0.1)", "KMeans_b2"])


def test_a_job_named_like_a_group_is_not_in_it():
    assert len(grouped([candidate(0.1), JobStatus("g", "x", "custom")])) == 2
