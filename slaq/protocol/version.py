"""Which versions of these messages understand each other, so that drivers and schedulers can be upgraded one by one.

1. A version may add fields, each with a default that stands for what older ones did; unknown fields are ignored.
2. A version that takes a field away, requires a new one, or gives a field new meanings or values, is understood by
   nobody older: it sets OLDEST to itself.
3. Every message carries its version and the oldest one that understands it. Two peers talk if each is as new as the
   other's oldest.
"""

PROTOCOL = 2
"""The version of these messages. Without a peer that understands it an agent lets its jobs run unthrottled."""

OLDEST = 2
"""The oldest version that understands these messages, and whose messages are understood here."""


def understood(protocol: int, oldest: int, ours: int = PROTOCOL, our_oldest: int = OLDEST) -> bool:
    """Whether we and a peer of that version understand each other; an `oldest` of 0: only its own version does."""
    return our_oldest <= protocol and (oldest or protocol) <= ours
