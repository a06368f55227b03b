"""The section of docs/trust.md on prediction sets and error rates, compared with MAPIE."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sslart._utils.text import markdown_table
from trust.conformal import N_FOLDS, RIVALS
from trust.figures import Mean, Result, at, by_set, mean, percent, ratio, share
from trust.measures import AVERAGE, COVERAGES, FEW_OF_A_CLASS, MAX_ERRORS, SETS, Figures
from trust.sections import COVERAGE, MAX_ERROR, Findings, Row, command
from trust.simulations import COPIES_LABELS, PLAIN

MARGIN = 0.05


def _sets_row(title: str, results: Sequence[Result], name: str, level: float) -> list[str]:
    return [
        title,
        f"{len(results):,}",
        mean(results, at("sets", name, "held")).percent(),
        percent(share(results, lambda one: one["sets"][name]["held"] < level - MARGIN)),
        f"{mean(results, at('sets', name, 'size')).value:.2f}",
        mean(results, at("sets", name, "mean of classes")).percent(),
        percent(mean(results, at("sets", name, "worst class")).value),
    ]


def _answers_row(level: str, results: Sequence[Result]) -> list[str]:
    error = wrong_among_answered(results, level)
    parts = by_set(results, at("answers", level, AVERAGE, "wrong"))
    wholes = by_set(results, at("answers", level, AVERAGE, "answered"))
    shares = {name: parts[name] / wholes[name] for name in wholes if wholes[name] > 0.01}
    worst = max(shares, key=lambda name: shares[name]) if shares else None
    return [
        level,
        f"{len(results):,}",
        percent(share(results, lambda one: one["answers"][level][AVERAGE]["answered"] == 0)),
        percent(mean(results, at("answers", level, AVERAGE, "answered")).value),
        mean(results, lambda one: share_wrong(one["answers"][level][AVERAGE])).percent(),
        error.percent(),
        "" if worst is None else f"{percent(shares[worst])} ({worst})",
    ]


def share_wrong(found: Figures) -> float:
    """Return the share of wrong predictions among the answered of a split; 0 where nothing is answered."""
    return found["wrong"] / found["answered"] if found["answered"] else 0.0


def wrong_among_answered(results: Iterable[Result], level: str) -> Mean:
    return ratio(results, at("answers", level, AVERAGE, "wrong"), at("answers", level, AVERAGE, "answered"))


def guarantees(findings: Findings) -> str:
    plain = findings.of(PLAIN)
    head = [
        "splits",
        "found, %",
        f"more than {100 * MARGIN:.0f} points too low, % of splits",
        "classes in a set",
    ]
    head += ["mean of the classes, %", "worst class, %"]
    rows = [
        _sets_row(f"{100 * level:g} %{' per class' if per_class else ''}", plain, name, level)
        for name, (level, per_class) in SETS.items()
    ]
    answer_head = ["`max_error`", "splits", "nothing answered, % of splits", "answered, %"]
    answer_head += ["wrong, mean of the splits, %", "wrong, all answers together, %", "worst set, %"]
    return (
        f"## Sets of classes, and the error among the answered\n\nBy {command('guarantees')}. [What exactly is "
        "promised](guide/guarantees.md). Where labels are too few to exclude a class, `predict_set` has it in "
        "every set. A promise is for the mean over many tables with labels: "
        "with the labels of one table the coverage is somewhat higher or lower, the more so the fewer labels there are "
        f"(fourth column). *Classes*: coverage among the samples of each class that has {FEW_OF_A_CLASS} test samples "
        "or more.\n\n"
        + markdown_table(["coverage", *head], rows)
        + "\n\nWith `max_error` and `confidence=None` a limit of error holds on average. The share of wrong "
        "predictions among the answered is shown twice: as the mean of the splits, where a split that answers nothing "
        "has none wrong, and for the answers of all splits together.\n\n"
        + markdown_table(answer_head, [_answers_row(f"{level:g}", plain) for level in MAX_ERRORS])
        + "\n\n"
        + mapie(findings)
    )


def mapie(findings: Findings) -> str:
    rivals = {name: findings.of(name) for name in RIVALS}
    tried = {_split(one) for results in rivals.values() for one in results}
    contenders = {"sslart `predict_set`": [one for one in findings.of(PLAIN) if _split(one) in tried], **rivals}
    rows = []
    for level in COVERAGES:
        name = f"{level:g}"
        common = set.intersection(*(_promised(results, name) for results in contenders.values()))
        for title, results in contenders.items():
            own = [one for one in results if _split(one) in common]
            wrong = ratio(own, at("sets", name, "wrong"), at("sets", name, "answered"))
            rows.append(
                [
                    f"{100 * level:g} %",
                    title,
                    f"{len(_promised(results, name)):,}",
                    f"{len(own):,}",
                    mean(own, at("sets", name, "held")).percent(),
                    f"{mean(own, at('sets', name, 'size')).value:.2f}",
                    percent(mean(own, at("sets", name, "answered")).value),
                    wrong.percent(),
                ]
            )
    head = ["coverage", "method", "splits that it takes", "compared on", "found, %", "classes in a set"]
    head += ["sets of one class, %", "wrong among these, %"]
    return (
        f"### Beside MAPIE\n\nThe same splits, with {COPIES_LABELS} labels or more. *Cross*: "
        f"`CrossConformalClassifier` with {N_FOLDS} folds; *split*: "
        "`SplitConformalClassifier`, which learns from half of the labels and measures on the other half; both with "
        "the score `lac`, around the same classifier with the same unlabelled samples, or around a random forest of "
        "scikit-learn. MAPIE refuses splits where a class is in one part of the labels only. Methods are compared on "
        "the splits that all of them take.\n\n" + markdown_table(head, rows)
    )


def _split(result: Result) -> tuple[str, int, int]:
    return result["dataset"], result["n_labels"], result["repeat"]


def _promised(results: Iterable[Result], name: str) -> set[tuple[str, int, int]]:
    return {_split(one) for one in results if one["sets"][name] is not None}


def guarantees_rows(findings: Findings) -> list[Row]:
    plain = findings.of(PLAIN)
    sets = mean(plain, at("sets", COVERAGE, "held"))
    by_class = mean(plain, at("sets", f"{COVERAGE} per class", "mean of classes"))
    error = mean(plain, lambda one: share_wrong(one["answers"][MAX_ERROR][AVERAGE]))
    together = wrong_among_answered(plain, MAX_ERROR)
    answered = mean(plain, at("answers", MAX_ERROR, AVERAGE, "answered"))
    return [
        (
            f"`predict_set(coverage={COVERAGE})` holds the true class in at least 90 % of the sets",
            f"in {sets.percent()} %",
            sets.at_least(float(COVERAGE)),
        ),
        (
            f"`predict_set(coverage={COVERAGE}, per_class=True)`: of each class in at least 90 %",
            f"mean of the classes {by_class.percent()} %",
            by_class.at_least(float(COVERAGE)),
        ),
        (
            f"`max_error={MAX_ERROR}, confidence=None`: at most 5 % of the answered are wrong, mean over tables",
            f"{error.percent()} %, with {percent(answered.value)} % answered",
            error.at_most(float(MAX_ERROR)),
        ),
        (
            f"`max_error={MAX_ERROR}, confidence=None`: at most 5 % are wrong among the answers of all tables together",
            f"{together.percent()} %",
            together.at_most(float(MAX_ERROR)),
        ),
    ]
