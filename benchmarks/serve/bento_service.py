"""The models under BentoML: run by the Python of its own environment, with their files in the folder of MODELS."""

from __future__ import annotations

import os
from pathlib import Path

import bentoml
import numpy as np

import sslart


@bentoml.service(workers=1)
class Boxes:
    def __init__(self) -> None:
        self.models = {path.stem: sslart.load(path) for path in Path(os.environ["MODELS"]).glob("*.sslart")}

    @bentoml.api
    def predict(self, model: str, rows: np.ndarray) -> np.ndarray:
        return self.models[model].predict_proba(rows)
