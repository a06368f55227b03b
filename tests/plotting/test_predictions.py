"""Reasons, evidence and votes of one prediction are drawn as the explanation has them."""

import numpy as np
import pytest
from drawn import ensemble_of, make, no_figure_is_left_open, rendered, wine_model  # noqa: F401

from sslart import SSLART, WESSLART, AutoSSLART, FuzzyARTMAP
from sslart.plotting import EvidenceDisplay, ReasonDisplay, VotesDisplay


def test_reasons_are_those_of_the_explanation():
    model, X, _ = wine_model()
    sample = X[:1] * 1.1
    why = model.explain(sample)[0]
    for x in (sample, sample.iloc[0]):
        display = ReasonDisplay.from_estimator(model, x, max_features=4)
        assert display.feature_names == tuple(X.columns)
        assert display.distances.sum() == pytest.approx(why.box.distance)
        assert display.opposing_distances.sum() == pytest.approx(why.opposing_box.distance)
        assert set(np.flatnonzero(display.distances)) == {
            column for column, match in enumerate(why.box.feature_matches) if match.inside is False
        }
        assert str(why.prediction) in display.ax_.get_title(loc="left")
    bars = [bar.get_width() for bar in display.ax_.patches]
    drawn = [*display.distances[display.shown], *display.opposing_distances[display.shown]]
    assert bars == pytest.approx(drawn)


def test_for_a_sample_in_both_boxes_their_widths_are_drawn():
    X = [[0.0, 0.0], [10.0, 10.0], [4.0, 4.0], [6.0, 5.0]]
    model = FuzzyARTMAP(vigilance=0.0).fit(X, ["wide", "wide", "narrow", "narrow"])
    display = rendered(ReasonDisplay.from_estimator(model, [5.0, 4.5]))
    assert display.inside_both
    assert not display.distances.any()
    title = display.ax_.get_title(loc="left")
    assert "Prediction: narrow" in title
    assert "inside both boxes: the narrower one comes first" in " ".join(title.split())
    assert [bar.get_width() for bar in display.ax_.patches] == pytest.approx([0.1, 0.2, 1.0, 1.0])
    assert display.ax_.get_xlabel().startswith("width of the box")
    off = rendered(ReasonDisplay.from_estimator(model, [8.0, 4.5]))
    assert not off.inside_both
    assert "1 of 2 features: the other lies inside both boxes" in off.ax_.get_title(loc="left")


def test_one_sample_may_be_a_list_or_a_row():
    X, y = make(2, 3)
    model = FuzzyARTMAP().fit(X, y)
    shown = [ReasonDisplay.from_estimator(model, x).distances for x in (X[0], X[:1], X[0].tolist(), X[:1].tolist())]
    assert all((one == shown[0]).all() for one in shown)


def test_a_reason_without_an_opposing_box_or_without_a_prediction_is_drawn():
    X, y = make(3, 1)
    display = rendered(ReasonDisplay.from_estimator(FuzzyARTMAP().fit(X, y), X[0]))
    assert display.opposing_distances is None
    X, y = make(3, 3)
    few = np.where(np.arange(len(y)) % 12 == 0, y, None)
    model = SSLART(vigilance=0.97, search_depth=1, random_state=0).fit(X, few)
    abstained = X[[label is None for label in model.predict(X)]]
    display = rendered(ReasonDisplay.from_estimator(model, abstained[0]))
    assert "abstains" in display.ax_.get_title(loc="left")


@pytest.mark.parametrize("max_contributions", [1, 4, 100])
def test_evidence_adds_up_to_the_margin(max_contributions):
    _, X, y = wine_model()
    model = AutoSSLART(random_state=0).fit(X, np.where(np.arange(len(y)) % 5 == 0, y, None))
    why = model.explain(X[:1])[0]
    display = rendered(EvidenceDisplay.from_estimator(model, X.iloc[0], max_contributions=max_contributions))
    *amounts, total = [amount for _, amount in display.bars]
    assert total == pytest.approx(why.evidence.margin)
    assert sum(amounts) == pytest.approx(total)
    named = [name for name, _ in display.bars if " = " in name or name.startswith("box ")]
    assert len(named) <= max_contributions
    assert [bar.get_width() for bar in display.ax_.patches] == pytest.approx([*amounts, total])
    assert f"Prediction: {why.prediction}" in display.ax_.get_title(loc="left")
    assert str(why.evidence.runner_up) in display.ax_.get_xlabel()


def test_evidence_is_drawn_for_one_class_for_ensembles_and_for_abstention():
    X, y = make(4, 3)
    for model in (
        AutoSSLART(random_state=0).fit(X, ["one"] * len(y)),
        WESSLART(3, mapping="evidence", random_state=0).fit(X, y),
        AutoSSLART(abstain_below=1.0, random_state=0).fit(X, y),
    ):
        display = rendered(EvidenceDisplay.from_estimator(model, X[0]))
    assert "abstains" in display.ax_.get_title(loc="left")
    with pytest.raises(ValueError, match="ReasonDisplay"):
        EvidenceDisplay.from_estimator(FuzzyARTMAP().fit(X, y), X[0])


def test_votes_are_those_of_the_explanation():
    model, X, _, _ = ensemble_of("12 classes")
    why = model.explain(X[:1])[0]
    display = VotesDisplay.from_explanation(why, max_classes=4)
    assert display.shown[0] == why.prediction
    assert len(display.shown) == 4
    assert "4 of 12 classes" in display.ax_.get_title(loc="left")
    drawn = sum(bar.get_width() for bar in display.ax_.patches)
    assert drawn == pytest.approx(sum(why.scores[label] for label in display.shown))


def test_votes_are_drawn_from_predictions_too():
    display = rendered(
        VotesDisplay.from_predictions(["b", None, "a", "b"], [0.5, 1.0, 0.7, 0.4], classes=["a", "b", "c"])
    )
    assert display.prediction == "b"
    assert display.scores == pytest.approx({"a": 0.7, "b": 0.9, "c": 0.0})
    assert display.shown == ("b", "a", "c")
    assert "4 members, 1 without a vote; 3 classes" in display.ax_.get_title(loc="left")
    assert VotesDisplay.from_predictions([1, -1, 0, 0]).prediction == 0
    assert VotesDisplay.from_predictions([2, 1]).prediction == 1, "the first class on ties"
    assert VotesDisplay.from_predictions([-1, -1]).prediction is None
    model, X, _, _ = ensemble_of("wine")
    why = model.explain(X[:1])[0]
    votes = VotesDisplay.from_explanation(why)
    again = VotesDisplay.from_predictions(
        [vote.vote for vote in why.votes], [vote.weight for vote in why.votes], classes=list(why.scores)
    )
    assert again.scores == pytest.approx(votes.scores)
    assert again.prediction == votes.prediction


def test_an_ensemble_that_abstains_is_drawn():
    X, y = make(3, 3)
    few = np.where(np.arange(len(y)) % 12 == 0, y, None)
    model = WESSLART(n_members=3, vigilance=0.97, search_depth=1, random_state=0).fit(X, few)
    abstained = X[[label is None for label in model.predict(X)]]
    display = rendered(VotesDisplay.from_estimator(model, abstained[0]))
    assert "abstain" in display.ax_.get_title(loc="left")
    assert "3 without a vote" in display.ax_.get_title(loc="left")
