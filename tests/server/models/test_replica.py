"""A journal makes the same model in every bit, however its records are taken together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sslart.persistence import model_bytes, model_from_bytes
from sslart.server.models._published import Published
from sslart.server.models._replica import ReadRows, Replica
from sslart.server.models._settings import ModelSettings
from sslart.server.store._journal import LABEL, LEARN, SET, Record, packed


def journal(n_records: int, seed: int = 0) -> list[Record]:
    """Return a stream of rows, some of them labelled at once or later, some bad."""
    random = np.random.default_rng(seed)
    found, n_rows = list[Record](), 0
    for number in range(1, n_records + 1):
        if number % 10 == 0:
            cells = {"a": float(random.normal()), "b": float(random.normal()), "c": "x"}
            labels = [
                {
                    "row": 0,
                    "label": str(cells["a"] > 0),
                    "action": "learn",
                    "cells": cells,
                    "at_random": number % 20 == 0,
                }
            ]
            found.append(
                Record(1, number, LABEL, 0.0, "test", n_rows, 0, packed({"labels": labels, "together": False}))
            )
            continue
        if number == 25:
            found.append(Record(1, number, SET, 0.0, "test", n_rows, 0, packed({"parameters": {"half_life": 200}})))
            continue
        rows: list[dict[str, Any]] = [
            {"a": float(a), "b": float(b), "c": str(random.choice(["x", "y"]))}
            for a, b in random.normal(size=(int(random.integers(1, 8)), 2))
        ]
        if number == 13:
            rows[0]["a"] = "not a number"
        labels = [str(row["a"] != "not a number" and row["a"] > 0) if random.random() < 0.1 else None for row in rows]
        learn = [bool(random.random() < 0.9) for _ in rows]
        content = {"rows": rows, "labels": labels, "learn": learn}
        found.append(Record(1, number, LEARN, 0.0, "test", n_rows, len(rows), packed(content)))
        n_rows += len(rows)
    return found


def learnt(records: list[Record], cuts: list[int], *, restart: bool = False) -> Replica:
    replica = Replica(ModelSettings())
    for start, stop in zip([0, *cuts], [*cuts, len(records)], strict=True):
        for _ in replica.apply(records[start:stop], lambda _: None, lambda _: None):
            pass
        if restart and replica.model is not None:
            model = model_from_bytes(model_bytes(replica.model), "a snapshot")
            replica = Replica(replica.settings, model, replica.sequence)
    return replica


@pytest.mark.parametrize(
    ("seed", "n_records"), [(0, 35), *(pytest.param(seed, 60, marks=pytest.mark.slow) for seed in range(3))]
)
def test_records_make_the_same_bits_one_by_one_and_together_and_from_snapshots(seed: int, n_records: int) -> None:
    records = journal(n_records, seed)
    cuts = sorted(np.random.default_rng(seed).choice(np.arange(1, n_records), 7, replace=False).tolist())
    together = learnt(records, [])
    expected = model_bytes(together.model)
    assert together.sequence == n_records
    assert model_bytes(learnt(records, list(range(1, n_records))).model) == expected
    assert model_bytes(learnt(records, cuts).model) == expected
    assert model_bytes(learnt(records, cuts, restart=True).model) == expected
    assert together.model.half_life == 200


def test_a_row_that_cannot_be_learnt_is_left_out_and_no_other() -> None:
    records = journal(40)
    replica = learnt(records, [])
    content = [one.content() for one in records if one.kind == LEARN]
    n_wanted = sum(sum(one["learn"]) for one in content) + sum(one.kind == LABEL for one in records)
    assert replica.n_learnt + replica.n_rejected == n_wanted
    assert replica.n_rejected <= 1
    assert replica.n_learnt > 100


def test_rows_that_their_request_has_read_make_the_same_bits_as_rows_of_the_journal() -> None:
    records, replica = journal(60, 3), Replica(ModelSettings())
    published: list[Published] = []
    handed_on = 0

    def read(record: Record) -> ReadRows | None:
        nonlocal handed_on
        if record.kind != LEARN or not published:
            return None
        reader, content = published[-3:][0].reader, record.content()  # as it was some records before
        try:
            table = reader.table(content["rows"])
        except ValueError:
            return None
        handed_on += 1
        return ReadRows(content, table, reader.columns)

    for start in range(0, len(records), 4):
        for _ in replica.apply(records[start : start + 4], lambda _: None, lambda _: None, read):
            published.append(Published(replica.model, replica.sequence, replica.settings))
    assert handed_on > 30
    assert model_bytes(replica.model) == model_bytes(learnt(records, []).model)
