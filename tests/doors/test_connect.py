"""Where a driver finds its scheduler."""

import pytest

from slaq.config import load
from slaq.doors.connect import EPOCH_S, Connection


@pytest.mark.parametrize(("env", "epoch_s"), [({}, EPOCH_S), ({"SLAQ_SCHEDULER_EPOCH_S": "2"}, 2.0)])
def test_a_scheduler_in_the_driver_decides_more_often_unless_told(env, epoch_s):
    with Connection(load(env=env), "app", "alice") as connection:
        scheduler = connection._embedded.scheduler
        assert (scheduler.status().epoch_s, scheduler.config.scheduler.capacity) == (epoch_s, "drivers")
