"""Evidence mapping in a network: which labels it keeps, when settings are chosen, and what it says of samples.

The rooms where that is worked out are entered when they are first needed, so that importing sslart stays quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sslart._art.network import Network
from sslart._data.classes import ClassTable
from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._mapping.evidence.settings import FAMILIES, MAX_BOXES, MEMBERS, PLAIN, Candidate, Key, Wishes
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.parallel import ONE_THREAD
from sslart._utils.params import check_number, check_option, check_whole

if TYPE_CHECKING:
    from sslart._mapping.evidence.reservoir import LabelMemory
    from sslart._mapping.evidence.selection import Learnt, Lesson

LEAST, MOST = 1e-6, 1e6  # of τ and λ: beyond, single precision can say no more


class EvidenceMapping:
    """What a classifier has for `mapping="evidence"`."""

    families: Any
    width: float | None
    ridge: float | None
    rank_share: float | None
    label_memory: int
    n_jobs: int | None
    _network: Network
    _class_table: ClassTable
    _memory: LabelMemory
    _chosen: tuple[Candidate, ...]
    _seed: int
    _learnt: Learnt | None
    _turn: int = 0

    def _wishes(self) -> Wishes:
        """Return what the user has fixed, after checking it."""
        name = type(self).__name__
        families = FAMILIES if self.families is None else tuple(np.atleast_1d(np.asarray(self.families, dtype=object)))
        unknown = [family for family in families if not (isinstance(family, str) and family in FAMILIES)]
        if unknown or not families:
            raise ValueError(
                f"families of {name} must be some of {', '.join(FAMILIES)}, got {self.families!r}. None takes all."
            )
        check_whole(name, "label_memory", self.label_memory)
        return Wishes(
            families,
            None if self.width is None else check_number(name, "width", self.width, LEAST, MOST),
            None if self.ridge is None else check_number(name, "ridge", self.ridge, LEAST, MOST),
            None if self.rank_share is None else check_number(name, "rank_share", self.rank_share, 0, 1),
        )

    def _start(self, seed: int) -> None:
        """Keep no labelled sample yet."""
        from sslart._mapping.evidence.reservoir import LabelMemory

        self._memory, self._seed, self._chosen, self._learnt = LabelMemory(), seed, (), None

    def _remember(self, table: Table, codes: IntArray) -> None:
        """Keep labelled samples. What follows from them and the boxes is worked out when it is asked for."""
        known = codes != UNLABELLED
        self._memory = self._memory.adding(table[known], codes[known], self.label_memory, self._seed)
        self._learnt, self._turn = None, self._turn + 1
        if not self._chosen and len(self._memory):
            self._chosen = (PLAIN,)  # until there is something to choose by

    def _choose(self, *, more_follow: bool = False) -> None:
        """Choose settings by the labels kept, if they are of two classes; if more samples follow, do no more."""
        from sslart._mapping.evidence.selection import choose, learn_all

        if len(self._class_table.seen) > 1:
            with ONE_THREAD:
                lesson = self._lesson()
                learnt = choose(lesson, self._wishes())
                self._learnt = None if more_follow else learn_all(lesson, learnt)
            self._chosen = learnt.chosen

    def _stretches(self, codes: IntArray, n_classes: int) -> list[tuple[slice, bool]]:
        """Cut samples of a stream where settings are to be chosen anew: however it came in calls, at the same labels.

        That is where the second class comes, given how many there are, and where labels are 2, 3, 4, 6, 8, 12, 16, ...
        With each stretch it is told whether to choose at its end: at the last of these, as a choice owes nothing to
        those before it and nobody asks in between.
        """
        known = np.flatnonzero(codes != UNLABELLED)
        numbers = self._memory.n_seen + 1 + np.arange(len(known))
        is_time = _is_time_to_choose(numbers)
        if n_classes < 2:
            others = codes[known] != (0 if n_classes or not len(known) else codes[known[0]])
            is_time[np.flatnonzero(others)[:1]] = True
        ends = (known[is_time] + 1).tolist()
        stretches = [(slice(start, end), end == ends[-1]) for start, end in zip([0, *ends], ends, strict=False)]
        rest = slice(ends[-1] if ends else 0, len(codes))
        return stretches if rest.start == len(codes) else [*stretches, (rest, False)]

    def _forget(self) -> None:
        """Keep no labelled samples: what is learnt with another mapping does not come with them."""
        for name in ("_memory", "_seed", "_chosen", "_learnt"):
            vars(self).pop(name, None)

    def _landmarks(self) -> IntArray:
        """Return the nodes that may speak: those that have met a label first, then those of most samples."""
        prototypes = self._network.nodes
        n = prototypes.n_nodes
        without = prototypes.labels[:n] == UNLABELLED
        return np.lexsort((np.arange(n), -prototypes.support[:n], without))[:MAX_BOXES]

    def _lesson(self) -> Lesson:
        from sslart._mapping.evidence.selection import Lesson

        return Lesson.of(self._network, self._landmarks(), self._memory, len(self._class_table.seen), self._seed)

    def _readable(self) -> None:
        """Raise a ValueError where no labelled samples were kept."""
        if not hasattr(self, "_memory"):
            raise ValueError(
                f"This {type(self).__name__} has learnt with another mapping and keeps no labelled samples: fit it "
                "again with mapping='evidence'."
            )

    def _heard(self) -> Learnt:
        """Return what follows from the labels kept and the boxes as they are."""
        from sslart._mapping.evidence.selection import learn

        self._readable()
        learnt, turn = self._learnt, self._turn
        if learnt is None:
            with ONE_THREAD:
                learnt = learn(self._lesson(), self._chosen)
            if turn == self._turn:  # no other thread has learnt on meanwhile
                self._learnt = learnt
        return learnt

    @property
    def evidence_weights_(self) -> dict[str, float]:
        """How much each family of evidence counts, as leave-one-out has it; they sum to one."""
        weights = dict.fromkeys(FAMILIES, 0.0)
        self._heard()
        for candidate in self._chosen:
            for key in candidate.keys:
                weights[MEMBERS.get(key.family, key.family)] += candidate.weight / len(candidate.keys)
        return {family: weight for family, weight in weights.items() if weight}

    @property
    def left_out_accuracy_(self) -> float:
        """Share of the labelled samples that the others alone predict rightly, with settings as chosen from all."""
        learnt = self._heard()
        return float(np.mean(learnt.left_out.argmax(axis=1) == learnt.places))

    def _class_success(self) -> FloatArray:
        """Return the share of the labels of each class, sorted, that the others alone predict; of all where none."""
        learnt = self._heard()
        right = learnt.left_out.argmax(axis=1) == learnt.places
        success = np.full(len(self._class_table.classes), right.mean())
        for code, place in enumerate(self._class_table.sorted_codes()):
            own = learnt.places == code
            if own.any():
                success[place] = right[own].mean()
        return success

    def _probabilities(self, table: Table, n_jobs: int | None = None) -> FloatArray:
        """Return the probability of each class, in the order of `classes_`."""
        readout = self._heard().readout
        self._network.encoder.check(table)
        with ONE_THREAD:
            found = readout.probabilities(readout.scores(self._network._encode(table)[0], n_jobs))
        if len(self._class_table.classes) == found.shape[1]:
            return found[:, np.argsort(self._class_table.sorted_codes())]
        every = np.zeros((len(found), len(self._class_table.classes)))
        every[:, self._class_table.sorted_codes()] = found
        return every

    def _evidence_state(self) -> dict[str, Any]:
        chosen = [
            {"keys": [list(key) for key in one.keys], "ridge": one.ridge, "weight": one.weight} for one in self._chosen
        ]
        return {
            "memory": self._memory.to_state() if len(self._memory) else None,
            "chosen": chosen,
            "seed": self._seed,
        }

    def _set_evidence_state(self, state: dict[str, Any]) -> None:
        n_columns, n_classes = self.n_features_in_, len(self._class_table.seen)  # type: ignore[attr-defined]
        self._start(state["seed"])
        if state["memory"] is not None:
            self._memory = self._memory.from_state(state["memory"], n_columns, n_classes)
        self._chosen = tuple(_candidate(one) for one in state["chosen"])
        fits = (
            bool(len(self._memory)) == bool(self._chosen) == bool(n_classes)
            and type(self._seed) is int
            and 0 <= self._seed < 2**32
        )
        if not fits:
            raise ValueError("the evidence of the model does not fit its classes")
        if len(self._memory):
            self._network.encoder.check(self._memory.whole().table)


def _candidate(state: dict[str, Any]) -> Candidate:
    """Return a candidate of a saved state, after checking that it can be one."""
    keys = tuple(Key(*key) for key in state["keys"])
    spreads = len(keys) == 1 and keys[0].family == "spread"
    check_number("a candidate", "weight", state["weight"], 0, 1, open_low=True)
    check_number("a candidate", "ridge", state["ridge"], 0 if spreads else LEAST, MOST)
    if not keys or (not spreads and any(key.family == "spread" for key in keys)):
        raise ValueError("the candidates of the model are none")
    for key in keys:
        check_option("a candidate", "family", key.family, tuple({*FAMILIES, *MEMBERS} - {*MEMBERS.values()}))
        check_number("a candidate", "rank_share", key.share, 0, 1)
        least, most = (0, 0.999) if key.family in MEMBERS else (0 if key.family == "linear" else LEAST, MOST)
        check_number("a candidate", "width", key.width, least, most)
    return Candidate(keys, state["ridge"], state["weight"])


def _is_time_to_choose(numbers: IntArray) -> BoolArray:
    """Tell which numbers are two or more and a power of two, or half as much more."""
    thirds = numbers // 3
    power, half_more = ((n > 0) & (n & (n - 1) == 0) for n in (numbers, thirds))
    return np.asarray((numbers > 1) & (power | ((numbers % 3 == 0) & half_more)))
