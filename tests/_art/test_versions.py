"""What a bug report shows."""

from __future__ import annotations

import subprocess
import sys

import pytest

import sslart


def test_versions_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    sslart.show_versions()
    shown = capsys.readouterr().out
    for name in ("sslart", "kernel", "python", "numpy", "scipy", "scikit-learn"):
        assert f"{name}: " in shown
    assert f"sslart: {sslart.__version__}\n" in shown


def test_importing_sslart_loads_nothing_that_only_some_of_it_needs() -> None:
    program = "import sys, sslart; print([name for name in sys.argv[1:] if name in sys.modules])"
    others = ["sklearn.neighbors", "matplotlib", "jinja2", "typer"]
    shown = ["sslart.plotting", "sslart.explain", "sslart.rules"]
    evidence = [
        "sslart._mapping.evidence.selection",
        "sslart._mapping.evidence.basis",
        "sslart._mapping.evidence.readout",
        "sslart._mapping.evidence.reservoir",
    ]
    heavy = [*others, *shown, *evidence]
    assert subprocess.check_output([sys.executable, "-c", program, *heavy], text=True).strip() == "[]"
