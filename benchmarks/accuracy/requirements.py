"""Requirements on sslart, with the results: the first table of docs/accuracy.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from accuracy.contenders import IMAGE_RIVALS, LARGE_FOREST, RIVALS, TABPFN
from accuracy.findings import OURS, Findings
from accuracy.sets import MANY_LABELS, OTHER_CHECKING, UCI
from sslart._utils.text import markdown_table

LEAD, LAG = 1.5, 0.5  # points ahead of the best rival, and behind a random forest with many labels
AT_LEAST = {"USPS": 93.0, "MNIST": 92.0}
MAX_TIMES_A_FOREST = 2.0
MAX_OF_BEFORE = 4 / 17
Line = tuple[str, str, str, bool | None]  # what, at least, found, and whether that reaches it; None: not measured

_NOT_MEASURED = "not measured"
_JUDGED: dict[str, Sequence[str]] = {"14 UCI sets": UCI, "16 KEEL sets, checking half": OTHER_CHECKING}


def section(findings: Findings, fits: dict[str, Any] | None) -> str:
    lines = [*accuracy(findings), *tabpfn(findings), *images(findings), *calibration(findings)]
    lines += [*many_labels(findings), *speed(fits)]
    verdicts = {True: "reached", False: "**not reached**", None: _NOT_MEASURED}
    rows = [[what, wanted, found, verdicts[reached]] for what, wanted, found, reached in lines]
    return "## Requirements\n\n" + markdown_table(["what", "required", "ours", ""], rows)


def accuracy(findings: Findings) -> Iterator[Line]:
    for title, members in _JUDGED.items():
        sets = _measured(findings, members)
        if not sets:
            yield title, f"mean: best rival + {LEAD:g}; best mean rank", "", None
            continue
        yield from _ahead(findings, title, sets, list(RIVALS))
        for other in findings.tabpfn_on(sets):
            yield from _ahead(findings, f"{title}, {other} among the rivals", sets, [*RIVALS, other])


def _ahead(findings: Findings, title: str, sets: Sequence[str], others: list[str]) -> Iterator[Line]:
    means = {method: float(findings.means(sets, method).mean()) for method in (OURS, *others)}
    best = max(others, key=means.__getitem__)
    ahead = means[OURS] - means[best]
    wanted = f"{means[best] + LEAD:.2f} %: {best}, {means[best]:.2f}, + {LEAD:g}"
    yield f"{title}: mean accuracy", wanted, f"{means[OURS]:.2f} % ({ahead:+.2f})", ahead >= LEAD
    ranks = findings.ranks(sets, [OURS, *others])
    best = min(others, key=ranks.__getitem__)
    yield (
        f"{title}: mean rank",
        f"at most {ranks[best]:.2f}: {best}",
        f"{ranks[OURS]:.2f}",
        ranks[OURS] <= ranks[best],
    )


def tabpfn(findings: Findings) -> Iterator[Line]:
    sets = findings.of_tabpfn if findings.has_ours else []
    title = f"{TABPFN} on the sets that it can take"
    if not sets:
        yield title, "ahead in mean and mean rank", "", None
        return
    ours, theirs = (float(findings.means(sets, method).mean()) for method in (OURS, TABPFN))
    yield f"{title}: mean accuracy", f"more than {theirs:.2f} %", f"{ours:.2f} % ({ours - theirs:+.2f})", ours > theirs
    ranks = findings.ranks(sets, [OURS, *RIVALS, TABPFN])
    wanted = f"less than {ranks[TABPFN]:.2f}"
    yield f"{title}: mean rank", wanted, f"{ranks[OURS]:.2f}", ranks[OURS] < ranks[TABPFN]


def images(findings: Findings) -> Iterator[Line]:
    spreading = [method for method in IMAGE_RIVALS if method.startswith("label spreading")]
    for name in ("USPS", "MNIST", "digits"):
        title = f"{name}, {'5 % of the labels' if name == 'digits' else '500 labels'}"
        if not _measured(findings, [name]):
            yield title, "label spreading's" if name == "digits" else f"{AT_LEAST[name]:g} %", "", None
            continue
        if name == "digits":
            best = max(spreading, key=lambda method: findings.mean(name, method))
            least, wanted = findings.mean(name, best), f"{findings.mean(name, best):.2f} %: {best}"
        else:
            least, wanted = AT_LEAST[name], f"{AT_LEAST[name]:g} %"
        ours = findings.mean(name, OURS)
        yield title, wanted, f"{ours:.2f} %", ours >= least


def calibration(findings: Findings) -> Iterator[Line]:
    groups = {title: (members, list[str]()) for title, members in _JUDGED.items()}
    if findings.has_tabpfn:
        groups[f"sets that {TABPFN} can take"] = findings.of_tabpfn, [TABPFN]
    for title, (members, others) in groups.items():
        sets = _measured(findings, members)
        if not sets:
            yield f"calibration error, {title}", "at most the best rival's", "", None
            continue
        others = [*(name for name, method in RIVALS.items() if method.probabilities), *others]
        means = {method: float(findings.means(sets, method, "calibration").mean()) for method in (OURS, *others)}
        best = min(others, key=means.__getitem__)
        wanted = f"at most {means[best]:.2f} %: {best}"
        yield f"calibration error, {title}", wanted, f"{means[OURS]:.2f} %", means[OURS] <= means[best]


def many_labels(findings: Findings) -> Iterator[Line]:
    for name in MANY_LABELS:
        if not _measured(findings, [name]):
            yield f"many labels, {name}", f"{LARGE_FOREST} - {LAG:g}", "", None
            continue
        ours, theirs = findings.mean(name, OURS), findings.mean(name, LARGE_FOREST)
        wanted = f"{theirs - LAG:.2f} %: {LARGE_FOREST}, {theirs:.2f}, - {LAG:g}"
        yield f"many labels, {name}", wanted, f"{ours:.2f} % ({ours - theirs:+.2f})", ours >= theirs - LAG


def speed(fits: dict[str, Any] | None) -> Iterator[Line]:
    if fits is None:
        yield "time of `fit`", f"at most {MAX_TIMES_A_FOREST:g} times a forest's", "", None
        return
    for row in fits["rows"]:
        wanted = f"at most {MAX_TIMES_A_FOREST:g} times a {LARGE_FOREST}"
        reached = row["times_the_forest"] <= MAX_TIMES_A_FOREST
        yield f"time of `fit`, {row['work']}", wanted, f"{row['times_the_forest']:.2f} times", reached
    largest = fits["rows"][-1]
    share = largest["share_of_before"]
    title, wanted = f"time of `fit`, {largest['work']}", f"at most {MAX_OF_BEFORE:.3f} of what it took before"
    yield title, wanted, "" if share is None else f"{share:.3f}", None if share is None else share <= MAX_OF_BEFORE


def _measured(findings: Findings, members: Sequence[str]) -> list[str]:
    """Return the sets, or none where ours or a set is missing: a part of them proves nothing."""
    sets = findings.among(members)
    return sets if findings.has_ours and len(sets) == len(members) else []
