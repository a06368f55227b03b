"""Models learnt on parts of the data, merged into one.

`merge` takes fitted models. `sslart.merging.partitions` holds the steps that a cluster runs: it fits parts of a table
that no machine holds whole, with ranges and categories that all parts share, and merges what they have learnt.
"""

from sslart.merging._merge import merge

__all__ = ["merge"]
