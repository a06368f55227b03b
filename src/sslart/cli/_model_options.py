"""The model that the options of `sslart fit` describe, checked before any work is done, and a model in words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import typer

from sslart import SSLART, WESSLART, AutoSSLART
from sslart._mapping.model_view import view_of
from sslart._utils.validation import AUTO


class Mapping(StrEnum):
    """Mapping from boxes to classes."""

    evidence = "evidence"
    one_to_many = "one-to-many"
    one_to_one = "one-to-one"


class Voting(StrEnum):
    """Weighting of the votes of an ensemble."""

    weighted = "weighted"
    majority = "majority"


class Scaling(StrEnum):
    """Scaling of numeric features."""

    range = "range"
    rank = "rank"


HALF_LIFE_HELP = "in update and watch, a row counts half after so many further rows; auto: the labels choose"
HALF_LIFE_METAVAR = "auto|ROWS"
MAX_HALF_LIFE = 1e300
NO_LIMIT = "none"  # of boxes
MAX_NODES_HELP = "the most boxes: close ones are joined, and vigilance lowered, where more are needed"
LABELLED = "labelled"  # the class weights are measured on the labelled samples that the members learn

HOW_CLASSES_FOLLOW = {
    Mapping.evidence: "boxes, features and trees contribute to a prediction, weighted by a regression on the labels",
    Mapping.one_to_many: "a box may have labels of several classes and predicts the most frequent",
    Mapping.one_to_one: "a box has labels of one class only and predicts it",
}


def validation_share(text: str) -> str | float:
    """Return the value of --validation: “labelled”, or a share between 0 and 1."""
    if text == LABELLED:
        return text
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise typer.BadParameter(f"{text!r} is neither {LABELLED!r} nor a share between 0 and 1, such as 0.3")
    return share


def max_nodes_of(text: str) -> str | int:
    """Return the value of --max-nodes: “none” for no limit, or a number of boxes from 2 up."""
    if text == NO_LIMIT:
        return text
    if not (text.isascii() and text.isdigit() and 2 <= int(text) < 2**31):
        raise typer.BadParameter(f"{text!r} is neither {NO_LIMIT!r} nor a whole number of boxes from 2 up")
    return int(text)


def half_life_of(text: str) -> str | float:
    """Return the value of --half-life: “auto”, or a number of rows from 1 up."""
    if text == AUTO:
        return text
    try:
        rows = float(text)
    except ValueError:
        rows = 0.0
    if not 1 <= rows < MAX_HALF_LIFE:
        raise typer.BadParameter(f"{text!r} is neither {AUTO!r} nor a number of rows from 1 up, such as 10000")
    return rows


@dataclass(frozen=True)
class ModelOptions:
    """Options of `sslart fit` that set parameters of the model; None where one is not given."""

    vigilance: float
    seed: int
    mapping: Mapping | None = None
    choice: float | None = None
    learning_rate: float | None = None
    match_tracking: float | None = None
    members: int | None = None
    voting: Voting | None = None
    validation: str | float | None = None
    quorum: int | None = None
    scaling: Scaling | None = None
    half_life: str | float | None = None
    max_nodes: str | int | None = None

    def check(self) -> None:
        """Raise a ValueError with a remedy if options are incompatible."""
        for_ensembles = {"--voting": self.voting, "--validation": self.validation, "--quorum": self.quorum}
        given = [name for name, value in for_ensembles.items() if value is not None]
        if given and self.members is None:
            raise ValueError(
                f"{given[0]} is for an ensemble: add the number of its members, such as --members 7, or leave "
                f"{given[0]} out."
            )
        if self.match_tracking is not None and self.mapping is not Mapping.one_to_one:
            raise ValueError(
                "--match-tracking is for one-to-one mapping, which alone keeps a box to one class: add --mapping "
                "one-to-one, or leave --match-tracking out."
            )
        if self.quorum is not None and self.members is not None and self.quorum > self.members:
            raise ValueError(
                f"--quorum {self.quorum} is more than --members {self.members}, so that the ensemble would never "
                f"predict: give a quorum of at most {self.members}."
            )
        if self.validation is not None and self.voting is Voting.majority:
            raise ValueError(
                "--validation is for the class weights of a weighted vote, which a majority vote does not use: leave "
                "--validation out, or give --voting weighted."
            )
        if self.validation is not None and self.mapping is Mapping.evidence:
            raise ValueError(
                "--validation is not for evidence mapping, which measures class weights by leave-one-out: leave "
                "--validation out, or give --mapping one-to-many."
            )

        if self.half_life == AUTO and self.estimator().mapping != Mapping.evidence:
            raise ValueError(
                "--half-life auto is for evidence mapping, whose labels choose it: add --mapping evidence, or give a "
                "number of rows, such as --half-life 10000."
            )

    def estimator(self) -> Any:
        """Return the estimator, not fitted: AutoSSLART, or that of the paper where one of its options is given."""
        given = self._given("mapping", "choice", "learning_rate", "match_tracking")
        others = self._given("scaling", "half_life", "max_nodes")
        if self.max_nodes == NO_LIMIT:
            others["max_nodes"] = None
        if self.members is not None:
            given |= self._given("voting", "validation", "quorum")
            return WESSLART(self.members, vigilance=self.vigilance, random_state=self.seed, **given, **others)
        if given in ({}, {"mapping": Mapping.evidence}):
            return AutoSSLART(self.vigilance, random_state=self.seed, **others)
        return SSLART(self.vigilance, random_state=self.seed, **given, **others)

    def _given(self, *names: str) -> dict[str, Any]:
        """Return those options that are given, as the estimators take them."""
        values = {name: getattr(self, name) for name in names}
        return {
            name: str(value) if isinstance(value, StrEnum) else value
            for name, value in values.items()
            if value is not None
        }


def in_words(model: Any) -> dict[str, str]:
    """Return a description of a fitted model and its predictions, by topic."""
    view, mapping = view_of(model), Mapping(model.mapping)
    how = {"mapping": f"{mapping}: {HOW_CLASSES_FOLLOW[mapping]}"}
    if view.decision_costs is not None:
        how["decision"] = "the class of the lowest expected cost, by the costs in the settings"
    if not view.is_ensemble:
        chosen = "; leave-one-out chooses its settings" if isinstance(model, AutoSSLART) else ""
        return {"model": f"one SSL-ART model{chosen}", **how}
    members = f"{len(view.members)} SSL-ART models that learn the samples in different orders"
    if model.voting == Voting.majority:
        words = {"model": f"VESSL-ART: majority vote of {members}", **how}
    else:
        words = {
            "model": f"WESSL-ART: weighted vote of {members}",
            **how,
            "weight of a vote": f"recall of its class, measured {_measured_on(model, mapping)}",
        }
    if view.quorum > 1:
        words["quorum"] = f"predicts where at least {view.quorum} members vote"
    return words


def _measured_on(model: Any, mapping: Mapping) -> str:
    if mapping is Mapping.evidence:
        return "by leave-one-out"
    if model.validation == LABELLED:
        return "on the labelled samples, which the members have learnt"
    return f"on {100 * model.validation:g} % of the labelled samples, which no member learns"
