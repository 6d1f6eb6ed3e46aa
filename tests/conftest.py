"""What all tests share."""

import os

from hypothesis import settings

# How long an example takes depends on what else the machine does. In CI a build fails for its change and not by chance,
# so examples are the same every time; everywhere else they go on exploring.
settings.register_profile("slaq", deadline=None, derandomize="CI" in os.environ)
settings.register_profile("quick", settings.get_profile("slaq"), max_examples=20)
settings.load_profile("slaq")

OWN_SETTINGS = "_hypothesis_internal_use_settings"
"""Where hypothesis keeps what a test set for itself."""


def pytest_collection_modifyitems(config, items):
    """Under `--hypothesis-profile=quick` the profile's number of examples also bounds tests that ask for more."""
    if config.getoption("--hypothesis-profile") != "quick":
        return
    quick = settings.get_profile("quick").max_examples
    for item in items:
        own = getattr(getattr(item, "obj", None), OWN_SETTINGS, None)
        if own is not None and own.max_examples > quick:
            setattr(item.obj, OWN_SETTINGS, settings(own, max_examples=quick))
