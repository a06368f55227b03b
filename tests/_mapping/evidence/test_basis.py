"""Families of evidence: what the dual predicts of the labelled samples is what the readout says of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sslart._mapping.evidence.builder import Said

from sslart._mapping.evidence.basis import BOXES_IN_SUBSPACE, BOXES_IN_WEB, N_SUBSPACES, Boxes, Ground
from sslart._mapping.evidence.readout import NEGLIGIBLE, Readout
from sslart._mapping.evidence.selection import Lesson
from sslart._mapping.evidence.settings import Key

TOLERANCE = 1e-4  # relative to the largest score: boxes are heard in float32


def going() -> np.ndarray:
    return np.zeros(1, dtype=np.uint8)


def lesson_of(
    seed: int,
    *,
    n_labels: int = 20,
    n_boxes: int = 40,
    n_features: int = 5,
    n_classes: int = 3,
    missing: float = 0.0,
    indicators: int = 0,
) -> Lesson:
    """Labelled samples anywhere in the unit cube among small boxes, some of whose sides no sample has reached."""
    random = np.random.RandomState(seed)
    labelled = random.rand(n_labels, n_features)
    lower = random.rand(n_boxes, n_features)
    upper = np.minimum(lower + 0.2 * random.rand(n_boxes, n_features), 1.0)
    labelled[:, :indicators] = labelled[:, :indicators] > 0.5
    lower[:, :indicators] = upper[:, :indicators] = lower[:, :indicators] > 0.5
    labelled[random.rand(n_labels, n_features) < missing] = np.nan
    unreached = random.rand(n_boxes, n_features) < missing
    lower[unreached], upper[unreached] = 1.0, 0.0
    places = np.concatenate([np.arange(n_classes), random.randint(n_classes, size=n_labels)])[:n_labels]
    boxes = Boxes(lower, upper, random.randint(1, 9, n_boxes))
    return Lesson(labelled, places, n_classes, boxes, np.arange(n_features) < indicators, seed)


def one_of_each(ground: Ground) -> list[Key]:
    """Ways to speak of every family, on every scale, with more than one width to a chorus."""
    keys = [
        *(Key("box", share, width) for share in (0.0, 0.5, 1.0) for width in (1.0, 0.25)),
        Key("relevant", 0.5, 0.25),
        *(Key("feature", share, 0.5) for share in (0.0, 0.5)),
        *(Key("linear", share, spread) for share in (0.0, 0.5) for spread in (0.0, 1.0)),
        *(Key("subspace", 0.5, width) for width in (0.5, 0.25)),
        *(Key("carried", 0.0, reach) for reach in (0.9, 0.99)),
    ]
    return [key for key in keys if ground.can(key)]


def said_by(ground: Ground, spoken: list[tuple[Key, np.ndarray]]) -> Readout:
    """The readout of some ways to speak, each with coefficients of the labelled samples."""
    n_classes = spoken[0][1].shape[1]
    said = Said(ground, n_classes)
    for key, coefficients in spoken:
        block = ground.block(key)
        said.add(block, block.weights(coefficients))
    return said.readout(np.eye(n_classes)[ground.places], ground.places)


EVERY = one_of_each(lesson_of(0).ground())


@pytest.mark.parametrize("key", EVERY, ids=str)
@settings(max_examples=5)
@given(
    seed=st.integers(0, 99),
    missing=st.sampled_from([0.0, 0.3]),
    n_features=st.sampled_from([1, 3, 6]),
    indicators=st.sampled_from([0, 1]),
    n_boxes=st.sampled_from([4, 17, 40]),
)
def test_the_readout_says_of_labelled_samples_what_the_dual_predicts(
    key: Key, seed: int, missing: float, n_features: int, indicators: int, n_boxes: int
) -> None:
    lesson = lesson_of(seed, missing=missing, n_features=n_features, indicators=indicators, n_boxes=n_boxes)
    ground = lesson.ground()
    if not ground.can(key):
        return
    coefficients = 30 * np.random.RandomState(seed).normal(size=(len(lesson.places), 3))
    expected = ground.block(key).gram @ coefficients
    found = said_by(ground, [(key, coefficients)]).scores(lesson.labelled)
    n_parts = N_SUBSPACES if key.family == "subspace" else 1  # each is pruned by itself
    atol = TOLERANCE * np.abs(expected).max() + n_parts * NEGLIGIBLE
    np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


def test_families_speak_together_as_the_sum_of_what_they_say_alone() -> None:
    lesson = lesson_of(1)
    ground = lesson.ground()
    random = np.random.RandomState(0)
    spoken = [(key, 30 * random.normal(size=(len(lesson.places), 3))) for key in EVERY]
    expected = sum(ground.block(key).gram @ coefficients for key, coefficients in spoken)
    found = said_by(ground, spoken).scores(lesson.labelled)
    atol = TOLERANCE * np.abs(expected).max() + (4 + N_SUBSPACES) * NEGLIGIBLE
    np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


def test_widths_of_one_chorus_and_lines_of_one_scale_are_joined() -> None:
    lesson = lesson_of(1)
    spoken = [(key, np.ones((len(lesson.places), 3))) for key in EVERY]
    readout = said_by(lesson.ground(), spoken)
    assert len([part for part in readout.parts if len(part.chorus.features) == 5]) == 4  # box on 3 scales, relevant
    assert [len(part.weights) for part in readout.parts if part.chorus.share == 0.0] == [3]  # 1, 1/2 (silent), 1/4
    assert len(readout.lines) == len(readout.curves) == 2
    assert len(readout.webs) == 1


@pytest.mark.parametrize("key", EVERY, ids=str)
def test_gram_has_a_mean_diagonal_of_one_and_no_negative_direction(key: Key) -> None:
    gram = lesson_of(2, missing=0.1).ground().block(key).gram
    assert np.diag(gram).mean() == pytest.approx(1.0)
    np.testing.assert_allclose(gram, gram.T, atol=1e-12)
    assert np.linalg.eigvalsh(gram).min() > -1e-9


@pytest.mark.parametrize("key", EVERY, ids=str)
def test_samples_that_say_nothing_give_no_division_by_zero(key: Key) -> None:
    lesson = lesson_of(0)
    same = Lesson(np.full((4, 5), 0.5), np.array([0, 1, 2, 0]), 3, lesson.boxes, lesson.indicator, 0)
    block = same.ground().block(key)
    assert np.isfinite(block.gram).all()
    assert np.isfinite(block.weights(np.ones((4, 3)))).all()


def test_spread_is_read_as_it_was_left() -> None:
    lesson = lesson_of(3)
    ground = lesson.ground()
    key = Key("spread", 0.0, 0.9)
    spread, strengths = ground.spread(key, lesson.targets)
    np.testing.assert_allclose(strengths.sum(axis=1), 1.0)
    said = Said(ground, 3)
    said.add_spread(key, spread.shares())
    found = said.readout(lesson.targets, lesson.places).scores(lesson.labelled)
    np.testing.assert_allclose(found, strengths @ spread.shares(), atol=1e-12)


def test_relevant_features_count_more() -> None:
    random = np.random.RandomState(0)
    places = random.randint(2, size=60)
    labelled = random.rand(60, 4)
    labelled[:, 2] = 0.1 * labelled[:, 2] + 0.8 * places
    lesson = lesson_of(0, n_features=4)
    ground = Lesson(labelled, places, 2, lesson.boxes, lesson.indicator[:4], 0).ground()
    factors = ground.block(Key("relevant", 0.0, 0.25)).choruses[0].factors
    assert factors.argmax() == 2
    assert factors.mean() == pytest.approx(1.0)
    assert (factors > 0).all()


def test_subspaces_are_of_few_features_and_boxes() -> None:
    lesson = lesson_of(0, n_boxes=BOXES_IN_SUBSPACE + 30, n_features=16)
    choruses = lesson.ground().block(Key("subspace", 0.5, 0.25)).choruses
    assert len(choruses) == N_SUBSPACES
    for chorus in choruses:
        assert 2 <= len(chorus.features) <= 6
        assert len(set(chorus.features)) == len(chorus.features)
        assert chorus.boxes.tolist() == list(range(BOXES_IN_SUBSPACE))


def test_the_seed_draws_the_subspaces() -> None:
    drawn = [[tuple(one) for one in lesson_of(seed, n_features=9).ground().subspaces] for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_graph_needs_boxes_and_a_subspace_features() -> None:
    few = lesson_of(0, n_boxes=3, n_features=2).ground()
    assert [few.can(Key(family, 0.0, 0.5)) for family in ("spread", "carried", "subspace", "box")] == [False] * 3 + [
        True
    ]
    assert all(lesson_of(0).ground().can(Key(family, 0.0, 0.5)) for family in ("spread", "carried", "subspace"))


def test_a_graph_of_many_boxes_is_that_of_the_first(monkeypatch: Any) -> None:
    import sslart._mapping.evidence.basis

    assert BOXES_IN_WEB > 40
    monkeypatch.setattr(sslart._mapping.evidence.basis, "BOXES_IN_WEB", 25)
    assert len(lesson_of(0).ground().web(0.0).centres) == 25
