"""`sslart fit --server`: a service fits a model to a table."""

from __future__ import annotations

from typing import Any

from sslart._tables.columns import split_names
from sslart._tables.files import read_pieces
from sslart._tables.training_table import ColumnRoles
from sslart._utils.files import STANDARD
from sslart._utils.notes import note


def fit_on_server(client: Any, data: str, named: ColumnRoles, name: str, encoding: str | None) -> Any:
    """Let a service create a model and fit it to a table; return the job when it has ended.

    Parameters
    ----------
    client : Client
    data : str
        The table.
    named : ColumnRoles
        The columns that the user has named.
    name : str
        Of the new model.
    encoding : str or None
        Of text.
    """
    if data == STANDARD:
        raise ValueError("With --server the table is a file: give its name.")
    first = next(read_pieces(data, encoding))
    job = client.fit(
        name,
        data,
        label=named.label,
        id_column=named.id_column,
        group=named.group,
        ignore=split_names(named.ignore, first),
        category=split_names(named.category, first),
        use=split_names(named.use, first),
        encoding=encoding,
    )
    for text in job.outcome["notes"]:
        note(text)
    return job
