"""The parts of `slaq bench chaos`: a plan of faults, a run that injects them and gathers evidence, checks of it."""
