"""The compiled twin of `sslart._art.reference`: the same functions, the same results, faster."""

import numpy as np

from sslart._utils.arrays import FloatArray, IntArray, SingleArray

Flags = np.ndarray[tuple[int], np.dtype[np.uint8]]

class SearchCache:
    def __init__(self, filter_from: int = 96, tree_from: int = 4096) -> None: ...
    def __copy__(self) -> SearchCache: ...

def new_cache() -> SearchCache: ...
def encode(matrix: FloatArray, lower: FloatArray, upper: FloatArray, coded: FloatArray) -> bool: ...
def learn(
    cache: SearchCache,
    weights: FloatArray,
    norms: FloatArray,
    support: IntArray,
    counts: IntArray,
    labels: IntArray,
    progress: IntArray,
    *,
    vigilance: float,
    choice: float,
    learning_rate: float,
    match_tracking: float,
    one_to_one: bool,
    samples: FloatArray,
    targets: IntArray,
    winners: IntArray,
    predicted: IntArray | None,
    search_depth: int,
    journal_weights: FloatArray | None,
    journal_support: IntArray | None,
    journal_counts: IntArray | None,
    stop: Flags,
) -> None: ...
def join(
    weights: FloatArray,
    keys: IntArray,
    into: IntArray,
    joined: FloatArray,
    vigilance: FloatArray,
    *,
    max_boxes: int,
    cell_size: int,
    stop: Flags,
) -> int: ...
def rank(
    cache: SearchCache,
    weights: FloatArray,
    norms: FloatArray,
    labels: IntArray,
    n_nodes: int,
    *,
    choice: float,
    labelled_only: bool,
    samples: FloatArray,
    nodes: IntArray,
    matches: FloatArray,
    n_threads: int,
    stop: Flags,
) -> None: ...
def measure(
    samples: SingleArray, lower: SingleArray, upper: SingleArray, distances: SingleArray, stop: Flags
) -> None: ...
def nearest_centres(
    samples: FloatArray, centres: FloatArray, missing: FloatArray, nearest: IntArray, stop: Flags
) -> None: ...

class Scorer:
    def __init__(self, bias: FloatArray) -> None: ...
    def set_ranks(self, offsets: IntArray, values: FloatArray, shares: FloatArray) -> None: ...
    def add_boxes(
        self,
        rank_weight: float,
        features: IntArray,
        factors: FloatArray,
        lower: SingleArray,
        upper: SingleArray,
        rate: float,
        weights: SingleArray,
    ) -> None: ...
    def add_graph(self, rank_weight: float, centres: FloatArray, missing: FloatArray, outputs: FloatArray) -> None: ...
    def add_linear(self, rank_weight: float, centre: FloatArray, slopes: FloatArray) -> None: ...
    def add_splines(self, rank_weight: float, heights: FloatArray) -> None: ...
    def scores(self, coded: FloatArray, scores: FloatArray, n_threads: int, stop: Flags) -> None: ...
    def contributions(
        self,
        coded: FloatArray,
        columns: IntArray,
        by_column: FloatArray,
        of_graph: FloatArray,
        n_threads: int,
        stop: Flags,
    ) -> None: ...

class StreamFunctions:
    def __init__(
        self,
        offsets: IntArray,
        values: FloatArray,
        shares: FloatArray,
        rank_weight: float,
        lower: SingleArray,
        upper: SingleArray,
        n_boxes: int,
        width: float,
        middle: float,
        n_trends: int,
    ) -> None: ...
    def values(self, coded: FloatArray, scores: FloatArray, out: FloatArray, stop: Flags) -> None: ...

def compete(
    scores: FloatArray,
    targets: IntArray,
    sharpness: float,
    kept: float,
    losses: FloatArray,
    errors: FloatArray,
    predicted: IntArray,
) -> None: ...
def instruction_set() -> str: ...
def instruction_sets() -> list[str]: ...
def use_instruction_set(name: str) -> None: ...
