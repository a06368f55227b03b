"""The user's own models in an experiment: any importable classifier with scikit-learn's interface."""

from __future__ import annotations

import difflib
import hashlib
import importlib
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reproduction.framework.protocol import Labels, Task
from reproduction.methods.competitors import codes_of, preparation
from sslart import SSLART, WESSLART


class UnsuitableModelError(ValueError):
    """A class that cannot take part; the message names the cause and the remedy."""


@dataclass(frozen=True)
class Variant:
    """A class named as ``package:Class``; a changed source file is another variant.

    Estimators of sslart get samples as they are; all others get numbers in [0, 1] without gaps, categories as
    indicators, as the competitors do. Classes are numbers, and -1 stands for no label. A class that would take -1 for a
    class learns from the labelled samples alone.

    Attributes
    ----------
    name : str
        As given; its name in records and tables.
    sha256 : str
        Of the source file, where there is one.
    """

    name: str
    sha256: str = ""

    @classmethod
    def of(cls, name: str) -> Variant:
        """Return a class that was imported and found fit, or raise an `UnsuitableModelError`."""
        found = imported(name)
        missing = [method for method in ("fit", "predict") if not callable(getattr(found, method, None))]
        if missing:
            raise UnsuitableModelError(
                f"--model {name}: the class has no method {' and no method '.join(missing)}. Give it fit(X, y) and "
                "predict(X), as classifiers of scikit-learn have them."
            )
        try:
            found()
        except Exception as error:
            raise UnsuitableModelError(
                f"--model {name}: {found.__name__}() fails with {_in_words(error)}. Give every parameter a default: "
                "a subclass that sets them is enough."
            ) from error
        try:
            source = inspect.getsourcefile(found)
        except TypeError:  # a class written in C, or at a prompt
            source = None
        return cls(name, hashlib.sha256(Path(source).read_bytes()).hexdigest() if source else "")

    def check(self, needs: Sequence[str], experiment: str) -> None:
        """Raise an `UnsuitableModelError` where an experiment needs more than the class has.

        Parameters
        ----------
        needs : sequence of str
            Methods, and names of estimators of sslart, of which the class must be a subclass of one.
        """
        found = imported(self.name)
        for method in (one for one in needs if one not in _PARENTS):
            if not callable(getattr(found, method, None)):
                raise UnsuitableModelError(
                    f"--model {self.name}: experiment {experiment!r} needs a method {method}, which the class does "
                    f"not have. Write {method}(X, y), or run another experiment."
                )
        parents = [one for one in needs if one in _PARENTS]
        if parents and not issubclass(found, tuple(_PARENTS[one] for one in parents)):
            raise UnsuitableModelError(
                f"--model {self.name}: experiment {experiment!r} looks at the boxes of a model, which only a subclass "
                f"of {' or '.join(f'sslart.{one}' for one in parents)} has. Derive the class from it, or run another "
                "experiment."
            )

    def fitted(self, task: Task, vigilance: float | None = None, *, of_stream: Labels | None = None) -> FittedVariant:
        """Return the model, trained on a task; where it goes on with `partial_fit`, `of_stream` are all classes."""
        return FittedVariant(self.name, task, vigilance, of_stream)

    def at(
        self, task: Task, vigilances: Sequence[float], *, of_stream: Labels | None = None
    ) -> list[tuple[FittedVariant, tuple[float, ...]]]:
        """Return trained models, each with the vigilances that it stands for: all of them if the class has none."""
        if "vigilance" in parameters(imported(self.name)):
            return [(self.fitted(task, rho, of_stream=of_stream), (rho,)) for rho in vigilances]
        return [(self.fitted(task, of_stream=of_stream), tuple(vigilances))]


class FittedVariant:
    """A trained model that takes and gives the labels of a task."""

    def __init__(self, name: str, task: Task, vigilance: float | None, of_stream: Labels | None) -> None:
        self.name = name
        found = imported(name)
        self.prepare: Any = None if issubclass(found, _OURS) else preparation(task).transform
        wanted = {"vigilance": vigilance, "random_state": task.seed}
        given = {key: value for key, value in wanted.items() if value is not None and key in parameters(found)}
        codes, self.classes = codes_of(task, of_stream)
        X = self._samples(task.X)
        self.model = self._try("fit", lambda: found(**given).fit(X, codes))
        if (codes < 0).any() and -1 in self._known(X[:50] if not hasattr(X, "iloc") else X.iloc[:50]):
            rows = codes >= 0
            model = found(**given)
            if of_stream is not None:
                self.model = model
                self._learn(X[rows], codes[rows])
            else:
                self.model = self._try("fit", lambda: model.fit(X[rows], codes[rows]))

    def _known(self, X: Any) -> list[int]:
        """Return the classes that the model knows: -1 among them if it takes samples without a label for a class."""
        known = getattr(self.model, "classes_", None)
        return list(known if known is not None else self._try("predict", lambda: self.model.predict(X)))

    def predict(self, X: Any, search_depth: int | None = None) -> Labels:
        """Return the classes predicted, None for -1, None and NaN: the model abstains.

        A model that has a `search_depth` gets the one given.
        """
        if search_depth is not None and hasattr(self.model, "search_depth"):
            self.model.search_depth = search_depth
        samples = self._samples(X)
        found = np.asarray(self._try("predict", lambda: self.model.predict(samples)))
        if found.shape != (len(samples),):
            raise UnsuitableModelError(
                f"--model {self.name}: predict returned an array of shape {found.shape} for {len(samples)} samples. "
                "Return one class for each."
            )
        names = dict(enumerate(self.classes))
        strange = [code for code in found.tolist() if code not in names and not _is_none(code)]
        if strange:
            raise UnsuitableModelError(
                f"--model {self.name}: predict returned {strange[0]!r}, which is no class that it learnt. Return "
                "values of y as fit gets them, -1 for none."
            )
        return np.array([names.get(code) for code in found.tolist()], dtype=object)

    def partial_fit(self, X: Any, y: Labels) -> None:
        """Learn more labelled samples."""
        places = {name: code for code, name in enumerate(self.classes)}
        self._learn(self._samples(X), np.array([places[name] for name in y]))

    def _learn(self, X: Any, codes: Any) -> None:
        takes_classes = "classes" in inspect.signature(self.model.partial_fit).parameters
        more = {"classes": np.arange(len(self.classes))} if takes_classes else {}
        self._try("partial_fit", lambda: self.model.partial_fit(X, codes, **more))

    def _samples(self, X: Any) -> Any:
        return X if self.prepare is None else np.asarray(self.prepare(X), dtype=np.float64)

    def _try(self, method: str, call: Any) -> Any:
        try:
            return call()
        except Exception as error:
            raise UnsuitableModelError(
                f"--model {self.name}: {method} fails with {_in_words(error)}. Correct the class: it gets samples and "
                "numbers of classes, -1 where a label is hidden."
            ) from error


_OURS = (SSLART, WESSLART)
_PARENTS: dict[str, type] = {"SSLART": SSLART, "WESSLART": WESSLART}


def imported(name: str) -> Any:
    """Return the class that ``package:Class`` names, or raise an `UnsuitableModelError`."""
    module_name, colon, class_name = name.partition(":")
    if not (module_name and colon and class_name):
        raise UnsuitableModelError(f"--model takes package:Class, such as sklearn.svm:SVC, got {name!r}.")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise UnsuitableModelError(
            f"--model {name}: the import of {module_name} fails with {_in_words(error)}. Install it, or start from the "
            "folder that it is in, or name that folder in PYTHONPATH."
        ) from error
    found = getattr(module, class_name, None)
    if not inspect.isclass(found):
        classes = [key for key, value in vars(module).items() if inspect.isclass(value) and key[0] != "_"]
        close = difflib.get_close_matches(class_name, classes, n=1)
        hint = f"Did you mean {close[0]}?" if close else f"Its classes: {', '.join(classes[:12]) or 'none'}."
        what = "is no class" if hasattr(module, class_name) else "is not there"
        raise UnsuitableModelError(f"--model {name}: {class_name} {what} in {module_name}. {hint}")
    return found


def parameters(found: Any) -> set[str]:
    """Return the names of the parameters of a class."""
    return set(inspect.signature(found).parameters)


def _in_words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".rstrip(".")


def _is_none(code: Any) -> bool:
    return code is None or code == -1 or code != code
