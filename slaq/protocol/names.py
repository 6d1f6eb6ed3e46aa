"""Names that users give: safe to send, safe to print."""


def sendable(name: str) -> str:
    """The name without lone surrogates, which UTF-8 cannot encode."""
    return name.encode("utf-8", "replace").decode()


def printable(name: str) -> str:
    """The name without characters that could control a terminal."""
    return name if name.isprintable() else "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)
