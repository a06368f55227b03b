"""The page docs/imbalanced.md: every number is computed from the stored results."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import version

import numpy as np
from scipy.stats import rankdata

from accuracy.findings import Result
from imbalanced import sets
from imbalanced.contenders import MEASURES, OURS, RANKED
from sslart._utils.text import markdown_table, plural


def set_key(dataset: str, labels: str) -> str:
    """Return the name under which the results of a set are stored, by how many samples are labelled."""
    return f"{dataset}, {labels}"


class Findings:
    """Mean of each measure over the repetitions, by set, number of labels and method."""

    def __init__(self, results: Iterable[Result], repeats: int) -> None:
        found: dict[tuple[str, str], dict[int, Result]] = {}
        for result in results:
            if result["repeat"] < repeats:
                found.setdefault((result["set"], result["method"]), {})[result["repeat"]] = result
        self._found = {key: list(ones.values()) for key, ones in found.items() if len(ones) == repeats}

    def complete(self, names: Sequence[str], labels: str, methods: Sequence[str]) -> list[str]:
        """Return the sets of which all methods are measured."""
        return [name for name in names if all((set_key(name, labels), method) in self._found for method in methods)]

    def means(self, names: Sequence[str], labels: str, methods: Sequence[str], measure: str) -> np.ndarray:
        """Return the means, shape (n_methods, n_sets)."""
        return np.array(
            [
                [np.mean([one[measure] for one in self._found[set_key(name, labels), method]]) for name in names]
                for method in methods
            ]
        )


def mean_ranks(means: np.ndarray) -> np.ndarray:
    """Return the mean rank of each method over the sets, 1 for the best; what is equal shares its ranks."""
    return rankdata(-np.round(means, 9), axis=0).mean(axis=1)


def table(findings: Findings, names: Sequence[str], labels: str, methods: Sequence[str]) -> str:
    """Return mean and mean rank of each measure, the best rank in bold; references have the rank in place of ours."""
    methods = sorted(methods, key=lambda method: method not in RANKED)
    ranked = [place for place, method in enumerate(methods) if method in RANKED]
    rivals = [place for place in ranked if methods[place] != OURS]
    head, columns = ["method"], []
    for measure, title in MEASURES.items():
        means = findings.means(names, labels, methods, measure)
        ranks = mean_ranks(means[ranked])
        cells = [f"**{rank:.2f}**" if rank < ranks.min() + 0.005 else f"{rank:.2f}" for rank in ranks]
        for place in range(len(ranked), len(methods)):
            cells.append(f"({mean_ranks(means[[place, *rivals]])[0]:.2f})")
        head += [f"{title}, %", "mean rank"]
        columns.append([f"{mean:.1f}" for mean in means.mean(axis=1)])
        columns.append(cells)
    rows = [[method, *cells] for method, cells in zip(methods, zip(*columns, strict=True), strict=True)]
    return markdown_table(head, rows)


def page(
    results: Iterable[Result],
    names: Sequence[str],
    repeats: int,
    methods: Sequence[str],
    *,
    command: str,
    label: str,
) -> str:
    """Return the page."""
    findings = Findings(results, repeats)
    packages = ", ".join(f"{name} {version(name)}" for name in ("sslart", "scikit-learn", "imbalanced-learn", "numpy"))
    text = (
        "# Imbalanced classes\n\n"
        f"Written by `{command}` in `benchmarks`, as `make imbalanced` runs it. {plural(repeats, 'repetition')}. "
        f"Python {platform.python_version()}, {packages}. Ours: version `{label}`.\n\n"
        f"Sets: those of KEEL's imbalanced sets that have at least {sets.MIN_RARE} samples of the rare class, "
        f"{len(sets.names())} in all; of sets with more than {sets.MAX_ROWS} rows, a draw of so many in which each "
        f"class has its share, but the rare class at least {sets.ENOUGH_RARE} samples where it has them. A third of "
        "each class is the test. Of the rest, a fifth of each class has its label "
        "(few labels), or all samples have it (all labels). All methods get the same splits, and none uses a test "
        "label. The tuning half is for choosing what ours does, the checking half for judging it: every second set "
        "in alphabetical order belongs to the one, the rest to the other.\n\n"
        'Ours is `AutoSSLART(class_weight="balanced")`. For reference: `AutoSSLART(decision_costs="balanced")`, and '
        "`AutoSSLART()`; in brackets the mean rank that each would have in place of ours. All get the raw data, "
        "labelled and unlabelled, and nothing else is set but a seed. Rivals learn from labelled samples only, with "
        "missing values filled, features in "
        '[0, 1] and categories as indicators: random forest (`class_weight="balanced_subsample"`), extra trees '
        '(`class_weight="balanced"`) and logistic regression (`class_weight="balanced"`, standardised features) '
        "of scikit-learn, and balanced forest, the `BalancedRandomForestClassifier` of imbalanced-learn, all with "
        "their defaults otherwise.\n\n"
        "Balanced accuracy is the mean of the recalls of both classes. F1 is that of the rare class. The area under "
        "the precision–recall curve is `average_precision_score` of the probability of the rare class. Ranks are taken "
        "on each set, 1 for the best; the best mean rank is in bold.\n"
    )
    groups = {"All sets": tuple(names)}
    groups |= {half.capitalize(): tuple(n for n in names if n in own) for half, own in sets.halves().items()}
    for title, members in groups.items():
        for labels in sets.LABELLED_SHARES:
            complete = findings.complete(members, labels, methods)
            if complete:
                text += f"\n## {title}, {labels}\n\nSets: {len(complete)}.\n\n"
                text += table(findings, complete, labels, methods) + "\n"
    return text
