"""Owner and server: what goes over the wire has no secret in it, and runs no code of whoever sent it."""

import numpy as np

import sunzi


def serve(public_keys: bytes, question: bytes) -> bytes:
    """A model's score, by whoever holds nothing that decrypts. Bytes may come from anybody: they are checked, and never unpickled."""
    keys = sunzi.PublicKeys.from_bytes(public_keys)
    x = sunzi.EncryptedArray.from_bytes(question, keys)
    weights = np.array([[0.5, -0.25, 0.125], [0.25, 0.5, -0.5]])
    score: sunzi.EncryptedArray = (weights @ x + np.array([0.1, -0.1])).apply(np.tanh, (-2, 2), degree=7)
    return score.to_bytes()


# A product with a matrix and a polynomial of degree 7 on an interval.
owner = sunzi.keygen(sunzi.Context.for_depth(6))
values = np.array([0.5, -1.0, 0.75])
answer = serve(owner.public.to_bytes(), owner.encrypt(values).to_bytes())
opened = owner.decrypt(sunzi.EncryptedArray.from_bytes(answer, owner))
print(opened)

expected = np.tanh(np.array([[0.5, -0.25, 0.125], [0.25, 0.5, -0.5]]) @ values + np.array([0.1, -0.1]))
np.testing.assert_allclose(opened, expected, atol=0.02)

# Bytes of somebody else's keys are refused by name, and so are damaged ones.
stranger = sunzi.keygen(owner.context, rotations=[])
for wrong in (stranger.encrypt(values).to_bytes(), answer[:-1]):
    try:
        sunzi.EncryptedArray.from_bytes(wrong, owner)
    except sunzi.errors.FormatError as refused:
        print(f"{type(refused).__name__}: {refused}")
    else:
        raise AssertionError("bytes that are not ours were taken")

# Secrets do not slip into bytes: export_secret() is for those who mean it.
try:
    owner.to_bytes()
except TypeError as refused:
    print(refused)
else:
    raise AssertionError("a secret key was written without being asked for by name")
