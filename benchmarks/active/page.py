"""The page of the active learning benchmark, docs/active.md: every number is computed from the stored results."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import version

import numpy as np
from scipy.stats import rankdata

from active.measure import N_LABELS
from active.sets import HALVES, MANY_CLASSES, MAX_POOL, MAX_TEST, POOL_SHARE
from active.strategies import BATCH, MARGIN, OURS, RANKED, REFERENCES, STRATEGIES
from pieces import Result
from sslart._utils.text import list_text, markdown_table


class Findings:
    """Accuracies of all strategies on the sets and repetitions that all of them have been measured on."""

    def __init__(self, results: Sequence[Result], sets: Sequence[str], repeats: int) -> None:
        found = {(one["dataset"], one["repeat"], one["method"]): one for one in results}
        measured = {method for _, _, method in found}
        self.methods = [method for method in STRATEGIES if method in measured]
        self.runs = {
            name: [
                repeat
                for repeat in range(repeats)
                if all((name, repeat, method) in found for method in RANKED if method in measured)
            ]
            for name in sets
        }
        self.sets = [name for name in sets if self.runs[name]]
        self.methods = [
            method
            for method in self.methods
            if all((name, repeat, method) in found for name in self.sets for repeat in self.runs[name])
        ]
        self._accuracy = {key: one["accuracy"] for key, one in found.items() if "accuracy" in one}

    def of(self, names: Sequence[str], method: str) -> np.ndarray:
        """Return the mean over the repetitions, shape (n_sets, n_numbers_of_labels)."""
        return np.array(
            [np.mean([self._accuracy[name, repeat, method] for repeat in self.runs[name]], axis=0) for name in names]
        )


def page(results: Sequence[Result], sets: Sequence[str], repeats: int, label: str) -> str:
    """Return the page."""
    findings = Findings(results, sets, repeats)
    packages = ", ".join(f"{name} {version(name)}" for name in ("sslart", "scikit-learn", "numpy"))
    n_runs = sorted({len(findings.runs[name]) for name in findings.sets})
    text = (
        "# Active learning\n\n"
        f"Written by `make active`. Repetitions of each set: {' or '.join(map(str, n_runs)) or 'none'}. "
        f"Python {platform.python_version()}, {packages}. Ours: version `{label}`.\n\n"
        "A strategy chooses samples, their labels are given, and `AutoSSLART()` is fitted to all samples with the "
        f"labels so far: {BATCH} samples at a time, up to {N_LABELS[-1]}. Accuracy is measured on samples that take no "
        f"part in it. Of each set, {100 * POOL_SHARE:.0f} % of the samples, at most {MAX_POOL}, may be labelled, and "
        f"at most {MAX_TEST} others are the test. All strategies get the same splits, seeds and model.\n\n"
        "- **ours**: `sslart.active.select_queries`, from the first sample on: it needs no label to start with.\n"
        "- **margin**: the samples whose two most probable classes are closest. **entropy**: those whose "
        f"probabilities have the highest entropy. Both need a model, so their first {BATCH} samples are drawn at "
        "random, the same ones as those of random sampling.\n"
        "- **k-centre**: the sample farthest from all chosen ones, again and again; the first one is drawn at random.\n"
        "- **random**: samples drawn at random.\n"
        f"- For reference, without a rank: margin sampling that starts with the first {BATCH} samples of ours, and "
        f"ours that starts with the {BATCH} random samples of margin sampling.\n\n"
        "Sets: those of the [accuracy benchmark](accuracy.md) except images and those with more than ten classes "
        f"({list_text(list(MANY_CLASSES))}), in the same halves. What ours does was chosen on the tuning half. Ranks "
        "are taken on each set by the mean accuracy from 5 to 50 labels, 1 for the best.\n\n"
        "Tried on the tuning half, one repetition each: the uncertainty at a sample to the power of 0, 1 and 2, that "
        "of the samples around it to the power of 1 and 2, a reach of 1/4 and 1/2 of the mean distance, and margin "
        "sampling after the first five of ours. Without the uncertainty at the sample itself, and with margin sampling "
        "after the first five, the lead was smaller; the others differed by less than the standard error. The square "
        "was kept, as it was best at 50 labels. Every sixth sample is chosen without regard to the predictions, since "
        "the questions of the studio overlooked a class on some larger tables ([measured](studio_benchmarks.md)): a "
        "model can be certain where it knows nothing. Every third is drawn at random, since only such labels [measure "
        "the model](trust.md).\n"
    )
    groups = {
        "All sets": findings.sets,
        "Checking half": [name for name in findings.sets if name in HALVES["checking"]],
        "Tuning half": [name for name in findings.sets if name in HALVES["tuning"]],
    }
    for title, names in groups.items():
        if names and OURS in findings.methods and MARGIN in findings.methods:
            text += f"\n## {title}\n\nSets: {len(names)}.\n\n{_table(findings, names)}\n"
    if findings.sets and OURS in findings.methods:
        text += f"\n## Set by set\n\nMean accuracy from 5 to 50 labels, %.\n\n{_by_set(findings)}\n"
    return text


def _table(findings: Findings, names: Sequence[str]) -> str:
    ranked = [method for method in findings.methods if method in RANKED]
    means = np.array([findings.of(names, method).mean(axis=1) for method in ranked])
    ranks = dict(zip(ranked, rankdata(-np.round(means, 9), axis=0).mean(axis=1), strict=True))
    margin = findings.of(names, MARGIN)
    rows = []
    for method in findings.methods:
        found = findings.of(names, method)
        ahead = (found - margin).mean(axis=1)
        error = ahead.std(ddof=1) / np.sqrt(len(ahead)) if len(ahead) > 1 else 0.0
        rows.append(
            [
                f"{method}, for reference" if method in REFERENCES else method,
                f"{found.mean():.2f}",
                f"{ranks[method]:.2f}" if method in ranks else "",
                "" if method == MARGIN else f"{ahead.mean():+.2f} ± {error:.2f}",
                *(f"{found[:, N_LABELS.index(n)].mean():.1f}" for n in (5, 10, 20, 30, 40, 50)),
            ]
        )
    head = ["strategy", "mean of 5 to 50", "mean rank", "ahead of margin", *(f"{n}" for n in (5, 10, 20, 30, 40, 50))]
    return (
        markdown_table(head, rows) + "\n\nAccuracy in %, then by number of labels. ± is the standard error over sets."
    )


def _by_set(findings: Findings) -> str:
    methods = [method for method in findings.methods if method in RANKED]
    means = {method: findings.of(findings.sets, method).mean(axis=1) for method in methods}
    rows = [[name, *(f"{means[method][place]:.1f}" for method in methods)] for place, name in enumerate(findings.sets)]
    return markdown_table(["set", *methods], rows)
