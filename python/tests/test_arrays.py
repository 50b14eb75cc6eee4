"""Arrays do under encryption what numpy does in the clear."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from conftest import Party, numbers

import sunzi

#: One number, a power of two, none, a whole row, more than a row, several ciphertexts.
SHAPES = [(), (1,), (4,), (5,), (3, 4), (512,), (513,), (1024,), (2, 700), (1500,)]


@pytest.mark.parametrize("shape", SHAPES)
def test_arithmetic_of_any_shape(party: Party, shape: tuple[int, ...]) -> None:
    x, y = numbers(party, shape), numbers(party, shape, 2)
    a, b = party.encrypt(x), party.encrypt(y)
    party.check(a, x)
    party.check(a + b, x + y)
    party.check(a - b, x - y)
    party.check(a * b, x * y)
    party.check(-a, -np.asarray(x))
    party.check(a + y, x + y)
    party.check(y - a, y - x)
    party.check(a * y, x * y)
    party.check(3 * a - 1, 3 * x - 1)
    party.check(a * a, x * x)


@pytest.mark.parametrize("shape", SHAPES)
def test_sums_of_any_shape(party: Party, shape: tuple[int, ...]) -> None:
    x, y = numbers(party, shape), numbers(party, shape, 2)
    a, b = party.encrypt(x), party.encrypt(y)
    party.check(a.sum(), x.sum(), 1e-2)
    # The padding does not hold zeros any more.
    party.check(((a + 3) * (b + 2)).sum() if shape else (a + 3) * (b + 2), ((x + 3) * (y + 2)).sum(), 1e-2)


def test_sums_of_shifted_numbers(party: Party) -> None:
    for size in (5, 700):
        x = numbers(party, size)
        a = party.encrypt(x)
        party.check((a * 2).sum(), (x * 2).sum(), 1e-2)
        party.check((a + np.ones(size, dtype=x.dtype)).sum(), (x + 1).sum(), 1e-2)


def test_broadcasting(party: Party) -> None:
    x, y = numbers(party, (3, 4)), numbers(party, (4,), 2)
    a, b = party.encrypt(x), party.encrypt(y)
    party.check(a + b, x + y)
    party.check(a * b, x * y)
    party.check(b - a, y - x)
    party.check(a + y, x + y)
    party.check(b + x, y + x)
    party.check(party.encrypt(numbers(party, ())) * a, numbers(party, ()) * x)
    long = numbers(party, (300, 4), 3)
    party.check(party.encrypt(long) - b, long - y)
    party.check(b * long, y * long)
    party.check((b * long).sum(), (y * long).sum(), 1e-2)


def test_broadcasting_that_moves_numbers(reals: Party) -> None:
    x, y, z = numbers(reals, (3, 4)), numbers(reals, (3, 1), 2), numbers(reals, (2, 3), 3)
    reals.check(reals.encrypt(x) * reals.encrypt(y), x * y)
    reals.check(reals.encrypt(z) + reals.encrypt(z[0]), z + z[0])


def test_indices(party: Party) -> None:
    x = numbers(party, 12)
    a = party.encrypt(x)
    for key in (3, slice(2, 7), slice(None, None, -1), slice(0, 12, 5), [1, 1, 8], np.s_[...], x > 0):
        party.check(a[key], x[key])
    m = numbers(party, (3, 4))
    b = party.encrypt(m)
    for place in (1, np.s_[:, 2], np.s_[1:, ::2], np.s_[None, 2]):
        party.check(b[place], m[place])
    party.check(b.T, m.T)
    party.check(b.reshape(2, 6), m.reshape(2, 6))
    party.check(b.ravel(), m.ravel())
    party.check(b[1].sum(), m[1].sum())
    party.check(a[2:7] * a[3:8], x[2:7] * x[3:8])
    with pytest.raises(IndexError):
        a[12]


def test_indices_across_ciphertexts(party: Party) -> None:
    x = numbers(party, 1500)
    a = party.encrypt(x)
    for key in (slice(500, 530), slice(1000, 1100), slice(1, None), [5, 1400], slice(0, 1024)):
        party.check(a[key], x[key])
    y = numbers(party, 1000)
    party.check(party.encrypt(y)[480:520], y[480:520])


@pytest.mark.parametrize("size", [8, 5, 512, 1000])
def test_rotations(party: Party, size: int) -> None:
    x = numbers(party, size)
    a = party.encrypt(x)
    for steps in (0, 1, 3, -1, size + 2):
        party.check(a.rotate(steps), np.roll(x, -steps))


def test_sums_along_axes(party: Party) -> None:
    for shape in ((3, 4), (4, 4), (8, 8), (2, 3, 4)):
        x = numbers(party, shape)
        a = party.encrypt(x)
        for axis in (0, -1, tuple(range(len(shape)))):
            party.check(a.sum(axis), x.sum(axis), 1e-3)
    x = numbers(party, (3, 400))
    party.check(party.encrypt(x).sum(0), x.sum(0), 1e-3)
    with pytest.raises(IndexError):
        party.encrypt(x).sum(2)


def test_means_and_variances(party: Party) -> None:
    for shape in ((6,), (8,), (2, 5)):
        x = numbers(party, shape)
        a = party.encrypt(x)
        party.check(a.mean(), np.asarray(x.mean()))
        party.check(a.var(), np.asarray(x.var()), 1e-3)
    x = numbers(party, (4, 3))
    party.check(party.encrypt(x).mean(0), x.mean(0))


def test_quotients_of_integers(integers: Party) -> None:
    x = np.array([1, 2, 4])
    a = integers.encrypt(x)
    integers.check(a / 3 + a / 2 - 1, x / 3 + x / 2 - 1)
    integers.check((a / 3) * (a / 2), x / 3 * (x / 2))
    assert (a / 3).dtype == np.float64


@pytest.mark.parametrize("size", [4, 5, 700, 1500])
def test_inner_products(party: Party, size: int) -> None:
    x, y = numbers(party, size), numbers(party, size, 2)
    a, b = party.encrypt(x), party.encrypt(y)
    party.check(a @ b, np.asarray(x @ y), 1e-2)
    party.check(a @ y, np.asarray(x @ y), 1e-2)
    party.check(y @ a, np.asarray(y @ x), 1e-2)
    party.check((a + 1) @ (b + 2), np.asarray((x + 1) @ (y + 2)), 1e-2)


@pytest.mark.parametrize(("rows", "columns"), [(4, 4), (3, 5), (8, 3), (1, 7), (33, 20)])
def test_matrices_in_the_clear(party: Party, rows: int, columns: int) -> None:
    m, x = numbers(party, (rows, columns)), numbers(party, columns, 2)
    a = party.encrypt(x)
    party.check(m @ a, m @ x, 1e-3)
    party.check(a @ m.T, x @ m.T, 1e-3)
    party.check((m @ a).sum(), np.asarray((m @ x).sum()), 1e-2)


@pytest.mark.parametrize(("rows", "columns"), [(600, 600), (700, 3), (4, 1100), (1500, 1500), (1030, 8)])
def test_matrices_of_many_ciphertexts(party: Party, rows: int, columns: int) -> None:
    rng = np.random.default_rng(5)
    m = np.zeros((rows, columns), dtype=party.context.dtype)
    # A few diagonals, corners and what lies across rows and ciphertexts.
    for i in range(min(rows, columns) - 1):
        m[i, i], m[i, i + 1] = 1, -2
    m[0, -1], m[-1, 0], m[-1, -1] = 3, 2, 1
    x = numbers(party, columns, int(rng.integers(99)))
    party.check(m @ party.encrypt(x), m @ x, 1e-3)
    party.check(m[:0:-1] @ party.encrypt(x) if rows < 5 else party.encrypt(x) @ m.T, m[:0:-1] @ x if rows < 5 else m @ x, 1e-3)


def test_matrices_times_matrices(party: Party) -> None:
    x, y = numbers(party, (3, 4)), numbers(party, (4, 2), 2)
    a, b = party.encrypt(x), party.encrypt(y)
    party.check(a @ y, x @ y, 1e-3)
    party.check(x @ b, x @ y, 1e-3)
    with pytest.raises(sunzi.errors.ShapeError):
        a @ x
    with pytest.raises(sunzi.errors.ShapeError):
        a @ 3


def test_encrypted_matrices_times_encrypted_ones(reals: Party) -> None:
    x, y = numbers(reals, (2, 4)), numbers(reals, (4, 2), 2)
    reals.check(reals.encrypt(x) @ reals.encrypt(y), x @ y, 1e-3)


def test_encrypted_matrices(reals: Party) -> None:
    for shape in ((3, 4), (4, 8)):
        m, x, y = numbers(reals, shape), numbers(reals, shape[1], 2), numbers(reals, shape[0], 3)
        a = reals.encrypt(m)
        reals.check(a @ reals.encrypt(x), m @ x, 1e-3)
        reals.check(a @ x, m @ x, 1e-3)
        reals.check(y @ a, y @ m, 1e-3)
        reals.check(reals.encrypt(y) @ a, y @ m, 1e-3)


def test_powers_and_polynomials(party: Party) -> None:
    x = numbers(party, 5)
    a = party.encrypt(x)
    party.check(a**1, x)
    party.check(a**3, x**3, 1e-3)
    party.check(a.polyval([1, -2, 0, 1]), 1 - 2 * x + x**3, 1e-3)
    party.check(a.polyval([1, -2, 0, 1]).sum(), np.asarray((1 - 2 * x + x**3).sum()), 1e-2)
    party.check(a.polyval([2, 3]), 2 + 3 * x)


def test_functions(reals: Party) -> None:
    x = np.array([1.0, 1.5, 3.0, 2.5, 1.25])
    a = reals.encrypt(x, bounds=(0.9, 3.1))
    # The padding is 0, where 1/x has its pole.
    reals.check(a.apply(lambda v: 1 / v, (0.9, 3.1), degree=15), 1 / x, 1e-2)
    reals.check(a.apply(np.sqrt, (0.9, 3.1), error=1e-3).sum(), np.asarray(np.sqrt(x).sum()), 1e-2)
    with pytest.raises(ZeroDivisionError):
        a.apply(lambda v: 1 / 0, (0, 4))
    with pytest.raises(sunzi.errors.NotReached):
        sunzi.Series.approximate(abs, -1, 1, error=1e-9)


def test_complex_numbers(reals: Party) -> None:
    x = np.array([1 + 2j, -0.5j, 0.25])
    a = reals.encrypt(x)
    assert a.dtype == np.complex128
    reals.check(a * a, x * x)
    reals.check(a * 1j + x, x * 1j + x)
    reals.check(a.sum(), np.asarray(x.sum()))


def test_random_expressions(party: Party) -> None:
    rng = np.random.default_rng(7)
    for _ in range(12):
        shape = SHAPES[rng.integers(1, len(SHAPES))]
        clear = [numbers(party, shape, int(rng.integers(1000))) for _ in range(3)]
        x, a = clear[0], party.encrypt(clear[0])
        for other in clear[1:]:
            kind = rng.integers(5)
            if kind == 0:
                x, a = x + other, a + party.encrypt(other)
            elif kind == 1:
                x, a = x - other, a - other
            elif kind == 2:
                x, a = x * 2, a * 2
            elif kind == 3 and x.size < 6:
                x, a = x.ravel()[::-1].reshape(shape), a.ravel()[::-1].reshape(shape)
            else:
                x, a = np.roll(x, -1), a.rotate(1)
        party.check(a, x, 1e-2)
        party.check(a.sum(), np.asarray(x.sum()), 0.1)


def test_bytes_and_copies(party: Party) -> None:
    x = numbers(party, (2, 700))
    a = party.encrypt(x)
    for twin in (copy.copy(a), copy.deepcopy(a)):
        party.check(twin * a, x * x)
    # Of integers a pickle has what was declared, and no more.
    back = pickle.loads(pickle.dumps(a if party.context.is_real else a.declared(-9, 9)))
    assert back.keys is None and back.context is a.context
    party.check(back + 1, x + 1)
    with pytest.raises(sunzi.errors.MissingKey, match="with_keys"):
        back * back
    party.check(back.with_keys(party.keys.public) * back, x * x)
    party.check((back * a).sum(), np.asarray((x * x).sum()), 1e-2)
    public = pickle.loads(pickle.dumps(party.keys.public))
    party.check(public.encrypt(x) * a, x * x)
    party.check(a.with_keys(public)[0, 3:5] * 1, x[0, 3:5])
    with pytest.raises(TypeError, match="export_secret"):
        pickle.dumps(party.keys)
    with pytest.raises(TypeError):
        pickle.dumps(party.keys.secret)
    again = sunzi.Keys.from_secret(party.keys.export_secret(), public)
    np.testing.assert_allclose(again.decrypt(a), x, atol=1e-4)


def test_what_arrays_say(party: Party) -> None:
    a = party.encrypt(numbers(party, (3, 4)))
    text, table = repr(a), a._repr_html_()
    assert "(3, 4)" in text and party.context.scheme in text and party.keys.id[:8] in text
    assert table.startswith("<table>") and "(3, 4)" in table
    picture = (a * a + 1)._repr_html_()
    assert "<svg" in picture and "polyline" in picture and "multiply" in picture and "bits at first" in picture
    assert "script" not in picture and "http" not in picture.replace("http://www.w3.org/2000/svg", "")
    assert a.nbytes > 0 and a.bits_left > 0 and len(a) == 3 and a.size == 12 and a.ndim == 2
    assert (a.level is None) == (party.context.scheme == "bfv")
    assert (a.scale is None) == (not party.context.is_real)
    assert "multiply" in (a * a).trace
    assert "SECRET" in repr(party.keys)
    with pytest.raises(TypeError):
        bool(a)
    with pytest.raises(TypeError):
        a + "x"


def test_tables_and_pictures_are_escaped_and_small(party: Party) -> None:
    from xml.etree import ElementTree

    from sunzi import _html

    a = party.encrypt(numbers(party, 4))
    for _ in range(2):
        a = a * a[::-1].rotate(1) + 1
    for shown in (a, party.context, party.keys, party.keys.public):
        page = shown._repr_html_()
        tree = ElementTree.fromstring(page.replace("<br>", "<br/>"))
        assert tree.tag == "table" and len(page) < 16384
    assert "SECRET" in party.keys._repr_html_() and party.keys.id[:8] in party.keys.public._repr_html_()
    assert "NO SECURITY" in party.context._repr_html_() and party.context.scheme in party.context._repr_html_()
    evil = _html.table("<b>", [("<i>", '"&<script>')], _html.sparkline([("<u>", 1, 0.0, 9.0), ("x", 2, 3.5, 5.5)], "<p>"))
    assert "<b>" not in evil and "<i>" not in evil and "<script>" not in evil and "<u>" not in evil and "<p>" not in evil
    assert "x (2 times): 3.5 bits spent, 5.5 left" in evil
    # Nothing to draw of one step, of none, or of bits that are no numbers.
    for steps in ([], [("encrypt", 1, 0.0, 9.0)], [("encrypt", 1, 0.0, float("inf")), ("add", 1, 0.0, float("nan"))]):
        assert _html.sparkline(steps, "precision") == ""
    ElementTree.fromstring(_html.table("flat", [], _html.sparkline([("a", 1, 0.0, 0.0), ("b", 1, 0.0, 0.0)], "bits").replace("<br>", "<br/>")))
