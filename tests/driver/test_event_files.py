"""Losses as TensorBoard event files, read back by TensorBoard itself."""

import json
import sys

import pytest
from tensorboard.backend.event_processing.event_multiplexer import EventMultiplexer

from slaq.driver.event_files import event_logger
from slaq.errors import SlaqError
from tests.driver.test_tracking import feed, fit, wait_for


def read(folder):
    """The losses of every run that TensorBoard finds: their steps and values."""
    reader = EventMultiplexer().AddRunsFromDirectory(str(folder))
    reader.Reload()
    return {
        run: [(each.step, pytest.approx(each.value)) for each in reader.Scalars(run, "loss")] for run in reader.Runs()
    }


def by_fit(folder):
    return {run.split("/")[-1]: curve for run, curve in read(folder).items()}


def test_every_fit_is_a_run_of_its_session(tmp_path):
    logger = event_logger(str(tmp_path), "my app/1")
    feed(logger, fit("a", "", [3.0, 2.0]), fit("b", "ignored", [5.0, None, 4.5]), fit("c", "", [], "GBT"))
    logger.close()
    assert by_fit(tmp_path) == {"KMeans": [(0, 3.0), (1, 2.0)], "KMeans-2": [(0, 5.0), (2, 4.5)]}
    (session,) = tmp_path.iterdir()
    assert session.name.startswith("my app_1-20")


def test_parameters_are_there_as_text(tmp_path):
    logger = event_logger(str(tmp_path), "app")
    feed(logger, fit("a", "", [3.0], regParam=0.5, maxIter=3))
    logger.close()
    reader = EventMultiplexer().AddRunsFromDirectory(str(tmp_path))
    reader.Reload()
    (run,) = reader.Runs()
    (event,) = reader.Tensors(run, "parameters/text_summary")
    assert json.loads(event.tensor_proto.string_val[0]) == {"regParam": 0.5, "maxIter": 3}


def test_times_are_those_of_the_iterations(tmp_path):
    logger = event_logger(str(tmp_path), "app")
    feed(logger, fit("a", "", [3.0, 2.0]))
    logger.close()
    reader = EventMultiplexer().AddRunsFromDirectory(str(tmp_path))
    reader.Reload()
    (run,) = reader.Runs()
    assert [each.wall_time for each in reader.Scalars(run, "loss")] == pytest.approx([1.0, 1.001])


def test_two_sessions_of_one_second_do_not_mix(tmp_path):
    loggers = [event_logger(str(tmp_path), "app") for _ in range(2)]
    for logger in loggers:
        feed(logger, fit("a", "", [1.0]))
        logger.close()
    assert len(list(tmp_path.iterdir())) == 2
    assert list(read(tmp_path).values()) == [[(0, 1.0)]] * 2


def test_later_losses_go_on_in_the_same_file(tmp_path):
    begin, *losses, end = fit("a", "", [3.0, 2.0, 1.0])
    logger = event_logger(str(tmp_path), "app")
    for event in (begin, losses[0]):
        logger.happened(event)
    wait_for(lambda: any(path.is_file() for path in tmp_path.rglob("*")))
    feed(logger, [*losses[1:], end])
    logger.close()
    assert by_fit(tmp_path) == {"KMeans": [(0, 3.0), (1, 2.0), (2, 1.0)]}
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


@pytest.mark.parametrize("name", ["..", "../../x", "/etc/x", "...", "a\x00b", "<b>", "x" * 1000])
def test_a_job_cannot_name_a_folder_elsewhere(tmp_path, name):
    logger = event_logger(str(tmp_path / "logs"), name)
    feed(logger, fit("a", "", [1.0], estimator=name))
    logger.close()
    assert logger.dropped == 0
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]
    assert list(read(tmp_path / "logs").values()) == [[(0, 1.0)]]


def test_a_disk_that_fails_costs_the_losses_only(tmp_path, caplog):
    logger = event_logger(str(tmp_path / "logs"), "app")
    (tmp_path / "logs").rmdir()
    (tmp_path / "logs").write_text("in the way")
    feed(logger, fit("a", "", [1.0]))
    logger.close()
    wait_for(lambda: logger.dropped == 1)
    assert "losses do not reach TensorBoard's files" in caplog.text


def test_a_folder_that_cannot_be_is_named_at_once(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SlaqError, match=r"tensorboard: .*/file/x cannot be a folder for event files"):
        event_logger(str(tmp_path / "file" / "x"), "app")


def test_without_the_extra_it_says_what_to_install(tmp_path, monkeypatch):
    for module in [name for name in sys.modules if name.startswith("tensorboardX")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(SlaqError, match=r"pip install 'slaq\[tensorboard\]'"):
        event_logger(str(tmp_path), "app")
