"""The steps by which a cluster fits one model to a table that no machine holds whole.

Every partition of the table is read twice. `summary_of` finds ranges, categories and classes; `Summary.joined` puts
summaries together in any tree, and `start_of` makes of them what all partitions learn with. `fit_part` learns the boxes
of one partition; `join_parts` merges what partitions have learnt, and `finish` returns the fitted model. All that goes
from one step to another pickles. `sslart.dask` runs these steps on dask.

Examples
--------
>>> from sklearn.datasets import load_iris
>>> from sslart import SSLART
>>> from sslart.merging.partitions import Summary, finish, fit_part, join_parts, start_of, summary_of, wanted_of
>>> X, y = load_iris(return_X_y=True)
>>> parts = [(X[::3], y[::3]), (X[1::3], y[1::3]), (X[2::3], y[2::3])]
>>> model = SSLART(vigilance=0.8, random_state=0)
>>> wanted = wanted_of(model)
>>> found = [summary_of(model, *part, number=number, wanted=wanted) for number, part in enumerate(parts)]
>>> start = start_of(model, Summary.joined(found))
>>> learnt = [fit_part(model, *part, start, number=number) for number, part in enumerate(parts)]
>>> fitted = finish(model, join_parts(model, learnt))
>>> int(fitted.support_.sum())
150
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
