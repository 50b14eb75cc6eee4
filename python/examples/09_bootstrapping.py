"""Bootstrapping: a computation deeper than its parameters. The set here is small and WITHOUT SECURITY; sunzi.bootstrap_sets() lists those with 128 bits."""

import numpy as np

import sunzi

context = sunzi.Context.for_bootstrapping("insecure-10")
keys = sunzi.keygen(context, bootstrap_slots=16)
print(context, f"keys of {keys.public.nbytes / 2**20:.0f} MiB")

# Ten squarings in a row, at three levels: x to the power of 1024.
x = np.linspace(0.995, 1, 16)
encrypted = keys.encrypt(x)
refreshed = 0
for _ in range(10):
    if encrypted.level == 0:
        encrypted = encrypted.bootstrap()
        refreshed += 1
    encrypted = encrypted * encrypted
print(f"{refreshed} bootstrappings, {encrypted}")
opened = keys.decrypt(encrypted)
print(f"largest error {np.abs(opened - x**1024).max():.1e}")
assert refreshed == 3
np.testing.assert_allclose(opened, x**1024, atol=0.01)
