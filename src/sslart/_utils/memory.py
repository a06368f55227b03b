"""Memory that is free for this process, so that a call stops with a sentence before the system stops the process."""

from __future__ import annotations

import os
import re
from pathlib import Path

VARIABLE = "SSLART_MAX_MEMORY"  # of the environment: at most so much, such as 2GB
SHARE = 0.8  # of what is free: estimates are rough, and other programs need some too
UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
CGROUPS = (  # the limit of a container, and what it has taken of it
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)


def usable_memory() -> int | None:
    """Return how many bytes a call may take: a share of what is free, or the user's limit; None where not known."""
    given = os.environ.get(VARIABLE)
    free = [one for one in (_free_in_system(), _free_in_container(), _free_by_limits()) if one is not None]
    usable = [int(SHARE * min(free))] if free else []
    if given:
        usable.append(_bytes_of(given))
    return max(min(usable), 0) if usable else None


def memory_text(n_bytes: float) -> str:
    """Return a number of bytes as text, such as 1.4 GB."""
    if n_bytes < 2**30:
        return f"{max(n_bytes / 2**20, 1):,.0f} MB"
    return f"{n_bytes / 2**30:,.1f} GB"


def _bytes_of(text: str) -> int:
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", text.lower())
    if found is None:
        raise ValueError(f"{VARIABLE} must be a number of bytes such as 2GB or 500MB, got {text!r}.")
    return int(float(found[1]) * UNITS[found[2]])


def _free_in_system() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        pass
    try:  # no figure of what is free: half of all
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):
        return None


def _free_in_container() -> int | None:
    for limit, used in CGROUPS:
        try:
            return int(limit.read_text(encoding="ascii")) - int(used.read_text(encoding="ascii"))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return None


def _free_by_limits() -> int | None:
    """Return what the limit on the address space (`ulimit -v`) leaves."""
    try:
        import resource  # not on Windows

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        return limit - pages * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError):
        return None
