"""When labels lead to a fit, and whether a request waits for it.

Labels that are learnt one by one leave the settings as they are for a while; a fit chooses them anew.
"""

from __future__ import annotations

from typing import Any

from sslart.server.models._hosted import HostedModel
from sslart.server.models._requests import Written
from sslart.server.store._jobs import labels_at_fit
from sslart.server.store._uploads import is_from_file

FEW_ROWS = 20_000  # to which a fit is quick
# by how much labels grow before there is another fit, by the number of rows: a fit takes longer with more
GROWTH = ((FEW_ROWS, 0.0), (300_000, 0.2), (2**63, 1.0))


def lead_to_fit(connection: Any, hosted: HostedModel, written: Written) -> bool:
    """Return whether labels were changed, or there are many more than at the last fit.

    Where one is under way, and no label was changed, the next labels decide.
    """
    if written.is_again or is_from_file(connection, hosted.id):
        return False
    if written.answer["corrected"]:
        return True
    n_then, n_since, is_waiting = labels_at_fit(connection, hosted.id)
    growth = next(one for most, one in GROWTH if hosted.n_rows <= most)
    return not is_waiting and n_since >= max(1.0, growth * n_then)


def learnt_with(hosted: HostedModel, written: Written, job: int | None) -> int:
    """Return the record that labels are learnt with: the fit that they lead to, unless it is slow and not needed."""
    own: int = written.answer["sequence"]
    is_needed = hosted.n_rows <= FEW_ROWS or written.answer["corrected"]
    return job if job is not None and is_needed else own
