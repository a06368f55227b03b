"""Types of the arrays that the modules pass around."""

import numpy as np
from numpy.typing import NDArray

SingleArray = NDArray[np.float32]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
