"""Compile a policy on system calls into the program that the kernel runs before each call.

The language is classic BPF, of which only five instructions are used; see seccomp(2) and `linux/bpf_common.h`.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

ALLOWED = 0x7FFF0000
"""SECCOMP_RET_ALLOW: the kernel executes the call."""
KILLED = 0x80000000
"""SECCOMP_RET_KILL_PROCESS: the process ends with SIGSYS."""
_ERRNO = 0x00050000

_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""The offsets of a call's number, architecture and arguments in `struct seccomp_data`; each argument has 8 bytes."""
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06

Instruction = tuple[int, int, int, int]
"""An instruction: its code, the numbers of instructions to skip if it is true and if it is false, and a constant."""


def refused(error: int) -> int:
    """Return the verdict that makes a call fail with this errno and do nothing else."""
    return _ERRNO | error


class Passes(Enum):
    """The condition on an argument under which a call passes."""

    ONLY = auto()
    """The argument equals one of the values."""
    EXCEPT = auto()
    """The argument equals none of the values."""
    WITHOUT = auto()
    """The argument has none of the values' bits set."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition under which a call passes.

    Only the low 32 bits of the argument are compared. The kernel reads only those, so the other bits must not hide a
    value.

    Attributes:
        argument: the index of the argument, from 0.
        passes: the kind of condition.
        values: the values for the comparison.
        error: the errno of a refused call.
    """

    argument: int
    passes: Passes
    values: tuple[int, ...]
    error: int


def assemble(verdicts: Mapping[int, int | Rule], otherwise: int, architecture: int) -> bytes:
    """Return the BPF program that applies the verdicts, for little-endian machines.

    Args:
        verdicts: the verdict on each call, by the call's number.
        otherwise: the verdict on all other numbers, including those above 2^30, which are another entry into the kernel
            (x32).
        architecture: the architecture of these numbers, AUDIT_ARCH_*. A call through the entry of another architecture
            (i386, ARM) ends the process.
    """
    spans: list[tuple[int, int | Rule]] = []
    for number in range(max(verdicts) + 2):
        verdict = verdicts.get(number, otherwise)
        if not spans or spans[-1][1] != verdict:
            spans.append((number, verdict))
    instructions = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_IF_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, KILLED),
        (_LOAD, 0, 0, _NUMBER),
        *_search(spans),
    ]
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in instructions)


def _search(spans: Sequence[tuple[int, int | Rule]]) -> list[Instruction]:
    """Return instructions that find the span of a call's number by binary search, and apply its verdict."""
    if len(spans) == 1:
        verdict = spans[0][1]
        return [(_RETURN, 0, 0, verdict)] if isinstance(verdict, int) else _examine(verdict)
    middle = len(spans) // 2
    below = _search(spans[:middle])
    return [(_IF_AT_LEAST, len(below), 0, spans[middle][0]), *below, *_search(spans[middle:])]


def _examine(rule: Rule) -> list[Instruction]:
    met, unmet = ALLOWED, refused(rule.error)
    if rule.passes is not Passes.ONLY:
        met, unmet = unmet, met
    jump = _IF_ANY_BIT if rule.passes is Passes.WITHOUT else _IF_EQUAL
    last = len(rule.values)
    return [
        (_LOAD, 0, 0, _ARGUMENTS + 8 * rule.argument),
        *((jump, last - number, 0, value) for number, value in enumerate(rule.values)),
        (_RETURN, 0, 0, unmet),
        (_RETURN, 0, 0, met),
    ]
