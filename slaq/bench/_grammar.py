"""Values of any message's type, drawn at random, and what spoils them: in their structure, or as bytes on the wire."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

import msgspec.inspect as inspect

Draw = Callable[[Random], Any]

WORDS = ("app0001", "app0002", "1", "fit-7", "alice", "bob", "KMeans", "maxIter", "")
"""Texts of right values; where a pattern is asked for, those that match it."""
TEXTS = (
    "",
    " ",
    "\x00",
    "\x1b[2J\x1b]0;owned\x07",
    "\x9b31m",
    "\u202e\u2066",
    "\ud800",
    "\U0001f9ee" * 60,
    "a\nb\tc\r",
    "<script>alert(1)</script>",
    "'; DROP TABLE jobs; --",
    "../../etc/passwd",
    "~nobody-here/x",
    "%s%n{0}",
    "NaN",
    "x" * 201,
    "9" * 5000,
)
NUMBERS = (0, -0.0, -1, 1, 0.5, 2**31, 2**53, -(2**53), 2**63, 2**64, 2**200, 1e308, -1e308, 5e-324, 1e-320)
ODD: tuple[Any, ...] = (None, True, False, [], {}, *NUMBERS, *TEXTS, float("nan"), float("inf"), float("-inf"))
"""What stands where something else is expected."""
KEYS = ("id", "jobs", "user", "extra", "__class__", "", "losses", "seq")
MOST_REPEATED = 300
"""More than the longest list of a message."""
DEPTHS = (50, 1000, 5000)
SPOILED_TREE, SPOILED_BYTES = 0.6, 0.25
"""Shares of messages that are spoiled so; the rest are right, since refusals alone would never get past the gate."""


def drawer(kind: Any, fixed: Mapping[str, Draw] | None = None) -> Draw:
    """Draws plain trees that `kind` accepts; `fixed` draws the fields of these names, wherever they are."""
    return _draw(inspect.type_info(kind), fixed or {})


def message(random: Random, draw: Draw, spoil: bool = True) -> bytes:
    """A message as JSON: right, or, unless it must not be spoiled, wrong in some way."""
    tree = draw(random)
    if not spoil:
        return json.dumps(tree).encode()
    if random.random() < SPOILED_TREE:
        tree = spoiled(random, tree)
    text = json.dumps(tree).encode()
    return spoiled_bytes(random, text) if random.random() < SPOILED_BYTES else text


def spoiled(random: Random, tree: Any) -> Any:
    """The tree with up to three changes in its structure."""
    holder = [tree]
    for _ in range(random.randint(1, 3)):
        _change(random, *_place(random, holder))
    return holder[0]


def spoiled_bytes(random: Random, text: bytes) -> bytes:
    """The text with one change to its bytes."""
    at = random.randrange(len(text) + 1)
    match random.randrange(9):
        case 0:
            return text[:at]
        case 1:
            return text[:at] + random.randbytes(random.randint(1, 8)) + text[at:]
        case 2:
            return (
                text[:at] + random.choice((b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x00", b'"', b"}", b"]]")) + text[at:]
            )
        case 3:
            return text + random.choice((text, b"x", b" " * 100, b"\n{}"))
        case 4:
            return text.decode("utf-8", "replace").encode(random.choice(("utf-16", "utf-32", "utf-8-sig")))
        case 5:
            depth, bracket = random.choice(DEPTHS), random.choice((b"[", b'{"a":'))
            return text[:at] + bracket * depth + text[at:]
        case 6:  # a key that comes twice
            key, value = random.choice(KEYS).encode(), random.choice((b"null", b"1", b'"x"', b"[]"))
            return text.replace(b"{", b'{"' + key + b'":' + value + b",", 1)
        case 7:
            return re.sub(rb"\d+", lambda found: random.choice((found[0], b"1e999", b"-0", b"0" * 400)), text, count=3)
        case _:
            return b"" if random.random() < 0.5 else text[at:] + text[:at]


def odd(random: Random) -> Any:
    """Something that is hardly ever right."""
    return random.choice(ODD)


def _place(random: Random, holder: list[Any]) -> tuple[Any, Any]:
    """A container somewhere in the tree, and an index or key of it."""
    container: Any = holder
    key: Any = 0
    while True:
        inner = container[key]
        if not isinstance(inner, dict | list) or not inner or random.random() < 0.2:
            return container, key
        container = inner
        key = random.choice(list(inner)) if isinstance(inner, dict) else random.randrange(len(inner))


def _change(random: Random, container: Any, key: Any) -> None:
    value = container[key]
    match random.randrange(8):
        case 0 | 1 | 2:
            container[key] = odd(random)
        case 3 if isinstance(value, int | float) and not isinstance(value, bool):
            container[key] = random.choice((-value, value + 1, value * 1e300, str(value), [value]))
        case 4 if isinstance(container, dict):
            del container[key]
            container[random.choice(KEYS)] = value
        case 5 if isinstance(container, dict):
            container[random.choice(KEYS)] = odd(random)
        case 6 if isinstance(value, list):
            container[key] = value * random.choice((0, 2, MOST_REPEATED)) if len(value) < 4 else value[::-1]
        case _:
            container[key] = random.choice(([value], {"a": value}, odd(random), str(value)[:300]))


def _draw(info: inspect.Type, fixed: Mapping[str, Draw]) -> Draw:
    match info:
        case inspect.Metadata():
            return _draw(info.type, fixed)
        case inspect.StructType():
            return _struct(info, fixed)
        case inspect.IntType():
            least = info.ge if info.gt is None else info.gt + 1
            return _number(least, info.le, -3, lambda random, low, high: random.randint(int(low), int(high)))
        case inspect.FloatType():
            lowest = info.ge if info.gt is None else info.gt + 1e-3
            return _number(lowest, info.le, -3.0, lambda random, low, high: round(random.uniform(low, high), 4))
        case inspect.StrType():
            return _choice([word for word in WORDS if re.search(info.pattern or "", word)])
        case inspect.LiteralType():
            return _choice(info.values)
        case inspect.BoolType():
            return _choice((True, False))
        case inspect.NoneType():
            return _choice((None,))
        case inspect.UnionType():
            kinds = [_draw(each, fixed) for each in info.types]
            return lambda random: random.choice(kinds)(random)
        case inspect.ListType() | inspect.VarTupleType():
            item = _draw(info.item_type, fixed)
            return lambda random: [item(random) for _ in range(random.choice((0, 1, 1, 2, 3)))]
        case inspect.TupleType():
            items = [_draw(each, fixed) for each in info.item_types]
            return lambda random: [draw(random) for draw in items]
        case inspect.DictType():
            key, value = _draw(info.key_type, fixed), _draw(info.value_type, fixed)
            return lambda random: {key(random): value(random) for _ in range(random.randrange(3))}
        case inspect.RawType() | inspect.AnyType():
            return _choice((None, 1, "x", {"a": 1}))
    raise TypeError(f"messages have no {info}")


def _struct(info: inspect.StructType, fixed: Mapping[str, Draw]) -> Draw:
    fields = [
        (each.encode_name, each.required, fixed.get(each.name) or _draw(each.type, fixed)) for each in info.fields
    ]
    if info.array_like:
        return lambda random: [draw(random) for _, _, draw in fields]
    tag = {} if info.tag_field is None else {info.tag_field: info.tag}

    def draw_struct(random: Random) -> dict[str, Any]:
        return tag | {name: draw(random) for name, required, draw in fields if required or random.random() < 0.4}

    return draw_struct


def _number(least: Any, most: Any, below: float, between: Callable[[Random, float, float], float]) -> Draw:
    """Mostly from the bound on, where right values are dense; now and then a bound itself."""
    low = below if least is None else least
    high = low + 20 if most is None else min(most, low + 20)
    bounds = [low, high if most is None else most]
    return lambda random: random.choice(bounds) if random.random() < 0.1 else between(random, low, high)


def _choice(values: Sequence[Any]) -> Draw:
    return lambda random: random.choice(values)
