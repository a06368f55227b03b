"""The section of docs/trust.md on false alarms of novelty."""

from __future__ import annotations

import numpy as np

from sslart._utils.tables import markdown_table
from trust.figures import at, by_set, mean, percent, share
from trust.measures import FALSE_ALARMS
from trust.sections import Findings, Row, command
from trust.simulations import PLAIN

LEVEL = f"{FALSE_ALARMS:g}"
MARGIN = 0.05


def novelty(findings: Findings) -> str:
    plain = findings.of(PLAIN)
    found = by_set(plain, at("alarms", LEVEL))
    names = sorted(found, key=lambda name: -found[name])
    rows = [[name, percent(found[name])] for name in names]
    many = share(plain, lambda one: one["alarms"][LEVEL] > FALSE_ALARMS + MARGIN)
    return (
        f"## False alarms of novelty\n\nBy {command('novelty')}. All test samples are of the same kind as the training "
        f"samples. At most {100 * FALSE_ALARMS:g} % of them may have a `score_samples` below `novelty_threshold_`. The "
        f"mean over the sets is {mean(plain, at('alarms', LEVEL)).percent()} %, the median "
        f"{percent(float(np.median(list(found.values()))))} %; in {percent(many)} % of the splits it is more than "
        f"{100 * (FALSE_ALARMS + MARGIN):g} %. The next section has how many samples are taken for novel where they "
        "are of another kind.\n\n" + markdown_table(["set", "found, %"], rows)
    )


def novelty_rows(findings: Findings) -> list[Row]:
    found = mean(findings.of(PLAIN), at("alarms", LEVEL))
    return [
        (
            f"at most {100 * FALSE_ALARMS:g} % of samples of a known kind are below `novelty_threshold_`",
            f"{found.percent()} %",
            found.at_most(FALSE_ALARMS),
        )
    ]
