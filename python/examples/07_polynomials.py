"""Functions of encrypted numbers: polynomials of integers, and any smooth function of real numbers on an interval."""

import numpy as np

import sunzi

# 7 - 5x + 3x^2 + x^3, exactly.
keys = sunzi.keygen(sunzi.Context.for_depth(2, dtype=int))
x = np.arange(-50, 50)
assert (keys.decrypt(keys.encrypt(x).polyval([7, -5, 3, 1])) == 7 - 5 * x + 3 * x**2 + x**3).all()

# The logistic function on [-8, 8]: its Chebyshev series tells degree and depth before anything is encrypted.
series = sunzi.Series.approximate(lambda x: 1 / (1 + np.exp(-x)), -8, 8, error=0.001)
print(f"degree {series.degree} in {series.depth} levels is within {series.error}")
keys = sunzi.keygen(sunzi.Context.for_depth(series.depth, bound=8))
points = np.linspace(-8, 8, 1000)
values = keys.encrypt(points).apply(series, (-8, 8))
print(values)
opened = keys.decrypt(values)
np.testing.assert_allclose(opened, 1 / (1 + np.exp(-points)), atol=0.002)
