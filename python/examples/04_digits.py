"""A small convolutional network reads encrypted digits: 360 test images at once, one in each slot.

Takes scikit-learn, for the images of 8 x 8 pixels and for the training in the clear.
"""

import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import sunzi
from sunzi import ml

images = load_digits()
pixels = images.data / 16
train, test = slice(0, 1437), slice(1437, 1797)

# Six filters of 3 x 3, squared, and a dense layer on top: the filters are fixed, the dense layer is trained.
filters = np.random.default_rng(5).normal(0, 0.4, (6, 1, 3, 3))
convolution = ml.Conv2d(filters, np.full(6, 0.25), (8, 8), stride=1)
features = ml.Square().clear(convolution.clear(pixels))
top = LogisticRegression(C=30, max_iter=500).fit(features[train], images.target[train])

network = ml.Network.from_torch(
    {
        "convolution.weight": filters,
        "convolution.bias": np.full(6, 0.25),
        "top.weight": top.coef_ / 16,
        "top.bias": top.intercept_ / 16,
    },
    image=(8, 8),
)
clear = network.clear(pixels[test]).argmax(axis=1)
print(f"in the clear: {(clear == images.target[test]).mean():.3f} of the test images are read right")

context = sunzi.Context.for_depth(network.depth, result_bound=2**10)
keys = sunzi.keygen(context, rotations=[])
columns = ml.encrypt_columns(keys, pixels[test])
started = time.perf_counter()
scores = network.encrypted(columns)
seconds = time.perf_counter() - started
encrypted = ml.decrypt_columns(keys, scores).argmax(axis=1)
agreement = (encrypted == clear).mean()
print(f"encrypted: {seconds:.1f} s for 360 images, {agreement:.3f} of them read as in the clear")
print(f"{context}: {sum(column.nbytes for column in columns) / 2**20:.0f} MiB of ciphertexts go in")
assert agreement >= 0.99
