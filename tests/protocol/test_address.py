"""Addresses of a scheduler, and what is not one."""

import pytest

from slaq.protocol.address import address_parts


def test_an_address_has_a_host_and_perhaps_a_port():
    parts = address_parts("https://[::1]:7527/slaq")
    assert (parts.scheme, parts.hostname, parts.port, parts.path) == ("https", "::1", 7527, "/slaq")
    assert address_parts("http://scheduler").port is None


@pytest.mark.parametrize(
    "wrong", ["", "scheduler:7527", "ftp://a", "http://", "http://[::1", "http://a:port", "http://a:99999"]
)
def test_anything_else_is_none(wrong):
    assert address_parts(wrong) is None
