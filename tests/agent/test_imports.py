"""The agent layer runs wherever Python and msgspec are."""

import subprocess
import sys

PROGRAM = """
import sys
before = set(sys.modules)
import slaq.agent
before.add("typing_extensions")  # msgspec looks for it, and does without
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
print(sorted(loaded - set(sys.stdlib_module_names)))
"""


def test_it_imports_the_standard_library_and_msgspec_only():
    found = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "['msgspec', 'slaq']"
