"""What a fit is expected to take, by what fits like it took before."""

from struct import pack, unpack

from msgspec import Struct

_FORMAT = "=9d"


class Expectation(Struct, frozen=True, gc=False):
    """Numbers of `Expected`, packed as those of a history are: thousands become one array by joining bytes."""

    packed: bytes = pack(_FORMAT, *[0.0] * 9)

    @property
    def expected(self) -> "Expected":
        """The numbers by their names."""
        return Expected(*unpack(_FORMAT, self.packed))


class Expected(Struct, frozen=True, gc=False):
    """Every group of numbers comes with how sure it is, from 0 (not known) to 1 (as good as measured)."""

    ready_core_s: float = 0.0
    """Core-seconds of preparation, up to the first loss."""
    ready_sure: float = 0.0
    work_core_s: float = 0.0
    """Core-seconds of an iteration."""
    serial_s: float = 0.0
    """Seconds of an iteration without a stage to run."""
    work_sure: float = 0.0
    at_90: float = 0.0
    """The iteration with which the fit has reached 90 % of its whole loss reduction."""
    at_95: float = 0.0
    at_end: float = 0.0
    """Its last iteration."""
    length_sure: float = 0.0

    def packed(self) -> Expectation:
        """The same as the engine keeps it."""
        numbers = (
            self.ready_core_s, self.ready_sure, self.work_core_s, self.serial_s, self.work_sure,
            self.at_90, self.at_95, self.at_end, self.length_sure,
        )  # fmt: skip
        return Expectation(pack(_FORMAT, *numbers))


NUMBERS: tuple[str, ...] = Expected.__struct_fields__
"""The order in which they are packed."""

EXPECT_NOTHING = Expectation()
