"""The paper as data: typed by hand here, and checked for what must add up according to the paper itself."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from reproduction.paper import Printed, oddities, printed, value
from sslart.metrics import win_tie_loss

N_RECORDS = {
    "uci": 18 * 3,
    "sing": 3 * 4,
    "Comp": 10 * 8 * 4 + 8 * 3,
    "EnsmCompare": 6 * 4,
    "node": 14 * 3,
    "anomaly": 10 * 6,
    "Real-world": 14 * 7,
    "node_real": 4 * 6,
    "rule": 4 * 15,
}
BINARY = ["AUS", "Bupa", "German", "HMS", "HDC", "ION", "KVK", "MM", "PID", "WDBC"]


@pytest.mark.parametrize("table", N_RECORDS)
def test_every_number_of_a_table_is_there_once(table: str) -> None:
    records = printed(table)
    assert len(records) == N_RECORDS[table]
    keys = Counter((one.dataset, one.method, one.measure, one.condition) for one in records)
    assert set(keys.values()) == {1}


@pytest.mark.parametrize(
    ("key", "mean", "sd"),
    [
        (("uci", "AUS", None, "samples"), 690, None),
        (("uci", "German", None, "features"), 24, None),
        (("uci", "Zoo", None, "classes"), 7, None),
        (("uci", "NORB", None, "samples"), 48600, None),
        (("uci", "MNIST", None, "features"), 784, None),
        (("sing", "USPS", "FLAP-BLS", "accuracy"), 88.95, 0.33),
        (("sing", "NORB", "SSL-ART (OtM)", "accuracy"), 75.32, 2.21),
        (("sing", "NORB", "LPDGL-BLS", "accuracy"), 56.51, 2.21),
        (("Comp", "AUS", "WESSL-ART", "accuracy"), 87.18, 1.7),
        (("Comp", "German", "VESSL-ART", "accuracy"), 71.7, 1.13),
        (("Comp", "HDC", "REGB (NB)", "accuracy"), 80.5, 3.5),
        (("Comp", "KVK", "REGB (C4.5)", "accuracy"), 87.8, 0.8),
        (("Comp", "PID", "WESSL-ART", "accuracy"), 77.45, 21),
        (("Comp", "PID", "SEMIB (NB)", "accuracy"), 72.2, 3),
        (("Comp", "WDBC", "REGB (3NN)", "accuracy"), 80.1, 2.2),
        (("Comp", "ION", "SEMIB (C4.5)", "ties"), 1, None),
        (("Comp", "total", "VESSL-ART", "wins"), 53, None),
        (("Comp", "total", "REGB (C4.5)", "losses"), 20, None),
        (("EnsmCompare", "Wine", "MSS-KSC", "accuracy"), 96, 2),
        (("EnsmCompare", "Seeds", "Mean3vm-iter", "accuracy"), 88, 7),
        (("EnsmCompare", "Zoo", "WESSL-ART", "accuracy"), 92, 2),
        (("node", "HDC", "SSL-ART", "nodes", "stage 2"), 79.9, None),
        (("node", "KVK", "SSL-ART", "nodes", "labelled"), 179.47, None),
        (("node", "Wine", "SSL-ART", "nodes", "stage 1"), 42.1, None),
        (("anomaly", "TEP", "HiSTAR", "accuracy"), 92.91, None),
        (("anomaly", "WADI", "OCSVM", "F1"), 93.22, None),
        (("anomaly", "UNSW-NB15", "WESSL-ART (OtM)", "F1"), 88.24, None),
        (("Real-world", "human motion", "OtM", "coverage", "noise-free, T=2"), 78.38, 1.8),
        (("Real-world", "human motion", "VESSL-ART (OtO)", "specificity", "label noise, T=3"), 96.4, 5.26),
        (("Real-world", "human motion", "WESSL-ART (OtO)", "sensitivity", "feature noise, T=2"), 85.74, 6.01),
        (("Real-world", "human motion", "WESSL-ART (OtM)", "correctness", "noise-free, T=2"), 94.32, 1.47),
        (("Real-world", "human motion", "VESSL-ART (OtM)", "correctness", "average"), 89.48, 2.4),
        (("node_real", "human motion", "OtO", "nodes", "feature noise, stage 2"), 87.25, None),
        (("node_real", "human motion", "OtM", "milliseconds", "noise-free, stage 1"), 95.32, None),
        (("rule", "HDC", "rule 4", "confidence", "class 2"), 57.2, None),
    ],
)
def test_numbers_are_those_of_the_paper(key: tuple[Any, ...], mean: float, sd: float | None) -> None:
    one = value(*key)
    assert one is not None
    assert (one.mean, one.sd) == (mean, sd)


def test_what_was_printed_otherwise_is_kept_as_printed() -> None:
    assert value("EnsmCompare", "Wine", "VESSL-ART", "accuracy").printed == "0.96±0.01"  # type: ignore[union-attr]
    assert value("anomaly", "TEP", "DAGMM", "F1").printed == "0.7800"  # type: ignore[union-attr]
    oldpeak = value("rule", "HDC", "rule 1", "OLDPEAK")
    assert oldpeak == Printed("rule", "OLDPEAK", 1006, "HDC", "rule 1", low=4, high=5, printed="4-5")


def test_rules_have_thirteen_features_and_confidences_that_add_to_one() -> None:
    for rule in (f"rule {number}" for number in (1, 2, 3, 4)):
        assert len([one for one in printed("rule", method=rule) if one.low is not None]) == 13
        assert sum(one.mean or 0 for one in printed("rule", method=rule, measure="confidence")) == pytest.approx(100)


def test_filters_and_absent_numbers() -> None:
    assert {one.method for one in printed("node_real", measure="nodes")} == {"OtM", "OtO"}
    assert value("Comp", "Iris", "WESSL-ART", "accuracy") is None
    with pytest.raises(ValueError, match="table must be one of 'Comp', 'EnsmCompare'"):
        printed("comp")
    with pytest.raises(ValueError, match=r"a filter must be one of .*'dataset'"):
        printed("Comp", data="HDC")
    with pytest.raises(ValueError, match="table must be one of"):
        oddities("Uci")


def counted(dataset: str) -> dict[str, tuple[int, ...]]:
    scores = {one.method: [one.mean] for one in printed("Comp", dataset=dataset, measure="accuracy")}
    return {method: tuple(counts) for method, counts in win_tie_loss(scores).items()}


def stated(dataset: str) -> dict[str, tuple[Any, ...]]:
    methods = dict.fromkeys(one.method for one in printed("Comp"))
    measures = ("wins", "ties", "losses")
    return {
        str(method): tuple(
            printed("Comp", dataset=dataset, method=method, measure=measure)[0].mean for measure in measures
        )
        for method in methods
    }


def test_wins_ties_and_losses_follow_from_the_accuracies_but_for_one_row() -> None:
    differ = {
        (dataset, method): (stated(dataset)[method], counts)
        for dataset in BINARY
        for method, counts in counted(dataset).items()
        if stated(dataset)[method] != counts
    }
    assert differ == {("KVK", "SEMIB (C4.5)"): ((5, 0, 2), (6, 0, 1))}


def test_totals_follow_from_the_rows_but_for_one_and_from_the_accuracies_but_for_two() -> None:
    total = stated("total")
    of_rows = {m: tuple(np.sum([stated(dataset)[m] for dataset in BINARY], axis=0).tolist()) for m in total}
    assert {m: (total[m], of_rows[m]) for m in total if total[m] != of_rows[m]} == {
        "REGB (C4.5)": ((39, 1, 20), (42, 0, 28))
    }
    scores = {m: [one.mean for one in printed("Comp", method=m, measure="accuracy")] for m in total}
    of_accuracies = {m: tuple(counts) for m, counts in win_tie_loss(scores).items()}
    assert {m: of_accuracies[m] for m in total if total[m] != of_accuracies[m]} == {
        "SEMIB (C4.5)": (30, 1, 39),
        "REGB (C4.5)": (42, 0, 28),
    }


def test_averages_follow_from_their_six_figures_but_for_one() -> None:
    differ = []
    for average in printed("Real-world", condition="average"):
        rows = printed("Real-world", method=average.method, measure=average.measure)
        mean = np.mean([one.mean for one in rows if one is not average])
        if abs(mean - average.mean) > 0.01:
            differ.append((average.method, average.measure))
    assert differ == [("WESSL-ART (OtM)", "specificity")]


def test_accuracy_and_f1_cannot_both_be_right_on_wadi() -> None:
    # F1 = 2 TP / (2 TP + errors), and TP is at most the number of right predictions
    impossible = []
    for accuracy in printed("anomaly", measure="accuracy"):
        f1 = value("anomaly", accuracy.dataset, accuracy.method, "F1")
        share = accuracy.mean / 100
        if f1.mean / 100 > 2 * share / (1 + share):
            impossible.append(accuracy.dataset)
    assert impossible == ["WADI"] * 10


def test_nodes_only_grow_and_new_ones_have_a_label() -> None:
    for dataset in {one.dataset for one in printed("node")}:
        first, second, labelled = (one.mean for one in printed("node", dataset=dataset))
        assert first < second
        assert second - first <= labelled <= second


def test_oddities_have_the_line_that_they_are_in() -> None:
    lines = [oddity.line for oddity in oddities()]
    assert lines == sorted(lines)
    assert {708, 714, 722} <= {oddity.line for oddity in oddities("Comp")}
