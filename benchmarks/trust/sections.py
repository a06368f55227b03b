"""The sections of docs/trust.md on accuracy, noise, duplicates and shift: reported and measured values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sslart._utils.text import list_text, markdown_table
from trust import draws
from trust.figures import Result, at, by_set, claimed, count, mean, percent, ratio, share, too_high
from trust.measures import AVERAGE, holds
from trust.simulations import (
    CHANGES,
    CHANGES_LABELS,
    COPIES,
    COPIES_LABELS,
    LATER,
    N_LABELS,
    NOISE,
    NOISE_CLASSES,
    NOISE_FEATURES,
    NOISE_LABELS,
    NOISE_REPEATS,
    PLAIN,
)

INTERVAL_TARGET = 0.93
BIAS_TARGET = 0.01
COVERAGE, MAX_ERROR, ALARMS = "0.9", "0.05", "0.05"
Row = tuple[str, str, bool]


class Findings:
    """Results by simulation."""

    def __init__(self, results: Sequence[Result]) -> None:
        self.results = results

    def of(self, simulation: str) -> list[Result]:
        return [result for result in self.results if result["simulation"] == simulation]


def command(section: str) -> str:
    return f"`python -m trust.run --only {section}`"


CLAIM_HEAD = ["splits", "without a figure", "printed, %", "found, %", "printed − found, points", "interval holds, %"]
CLAIM_HEAD += ["its width, points", "mean confidence, %"]


def claim_cells(results: Sequence[Result], truth: str = "accuracy") -> list[str]:
    """Return the printed claims and the findings, in the columns of `CLAIM_HEAD`."""
    known = claimed(results)
    return [
        f"{len(results):,}",
        f"{len(results) - len(known):,}",
        percent(mean(known, at("claim")).value),
        percent(mean(known, at(truth)).value),
        mean(known, too_high(truth)).percent(sign=True),
        percent(share(known, lambda one: holds(one, truth))),
        percent(mean(known, lambda one: one["high"] - one["low"]).value),
        percent(mean(results, at("confidence")).value),
    ]


def accuracy(findings: Findings) -> str:
    plain = findings.of(PLAIN)
    known, fresh = claimed(plain), _fresh(plain)
    rows = []
    for n_labels in N_LABELS:
        own = [one for one in plain if one["n_labels"] == n_labels]
        if own:
            rows.append([str(n_labels), *claim_cells(own)])
    rows.append(["all", *claim_cells(plain)])
    bias = by_set(known, too_high())
    names = sorted(by_set(plain, at("accuracy")), key=lambda name: -bias.get(name, -np.inf))
    each = [[name, *claim_cells([one for one in plain if one["dataset"] == name])] for name in names]
    return (
        f"## Accuracy\n\nBy {command('accuracy')}. *Printed*: the accuracy that `sslart fit` prints and "
        "`quality_.accuracy` has. *Found*: the accuracy on the test samples. *Interval holds*: the share of the splits "
        "in which the printed 95 % interval holds what is found. As the test part is finite, what is found has an "
        "error too: the interval is widened by it, by the root of the sum of the squares. Without that, the intervals "
        "hold "
        f"in {count(known, lambda one: holds(one, test_error=False))} splits, with it in {count(known, holds)}. Of the "
        f"splits in which they do not, the accuracy found is below the interval in "
        f"{count([one for one in known if not holds(one)], lambda one: one['accuracy'] < one['claim'])}. The width of "
        "the interval was chosen when the first repetition had been seen; in the others, which no choice has seen, it "
        f"holds in {count(fresh, holds)}. *Without a figure*: splits with too few labels to print one.\n\n"
        + markdown_table(["labels", *CLAIM_HEAD], rows)
        + "\n\n### Each set\n\nAll numbers of labels together; sets whose printed accuracy is too high come first.\n\n"
        + markdown_table(["set", *CLAIM_HEAD], each)
    )


def _fresh(plain: Sequence[Result]) -> list[Result]:
    """Return the splits with a figure that had not been seen when the width of the interval was chosen; else all."""
    known = claimed(plain)
    return [one for one in known if one["repeat"] > 0] or known


def accuracy_rows(findings: Findings) -> list[Row]:
    known = claimed(findings.of(PLAIN))
    fresh = _fresh(known)
    bias, held = mean(known, too_high()), share(fresh, holds)
    return [
        (
            f"the printed accuracy is that on new samples: within {100 * BIAS_TARGET:.0f} point, on average",
            f"{bias.percent(sign=True)} points",
            abs(bias.value) <= BIAS_TARGET,
        ),
        (
            f"the printed 95 % interval holds the accuracy on new samples: in at least {100 * INTERVAL_TARGET:.0f} % "
            "of the splits that were not seen when its width was chosen",
            f"in {count(fresh, holds)} ({percent(held)} %)",
            held >= INTERVAL_TARGET,
        ),
    ]


def noise(findings: Findings) -> str:
    rows = []
    for n_features in NOISE_FEATURES:
        own = [one for one in findings.of(NOISE) if one["dataset"] == str(n_features)]
        rows.append([f"{n_features:,}", *claim_cells(own)])
    return (
        f"## Pure noise\n\nBy {command('noise')}. {NOISE_LABELS} labels of {NOISE_CLASSES} classes, features that are "
        f"drawn at random and have nothing to do with them, 1,000 test samples; {NOISE_REPEATS} repetitions. Nothing "
        f"can be learnt: whatever a model predicts, {100 / NOISE_CLASSES:.0f} % are right.\n\n"
        + markdown_table(["features", *CLAIM_HEAD], rows)
    )


def noise_rows(findings: Findings) -> list[Row]:
    known = claimed(findings.of(NOISE))
    return [
        (
            "noise looks like noise: the interval holds the accuracy on new samples",
            f"in {count(known, holds)}; printed {percent(mean(known, at('claim')).value)} %, found "
            f"{percent(mean(known, at('accuracy')).value)} %",
            share(known, holds) >= INTERVAL_TARGET,
        )
    ]


COPY_TITLES = {
    "as they are": "as they are",
    "twice": "every labelled row twice",
    "updated twice": "updated twice with its own table",
    "readings, groups given": f"{draws.READINGS} readings of each labelled item, `groups=` the items",
    "readings, groups not given": f"{draws.READINGS} readings of each labelled item, without `groups=`",
}


def _differences(findings: Findings, simulation: str, key: str) -> list[Result]:
    """Return by how much a figure differs from that of the same split without copies."""
    before = {(one["dataset"], one["repeat"]): one[key] for one in findings.of("as they are")}
    return [
        {"dataset": one["dataset"], "difference": one[key] - before[one["dataset"], one["repeat"]]}
        for one in findings.of(simulation)
        if one[key] is not None and before[one["dataset"], one["repeat"]] is not None
    ]


def copies(findings: Findings) -> str:
    rows = []
    for name in COPIES:
        changes = by_set(_differences(findings, name, "accuracy"), at("difference"))
        worst = min(changes, key=lambda one: changes[one])
        row = [COPY_TITLES[name], *claim_cells(findings.of(name))]
        rows.append([*row, "" if name == "as they are" else f"{100 * changes[worst]:+.1f} ({worst})"])
    return (
        f"## Copies and repeated measurements\n\nBy {command('copies')}. {COPIES_LABELS} labelled items, fewer in "
        "small sets. *Readings*: every item is measured with a random error of "
        f"{100 * draws.READING_NOISE:.0f} % of the range of a feature, labelled items {draws.READINGS} times, others "
        "once; test samples are readings of other items. Last column: the largest loss of accuracy on a set, against "
        "the same labels without copies.\n\n" + markdown_table(["training table", *CLAIM_HEAD, "largest loss"], rows)
    )


def _is_within(claim: float, before: Result) -> bool:
    return bool(before["low"] - 1e-9 <= claim <= before["high"] + 1e-9)


def copies_rows(findings: Findings) -> list[Row]:
    rows: list[Row] = []
    before = {(one["dataset"], one["repeat"]): one for one in claimed(findings.of("as they are"))}
    for name in ("twice", "updated twice"):
        change = mean(_differences(findings, name, "accuracy"), at("difference"))
        known = [one for one in claimed(findings.of(name)) if (one["dataset"], one["repeat"]) in before]
        within = [_is_within(one["claim"], before[one["dataset"], one["repeat"]]) for one in known]
        rows.append(
            (
                f"{COPY_TITLES[name]}: the accuracy changes by less than a point, and what is printed stays within the "
                "interval that was printed without copies",
                f"{change.percent(sign=True)} points; within in {sum(within)} of {len(within)} splits",
                abs(change.value) < BIAS_TARGET and all(within),
            )
        )
    for name in list(COPIES)[1:]:
        known = claimed(findings.of(name))
        held = share(known, holds)
        rows.append(
            (
                f"{COPY_TITLES[name]}: the interval holds the accuracy on new items",
                f"in {count(known, holds)} ({percent(held)} %)",
                held >= INTERVAL_TARGET,
            )
        )
    return rows


CHANGE_TITLES = {
    "10 % wrong labels": "10 % of the labels wrong",
    "20 % wrong labels": "20 % of the labels wrong",
    "shifted features": "features of new samples shifted",
    "other class shares": "other shares of the classes",
    LATER: "rows of later years",
}


def _plain_of(findings: Findings, like: Sequence[Result]) -> list[Result]:
    """Return the same splits without a change."""
    wanted = {(one["dataset"], one["n_labels"], one["repeat"]) for one in like}
    return [one for one in findings.of(PLAIN) if (one["dataset"], one["n_labels"], one["repeat"]) in wanted]


def _change_row(title: str, results: Sequence[Result], truth: str, held: str, wrong: str) -> list[str]:
    known = claimed(results)
    error = ratio(results, at("answers", MAX_ERROR, AVERAGE, wrong), at("answers", MAX_ERROR, AVERAGE, "answered"))
    return [
        title,
        f"{len(results):,}",
        percent(mean(known, at("claim")).value),
        percent(mean(known, at(truth)).value),
        percent(share(known, lambda one: holds(one, truth))),
        mean(results, at("sets", COVERAGE, held)).percent(),
        error.percent(),
        percent(mean(results, at("answers", MAX_ERROR, AVERAGE, "answered")).value),
        percent(mean(results, at("alarms", ALARMS)).value),
    ]


def changes(findings: Findings) -> str:
    cases = list(_change_cases(findings))
    head = ["what is changed", "splits", "printed accuracy, %", "found, %", "interval holds, %"]
    head += [
        f"sets of coverage {COVERAGE} hold the class, %",
        f"wrong among the answered, max_error={MAX_ERROR} on average, %",
    ]
    head += ["answered, %", "taken for novel, %"]
    return (
        f"## Where promises fail\n\nBy {command('changes')}. Every promise is for samples like the labelled ones: "
        "drawn in the same way, with labels that are right. Where that does not hold, no promise does. Here it is "
        f"broken on purpose ({CHANGES_LABELS} labels, fewer in small sets).\n\n"
        "- *Labels wrong*: a share of the training labels is another class, drawn at random. Promises then are about "
        "labels with such errors: against these, interval and coverage are to hold, and against the true classes the "
        "printed accuracy is too low. Few tables let a model answer at all then, and these are the lucky ones: among "
        "their answers more are wrong than `max_error`.\n"
        f"- *Features shifted*: every number of the test samples is moved, up or down, by {draws.SHIFT} standard "
        "deviations of its feature.\n"
        f"- *Other shares*: of half of the classes only {100 * draws.KEPT_OF_RARER:.0f} % of the test samples are "
        "kept.\n"
        "- *Later years*: fitted to rows of the first fifth of a stream, tested on the last fifth "
        f"({list_text(sorted(by_set(findings.of(LATER), at('accuracy')))) or 'no stream is on this machine'}).\n\n"
        + markdown_table(head, [_change_row(title, *rest) for title, *rest in cases])
    )


def _change_cases(findings: Findings) -> Iterator[tuple[str, list[Result], str, str, str]]:
    like = [one for name in CHANGES for one in findings.of(name)]
    yield "nothing", _plain_of(findings, like), "accuracy", "held", "wrong"
    for name, title in CHANGE_TITLES.items():
        found = findings.of(name)
        if not found:
            continue
        if "noisy" in found[0]:
            yield f"{title}, against labels with such errors", found, "noisy", "noisy", "noisy"
            title = f"{title}, against the true classes"
        yield title, found, "accuracy", "held", "wrong"


def changes_table(findings: Findings) -> str:
    """Return the promises that hold after each change; in bold those that do not."""
    rows = []
    for title, found, truth, held, wrong in _change_cases(findings):
        interval = share(claimed(found), lambda one: holds(one, truth))
        sets = mean(found, at("sets", COVERAGE, held))
        error = ratio(found, at("answers", MAX_ERROR, AVERAGE, wrong), at("answers", MAX_ERROR, AVERAGE, "answered"))
        cells = [
            (percent(interval), interval >= INTERVAL_TARGET),
            (sets.percent(), sets.at_least(float(COVERAGE))),
            (error.percent() or "none answered", error.at_most(float(MAX_ERROR))),
        ]
        rows.append([title, *(text if kept else f"**{text}**" for text, kept in cells)])
    head = ["what is changed", f"interval holds, %: at least {100 * INTERVAL_TARGET:.0f}", "coverage, %: at least 90"]
    return markdown_table([*head, "wrong among the answered, %: at most 5"], rows)
