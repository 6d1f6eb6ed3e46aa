"""The scheduler: a thread-safe shell around the engine, embedded in a driver or as the central process.

`core`, `pace`, `store` and `embedded` need the base install only; `server` and what it uses need `slaq[scheduler]`.
"""
