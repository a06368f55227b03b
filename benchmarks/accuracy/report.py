"""The page of the accuracy benchmark, docs/accuracy.md: every number is computed from the stored results."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from scipy.stats import rankdata

from accuracy.contenders import FOREST, IMAGE_RIVALS, N_BINS, REFERENCE, RIVALS, rivals
from accuracy.sets import GROUPS, IMAGES, OTHER, UCI
from sslart._utils.tables import markdown_table

Result = dict[str, Any]
OURS = "ours"  # the name under which ours is stored, whichever estimator it is
TIE = 0.05  # points of accuracy: less is no difference


class Findings:
    """Results by set, method and measure, of the sets that are complete."""

    def __init__(self, results: Iterable[Result], sets: Sequence[str], repeats: int) -> None:
        self.values: dict[tuple[str, str], dict[int, Result]] = {}
        for result in results:
            if result["repeat"] < repeats:
                self.values.setdefault((result["set"], result["method"]), {})[result["repeat"]] = result
        self.has_ours = any(method == OURS for _, method in self.values)
        self.sets = [name for name in sets if self._complete(name, repeats)]
        self.left_out = [name for name in sets if name not in self.sets]

    def _complete(self, dataset: str, repeats: int) -> bool:
        wanted = [*rivals(dataset), *([OURS] if self.has_ours else [])]
        return all(len(self.values.get((dataset, method), {})) == repeats for method in wanted)

    def of(self, dataset: str, method: str, measure: str = "accuracy") -> np.ndarray:
        """Return the values of all repetitions."""
        found = self.values[dataset, method]
        return np.array([found[repeat][measure] for repeat in sorted(found)], dtype=float)

    def means(self, sets: Sequence[str], method: str, measure: str = "accuracy") -> np.ndarray:
        """Return the mean over the repetitions, for each set."""
        return np.array([self.of(dataset, method, measure).mean() for dataset in sets])

    def among(self, sets: Sequence[str]) -> list[str]:
        return [name for name in sets if name in self.sets]

    def contenders(self, names: Iterable[str]) -> list[str]:
        return [*([OURS] if self.has_ours else []), *names]


def balance(differences: np.ndarray) -> str:
    """Return on how many sets ours is ahead / level / behind."""
    won, lost = np.sum(differences >= TIE), np.sum(differences <= -TIE)
    return f"{won} / {len(differences) - won - lost} / {lost}"


def group(findings: Findings, title: str, members: Sequence[str]) -> str:
    sets = findings.among(members)
    if not sets:
        return f"## {title}\n\nNo set is complete."
    methods = findings.contenders(RIVALS)
    means = {method: findings.means(sets, method) for method in methods}
    ranks = rankdata(-np.round([means[method] for method in methods], 9), axis=0).mean(axis=1)
    rows = []
    for method, rank in zip(methods, ranks, strict=True):
        against = means[OURS] - means[method] if findings.has_ours else None
        rows.append([method, f"{means[method].mean():.2f}", f"{rank:.2f}", *_against(against, method)])
    if all(name in UCI for name in sets):
        for method in REFERENCE:
            found = findings.means(sets, method)
            against = means[OURS] - found if findings.has_ours else None
            rows.append([f"{method}, for reference", f"{found.mean():.2f}", "", *_against(against, method)])
    text = f"## {title}\n\nSets: {len(sets)}.\n\n"
    text += markdown_table(["method", "accuracy, %", "mean rank", "ours wins / ties / loses", "ours ahead by"], rows)
    best = max(RIVALS, key=lambda method: means[method].mean())
    text += f"\n\nBest rival: {best}, {means[best].mean():.2f} %."
    if findings.has_ours:
        ahead = means[OURS].mean() - means[best].mean()
        text += f" Ours: {means[OURS].mean():.2f} %, a difference of {ahead:+.2f} points."
    return text


def _against(differences: np.ndarray | None, method: str) -> list[str]:
    if differences is None or method == OURS:
        return ["", ""]
    error = differences.std(ddof=1) / np.sqrt(len(differences)) if len(differences) > 1 else np.nan
    return [balance(differences), f"{differences.mean():+.2f} ± {error:.2f}"]


def calibration(findings: Findings) -> str:
    methods = [name for name in findings.contenders(RIVALS) if name == OURS or RIVALS[name].probabilities]
    rows = []
    for title, members in GROUPS.items():
        sets = findings.among(members)
        if not sets:
            continue
        means = {method: findings.means(sets, method, "calibration") for method in methods}
        row = [title, *(f"{means[method].mean():.2f}" for method in methods)]
        rows.append([*row, balance(means[FOREST] - means[OURS]) if findings.has_ours else ""])
    return (
        f"## Calibration\n\nExpected calibration error of the top probability, in per cent ({N_BINS} bins of equal "
        "width), mean over the sets: the smaller the better. Last column: sets on which ours is better than, level "
        f"with, worse than the {FOREST}.\n\n" + markdown_table(["sets", *methods, f"ours against {FOREST}"], rows)
    )


def each_set(findings: Findings) -> str:
    sets = findings.among((*UCI, *OTHER))
    methods = findings.contenders(RIVALS)
    rows = []
    for dataset in sets:
        means = [findings.of(dataset, method).mean() for method in methods]
        cells = [f"**{mean:.1f}**" if mean > max(means) - TIE else f"{mean:.1f}" for mean in means]
        others = [f"{findings.of(dataset, method).mean():.1f}" if dataset in UCI else "" for method in REFERENCE]
        halves = [title for title, members in list(GROUPS.items())[1:] if dataset in members]
        rows.append([dataset, halves[0].split(", ")[1].removesuffix(" half"), *cells, *others])
    return (
        f"## Each set\n\nMean accuracy in per cent; the best, and what is less than {TIE:g} points behind it, in bold."
        "\n\n" + markdown_table(["set", "half", *methods, *REFERENCE], rows)
    )


def images(findings: Findings) -> str:
    sets = findings.among(IMAGES)
    if not sets:
        return "## Images\n\nNo set is complete."
    rows = []
    for method in findings.contenders(IMAGE_RIVALS):
        found = [findings.of(dataset, method) for dataset in sets]
        rows.append([method, *(f"{values.mean():.2f} ({_spread(values):.2f})" for values in found)])
    text = (
        "## Images\n\nMean accuracy in per cent, standard deviation over the repetitions in brackets. Of the scalings "
        "of a rival the best counts.\n\n" + markdown_table(["method", *sets], rows) + "\n"
    )
    for dataset in sets:
        best = max(IMAGE_RIVALS, key=lambda method: findings.of(dataset, method).mean())
        spreading = max(
            (name for name in IMAGE_RIVALS if name.startswith("label spreading")),
            key=lambda method: findings.of(dataset, method).mean(),
        )
        text += f"\n- {dataset}: best rival {best}, {findings.of(dataset, best).mean():.2f} %"
        if findings.has_ours:
            ours = findings.of(dataset, OURS).mean()
            text += (
                f"; ours {ours:.2f} %, {ours - findings.of(dataset, best).mean():+.2f} points, and "
                f"{ours - findings.of(dataset, spreading).mean():+.2f} points against {spreading}"
            )
        text += "."
    return text


def _spread(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0


def speed_section(speed: dict[str, Any] | None) -> str:
    """Write what `accuracy.speed` measured."""
    if speed is None:
        return "## Speed\n\nNot measured: `python -m accuracy.speed`."
    rows = [
        [
            row["work"],
            row["n_jobs"],
            f"{row['ours']:.3g} s",
            row["against"],
            f"{row['theirs']:.3g} s",
            f"{row['ratio']:.3g}",
            str(row["turns"]),
        ]
        for row in speed["rows"]
    ]
    head = ["work", "n_jobs", OURS, "against", "it takes", "times faster", "turns"]
    return (
        f"## Speed\n\n{speed['data']} Contenders take turns; times are medians, and what counts is the median of the "
        f"ratios of each turn. Ours: `{speed['name']}`, version `{speed['label']}`. Measured by "
        "`python -m accuracy.speed`.\n\n" + markdown_table(head, rows)
    )


def page(
    results: Iterable[Result],
    sets: Sequence[str],
    repeats: int,
    *,
    command: str,
    ours: str,
    label: str | None,
    speed: dict[str, Any] | None,
) -> str:
    findings = Findings(results, sets, repeats)
    packages = ", ".join(f"{name} {version(name)}" for name in ("sslart", "scikit-learn", "numpy"))
    text = (
        "# Accuracy\n\n"
        f"Written by `{command}` in `benchmarks`, the last step of `make accuracy`. {repeats} repetitions. Python "
        f"{platform.python_version()}, {packages}."
    )
    text += f" Ours: `{ours}`, version `{label}`.\n\n" if findings.has_ours else " Ours is not measured.\n\n"
    text += (
        "Sets: the 14 UCI sets of the paper, and 32 of KEEL cut to 2,000 rows. Of each repetition a fifth is the "
        "test; of the rest a fifth keeps its label (a quarter for Wine, Iris, Seeds and Zoo, 5 % for digits; 500 "
        "labelled and 8,500 unlabelled samples for USPS and MNIST). All methods get the same splits, and none uses "
        "a test label. The tuning halves are for choosing what ours does, the checking halves for judging it: every "
        "second set of each list belongs to the one, the rest to the other.\n\n"
        "Rivals are scikit-learn's, with its defaults: label spreading over 7 neighbours and self-training of a "
        "random forest learn from all samples, the others from those with a label. They get missing values filled, "
        "features in [0, 1] and categories as indicators; SVM and logistic regression get standardised features. Ours "
        f"gets the raw data and no setting but a seed. {', '.join(REFERENCE)}, for reference: one-to-many mapping, "
        "ρ = 0.9; it is not ranked.\n\n"
        f"A difference of less than {TIE:g} points in the mean accuracy on a set is a tie. After ±: standard error "
        "over the sets.\n\n"
    )
    if findings.left_out:
        text += f"**Left out, because results are missing:** {', '.join(findings.left_out)}.\n\n"
    parts = [group(findings, title, members) for title, members in GROUPS.items()]
    parts += [calibration(findings), images(findings), each_set(findings), speed_section(speed)]
    return text + "\n\n".join(parts) + "\n"
