"""What all tests share."""

import os

from hypothesis import settings

# How long an example takes says more about what else the machine is doing than about the code. In CI a build fails for
# its change and not for its luck, so examples are the same every time; everywhere else they go on exploring.
settings.register_profile("slaq", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("slaq")
