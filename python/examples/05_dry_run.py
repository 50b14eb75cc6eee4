"""What a computation takes is known before anything is encrypted."""

import numpy as np

import sunzi


@sunzi.program
def score(x: sunzi.EncryptedArray, w: sunzi.EncryptedArray) -> sunzi.EncryptedArray:
    """A logistic score, with the function by its series on [-4, 4]."""
    return (x @ w).apply("sigmoid", (-4, 4), degree=7)


plan = score.plan(sunzi.Like((30,), bound=1.0), sunzi.Like((30,), bound=0.125))
print(plan)

keys = plan.keygen()
rng = np.random.default_rng(1)
x, w = rng.uniform(-1, 1, 30), rng.uniform(-0.125, 0.125, 30)
opened = float(score.run(keys, x, w))
print(opened)
assert abs(opened - 1 / (1 + np.exp(-x @ w))) <= plan.error < 0.01

# Every operation beside the same on clear numbers: an error would name the line above that it comes from.
assert abs(float(score.run(keys, x, w, shadow=True)) - opened) < 1e-3
