"""Benchmarks: one file per program, each exporting the click command of `slaq bench <file name>`."""
