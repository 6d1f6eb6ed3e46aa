"""The simulator: a virtual clock around the engine that schedules real clusters, workloads, metrics and figures."""
