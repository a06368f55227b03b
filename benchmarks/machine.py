"""Description of the machine and packages used for measurements."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path

from sslart._art.backend import describe


def description(*packages: str) -> str:
    """Return processor, kernel and versions, of these packages too."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("sslart", "numpy", "scikit-learn", *packages))
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [
            line.split(":")[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")
        ]
        model = f"{len(names)} × {names[0]}" if names else model
    return f"{model}, {describe()}; Python {platform.python_version()}; {versions}"
