"""The section of docs/trust.md on `max_error` with certainty: how many models exceed their limit of error."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from sslart._utils.text import markdown_table
from trust.figures import Result, at, by_set, mean, percent
from trust.measures import AVERAGE, BY_CHANCE, CERTAIN, MAX_ERRORS, SENSES, answering, exceeds, exceeds_clearly
from trust.sections import Findings, Row, command
from trust.simulations import COPIES_LABELS, GROUPED, N_LABELS, PLAIN
from trust.thresholds import TUNING

LEVEL = "0.1"
ALLOWED = 1.0 - (SENSES[CERTAIN] or 0.0)  # share of the models that may exceed their limit


def _cells(results: Sequence[Result], level: str, sense: str) -> list[str]:
    own = answering(results, level, sense)
    above, clearly = (sum(test(one, level, sense) for one in own) for test in (exceeds, exceeds_clearly))
    shares = [f"{n} ({percent(n / len(own))} %)" if own else "" for n in (above, clearly)]
    return [f"{len(own):,}", percent(mean(results, at("answers", level, sense, "answered")).value), *shares]


def limits(findings: Findings) -> str:
    plain, grouped = findings.of(PLAIN), findings.of(GROUPED)
    rows = [(f"{level:g}", "all", plain) for level in MAX_ERRORS]
    rows += [(LEVEL, f"{n} labels", [one for one in plain if one["n_labels"] == n]) for n in N_LABELS]
    rows += [(LEVEL, f"{COPIES_LABELS} groups", grouped)]
    cells = [
        [level, words, f"{len(own):,}", *_cells(own, level, CERTAIN), *_cells(own, level, AVERAGE)]
        for level, words, own in rows
        if own
    ]
    head = ["`max_error`", "labels", "models"]
    for sense in ("with certainty", "on average"):
        head += [f"{sense}: models that answer", "answered, %", "above the limit", "clearly above"]
    return (
        f"## Limits of error for one model\n\nBy {command('limits')}. With `max_error` and `confidence=0.9`, at most "
        f"{percent(ALLOWED)} % of the models may have more wrong answers than the limit; with `confidence=None` the "
        "limit holds on average alone. *Models*: splits of "
        f"{len(by_set(plain, at('accuracy')))} sets. *Answered*: mean share of the test samples. *Above the limit*: "
        "models, and their share among those that answer, with a larger share of wrong answers on the test part than "
        f"the limit; *clearly*: larger than a model that just keeps it would show there in {percent(BY_CHANCE)} % of "
        "the cases. *Groups*: five readings of each labelled item, with `groups=`. Where the tests of thresholds begin "
        f"was chosen with {len(TUNING)} other tables, which judge nothing here: `python -m trust.thresholds`.\n\n"
        + markdown_table(head, cells)
    )


def limits_rows(findings: Findings) -> list[Row]:
    rows = []
    for name, words in ((PLAIN, ""), (GROUPED, ", five readings of each item, `groups=` the items")):
        own = answering(findings.of(name), LEVEL, CERTAIN)
        above = sum(exceeds(one, LEVEL, CERTAIN) for one in own)
        promise = f"`max_error={LEVEL}`: of the models that answer, at most {percent(ALLOWED)} % exceed it{words}"
        most = ALLOWED * len(own) + 2 * sqrt(ALLOWED * (1 - ALLOWED) * len(own))
        rows.append((promise, f"{above} of {len(own)}", above <= most))
    return rows
