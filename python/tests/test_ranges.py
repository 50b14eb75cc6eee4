"""Integers that may wrap around are refused by name, with the range and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import Party

import sunzi
from sunzi import EncryptedArray, errors

#: What is done to an encrypted array.
Operation = Callable[[Any], Any]


@pytest.fixture(scope="module")
def keys() -> sunzi.Keys:
    """Results within 2^31 - 1, as by default; without security."""
    return sunzi.keygen(sunzi.Context.for_depth(2, dtype=int, sums=4, security=0, log2_degree=11))


def test_a_product_that_would_wrap_is_refused(keys: sunzi.Keys) -> None:
    """60000 * 60000 gave -695049217."""
    a = keys.encrypt([60000])
    most = (keys.context.plain_modulus or 0) // 2
    with pytest.raises(errors.RangeExceeded, match=r"up to 32 bits.*result_bound=2\*\*32.*bounds=.*wrapping") as told:
        a * a
    assert str(most) in str(told.value) and isinstance(told.value, OverflowError) and isinstance(told.value, ValueError)
    # What was declared is no secret, and what this process saw of the numbers is.
    assert "3600000000" not in str(told.value)
    declared = keys.encrypt([60000], bounds=(0, 60000))
    with pytest.raises(errors.RangeExceeded, match=r"between 0 and 3600000000.*result_bound=3600000000"):
        declared * declared
    wider = sunzi.keygen(sunzi.Context.for_depth(1, dtype=int, result_bound=3600000000, security=0, log2_degree=11))
    assert wider.decrypt(wider.encrypt([60000]) * wider.encrypt([60000])).tolist() == [3600000000]


def test_every_operation_is_looked_at(keys: sunzi.Keys) -> None:
    x = np.array([40000, 3, -50000, 7])
    for a in (keys.encrypt(x), keys.encrypt(x, bounds=(-50000, 50000)), keys.public.encrypt(x)):
        operations: list[Operation] = [
            lambda a: a * a,
            lambda a: a**2,
            lambda a: a @ a,
            lambda a: a * 100000,
            lambda a: a * x,
            lambda a: x * a,
            lambda a: a @ x,
            lambda a: np.full((2, 4), 50000) @ a,
            lambda a: a.polyval([0, 0, 1]),
            lambda a: a * 40000 + 2**30,
            lambda a: 2**30 - a * 40000,
            lambda a: (a * 40000).sum(),
            lambda a: np.concatenate([a * 40000, a * 40000]).sum(),
            lambda a: (a * 40000) + (a * 40000),
            lambda a: a * 40000 - a * -40000,
            lambda a: a.var(),
        ]
        for operation in operations:
            with pytest.raises(errors.RangeExceeded):
                operation(a)
        assert keys.decrypt(a * 40000).tolist() == (x * 40000).tolist()
        assert int(keys.decrypt(a.sum())) == x.sum()


def test_what_fits_is_computed(keys: sunzi.Keys) -> None:
    rng = np.random.default_rng(4)
    x, y = rng.integers(-1000, 1000, 20), rng.integers(-1000, 1000, 20)
    a, b = keys.encrypt(x), keys.encrypt(y, bounds=(-1000, 1000))
    assert int(keys.decrypt(a @ b)) == x @ y
    np.testing.assert_array_equal(keys.decrypt(a * b - a), x * y - x)
    np.testing.assert_allclose(keys.decrypt(a.var()), x.var())
    np.testing.assert_allclose(keys.decrypt(b.mean()), y.mean())
    np.testing.assert_array_equal(keys.decrypt((a + 5) * 3), (x + 5) * 3)
    # Padding is no number of the array, whatever stands there.
    np.testing.assert_array_equal(keys.decrypt(((a + 1000) * 1000).sum()), ((x + 1000) * 1000).sum())


def test_wrapping_is_asked_for_by_name(keys: sunzi.Keys) -> None:
    t = keys.context.plain_modulus or 0
    x, y = np.array([60000, -70000]), np.array([59999, -70001])
    a, b = keys.encrypt(x).wrapping(), keys.encrypt(y).wrapping()
    wrapped = (x.astype(object) * x + t // 2) % t - t // 2
    assert keys.decrypt(a * a).tolist() == wrapped.tolist()
    # What wraps on the way is right in the end.
    np.testing.assert_array_equal(keys.decrypt(a * a - a * b), x * x - x * y)
    assert (a * a - a * b).declared(0, 10**6).bounds == (0, 10**6)


def test_wrapping_of_real_numbers_is_refused(reals: Party) -> None:
    with pytest.raises(errors.WrongScheme, match="wrap"):
        reals.encrypt([1.0]).wrapping()


def test_numbers_of_others_are_looked_at_by_their_declared_bounds(keys: sunzi.Keys) -> None:
    """Whoever computes knows of numbers what was declared, and no more."""
    unknown = EncryptedArray.from_bytes(keys.encrypt([60000]).to_bytes(), keys.public)
    declared = EncryptedArray.from_bytes(keys.encrypt([60000], bounds=(0, 65536)).to_bytes(), keys.public)
    with pytest.raises(errors.RangeExceeded):
        declared * declared
    assert unknown.bounds[1] == (keys.context.plain_modulus or 0) // 2 and "wrap" not in repr(declared)
    assert "products are refused" in repr(unknown) and "wrap" in repr(unknown)


def test_products_of_undeclared_numbers_of_others_are_refused(keys: sunzi.Keys) -> None:
    """60000 * 60000 gave -695049217 on a server, too."""
    data, x = keys.encrypt([300, -7]).to_bytes(), np.array([300, -7])
    unknown = EncryptedArray.from_bytes(data, keys.public)
    declared = EncryptedArray.from_bytes(keys.encrypt([2, 5], bounds=(0, 5)).to_bytes(), keys.public)
    products: list[Operation] = [
        lambda a: a * a,
        lambda a: a**2,
        lambda a: a @ a,
        lambda a: a * declared,
        lambda a: declared * a,
        lambda a: keys.encrypt([2, 3]) * a,
        lambda a: a * 2,
        lambda a: -3 * a,
        lambda a: a * np.array([1, -2]),
        lambda a: np.array([[0, 1], [2, 0]]) @ a,
        lambda a: a.polyval([0, 0, 1]),
        lambda a: a.polyval([1, 2]),
        lambda a: a.var(),
        lambda a: (a + a - 5).sum() * a,
        lambda a: np.concatenate([a, declared]) * 2,
        lambda a: a / 2 + a / 3,
    ]
    for product in products:
        with pytest.raises(errors.RangeExceeded, match=r"others.*bounds=\(low, high\).*declared\(low, high\).*wrapping"):
            product(unknown)
        # Whoever promises bounds, or asks for arithmetic modulo t, has them.
        for known in (EncryptedArray.from_bytes(data, keys.public, bounds=(-500, 500)), unknown.declared(-500, 500), unknown.wrapping()):
            keys.decrypt(product(known))
    # Nothing grows beyond what it was, or is as large as the terms of a sum.
    for linear, expected in (
        (unknown + declared - 1, x + [1, 4]),
        (-unknown, -x),
        (unknown * -1, -x),
        (unknown * np.array([0, 1]), x * [0, 1]),
        (np.array([[0, 1], [-1, 1]]) @ unknown, [-7, -307]),
        (unknown.polyval([5, -1]), 5 - x),
        (unknown * EncryptedArray.from_bytes(keys.encrypt([0, 1], bounds=(0, 1)).to_bytes(), keys.public), x * [0, 1]),
        (unknown[::-1], x[::-1]),
    ):
        assert keys.decrypt(linear).tolist() == list(expected) and "products are refused" in repr(linear)
    assert int(keys.decrypt(unknown.sum())) == x.sum() and float(keys.decrypt(unknown.mean())) == x.mean()


def test_promised_bounds_are_looked_at(keys: sunzi.Keys) -> None:
    data = keys.encrypt([60000], bounds=(0, 65536)).to_bytes()
    narrow = EncryptedArray.from_bytes(data, keys.public, bounds=(-10, 40000))
    assert narrow.bounds == (0, 40000) and keys.decrypt(narrow * narrow.declared(0, 10)).size == 1
    with pytest.raises(errors.RangeExceeded, match="between 0 and 10000000000"):
        EncryptedArray.from_bytes(keys.encrypt([1]).to_bytes(), keys.public, bounds=(0, 100000)) ** 2
    with pytest.raises(errors.OutsideBounds):
        EncryptedArray.from_bytes(data, keys.public, bounds=(70000, 80000))
    with pytest.raises(errors.OutsideBounds):
        EncryptedArray.from_bytes(data, keys.public, bounds=(1, 0))


def test_clear_integers_do_not_wrap_before_they_are_encrypted(keys: sunzi.Keys) -> None:
    """A numerator of 2^64 was 0, and an unsigned 2^63 + 5 was negative."""
    unknown = EncryptedArray.from_bytes(keys.encrypt([7]).to_bytes(), keys.public)
    numerators: list[Operation] = [lambda a: a / 2**34 + 2**30, lambda a: a / 2**34 - np.array([-(2**30)]), lambda a: a / 2**70 + 1]
    for wide in numerators:
        with pytest.raises(errors.RangeExceeded, match="numerators of .* bits"):
            wide(unknown)
    np.testing.assert_array_equal(keys.decrypt(unknown / 2**10 + 2**10), [7 / 2**10 + 2**10])
    large = sunzi.keygen(sunzi.Context.for_depth(1, dtype=int, result_bound=2**63 - 1, sums=4, security=0, log2_degree=10))
    a = large.encrypt([1])
    x = np.array([2**63 + 5], dtype=np.uint64)
    for unsigned in (lambda: a + x, lambda: a * x, lambda: x * a, lambda: a @ x, lambda: a + x[0], lambda: large.encrypt(x)):
        with pytest.raises(OverflowError, match="2.63"):
            unsigned()
    assert large.decrypt(a + np.array([2**63 - 2], dtype=np.uint64)).tolist() == [2**63 - 1]
    assert large.decrypt((a / 8 + np.array([2**59]))).tolist() == [2**59 + 0.125]


def test_planned_programs_are_looked_at_by_their_plan() -> None:
    """A plan finds a range for the results, so that what wraps on the way is no fault."""

    @sunzi.program
    def product(x: EncryptedArray, y: EncryptedArray) -> EncryptedArray:
        return x * y

    plan = product.plan(sunzi.Like((2,), int, 60000), sunzi.Like((2,), int, 60000), security=0)
    x = np.array([60000, 5])
    assert product.run(plan.keygen(), x, x).tolist() == [3600000000, 25]
    # Called as a function it is the same, on a server as here.
    owner = plan.keygen()
    server = sunzi.PublicKeys.from_bytes(owner.public.to_bytes())
    arrays = plan.encrypt(owner, x, x)
    sent = [EncryptedArray.from_bytes(one.to_bytes(), server) for one in arrays]
    for result in (product(*arrays), product(*sent), product(owner.encrypt(x), owner.encrypt(x)), plan.compute(*arrays)):
        assert owner.decrypt(result).tolist() == [3600000000, 25]
        # The plan looked after the result, and nobody looks after what becomes of it elsewhere.
        with pytest.raises(errors.RangeExceeded):
            result * 2
    # Other numbers than were planned for are looked at.
    for wrong in (owner.encrypt([70000, 5]), owner.encrypt(x, bounds=(0, 70000)), owner.encrypt([70000, 5, 1])):
        with pytest.raises(errors.RangeExceeded):
            product(wrong, wrong)
    # In a context that somebody else chose, the range is looked at.
    small = sunzi.keygen(sunzi.Context.for_depth(1, dtype=int, security=0, log2_degree=11))
    with pytest.raises(errors.RangeExceeded):
        product.run(small, x, x)


def test_a_planned_program_that_wraps_on_the_way_is_computed() -> None:
    """Bounds by whole arrays are wider than those of a plan, which go slot by slot."""

    @sunzi.program
    def weighed(x: EncryptedArray) -> EncryptedArray:
        return (x * np.array([60000, 0]) + x * np.array([0, 60000]))[::-1]

    plan = weighed.plan(sunzi.Like((2,), int, 60000), security=0)
    keys, x = plan.keygen(), np.array([60000, -59999])
    most = (keys.context.plain_modulus or 0) // 2
    assert 3600000000 <= most < 7200000000
    for result in (weighed(*plan.encrypt(keys, x)), weighed(keys.encrypt(x)), plan.compute(*plan.encrypt(keys, x))):
        assert keys.decrypt(result).tolist() == [-59999 * 60000, 3600000000]
        assert -most <= result.bounds[0] and result.bounds[1] <= most
        # What was made is an array as any other.
        assert keys.decrypt(result + 0).tolist() == keys.decrypt(result).tolist()
    assert weighed.run(keys, x).tolist() == [-59999 * 60000, 3600000000]


def test_no_level_left_says_so(levelled: Party) -> None:
    a = sunzi.keygen(sunzi.Context.for_depth(2, security=0, log2_degree=10)).encrypt([0.5])
    with pytest.raises(errors.LevelExhausted, match=r"no level left.*depth.*for_depth.*bootstrap"):
        for _ in range(9):
            a = a * a
    b = levelled.encrypt([1])
    with pytest.raises(errors.LevelExhausted, match=r"no level left.*declare depth\(3\).*for_depth"):
        b**8
