"""Version information in bug reports."""

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


def modules_after(program: str) -> set[str]:
    program = f"import sys; {program}; print(*sys.modules)"
    return set(subprocess.check_output([sys.executable, "-c", program], text=True).split())


def test_importing_a_model_loads_nothing_that_only_some_of_sslart_needs() -> None:
    loaded = modules_after("from sslart import AutoSSLART")
    heavy = ("sklearn.neighbors", "matplotlib", "jinja2", "typer", "sslart.plotting", "sslart.model_selection")
    parts = ("sslart.explain.", "sslart.rules.", "sslart._mapping.evidence.")  # their modules come with the first use
    found = {name for name in loaded if name in heavy or name.startswith(parts)}
    assert found == {"sslart._mapping.evidence.settings"}  # parameters are checked by it


def test_importing_sslart_loads_no_model_until_one_is_named() -> None:
    assert not modules_after("import sslart") & {"numpy", "sklearn", "scipy", "sslart.estimators", "sslart.persistence"}
    assert "sslart.metrics" in modules_after("import sslart; sslart.metrics.coverage_score")
    for name in sslart.__all__:
        assert getattr(sslart, name) is not None
        assert name in dir(sslart)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = sslart.nothing  # type: ignore[attr-defined]
