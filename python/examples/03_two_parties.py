"""Owner and server: what goes over the wire has no secret in it."""

import pickle

import numpy as np

import sunzi


def serve(public_keys: bytes, question: bytes) -> bytes:
    """A model's score, by whoever holds nothing that decrypts."""
    keys: sunzi.PublicKeys = pickle.loads(public_keys)
    x: sunzi.EncryptedArray = pickle.loads(question)
    weights = np.array([[0.5, -0.25, 0.125], [0.25, 0.5, -0.5]])
    score = (weights @ x.with_keys(keys) + np.array([0.1, -0.1])).apply(np.tanh, (-2, 2), degree=7)
    return pickle.dumps(score)


# A product with a matrix and a polynomial of degree 7 on an interval.
owner = sunzi.keygen(sunzi.Context.for_depth(6))
values = np.array([0.5, -1.0, 0.75])
answer = serve(pickle.dumps(owner.public), pickle.dumps(owner.encrypt(values)))
opened = owner.decrypt(pickle.loads(answer))
print(opened)

expected = np.tanh(np.array([[0.5, -0.25, 0.125], [0.25, 0.5, -0.5]]) @ values + np.array([0.1, -0.1]))
np.testing.assert_allclose(opened, expected, atol=0.02)

# Secrets do not slip into a pickle.
try:
    pickle.dumps(owner)
except TypeError as refused:
    print(refused)
else:
    raise AssertionError("keys must not be pickled with their secret")
