"""Arrays that change between BFV and BGV, and back, under one set of keys."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from conftest import Party

import sunzi
from sunzi import errors

X, Y = np.arange(-8, 8).reshape(4, 4), np.arange(16)[::-1].reshape(4, 4)


def made(depth: int = 2, **settings: Any) -> sunzi.Context:
    return sunzi.Context.for_depth(depth, dtype=int, scheme="bgv", sums=4, security=0, log2_degree=10, **settings)


@pytest.fixture(scope="module", params=[2**20, 2**62], ids=["one modulus", "several moduli"])
def keys(request: pytest.FixtureRequest) -> sunzi.Keys:
    """BGV, with a plaintext modulus or several."""
    return sunzi.keygen(made(result_bound=request.param))


def test_fresh_arrays_change_without_loss(keys: sunzi.Keys) -> None:
    context, x = keys.context, keys.encrypt(X, bounds=(-8, 7))
    assert (context._parts > 1) == ((context.plain_modulus or 0) > 2**60)
    there = x.to_bfv()
    assert there.context is context.to_bfv() and there.context.scheme == "bfv" and there.level is None
    assert (there.shape, there.dtype, there.bounds, there.context.moduli) == (x.shape, x.dtype, x.bounds, context.moduli)
    back = there.to_bgv(context)
    assert back.context == context and back.level == x.level
    assert [chunk.noise for chunk in back.ciphertexts] == [chunk.noise for chunk in x.ciphertexts]
    for array in (there, back):
        np.testing.assert_array_equal(keys.decrypt(array), X)
    # Nothing changes where the scheme is the same.
    assert there.to_bfv() is there and back.to_bgv(context) is back


def test_each_scheme_goes_on_with_what_the_other_computed(keys: sunzi.Keys) -> None:
    context = keys.context
    x, y = keys.encrypt(X), keys.public.within(context.to_bfv()).encrypt(Y)
    assert y.context.scheme == "bfv"
    product = x.to_bfv() * y
    np.testing.assert_array_equal(keys.decrypt(product), X * Y)
    again = product.to_bgv(context) * x
    assert (again.level or 0) < (x.level or 0)
    np.testing.assert_array_equal(keys.decrypt(again), X * Y * X)
    # A product of BGV, from a lower level; sums and rotations take the Galois keys of BGV.
    down = (x * y.to_bgv(context)).to_bfv()
    np.testing.assert_array_equal(keys.decrypt((down + y).sum(axis=1)), (X * Y + Y).sum(axis=1))


def test_padding_and_divisors_come_along(keys: sunzi.Keys) -> None:
    x = (keys.encrypt(np.array([1, 2, 4])) + 1) / 3
    there = x.to_bfv()
    np.testing.assert_allclose(keys.decrypt(there.sum()), (2 + 3 + 5) / 3)
    np.testing.assert_allclose(keys.decrypt(there.mean().to_bgv(keys.context)), (2 + 3 + 5) / 9)


def test_arrays_of_both_schemes_travel(keys: sunzi.Keys) -> None:
    there = keys.encrypt(X).to_bfv()
    public = keys.public.within(there.context)
    assert public.id == keys.id
    came = sunzi.EncryptedArray.from_bytes(there.to_bytes(), public, bounds=(-8, 7))
    np.testing.assert_array_equal(keys.decrypt((came * came).to_bgv(keys.context)), X * X)
    with sunzi.insecure_for_research_only():
        alone = pickle.loads(pickle.dumps(there)).to_bgv(keys.context)
    assert alone.keys is None
    np.testing.assert_array_equal(keys.decrypt(alone), X)


def test_shared_decryptions_count_in_one_ledger() -> None:
    keys = sunzi.keygen(made(1, sharing=(10, 20)))
    ledger = keys.ledger(queries=10, statistical_bits=20)
    noise = keys.declared_noise(lambda x: x.to_bfv(), X)
    np.testing.assert_array_equal(keys.decrypt_for_sharing(keys.encrypt(X).to_bfv(), ledger, noise=noise), X)
    assert ledger.used == 1


def test_what_does_not_belong_together_is_named(reals: Party, integers: Party) -> None:
    context = made(result_bound=2**20)
    keys = sunzi.keygen(context)
    there = keys.encrypt(X).to_bfv()
    with pytest.raises(errors.WrongScheme, match="real numbers"):
        reals.encrypt([1.0]).to_bfv()
    with pytest.raises(errors.WrongScheme, match="ckks"):
        there.to_bgv(reals.context)
    with pytest.raises(errors.WrongScheme, match="bfv"):
        there.to_bgv(there.context)
    with pytest.raises(errors.WrongScheme, match="bfv or bgv"):
        reals.encrypt([1.0]).to_bgv(context)
    with pytest.raises(errors.ContextMismatch, match="to_bfv"):
        there.to_bgv(made(3, result_bound=2**20))
    with pytest.raises(errors.ContextMismatch, match="key switching"):
        keys.public.within(integers.context)
    explicit: dict[str, Any] = {"special_moduli": context.special_moduli, "security": 0}
    other = sunzi.Context.explicit("bgv", 10, context.moduli, plain_modulus=12289, **explicit)
    first = sunzi.Context.explicit("bgv", 10, context.moduli, plain_modulus=18433, **explicit)
    with pytest.raises(errors.PlainModuli, match="12289"):
        sunzi.keygen(first).encrypt(X).to_bfv().to_bgv(other)
    with pytest.raises(errors.PlainModuli):
        there.to_bgv(made(result_bound=2**62))
    # No key of the other scheme helps an array of other moduli.
    with pytest.raises(errors.MismatchError):
        keys.decrypt(integers.encrypt([1]))


def test_moduli_with_shared_words_stay_in_bgv() -> None:
    """Small moduli of several levels are one word in BGV, which is no prime."""
    asked: dict[str, Any] = {"plain_modulus": 257, "sums": 0, "plain_products": 0, "log2_degree": 7, "security": 0}
    shared = sunzi.Context.for_depth(4, dtype=int, scheme="bgv", **asked)
    assert any(pow(2, q - 1, q) != 1 for q in shared.moduli)
    x = np.arange(-4, 4)
    for change in (shared.to_bfv, sunzi.keygen(shared).encrypt(x).to_bfv):
        with pytest.raises(errors.SharedModuli, match="shared_moduli=False"):
            change()
    keys = sunzi.keygen(sunzi.Context.for_depth(4, dtype=int, scheme="bgv", shared_moduli=False, **asked))
    np.testing.assert_array_equal(keys.decrypt(keys.encrypt(x).to_bfv() + 1), x + 1)


def test_a_program_is_of_one_scheme() -> None:
    @sunzi.program
    def changed(x: sunzi.EncryptedArray) -> sunzi.EncryptedArray:
        return x.to_bfv() * 2

    with pytest.raises(errors.ShapeError, match="one scheme"):
        changed.plan(X, scheme="bgv", log2_degree=11, security=0)
