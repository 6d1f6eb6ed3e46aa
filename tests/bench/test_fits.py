"""The verdict of the benchmark of many fits; the measurement itself takes long and is run by hand."""

from slaq.bench.fits import passed


def row(heap, names):
    return {"live heap, MB": heap, "pool names": names}


def test_a_heap_that_stays_and_names_that_are_used_again_pass() -> None:
    assert passed([row(60.0, 4), row(70.0, 5), row(65.0, 4)])


def test_a_heap_that_grows_fails() -> None:
    assert not passed([row(60.0, 4), row(67.0, 4)])


def test_one_more_name_fails() -> None:
    assert not passed([row(60.0, 4), row(60.0, 5)])
