"""Clear matrices times encrypted ones whose rows have ciphertexts of their own: without rotations, keys and, for integers, levels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from conftest import Party

import sunzi
from sunzi import _matrices


@pytest.fixture(name="rng")
def _rng() -> np.random.Generator:
    return np.random.default_rng(5)


def by_rows(left: npt.NDArray[np.generic], right: sunzi.EncryptedArray) -> bool:
    return _matrices.by_rows(left, right) is not None


@pytest.mark.parametrize(("rows", "inner", "columns"), [(3, 4, 512), (1, 2, 1024), (9, 5, 512)])
def test_reals_by_rows(reals: Party, rng: np.random.Generator, rows: int, inner: int, columns: int) -> None:
    x, m = rng.uniform(-1, 1, (inner, columns)), rng.uniform(-1, 1, (rows, inner))
    a = reals.encrypt(x)
    assert by_rows(m, a)
    product = m @ a
    reals.check(product, m @ x, 1e-3)
    assert a.level is not None and product.level == a.level - 1
    # Integers take no level, and a product goes on.
    whole = np.rint(m * 3)
    assert (whole @ a).level == a.level
    reals.check(whole @ a, whole @ x, 1e-3)
    reals.check(product * product + 1, (m @ x) ** 2 + 1, 1e-2)
    reals.check((whole[:, :inner] @ a).sum(axis=1), (whole @ x).sum(axis=1), 1e-1)


def test_integers_by_rows(integers: Party, rng: np.random.Generator) -> None:
    x, m = rng.integers(-50, 50, (6, 1024)), rng.integers(-100, 100, (4, 6))
    a = integers.encrypt(x, bounds=(-50, 50))
    assert by_rows(m, a)
    integers.check(m @ a, m @ x)
    integers.check(m[:1] @ a + 7, m[:1] @ x + 7)


def test_other_layouts_take_rotations(reals: Party, rng: np.random.Generator) -> None:
    x, m = rng.uniform(-1, 1, (4, 3)), rng.uniform(-1, 1, (2, 4))
    a = reals.encrypt(x)
    assert not by_rows(m, a)
    reals.check(m @ a, m @ x, 1e-3)


def test_products_out_of_range_are_refused(integers: Party) -> None:
    x = np.full((2, 1024), 1000)
    a = integers.encrypt(x, bounds=(-1000, 1000))
    with pytest.raises(sunzi.SunziError):
        np.full((1, 2), 2**30) @ a


def test_shapes_that_do_not_fit(reals: Party) -> None:
    a = reals.encrypt(np.zeros((2, 512)))
    with pytest.raises(sunzi.errors.ShapeError):
        np.zeros((2, 3)) @ a
