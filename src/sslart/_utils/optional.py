"""Optional packages, which extras of sslart install: imported only when needed."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Collection, Mapping
from typing import Any

# the only packages that may be imported inside a function: heavy ones that only some users need
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

    Raises an ImportError with the packages of the extra to install; not sslart itself, since the package index may have
    another package of that name.

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
    """Return the distinct requirements of an extra; extras that it includes are expanded."""
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
    """Import a module of an installed package on first use, because it is slow to import and rarely needed.

    >>> heavy("fractions").Fraction(1, 3)
    Fraction(1, 3)
    """
    return importlib.import_module(module)


def lazy_names(package: str, modules: Mapping[str, str], packages: Collection[str] = ()) -> Callable[[str], Any]:
    """Return a `__getattr__` that imports the names of a package on first use, from the module of each name.

    Names in `packages` are subpackages, which are imported as a whole.
    """

    def imported(name: str) -> Any:
        if name in packages:
            return importlib.import_module(f"{package}.{name}")
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(modules[name]), name)

    return imported
