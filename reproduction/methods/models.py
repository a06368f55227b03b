"""The models of the paper under its names, and additional models of sslart."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproduction.framework.protocol import Task, rows_of
from sslart import SSLART, WESSLART, AutoSSLART

MAPPINGS = {"OtM": "one-to-many", "OtO": "one-to-one"}
VOTINGS = {"WESSL-ART": "weighted", "VESSL-ART": "majority"}
N_MEMBERS = 7
HELD_OUT = ", 30 % held out"
VALIDATIONS: dict[str, str | float] = {"": "labelled", HELD_OUT: 0.3}
VOTES_DIFFER = "votes differ"
EVIDENCE, EVIDENCE_VIGILANCE = "AutoSSLART", 0.9
ABOUT_EVIDENCE = (
    " AutoSSLART is not in the paper, and no statement is about it: one network at ρ = 0.9 with evidence mapping, "
    "where all boxes contribute to a prediction, with settings chosen by leave-one-out on the labelled samples."
)
ABOUT_WEIGHTS = (
    " The paper measures class weights on a validation data set and does not state which (line 481). Here WESSL-ART "
    "measures them on the labelled samples, which its members have learnt. “30 % held out” is a second ensemble, which "
    "measures them on 30 % of the labelled samples that none of its members learns, so that its members have fewer "
    "labels; VESSL-ART is the majority vote of the same members in both."
)
ABOUT_RANGE = (
    " “(wo)” models learn the labelled samples alone, but scale features by the range of all training samples, as the "
    "models do that they are compared with."
)


def single(task: Task, vigilance: float, mapping: str = "OtM") -> SSLART:
    """Return SSL-ART, trained."""
    return SSLART(vigilance, mapping=MAPPINGS[mapping], random_state=task.seed).fit(task.X, task.y)


def without_unlabelled(task: Task, vigilance: float, mapping: str = "OtM") -> SSLART:
    """Return OtM-ART (wo), or OtO-ART (wo): trained on the labelled samples alone, on the scale of all samples."""
    rows = task.labelled
    model = SSLART(vigilance, mapping=MAPPINGS[mapping], bounds=bounds_of(task.X), random_state=task.seed)
    return model.fit(rows_of(task.X, rows), task.y[rows])


def bounds_of(X: Any) -> tuple[Any, Any]:
    """Return the lowest and highest value of each feature, NaN of a category."""
    if hasattr(X, "iloc"):
        X = np.column_stack([X[name] if X[name].dtype.kind in "biuf" else np.full(len(X), np.nan) for name in X])
    known = ~np.isnan(X).all(axis=0)
    sides = [np.where(known, found(np.where(known, X, 0.0), axis=0), np.nan) for found in (np.nanmin, np.nanmax)]
    return sides[0], sides[1]


def ensemble(
    task: Task,
    vigilance: float,
    mapping: str = "OtM",
    n_members: int = N_MEMBERS,
    weights: str = "",
    scaling: str = "range",
) -> WESSLART:
    """Return WESSL-ART, trained; its majority vote is VESSL-ART. `weights` is a key of `VALIDATIONS`."""
    model = WESSLART(
        n_members,
        validation=VALIDATIONS[weights],
        vigilance=vigilance,
        mapping=MAPPINGS[mapping],
        scaling=scaling,
        random_state=task.seed,
    )
    return model.fit(task.X, task.y)


def evidence(task: Task) -> AutoSSLART:
    """Return SSL-ART with evidence mapping, trained; the labelled samples choose its settings."""
    return AutoSSLART(EVIDENCE_VIGILANCE, random_state=task.seed).fit(task.X, task.y)


def votes(model: WESSLART, X: Any, search_depth: int | None = None, quorum: int = 1) -> dict[str, Any]:
    """Return the predictions of a trained ensemble by weighted and by majority vote."""
    model.search_depth, model.quorum = search_depth, quorum
    predictions = {}
    for name, voting in VOTINGS.items():
        model.voting = voting
        predictions[name] = model.predict(X)
    return predictions


def votes_differ(predictions: dict[str, Any]) -> dict[str, float]:
    """Return in how many percent of the predictions weighted and majority vote differ."""
    weighted, majority = predictions.values()
    predicted = np.array([label is not None for label in weighted])
    return {VOTES_DIFFER: 100.0 * float(np.mean((weighted != majority)[predicted])) if predicted.any() else 0.0}


def node_counts(model: Any) -> dict[str, float]:
    """Return the numbers of nodes after stages 1 and 2, and with a label; for an ensemble, the means.

    Of models that have no nodes there is nothing to return.
    """
    if not isinstance(model, SSLART | WESSLART):
        return {}
    members = model.estimators_ if isinstance(model, WESSLART) else [model]
    return {
        "nodes, stage 1": float(np.mean([member.n_nodes_stage1_ for member in members])),
        "nodes, stage 2": float(np.mean([member.n_nodes_ for member in members])),
        "nodes, labelled": float(np.mean([member.n_labelled_nodes_ for member in members])),
    }
