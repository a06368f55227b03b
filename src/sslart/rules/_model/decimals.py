"""Short decimals between two values, so that the number printed is the number compared with."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from math import floor, log10

MAX_DIGITS = 20


def short_decimal(low: float, high: float) -> float:
    """Return the number with the fewest decimals from `low` up to, but not including, `high`; then the most central.

    Examples
    --------
    >>> from sslart.rules._model.decimals import short_decimal
    >>> short_decimal(2.0, 3.0), short_decimal(0.62, 0.871), short_decimal(5.2, 5.3)
    (2.0, 0.7, 5.2)
    """
    middle = (Decimal(repr(float(low))) + Decimal(repr(float(high)))) / 2
    first = floor(log10(high - low)) + 1 if high - low > 0 else 0
    for exponent in range(first, first - MAX_DIGITS, -1):
        step = Decimal(1).scaleb(exponent)
        near = [(middle / step).to_integral_value(way) * step for way in (ROUND_FLOOR, ROUND_CEILING)]
        inside = [value for value in near if low <= float(value) < high]
        if inside:
            return float(min(inside, key=lambda value: abs(value - middle))) + 0.0
    return low


def number_repr(value: float) -> str:
    """Return a number as Python, SQL and a reader take it, with nothing rounded away.

    Examples
    --------
    >>> from sslart.rules._model.decimals import number_repr
    >>> number_repr(2.0), number_repr(0.1), number_repr(1e-7)
    ('2', '0.1', '1e-07')
    """
    return repr(float(value)).removesuffix(".0")
