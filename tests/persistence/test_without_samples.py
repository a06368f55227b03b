"""A file without samples: no row of the table is in it, and what needs rows is refused with the remedy."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sslart
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP
from sslart._art.backend import row_keys
from sslart._mapping.model_view import view_of
from sslart.active import select_queries

REASON = r"saved without samples \(samples=False\).*Load the file saved with samples, or fit again"
NAMES = ["width", "height", "kind"]


def table(n: int = 90) -> tuple[pd.DataFrame, np.ndarray]:
    """Return samples whose values are found by their bytes, in boxes of several samples each."""
    random = np.random.RandomState(5)
    y = np.arange(n) % 3
    frame = pd.DataFrame(random.normal(scale=0.3, size=(n, 2)) + 3 * y[:, None], columns=NAMES[:2])
    frame["kind"] = np.array(["round", "square"], dtype=object)[y % 2]
    return frame, np.array(["low", "middle", "high"], dtype=object)[y]


def stream(model: Any) -> Any:
    X, y = table()
    for rows in (slice(0, 70), slice(70, 90)):
        model.partial_fit(X[rows], y[rows])
    return model


MODELS = {
    "clusters": lambda: FuzzyART(0.5).fit(table()[0]),
    "artmap": lambda: FuzzyARTMAP(0.5).fit(*table()),
    "counts": lambda: SSLART(0.5, random_state=0).fit(*table()),
    "evidence": lambda: AutoSSLART(0.5, random_state=0).fit(*table()),
    "a stream": lambda: stream(AutoSSLART(0.5, half_life="auto", random_state=0)),
    "votes": lambda: WESSLART(2, vigilance=0.5, mapping="evidence", random_state=0).fit(*table()),
    "votes by counts": lambda: stream(WESSLART(2, vigilance=0.5, random_state=0)),
}


def without(model: Any, folder: Path) -> Any:
    path = folder / "without.sslart"
    sslart.save(model, path, samples=False)
    return sslart.load(path)


def coded_rows(model: Any) -> list[bytes]:
    """Return the bytes of the rows, in units and in the unit cube, but for those that a box of one sample holds."""
    X, _ = table()
    view = view_of(model, any_estimator=True)
    member = view.members[0]
    read = view.read(X)
    single = member.network.nodes.weights[: member.n_nodes][member.support == 1][:, : member.network.nodes.n_features]
    held = {one.tobytes() for one in single}
    coded = [one for one in member.encode(read) if one.tobytes() not in held]
    assert len(coded) > 60
    return [*(one.tobytes() for one in read.values[:, :2]), *(one.tobytes() for one in coded)]


@pytest.mark.parametrize("name", MODELS)
def test_no_row_and_no_key_of_a_row_is_in_the_file(name: str, tmp_path: Path) -> None:
    model, path = MODELS[name](), tmp_path / "model.sslart"
    sslart.save(model, path, samples=False)
    content = path.read_bytes()
    rows = coded_rows(model)
    assert not any(row in content for row in rows)
    keys = row_keys(view_of(model, any_estimator=True).read(table()[0]))
    if view_of(model, any_estimator=True).uses_evidence:
        keys = np.concatenate([keys, view_of(model).members[0].mapping.all_labels().whole().keys])
    assert not any(key.tobytes() in content for key in keys)
    assert b'"categories": {"' not in content
    sslart.save(model, path)
    assert any(key.tobytes() in path.read_bytes() for key in keys)  # with samples they are


@pytest.mark.parametrize("name", ["evidence", "votes", "a stream"])
def test_texts_of_rows_are_in_the_file_once_at_most(name: str, tmp_path: Path) -> None:
    model, path = MODELS[name](), tmp_path / "model.sslart"
    sslart.save(model, path)
    with_samples = path.read_bytes().count(b"square")
    sslart.save(model, path, samples=False)
    assert path.read_bytes().count(b"square") < 5 < with_samples  # as the name of a category


@pytest.mark.parametrize("name", MODELS)
def test_predictions_and_novelty_are_the_same(name: str, tmp_path: Path) -> None:
    model = MODELS[name]()
    loaded, (X, _) = without(model, tmp_path), table()
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    assert loaded.novelty_pvalues(X).tolist() == model.novelty_pvalues(X).tolist()
    assert loaded.score_samples(X).tolist() == model.score_samples(X).tolist()
    assert str(loaded.explain(X[:2]) if hasattr(loaded, "explain") else 0) == str(
        model.explain(X[:2]) if hasattr(model, "explain") else 0
    )


@pytest.mark.parametrize("name", MODELS)
def test_learning_on_is_refused_with_the_remedy_and_a_new_fit_is_not(name: str, tmp_path: Path) -> None:
    model = MODELS[name]()
    loaded, (X, y) = without(model, tmp_path), table()
    labels = () if isinstance(model, FuzzyART) else (y,)
    for one in (loaded, copy.deepcopy(loaded), pickle.loads(pickle.dumps(loaded))):
        with pytest.raises(ValueError, match=REASON):
            one.partial_fit(X, *labels)
        with pytest.raises(ValueError, match=REASON):
            sslart.merge([one, model])
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    loaded.fit(X, *labels).partial_fit(X, *labels)
    assert loaded.support_.sum() >= 2 * len(X)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_without_samples_is_saved_again_without_them(name: str, tmp_path: Path) -> None:
    loaded = without(MODELS[name](), tmp_path)
    first = (tmp_path / "without.sslart").read_bytes()
    for samples in (True, False):
        sslart.save(loaded, tmp_path / "again.sslart", samples=samples)
        assert (tmp_path / "again.sslart").read_bytes() == first


@pytest.mark.parametrize("name", ["evidence", "votes", "a stream"])
def test_what_is_measured_by_left_out_labels_is_the_same(name: str, tmp_path: Path) -> None:
    model = MODELS[name]()
    loaded, (X, _) = without(model, tmp_path), table()
    assert loaded.predict_set(X, 0.8).tolist() == model.predict_set(X, 0.8).tolist()
    assert str(loaded.summary()) == str(model.summary())


def test_what_shows_or_weighs_labelled_samples_is_refused(tmp_path: Path) -> None:
    loaded, (X, _) = without(MODELS["evidence"](), tmp_path), table()
    with pytest.raises(ValueError, match=REASON):
        select_queries(loaded, X, 3)
    with pytest.raises(ValueError, match=REASON):
        _ = view_of(loaded).members[0].kept_labels


def test_samples_is_a_flag(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"samples of sslart\.save must be True or False"):
        sslart.save(FuzzyART(), tmp_path / "model.sslart", samples="no")  # type: ignore[arg-type]
