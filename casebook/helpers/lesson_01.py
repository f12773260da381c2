"""The checks of lesson 1, a first kernel."""

import numpy as np
from lesson import Exercise, few_blocks, numbers, writes_once

check_double = Exercise(
    inputs=lambda n: [numbers(n)],
    expected=lambda x: 2 * x,
    rules=[writes_once, few_blocks],
)
check_differences = Exercise(
    inputs=lambda n: [numbers(n)],
    expected=np.diff,
    rules=[writes_once, few_blocks],
)
