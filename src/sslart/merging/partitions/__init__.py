"""The steps by which a cluster fits one model to a table that no machine holds whole.

Every partition of the table is read twice. `summary_of` finds ranges, categories and classes; `Summary.joined` puts
summaries together in any tree, and `start_of` makes of them what all partitions learn with. `fit_part` learns the boxes
of one partition; `join_parts` merges what partitions have learnt, and `finish` returns the fitted model. All that goes
from one step to another pickles. `sslart.dask` runs these steps on dask.
"""

from sslart.merging.partitions._learn import finish, fit_part, join_parts
from sslart.merging.partitions._start import Start, second_look, start_of, wanted_of
from sslart.merging.partitions._summary import Summary, Wanted, summary_of

__all__ = [
    "Start",
    "Summary",
    "Wanted",
    "finish",
    "fit_part",
    "join_parts",
    "second_look",
    "start_of",
    "summary_of",
    "wanted_of",
]
