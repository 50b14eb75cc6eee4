"""Noise: what uses it up, how decryption refuses, and what to do about it."""

import numpy as np

import sunzi

# Parameters for three products in a row, and a product of eight numbers.
keys = sunzi.keygen(sunzi.Context.for_depth(3, dtype=int, sums=0, plain_products=0, result_bound=65_000), rotations=[])
numbers = [2, 3, 4, 1, 5, 2, 7, 6]
fresh = [keys.encrypt(np.array([number])) for number in numbers]

# One after the other that is seven in a row. The bound is kept without the secret key.
chain = fresh[0]
for number in fresh[1:]:
    chain = chain * number
    print(f"{chain.bits_left:6.1f} bits left")
try:
    keys.decrypt(chain)
except sunzi.errors.NoiseExhausted as refused:
    print(f"refused: {refused}")
else:
    raise AssertionError("garbage was given for a result")

# In pairs it is three.
layer = fresh
while len(layer) > 1:
    layer = [left * right for left, right in zip(layer[::2], layer[1::2])]
    print(f"{len(layer)} left to multiply: {layer[0].bits_left:6.1f} bits left")
print(keys.decrypt(layer[0]))
assert keys.decrypt(layer[0]).tolist() == [int(np.prod(numbers))]
