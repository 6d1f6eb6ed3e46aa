"""A driver that trains the same job once for every line on its standard input: `python -m slaq.workload.single …`."""

import json
import sys
import time

from slaq.workload.algorithms import generated
from slaq.workload.session import session
from slaq.workload.stream import Planned
from slaq.workload.train import train


def main(kind: str, name: str, iterations: int, rows: float, cores: int) -> None:
    """Answer every line with the seconds of a fit and its model; `kind` is "slaq" or "plain"."""
    spark = session("FIFO", cores, memory="2g", probe=kind == "slaq")
    try:
        if kind == "slaq":
            import slaq

            slaq.attach(spark, progress=False, archive="off")
        made = generated(spark, name, rows).cache()
        made.count()
        planned = Planned(name, name, 0.0, iterations, seed=1)
        for _ in sys.stdin:
            began = time.perf_counter()
            model = train(planned, made, lambda *_: None, lambda *_: None)
            print(json.dumps({"seconds": time.perf_counter() - began, "model": model}), flush=True)
    finally:
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]))
