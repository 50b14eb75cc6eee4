"""Integers stay exact: sums, means and variances of a table that the server never sees."""

import numpy as np

import sunzi

context = sunzi.Context.for_depth(1, dtype=int, result_bound=10**8)
keys = sunzi.keygen(context)

# One row for each patient: age, pulse, weight in kilograms.
table = np.array([[34, 71, 82], [58, 66, 74], [41, 80, 95], [67, 75, 68]])
encrypted = keys.encrypt(table)
print(encrypted)

# Quotients are made when they are decrypted: encrypted integers are only added and multiplied.
mean, variance = encrypted.mean(axis=0), encrypted.var(axis=0)
print(keys.decrypt(mean), keys.decrypt(variance))
np.testing.assert_allclose(keys.decrypt(mean), table.mean(axis=0))
np.testing.assert_allclose(keys.decrypt(variance), table.var(axis=0))

# How much can still be done.
print(f"{variance.bits_left:.0f} bits are left of {encrypted.bits_left:.0f}")
