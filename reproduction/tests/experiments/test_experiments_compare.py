"""Ranks, pairs and votes, on records made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from reproduction.framework import ranking as _ranking
from reproduction.framework import votes as _votes
from reproduction.framework.compare import others, quoted_or_run
from reproduction.framework.experiment import Results
from reproduction.framework.protocol import Record
from reproduction.methods import models as _models

THEIRS = [
    f"{method}, {base}" for method in ("SemiBoost", "Regularized Boost") for base in ("naive Bayes", "tree", "3NN")
]


def accuracies(dataset: str, found: dict[str, float], rho: float | None = 0.9) -> list[Record]:
    return [Record(dataset, name, "accuracy", value, rho) for name, value in found.items()]


def test_a_rank_counts_those_run_here_where_all_were_and_the_printed_ones_otherwise() -> None:
    ours = accuracies("AUS", {"WESSL-ART": 80.0, "VESSL-ART": 79.0})
    run = accuracies("AUS", dict.fromkeys(THEIRS, 70.0), None)
    first = _ranking.rank_check(Results([*ours, *run]), "Comp", "AUS", 1, 751)
    assert first.holds
    assert first.evidence.startswith("rank 1 of 8 run here, 4 of 8 with printed figures of the others, at ρ=0.9")
    assert not _ranking.rank_check(Results([*ours, *run[1:]]), "Comp", "AUS", 1, 751).holds


def test_a_rank_is_one_more_than_there_are_higher_scores() -> None:
    assert _ranking.rank(80.0, [90.0, 80.0, 70.0]) == 2


def test_pairs_are_compared_data_set_by_data_set() -> None:
    results = Results(
        [
            *accuracies("one", {"WESSL-ART": 80.0, "VESSL-ART": 80.0}),
            *accuracies("two", {"WESSL-ART": 70.0, "VESSL-ART": 60.0}),
            *accuracies("one", {"other": 90.0}, None),
            *accuracies("two", {"other": 60.0}, None),
        ]
    )
    table = _ranking.pair_table(results, ["one", "two"], ("WESSL-ART", "VESSL-ART"))
    column = table.header.index("WESSL-ART, ρ=0.9")
    assert {row[0]: row[column] for row in table.rows}["other"] == "1–0–1"
    assert {row[0]: row[column] for row in table.rows}["VESSL-ART, ρ=0.9"] == "1–1–0"
    totals = _ranking.total_table(results, ["one", "two"], ("WESSL-ART", "VESSL-ART"))
    assert ["WESSL-ART, ρ=0.9", "2", "1", "1"] in totals.rows


def test_votes_differ_in_percent_of_the_predictions_and_not_of_the_samples() -> None:
    weighted = np.array(["a", "b", None, "a", "a"], dtype=object)
    majority = np.array(["a", "a", None, "a", "a"], dtype=object)
    assert _models.votes_differ({"WESSL-ART": weighted, "VESSL-ART": majority}) == {"votes differ": 25.0}


def test_weighted_and_majority_votes_are_compared_for_both_ways_to_measure_weights() -> None:
    results = Results(
        [
            *accuracies("one", {"WESSL-ART": 80.0, "VESSL-ART": 80.0}),
            *accuracies("one", {f"WESSL-ART{_models.HELD_OUT}": 79.0, f"VESSL-ART{_models.HELD_OUT}": 78.0}),
            Record("one", "WESSL-ART", _models.VOTES_DIFFER, 0.0, 0.9),
            Record("one", f"WESSL-ART{_models.HELD_OUT}", _models.VOTES_DIFFER, 2.5, 0.9),
        ]
    )
    learnt, held_out = _votes.weighted_is_better(results, ["one"], 751, rho=0.9)
    assert (learnt.holds, held_out.holds) == (False, True)
    assert "differ on 2.50 % of the predictions" in held_out.evidence
    assert "2.50" in _votes.differ_table(results, ["one"]).rows[0]
    differ, means = _votes.remarks(results, ["one"])
    assert "2.50 % at ρ=0.9" in differ
    assert "WESSL-ART, 30 % held out 79.00 at ρ=0.9" in means


def test_a_mean_over_data_sets_leaves_out_what_was_not_measured() -> None:
    results = Results(accuracies("one", {"m": 80.0}) + accuracies("two", {"m": 60.0}))
    assert results.average(["one", "two", "gone"], "m", "accuracy", 0.9, [""]) == 70.0
    assert np.isnan(results.average(["gone"], "m", "accuracy", 0.9, [""]))


@pytest.mark.parametrize(("run", "marked"), [(["SemiBoost, tree"], "run here as SemiBoost, tree"), ([], "quoted only")])
def test_competitors_of_the_paper_are_marked_as_run_or_quoted(run: list[str], marked: str) -> None:
    assert quoted_or_run("SEMIB (C4.5)", run) == marked
    results = Results([record for name in run for record in accuracies("AUS", {name: 80.0}, None)])
    headers = [table.header for table in others(results, "Comp", "Accuracy", ["AUS"], set())]
    assert any(f"SEMIB (C4.5) ({marked})" in header for header in headers)
