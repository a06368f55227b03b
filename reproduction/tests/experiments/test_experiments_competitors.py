from __future__ import annotations

import numpy as np
import pytest

from reproduction.experiments import uci
from reproduction.framework.compare import RUN_AS, others
from reproduction.framework.experiment import Results
from reproduction.framework.protocol import Record
from reproduction.framework.sets import BINARY, load
from reproduction.framework.settings import Settings
from reproduction.methods.competitors import (
    NOT_RUN,
    REGULARIZED_BOOST,
    SEMI_SUPERVISED,
    SEMIBOOST,
    detectors,
    written,
)
from reproduction.paper import printed
from reproduction.runner.registry import EXPERIMENTS
from reproduction.tests import needs_data

OURS = ("SSL-ART", "WESSL-ART", "VESSL-ART")


@pytest.mark.parametrize("table", ["sing", "Comp", "EnsmCompare", "anomaly"])
def test_every_competitor_of_the_paper_is_run_or_has_a_reason(table: str) -> None:
    known = {**SEMI_SUPERVISED, **SEMIBOOST, **detectors("normal", "anomaly")}
    for name in {one.method for one in printed(table)}:
        assert name is not None
        assert (RUN_AS.get(name) in known) + (name in NOT_RUN) + name.startswith(OURS) == 1, name


def test_the_report_has_the_reasons_why_competitors_are_quoted_only() -> None:
    found = [Record(data, "SemiBoost, tree", "accuracy", 61.0) for data in BINARY]
    reasons = others(Results(found), "Comp", "Accuracy", BINARY, {"WESSL-ART"})[-1]
    assert list(reasons.rows) == [["REGB (NB), REGB (C4.5), REGB (3NN)", NOT_RUN["REGB (NB)"]]]
    assert not [table for table in others(Results(found), "EnsmCompare", "", [], set()) if "why" in table.title]
    assert any("GANF" in row[0] for table in EXPERIMENTS["anomaly"].tables(Results([])) for row in table.rows)


@needs_data
@pytest.mark.parametrize("name", [pytest.param("binary", marks=pytest.mark.slow), "multiclass"])
def test_methods_written_here_are_run_and_repeatable(name: str) -> None:
    task, _, _ = uci.divided("HDC", 3, 0.2, Settings())
    methods = {**SEMI_SUPERVISED, **(REGULARIZED_BOOST if name == "binary" else {})}
    work = EXPERIMENTS[name].work
    assert set(methods) <= set(work.keywords["competitors"])  # type: ignore[attr-defined]
    for method in ("LapSVM", "MSS-KSC", "MeanS3VM-mkl", "SS-BLS", "Regularized Boost, 3NN"):
        if method in methods:
            one, other = methods[method](task), methods[method](task)
            np.testing.assert_array_equal(one, other)
            assert set(one) == set(load("HDC").target)


@needs_data
def test_large_sets_are_cut_to_a_thousand_samples_that_hold_all_labels() -> None:
    task, _, _ = uci.divided("KVK", 3, 0.2, Settings())

    class Recorder:
        def fit(self, X: np.ndarray, y: np.ndarray) -> Recorder:
            self.n_rows, self.n_labelled = len(X), int(np.sum(y >= 0))
            return self

        def predict(self, X: np.ndarray) -> np.ndarray:
            return np.zeros(len(X), dtype=int)

    recorder = Recorder()
    written(lambda seed: recorder)(task)
    assert (recorder.n_rows, recorder.n_labelled) == (1000, len(task.labelled))
