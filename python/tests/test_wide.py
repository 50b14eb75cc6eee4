"""Integers wider than one plaintext modulus."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import sunzi
from sunzi import errors

MOST = 2**63 - 1


@pytest.fixture(scope="module", params=["bfv", "bgv"])
def keys(request: pytest.FixtureRequest) -> sunzi.Keys:
    """64-bit integers, 1024 slots, one product."""
    context = sunzi.Context.for_depth(1, dtype=int, scheme=request.param, result_bound=MOST, sums=4, security=0, log2_degree=10)
    assert context.scheme == request.param and context._parts > 1 and (context.plain_modulus or 0) > 2**64
    return sunzi.keygen(context)


def check(keys: sunzi.Keys, array: sunzi.EncryptedArray, expected: object) -> None:
    opened = keys.decrypt(array)
    assert opened.dtype == np.int64
    np.testing.assert_array_equal(opened, np.asarray(expected))


def test_arithmetic_of_64_bits(keys: sunzi.Keys) -> None:
    x = np.array([MOST, -MOST - 1, 2**40, -1, 0])
    a = keys.encrypt(x)
    check(keys, a, x)
    check(keys, keys.public.encrypt(x), x)
    y = np.array([3, -5, 2**20, 2**62, 7])
    half = x // 4
    b, c = keys.encrypt(y // 4), keys.encrypt(half)
    check(keys, c + b, half + y // 4)
    check(keys, c - y // 4, half - y // 4)
    check(keys, -c, -half)
    small, large = np.array([2**31, -(2**31), 3]), np.array([2**31 - 1, 2**31 - 1, -(2**40)])
    # By their bounds alone the products might be 2^71.
    with pytest.raises(errors.RangeExceeded):
        keys.encrypt(small) * keys.encrypt(large)
    free = keys.encrypt(small).wrapping()
    check(keys, free * keys.encrypt(large), small * large)
    check(keys, free * large, small * large)
    check(keys, free @ keys.encrypt(large), small @ large)
    check(keys, keys.encrypt(small) * large[:1], small * large[:1])
    check(keys, 3 * keys.encrypt(large) - 2**50, 3 * large - 2**50)
    check(keys, keys.encrypt(small).polyval([1, 0, 1]), 1 + small**2)


def test_movement_and_sums(keys: sunzi.Keys) -> None:
    x = np.arange(12) * 2**52 - 2**55
    a = keys.encrypt(x)
    check(keys, a[2:5], x[2:5])
    check(keys, a.rotate(3), np.roll(x, -3))
    check(keys, a.sum(), x.sum())
    m = np.array([[1, 0, 2], [0, -3, 1]])
    check(keys, m @ a[:3], m @ x[:3])
    np.testing.assert_allclose(keys.decrypt(a.mean()), x.mean(), rtol=1e-15)
    long = np.arange(1500) * 2**40
    check(keys, keys.encrypt(long) + 1, long + 1)


def test_results_beyond_64_bits_are_refused(keys: sunzi.Keys) -> None:
    a = keys.encrypt(np.array([MOST]))
    with pytest.raises(OverflowError, match="64 bits"):
        keys.decrypt(a + 2**40)
    with pytest.raises(OverflowError):
        keys.encrypt(np.array([2**63], dtype=np.uint64))


def test_bytes_and_copies(keys: sunzi.Keys) -> None:
    x = np.array([MOST, -7])
    a = keys.encrypt(x)
    check(keys, copy.deepcopy(a), x)
    back = pickle.loads(pickle.dumps(a))
    assert back.context is keys.context
    check(keys, back, x)
    public = pickle.loads(pickle.dumps(keys.public))
    check(keys, public.encrypt(x // 2) + back.with_keys(public) - a, x // 2)
    assert sunzi.Context.from_bytes(keys.context.to_bytes(), insecure_for_research_only=True) is keys.context
    again = sunzi.Keys.from_secret(keys.export_secret(), public)
    check(again, a, x)
    with pytest.raises(errors.FormatError):
        sunzi.Context.from_bytes(keys.context.to_bytes()[:-1], insecure_for_research_only=True)
    other = sunzi.Context.for_depth(1, dtype=int, security=0, log2_degree=11)
    with pytest.raises(errors.Trailing):
        sunzi.Context.from_bytes(keys.context.to_bytes() + other.to_bytes(), insecure_for_research_only=True)
    assert a.nbytes == sum(part.nbytes for part in a.ciphertexts[0].parts)  # type: ignore[attr-defined]
    assert keys.context.scheme in repr(a) and a.bits_left > 0 and a.key_id == keys.id


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
def test_a_program_of_wide_integers(scheme: Any) -> None:
    @sunzi.program
    def inner(x: sunzi.EncryptedArray, y: sunzi.EncryptedArray) -> sunzi.EncryptedArray:
        return x @ y

    x, y = np.array([2**30, -(2**30), 5]), np.array([2**30, 2**29, -1])
    plan = inner.plan(x, y, scheme=scheme)
    assert plan.context.scheme == scheme and (plan.context._parts > 1 or scheme == "bgv")
    for shadow in (False, True):
        assert inner.run(plan.keygen(), x, y, shadow=shadow) == x @ y
