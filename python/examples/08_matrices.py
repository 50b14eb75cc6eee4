"""A clear matrix times an encrypted vector, and a dot product of two encrypted ones: a linear layer, or any linear map."""

import time

import numpy as np

import sunzi

rng = np.random.default_rng(1)
weights, vector = rng.integers(-10, 11, (16, 100)), rng.integers(-10, 11, 100)

keys = sunzi.keygen(sunzi.Context.for_depth(1, dtype=int))
encrypted = keys.encrypt(vector)
started = time.perf_counter()
product = weights @ encrypted
print(f"16 x 100: {time.perf_counter() - started:.2f} s, {product.bits_left:.0f} bits left")
assert (keys.decrypt(product) == weights @ vector).all()

other = keys.encrypt(rng.integers(-10, 11, 100))
assert int(keys.decrypt(encrypted @ other)) == int(vector @ keys.decrypt(other))
