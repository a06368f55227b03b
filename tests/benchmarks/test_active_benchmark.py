"""The benchmark of questions is fair, and its tables are computed from what was measured."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

pytest.importorskip("pandas")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import pieces
from active import page, run
from active.measure import N_LABELS, run_of
from active.sets import HALVES, SETS, Split
from active.strategies import BATCH, MARGIN, OURS, RANKED, REFERENCES, State
from sslart import AutoSSLART

X, Y = load_iris(return_X_y=True)


def result(dataset: str, method: str, value: float, repeat: int = 0) -> dict[str, Any]:
    return {"dataset": dataset, "repeat": repeat, "method": method, "accuracy": [value] * len(N_LABELS)}


LABELLED = [0, 60, 110]


@pytest.fixture(scope="module")
def models() -> tuple[AutoSSLART, AutoSSLART]:
    few = np.full(150, -1)
    few[LABELLED] = Y[LABELLED]
    return AutoSSLART(random_state=0).partial_fit(X), AutoSSLART(random_state=0).fit(X, few)


@pytest.mark.parametrize("name", [*RANKED, *REFERENCES])
def test_every_strategy_chooses_samples_without_a_label_and_starts_without_any(
    models: tuple[AutoSSLART, AutoSSLART], name: str
) -> None:
    choose = (RANKED | REFERENCES)[name]
    first = choose(State(X, [], models[0], np.random.RandomState(0)))
    assert len(set(first.tolist())) == BATCH
    then = choose(State(X, LABELLED, models[1], np.random.RandomState(0)))
    assert len(set(then.tolist()) - set(LABELLED)) == BATCH


def test_margin_and_entropy_start_with_the_samples_of_random_sampling(models: tuple[AutoSSLART, AutoSSLART]) -> None:
    starts = [
        RANKED[name](State(X, [], models[0], np.random.RandomState(3))).tolist()
        for name in ("random", MARGIN, "entropy")
    ]
    assert starts[0] == starts[1] == starts[2]


@pytest.mark.slow
def test_a_run_has_an_accuracy_after_each_batch() -> None:
    order = iter(range(75))
    halves = Split(X[::2], Y[::2], X[1::2], Y[1::2], 0)
    found = run_of(halves, lambda state: np.array([next(order) for _ in range(BATCH)]))
    assert len(found) == len(N_LABELS)
    assert all(0 <= one <= 100 for one in found)


def test_a_run_never_labels_a_sample_twice() -> None:
    with pytest.raises(AssertionError, match="labelled once"):
        run_of(Split(X, Y, X, Y, 0), lambda state: np.zeros(BATCH, dtype=np.int64))


def test_the_halves_are_disjoint_and_have_twenty_sets_each() -> None:
    assert not set(HALVES["tuning"]) & set(HALVES["checking"])
    assert min(map(len, HALVES.values())) >= 20
    assert len(set(SETS)) == len(SETS)


def test_ranks_and_leads_are_those_of_the_sets_that_all_strategies_have() -> None:
    values = {OURS: (90, 70), MARGIN: (80, 80), "entropy": (70, 60), "k-centre": (60, 50), "random": (50, 40)}
    names = (HALVES["tuning"][0], HALVES["checking"][0])
    results = [result(name, method, own[place]) for method, own in values.items() for place, name in enumerate(names)]
    text = page.page([*results, result(SETS[1], OURS, 1.0)], SETS, 1, "test")
    lines = {
        line.split("|")[1].strip(): line.split("|")
        for line in text.split("## All sets")[1].split("\n## ")[0].splitlines()
        if "|" in line
    }
    assert "Sets: 2." in text.split("## All sets")[1]
    assert [cell.strip() for cell in lines[OURS][2:4]] == ["80.00", "1.50"]
    assert lines[OURS][4].strip().startswith("+0.00")
    assert [cell.strip() for cell in lines["random"][2:4]] == ["45.00", "5.00"]


def test_a_stopped_run_continues_with_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    pieces.store(path, [result("Wine", OURS, 1.0)])
    left = list(run.missing(path, ["Wine", "Seeds"], 2, [OURS, MARGIN]))
    assert len(left) == 7
    assert run.Work("Wine", 0, OURS) not in left
    assert [one.repeat for one in left] == sorted(one.repeat for one in left)
