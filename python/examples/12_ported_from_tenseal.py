"""The program of peers/porting/from_tenseal.py in Sunzi: a dot product and a chain of products, by whoever has no secret."""

import numpy as np

import sunzi

# The owner.
context = sunzi.Context.for_depth(2, bound=8, result_bound=1000)
keys = sunzi.keygen(context)
x = keys.encrypt([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
y = keys.encrypt([8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0])


# The server: keys.public computes and decrypts nothing.
def compute(public: sunzi.PublicKeys, a: sunzi.EncryptedArray, b: sunzi.EncryptedArray) -> list[sunzi.EncryptedArray]:
    a, b = a.with_keys(public), b.with_keys(public)
    return [a @ b, a * b * a]


dot, chain = compute(keys.public, x, y)
print("dot:", keys.decrypt(dot))
print("chain:", *keys.decrypt(chain))
assert abs(keys.decrypt(dot) - 120) <= dot.error < 0.01
np.testing.assert_allclose(keys.decrypt(chain), [8, 28, 54, 80, 100, 108, 98, 64], atol=0.01)
