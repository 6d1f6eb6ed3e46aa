"""A driver that always says that its work took as many seconds as it was started with."""

import sys

for _ in iter(sys.stdin.readline, ""):
    print("noise on the way", flush=True)
    print(f"took {sys.argv[1]}", flush=True)
