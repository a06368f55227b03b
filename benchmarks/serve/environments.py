"""MLServer and BentoML, each in a separate environment below `results/serve`: `python -m serve.environments`.

They ask for other versions of packages than sslart is tested with. sslart is built from this checkout once, and
installed beside them, so that they serve the same estimator.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import sslart
from pieces import ROOT

FOLDER = ROOT / "results" / "serve"
MLSERVER, BENTOML = "MLServer", "BentoML"
REQUIREMENTS = {
    MLSERVER: ("mlserver==1.7.1", "mlserver-sklearn==1.7.1", "uvloop==0.21.0"),
    BENTOML: ("bentoml==1.4.39", "scikit-learn"),
}
NOTES = (
    "MLServer has uvloop 0.21.0: with 0.23.0 its worker process ends at once (*There is no current event loop*). "
    "BentoML is not the newest, 1.4.40: that asks for `certifi>=2026.10.19`, and the package index had 2026.10.18."
)
INSTALL = "python -m serve.environments"
NOT_SERVED = ("cli", "client", "server")  # parts of sslart that no peer uses


def python_of(name: str, folder: Path = FOLDER) -> Path:
    """Return the Python of an environment."""
    return folder / name.lower() / "bin" / "python"


def reason_to_skip(name: str, folder: Path = FOLDER) -> str | None:
    """Return why a peer cannot be measured, or None where it can."""
    why = _why(name, folder)
    if why.exists():
        return why.read_text()
    if not _mark(name, folder).exists():
        return f"it is not installed: `{INSTALL}` in `benchmarks`"
    return None


def _mark(name: str, folder: Path) -> Path:
    return folder / name.lower() / "installed"


def _why(name: str, folder: Path) -> Path:
    return folder / f"{name.lower()}-failed.txt"


def _digest() -> str:
    """Return a digest of what peers use of sslart."""
    package, digest = Path(sslart.__file__).parent, hashlib.sha256()
    sources = [path for path in package.rglob("*.py") if path.relative_to(package).parts[0] not in NOT_SERVED]
    for path in sorted([*sources, *(ROOT / "src" / "kernel").rglob("*.*")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def install(folder: Path = FOLDER) -> None:
    """Install what is not there yet, or not with today's sslart; where a peer cannot be installed, keep the reason."""
    wheel: Path | None = None
    for name, requirements in REQUIREMENTS.items():
        wanted, mark = "\n".join((*requirements, _digest())), _mark(name, folder)
        if mark.exists() and mark.read_text() == wanted:
            continue
        wheel = wheel or _wheel(folder)
        _why(name, folder).unlink(missing_ok=True)
        try:
            if not python_of(name, folder).exists():
                _run([sys.executable, "-m", "venv", str(mark.parent)])
            _pip(name, folder, [*requirements, str(wheel)])
            _pip(name, folder, ["--no-deps", "--force-reinstall", str(wheel)])
        except subprocess.CalledProcessError as error:
            reason = _reason(error)
            _why(name, folder).write_text(f"it could not be installed: {reason}")
            print(f"{name} could not be installed: {reason}")
        else:
            mark.write_text(wanted)
            print(f"{name} is in {mark.parent.relative_to(ROOT) if mark.is_relative_to(ROOT) else mark.parent}")


def _wheel(folder: Path) -> Path:
    target = folder / "wheel"
    for old in target.glob("*.whl"):
        old.unlink()
    _run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(target), str(ROOT)])
    return next(target.glob("*.whl"))


def _pip(name: str, folder: Path, arguments: Sequence[str]) -> None:
    _run([str(python_of(name, folder)), "-m", "pip", "install", "--quiet", *arguments])


def _run(command: Sequence[str]) -> None:
    subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True)


def _reason(error: subprocess.CalledProcessError) -> str:
    """Return pip's last words on an error, without the long list of versions."""
    said = [line.removeprefix("ERROR: ") for line in (error.stderr or "").splitlines() if line.startswith("ERROR: ")]
    return said[-1].split(" (from versions")[0] if said else f"{error.cmd[0]} ended with {error.returncode}"


def main() -> None:
    install()


if __name__ == "__main__":
    main()
