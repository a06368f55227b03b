"""Demo: breast-cancer data with one label in twenty, from the fit to a report that explains every prediction."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading
from sklearn.tree import DecisionTreeClassifier

import sslart
from sslart import WESSLART, AutoSSLART

SEEDS = range(10)


def split(seed: int):
    """80 % to learn from, of which one sample in twenty keeps its label; 20 % to test on."""
    data = load_breast_cancer(as_frame=True)
    names = data.target_names[data.target]
    X, X_test, y, y_test = train_test_split(data.data, names, test_size=0.2, stratify=names, random_state=seed)
    labelled, _ = train_test_split(np.arange(len(y)), train_size=0.05, stratify=y, random_state=seed)
    few = np.full(len(y), None)
    few[labelled] = y[labelled]
    return X, few, y, X_test, y_test


def compare() -> None:
    """Print the accuracy of each model on test samples; all have the same splits."""
    rows: dict[str, list[float]] = {}
    print(f"Fitting six models on each of {len(SEEDS)} splits of scikit-learn's breast-cancer data ...\n", flush=True)

    def note(name: str, value: float) -> None:
        rows.setdefault(name, []).append(100 * value)

    for seed in SEEDS:
        X, few, y, X_test, y_test = split(seed)
        known = np.array([label is not None for label in few])
        X_known, y_known = X[known], few[known].astype(str)
        note("AutoSSLART", AutoSSLART(random_state=seed).fit(X, few).score(X_test, y_test))
        note("WESSL-ART, the paper's ensemble", WESSLART(random_state=seed).fit(X, few).score(X_test, y_test))
        codes = np.where(known, few == "benign", -1).astype(int)
        spreading = make_pipeline(StandardScaler(), LabelSpreading(kernel="knn")).fit(X, codes)
        note("label spreading", spreading.score(X_test, y_test == "benign"))
        regression = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_known, y_known)
        note("logistic regression, labelled alone", regression.score(X_test, y_test))
        forest = RandomForestClassifier(random_state=seed).fit(X_known, y_known)
        note("random forest, labelled alone", forest.score(X_test, y_test))
        tree = DecisionTreeClassifier(random_state=seed).fit(X, y)
        note("decision tree, with all labels", tree.score(X_test, y_test))

    print(f"1. {len(known)} training samples, {known.sum()} of them labelled; {len(y_test)} test samples.")
    print(f"   Accuracy in per cent, mean of {len(SEEDS)} splits (standard deviation):\n")
    for name, values in rows.items():
        print(f"   {name:36s} {np.mean(values):5.1f}  ({np.std(values):.1f})")


def abstain(model: AutoSSLART, X_test, y_test) -> None:
    print("\n2. It can abstain where it is not sure (first split):\n")
    for least in (None, 0.8, 0.9, 0.95):
        predicted = model.set_params(abstain_below=least).predict(X_test)
        covered = np.array([label is not None for label in predicted])
        right = (predicted == y_test)[covered].mean()
        setting = "never abstains" if least is None else f"abstain_below={least}"
        print(f"   {setting:20s} predicts {100 * covered.mean():5.1f} %, and {100 * right:5.1f} % of these are right")
    model.set_params(abstain_below=None)


def show_rules(model: AutoSSLART, X, few, X_test) -> None:
    rules = model.rules(X, few, max_rules=4)
    print(f"\n3. A few rules sum it up, and agree with it on {rules.fidelity(X_test):.0%} of the test samples:\n")
    for line in rules.to_text().splitlines():
        print("   " + line)


def explain(model: AutoSSLART, X_test, y_test) -> None:
    print(f"\n4. The explanation of one prediction, for the sixth test sample (in truth it is {y_test[5]}):\n")
    (explanation,) = model.explain(X_test.iloc[[5]])
    for line in str(explanation).splitlines():
        print("   " + line)


def main() -> None:
    compare()
    X, few, _, X_test, y_test = split(0)
    model = AutoSSLART(random_state=0).fit(X, few)
    abstain(model, X_test, y_test)
    show_rules(model, X, few, X_test)
    explain(model, X_test, y_test)
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "report.html")
    page = sslart.report(model, X_test, y_test, target, held_out=True)
    print(f"\n5. All of this, for every test sample, is on one page. Open {page} in a browser.")


if __name__ == "__main__":
    main()
