"""Whether what is about to be allocated fits into memory."""

from __future__ import annotations

import math
import os
from pathlib import Path

from feaslearn.exceptions import MemoryLimitError

#: Where Linux says how much memory there is, for the machine and for a container.
MACHINE = Path("/proc/meminfo")
LIMIT, USED = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")


def available_bytes() -> float:
    """Return the memory that is left, of the machine or of the container if that is less."""
    return min(_of_machine(), _of_container())


def check_memory(numbers: float, what: str, advice: str, size: int = 8) -> None:
    """Refuse what would not fit, before any of it is allocated."""
    needed, there = float(numbers) * size, available_bytes()
    if needed > there:
        raise MemoryLimitError(
            f"{what} need about {readable(needed)} of memory, and {readable(there)} can be had; "
            f"{advice}"
        )


def _of_machine() -> float:
    try:
        for line in MACHINE.read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return 1024.0 * float(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * float(os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return math.inf


def _of_container() -> float:
    try:
        limit = LIMIT.read_text("ascii").strip()
        return math.inf if limit == "max" else float(limit) - float(USED.read_text("ascii"))
    except (OSError, ValueError):
        return math.inf


def readable(size: float) -> str:
    """Return a size in words."""
    for unit, bytes_ in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= bytes_:
            return f"{size / bytes_:.3g} {unit}" if size < 1e15 else f"{size / bytes_:.0f} {unit}"
    return f"{size / 1e3:.0f} kB"
