"""The parts of `slaq bench chaos`: `plan` draws the faults, `run` injects them and gathers evidence, `checks` judge it."""
