"""Evidence: labels choose who speaks, by leave-one-out, and what follows does not depend on how it is worked out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sslart._mapping.evidence.builder import calibration
from test_basis import lesson_of

import sslart._mapping.evidence.selection
from sslart._mapping.evidence.basis import Boxes
from sslart._mapping.evidence.readout import NEGLIGIBLE
from sslart._mapping.evidence.selection import (
    MAX_CANDIDATES,
    RIDGES,
    SHARES,
    Lesson,
    candidates,
    choose,
    learn,
    learn_all,
)
from sslart._mapping.evidence.settings import FAMILIES, MEMBERS, Candidate, Key, Wishes

LEARNABLE = Wishes(("box", "linear", "feature"))


def taught(seed: int = 0, n_labels: int = 40, n_boxes: int = 60, n_features: int = 4, n_classes: int = 3) -> Lesson:
    """A lesson in which the first feature tells the class, but for some noise; boxes are points."""
    random = np.random.RandomState(seed)
    labelled, points = random.rand(n_labels, n_features), random.rand(n_boxes, n_features)
    noisy = np.clip(labelled[:, 0] + 0.1 * random.normal(size=n_labels), 0, 0.999)
    boxes = Boxes(points, points, np.ones(n_boxes, dtype=np.int64))
    return Lesson(labelled, (noisy * n_classes).astype(np.int64), n_classes, boxes, np.zeros(n_features, bool), seed)


def families_of(chosen: tuple[Candidate, ...]) -> set[str]:
    return {MEMBERS.get(key.family, key.family) for one in chosen for key in one.keys}


@pytest.mark.parametrize("family", FAMILIES)
def test_only_the_families_asked_for_speak(family: str) -> None:
    assert families_of(choose(taught(), Wishes((family,))).chosen) == {family}


def test_what_the_user_fixes_is_fixed() -> None:
    wishes = Wishes(width=0.37, ridge=0.05, share=0.2)
    keys = {key for one in candidates(taught().ground(), wishes) for key in one}
    assert {MEMBERS.get(key.family, key.family) for key in keys} == set(FAMILIES)
    assert {key.share for key in keys} == {0.2}
    assert {key.width for key in keys if key.family in ("box", "relevant", "feature", "subspace")} == {0.37}
    learnt = choose(taught(), wishes)
    assert {one.ridge for one in learnt.chosen} <= {0.05, 0.0}  # what spreads over the graph has no ridge
    assert {one.ridge for one in choose(taught(), Wishes(("box",), ridge=0.05)).chosen} == {0.05}
    one = choose(taught(), Wishes(("box",), 0.37, 0.05, 0.2)).chosen
    assert one == (Candidate((Key("box", 0.2, 0.37),), 0.05, 1.0),)


def test_where_nothing_is_fixed_all_is_tried() -> None:
    tried = candidates(taught().ground(), Wishes())
    assert {key.share for keys in tried for key in keys} == set(SHARES)
    assert len(tried) == len(set(tried))
    assert {len(keys) for keys in tried} == {1, 2}


def test_choice_follows_the_labels() -> None:
    random = np.random.RandomState(0)
    labelled = random.rand(80, 4)
    boxes = Boxes(random.rand(60, 4), np.zeros((60, 4)), np.ones(60, dtype=np.int64))
    boxes = replace(boxes, upper=boxes.lower)
    straight = Lesson(labelled, (labelled.sum(axis=1) > 2).astype(np.int64), 2, boxes, np.zeros(4, bool), 0)
    bent = replace(straight, places=(np.abs(labelled[:, 0] - 0.5) > 0.25).astype(np.int64))
    wishes = Wishes(("linear", "feature"))
    assert choose(straight, wishes).chosen[0].keys[0].family == "linear"
    assert choose(bent, wishes).chosen[0].keys[0].family == "feature"


def test_weights_of_the_chosen_sum_to_one_and_fall() -> None:
    learnt = choose(taught(), Wishes())
    weights = [one.weight for one in learnt.chosen]
    assert sum(weights) == pytest.approx(1.0)
    assert weights == sorted(weights, reverse=True)
    assert len(weights) <= MAX_CANDIDATES
    assert {one.ridge for one in learnt.chosen} <= {0.0, *RIDGES}


def test_learning_with_what_was_chosen_is_what_choosing_learns() -> None:
    lesson = taught()
    samples = np.random.RandomState(1).rand(30, 4)
    chosen = choose(lesson, Wishes())
    again = learn(lesson, chosen.chosen)
    np.testing.assert_allclose(again.readout.scores(samples), chosen.readout.scores(samples), atol=1e-9)
    np.testing.assert_allclose(again.left_out, chosen.left_out, atol=1e-9)
    assert again.chosen == chosen.chosen


@settings(max_examples=8)
@given(seed=st.integers(0, 99))
def test_the_order_of_labels_does_not_matter(seed: int) -> None:
    lesson = taught(seed, 24)
    order = np.random.RandomState(seed).permutation(24)
    other = replace(lesson, labelled=lesson.labelled[order], places=lesson.places[order])
    samples = np.random.RandomState(1).rand(30, 4)
    one, two = choose(lesson, LEARNABLE), choose(other, LEARNABLE)
    # what is pruned may differ by a rounding
    np.testing.assert_allclose(one.readout.scores(samples), two.readout.scores(samples), rtol=0, atol=3 * NEGLIGIBLE)
    np.testing.assert_allclose(one.left_out[order], two.left_out, rtol=0, atol=1e-6)


def test_left_out_is_what_the_others_alone_predict() -> None:
    lesson = taught(n_labels=15)
    chosen = (
        Candidate((Key("box", 0.5, 0.25), Key("linear", 0.0, 0.0)), 0.1, 0.75),
        Candidate((Key("spread", 0.0, 0.2),), 0.0, 0.25),
    )
    learnt = learn(lesson, chosen)
    # blocks are scaled by what all labels hear; what spreads over the graph has its own test
    ground = lesson.ground()
    gram = sum(ground.block(key).gram for key in chosen[0].keys) / 2 + 1.0
    spread, strengths = ground.spread(chosen[1].keys[0], lesson.targets)
    for one in range(15):
        others = np.arange(15) != one
        system = gram[np.ix_(others, others)] + 0.1 * np.eye(14)
        alone = gram[one, others] @ np.linalg.solve(system, lesson.targets[others])
        expected = 0.75 * alone + 0.25 * spread.left_out(strengths)[one]
        np.testing.assert_allclose(learnt.left_out[one], expected, atol=1e-8)


def test_scores_of_labelled_samples_are_those_of_the_dual() -> None:
    lesson = taught()
    keys, ridge = (Key("box", 0.5, 0.25), Key("linear", 0.5, 1.0)), 0.1
    ground = lesson.ground()
    gram = sum(ground.block(key).gram for key in keys) / 2 + 1.0
    expected = gram @ np.linalg.solve(gram + ridge * np.eye(len(gram)), lesson.targets)
    found = learn(lesson, [Candidate(keys, ridge)]).readout.scores(lesson.labelled)
    np.testing.assert_allclose(found, expected, rtol=0, atol=NEGLIGIBLE + 1e-4)


def test_noise_is_doubted_and_order_believed() -> None:
    lesson = taught(n_labels=100)
    noise = replace(lesson, places=np.random.RandomState(0).randint(3, size=100))
    samples = np.random.RandomState(1).rand(50, 4)

    def confidence(lesson: Lesson) -> float:
        readout = choose(lesson, Wishes(("box", "linear"))).readout
        return float(readout.probabilities(readout.scores(samples)).max(axis=1).mean())

    assert confidence(noise) < 0.55 < 0.7 < confidence(lesson)


@given(seed=st.integers(0, 99), n=st.integers(1, 20), n_classes=st.integers(1, 5))
def test_calibration_is_finite_and_doubts_more_with_fewer_labels(seed: int, n: int, n_classes: int) -> None:
    random = np.random.RandomState(seed)
    sharpness, doubt = calibration(random.normal(size=(n, n_classes)), random.randint(n_classes, size=n))
    assert np.exp(-1) <= sharpness <= np.exp(4)
    assert doubt == 1 / (n + 2)


EDGES: dict[str, Any] = {
    "one label": lambda: lesson_of(0, n_labels=1, n_classes=1),
    "one label of two classes": lambda: lesson_of(0, n_labels=1, n_classes=2),
    "two labels": lambda: lesson_of(0, n_labels=2, n_classes=2),
    "one class": lambda: lesson_of(0, n_classes=1),
    "a class without a label": lambda: replace(lesson_of(0, n_classes=2), n_classes=3),
    "one box": lambda: lesson_of(0, n_boxes=1),
    "two boxes": lambda: lesson_of(0, n_boxes=2),
    "four boxes": lambda: lesson_of(0, n_boxes=4),
    "one feature": lambda: lesson_of(0, n_features=1),
    "missing values": lambda: lesson_of(0, missing=0.4),
    "indicators": lambda: lesson_of(0, indicators=5),
    "indicators and missing values": lambda: lesson_of(0, indicators=3, missing=0.3),
    "hundred classes": lambda: lesson_of(0, n_labels=150, n_classes=100),
    "constant features": lambda: constant(lesson_of(0)),
    "a feature missing everywhere": lambda: unknown(lesson_of(0)),
    "one sample many times": lambda: repeated(lesson_of(0)),
    "boxes that are one": lambda: same_boxes(lesson_of(0)),
}


def constant(lesson: Lesson) -> Lesson:
    sides = np.full(lesson.boxes.lower.shape, 0.0)
    return replace(
        lesson, labelled=np.zeros_like(lesson.labelled), boxes=replace(lesson.boxes, lower=sides, upper=sides)
    )


def unknown(lesson: Lesson) -> Lesson:
    for array, value in ((lesson.labelled, np.nan), (lesson.boxes.lower, 1.0), (lesson.boxes.upper, 0.0)):
        array[:, 1] = value
    return lesson


def repeated(lesson: Lesson) -> Lesson:
    lesson.labelled[:] = lesson.labelled[0]
    return lesson


def same_boxes(lesson: Lesson) -> Lesson:
    lesson.boxes.lower[:], lesson.boxes.upper[:] = 0.3, 0.4
    return lesson


@pytest.mark.parametrize("edge", EDGES)
def test_lessons_of_every_kind_can_be_learnt(edge: str) -> None:
    lesson = EDGES[edge]()
    learnt = choose(lesson, Wishes())
    random = np.random.RandomState(0)
    samples = np.vstack([lesson.labelled, random.rand(9, lesson.labelled.shape[1])])
    probabilities = learnt.readout.probabilities(learnt.readout.scores(samples))
    assert probabilities.shape == (len(samples), lesson.n_classes)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert np.isfinite(learnt.left_out).all()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("edge", ["two boxes", "one feature"])
def test_a_family_that_cannot_speak_gives_its_place_to_the_boxes(family: str, edge: str) -> None:
    learnt = choose(EDGES[edge](), Wishes((family,)))
    silent = (family, edge) in {("propagated", "two boxes"), ("subspace", "one feature")}
    assert families_of(learnt.chosen) == {"box" if silent else family}


def test_a_sample_given_twice_counts_twice() -> None:
    lesson = taught(n_labels=20)
    chosen = (Candidate((Key("box", 0.5, 0.25),), 0.1),)
    place = lesson.places[0]
    other = (place + 1) % 3
    samples = lesson.labelled[:1]

    def with_copies(n: int) -> float:
        copies = replace(
            lesson,
            labelled=np.vstack([lesson.labelled, np.repeat(samples, n, axis=0)]),
            places=np.append(lesson.places, np.full(n, other)),
        )
        return float(learn(copies, chosen).readout.scores(samples)[0, other])

    assert with_copies(0) < with_copies(1) < with_copies(5)


CANDIDATES = {
    "box": ((Key("box", 0.5, 0.25),), 0.1),
    "box of ranks": ((Key("box", 1.0, 0.5),), 1e-3),
    "box and linear": ((Key("box", 0.5, 0.25), Key("linear", 0.5, 1.0)), 0.03),
    "feature": ((Key("feature", 0.5, 0.5),), 0.1),
    "subspace": ((Key("subspace", 0.5, 0.25),), 0.1),
    "spread": ((Key("spread", 0.0, 0.9),), 0.0),
}


@pytest.mark.parametrize("name", CANDIDATES)
def test_many_labels_learnt_in_the_primal_say_what_the_dual_says(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lesson = taught(n_labels=300, n_boxes=30)
    samples = np.random.RandomState(1).rand(50, 4)
    chosen = [Candidate(*CANDIDATES[name])]
    dual = learn(lesson, chosen).readout.scores(samples)
    monkeypatch.setattr(sslart._mapping.evidence.selection, "MAX_LABELS", 100)
    learnt = learn(lesson, chosen)
    assert len(learnt.places) == 100
    n_parts = 24 if name == "subspace" else 1
    # the same weights but for rounding, and so the same scores but for a box at the edge of being pruned
    np.testing.assert_allclose(learnt.readout.scores(samples), dual, rtol=0, atol=1e-4 + n_parts * NEGLIGIBLE)


def test_two_thousand_five_hundred_labels_take_the_primal(monkeypatch: pytest.MonkeyPatch) -> None:
    lesson = taught(n_labels=2500, n_boxes=30)
    wishes = Wishes(("box",), 0.25, 0.1, 0.5)
    samples = np.random.RandomState(1).rand(50, 4)
    primal = learn_all(lesson, choose(lesson, wishes))
    assert len(primal.places) == sslart._mapping.evidence.selection.MAX_LABELS
    monkeypatch.setattr(sslart._mapping.evidence.selection, "MAX_LABELS", 3000)
    dual = choose(lesson, wishes)
    assert primal.chosen == dual.chosen
    found, expected = primal.readout.scores(samples), dual.readout.scores(samples)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 + NEGLIGIBLE)
    assert (found.argmax(axis=1) == expected.argmax(axis=1)).mean() > 0.95


def test_what_is_carried_over_the_graph_gives_its_place_when_labels_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sslart._mapping.evidence.selection, "MAX_LABELS", 50)
    learnt = learn(taught(n_labels=120), [Candidate((Key("carried", 0.0, 0.9),), 0.1)])
    assert len(learnt.readout.parts) == 1
    assert np.isfinite(learnt.readout.scores(np.random.RandomState(0).rand(9, 4))).all()


def test_what_a_sample_of_the_labels_chose_is_learnt_from_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    lesson = taught(n_labels=120)
    few = choose(lesson, Wishes(("box",)))
    assert learn_all(lesson, few) is few
    monkeypatch.setattr(sslart._mapping.evidence.selection, "MAX_LABELS", 50)
    few = choose(lesson, Wishes(("box",)))
    every, samples = learn_all(lesson, few), np.random.RandomState(0).rand(9, 4)
    assert every.chosen == few.chosen
    np.testing.assert_array_equal(every.readout.scores(samples), learn(lesson, few.chosen).readout.scores(samples))
    assert not np.allclose(every.readout.scores(samples), few.readout.scores(samples))


@given(size=st.integers(1, 60), seed=st.integers(0, 99))
@settings(max_examples=30)
def test_a_sample_of_labels_has_every_class_in_its_share(size: int, seed: int) -> None:
    places = np.random.RandomState(seed).permutation(np.repeat([0, 1, 2], [70, 25, 5]))
    lesson = Lesson(np.arange(100.0)[:, None], places, 3, lesson_of(0).boxes, np.zeros(1, bool), seed)
    sample = lesson.sample(size)
    assert len(sample.places) == size
    np.testing.assert_array_equal(places[sample.labelled[:, 0].astype(int)], sample.places)
    assert len(np.unique(sample.labelled)) == size
    counts = np.bincount(sample.places, minlength=3)
    if size >= 3:
        assert (counts >= 1).all()
    assert np.abs(counts - size * np.array([0.7, 0.25, 0.05])).max() <= 2
    assert lesson.sample(100) is lesson


@pytest.mark.slow
def test_fifty_thousand_labels() -> None:
    lesson = taught(n_labels=50_000, n_boxes=4000, n_features=10)
    samples = np.random.RandomState(1).rand(2000, 10)
    readout = learn_all(lesson, choose(lesson, Wishes())).readout
    right = readout.scores(samples).argmax(axis=1) == (samples[:, 0] * 3).astype(int)
    assert right.mean() > 0.9
