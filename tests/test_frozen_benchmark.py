"""Quality does not get worse unnoticed: the figures of a small benchmark against those that are kept."""

from __future__ import annotations

import json

from frozen_benchmark import FIGURES, KEPT, TABLES, measured

N_NOISE = 3.0  # standard deviations over random states


def test_no_figure_of_quality_is_worse_than_the_kept_one_beyond_noise() -> None:
    kept, now = json.loads(KEPT.read_text(encoding="utf-8")), measured()
    assert set(kept) == set(FIGURES)
    worse = {
        name: (now[name], kept[name]["kept"])
        for name, better in FIGURES.items()
        if better * (now[name] - kept[name]["kept"]) < -N_NOISE * kept[name]["noise"] - 1e-3
    }
    assert not worse, f"mean of {len(TABLES)} tables, now and kept: {worse}; see tests/frozen_benchmark.py"
