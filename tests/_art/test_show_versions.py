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
    loaded = subprocess.check_output([sys.executable, "-c", "import sys, sslart; print(*sys.modules)"], text=True)
    heavy = ("sklearn.neighbors", "matplotlib", "jinja2", "typer", "sslart.plotting", "sslart.model_selection")
    parts = ("sslart.explain.", "sslart.rules.", "sslart._mapping.evidence.")  # their modules come with the first use
    found = {name for name in loaded.split() if name in heavy or name.startswith(parts)}
    assert found == {"sslart._mapping.evidence.settings"}  # parameters are checked by it
