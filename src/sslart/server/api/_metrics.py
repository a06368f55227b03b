"""Metrics of the service, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import generate_latest

from sslart._utils.arrays import BoolArray
from sslart.server.models._hosted import READY, HostedModel
from sslart.server.models._registry import Registry

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
PREDICTED = {
    "sslart_rows_predicted": "Rows predicted.",
    "sslart_rows_abstained": "Rows for which the model abstained.",
    "sslart_rows_novel": "Rows flagged as novel.",
}
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Counters of requests and predictions, and gauges of the models, read at each scrape."""

    def __init__(self, models: Registry) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # they would double the number of series
        self._registry = CollectorRegistry()
        self.requests = Counter("sslart_requests", "Requests.", ("method", "path", "status"), registry=self._registry)
        self.seconds = Histogram(
            "sslart_request_seconds", "Seconds per request.", ("path",), buckets=SECONDS, registry=self._registry
        )
        self._counters = [
            Counter(name, words, ("model",), registry=self._registry) for name, words in PREDICTED.items()
        ]
        self._registry.register(_Models(models))

    def count(self, model: str, abstained: BoolArray | Sequence[bool], novel: BoolArray | Sequence[bool]) -> None:
        """Count predicted, abstained and novel rows."""
        for counter, n in zip(self._counters, (len(abstained), int(sum(abstained)), int(sum(novel))), strict=True):
            if n:
                counter.labels(model).inc(n)

    def forget(self, model: str) -> None:
        """Remove the counters of a deleted model."""
        for counter in self._counters:
            with suppress(KeyError):
                counter.remove(model)

    def text(self) -> bytes:
        """Return all metrics in the format of Prometheus."""
        return bytes(generate_latest(self._registry))


class _Models:
    """Collector of the current state of the models and the store."""

    def __init__(self, models: Registry) -> None:
        self._registry = models

    def collect(self) -> Iterator[Any]:
        """Yield the metrics."""
        store = self._registry.store
        for name, words, value in (
            ("sslart_write_queue", "Requests waiting to be written.", store.n_waiting),
            ("sslart_store_bytes", "Size of the database on disk.", store.n_bytes),
            ("sslart_store_writable", "1 if the database can be written.", store.why_not_writable is None),
            ("sslart_event_listeners", "Clients listening to events.", self._registry.events.n_listeners),
        ):
            yield GaugeMetricFamily(name, words, float(value))
        for name, (words, of_model) in _GAUGES.items():
            yield self._of_models(GaugeMetricFamily(name, words, labels=("model",)), of_model)
        for name, (words, of_model) in _COUNTERS.items():
            yield self._of_models(CounterMetricFamily(name, words, labels=("model",)), of_model)

    def _of_models(self, family: Any, value: Callable[[HostedModel], float]) -> Any:
        for one in self._registry.models():
            family.add_metric((one.name,), value(one))
        return family


def _n_boxes(model: HostedModel) -> int:
    return 0 if model.published is None else int(model.published.model.n_nodes_)


_GAUGES: dict[str, tuple[str, Callable[[HostedModel], float]]] = {
    "sslart_journal_lag_records": ("Records accepted and not yet learnt.", lambda one: one.accepted - one.applied),
    "sslart_journal_lag_rows": ("Rows accepted and not yet learnt.", lambda one: one.n_rows - one.n_rows_applied),
    "sslart_model_ready": ("1 if a model is ready.", lambda one: one.state == READY),
    "sslart_model_boxes": ("Boxes of a model.", _n_boxes),
}
_COUNTERS: dict[str, tuple[str, Callable[[HostedModel], float]]] = {
    "sslart_rows_learnt": ("Rows learnt since the start.", lambda one: one.n_learnt),
    "sslart_rows_rejected": ("Rows rejected since the start.", lambda one: one.n_rejected),
    "sslart_drifts": ("Drifts detected since the start.", lambda one: one.n_drifts),
}
