"""Modules of the studio that need no page, tested by node's own runner: see `tests/studio/js`."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

TESTS = sorted(Path(__file__).parent.joinpath("js").glob("*.test.js"))


def test_modules_that_need_no_page() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node on this machine")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    numbers = tuple(map(int, re.findall(r"\d+", version)[:2]))
    if numbers < (20, 19) or (21, 0) <= numbers < (22, 7):
        pytest.skip(f"node {version.strip()} does not see by itself that a file is a module: 20.19 and 22.7 do")
    done = subprocess.run([node, "--test", *TESTS], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-10_000:] + done.stderr
    ran = re.search(r"tests (\d+)", done.stdout)
    assert ran, done.stdout
    assert int(ran[1]) >= 23
