"""Version information for bug reports."""

from __future__ import annotations

import platform
from importlib.metadata import version

from sslart._art.backend import describe


def show_versions() -> None:
    """Print the versions of sslart, its kernel, Python, and its dependencies.

    Examples
    --------
    >>> import sslart
    >>> sslart.show_versions()  # doctest: +ELLIPSIS
    sslart: ...
    kernel: ...
    """
    print(f"sslart: {version('sslart')}")
    print(f"kernel: {describe()}")
    print(f"python: {platform.python_version()} on {platform.system()} {platform.machine()}")
    for package in ("numpy", "scipy", "scikit-learn"):
        print(f"{package}: {version(package)}")
