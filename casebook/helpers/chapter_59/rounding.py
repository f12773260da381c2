"""Correctly rounded results, from exact fractions."""

from fractions import Fraction as _Fraction
from math import frexp as _frexp

import numpy as _np


def once(a: _np.ndarray, b: _np.ndarray, c: _np.ndarray) -> _np.ndarray:
    """a * b + c, computed exactly and rounded once to their type: what an FMA must give.

    For float32 or float64, all finite; the results must be zero or normal numbers.
    """
    bits = _np.finfo(a.dtype).nmant + 1
    triples = zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
    exact = [_Fraction(x) * _Fraction(y) + _Fraction(z) for x, y, z in triples]
    return _np.array([_nearest(x, bits) for x in exact], a.dtype)


def _nearest(x: _Fraction, bits: int) -> float:
    step = _Fraction(2) ** (_frexp(x)[1] - bits)
    return float(round(x / step) * step)  # round() takes the even one of two neighbours
