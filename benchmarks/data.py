"""Data of the benchmarks, scaled to [0, 1] so that every contender gets the same numbers."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits


def unit(X: np.ndarray) -> np.ndarray:
    span = np.ptp(X, axis=0)
    return np.ascontiguousarray((X - X.min(axis=0)) / np.where(span > 0, span, 1.0))


def digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return unit(X), y


def mixture(n_samples: int, n_features: int = 32, n_clusters: int = 50) -> tuple[np.ndarray, np.ndarray]:
    """Return a mixture of Gaussians: centres uniform in the cube, standard deviations of 0.05 to 0.15."""
    random = np.random.RandomState(0)
    centres = random.rand(n_clusters, n_features)
    widths = random.uniform(0.05, 0.15, size=(n_clusters, 1))
    y = random.randint(n_clusters, size=n_samples)
    return unit(centres[y] + widths[y] * random.standard_normal((n_samples, n_features))), y % 10


def stream(n_samples: int, n_features: int = 8) -> np.ndarray:
    return mixture(n_samples, n_features, n_clusters=200)[0]


def mnist() -> np.ndarray | None:
    """Return all 70,000 MNIST images from the folder in SSLART_DATA, or None where there is none."""
    folder = Path(os.environ.get("SSLART_DATA", "")) / "mnist"
    names = ("train-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte.gz")
    if not all((folder / name).exists() for name in names):
        return None
    images = [np.frombuffer(gzip.decompress((folder / name).read_bytes()), np.uint8, offset=16) for name in names]
    return unit(np.concatenate(images).reshape(-1, 784).astype(np.float64))
