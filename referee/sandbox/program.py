"""A policy on system calls, compiled to the program that the kernel runs before each call.

The language is classic BPF, of which nine instructions are used: see seccomp(2) and `linux/bpf_common.h`.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

ALLOWED = 0x7FFF0000
"""SECCOMP_RET_ALLOW: the kernel does what was asked for."""
KILLED = 0x80000000
"""SECCOMP_RET_KILL_PROCESS: the process ends with SIGSYS."""
_ERRNO = 0x00050000

_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Where in `struct seccomp_data` they are; each argument has 8 bytes."""
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06

Instruction = tuple[int, int, int, int]
"""Code, how many instructions to skip if true, and if false, and a number."""


def refused(error: int) -> int:
    """Return the verdict that a call fails with this errno, and that nothing else happens."""
    return _ERRNO | error


class Passes(Enum):
    """When a call is let through by its argument."""

    ONLY = auto()
    """It is one of the values."""
    EXCEPT = auto()
    """It is none of the values."""
    WITHOUT = auto()
    """It has none of the values' bits."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a call is let through with.

    The low 32 bits of the argument are compared. The kernel reads only those, and a value must not hide behind the others.

    Attributes:
        argument: which one, from 0.
        passes: what is asked of it.
        values: what it is compared with.
        error: the errno of a call that is refused.
    """

    argument: int
    passes: Passes
    values: tuple[int, ...]
    error: int


def assemble(verdicts: Mapping[int, int | Rule], otherwise: int, architecture: int) -> bytes:
    """Return the program, for little-endian machines.

    Args:
        verdicts: what happens to a call, by its number.
        otherwise: what happens to all other numbers, also those above 2^30, which are other ways into the kernel (x32).
        architecture: whose numbers these are, AUDIT_ARCH_*. A call by the entry of another one (i386, ARM) ends the process.
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
    """Return instructions that find the span of the number by halving."""
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
