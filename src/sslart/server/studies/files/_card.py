"""Model card: purpose, training data and its labellers, quality, and caveats."""

from __future__ import annotations

import platform
from collections import Counter
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from sslart._mapping.summary import summarise
from sslart._utils.text import plural
from sslart.reporting._page import environment
from sslart.rules._model_rules import conditions_text, covers_text, label_text, right_text
from sslart.rules._rule_sets import ModelRuleSet
from sslart.server.models._published import Published
from sslart.server.models._stored_rows import Before
from sslart.server.store._labels import given_labels, history
from sslart.server.studies._columns import columns_of
from sslart.server.studies._trust import trust

ALL = 2**62
MAX_COLUMNS = 200
MAX_IMPORTANT = 12


def card_html(
    name: str, connection: Any, before: Before, published: Published, keep_rows: int, rules: ModelRuleSet
) -> str:
    """Return the card of a model as one HTML page without scripts, which loads nothing.

    Parameters
    ----------
    name : str
    connection : apsw.Connection
    before : Before
        The rows that count.
    published : Published
        A model that has a label.
    keep_rows : int
    rules : ModelRuleSet
    """
    published.check_has_label()
    view = published.view
    n_left_out = 0 if view.left_out is None else len(view.left_out.truth)
    nowhere = np.full(n_left_out, -1)
    columns = columns_of(connection, before, published.settings, keep_rows, published)
    page: str = (
        environment()
        .get_template("card.html.jinja")
        .render(
            name=name,
            made=datetime.now(UTC).date().isoformat(),
            versions=f"sslart {version('sslart')}, Python {platform.python_version()}",
            estimator=view.name,
            settings=published.settings,
            classes=published.classes,
            summary=summarise(view),
            columns=columns["columns"][:MAX_COLUMNS],
            n_columns=len(columns["columns"]),
            n_rows=columns["rows"],
            notes=columns["notes"],
            labelled=_labelled_by(connection, before),
            trust=trust(view, nowhere, nowhere),
            novelty=view.novelty.promise(),
            n_drifts=len(published.model.drift_),
            rules=_rules(rules),
            rules_from_boxes=rules.from_boxes,
            important=_important(published),
            abstains=view.may_abstain,
            parameters=published.settings.parameters,
            features=published.reader.names,
            sequence=published.sequence,
            digest=published.digest,
        )
    )
    return page


def _labelled_by(connection: Any, before: Before) -> list[tuple[str, int]]:
    """Return the number of current labels by each actor, by the history of labels."""
    in_force = given_labels(connection, before.model, before.sequence)
    last = {one["row"]: one["actor"] for one in history(connection, before.model, None, 0, ALL)}
    return Counter(last[row] for row, label in in_force.items() if label is not None).most_common()


def _rules(found: ModelRuleSet) -> list[dict[str, str]]:
    alone = len(found) == 1
    return [
        {
            "conditions": conditions_text(rule, alone=alone),
            "class": label_text(rule),
            "covers": covers_text(rule, found.n_samples, about=found.from_boxes),
            "right": right_text(rule.right) if rule.label is not None else plural(rule.right.total, "label"),
        }
        for rule in found
    ]


def _important(published: Published) -> list[dict[str, Any]]:
    if not published.view.uses_evidence:
        return []
    found: list[dict[str, Any]] = published.model.feature_importances().to_dict()["features"]
    return [one for one in found if one["share"] > 0][:MAX_IMPORTANT]
