"""Types of the arrays that the modules pass around."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

SingleArray = NDArray[np.float32]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
CountArray = NDArray[Any]  # of samples: int64, or float64 where samples count less with age
BoolArray = NDArray[np.bool_]
