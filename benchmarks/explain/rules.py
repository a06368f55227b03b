"""Rules against a decision tree that imitates the model, and against other rule learners: part of `make explain-bench`.

`python -m explain.rules`, in the folder of the benchmarks, prints this part alone.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.tree import DecisionTreeClassifier

from accuracy.contenders import Samples
from accuracy.sets import OTHER_CHECKING, UCI, task
from sslart import AutoSSLART
from sslart._utils.text import markdown_table, plural

SETS = (*UCI, *OTHER_CHECKING)
QUICK_SETS = ("HDC", "ION", "PID", "Wine", "Iris", "Seeds")
N_REPEATS = 2
MAX_RULES, MAX_CONDITIONS = 12, 4
COUNTS = (4, 8, 12, 24, 48)
DEEP = 8  # conditions, or depth, of the second curve
RIVALS = ("RuleFit", "skope-rules", "boosted rules", "greedy rule list")
OURS = "rules of AutoSSLART"
TREE = "tree on its predictions"


@dataclass(frozen=True)
class Case:
    """One data set in one repetition: the model, what it predicts, and the samples as other learners take them."""

    model: AutoSSLART
    samples: Samples
    truth: np.ndarray
    learnt: np.ndarray
    predicted: np.ndarray

    @classmethod
    def of(cls, dataset: str, repeat: int) -> Case:
        own, exam = task(dataset, repeat)
        model = AutoSSLART(random_state=0).fit(own.X, own.y)
        truth = np.asarray(exam.truth).astype(str)
        return cls(model, Samples(own), truth, model.predict(own.X), model.predict(own.X_test))

    def rules(self, max_rules: int, max_conditions: int) -> Any:
        """Return the rules of the model."""
        return self.model.rules(self.samples.task.X, max_rules=max_rules, max_conditions=max_conditions)

    def tree(self, max_rules: int, depth: int) -> tuple[DecisionTreeClassifier, np.ndarray]:
        """Return a tree that has learnt what the model predicts for all learning samples, and what it predicts."""
        training, test = self.samples.unit
        tree = DecisionTreeClassifier(max_leaf_nodes=max_rules, max_depth=depth, random_state=0)
        return tree, tree.fit(training, self.learnt).predict(test)

    def fidelity(self, predicted: np.ndarray) -> float:
        """Return the share of the test samples, in per cent, for which the model predicts the same."""
        return 100 * float(np.mean(predicted == self.predicted))

    def accuracy(self, predicted: np.ndarray) -> float:
        """Return the share of the test samples, in per cent, that are predicted rightly."""
        return 100 * float(np.mean(predicted.astype(str) == self.truth))


def comparisons(rules: Any) -> float:
    """Return the mean number of comparisons of rules with conditions; a range with two ends takes two."""
    with_conditions = [rule for rule in rules if rule.conditions]
    total = sum(one.n_bounds for rule in with_conditions for one in rule.conditions)
    return total / max(len(with_conditions), 1)


def most_comparisons(rules: Any) -> int:
    """Return the number of comparisons of the longest rule."""
    return max(sum(one.n_bounds for one in rule.conditions) for rule in rules)


def mean_depth(tree: DecisionTreeClassifier) -> float:
    """Return the mean depth of the leaves."""
    depths, leaves = {0: 0}, []
    for node, (left, right) in enumerate(zip(tree.tree_.children_left, tree.tree_.children_right, strict=True)):
        if left < 0:
            leaves.append(depths[node])
        else:
            depths[left] = depths[right] = depths[node] + 1
    return float(np.mean(leaves))


def curve(case: Case) -> dict[str, float]:
    """Return the fidelity of rules and trees of several sizes on one case."""
    found: dict[str, float] = {}
    for limit in (MAX_CONDITIONS, DEEP):
        for count in COUNTS:
            rules = case.rules(count, limit)
            found[f"curve {limit} {count}"] = case.fidelity(rules.predict(case.samples.task.X_test))
            found[f"curve of trees {limit} {count}"] = case.fidelity(case.tree(count, limit)[1])
    return found


def imitations(case: Case) -> dict[str, float]:
    """Return the scores of few rules and of a small tree on one case."""
    start = time.perf_counter()
    rules = case.rules(MAX_RULES, MAX_CONDITIONS)
    found = {"seconds": time.perf_counter() - start, "rules": len(rules)}
    found["ours 4 12"] = case.fidelity(rules.predict(case.samples.task.X_test))
    with_conditions = [rule for rule in rules if rule.conditions]
    found["conditions"] = sum(len(rule.conditions) for rule in with_conditions) / max(len(with_conditions), 1)
    found["bounds 4"] = comparisons(rules)
    found[OURS] = case.accuracy(rules.predict(case.samples.task.X_test))
    strict = rules if most_comparisons(rules) <= MAX_CONDITIONS else None
    for limit in (3, 2):
        rules = case.rules(MAX_RULES, limit)
        if strict is None and most_comparisons(rules) <= MAX_CONDITIONS:
            strict = rules
        found[f"ours {limit} {MAX_RULES}"] = case.fidelity(rules.predict(case.samples.task.X_test))
        found[f"bounds {limit}"] = comparisons(rules)
    found["tree 4 12"] = case.fidelity(case.tree(MAX_RULES, MAX_CONDITIONS)[1])
    assert strict is not None  # two conditions are at most four comparisons
    found["strict"] = case.fidelity(strict.predict(case.samples.task.X_test))
    found["bounds, strict"] = comparisons(strict)
    tree = case.tree(MAX_RULES, MAX_CONDITIONS)[0]
    found["leaves"] = tree.get_n_leaves()
    found["depth"] = mean_depth(tree)
    by_boxes = case.model.rules(max_rules=MAX_RULES).predict(case.samples.task.X_test)
    found["without samples"] = case.fidelity(by_boxes)
    return found


def learners(n_rules: int) -> dict[str, Callable[[], Any]]:
    """Return the rule learners of imodels, each with so many rules at most."""
    from imodels import (
        BoostedRulesClassifier,
        GreedyRuleListClassifier,
        RuleFitClassifier,
        SkopeRulesClassifier,
    )

    class TopRules(SkopeRulesClassifier):  # type: ignore[misc]
        """skope-rules with its best rules alone."""

        def fit(self, X: np.ndarray, y: np.ndarray) -> TopRules:
            super().fit(X, y)
            self.rules_without_feature_names_ = self.rules_without_feature_names_[:n_rules]
            return self

    return {
        "RuleFit": lambda: RuleFitClassifier(max_rules=n_rules, include_linear=False, random_state=0),
        "skope-rules": lambda: TopRules(random_state=0),
        "boosted rules": lambda: BoostedRulesClassifier(n_estimators=n_rules, random_state=0),
        "greedy rule list": lambda: GreedyRuleListClassifier(max_depth=max(n_rules - 1, 1)),
    }


def rival_accuracy(case: Case, name: str) -> float:
    """Return the accuracy of a rule learner that has learnt the labelled samples.

    Rules of skope-rules are for one class against the rest, and so are those of the others where there are more than
    two classes: then each class has rules of its own, as many as their number allows, and the highest score decides.
    """
    training, test = case.samples.unit
    rows = case.samples.codes >= 0
    X, y = training[rows], case.samples.codes[rows]
    classes = np.unique(y)
    if len(classes) == 2 and name != "skope-rules":
        model = learners(MAX_RULES)[name]().fit(X, (y == classes[1]).astype(int))
        places = np.asarray(model.predict(test)).astype(int)
    else:
        n_rules = max(1, MAX_RULES // len(classes))
        places = np.column_stack([_scores(name, n_rules, X, y == one, test) for one in classes]).argmax(axis=1)
    return case.accuracy(case.samples.classes[classes[places]])


def _scores(name: str, n_rules: int, X: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Return the probability of a class by rules against the rest; its share where no rule is found."""
    try:
        model = learners(n_rules)[name]().fit(X, y.astype(int))
        scores = np.asarray(model.predict_proba(test))[:, 1]
    except (IndexError, ValueError):  # skope-rules and RuleFit find no rule for a class of very few samples
        return np.full(len(test), y.mean())
    return np.nan_to_num(scores) + 1e-6 * y.mean()  # where scores are equal, the commonest class


def accuracies(case: Case) -> dict[str, float]:
    """Return the accuracy of the model, of the tree, and of other rule learners on one case."""
    found = {name: rival_accuracy(case, name) for name in RIVALS}
    found[TREE] = case.accuracy(case.tree(MAX_RULES, MAX_CONDITIONS)[1])
    found["the model itself"] = case.accuracy(case.predicted)
    return found


def measure(dataset: str, repeats: int) -> dict[str, float]:
    """Return the means over the repetitions of one data set; the curves are those of the first."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        cases = [Case.of(dataset, repeat) for repeat in range(repeats)]
        rows = [{**imitations(case), **accuracies(case)} for case in cases]
        means = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
        return {**means, **curve(cases[0])}


def measured(datasets: Sequence[str], repeats: int, jobs: int) -> dict[str, dict[str, float]]:
    """Return the findings by data set, as they come from several processes."""
    found = {}
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        runs = pool.map(partial(measure, repeats=repeats), datasets)
        for dataset, one in zip(datasets, runs, strict=True):
            found[dataset] = one
            shown = {name: round(one[name], 1) for name in ("tree 4 12", "ours 4 12", OURS, *RIVALS)}
            print(dataset, shown, flush=True)
    return found


def section(quick: bool = False, jobs: int = 2) -> str:
    """Return the part of the page on rules."""
    found = measured(QUICK_SETS, 1, jobs) if quick else measured(SETS, N_REPEATS, jobs)
    return "\n\n".join([_fidelity(found), _curve(found), _accuracy(found), _sets(found)])


def _mean(found: dict[str, dict[str, float]], name: str) -> float:
    return float(np.mean([one[name] for one in found.values()]))


def _fidelity(found: dict[str, dict[str, float]]) -> str:
    repeats = N_REPEATS if len(found) == len(SETS) else 1
    names = {
        f"rules, at most {MAX_RULES} of {MAX_CONDITIONS} conditions": ("ours 4 12", "rules", "bounds 4"),
        "the same without samples: those that the boxes stand for": ("without samples", None, None),
        "rules of at most 3 conditions": ("ours 3 12", None, "bounds 3"),
        "rules of at most 2 conditions": ("ours 2 12", None, "bounds 2"),
        f"rules of at most {MAX_CONDITIONS} comparisons: fewer conditions until all are so short": (
            "strict",
            None,
            "bounds, strict",
        ),
        f"CART, at most {MAX_RULES} leaves, depth {MAX_CONDITIONS}": ("tree 4 12", "leaves", "depth"),
    }
    digits = (2, 1, 2)
    rows = [
        [what, *("" if key is None else f"{_mean(found, key):.{n}f}" for key, n in zip(keys, digits, strict=True))]
        for what, keys in names.items()
    ]
    ahead = np.array([one["ours 4 12"] - one["tree 4 12"] for one in found.values()])
    return (
        f"## Rules\n\n`AutoSSLART` with few labels, on {len(found)} data sets (the UCI sets of the paper, and sets of "
        f"KEEL that nothing was tuned on), mean of {plural(repeats, 'split')}. Fidelity is the share of held-out "
        "samples for which the rules give what the model predicts. CART has learnt what the model predicts for all "
        "learning samples. The default rule counts as a rule.\n\n"
        + markdown_table(["what", "fidelity, %", "rules or leaves", "comparisons in each"], rows)
        + f"\n\nAhead of CART on {int((ahead > 0).sum())} data sets, behind on {int((ahead < 0).sum())}. A range with "
        f"two ends is one condition: a rule has {_mean(found, 'conditions'):.2f} conditions in the mean, and "
        f"{_mean(found, 'bounds 4'):.2f} comparisons. Making the rules took {_mean(found, 'seconds'):.2f} s in "
        f"the mean, {max(one['seconds'] for one in found.values()):.1f} s at most."
    )


def _curve(found: dict[str, dict[str, float]]) -> str:
    head = ["at most so many rules or leaves", *map(str, COUNTS)]
    rows = [
        [f"{name}, {what} {limit}", *(f"{_mean(found, f'{key} {limit} {count}'):.2f}" for count in COUNTS)]
        for limit in (MAX_CONDITIONS, DEEP)
        for key, name, what in (("curve", "rules", "conditions"), ("curve of trees", "CART", "depth"))
    ]
    return "### More rules\n\nFidelity in per cent, mean over the data sets, one split of each.\n\n" + markdown_table(
        head, rows
    )


def _accuracy(found: dict[str, dict[str, float]]) -> str:
    methods = [OURS, TREE, *RIVALS]
    table = np.array([[one[method] for method in methods] for one in found.values()])
    among = [0, *range(2, len(methods))]
    ranks = rankdata(-np.round(table[:, among], 9), axis=1).mean(axis=0)
    rank_of = dict(zip(among, ranks, strict=True))
    rows = [
        [method, f"{table[:, place].mean():.2f}", f"{rank_of[place]:.2f}" if place in rank_of else ""]
        for place, method in enumerate(methods)
    ]
    rows.append(["the model itself", f"{_mean(found, 'the model itself'):.2f}", ""])
    return (
        "### Rules as classifiers\n\nAccuracy on held-out samples, against the rule learners of `imodels` that have "
        f"learnt the same labels, each with at most {MAX_RULES} rules. Of more than two classes, and with skope-rules, "
        "each class has rules of its own against the rest, and the rules are shared out. RuleFit has no linear terms; "
        "of skope-rules the best rules count. The rank is the mean over the data sets among our rules and these four."
        "\n\n" + markdown_table(["method", "accuracy, %", "mean rank"], rows)
    )


def _sets(found: dict[str, dict[str, float]]) -> str:
    head = ["data set", "rules", "fidelity", "of CART", "accuracy", *RIVALS]
    rows = [
        [
            dataset,
            f"{one['rules']:.1f}",
            f"{one['ours 4 12']:.1f}",
            f"{one['tree 4 12']:.1f}",
            f"{one[OURS]:.1f}",
            *(f"{one[name]:.1f}" for name in RIVALS),
        ]
        for dataset, one in found.items()
    ]
    return "### Rules on each data set\n\n" + markdown_table(head, rows)


def main(line: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few data sets, one split of each")
    arguments = parser.parse_args(line)
    start = time.perf_counter()
    print(section(arguments.quick))
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
