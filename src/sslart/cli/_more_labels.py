"""Expected benefit of more labels, as the commands print it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from sslart._mapping.model_view import view_of
from sslart.active import learning_curve

WantedAccuracy = Annotated[
    float | None,
    typer.Option(
        "--accuracy",
        min=0,
        max=100,
        metavar="PERCENT",
        help="the accuracy that you want: prints how many more labels it needs",
    ),
]
TIMES = (2, 4)  # as many labels


def check_wanted(wanted: float | None) -> None:
    """Raise a ValueError where the accuracy wanted is zero."""
    if wanted == 0:
        raise ValueError("--accuracy is in percent, above 0: give a number such as 95.")


def more_labels(model: Any, wanted: float | None) -> dict[str, Any] | None:
    """Return the expected benefit of more labels; None for a model that stores no labels.

    `wanted` is an accuracy in percent, or None.
    """
    if view_of(model).left_out is None:
        return None
    curve = learning_curve(model)
    found: dict[str, Any] = {
        "labels": curve.n_now,
        "expected": [],
        "needed": None,
        "not_estimated": curve.why_not or None,
    }
    sentences = [str(curve)]
    if not curve.why_not:
        for n in (times * curve.n_now for times in TIMES):
            expected = curve.at(n)
            ends = {"value": expected.value, "low": expected.low, "high": expected.high}
            found["expected"].append({"labels": n, **ends})
        if wanted is not None:
            needed = curve.labels_for(wanted / 100)
            found["needed"] = asdict(needed)
            sentences.append(str(needed))
    return {**found, "sentences": sentences}
