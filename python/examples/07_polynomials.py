"""Functions of encrypted numbers: polynomials of integers, and functions of real numbers on an interval, with errors that hold."""

import numpy as np

import sunzi

# 7 - 5x + 3x^2 + x^3, exactly.
keys = sunzi.keygen(sunzi.Context.for_depth(2, dtype=int))
x = np.arange(-50, 50)
assert (keys.decrypt(keys.encrypt(x).polyval([7, -5, 3, 1])) == 7 - 5 * x + 3 * x**2 + x**3).all()

# The logistic function on [-8, 8]: its Chebyshev series tells degree and depth before anything is encrypted.
series = sunzi.Series.approximate("sigmoid", -8, 8, error=0.001)
assert series.error_is_proved
print(f"degree {series.degree} in {series.depth} levels is within {series.error}")
keys = sunzi.keygen(sunzi.Context.for_depth(series.depth, bound=8))
points = np.linspace(-8, 8, 1000)
values = keys.encrypt(points).apply(series, (-8, 8))
print(values)
opened = keys.decrypt(values)
assert (np.abs(opened - 1 / (1 + np.exp(-points))) <= values.error).all() and values.error < 0.0012

# Where numbers lie is declared and checked when they are encrypted; a function takes no others than those of its interval.
small = keys.encrypt([0.0, 0.05, -0.1], bounds=(-0.1, 0.1))
print(small.bounds, small.apply(np.exp, (-0.1, 0.1)).bounds)
try:
    values.apply(np.exp, (-0.1, 0.1))
except sunzi.errors.OutsideInterval as refused:
    print(refused)
else:
    raise AssertionError("numbers outside of an interval were taken")
