"""Two schemes under one key: BFV multiplies first, where nothing is declared, and BGV goes on with the product."""

import numpy as np

import sunzi

# BGV chooses the moduli, by three products in a row; BFV computes over them too.
context = sunzi.Context.for_depth(3, dtype=int, scheme="bgv", result_bound=10**6)
keys = sunzi.keygen(context)
widths, heights, prices = np.array([3, 4, 12]), np.array([5, 2, 7]), np.array([20, 25, 9])

# A client encrypts for BFV with the public keys of BGV.
client = keys.public.within(context.to_bfv())
areas = client.encrypt(widths) * client.encrypt(heights)
print(f"{areas.context.scheme}: {areas.bits_left:.0f} bits are left")

# The server has prices in BGV, and brings the areas there: the noise of the product decides the level.
costs = areas.to_bgv(context) * keys.encrypt(prices)
print(f"{costs.context.scheme}: {costs.level} products are left")

# And back: the total is summed in BFV. One secret key opens arrays of both.
total = costs.to_bfv().sum()
print("costs:", keys.decrypt(costs), "total:", keys.decrypt(total))
np.testing.assert_array_equal(keys.decrypt(costs), widths * heights * prices)
assert keys.decrypt(total) == (widths * heights * prices).sum()
