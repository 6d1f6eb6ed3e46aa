"""Open pages of `slaq bench load`: streams of events that are read as fast as they come, in a process of their own."""

import json
import sys
import threading
import time
import urllib.request

from slaq.protocol import routes

MARK = b"event: look"


def look(port: int, until_s: float, seen: list[int]) -> None:
    """Read one page's stream, again and again as a browser does, and note how many looks came."""
    while time.monotonic() < until_s:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{routes.EVENTS}", timeout=30) as stream:
                for line in stream:
                    seen[0] += line.startswith(MARK)
                    if time.monotonic() > until_s:
                        return
        except OSError:
            seen[1] += 1
            time.sleep(1.0)


def main(port: int, pages: int, seconds: float) -> None:
    """Keep so many pages open for so long; what was seen goes to stdout."""
    seen = [[0, 0] for _ in range(pages)]
    until_s = time.monotonic() + seconds
    threads = [threading.Thread(target=look, args=(port, until_s, each), daemon=True) for each in seen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 30.0)
    print(json.dumps({"looks": sum(looks for looks, _ in seen), "failures": sum(failed for _, failed in seen)}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
