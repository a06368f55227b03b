"""Packages that are not installed with sslart unless an extra names them: imported here, and only when needed."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Collection, Mapping
from typing import Any

# What may be imported inside a function: heavy packages that only some users need.
OPTIONAL_PACKAGES = (
    "apsw",
    "dask",
    "distributed",
    "httpx",
    "jinja2",
    "matplotlib",
    "onnx",
    "openpyxl",
    "pandas",
    "pyarrow",
    "rich",
    "river",
    "shap",
    "typer",
    "uvicorn",
)


def optional(module: str, extra: str) -> Any:
    """Return an imported module, such as "pandas", that an extra of sslart installs, such as "data".

    Raises an ImportError that names the packages to install: those of the extra, and never sslart itself, of which the
    index may hold none or another one.

    >>> optional("math", "data").pi
    3.141592653589793
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise ImportError(f"This needs {package}, which is not installed: {install_command(extra, package)}") from error


def install_command(extra: str, package: str) -> str:
    """Return the command that installs an extra of sslart, or a single package if the extra is unknown.

    >>> install_command("no such extra", "matplotlib")
    'pip install "matplotlib"'
    """
    try:
        declared = heavy("importlib.metadata").requires("sslart") or []
    except ModuleNotFoundError:  # run from a folder, without an installation
        declared = []
    return " ".join(["pip install", *(f'"{one}"' for one in _brought_by(extra, declared) or [package])])


def _brought_by(extra: str, declared: list[str]) -> list[str]:
    """Return the requirements of an extra, those of the extras that it names in their place, each once."""
    found: list[str] = []
    for line in declared:
        requirement, _, condition = (part.strip() for part in line.partition(";"))
        if not re.search(rf"extra\s*==\s*['\"]{re.escape(extra)}['\"]", condition):
            continue
        if sys.platform == "win32" and re.search(r"sys_platform\s*!=\s*['\"]win32['\"]", condition):
            continue
        own = re.fullmatch(r"sslart\s*\[(.*)\]", requirement)
        names = own[1].split(",") if own else []
        found += [one for name in names for one in _brought_by(name.strip(), declared)] if own else [requirement]
    return list(dict.fromkeys(found))


def heavy(module: str) -> Any:
    """Return a module of a package that is always installed, but takes long to import and is rarely needed.

    >>> heavy("fractions").Fraction(1, 3)
    Fraction(1, 3)
    """
    return importlib.import_module(module)


def lazy_names(package: str, modules: Mapping[str, str], packages: Collection[str] = ()) -> Callable[[str], Any]:
    """Return a `__getattr__` that imports the names of a package on first use, from the module of each name.

    Names in `packages` are packages in this one, which are imported as a whole.
    """

    def imported(name: str) -> Any:
        if name in packages:
            return importlib.import_module(f"{package}.{name}")
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(modules[name]), name)

    return imported
