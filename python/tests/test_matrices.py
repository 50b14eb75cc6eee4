"""Clear matrices times encrypted ones whose rows have ciphertexts of their own: without rotations, keys and, for integers, levels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from conftest import Party

import sunzi
from sunzi import _encrypted_matrices, _matrices


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


@pytest.fixture(name="lines", scope="module")
def _lines() -> Party:
    """256 slots, 5 levels, and keys of matrices of up to 64 rows."""
    party = Party(sunzi.Context.for_depth(5, bound=1, result_bound=2**8, precision=16, security=0, log2_degree=9))
    party.keys.public = party.keys.public.with_matrix_keys(party.keys.matrix_keys(64))
    return party


@pytest.mark.parametrize(
    ("rows", "inner", "columns"), [(1, 1, 256), (2, 3, 256), (64, 4, 512), (64, 16, 256), (33, 5, 256), (7, 64, 256), (1, 9, 512), (5, 256, 256)]
)
def test_encrypted_by_encrypted_by_lines(
    lines: Party, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, rows: int, inner: int, columns: int
) -> None:
    monkeypatch.setattr(_encrypted_matrices, "_cost", lambda *_: 0.0)
    x, y = rng.uniform(-1, 1, (rows, inner)), rng.uniform(-1, 1, (inner, columns))
    # Ends of the range, whose signs agree in one sum.
    x[-1], y[:, -1] = 1, np.where(np.arange(inner) % 2, 1, -1)
    a, b = lines.encrypt(x, bounds=(-1, 1)), lines.encrypt(y, bounds=(-1, 1))
    product = a @ b
    lines.check(product, x @ y, 1e-2)
    # What is stated takes the left factor's errors too large by the root of the rows that keys are for.
    assert np.abs(lines.keys.decrypt(product) - x @ y).max() <= product.error < 4
    assert (product.bounds[0], product.bounds[1]) == (-inner, inner)
    padded = inner & (inner - 1) != 0
    assert a.level is not None and product.level == a.level - 3 - padded
    # What comes of it goes on, and a mask finds nothing beside the array.
    lines.check((product * 0.5)[0], (x @ y)[0] * 0.5, 1e-2)
    lines.check(product.sum(), (x @ y).sum(), 0.5)


def test_products_by_lines_follow_slices_and_levels(lines: Party, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_encrypted_matrices, "_cost", lambda *_: 0.0)
    x, y = rng.uniform(-1, 1, (6, 8)), rng.uniform(-1, 1, (4, 256))
    a, b = lines.encrypt(x, bounds=(-1, 1)), lines.encrypt(y, bounds=(-1, 1))
    # Numbers of padding are not 0 here, and both factors have other levels.
    moved = (a + 1)[1:5, 2:6]
    lines.check(moved @ b, (x + 1)[1:5, 2:6] @ y, 2e-2)
    for level in (4, 3):
        lines.check(a[:, :4] @ b.level_to(level), x[:, :4] @ y, 1e-2)
    lines.check(a.level_to(3).reshape(12, 4) @ b, x.reshape(12, 4) @ y, 1e-2)


def test_lines_are_taken_where_they_cost_less(lines: Party, rng: np.random.Generator) -> None:
    b = lines.encrypt(rng.uniform(-1, 1, (8, 256)), bounds=(-1, 1))
    tall, flat = lines.encrypt(rng.uniform(-1, 1, (64, 8))), lines.encrypt(rng.uniform(-1, 1, (1, 8)))
    assert _encrypted_matrices.by_lines(tall, b) is not None
    assert _encrypted_matrices.by_lines(flat, b) is None
    lines.check(flat @ b, lines.keys.decrypt(flat) @ lines.keys.decrypt(b), 1e-2)


def test_what_lines_lack_is_said(lines: Party, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = lines.encrypt(rng.uniform(-1, 1, (4, 8))), lines.encrypt(rng.uniform(-1, 1, (8, 256)))
    other = sunzi.keygen(lines.context)
    with pytest.raises(sunzi.errors.ContextMismatch, match="make both from one"):
        other.public.with_matrix_keys(lines.keys.matrix_keys(64))
    # Small ones take rotations without any of it.
    plain = a.with_keys(sunzi.PublicKeys.from_bytes(lines.keys.public.to_bytes(), insecure_for_research_only=True))
    lines.check(plain @ b, lines.keys.decrypt(a) @ lines.keys.decrypt(b), 1e-2)
    monkeypatch.setattr(_encrypted_matrices, "_LARGEST", 1000)
    monkeypatch.setattr(_encrypted_matrices, "_cost", lambda *_: 0.0)
    tall = lines.encrypt(rng.uniform(-1, 1, (65, 8)))
    short = lines.encrypt(rng.uniform(-1, 1, (8, 255)))
    for left, right, said in [
        (plain, b, r"with_matrix_keys\(keys.matrix_keys\(64\)\)"),
        (tall, b, "matrices of 65 rows"),
        (a.level_to(2), b, "3 levels of the left factor, which has 2"),
        (a, b.level_to(1), r"level_to\(3\)"),
        (a, short, "a multiple of the 256 slots"),
    ]:
        with pytest.raises(sunzi.errors.ShapeError, match=said):
            left @ right
