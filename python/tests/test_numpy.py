"""Functions of numpy on encrypted arrays: they work, or are a ``TypeError`` that says what to do. None gives an array of objects, or an answer that nobody can know."""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Party, numbers

import sunzi
from sunzi import _numpy, errors

#: numpy, whose stubs know nothing of encrypted arrays.
any_np: Any = np

#: Calls of a matrix a and a vector v, encrypted or clear, of shapes (3, 4) and (4,): each has to give what it gives in the clear, or to refuse.
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, v: np.add(a, v),
    "subtract": lambda a, v: np.subtract(2, a),
    "multiply": lambda a, v: np.multiply(a, v),
    "divide": lambda a, v: np.divide(a, 2),
    "negative": lambda a, v: np.negative(a),
    "positive": lambda a, v: np.positive(a),
    "square": lambda a, v: np.square(a),
    "power": lambda a, v: np.power(a, 2),
    "matmul": lambda a, v: np.matmul(a, v),
    "conjugate": lambda a, v: np.conjugate(a),
    "sum": lambda a, v: np.sum(a, axis=1),
    "mean": lambda a, v: np.mean(a, axis=0, keepdims=True),
    "var": lambda a, v: np.var(v),
    "dot": lambda a, v: np.dot(a, v),
    "inner": lambda a, v: np.inner(v, v),
    "outer": lambda a, v: np.outer(v, [1, 2]),
    "trace": lambda a, v: np.trace(a),
    "diff": lambda a, v: np.diff(v),
    "tril": lambda a, v: np.tril(a),
    "triu": lambda a, v: np.triu(a, 1),
    "polyval": lambda a, v: np.polyval([1, -2, 3], v),
    "reshape": lambda a, v: np.reshape(a, (2, 6)),
    "ravel": lambda a, v: np.ravel(a),
    "transpose": lambda a, v: np.transpose(a),
    "swapaxes": lambda a, v: np.swapaxes(a, 0, 1),
    "moveaxis": lambda a, v: np.moveaxis(a, 0, -1),
    "squeeze": lambda a, v: np.squeeze(a[None]),
    "expand_dims": lambda a, v: np.expand_dims(a, 1),
    "flip": lambda a, v: np.flip(v),
    "fliplr": lambda a, v: np.fliplr(a),
    "flipud": lambda a, v: np.flipud(a),
    "rot90": lambda a, v: np.rot90(m=a),
    "take": lambda a, v: np.take(v, [3, 0, 0]),
    "repeat": lambda a, v: np.repeat(v, 2),
    "tile": lambda a, v: np.tile(v, 2),
    "delete": lambda a, v: np.delete(v, 1),
    "diagonal": lambda a, v: np.diagonal(a),
    "split": lambda a, v: np.split(v, 2)[1],
    "array_split": lambda a, v: np.array_split(v, 3)[0],
    "hsplit": lambda a, v: np.hsplit(a, 2)[0],
    "vsplit": lambda a, v: np.vsplit(a, 3)[2],
    "atleast_1d": lambda a, v: np.atleast_1d(v),
    "atleast_2d": lambda a, v: np.atleast_2d(v),
    "roll": lambda a, v: np.roll(v, 1),
    "broadcast_to": lambda a, v: np.broadcast_to(v, (2, 4)),
    "concatenate": lambda a, v: np.concatenate([v, [1, 2, 3], v + 1]),
    "stack": lambda a, v: np.stack([v, v * 2]),
    "vstack": lambda a, v: np.vstack((a, v)),
    "hstack": lambda a, v: np.hstack([v, v]),
    "dstack": lambda a, v: np.dstack([v, v]),
    "column_stack": lambda a, v: np.column_stack([v, np.ones(4, dtype=int)]),
    "append": lambda a, v: np.append(v, [7]),
    "block": lambda a, v: np.block([[v, v], [v, np.zeros(4, dtype=int)]]),
    "where": lambda a, v: np.where(np.arange(4) % 2, v, -1),
    "copy": lambda a, v: np.copy(v),
    "shape": lambda a, v: np.asarray(np.shape(a)),
    "ndim": lambda a, v: np.asarray(np.ndim(a)),
    "size": lambda a, v: np.asarray(np.size(a, 1)),
    "iscomplexobj": lambda a, v: np.asarray(np.iscomplexobj(a)),
    "isrealobj": lambda a, v: np.asarray(np.isrealobj(a)),
    "equal": lambda a, v: np.equal(a, v),
    "not_equal": lambda a, v: np.not_equal(a, 3),
    "less": lambda a, v: np.less(a, v),
    "less_equal": lambda a, v: np.less_equal(a, v),
    "greater": lambda a, v: np.greater(np.ones(4), v),
    "greater_equal": lambda a, v: np.greater_equal(a, v),
    "array_equal": lambda a, v: np.array_equal(a, a),
    "allclose": lambda a, v: np.allclose(a, a),
    "isclose": lambda a, v: np.isclose(a, v),
    "all": lambda a, v: np.all(a),
    "any": lambda a, v: np.any(a),
    "count_nonzero": lambda a, v: np.count_nonzero(a),
    "nonzero": lambda a, v: np.nonzero(a),
    "max": lambda a, v: np.max(a),
    "min": lambda a, v: np.min(a),
    "argmax": lambda a, v: np.argmax(a),
    "argmin": lambda a, v: np.argmin(a),
    "maximum": lambda a, v: np.maximum(a, 0),
    "minimum": lambda a, v: np.minimum(a, 0),
    "clip": lambda a, v: np.clip(a, 0, 1),
    "sort": lambda a, v: np.sort(v),
    "argsort": lambda a, v: np.argsort(v),
    "median": lambda a, v: np.median(a),
    "percentile": lambda a, v: np.percentile(a, 50),
    "quantile": lambda a, v: np.quantile(a, 0.5),
    "unique": lambda a, v: np.unique(a),
    "searchsorted": lambda a, v: np.searchsorted([1, 2], v),
    "histogram": lambda a, v: np.histogram(v),
    "logical_and": lambda a, v: np.logical_and(a, v),
    "logical_or": lambda a, v: np.logical_or(a, v),
    "logical_not": lambda a, v: np.logical_not(a),
    "isnan": lambda a, v: np.isnan(a),
    "isfinite": lambda a, v: np.isfinite(a),
    "isinf": lambda a, v: np.isinf(a),
    "absolute": lambda a, v: np.absolute(a),
    "sign": lambda a, v: np.sign(a),
    "floor": lambda a, v: np.floor(a),
    "ceil": lambda a, v: np.ceil(a),
    "rint": lambda a, v: np.rint(a),
    "round": lambda a, v: np.round(a),
    "floor_divide": lambda a, v: np.floor_divide(a, 2),
    "remainder": lambda a, v: np.remainder(a, 2),
    "std": lambda a, v: np.std(a),
    "prod": lambda a, v: np.prod(v),
    "cumsum": lambda a, v: np.cumsum(v),
    "cumprod": lambda a, v: np.cumprod(v),
    "average": lambda a, v: np.average(v),
    "einsum": lambda a, v: np.einsum("ij,j->i", a, v),
    "tensordot": lambda a, v: np.tensordot(a, v, 1),
    "kron": lambda a, v: np.kron(v, v),
    "convolve": lambda a, v: np.convolve(v, [1, 1]),
    "linalg.norm": lambda a, v: np.linalg.norm(v),
    "linalg.inv": lambda a, v: np.linalg.inv(a[:, :3]),
    "linalg.solve": lambda a, v: np.linalg.solve(a[:, :3], np.ones(3)),
    "zeros_like": lambda a, v: np.zeros_like(a),
    "ones_like": lambda a, v: np.ones_like(a),
    "full_like": lambda a, v: np.full_like(a, 1),
    "save": lambda a, v: np.save("/dev/null", a),
    "savetxt": lambda a, v: np.savetxt("/dev/null", a),
}
#: Functions of real numbers, by their series.
CURVES = ("reciprocal", "exp", "log", "sqrt", "tanh", "sin", "cos")


def test_the_table_is_whole() -> None:
    """Every function of the table is tried here, and the one that users read is this one."""
    titles = {_numpy._title(function): function for function in (*_numpy.WORKS, *_numpy.REFUSED)}
    assert set(titles) == {*CALLS, *CURVES} and len(titles) > 50
    assert not set(_numpy.WORKS) & set(_numpy.REFUSED)
    readme = Path(__file__).resolve().parents[1] / "README.md"
    assert _numpy.table() in readme.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", CALLS)
def test_functions(integers: Party, reals: Party, name: str) -> None:
    works = {_numpy._title(function): function for function in _numpy.WORKS}
    refused = {_numpy._title(function): why for function, why in _numpy.REFUSED.items()}
    for party in (integers, reals):
        x, y = numbers(party, (3, 4)), numbers(party, 4, 2)
        a, v = party.encrypt(x), party.encrypt(y)
        if name in works:
            found, expected = CALLS[name](a, v), CALLS[name](x, y)
            if isinstance(found, sunzi.EncryptedArray):
                party.check(found, expected.astype(found.dtype), 1e-3)
            else:
                np.testing.assert_array_equal(found, expected)
        else:
            with pytest.raises(TypeError) as told:
                CALLS[name](a, v)
            assert refused[name] in str(told.value) and f"numpy.{name} does not" in str(told.value)


@pytest.mark.parametrize("name", CURVES)
def test_functions_of_real_numbers(reals: Party, name: str) -> None:
    x = np.array([0.75, 1.0, 1.25])
    found = getattr(np, name)(reals.keys.encrypt(x, bounds=(0.5, 1.5)))
    assert np.abs(reals.keys.decrypt(found) - getattr(np, name)(x)).max() <= found.error < 0.01


def test_nothing_becomes_an_array_of_objects(party: Party) -> None:
    a, b = party.encrypt(numbers(party, 4)), party.encrypt(numbers(party, 4, 2))
    encrypted: Any = a
    for make in (
        lambda: np.array(a),
        lambda: np.asarray(a),
        lambda: np.array([a, b]),
        lambda: np.array(a, dtype=object),
        lambda: np.array([[a], [b]], dtype=object),
        lambda: np.asanyarray(a),
        lambda: np.vectorize(lambda v: v)(a),
        lambda: np.sum([a, b]),
        lambda: np.ascontiguousarray(a),
        lambda: party.encrypt(encrypted),
        lambda: any_np.testing.assert_allclose(a, b),
        lambda: sunzi.Like.of(a),
    ):
        with pytest.raises((TypeError, ValueError)) as told:
            found = make()
            raise AssertionError(f"{found!r}")
        assert "decrypt" in str(told.value) or "object" in str(told.value)
    with pytest.raises(TypeError, match=r"keys\.decrypt.*np\.concatenate"):
        np.array(a)


def test_methods_of_numpy_that_are_missing_say_what_to_do(party: Party) -> None:
    a = party.encrypt(numbers(party, 4))
    for name, told in {"std": "takes the root", "max": "secret key", "dot": r"np\.dot\(array\) works", "partition": "decrypt first", "nowhere": "'nowhere'$"}.items():
        assert not hasattr(a, name)
        with pytest.raises(AttributeError, match=told):
            getattr(a, name)
    for name in ("__array_interface__", "__all__", "__len", "__array_struct__"):
        assert not hasattr(a, name)


def test_comparisons_are_refused(party: Party) -> None:
    """Whether two objects are one is no answer to whether their numbers are."""
    a = party.encrypt(numbers(party, 4))
    x = np.arange(4)
    for compare in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        for left, right in ((a, a), (a, 3), (a, x), (x, a), (np.int64(3), a), (3, a)):
            with pytest.raises(TypeError, match="secret key"):
                compare(left, right)
    asked: list[Callable[[], object]] = [lambda: bool(a), lambda: 3 in a, lambda: a in x, lambda: not a, lambda: a or 1]
    for ask in asked:
        with pytest.raises(TypeError, match="secret key"):
            ask()
    conversions: list[Callable[[Any], object]] = [int, float, complex, operator.index, abs, round]
    conversions += [lambda v: range(3)[v], lambda v: x[v], lambda v: divmod(v, 2), lambda v: 2**v]
    for convert in conversions:
        with pytest.raises(TypeError):
            convert(a[0])
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)
    with pytest.raises(TypeError, match="no dimension"):
        iter(a.sum())
    assert [len(part.shape) for part in a] == [0] * 4


def test_operators_with_clear_numbers_on_the_left(party: Party) -> None:
    x, y = numbers(party, 4), numbers(party, 4, 2)
    a = party.encrypt(x)
    party.check(y + a, y + x)
    party.check(y - a, y - x)
    party.check(y * a, y * x)
    party.check(y @ a, np.asarray(y @ x), 1e-3)
    for number in (3, np.int64(3), np.int32(3)):
        party.check(number * a - number, number * x - number)
    if party.context.is_real:
        party.check(np.float64(0.5) * a, 0.5 * x)
        party.check(np.float32(0.5) - a, 0.5 - x)
    total = y.copy()
    with pytest.raises(TypeError, match=r"x = x \+ y"):
        total += a
    with pytest.raises(TypeError, match="clear array cannot hold"):
        any_np.add(a, a, out=np.zeros(4))
    refused: list[Callable[[], Any]] = [
        lambda: any_np.add(a, a, where=[True, False, True, False]),
        lambda: any_np.multiply.reduce(a),
        lambda: any_np.add.outer(a, a),
        lambda: any_np.sum(a, dtype=float),
        lambda: any_np.mean(a, where=[True] * 4),
        lambda: any_np.take(x, a),
        lambda: any_np.where(a, 1, 2),
        lambda: any_np.where(a),
        lambda: any_np.power(2, a),
        lambda: any_np.power(a, 0.5),
        lambda: any_np.power(a, a),
        lambda: any_np.polyval(a, 2),
        lambda: any_np.outer(a, a, out=np.zeros((4, 4))),
        lambda: a // 2,
        lambda: a % 2,
        lambda: any_np.fft.fft(a),
        lambda: np.frompyfunc(lambda v: v, 1, 1)(a),
    ]
    for wrong in refused:
        with pytest.raises(TypeError) as told:
            found = wrong()
            raise AssertionError(f"{found!r}")
        assert len(str(told.value)) > 30
    # Of integers there is no reciprocal, and of real numbers none of those that may be 0.
    with pytest.raises(sunzi.errors.OutsideInterval if party.context.is_real else TypeError, match="out 0 |dtype=float"):
        1 / a
    party.check(any_np.add.reduce(a), np.asarray(x.sum()), 1e-3)


@pytest.mark.parametrize(
    "call",
    [
        lambda a, clear: np.concatenate([a, a], out=clear),
        lambda a, clear: np.concatenate([a, a], 0, clear),
        lambda a, clear: np.stack([a, a], 0, clear.reshape(2, 4)),
        lambda a, clear: np.take(a, range(8), None, clear),
        lambda a, clear: np.take(a, [0] * 8, out=clear),
        lambda a, clear: np.concatenate([a, a], dtype=float),
        lambda a, clear: np.vstack([a, a], dtype=float),
    ],
)
def test_clear_arrays_for_results_are_refused(integers: Party, call: Callable[[Any, Any], Any]) -> None:
    """Where a function moves places inside, an array of the caller never gets them."""
    clear = np.full(8, -1)
    with pytest.raises(TypeError, match=r"numpy\.\w+ does not.*(out|dtype|arguments)"):
        call(integers.encrypt(numbers(integers, 4)), clear)
    assert (clear == -1).all()


def test_wrong_axes_and_orders_are_named(party: Party) -> None:
    a = party.encrypt(numbers(party, (2, 3)))
    calls: list[Callable[[], object]] = [lambda: any_np.diff(a, axis=2), lambda: any_np.size(a, 2), lambda: any_np.sum(a, axis=-3)]
    for wrong in calls:
        with pytest.raises(IndexError, match="axis -?[23] of an array of 2 dimensions"):
            wrong()
    with pytest.raises(ValueError, match="order -1"):
        any_np.diff(a, -1)
    with pytest.raises(IndexError, match="array of 0 dimensions"):
        any_np.diff(a.sum())


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_clear_numbers_that_are_not_finite_are_named(reals: Party, bad: float) -> None:
    a = reals.encrypt(np.array([0.5, 0.25]))
    x = np.array([1.0, bad])
    for wrong in (lambda: a * x, lambda: x * a, lambda: a + x, lambda: a @ x, lambda: any_np.concatenate([a, x]), lambda: any_np.where([True, False], a, x)):
        with pytest.raises(errors.NotFinite, match="index [13]"):
            wrong()
    with pytest.raises(errors.NotFinite, match="index 0"):
        a * bad


def test_concatenation_of_many_ciphertexts(party: Party) -> None:
    """Whole ciphertexts cost nothing; others take a mask, whatever their sizes."""
    for sizes in ((1024, 1024), (1024, 500), (500, 1024), (1, 7, 600), (5, 3, 8)):
        clear = [numbers(party, size, size) for size in sizes]
        arrays = [party.encrypt(x) for x in clear]
        joined = any_np.concatenate(arrays)
        party.check(joined, np.concatenate(clear))
        party.check(joined.sum(), np.asarray(np.concatenate(clear).sum()), 1e-2)
        if sizes == (1024, 1024):
            assert joined.level == arrays[0].level and joined.bits_left == arrays[0].bits_left
    x, y = numbers(party, (2, 3)), numbers(party, (2, 2), 2)
    party.check(any_np.concatenate((party.encrypt(x), y, party.encrypt(y)), axis=1), np.concatenate((x, y, y), axis=1))


def test_parts_at_different_levels_quotients_and_bounds(reals: Party, integers: Party) -> None:
    x = np.array([0.5, 0.25])
    a = reals.keys.encrypt(x, bounds=(0, 1))
    lower = a * x * x
    reals.check(any_np.concatenate([a, lower, [7.0]]), np.concatenate([x, x**3, [7.0]]))
    low, high = any_np.concatenate([a, [-2.0]]).bounds
    assert (low, high) == (-2, 1) and any_np.where([True, False], a, 5.0).bounds == (0, 5)
    assert any_np.concatenate([a, a.apply(np.exp, degree=7)]).error < 1e-3
    y = np.array([3, 5])
    b = integers.encrypt(y)
    integers.check(any_np.concatenate([b / 2, b / 3, [4]]), np.concatenate([y / 2, y / 3, [4]]))
    integers.check(any_np.concatenate([b / -2, b]), np.concatenate([y / -2, y]))
    with pytest.raises(errors.WrongScheme):
        any_np.concatenate([a, b])
    with pytest.raises(errors.WrongScheme):
        any_np.concatenate([b, [0.5]])
    with pytest.raises(ValueError, match="dimension"):
        any_np.concatenate([b, np.ones((2, 2), dtype=int)])
    complex_ = any_np.concatenate([a, [1j]])
    reals.check(complex_, np.concatenate([x, [1j]]))


def test_broadcast_arrays_open(party: Party) -> None:
    """What repeats in fewer slots than an array has opens all the same."""
    x = numbers(party, ())
    party.check(any_np.broadcast_to(party.encrypt(x), (3, 2)), np.broadcast_to(x, (3, 2)))
    one = numbers(party, (1,))
    party.check(party.encrypt(one)[[0, 0, 0]], one[[0, 0, 0]])


def test_programs_take_functions_of_numpy() -> None:
    @sunzi.program
    def joined(x: sunzi.EncryptedArray, y: sunzi.EncryptedArray) -> sunzi.EncryptedArray:
        found: sunzi.EncryptedArray = any_np.sum(any_np.concatenate([x, y * 2, [1, 2]]) * any_np.stack([x, y]).reshape(-1)[[0, 1, 2, 3, 0, 1]])
        return found

    x, y = np.array([1, -2]), np.array([3, 4])
    plan = joined.plan(x, y, log2_degree=11, security=0)
    expected = np.sum(np.concatenate([x, y * 2, [1, 2]]) * np.stack([x, y]).reshape(-1)[[0, 1, 2, 3, 0, 1]])
    assert joined.run(plan.keygen(), x, y) == expected
    assert joined.run(plan.keygen(), x, y, shadow=True) == expected
