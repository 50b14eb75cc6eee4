"""The program of peers/porting/from_openfhe.py in Sunzi: a dot product and a chain of products, in CKKS."""

import numpy as np

import sunzi

context = sunzi.Context.for_depth(2, bound=8, result_bound=1000)
keys = sunzi.keygen(context)

x = keys.encrypt([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
y = keys.encrypt([8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0])

product = x * y
dot = product.sum()
chain = product * x

print("dot:", keys.decrypt(dot))
print("chain:", *keys.decrypt(chain))
assert abs(keys.decrypt(dot) - 120) <= dot.error < 0.01
np.testing.assert_allclose(keys.decrypt(chain), [8, 28, 54, 80, 100, 108, 98, 64], atol=0.01)
