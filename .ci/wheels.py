"""Build wheels from the sdist and test each with every Python it is for: `make wheels`.

Python 3.11 and each free-threaded Python have a wheel of their own; one stable-ABI wheel is for 3.12 and later.
Pythons are looked for on PATH, among those of pyenv, and in the variable PYTHONS (paths, with spaces between them).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
VERSIONS = ("3.11", "3.12", "3.13", "3.14", "3.13t", "3.14t")
FIRST_STABLE = "3.12"
NEEDED = ("pytest>=8", "pytest-xdist>=3.5", "hypothesis>=6.100", "pandas>=2.1")
TESTS = (
    "tests/_art",
    "tests/_data",
    "tests/_utils",
    "tests/_mapping/evidence/test_scorer.py",
    "tests/estimators/test_at_once.py",
    "tests/estimators/test_sslart.py",
    "tests/estimators/test_stream.py",
    "tests/test_persistence.py",
)
VERSION_OF = """
import sys, sysconfig
print("%d.%d" % sys.version_info[:2] + "t" * bool(sysconfig.get_config_var("Py_GIL_DISABLED")))
"""
KERNEL_IS_THERE = "import sslart._kernel"
LOCK_STAYS_OFF = "import sys, sslart._kernel; from sslart import SSLART; assert not sys._is_gil_enabled()"


def run(*command: str | Path, folder: Path = ROOT) -> None:
    """Run a command; if it fails, end with its output."""
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(str(word) for word in command)}\n{done.stdout}{done.stderr}")


def version_of(python: Path | str) -> str:
    """Return the version of an interpreter, such as 3.14t, or nothing if it does not start."""
    try:
        done = subprocess.run([str(python), "-c", VERSION_OF], capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip()


def found() -> dict[str, Path]:
    """Return the interpreters of this machine by version."""
    named = [Path(path) for path in os.environ.get("PYTHONS", "").split()]
    on_path = [Path(path) for version in VERSIONS if (path := shutil.which(f"python{version}"))]
    pyenv = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/3.*/bin/python"))
    pythons: dict[str, Path] = {}
    for path in [*named, *on_path, *pyenv]:
        version = version_of(path)
        if version in VERSIONS:
            pythons.setdefault(version, path)
    return pythons


def environment(python: Path, folder: Path, *packages: str | Path) -> Path:
    """Make a virtual environment with packages in it; return its interpreter."""
    run(python, "-m", "venv", folder)
    inside = folder / "bin" / "python"
    run(inside, "-m", "pip", "install", "--quiet", "--prefer-binary", *packages)
    return inside


def build_sdist(builder: Path, folder: Path) -> Path:
    """Build the sdist, check that it has nothing but files of the repository, and unpack it."""
    run(builder, "-m", "build", "--sdist", "--outdir", folder, ROOT)
    (archive,) = folder.glob("*.tar.gz")
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    with tarfile.open(archive) as file:
        names = [name.split("/", 1)[1] for name in file.getnames()]
        file.extractall(folder, filter="data")
    if strangers := sorted(set(names) - set(tracked) - {"PKG-INFO"}):
        sys.exit(f"The sdist has files that are not in the repository: {', '.join(strangers)}")
    shutil.copy(archive, DIST)
    print(f"{archive.name}: {len(names)} files")
    return folder / archive.name.removesuffix(".tar.gz")


def build_wheel(builder: Path, python: Path, source: Path, folder: Path) -> Path:
    """Build the wheel of an interpreter from the unpacked sdist; one without the kernel is a failed build."""
    run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "-C", "wheel.cmake=true", "--wheel-dir", folder, source)
    (wheel,) = folder.glob("*.whl")
    if "abi3" in wheel.name:
        run(builder, "-m", "abi3audit", "--strict", wheel)
    return Path(shutil.copy(wheel, DIST))


def test_wheel(python: Path, version: str, wheel: Path, source: Path, folder: Path) -> str:
    """Install a wheel into an environment of its own and run the tests of the model there; return their last line."""
    inside = environment(python, folder, wheel, *NEEDED)
    run(inside, "-c", KERNEL_IS_THERE)
    if version.endswith("t"):
        run(inside, "-W", "error", "-c", LOCK_STAYS_OFF)
    marks = "not slow" if version.endswith("t") else "not slow and not stress"
    command = [str(inside), "-m", "pytest", "-q", "-n", "2", "-m", marks, "-p", "no:cacheprovider", *TESTS]
    done = subprocess.run(
        command, cwd=source, capture_output=True, text=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    )
    if done.returncode:
        sys.exit(f"{version} with {wheel.name}:\n{done.stdout}{done.stderr}")
    return done.stdout.splitlines()[-1].strip("= ")


def main() -> None:
    """Build and test all wheels for which there is a Python."""
    pythons = found()
    for version in VERSIONS:
        if version not in pythons:
            print(f"{version}: skipped, because there is no such Python here; name one in the variable PYTHONS")
    DIST.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        builder = environment(Path(sys.executable), folder / "builder", "build", "abi3audit")
        source = build_sdist(builder, folder / "sdist")
        stable: Path | None = None
        for version in (version for version in VERSIONS if version in pythons):
            has_stable = not version.endswith("t") and version >= FIRST_STABLE
            wheel = stable if has_stable else None
            if wheel is None:
                wheel = build_wheel(builder, pythons[version], source, folder / f"wheel-{version}")
                stable = wheel if has_stable else stable
            result = test_wheel(pythons[version], version, wheel, source, folder / f"venv-{version}")
            print(f"{version}: {wheel.name}: {result}", flush=True)


if __name__ == "__main__":
    main()
