"""What the Java half of SLAQ needs of Spark, read off its own class files: the jar's contract, checked at install.

One line for each reference: the class of ours that has it, then `class OWNER`, or `member OWNER NAME DESCRIPTOR`, or
`override OWNER NAME DESCRIPTOR` for a method of a Spark class that ours replaces. `uses CLASS` names another class of
ours that it calls: so it is known which classes a hook brings along.
"""

import struct
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CONTRACT = "META-INF/slaq/contract"

FOREIGN = ("org/apache/spark/", "scala/", "breeze/", "py4j/")

UTF8, CLASS, FIELD, METHOD, INTERFACE_METHOD, NAME_AND_TYPE = 1, 7, 9, 10, 11, 12
TWO_SLOTS = (5, 6)
SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
PRIVATE_OR_STATIC = 0x0002 | 0x0008


@dataclass(frozen=True)
class ClassFile:
    """The parts of a class file that say what it refers to and what it declares."""

    name: str
    supertypes: tuple[str, ...]
    methods: frozenset[tuple[str, str]]
    """Those that can be overridden, or override."""
    declared: frozenset[tuple[str, str]]
    """Every field and method."""
    classes: frozenset[str]
    members: frozenset[tuple[str, str, str]]


def parse(data: bytes) -> ClassFile:
    """Read a class file (Java Virtual Machine Specification, chapter 4) up to the end of its methods."""
    pool: dict[int, tuple[int, bytes]] = {}
    (count,) = struct.unpack_from(">H", data, 8)
    at, index = 10, 1
    while index < count:
        tag = data[at]
        size = 2 + struct.unpack_from(">H", data, at + 1)[0] if tag == UTF8 else SIZES[tag]
        pool[index] = (tag, data[at + 1 : at + 1 + size])
        at += 1 + size
        index += 2 if tag in TWO_SLOTS else 1

    def text(slot: int) -> str:
        return pool[slot][1][2:].decode(errors="surrogateescape")

    def pair(slot: int) -> tuple[int, int]:
        return struct.unpack(">HH", pool[slot][1])

    def class_name(slot: int) -> str:
        return text(struct.unpack(">H", pool[slot][1])[0])

    _, this, parent, interfaces = struct.unpack_from(">4H", data, at)
    slots = [*([parent] if parent else []), *struct.unpack_from(f">{interfaces}H", data, at + 8)]
    at += 8 + 2 * interfaces
    declared: list[tuple[int, str, str]] = []
    for _ in ("fields", "methods"):
        (number,) = struct.unpack_from(">H", data, at)
        at += 2
        for _ in range(number):
            access, name, descriptor, attributes = struct.unpack_from(">4H", data, at)
            declared.append((access, text(name), text(descriptor)))
            at += 8
            for _ in range(attributes):
                at += 6 + struct.unpack_from(">I", data, at + 2)[0]
    members = set()
    for slot, (tag, _) in pool.items():
        if tag in (FIELD, METHOD, INTERFACE_METHOD):
            owner, name_and_type = pair(slot)
            name, descriptor = pair(name_and_type)
            members.add((class_name(owner), text(name), text(descriptor)))
    return ClassFile(
        name=class_name(this),
        supertypes=tuple(map(class_name, slots)),
        methods=frozenset(
            (name, descriptor) for access, name, descriptor in declared if not access & PRIVATE_OR_STATIC
        ),
        declared=frozenset((name, descriptor) for _, name, descriptor in declared),
        classes=frozenset(class_name(slot) for slot, (tag, _) in pool.items() if tag == CLASS),
        members=frozenset(members),
    )


def contract(classes: Path, spark_jars: Path) -> str:
    """The lines for every class file under `classes`; `spark_jars` tell which methods are overridden."""
    archives = [zipfile.ZipFile(jar) for jar in sorted(spark_jars.glob("*.jar")) if _may_hold_supertypes(jar.name)]

    @cache
    def supertype(name: str) -> ClassFile | None:
        for archive in archives:
            try:
                return parse(archive.read(name + ".class"))
            except KeyError:
                continue
        return None

    def overridden(name: str, method: tuple[str, str]) -> bool:
        found = supertype(name) if name.startswith(FOREIGN) else None
        return found is not None and (
            method in found.methods or any(overridden(above, method) for above in found.supertypes)
        )

    own = {ours.name: ours for ours in map(parse, (path.read_bytes() for path in classes.rglob("*.class")))}

    def origin(owner: str, name: str, descriptor: str) -> str | None:
        """Where a member that is called on a class of ours may come from, if not from ours."""
        if owner not in own:
            return owner if owner.startswith(FOREIGN) else None
        if (name, descriptor) in own[owner].declared:
            return None
        return next(filter(None, (origin(above, name, descriptor) for above in own[owner].supertypes)), None)

    lines = set()
    for ours in own.values():
        lines |= {f"{ours.name} class {name}" for name in ours.classes if name.startswith(FOREIGN)}
        for owner, name, descriptor in ours.members:
            if owner in own and owner != ours.name:
                lines.add(f"{ours.name} uses {owner}")
            source = origin(owner, name, descriptor)
            if source is not None:
                lines.add(f"{ours.name} member {source} {name} {descriptor}")
        for above in ours.supertypes:
            if above in own:
                lines.add(f"{ours.name} uses {above}")
            for method in ours.methods:
                if method[0] != "<init>" and overridden(above, method):
                    lines.add(f"{ours.name} override {above} {' '.join(method)}")
    for archive in archives:
        archive.close()
    return "".join(f"{line}\n" for line in sorted(lines))


def _may_hold_supertypes(jar: str) -> bool:
    return jar.startswith(("spark-", "scala-library", "scala-collection", "breeze"))
