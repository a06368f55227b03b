"""The benchmarks of speed use what sslart has: every name that they import, and the seams that they measure at."""

from __future__ import annotations

import ast
import importlib
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import needs_kernel
from sslart import FuzzyART

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import data
import timing

BENCHMARKS = Path(data.__file__).parent
KERNEL = "sslart._kernel"


def names_of(path: Path) -> list[tuple[str, str]]:
    """Return the modules of sslart that a file imports, each with the names that it uses of them."""
    tree, found, modules = ast.parse(path.read_text(encoding="utf-8")), [], {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sslart":
            found += [(str(node.module), one.name) for one in node.names]
        elif isinstance(node, ast.Import):
            own = [one for one in node.names if one.name.split(".")[0] == "sslart"]
            modules |= {one.asname or "sslart": one.name if one.asname else "sslart" for one in own}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            found.append((modules[node.value.id], node.attr))
    return found


def exists(module: str, name: str) -> bool:
    """Return True if a module has a name, or needs a package that is not here."""
    for full in (module, f"{module}.{name}"):
        try:
            if hasattr(importlib.import_module(full), name) or full != module:
                return True
        except ImportError as error:
            if full == KERNEL or not (error.name or "").startswith("sslart"):
                return True
    return False


@pytest.mark.parametrize("path", sorted(BENCHMARKS.rglob("*.py")), ids=lambda path: str(path.relative_to(BENCHMARKS)))
def test_what_a_benchmark_uses_of_sslart_is_there(path: Path) -> None:
    missing = [f"{module}.{name}" for module, name in names_of(path) if not exists(module, name)]
    assert not missing


def test_a_name_that_is_gone_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "old.py"
    path.write_text("import sslart\nfrom sslart._art.backend import Gone, use_backend\nsslart.FuzzyART\nsslart.gone\n")
    assert [one for one in names_of(path) if not exists(*one)] == [("sslart._art.backend", "Gone"), ("sslart", "gone")]


@needs_kernel
def test_the_parts_of_a_fit_are_timed_and_the_kernel_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    import sslart._kernel as kernel
    import where

    before = kernel.encode, kernel.Boxes.learn
    X = np.random.RandomState(0).rand(300, 8)
    whole, learn, encode = where.fit_times(FuzzyART(0.9, bounds=(0, 1)), X)
    assert 0 < encode < whole
    assert 0 < learn < whole
    assert (kernel.encode, kernel.Boxes.learn) == before
    monkeypatch.setattr(where, "TURNS", 1)
    monkeypatch.setattr(where, "digits", lambda: (X, None))
    monkeypatch.setattr(where, "mixture", lambda n: (X, None))
    assert len(where.lines()) == 2


@needs_kernel
def test_the_scorer_is_timed_and_so_is_a_prediction() -> None:
    import threads

    pytest.importorskip("matplotlib")
    import curves

    for n_jobs in (None, 1, 2):
        threads.scorer(3)[1](n_jobs)
    assert curves.microseconds(20, 8) > 0


@needs_kernel
@pytest.mark.filterwarnings("ignore")  # of the peers
@pytest.mark.parametrize(
    "name", ["threads", "against_artlib", "against_linear_models", "against_the_plain_scan", "against_scikit_learn"]
)
def test_every_case_gives_rows_on_little_data(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("artlib")
    pytest.importorskip("hbbrain")
    import cases
    import run

    for function in ("mixture", "stream"):
        monkeypatch.setattr(cases, function, partial(small, getattr(data, function)))
    monkeypatch.setattr(cases, "digits", lambda: tuple(one[:100] for one in data.digits()))
    monkeypatch.setattr(cases, "mnist", lambda: None)
    monkeypatch.setattr(cases, "in_turns", lambda work, turns, *_, **named: timing.in_turns(work, 1, **named))
    monkeypatch.setattr(cases, "along", partial(along, cases.along))
    rows = list(getattr(cases, name)(quick=True))
    assert rows
    assert run.table(rows).count("\n") == len(rows) + 1


def small(function: Any, n: int) -> Any:
    return function(min(n, 300))


def along(function: Any, X: np.ndarray, rho: float, name: str, n_piece: int, plainly: Any) -> Any:
    return function(X, rho, name, 10, plainly)
