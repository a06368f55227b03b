"""Categories that were learnt as texts, and come as booleans or numbers later."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART
from sslart._data.samples import Table, as_known_texts
from sslart.persistence import model_bytes, model_from_bytes


def typed() -> tuple[pd.DataFrame, Any]:
    """Return a table with a Boolean column and one of whole numbers that are categories, and labels."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"dose": random.normal(size=80), "ill": random.random(80) < 0.5})
    frame["ward"] = random.integers(0, 3, 80)
    return frame, np.where(frame["ill"] ^ (frame["dose"] > 0), "yes", "no")


def as_texts(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype({"ill": str, "ward": str})


def known(values: list[Any], *learnt: Any) -> list[Any]:
    table = Table(np.full((len(values), 1), np.nan), {0: np.array(values, dtype=object)})
    return as_known_texts(table, lambda _: learnt).categories[0].tolist()


@pytest.mark.parametrize("make", [AutoSSLART, SSLART, WESSLART])
def test_types_do_not_change_predictions(make: Any) -> None:
    frame, y = typed()
    model = make(random_state=0).fit(as_texts(frame), y)
    loaded: Any = model_from_bytes(model_bytes(model), "the model")
    expected = model.predict_proba(as_texts(frame))
    for given in (frame, frame.astype({"ward": float}), frame.astype({"ill": object})):
        assert np.array_equal(loaded.predict_proba(given), expected)
    assert np.array_equal(loaded.score_samples(frame), model.score_samples(as_texts(frame)))
    assert np.array_equal(model.rules().apply(frame), model.rules().apply(as_texts(frame)))


@pytest.mark.parametrize("make", [AutoSSLART, FuzzyART])
def test_a_stream_goes_on_in_another_type(make: Any) -> None:
    frame, y = typed()
    texts = as_texts(frame)
    models = [
        make(random_state=0).partial_fit(texts[:40], y[:40]).partial_fit(one[40:], y[40:]) for one in (texts, frame)
    ]
    assert model_bytes(models[0]) == model_bytes(models[1])


def test_it_does_not_matter_how_a_stream_is_cut() -> None:
    frame, y = typed()
    mixed = frame.astype({"ill": object, "ward": object})
    for name in ("ill", "ward"):
        mixed.loc[::3, name] = as_texts(frame)[name][::3].astype(object)
    bounds = ([frame["dose"].min(), np.nan, np.nan], [frame["dose"].max(), np.nan, np.nan])
    found = set()
    for size in (1, 7, 80):
        model = AutoSSLART(bounds=bounds, random_state=0)
        for start in range(0, 80, size):
            part = slice(start, start + size)
            model.partial_fit(mixed[part], y[part])
        found.add(model_bytes(model))
    assert len(found) == 1


def test_only_what_is_not_known_is_read_as_text() -> None:
    assert known([True, 1, 1.0, 2.5, None], "True", "1", "2.5") == ["True", "1", "1", "2.5", None]
    assert known([True, "True"], True, "True") == [True, "True"]
    assert known([True, 7], "yes", "7.0") == [True, 7]
    assert known([False, "False", False]) == [False, "False", False]
    assert known(["False", False]) == ["False", "False"]
