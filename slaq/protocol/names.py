"""Names that people give: as messages carry them, and as a terminal bears them."""


def sendable(name: str) -> str:
    """The name without lone surrogates, which no message can carry."""
    return name.encode("utf-8", "replace").decode()


def printable(name: str) -> str:
    """The name without characters that could drive a terminal."""
    return name if name.isprintable() else "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)
