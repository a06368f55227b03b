"""Training history of a model: the calls that rebuild it exactly."""

from __future__ import annotations

from typing import Any, NamedTuple

from sslart._utils.notes import collected_notes
from sslart.server.models._published import Published
from sslart.server.models._replica import Replica
from sslart.server.models._requests import ConflictError
from sslart.server.models._settings import ModelSettings
from sslart.server.models._stored_rows import Before
from sslart.server.models._training import fitted_to, table_to_fit
from sslart.server.store._jobs import last_fit
from sslart.server.store._journal import compacted_through, records
from sslart.server.store._records import IMPORT, Record
from sslart.server.store._snapshots import digest_of
from sslart.server.store._uploads import is_from_file

RECORDS_AT_ONCE = 2**31
REFIT = "Fit the model anew, and export it then."


class Lesson(NamedTuple):
    """One step: a call of fit, partial_fit or set_params.

    Attributes
    ----------
    call : {"fit", "partial_fit", "set_params"}
    samples : DataFrame or None
    labels : list or None
    groups : list or None
    parameters : dict or None
        Of set_params.
    """

    call: str
    samples: Any = None
    labels: list[Any] | None = None
    groups: list[Any] | None = None
    parameters: dict[str, Any] | None = None


class Lessons(NamedTuple):
    """All that a model was taught since it was made: its estimator, the steps, and the columns with the day first."""

    estimator: str
    parameters: dict[str, Any]
    steps: list[Lesson]
    day_first: list[str]


class _Recorder(Replica):
    """A replica that replays the journal, and records the training calls."""

    def __init__(self, settings: ModelSettings, sequence: int) -> None:
        super().__init__(settings, None, sequence)
        self.steps: list[Lesson] = []
        self.first = settings  # with which the model was made

    def _teach(self, model: Any, samples: Any, labels: list[Any], **groups: Any) -> None:
        super()._teach(model, samples, labels, **groups)
        if self.model is None:
            self.first = self.settings
        self.steps.append(Lesson("partial_fit", samples, labels, groups.get("groups")))

    def _set_params(self, params: dict[str, Any]) -> None:
        super()._set_params(params)
        if self.model is not None:
            self.steps.append(Lesson("set_params", parameters=params))


def lessons_of(connection: Any, model: int, published: Published) -> Lessons:
    """Return the training history; raise a ConflictError if it does not rebuild the model to the bit."""
    if is_from_file(connection, model):
        raise ConflictError(
            "The model came from a file, and the rows that it had learnt before are not here: no script can rebuild it "
            "from rows. Export the model itself."
        )
    fit = last_fit(connection, model, published.sequence)
    start = max(fit - 1, 0)
    if compacted_through(connection, model) > start:
        raise ConflictError(f"Some of what the model has learnt is no longer kept. {REFIT}")
    recorder = _Recorder(published.settings, start)
    day_first: list[str] = []

    def fitted(record: Record) -> Any:
        if record.sequence != fit:
            return None
        content = record.content()
        first = recorder.first = ModelSettings.model_validate(content["settings"])
        before = Before(record.model, record.sequence, record.first_row)
        table = table_to_fit(connection, before, first, content["keep_rows"])
        day_first.extend(table.day_first)
        call = "fit" if table.label_counts else "partial_fit"
        recorder.steps.append(Lesson(call, table.samples, table.labels, table.groups))
        return fitted_to(table, first)

    with collected_notes():
        some = records(connection, model, start, RECORDS_AT_ONCE)
        wanted = [one for one in some if one.sequence <= published.sequence]
        for _ in recorder.apply(wanted, fitted, _no_import):
            pass
        if recorder.model is None or digest_of(_content(recorder, published)) != published.digest:
            raise ConflictError(f"The rows that are kept do not make the same model to the bit. {REFIT}")
    first = recorder.first
    return Lessons(first.estimator, first.new_estimator().get_params(), recorder.steps, day_first)


def _content(recorder: Replica, published: Published) -> bytes:
    return Published(recorder.model, published.sequence, recorder.settings).content()


def _no_import(record: Record) -> Any:
    raise ConflictError(f"Record {record.sequence} ({IMPORT}) cannot be repeated.")
