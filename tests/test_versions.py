"""What a bug report shows."""

from __future__ import annotations

import pytest

import sslart


def test_versions_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    sslart.show_versions()
    shown = capsys.readouterr().out
    for name in ("sslart", "kernel", "python", "numpy", "scipy", "scikit-learn"):
        assert f"{name}: " in shown
    assert f"sslart: {sslart.__version__}\n" in shown
