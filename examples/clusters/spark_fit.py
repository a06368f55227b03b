"""Fit a model to Parquet files on Spark: `python spark_fit.py FOLDER`, with what table.py wrote.

Two passes of `mapInArrow`: what is in each partition (ranges, categories, classes), then its boxes. Each returns one
row per partition, with the result pickled.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from table import FEATURES, LABEL

from sslart import AutoSSLART
from sslart.merging import partitions

FAN_IN = 4  # how many parts one task joins
RESULT = "number int, result binary"


def per_partition(rows: DataFrame, work: Callable[..., Any]) -> DataFrame:
    """Return a row for each partition: its number, and what `work` makes of its samples and labels."""

    def worked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = list(batches)
        if found:
            number = TaskContext.get().partitionId()
            part = pa.Table.from_batches(found).to_pandas()
            yield as_row(number, work(X=part[FEATURES], y=part[LABEL], number=number))

    return rows.mapInArrow(worked, RESULT)


def as_row(number: int, result: Any) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {"number": pa.array([number], pa.int32()), "result": pa.array([pickle.dumps(result)], pa.binary())}
    )


def results(found: DataFrame) -> list[Any]:
    """Return the results of the partitions on this machine, in the order of their numbers."""
    return [pickle.loads(row.result) for row in sorted(found.collect(), key=lambda row: row.number)]


def joined(parts: DataFrame, model: AutoSSLART) -> DataFrame:
    """Return one level of the tree: what partitions have learnt, joined by fours in the order of their numbers."""

    def together(some: pa.Table) -> pa.Table:
        some = some.sort_by("number")
        result = partitions.join_parts(model, [pickle.loads(one) for one in some["result"].to_pylist()])
        return pa.Table.from_batches([as_row(some["number"][0].as_py() // FAN_IN, result)])

    return parts.groupBy((parts.number / FAN_IN).cast("int")).applyInArrow(together, RESULT)


def fit(model: AutoSSLART, rows: DataFrame) -> AutoSSLART:
    """Return a fitted copy of the model. The same partitions give the same model, whatever the cluster."""
    wanted = partitions.wanted_of(model)
    while wanted is not None:  # a second time only where all labels are -1 and 1
        look = partial(partitions.summary_of, model, wanted=wanted)
        summary = partitions.Summary.joined(results(per_partition(rows, look)))
        wanted = partitions.second_look(summary)
    parts = per_partition(rows, partial(partitions.fit_part, model, start=partitions.start_of(model, summary)))
    n_parts = rows.rdd.getNumPartitions()
    while n_parts > 1:
        parts = joined(parts, model)
        n_parts = -(-n_parts // FAN_IN)
    return partitions.finish(model, results(parts)[0])


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.files.minPartitionNum", "8").getOrCreate()
    model = fit(AutoSSLART(random_state=0), spark.read.parquet(str(folder / "rows")))
    spark.stop()
    test = pd.read_parquet(folder / "test.parquet")
    print(model.n_nodes_, "boxes;", f"{model.score(test[FEATURES], test[LABEL]):.3f} right on the test")
