"""How much of the machine an agent may use."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """What an agent with all its processes and threads may use."""

    memory_bytes: int = 512 * MIB
    """Memory, what it keeps in /tmp included."""
    tasks: int = 64
    """Processes and threads."""
    cpus: float = 1.0
    """Processor time for each second."""
    tmp_bytes: int = 32 * MIB
    """How large /tmp is."""
    files: int = 256
    """How many files each process may have open."""
    ponders: bool = True
    """Whether an agent may use the processor while it is not asked."""

    def environment(self) -> dict[str, str]:
        """Return the variables by which runtimes learn of these limits; inside of the walls they cannot see them."""
        heap = self.memory_bytes * 3 // 4
        processors = max(1, int(self.cpus))
        return {
            "GOMAXPROCS": str(processors),
            "GOMEMLIMIT": str(heap),
            "JAVA_TOOL_OPTIONS": f"-XX:MaxRAM={self.memory_bytes} -XX:MaxRAMPercentage=60 -XX:ActiveProcessorCount={processors}"
            " -XX:-UsePerfData",
            "NODE_OPTIONS": f"--max-old-space-size={heap // MIB}",
            "OMP_NUM_THREADS": str(processors),
            "UV_USE_IO_URING": "0",
        }

    def __str__(self) -> str:
        """Return them in words."""
        return (
            f"{in_words(self.memory_bytes)} of memory, {self.tasks} processes and threads, {self.cpus:g} of a processor,"
            f" {in_words(self.tmp_bytes)} in /tmp, {self.files} open files"
            f"{'' if self.ponders else '; it is stopped while it is not asked'}"
        )


def in_words(size: int) -> str:
    """Return a number of bytes for people: `512 MiB`, `1.5 GiB`."""
    return f"{size / (1024 * MIB):.3g} GiB" if size >= 1024 * MIB else f"{size / MIB:.3g} MiB"
