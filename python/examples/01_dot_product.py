"""The whole journey once: encrypt two arrays, compute, decrypt."""

import numpy as np

import sunzi

context = sunzi.Context.for_depth(1)
keys = sunzi.keygen(context)

prices = keys.encrypt(np.array([2.50, 3.99, 12.50]) / 16)
pieces = keys.encrypt(np.array([12, -3, 8]) / 16)
total = float(keys.decrypt(prices @ pieces)) * 256
print(f"{total:.4f}")
assert abs(total - 118.03) < 1e-3
