"""Every test begins with no jobs and no warnings given, as those of the driver do."""

from tests.driver.conftest import _fresh

__all__ = ["_fresh"]
