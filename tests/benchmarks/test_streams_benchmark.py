"""The benchmark of streams is fair, and its tables are computed from what was measured."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("river")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import pieces
from streams import capymoa_ssl, endless, report, requirements, run, speed
from streams.data import CHECKING, REAL, TUNING, Stream, labelled, stream
from streams.findings import SHARES, Findings, draws_of
from streams.ours import BLOCK, OURS, Ours, variants
from streams.protocol import HIDDEN, Run, measure
from streams.rivals import ARF, LOGISTIC, REFERENCES, RIVALS

GENERATED = [name for name in (*CHECKING, *TUNING) if name not in REAL]
SMALL = Stream("two halves", np.repeat([[0.0, 1.0], [1.0, 0.0]], 30, axis=0), np.repeat([0, 1], 30))


class Recorder:
    """A contender that notes in which order samples are predicted and learnt."""

    def __init__(self, block: int) -> None:
        self.block = block
        self.order: list[tuple[str, int]] = []
        self.labels: list[int] = []

    def prepare(self, X: np.ndarray) -> list[int]:
        return list(range(len(X)))

    def predict(self, samples: list[int]) -> list[int | None]:
        self.order += [("predict", sample) for sample in samples]
        return [None] * len(samples)

    def learn(self, samples: list[int], labels: list[int]) -> None:
        self.order += [("learn", sample) for sample in samples]
        self.labels += labels


@pytest.mark.parametrize("block", [1, 7, BLOCK])
def test_every_sample_is_predicted_once_and_no_sample_of_its_block_is_learnt_before(block: int) -> None:
    recorder = Recorder(block)
    measure(recorder, SMALL, np.ones(60, dtype=bool))
    learnt: set[int] = set()
    for event, sample in recorder.order:
        if event == "learn":
            learnt.add(sample)
        else:
            assert not learnt & set(range(sample // block * block, 60))
    assert [sample for event, sample in recorder.order if event == "predict"] == list(range(60))
    assert sorted(learnt) == list(range(60))


def test_a_contender_sees_the_labels_that_are_shown_and_no_other() -> None:
    recorder = Recorder(10)
    shown = labelled(60, 0.3, 1)
    measure(recorder, SMALL, shown)
    assert recorder.labels == np.where(shown, SMALL.y, HIDDEN).tolist()


def test_taking_turns_gives_the_result_of_one_go() -> None:
    shown = np.ones(60, dtype=bool)
    runs = [Run(REFERENCES["no change"](2, 1), SMALL, shown) for _ in range(2)]
    runs[0].advance(60)
    for _ in range(6):
        runs[1].advance(10)
    assert runs[0].right.tolist() == runs[1].right.tolist()
    assert runs[0].right.sum() == 58  # wrong before the first label and where the class changes


def test_shares_of_labels_are_kept_and_depend_on_the_seed_alone() -> None:
    assert labelled(1000, 1.0, 1).all()
    few = labelled(100_000, 0.01, 2)
    assert 900 < few.sum() < 1100
    assert few[:50_000].tolist() == labelled(50_000, 0.01, 2).tolist()
    assert few.tolist() != labelled(100_000, 0.01, 3).tolist()
    assert not (few & ~labelled(100_000, 0.1, 2)).any()


@pytest.mark.parametrize("name", GENERATED)
def test_generated_streams_are_the_same_each_time_and_number_their_classes_from_0(name: str) -> None:
    first = stream(name, 120)
    stream.cache_clear()
    again = stream(name, 120)
    assert first.X.tolist() == again.X.tolist()
    assert first.y.tolist() == again.y.tolist()
    assert first.X.shape[0] == 120
    assert np.isfinite(first.X).all()
    assert set(first.y.tolist()) == set(range(first.n_classes))


def test_streams_for_tuning_are_not_those_that_judge() -> None:
    assert not set(CHECKING) & set(TUNING)
    for name in ("SEA", "hyperplane"):
        assert stream(name, 50).X.tolist() != stream(f"{name}, other seed", 50).X.tolist()


@pytest.mark.parametrize("name", [*RIVALS, *REFERENCES])
def test_every_rival_learns_from_labels_and_predicts_nothing_without_one(name: str) -> None:
    make = (RIVALS | REFERENCES)[name]
    blind, seeing = Run(make(2, 1), SMALL, np.zeros(60, dtype=bool)), Run(make(2, 1), SMALL, np.ones(60, dtype=bool))
    for one in (blind, seeing):
        one.advance(60)
    if name != LOGISTIC:  # which predicts False before it has learnt
        assert not blind.right.any()
    assert seeing.right.sum() >= 25


@pytest.mark.parametrize("name", list(variants([])))
def test_ours_is_wrong_until_it_has_a_label_and_follows_then(name: str) -> None:
    contender = variants([])[name](2, 1)
    assert isinstance(contender, Ours)
    contender.block = min(contender.block, 10)
    shown = np.zeros(60, dtype=bool)
    shown[[12, 47]] = True
    one = Run(contender, SMALL, shown)
    one.advance(60)
    assert not one.right[:12].any()
    assert one.right[20:30].all()
    assert one.right[50:].all()


def result(name: str, share: float, method: str, accuracy: float, seconds: float = 1.0) -> list[dict[str, Any]]:
    key = {"stream": name, "share": share, "method": method, "n": 100, "accuracy": accuracy, "seconds": seconds}
    return [{**key, "seed": seed} for seed in draws_of(share, method)]


def results_of(values: dict[str, float], but: tuple[str, str] | None = None) -> list[dict[str, Any]]:
    return [
        one
        for share in SHARES
        for name in CHECKING
        for method, accuracy in values.items()
        if (method, name) != but
        for one in result(name, share, method, accuracy)
    ]


def test_ranks_count_whom_a_stream_has_and_leave_out_whom_a_stopped_run_lacks() -> None:
    whole = {OURS: 90.0, ARF: 80.0, capymoa_ssl.OSNN: 95.0}
    findings = Findings(results_of(whole, but=(capymoa_ssl.OSNN, "covtype")), list(CHECKING))
    assert findings.ranked(0.1, whole) == list(whole)
    assert findings.complete(0.1, whole) == [OURS, ARF]
    assert findings.ranks(0.1, list(whole)) == {OURS: pytest.approx(1.8), ARF: pytest.approx(2.8), capymoa_ssl.OSNN: 1}
    stopped = Findings(results_of(whole, but=(ARF, "elec")), list(CHECKING))
    assert ARF not in stopped.ranked(0.1, whole)


@pytest.mark.parametrize(("ours", "reached"), [(79.5, "reached"), (78.5, "**not reached**")])
def test_requirements_compare_with_the_best_rival(ours: float, reached: str) -> None:
    findings = Findings(results_of({OURS: ours, ARF: 80.0, "Hoeffding tree": 60.0}), list(CHECKING))
    text = requirements.section(findings, OURS, list(RIVALS), None, [])
    (line,) = (line for line in text.splitlines() if "all labels" in line)
    assert (
        line
        == f"| all labels: mean accuracy | 79.00 %: {ARF}, 80.00, - 1 | {ours:.2f} % ({ours - 80:+.2f}) | {reached} |"
    )
    (line,) = (line for line in text.splitlines() if "10 % of the labels" in line)
    assert line.endswith(f"| at most 1.00: {ARF} | 2.00 | **not reached** |")


def test_the_page_has_all_measured_methods_and_names_what_is_missing() -> None:
    fast = {"share": 0.1, "stream": "SEA", "rates": {ARF: 100.0, OURS: 400.0}}
    rows = [{"seen": seen, "rate": 2500.0, "megabytes": 100.0, "boxes": 7} for seen in (10**6, 10**7)]
    text = report.page(
        Findings(results_of({OURS: 90.0, ARF: 80.0, "no change": 50.0}), list(CHECKING)),
        list(variants([])),
        OURS,
        command="test",
        label="test",
        n=100,
        speed={"label": "test", "n": 100, "methods": [OURS], "rows": [fast]},
        endless=[{"label": "t", "machine": "m", "kind": "moving", "options": {}, "rows": rows}],
        short=Findings(results_of({OURS: 70.0, capymoa_ssl.OSNN: 60.0}), list(CHECKING), 1),
        n_short=50,
    )
    assert f"| {capymoa_ssl.OSNN} |" + " 60.0 |" * 10 in text.split("## The first 50 samples")[1]
    sections = [text.split(f"\n## {title}")[1].split("\n## ")[0] for title in ("1 %", "10 %", "All labels")]
    for section, times in zip(sections, ("", "4", ""), strict=True):
        assert f"| {OURS} | **90.0** | **90.0** | **90.0** | **90.0** | **90.0** | 90.00 | 1.00 | {times} |" in section
        assert f"Best rival in the mean: {ARF}, 80.00 %. Ours: 90.00 %, a difference of +10.00 points." in section
    assert "| no change | 50.0 | 50.0 | 50.0 | 50.0 | 50.0 | 50.00 |  |  |" in text
    assert f"| samples per second, {OURS}, 10 % | 3 times those of the {ARF} | 4.00 times | reached |" in text
    assert "2,500 at the slowest | reached |" in text
    assert "1.00 times | reached |" in text
    assert "- Hoeffding tree, 1 % of the labels: elec, weather, covtype, SEA, hyperplane." in text


def test_a_run_stores_what_it_measures_and_continues(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["--streams", "SEA", "--samples", "150", "--shares", "0.1", "--label", "test", "--out", str(tmp_path)]
    line += ["--methods", "majority", "SSLART, one-to-many"]
    run.main(line)
    assert "6/6" in capsys.readouterr().out
    assert [len(pieces.stored(tmp_path / name)) for name in ("rivals.jsonl", "ours-test.jsonl")] == [3, 3]
    run.main(line)
    shown = capsys.readouterr().out
    assert "/6" not in shown
    assert "\n| SSLART, one-to-many | " in shown
    assert "\n| majority | " in shown


def test_contenders_take_turns_for_speed() -> None:
    made = {name: REFERENCES[name] for name in ("no change", "majority")}
    runs = speed.in_turns(made, SMALL, 1.0)
    assert set(runs) == set(made)
    assert all(run.seconds > 0 and len(run.right) == len(SMALL.y) for run in runs.values())


@pytest.mark.parametrize("kind", endless.KINDS)
def test_the_endless_stream_shows_a_tenth_of_the_labels_and_is_measured_at_its_end(kind: str) -> None:
    labels = np.concatenate([y for _, y in endless.blocks(kind, 25_000)])
    assert len(labels) == 25_000
    assert 0.09 < (labels >= 0).mean() < 0.11
    assert endless.marks(25_000) == [10_000, 20_000, 25_000]
    (row,) = endless.rows(kind, 30, {})
    assert row["seen"] == 30
    assert row["boxes"] > 1


def test_growth_of_memory_is_counted_from_a_million_samples_on() -> None:
    sizes = ((500_000, 20.0), (1_000_000, 50.0), (2_000_000, 60.0), (5_000_000, 75.0))
    rows = [{"seen": seen, "megabytes": size} for seen, size in sizes]
    assert requirements.memory_growth({"rows": rows}) == 1.5
    assert requirements.memory_growth({"rows": rows[:2]}) is None


def test_a_learner_of_capymoa_is_skipped_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "capymoa").mkdir()
    for name in capymoa_ssl.NAMES:
        reason = capymoa_ssl.reason_to_skip(name, 2, tmp_path / "none")
        assert reason is not None
        assert "Java" in reason or capymoa_ssl.INSTALL in reason
    reason = capymoa_ssl.reason_to_skip(capymoa_ssl.OSNN, 7, tmp_path)
    assert reason is not None


@pytest.mark.slow
def test_capymoa_shows_the_same_labels_as_the_other_contenders_get() -> None:
    reason = capymoa_ssl.reason_to_skip(capymoa_ssl.SLEADE)
    if reason is not None:
        pytest.skip(reason)
    found = capymoa_ssl.measure(capymoa_ssl.SLEADE, stream("hyperplane", 600), 0.1, 2)  # raises where they differ
    assert found["samples"] == 600
    assert 40 < found["accuracy"] < 100
