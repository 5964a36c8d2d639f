"""Limits on an agent's use of the machine."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """The resource limits of an agent, for all its processes and threads together."""

    memory_bytes: int = 512 * MIB
    """The maximum memory, including files in /tmp, in bytes."""
    tasks: int = 64
    """The maximum number of processes and threads."""
    cpus: float = 1.0
    """The maximum number of processors used: the processor time per second, in seconds."""
    tmp_bytes: int = 32 * MIB
    """The size of /tmp, in bytes."""
    files: int = 256
    """The maximum number of open files per process."""
    ponders: bool = True
    """True if an agent may use the processor outside its own decisions."""

    def environment(self) -> dict[str, str]:
        """Return the variables that report these limits to runtimes, which cannot see them from inside the box."""
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
        """Return the limits in words."""
        return (
            f"{in_words(self.memory_bytes)} of memory, {self.tasks} processes and threads, {self.cpus:g} of a processor,"
            f" {in_words(self.tmp_bytes)} in /tmp, {self.files} open files"
            f"{'' if self.ponders else '; it is stopped while it is not asked'}"
        )


def in_words(size: int) -> str:
    """Format a number of bytes for people, as in `512 MiB` and `1.5 GiB`."""
    return f"{size / (1024 * MIB):.3g} GiB" if size >= 1024 * MIB else f"{size / MIB:.3g} MiB"
