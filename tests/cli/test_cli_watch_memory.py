"""`sslart watch` with evidence mapping takes no more memory for more rows."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import sslart

N_ROWS = 100_000
EVERY = 2_000
N_KEPT = 60  # labels
WARM_UP = 20_000
MAX_GROWTH = 0.05


@pytest.mark.stress
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory of another process is read from /proc")
def test_memory_of_watch_stays_flat(tmp_path: Path) -> None:
    flowers = load_iris(as_frame=True)
    species = flowers.target_names[flowers.target]
    path = tmp_path / "model.sslart"
    few = [label if row % 5 == 0 else None for row, label in enumerate(species)]
    sslart.save(sslart.AutoSSLART(random_state=0, max_labels=N_KEPT).fit(flowers.data, few), path)
    columns = list(flowers.data.columns)
    command = [sys.executable, "-W", "ignore", "-m", "sslart", "watch", str(path), "--label", "species"]
    command += ["--every", str(EVERY), "--rejects", str(tmp_path / "bad.jsonl")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:

        def feed() -> None:
            random = np.random.default_rng(0)
            for number in range(N_ROWS):
                row = int(random.integers(150))
                cells = dict(zip(columns, flowers.data.iloc[row].tolist(), strict=True))
                label = {"species": species[row]} if number % 100 == 0 else {}
                process.stdin.write(json.dumps({**cells, **label, f"other {number}": 1}).encode() + b"\n")
                if number % 1000 == 0:
                    process.stdin.write(b"no row\n")
            process.stdin.close()

        feeder = threading.Thread(target=feed)
        feeder.start()
        megabytes = []
        for number, _ in enumerate(process.stdout, start=1):
            if number >= WARM_UP and number % 10_000 == 0:
                megabytes.append(_megabytes(process.pid))
        feeder.join()
        errors = process.stderr.read().decode()
    assert process.returncode == 0, errors
    assert f"saved through row {N_ROWS + N_ROWS // 1000}" in errors
    assert max(megabytes) <= (1 + MAX_GROWTH) * megabytes[0], megabytes


def _megabytes(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))
