"""Numbers for readers: three digits, a prefix that suits the unit, a dash for NaN."""

from __future__ import annotations

from math import floor, isfinite, isnan, log10

NOTHING = "–"
NARROW = "\u202f"
"""Narrow no-break space between a number and its unit."""
ROUND_OFF = 1e-12
"""Figures in SI units below this are rounding errors."""
PREFIXES = {-15: "f", -12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G"}
PREFIXED = ("m", "s", "J", "N", "N s", "m/s")
"""Units that take a prefix."""
SHOWN: dict[str, tuple[str, float]] = {"m": ("mm", 1e3), "m/s": ("mm/s", 1e3)}
"""Unit that a table's column uses instead, and the factor to it."""
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def plain(value: float, digits: int = 3) -> str:
    """0.00123, 12.3, 1230, 1.23·10⁻⁷, –."""
    if isnan(value):
        return NOTHING
    if not isfinite(value):
        return "∞" if value > 0 else "−∞"
    if value == 0.0:
        return "0"
    exponent = floor(log10(abs(value)))
    if -4 < exponent < 5:
        return _minus(f"{value:.{max(0, digits - 1 - exponent)}f}" if exponent < digits else f"{value:.0f}")
    mantissa, power = f"{value:.{digits - 1}e}".split("e")
    return f"{_minus(mantissa)}·{power_of_ten(int(power))}"


def power_of_ten(exponent: int) -> str:
    return "10" + str(exponent).translate(_SUPERSCRIPT)


def with_unit(value: float, unit: str, digits: int = 3) -> str:
    """``with_unit(2e-5, "m")`` is 20 µm; trailing zeros are left out."""
    if isnan(value):
        return NOTHING
    if unit not in PREFIXED or not isfinite(value) or value == 0.0:
        return f"{plain(value, digits)}{NARROW + unit if unit and unit != '1' else ''}"
    rounded = float(f"{value:.{digits - 1}e}")
    exponent = min(max(3 * floor(log10(abs(rounded)) / 3 + 1e-12), min(PREFIXES)), max(PREFIXES))
    scaled = rounded / 10.0**exponent
    if not 1e-3 < abs(scaled) < 1e4:
        return f"{plain(value, digits)}{NARROW}{unit}"
    text = f"{scaled:.{digits}f}".rstrip("0").rstrip(".")
    return f"{_minus(text)}{NARROW}{PREFIXES[exponent]}{unit}"


def seconds(value: float) -> str:
    """A time with its unit."""
    return with_unit(value, "s")


def column(value: float, unit: str) -> str:
    """A cell of a column whose heading says ``column_unit(unit)``."""
    return plain(value * SHOWN.get(unit, (unit, 1.0))[1])


def column_unit(unit: str) -> str:
    unit = SHOWN.get(unit, (unit, 1.0))[0]
    return "" if unit in ("1", "1 or m") else unit


def _minus(text: str) -> str:
    return text.replace("-", "−")
