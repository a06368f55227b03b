"""The paper's models, by the names it gives them, and ours that the paper does not have."""

from __future__ import annotations

from typing import Any

import numpy as np

from sslart import SSLART, WESSLART, AutoSSLART
from sslart.experiments._framework.protocol import Task, rows_of

MAPPINGS = {"OtM": "one-to-many", "OtO": "one-to-one"}
VOTINGS = {"WESSL-ART": "weighted", "VESSL-ART": "majority"}
N_MEMBERS = 7
EVIDENCE, EVIDENCE_VIGILANCE = "AutoSSLART", 0.9
ABOUT_EVIDENCE = (
    " AutoSSLART is not in the paper, and no statement is about it: one network at ρ = 0.9 with evidence mapping, "
    "where all boxes contribute to a prediction, with settings chosen by leave-one-out on the labelled samples."
)


def single(task: Task, vigilance: float, mapping: str = "OtM") -> SSLART:
    """Return SSL-ART, trained."""
    return SSLART(vigilance, mapping=MAPPINGS[mapping], random_state=task.seed).fit(task.X, task.y)


def without_unlabelled(task: Task, vigilance: float, mapping: str = "OtM") -> SSLART:
    """Return OtM-ART (wo), or OtO-ART (wo): trained on the labelled samples alone."""
    rows = task.labelled
    model = SSLART(vigilance, mapping=MAPPINGS[mapping], random_state=task.seed)
    return model.fit(rows_of(task.X, rows), task.y[rows])


def ensemble(task: Task, vigilance: float, mapping: str = "OtM", n_members: int = N_MEMBERS) -> WESSLART:
    """Return WESSL-ART, trained; its majority vote is VESSL-ART."""
    model = WESSLART(n_members, vigilance=vigilance, mapping=MAPPINGS[mapping], random_state=task.seed)
    return model.fit(task.X, task.y)


def evidence(task: Task) -> AutoSSLART:
    """Return SSL-ART with evidence mapping, trained; the labelled samples choose its settings."""
    return AutoSSLART(EVIDENCE_VIGILANCE, random_state=task.seed).fit(task.X, task.y)


def votes(model: WESSLART, X: Any, search_depth: int | None = None) -> dict[str, Any]:
    """Return what a trained ensemble predicts with its weighted and with its majority vote."""
    model.search_depth = search_depth
    predictions = {}
    for name, voting in VOTINGS.items():
        model.voting = voting
        predictions[name] = model.predict(X)
    return predictions


def node_counts(model: SSLART | WESSLART) -> dict[str, float]:
    """Return how many nodes there are after stage 1, after stage 2, and with a label; of an ensemble the mean."""
    members = model.estimators_ if isinstance(model, WESSLART) else [model]
    return {
        "nodes, stage 1": float(np.mean([member.n_nodes_stage1_ for member in members])),
        "nodes, stage 2": float(np.mean([member.n_nodes_ for member in members])),
        "nodes, labelled": float(np.mean([member.n_labelled_nodes_ for member in members])),
    }
