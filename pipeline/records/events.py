"""From `extract` and `normalise`: the failures that a text shows, and what each of them is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Frame(NamedTuple):
    """One stack frame, outermost first in a traceback."""

    file: str | None
    line: int | None
    function: str | None


@dataclass(frozen=True, slots=True)
class Link:
    """An exception that was printed before (or inside) the event's own one."""

    link: str  # "cause" | "context" | "group" | "reraise" | "remote" | "wrapper"
    exception_type: str | None
    message: str  # first line
    frames: tuple[Frame, ...] = ()  # as printed, outermost first
    detail: str = ""  # the whole message where it has more than one line (bounded)

    @property
    def frame_count(self) -> int:
        """How many frames were printed of it."""
        return len(self.frames)

    @property
    def is_causal(self) -> bool:
        """Whether the program says "this led to that"; others are one error twice: wrapped, raised again, sent on."""
        return self.link in ("cause", "context")


def short_class(exception_type: str | None) -> str:
    """The last part of a class's qualified name: "OutOfMemoryError"; "" where there is none."""
    return (exception_type or "").rsplit(".", 1)[-1]


class Slot(NamedTuple):
    """A typed parameter: what varies between occurrences of one error."""

    name: str  # "required", "limit", "bytes", "shape", "dtype", "device", "rank", "path", "arch", ...
    value: str  # as printed
    number: float | None  # its value in `unit`, where it has one
    unit: str | None  # "byte", "thread", ...


class Severity(StrEnum):
    """How much an event is an error; only errors and official samples are grouped."""

    ERROR = "error"
    WARNING = "warning"
    INTERRUPTION = "interruption"  # KeyboardInterrupt, SIGTERM: somebody stopped the program
    WRAPPER = "wrapper"  # `make: *** Error 1`: it tells how another error ended
    PROGRESS = "progress"  # a retry, printed at an error's level
    EMPTY = "empty"  # nothing says what failed
    OFFICIAL = "official"  # an official page's sample: it founds a cluster and is no occurrence


@dataclass(frozen=True, slots=True)
class Event:
    """One failure as a text shows it: a traceback with its chain, a native diagnostic, a status line.

    `start` and `end` are offsets of the whole block in the text given to `extract.events`. `message` is the first line
    of the message of the last printed exception, without boilerplate; `detail` is the whole of it (bounded).
    """

    dialect: str  # "python" | "pytest" | "ipython" | "faulthandler" | "cpp" | "glog" | "llvm" | "mlir" | "ptxas" | ...
    exception_type: str | None  # as printed, qualified: "triton.runtime.errors.OutOfResources"
    message: str
    detail: str
    frames: tuple[Frame, ...]
    chain: tuple[Link, ...]  # earlier exceptions, first printed first; the last printed one is the event itself
    codes: tuple[str, ...]  # "xla:E1001", "absl:RESOURCE_EXHAUSTED", "cuda:cudaErrorIllegalAddress", "nccl:..."
    start: int
    end: int
    is_truncated: bool
    severity: Severity


@dataclass(frozen=True, slots=True)
class Signature:
    """What an event is, with what varies taken out. Events with equal (`gate`, `text`) are one template.

    `gate` holds the discriminators, sorted pairs such as ("code", "cuda:cudaErrorIllegalAddress"), ("resource",
    "shared memory"): two signatures with different gates are never joined, whatever a fuzzy score says.
    """

    signature_id: str  # content_id("signature", version, gate, text)
    exception_type: str | None  # canonical, short where the equivalence table says so
    text: str  # readable template, slots as <name>: "out of resource: shared memory, Required: <n>, ..."
    gate: tuple[tuple[str, str], ...]
    is_gate_complete: bool  # True: the gate alone identifies the error, the text needs no fuzzy check
    frame_key: str  # innermost functions of the own code, "" if there are none; explains, never gates
    slots: tuple[Slot, ...]
    culprit: str  # id of the rule that chose the culprit line
    start: int  # the culprit line in the text given to `extract.events`
    end: int
    is_truncated: bool  # a cut text never founds a group by itself
    notes: tuple[str, ...]  # one short note per rule that acted, "rule-id: what it did"
