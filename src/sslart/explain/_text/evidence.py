"""Text for evidence: the contribution of each feature against an average sample, and their sum."""

from __future__ import annotations

from typing import Any

from sslart._utils.text import html_table, printable, value_text
from sslart.explain._contributions import GRAPH, Contribution, Evidence

NAMED = 4  # features of one group that are named


def amount_text(value: float) -> str:
    """Return a contribution with its sign: above 0 is for the predicted class."""
    return f"{value:+.3f}"


def comparison_text(evidence: Evidence) -> str:
    """Return a text on the classes that the evidence compares."""
    against = "" if evidence.runner_up is None else f" against {printable(evidence.runner_up)}"
    return f"{printable(evidence.predicted)}{against}"


def evidence_headline(evidence: Evidence) -> str:
    """Return a headline that states the amounts and the meaning of their sign."""
    if evidence.runner_up is None:
        return (
            f"What each feature adds to the score of {printable(evidence.predicted)}, compared with an average sample"
        )
    return (
        "What each feature adds, compared with an average sample: + is towards "
        f"{printable(evidence.predicted)}, - is towards {printable(evidence.runner_up)}"
    )


def source_text(one: Contribution, named: int = NAMED) -> str:
    """Return the source of a contribution: a feature and its value, or several correlated features."""
    if one.kind == GRAPH:
        return "similar samples without a label (the graph of boxes)"
    pairs = [
        f"{printable(name)} {'is ' if isinstance(value, str | bool) else ''}{value_text(name, value)}"
        for name, value in zip(one.features, one.values, strict=True)
    ]
    if len(pairs) == 1:
        return pairs[0]
    if len(pairs) > named:
        return f"{', '.join(pairs[:named])} and {len(pairs) - named} more that go together"
    return f"{', '.join(pairs[:-1])} and {pairs[-1]}, which go together"


def rest_text(evidence: Evidence) -> str:
    """Return a text on the contributions omitted from the list: number of features, and the graph."""
    n = sum(len(one.features) for one in evidence.not_shown)
    graph = any(one.kind == GRAPH for one in evidence.not_shown)
    parts = [f"all other features ({n})"] if n else []
    return " and ".join([*parts, *(["the graph of boxes"] if graph else [])])


def contribution_rows(evidence: Evidence) -> list[tuple[str, str]]:
    """Return amount and source of all that adds up to the margin: the base, the largest contributions, and the rest."""
    rows = [(amount_text(evidence.base), "an average sample, to start from")]
    rows += [(amount_text(one.amount), source_text(one)) for one in evidence.shown]
    if evidence.not_shown:
        rows.append((amount_text(evidence.rest), rest_text(evidence)))
    return rows


def sum_text(evidence: Evidence) -> str:
    """Return the sum, with its meaning as a probability."""
    runner_up = (
        ""
        if evidence.runner_up is None or evidence.runner_up_probability is None
        else f" and {evidence.runner_up_probability:.2f} for {printable(evidence.runner_up)}"
    )
    return (
        f"Sum: {amount_text(evidence.margin)} for {comparison_text(evidence)}. As a probability, this is "
        f"{evidence.probability:.2f} for {printable(evidence.predicted)}{runner_up}."
    )


def evidence_lines(evidence: Evidence) -> list[str]:
    """Return the evidence in plain words."""
    rows = [f"  {amount} {source}" for amount, source in contribution_rows(evidence)]
    return [f"{evidence_headline(evidence)}:", *rows, sum_text(evidence)]


def evidence_html(evidence: Evidence) -> str:
    """Return the evidence as a small table, every name and value escaped."""
    rows = [*contribution_rows(evidence), (amount_text(evidence.margin), f"sum, for {comparison_text(evidence)}")]
    return html_table([], rows, caption=evidence_headline(evidence), css_class="sslart-evidence")


def evidence_dict(evidence: Evidence) -> dict[str, Any]:
    """Return the evidence as values that JSON knows."""
    return {
        "predicted": evidence.predicted,
        "runner_up": evidence.runner_up,
        "base": evidence.base,
        "margin": evidence.margin,
        "probability": evidence.probability,
        "runner_up_probability": evidence.runner_up_probability,
        "contributions": [
            {
                "kind": one.kind,
                "amount": one.amount,
                "features": [
                    {"feature": name, "value": value, "amount": amount}
                    for name, value, amount in zip(one.features, one.values, one.amounts, strict=True)
                ],
                "shown": position < len(evidence.shown),
            }
            for position, one in enumerate(evidence.contributions)
        ],
        "rest": evidence.rest,
    }
