"""WESSL-ART on breast-cancer data with 5 % of the labels, against two classics; abstention; one answer explained."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading
from sklearn.tree import DecisionTreeClassifier

from sslart import WESSLART, show_versions

SEEDS = range(10)


def split(seed: int):
    """80 % to learn from, of which one sample in twenty keeps its label; 20 % to test on."""
    data = load_breast_cancer()
    names = data.target_names[data.target]
    X, X_test, y, y_test = train_test_split(data.data, names, test_size=0.2, stratify=names, random_state=seed)
    labelled, _ = train_test_split(np.arange(len(y)), train_size=0.05, stratify=y, random_state=seed)
    few = y.astype(object)
    few[~np.isin(np.arange(len(y)), labelled)] = None
    return X, few, y, X_test, y_test


def ours(seed: int, few: np.ndarray, X, **parameters) -> WESSLART:
    return WESSLART(random_state=seed, **parameters).fit(X, few)


def compare() -> None:
    rows: dict[str, list[float]] = {}

    def note(name: str, value: float) -> None:
        rows.setdefault(name, []).append(100 * value)

    for seed in SEEDS:
        X, few, y, X_test, y_test = split(seed)
        known = np.array([label is not None for label in few])
        note("WESSL-ART, 5 % labelled", ours(seed, few, X).score(X_test, y_test))
        codes = np.where(known, few == "benign", -1).astype(int)
        spreading = make_pipeline(StandardScaler(), LabelSpreading(kernel="knn")).fit(X, codes)
        note("label spreading, 5 % labelled", spreading.score(X_test, y_test == "benign"))
        note(
            "decision tree, 5 % labelled",
            DecisionTreeClassifier(random_state=seed).fit(X[known], few[known].astype(str)).score(X_test, y_test),
        )
        note(
            "decision tree, all labelled",
            DecisionTreeClassifier(random_state=seed).fit(X, y).score(X_test, y_test),
        )
        for depth in (2, 3):
            answers = ours(seed, few, X, search_depth=depth).predict(X_test)
            answered = np.array([answer is not None for answer in answers])
            note(f"T = {depth}: samples answered", answered.mean())
            note(f"T = {depth}: right among them", (answers == y_test)[answered].mean())

    print(f"Breast cancer, {len(known)} training samples, {known.sum()} of them labelled; {len(y_test)} test samples.")
    print(f"Accuracy in per cent, mean of {len(SEEDS)} splits (standard deviation):\n")
    for name, values in rows.items():
        print(f"  {name:32s} {np.mean(values):5.1f}  ({np.std(values):.1f})")


def explain() -> None:
    X, few, _, X_test, y_test = split(0)
    model = ours(0, few, X)
    sample, truth = X_test[:1], y_test[0]
    names = load_breast_cancer().feature_names
    answer, shares = model.predict(sample)[0], model.predict_proba(sample)[0]
    share = shares[list(model.classes_).index(answer)]
    print(f"\nOne answer explained: the first test sample is {answer} ({share:.0%} of the vote; in truth {truth}).")
    nodes = model.apply(sample)[0]
    votes = [member.predict(sample)[0] for member in model.estimators_]
    member, node = next(
        (one, node) for one, node, vote in zip(model.estimators_, nodes, votes, strict=True) if vote == answer
    )
    counts = ", ".join(f"{count} {name}" for name, count in zip(member.classes_, member.counts_[node], strict=True))
    print(f"{votes.count(answer)} of {len(votes)} members say so. The first of them answers by its box {node}, which")
    print(f"holds {member.support_[node]} training samples; labelled among them: {counts}. The box, and the sample:\n")
    print(f"  {'feature':26s} {'from':>9s} {'to':>9s} {'sample':>9s}")
    for name, low, high, value in zip(names, member.lower_[node], member.upper_[node], sample[0], strict=True):
        outside = "" if low - 1e-9 <= value <= high + 1e-9 else "  outside"
        print(f"  {name:26s} {low:9.4g} {high:9.4g} {value:9.4g}{outside}")


if __name__ == "__main__":
    compare()
    explain()
    print()
    show_versions()
