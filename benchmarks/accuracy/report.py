"""The page of the accuracy benchmark, docs/accuracy.md: every number is computed from the stored results."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from accuracy import requirements
from accuracy.contenders import (
    BEYOND_TABPFN,
    FOREST,
    IMAGE_RIVALS,
    LARGE_FOREST,
    N_BINS,
    REFERENCE,
    RIVALS,
    TABPFN,
)
from accuracy.findings import OURS, TIE, Findings, Result, balance
from accuracy.sets import GROUPS, IMAGES, MANY_LABELS, MAX_REPEATS_OF_MANY_LABELS, OTHER, UCI
from accuracy.tabpfn_v1 import MAX_CLASSES, MAX_FEATURES, MAX_ROWS
from sslart._utils.text import markdown_table


def group(findings: Findings, title: str, members: Sequence[str], others: Sequence[str] = ()) -> str:
    """Write how all methods do on some sets; `others` are ranked beside the rivals."""
    sets = findings.among(members)
    if not sets:
        return f"## {title}\n\nNo set is complete."
    methods = findings.contenders([*RIVALS, *others])
    unranked = [name for name in findings.tabpfn_on(sets) if name not in others]
    unranked += REFERENCE if all(name in UCI for name in sets) else []
    means = {method: findings.means(sets, method) for method in (*methods, *unranked)}
    ranks = findings.ranks(sets, methods)
    rows = []
    for method, found in means.items():
        rank = f"{ranks[method]:.2f}" if method in ranks else ""
        against = means[OURS] - found if findings.has_ours else None
        rows.append([method, f"{found.mean():.2f}", rank, *_against(against, method)])
    text = f"## {title}\n\nSets: {len(sets)}.\n\n"
    text += markdown_table(["method", "accuracy, %", "mean rank", "ours wins / ties / loses", "ours ahead by"], rows)
    best = max((method for method in methods if method != OURS), key=lambda method: means[method].mean())
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


def tabpfn(findings: Findings) -> str:
    title = f"Sets that {TABPFN} can take"
    if not findings.has_tabpfn:
        return f"## {title}\n\n{TABPFN} is not measured: `make accuracy TABPFN=1`."
    text = group(findings, title, findings.of_tabpfn, [TABPFN])
    return (
        f"{text}\n\n{TABPFN} takes at most {MAX_ROWS:,} labelled samples, {MAX_FEATURES} features (categories as "
        f"indicators) and {MAX_CLASSES} classes. Beyond that are {', '.join(BEYOND_TABPFN)}."
    )


def calibration(findings: Findings) -> str:
    groups = {**GROUPS, **({f"Sets that {TABPFN} can take": findings.of_tabpfn} if findings.has_tabpfn else {})}
    methods = [name for name in findings.contenders(RIVALS) if name == OURS or RIVALS[name].probabilities]
    methods += [TABPFN] if findings.has_tabpfn else []
    rows = []
    for title, members in groups.items():
        sets = findings.among(members)
        if not sets:
            continue
        there = [method for method in methods if method != TABPFN or findings.tabpfn_on(sets)]
        means = {method: findings.means(sets, method, "calibration") for method in there}
        row = [title, *(f"{means[method].mean():.2f}" if method in means else "" for method in methods)]
        rows.append([*row, balance(means[FOREST] - means[OURS]) if findings.has_ours else ""])
    return (
        f"## Calibration\n\nExpected calibration error of the top probability, in per cent ({N_BINS} bins of equal "
        "width), mean over the sets: the smaller the better. Last column: sets on which ours is better than, level "
        f"with, worse than the {FOREST}.\n\n" + markdown_table(["sets", *methods, f"ours against {FOREST}"], rows)
    )


def each_set(findings: Findings) -> str:
    methods = [*findings.contenders(RIVALS), *([TABPFN] if findings.has_tabpfn else [])]
    rows = []
    for dataset in findings.among((*UCI, *OTHER)):
        means = {
            method: findings.mean(dataset, method)
            for method in [*findings.contenders(RIVALS), *findings.tabpfn_on([dataset])]
        }
        marked = {
            name: f"**{mean:.1f}**" if mean > max(means.values()) - TIE else f"{mean:.1f}"
            for name, mean in means.items()
        }
        others = [f"{findings.mean(dataset, method):.1f}" if dataset in UCI else "" for method in REFERENCE]
        halves = [title for title, members in list(GROUPS.items())[1:] if dataset in members]
        cells = [marked.get(method, "") for method in methods]
        rows.append([dataset, halves[0].split(", ")[1].removesuffix(" half"), *cells, *others])
    return (
        f"## Each set\n\nMean accuracy in per cent; the best, and what is less than {TIE:g} points behind it, in bold."
        "\n\n" + markdown_table(["set", "half", *methods, *REFERENCE], rows)
    )


def many_labels(findings: Findings) -> str:
    sets = findings.among(MANY_LABELS)
    title = "## Many labels"
    if not sets:
        return f"{title}\n\nNo set is complete."
    rows = []
    for method in findings.contenders([LARGE_FOREST]):
        found = [findings.of(dataset, method) for dataset in sets]
        rows.append([method, *(f"{values.mean():.2f} ({_spread(values):.2f})" for values in found)])
    return (
        f"{title}\n\nMean accuracy in per cent over {min(findings.repeats, MAX_REPEATS_OF_MANY_LABELS)} repetitions, "
        "standard deviation in brackets. synthetic: 5,000 labels of 10,000 samples with 30 features, two classes of 4 "
        "clusters each, and 5,000 test samples. covtype: 50,000 labels of 100,000 samples drawn from 581,012, and "
        "20,000 test samples. UNSW-NB15: a fifth of its 82,332 samples is the test, and a fifth of the rest is "
        "labelled.\n\n" + markdown_table(["method", *sets], rows)
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
        best = max(IMAGE_RIVALS, key=lambda method: findings.mean(dataset, method))
        spreading = max(
            (name for name in IMAGE_RIVALS if name.startswith("label spreading")),
            key=lambda method: findings.mean(dataset, method),
        )
        text += f"\n- {dataset}: best rival {best}, {findings.mean(dataset, best):.2f} %"
        if findings.has_ours:
            ours = findings.mean(dataset, OURS)
            text += (
                f"; ours {ours:.2f} %, {ours - findings.mean(dataset, best):+.2f} points, and "
                f"{ours - findings.mean(dataset, spreading):+.2f} points against {spreading}"
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


def fits_section(fits: dict[str, Any] | None) -> str:
    """Write what `accuracy.fits` measured."""
    title = "## Time of `fit`"
    if fits is None:
        return f"{title}\n\nNot measured: `python -m accuracy.fits`."
    rows = [
        [
            row["work"],
            f"{row['ours']:.3g} s",
            f"{row['forest']:.3g} s",
            f"{row['times_the_forest']:.2f}",
            "" if row["share_of_before"] is None else f"{row['share_of_before']:.3f}",
            str(row["turns"]),
        ]
        for row in fits["rows"]
    ]
    head = ["samples × features, labels", OURS, LARGE_FOREST, "times the forest", "share of before", "turns"]
    return (
        f"{title}\n\nProcessor time on one thread, on samples like those of the synthetic set with many labels. The "
        "forest learns from the labelled samples, ours from all. Contenders take turns; times are medians, and what "
        "counts is the median of the ratios of each turn. Share of before: of the time that the version before these "
        f"requirements takes in the same run. Ours: `{fits['name']}`, version `{fits['label']}`. Measured by `python "
        "-m accuracy.fits`.\n\n" + markdown_table(head, rows)
    )


def _versions(*names: str) -> Iterator[str]:
    for name in names:
        with suppress(PackageNotFoundError):
            yield f"{name} {version(name)}"


def page(
    results: Iterable[Result],
    sets: Sequence[str],
    repeats: int,
    *,
    command: str,
    ours: str,
    label: str | None,
    speed: dict[str, Any] | None,
    fits: dict[str, Any] | None,
) -> str:
    findings = Findings(results, sets, repeats)
    packages = ", ".join(_versions("sslart", "scikit-learn", "catboost", "numpy"))
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
        "Rivals have their defaults. Label spreading over 7 neighbours and self-training of a random forest learn from "
        "all samples, the others from those with a label. They get missing values filled, features in [0, 1] and "
        "categories as indicators, CatBoost too; SVM and logistic regression get standardised features. Ours "
        f"gets the raw data and no setting but a seed. {', '.join(REFERENCE)}, for reference: one-to-many mapping, "
        f"ρ = 0.9; it is not ranked. {TABPFN} is ranked on the sets that it can take, in a section of its own.\n\n"
        f"A difference of less than {TIE:g} points in the mean accuracy on a set is a tie. After ±: standard error "
        "over the sets.\n\n"
    )
    if findings.left_out:
        text += f"**Left out, because results are missing:** {', '.join(findings.left_out)}.\n\n"
    parts = [requirements.section(findings, fits)] if findings.has_ours else []
    parts += [group(findings, title, members) for title, members in GROUPS.items()]
    parts += [tabpfn(findings), calibration(findings), images(findings), many_labels(findings), each_set(findings)]
    parts += [fits_section(fits), speed_section(speed)]
    return text + "\n\n".join(parts) + "\n"
