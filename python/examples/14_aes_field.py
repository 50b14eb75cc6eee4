"""Bytes in the field of AES, GF(2^8), one in each slot: encrypted products, and the inverse that is the heart of AES's S-box."""

from __future__ import annotations

import numpy as np

import sunzi

# Slots of GF(2^16), 1024 of them. The order of 2 modulo m is 8 for divisors of 255 alone, whose rings are too small to be secure, and GF(2^16) has GF(2^8) in it.
context = sunzi.Context.for_field(3, prime=2, ring_index=21845)
field = context.field
assert field is not None and (field.degree, field.slots, context.security) == (16, 1024, 128)

# A root z of AES's polynomial x^8 + x^4 + x^3 + x + 1 among all elements: a byte with bits b_i is Σ b_i·z^i.
every = (np.arange(2**16)[:, None] >> np.arange(16)) & 1
second = field.multiply(every, every)
fourth = field.multiply(second, second)
value = field.multiply(fourth, fourth) + fourth + field.multiply(second, every) + every + (np.arange(16) == 0)
z = every[np.flatnonzero(~(value % 2).any(axis=1))[0]][None]
powers = [(np.arange(16) == 0).astype(int)[None]]
for _ in range(7):
    powers.append(field.multiply(powers[-1], z))
images = ((np.arange(256)[:, None] >> np.arange(8)) & 1) @ np.concatenate(powers) % 2
byte_of = {image.tobytes(): byte for byte, image in enumerate(images)}


def opened(array: sunzi.FieldArray) -> list[int]:
    """The bytes of an encrypted array."""
    return [byte_of[element.tobytes()] for element in keys.decrypt_elements(array)]


def aes_product(a: int, b: int) -> int:
    """The product as FIPS 197 defines it."""
    product = 0
    for bit in range(8):
        product ^= a << bit if b >> bit & 1 else 0
    for bit in range(14, 7, -1):
        product ^= 0x11B << (bit - 8) if product >> bit & 1 else 0
    return product


keys = sunzi.keygen(context)
rng = np.random.default_rng(1)
a, b = rng.integers(0, 256, 1024), rng.integers(0, 256, 1024)
x, y = keys.encrypt_elements(images[a]), keys.public.encrypt_elements(images[b])
# Whoever computes has bytes of arrays, and keys without the secret one.
x = sunzi.FieldArray.from_bytes(x.to_bytes(), keys.public)
assert opened(x * y + x) == [aes_product(int(u), int(v)) ^ int(u) for u, v in zip(a, b)]

# The inverse is x^254, which takes four products: squares are Frobenius maps, which take none.
square = x.frobenius()
cube = x * square
twelfth = cube.frobenius(2)
inverse = (cube * twelfth).frobenius(4) * (twelfth * square)
found = opened(inverse)
assert all(aes_product(int(u), v) == (1 if u else 0) for u, v in zip(a, found))
print("0x53 · 0xCA =", hex(aes_product(0x53, 0xCA)), "and 1024 encrypted bytes have their inverses;", f"{inverse.bits_left:.0f} bits are left")
