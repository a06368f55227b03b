"""The counterfactuals of one sample: plain data, no search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from sslart._utils.optional import optional
from sslart.explain import _what_if_text as text
from sslart.explain._boxes import Class, Value
from sslart.explain._counterfactuals.changes import Counterfactual


@dataclass(frozen=True, eq=False)
class Counterfactuals(Sequence[Counterfactual]):
    """Changes of one sample, each of which leads to another prediction; those of few features first.

    A sequence: `len(found)`, `found[0]`, `for one in found`.

    Attributes
    ----------
    prediction : class or None
        What the model predicts for the sample as it is; None where it abstains.
    abstained : bool
    confidence : float or None
        Probability of that class; None where the model abstains.
    target : class or None
        The class that was wanted; None for any other class.
    sample : tuple
        The sample as it is, one value per column; None where missing.
    feature_names : list of str
    note : str
        Why there are fewer counterfactuals than wanted; empty where there are enough.
    """

    prediction: Class | None
    confidence: float | None
    target: Class | None
    sample: tuple[Value | None, ...]
    feature_names: list[str]
    note: str
    _found: tuple[Counterfactual, ...] = field(repr=False)

    @property
    def abstained(self) -> bool:
        """Whether the model predicts no class for the sample as it is."""
        return self.confidence is None

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, place: int) -> Counterfactual: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Counterfactual, ...]: ...
    def __getitem__(self, place: int | slice) -> Counterfactual | tuple[Counterfactual, ...]:
        return self._found[place]

    def __str__(self) -> str:
        return text.as_text(self)

    def __repr__(self) -> str:
        return f"<Counterfactuals: {len(self)}; {text.headline(self)}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the counterfactuals as plain values that JSON knows."""
        return text.as_dict(self)

    def to_frame(self) -> Any:
        """Return a pandas frame: the sample as it is, then each changed sample, with its prediction.

        The features come first, so that ``model.predict(found.to_frame()[found.feature_names])`` repeats the
        predictions. Needs pandas.
        """
        given = [*self.sample, self.prediction, self.confidence, 0.0, True]
        rows = [[*one.sample, one.prediction, one.confidence, one.distance, one.plausible] for one in self]
        added = ("prediction", "confidence", "distance", "plausible")
        names = [f"{name} (model)" if name in self.feature_names else name for name in added]
        index = ["given", *(f"change {number}" for number in range(1, len(self) + 1))]
        return optional("pandas", "data").DataFrame([given, *rows], index=index, columns=[*self.feature_names, *names])

    def _repr_html_(self) -> str:
        return text.as_html(self)
