"""Memory that the service has freed goes back to the system."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import numpy as np
from sslart.server.models._registry import give_memory_back

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

before = resident()
arrays = [np.ones(8000) for _ in range(2000)]  # 128 MB, in pieces that come from the heap
full = resident()
last = arrays[-1]  # lies above all others, so that the heap cannot shrink
del arrays
give_memory_back()
print((resident() - before) / (full - before))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other libraries give memory back by themselves")
def test_memory_that_was_freed_below_what_is_used_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 0.25
