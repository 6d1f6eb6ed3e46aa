"""placeholder until learned"""
MEAN: tuple[float, ...] = ()
SPREAD: tuple[float, ...] = ()
WEIGHTS: tuple[tuple[float, ...], ...] = ()
