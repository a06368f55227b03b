"""The section of docs/trust.md on false alarms of novelty detection."""

from __future__ import annotations

from collections.abc import Sequence

from sslart._utils.text import markdown_table
from trust.figures import Result, at, by_set, mean, percent, share
from trust.measures import FALSE_ALARMS
from trust.sections import ALARMS, Findings, Row, command
from trust.simulations import PLAIN


def novelty(findings: Findings) -> str:
    plain = findings.of(PLAIN)
    found = by_set(plain, at("alarms", ALARMS))
    each = [
        [name, *_each_level([one for one in plain if one["dataset"] == name])]
        for name in sorted(found, key=lambda name: -found[name])
    ]
    rows = []
    for level in FALSE_ALARMS:
        key = f"{level:g}"
        by_name = by_set(plain, at("alarms", key))
        worst = max(by_name, key=lambda name: by_name[name])
        many = share(plain, lambda one: one["alarms"][key] > 2 * level)
        cells = [mean(plain, at("alarms", key)).percent(), percent(many), f"{percent(by_name[worst])} ({worst})"]
        rows.append([f"{100 * level:g}", *cells])
    return (
        f"## False alarms of novelty\n\nBy {command('novelty')}. All test samples are of the same kind as the training "
        "samples, so that none is novel. *Found*: the share of them that `is_novel(X, false_alarms)` flags. The "
        "section on changes has how many it flags where samples are of another kind.\n\n"
        + markdown_table(["stated, %", "found, %", "more than twice as many, % of splits", "worst set, %"], rows)
        + "\n\n### Each set\n\n"
        + markdown_table(["set", *(f"stated {100 * level:g} %" for level in FALSE_ALARMS)], each)
    )


def _each_level(results: Sequence[Result]) -> list[str]:
    return [percent(mean(results, at("alarms", f"{level:g}")).value) for level in FALSE_ALARMS]


def novelty_rows(findings: Findings) -> list[Row]:
    found = mean(findings.of(PLAIN), at("alarms", ALARMS))
    level = float(ALARMS)
    return [
        (
            f"`is_novel(false_alarms={ALARMS})` flags at most {100 * level:g} % of the samples of a known kind",
            f"{found.percent()} %",
            found.at_most(level),
        )
    ]
