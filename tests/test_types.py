"""Type checkers know every method of the estimators, and see a name that is misspelt."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sslart

RIGHT = """
import sslart
from sslart import AutoSSLART, load

model = AutoSSLART().set_params(vigilance=0.8).set_fit_request(groups=True).fit([[1.0], [2.0]], [0, 1])
model.predict([[1.0]])
model.score([[1.0]], [0])
sslart.active.select_queries
sslart.FuzzyART().fit_predict([[1.0]])
"""
WRONG = """
import sslart
from sslart import WESSLART, AutoSSLART

AutoSSLART().predcit([[1.0]])
AutoSSLART().fit([[1.0], [2.0]], [0, 1]).explian([[1.0]])
WESSLART(3).vigilence = 0.5
sslart.laod("model.sslart")
sslart.active.select_querys
"""


@pytest.mark.slow
def test_a_misspelt_method_is_an_error(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    for name, text in (("right.py", RIGHT), ("wrong.py", WRONG)):
        (tmp_path / name).write_text(text)
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports", "silent", "--cache-dir", str(tmp_path / "cache"), "."],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(Path(sslart.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    errors = re.findall(r"^(\w+\.py):(\d+): error: .*", found.stdout, re.MULTILINE)
    assert errors == [("wrong.py", str(line)) for line in (5, 6, 7, 8, 9)], found.stdout + found.stderr
