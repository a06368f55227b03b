"""The trust benchmark draws what it claims to draw, and its page shows what was found."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pandas")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import pandas as pd

import pieces
from accuracy.sets import ORDER
from trust import conformal, draws, figures, labelling, limits, measures, page, panels, run, simulations, thresholds
from trust.simulations import COPIES, LATER, NOISE, PLAIN, Work, do

IRIS = Work(PLAIN, "Iris", 20, 0)


@pytest.fixture(autouse=True)
def nothing_is_remembered() -> Iterator[None]:
    """Sets and their sizes, which a test may have changed, are read again."""
    yield
    draws.load.cache_clear()
    draws.most_labels.cache_clear()


@pytest.fixture
def iris() -> draws.Draw:
    return draws.draw("Iris", 20, 0)


def rows(X: np.ndarray) -> set[tuple[float, ...]]:
    return {tuple(row) for row in np.asarray(X, dtype=float)}


@pytest.fixture
def table() -> draws.Draw:
    """A frame with a number, a number with gaps, and categories."""
    random = np.random.RandomState(0)
    X = pd.DataFrame({"a": random.uniform(size=90), "b": np.where(np.arange(90) % 7, 5.0, np.nan)})
    X["c"] = pd.Categorical(random.choice(["x", "y"], size=90))
    y = np.array([None] * 20 + ["no", "yes"] * 5, dtype=object)
    return draws.Draw(X[:30], y, X[30:], random.choice(["no", "yes"], size=60).astype(object), 0)


def test_labels_are_drawn_from_the_training_part_and_the_test_part_is_apart() -> None:
    numbers = np.arange(300)
    drawn = draws._divided(numbers, numbers.astype(str), numbers[:100], numbers[100:], 30, 0)
    assert list(drawn.labelled) == list(range(70, 100))
    assert list(drawn.y[70:]) == [str(number) for number in range(70, 100)]
    assert not set(drawn.X) & set(drawn.X_test)
    assert list(drawn.truth) == [str(number) for number in drawn.X_test]


def test_a_draw_depends_on_its_number_only() -> None:
    first, again, other = (draws.draw("Iris", 20, repeat) for repeat in (0, 0, 1))
    np.testing.assert_array_equal(first.X, again.X)
    assert not np.array_equal(first.X, other.X)
    assert len(first.truth) >= 4 * len(first.labelled)


def test_no_set_gives_so_many_labels_that_the_test_part_is_small() -> None:
    assert [work.n_labels for work in simulations.work_of(PLAIN, ("Iris",), 1)] == [10, 20]


def test_rows_are_doubled_with_their_labels(iris: draws.Draw) -> None:
    doubled = draws.twice(iris)
    assert len(doubled.y) == len(iris.y) + 20
    assert rows(doubled.X) == rows(iris.X)
    assert sorted(doubled.y[doubled.labelled]) == sorted([*iris.y[iris.labelled]] * 2)


def test_readings_of_one_item_are_one_group_and_close_together(iris: draws.Draw) -> None:
    read = draws.readings_in_groups(iris)
    assert read.groups is not None
    counts = np.unique(read.groups[read.labelled], return_counts=True)[1]
    assert list(counts) == [draws.READINGS] * 20
    for group in np.unique(read.groups[read.labelled]):
        own = read.groups == group
        assert len(set(read.y[own])) == 1
        assert 0 < np.ptp(np.asarray(read.X)[own], axis=0).max() < 1.0
    np.testing.assert_array_equal(read.X, draws.readings(iris).X)
    assert draws.readings(iris).groups is None
    assert not rows(read.X_test) & rows(iris.X_test)


def test_wrong_labels_are_of_another_class_in_training_and_in_the_noisy_truth(iris: draws.Draw) -> None:
    wrong = draws.wrong_labels(0.5)(iris)
    assert wrong.noisy_truth is not None
    assert 0.3 < np.mean(wrong.noisy_truth != iris.truth) < 0.7
    assert 0 < np.sum(wrong.y[wrong.labelled] != iris.y[iris.labelled]) < 20
    assert set(wrong.y[wrong.labelled]) <= set(iris.truth)
    assert list(wrong.truth) == list(iris.truth)
    assert all(label is None for label in np.delete(wrong.y, wrong.labelled))


def test_a_shift_moves_every_number_of_the_test_samples_and_no_category(table: draws.Draw) -> None:
    shifted = draws.shifted(table)
    moved = (shifted.X_test["a"] - table.X_test["a"]).to_numpy()
    np.testing.assert_allclose(np.abs(moved), draws.SHIFT * table.X["a"].to_numpy().std())
    assert list(shifted.X_test["b"].isna()) == list(table.X_test["b"].isna())
    assert list(shifted.X_test["c"]) == list(table.X_test["c"])
    assert shifted.X is table.X


def test_other_shares_thin_out_half_of_the_classes(table: draws.Draw) -> None:
    kept = draws.other_shares(table)
    before, after = (np.array([np.sum(one.truth == name) for name in ("no", "yes")]) for one in (table, kept))
    shares = sorted(after / before)
    assert shares[0] < 0.5
    assert shares[1] == 1.0
    assert len(kept.X_test) == len(kept.truth)


def test_streams_are_cut_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream(tmp_path, monkeypatch)
    drawn = draws.draw_in_time("weather", 20, 0)
    assert drawn.X["feat_2"].max() < 0.2
    assert drawn.X_test["feat_2"].min() >= 0.8


def stream(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a stream whose second feature is the time."""
    random = np.random.RandomState(0)
    time = np.arange(600) / 600
    frame = pd.DataFrame({"feat_1": random.uniform(size=600) + time, "feat_2": time})
    frame["target"] = (frame["feat_1"] > 0.5 + time).astype(int)
    (folder / "weather").mkdir()
    frame.to_csv(folder / "weather" / "weather.csv.gz", index=False)
    monkeypatch.setenv("SSLART_DATA", str(folder))


def test_an_interval_holds_what_lies_in_it_and_what_the_test_part_cannot_tell_from_it() -> None:
    found = {"claim": 0.8, "low": 0.7, "high": 0.9, "n_test": 100}
    assert measures.holds({**found, "accuracy": 0.7}, test_error=False)
    assert not measures.holds({**found, "accuracy": 0.69}, test_error=False)
    # at 0.68 the test part has an error of 1.96 * sqrt(0.68 * 0.32 / 100) = 0.0914: 0.8 - sqrt(0.01 + 0.00836) = 0.6645
    assert measures.holds({**found, "accuracy": 0.68})
    assert not measures.holds({**found, "accuracy": 0.65})


def test_sets_are_counted_by_hand() -> None:
    truth = np.array(["a", "b", "c", "a"], dtype=object)
    members = np.array([[True, False], [True, False], [True, True], [False, False]])
    given = draws.Draw(None, truth, None, truth, 0)
    found = measures.of_sets(members, np.array(["a", "b"]), given)  # the model does not know c
    assert (found["held"], found["size"], found["empty"]) == (0.25, 1.0, 0.25)
    assert (found["answered"], found["wrong"]) == (0.5, 0.25)


def test_every_set_counts_once_in_a_mean_and_by_its_answers_in_a_ratio() -> None:
    results = [
        {"dataset": "p", "wrong": 0.1, "answered": 1.0},
        {"dataset": "p", "wrong": 0.3, "answered": 1.0},
        {"dataset": "q", "wrong": 0.0, "answered": 0.5},
        {"dataset": "r", "wrong": None, "answered": None},
    ]
    found = figures.mean(results, figures.at("wrong"))
    assert (found.value, found.n_sets) == (pytest.approx(0.1), 2)
    assert found.error == pytest.approx(0.1)
    assert figures.ratio(results, figures.at("wrong"), figures.at("answered")).value == pytest.approx(0.2 / 1.5)
    assert figures.Mean(0.88, 0.01, 9).at_least(0.9)
    assert not figures.Mean(0.87, 0.01, 9).at_least(0.9)


def test_a_model_is_measured_on_samples_it_has_not_seen(iris: draws.Draw) -> None:
    found = do(IRIS)
    model = measures.fitted(iris)
    assert found["accuracy"] == np.mean(model.predict(iris.X_test) == iris.truth)
    members = model.predict_set(iris.X_test, coverage=0.9)
    own = np.searchsorted(model.classes_.astype(str), iris.truth.astype(str))
    assert found["sets"]["0.9"]["held"] == members[np.arange(len(own)), own].mean()
    for sense, confidence in (("certain", 0.9), ("average", None)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # twenty labels are too few for certainty
            cautious = model.set_params(max_error=0.1, confidence=confidence).predict(iris.X_test)
        answered = np.array([label is not None for label in cautious])
        assert found["answers"]["0.1"][sense]["answered"] == answered.mean()
        assert found["answers"]["0.1"][sense]["wrong"] == np.mean(answered & (cautious != iris.truth))


def test_models_above_their_limit_are_counted_among_those_that_answer() -> None:
    def result(answered: float, wrong: float) -> dict[str, Any]:
        return {"n_test": 100, "answers": {"0.1": {"certain": {"answered": answered, "wrong": wrong}}}}

    kept, above, clearly, silent = result(0.5, 0.05), result(0.5, 0.06), result(0.5, 0.25), result(0.0, 0.0)
    assert measures.answering([kept, above, silent], "0.1", "certain") == [kept, above]
    assert [measures.exceeds(one, "0.1", "certain") for one in (kept, above, clearly, silent)] == [
        False,
        True,
        True,
        False,
    ]
    assert [measures.exceeds_clearly(one, "0.1", "certain") for one in (kept, above, clearly)] == [False, False, True]


def test_tables_that_choose_thresholds_judge_nothing() -> None:
    judging = {one.lower() for one in ORDER}
    assert not [name for name in thresholds.TUNING if name.split("/")[1].lower() in judging]
    assert {"MASS/Pima.tr", "MASS/biopsy", "carData/TitanicSurvival"}.isdisjoint(thresholds.TUNING)


def test_a_section_takes_the_place_of_the_one_before() -> None:
    results = [do(IRIS)]
    whole = page.page(results, ("accuracy", "limits", "novelty"), "x")
    parts = page.with_sections(whole.replace("| 20 labels | 1 |", "| 20 labels | 999 |"), results, ("limits",), "y")
    assert parts.count("## Limits of error for one model") == 1
    parts = parts.replace("Measured after the other sections, with version `y`. ", "")
    assert sorted(parts.splitlines()) == sorted(whole.splitlines())
    without = page.page(results, ("accuracy", "novelty"), "x")
    added = page.with_sections(without, results, ("limits",), "y")
    assert added.startswith(without[:200])
    assert [added.count(f"| {row[0]} |") for row in limits.limits_rows(page.Findings(results))] == [1, 1]
    assert page.with_sections(added, results, ("limits",), "y") == added


def test_the_page_has_the_tables_with_several_rows_of_a_unit_if_they_were_measured(tmp_path: Path) -> None:
    one = {"kind": "panel", "table": "MASS/OME", "with_id": True, "n_labels": 60, "draw": 0, "dependence": "ID"}
    one |= {"stated": 0.7, "low": 0.6, "high": 0.8, "found": 0.75, "test_error": 0.02}
    answered = {"answered": 0.5, "wrong": 0.06}
    one["answers"] = {"0.1": {"certain": {"answered": 0.0, "wrong": 0.0}, "average": answered}}
    assert panels.judged(tmp_path) == []
    pieces.store(tmp_path / panels.FILE, [one, {**one, "table": "plm/Males"}])  # the second one is for tuning
    assert panels.judged(tmp_path) == [one]
    found = page.page([], (), "x", [panels.section(panels.judged(tmp_path))])
    assert "The interval holds in **1 of 1** fits" in found
    assert "is wrong in 0 of 0; with `confidence=None` in 1 of 1." in found
    assert "Dependent rows" not in page.page([], (), "x")


def test_the_statement_is_read_while_a_script_answers_queries() -> None:
    table = labelling.JUDGING[1].name
    found = labelling.do(labelling.Work(table, draw=1, together=True, draw_every=3))
    assert [look["n_answers"] for look in found["looks"]] == list(labelling.LOOKS)
    assert all(look["n_random"] == look["n_answers"] // 3 for look in found["looks"])
    last = found["looks"][-1]
    assert 0 <= last["low"] <= last["value"] <= last["high"] <= 1
    assert last["wrong"] <= last["answered"] <= last["n_test"]
    wrong = {**found, "looks": [{**look, "low": 0.0, "value": 0.0, "high": 0.0} for look in found["looks"]]}
    text = labelling.section([found, wrong])
    n = len(labelling.LOOKS)
    assert f"at every look in {labelling.holds_always(found):d} of 2" in text
    assert f"**{sum(map(labelling.holds, found['looks']))} of {2 * n}** looks" in text


@pytest.mark.slow
def test_every_section_is_measured_and_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All simulations for real, on one small set, a small stream and little noise."""
    pytest.importorskip("mapie")
    stream(tmp_path, monkeypatch)
    monkeypatch.setattr(simulations, "NOISE_FEATURES", (20,))
    monkeypatch.setattr(simulations, "NOISE_REPEATS", 1)
    monkeypatch.setattr(draws, "ROWS_PER_LABEL", 3)
    monkeypatch.setattr(draws, "READINGS", 2)
    monkeypatch.setattr(simulations, "N_LABELS", (24,))
    monkeypatch.setattr(simulations, "COPIES_LABELS", 24)
    work = run.all_work(simulations.SECTIONS, ("Iris",), 1)
    work.append(Work(LATER, "weather", 24, 0))
    results = run.measure(tmp_path / "x.jsonl", work, jobs=1)
    assert {result["simulation"] for result in results} == {
        name for section in simulations.SECTIONS.values() for name in section
    }
    text = page.page(results, tuple(simulations.SECTIONS), "x")
    (plain,) = (result for result in results if result["simulation"] == PLAIN)
    (noise,) = (result for result in results if result["simulation"] == NOISE)
    assert f"| all | 1 | 0 | {100 * plain['claim']:.1f} | {100 * plain['accuracy']:.1f} |" in text
    assert f"| 20 | 1 | 0 | {100 * noise['claim']:.1f} | {100 * noise['accuracy']:.1f} |" in text
    for name in (*COPIES, *conformal.RIVALS):
        (found,) = (result for result in results if result["simulation"] == name)
        shown = 100 * (found["claim"] if name in COPIES else found["sets"]["0.9"]["held"])
        assert f"| {shown:.1f} |" in text, name


def test_a_stopped_run_continues(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    (first,) = run.measure(path, [IRIS], jobs=1)
    line = path.read_text()
    path.write_text(line + line[: len(line) // 2])  # killed within the next line
    noise = Work(NOISE, "20", 30, 0)
    again, second = run.measure(path, [IRIS, noise], jobs=1)
    assert again == first
    assert second["simulation"] == NOISE
    assert path.read_text().count("\n") == 3
    assert run.measure(path, [IRIS, noise], jobs=1) == [first, second]


def test_a_part_of_the_sets_is_printed_and_no_page_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = f"--only accuracy --sets Iris --quick --label x --out {tmp_path} --page {tmp_path}/p.md"
    run.main(line.split())
    assert not (tmp_path / "p.md").exists()
    assert "| Iris | 2 |" in capsys.readouterr().out
