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


@pytest.fixture(name="pairs", scope="module")
def _pairs() -> sunzi.Keys:
    return sunzi.keygen(sunzi.Context.for_depth(2, bound=1, result_bound=2**14, precision=18, security=0, log2_degree=9), rotations=[])


@pytest.mark.parametrize(("count", "shape"), [(None, (3, 5, 4)), (4, (64, 64, 64)), (1, (1, 1, 64))])
@pytest.mark.parametrize("few", [False, True])
def test_encrypted_by_encrypted(pairs: sunzi.Keys, rng: np.random.Generator, count: int | None, shape: tuple[int, int, int], few: bool) -> None:
    keys = pairs.matrix_keys(64, few=few)
    rows, inner, columns = shape
    lead = () if count is None else (count,)
    x, y = rng.uniform(-0.1, 0.1, (*lead, rows, inner)), rng.uniform(-0.1, 0.1, (*lead, inner, columns))
    assert keys.capacity == 4
    for by_columns in (False, True):
        a, b = keys.encrypt(x, columns=by_columns), keys.encrypt(y)
        product = a @ b
        assert product.shape == (*lead, rows, columns) and product.level == a.level - 1
        np.testing.assert_allclose(pairs.decrypt_matrices(product), x @ y, rtol=0, atol=6 * 2.0**-product.precision)
    turned = np.swapaxes(y, -1, -2)
    assert b.T.shape == turned.shape
    np.testing.assert_allclose(pairs.decrypt_matrices(b.T), turned, rtol=0, atol=1e-3)
    np.testing.assert_allclose(pairs.decrypt_matrices((b.T @ b) @ b.T), turned @ y @ turned, rtol=0, atol=1e-1)


def test_encrypted_matrices_that_do_not_fit_are_refused(pairs: sunzi.Keys, rng: np.random.Generator) -> None:
    keys = pairs.matrix_keys(64, few=True)
    a, b = keys.encrypt(rng.uniform(-1, 1, (3, 4))), keys.encrypt(rng.uniform(-1, 1, (2, 4, 3)))
    for left, right in [(a, a), (a, b), (b, a)]:
        with pytest.raises(sunzi.errors.ShapeError):
            left @ right
    for values in [np.zeros(3), np.zeros((2, 2), dtype=complex), np.zeros((1, 1, 1, 1)), np.zeros((65, 2)), np.zeros((5, 2, 2)), np.zeros((0, 2))]:
        with pytest.raises(sunzi.errors.ShapeError):
            keys.encrypt(values)
    with pytest.raises(TypeError):
        a @ np.zeros((4, 3))
    with pytest.raises(TypeError):
        np.matmul(np.zeros((4, 3)), a)  # type: ignore[call-overload]
    for size in [0, 32, 96, 1024]:
        with pytest.raises(sunzi.errors.OutOfRange):
            pairs.matrix_keys(size)
    other = sunzi.keygen(pairs.context, rotations=[]).matrix_keys(64, few=True)
    with pytest.raises(sunzi.errors.ContextMismatch):
        a @ other.encrypt(rng.uniform(-1, 1, (4, 3)))
    with pytest.raises(sunzi.errors.MessageBound):
        keys.encrypt([[1e9]])
    with pytest.raises(sunzi.SunziError):
        sunzi.keygen(sunzi.Context.for_depth(1, dtype=int, security=0, log2_degree=10), rotations=[]).matrix_keys(64)
    a.T @ a @ a.T
    with pytest.raises(sunzi.errors.LevelExhausted):
        (a.T @ a @ a.T) @ a
