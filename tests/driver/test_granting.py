"""What the pools are granted."""

from slaq.driver.granting import KEPT_BURST_S, pool_grants
from slaq.spark.bridge import NEVER, grant_line
from slaq.spark.records import Grant


def test_jobs_on_standby_have_their_place_and_kept_ones_borrow_nothing():
    found = pool_grants({"a": 1.0, "b": 0.5, "other-1": 2.0}, ["other-1", "b"], {"b"}, {"other-1": "default"})
    assert found == {
        "a": Grant(1.0),
        "b": Grant(0.5, burst_s=KEPT_BURST_S, borrows=False),
        "default": Grant(2.0, standby=0),
    }
    assert grant_line("b", found["b"]).split("\t")[-1] == str(NEVER)
