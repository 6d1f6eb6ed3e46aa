"""What all tests share."""

import os
import tempfile

from hypothesis import settings

# How long an example takes depends on what else the machine does. In CI a build fails for its change and not by chance,
# so examples are the same every time; everywhere else they go on exploring.
settings.register_profile("slaq", deadline=None, derandomize="CI" in os.environ)
settings.register_profile("quick", settings.get_profile("slaq"), max_examples=20)
settings.load_profile("slaq")

# No test reads or changes what the fits of whoever runs it have taught, nor do the programs that it starts; and no test
# expects of its fits what those of another took.
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="slaq-tests-")
os.environ["SLAQ_SCHEDULER_ARCHIVE"] = "off"

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
