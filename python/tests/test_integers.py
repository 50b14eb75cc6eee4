"""Encrypted integers of 8 to 64 bits and conditions, against numpy. The sets are small, and without any security."""

from __future__ import annotations

import copy
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from conftest import Party

import sunzi
from sunzi import _wire, errors

RNG = np.random.default_rng(23)
DTYPES = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
Numbers = npt.NDArray[Any]


def made(log2_degree: int) -> sunzi.Keys:
    return sunzi.keygen(sunzi.Context.for_bootstrapping(f"insecure-{log2_degree}-integer"))


@pytest.fixture(scope="module")
def keys() -> sunzi.Keys:
    """128 integers in a batch."""
    return made(7)


def ends(dtype: str) -> tuple[int, int]:
    info = np.iinfo(np.dtype(dtype))
    return int(info.min), int(info.max)


def drawn(dtype: str, count: int) -> Numbers:
    """Integers of a type: its ends, those beside them and around 0, and random ones."""
    low, high = ends(dtype)
    few = [low, low + 1, high, high - 1, 0, 1, 15, 16, high // 2, high // 2 + 1] + ([-1, -16] if low < 0 else [])
    values = RNG.integers(low, high, count, dtype=dtype, endpoint=True)
    values[: len(few)] = few
    return RNG.permutation(values)


def pair(dtype: str, count: int) -> tuple[Numbers, Numbers]:
    """Two arrays, a third of whose numbers are equal or neighbours."""
    a, b = drawn(dtype, count), drawn(dtype, count)
    b[::6] = a[::6]
    b[1::6] = a[1::6] + np.array(1, dtype=dtype)
    return a, b


def opened(keys: sunzi.Keys, array: sunzi.IntegerArray, expected: npt.ArrayLike, name: str = "") -> None:
    """Compares, shape and type included, and bounds with the numbers."""
    found, wanted = keys.decrypt_integers(array), np.asarray(expected)
    assert found.shape == wanted.shape == array.shape
    assert found.dtype == wanted.dtype == array.dtype
    np.testing.assert_array_equal(found, wanted, err_msg=name)
    low, high = array.bounds
    assert low <= int(found.min()) and int(found.max()) <= high, name


def told(keys: sunzi.Keys, array: sunzi.ConditionArray, expected: npt.ArrayLike, name: str = "") -> None:
    """Compares conditions."""
    found = keys.decrypt_conditions(array)
    assert found.shape == np.shape(expected) == array.shape and found.dtype == array.dtype == np.bool_
    np.testing.assert_array_equal(found, expected, err_msg=name)


@pytest.mark.parametrize("dtype", DTYPES)
def test_arithmetic(keys: sunzi.Keys, dtype: str) -> None:
    a, b = pair(dtype, 100)
    x, y = keys.encrypt_integers(a), keys.public.encrypt_integers(b)
    assert (x.dtype, x.bounds, x.overflow, len(x), len(x.ciphertexts)) == (a.dtype, ends(dtype), "wrap", 100, 2 * a.dtype.itemsize)
    kind, (low, high) = a.dtype.type, ends(dtype)
    # Numpy wraps what it wraps in arrays.
    cases: dict[str, tuple[sunzi.IntegerArray, Numbers]] = {
        "itself": (+x, a),
        "sum": (x + y, a + b),
        "difference": (x - y, a - b),
        "negative": (-x, -a),
        "product": (x * y, a * b),
        "product of sums": ((x + y) * (y + y), (a + b) * (b + b)),
        "absolute": (abs(x), abs(a)),
        "plus clear": (x + 77, a + kind(77)),
        "clear first": (77 + x, a + kind(77)),
        "minus clear": (x - high, a - kind(high)),
        "from clear": (77 - x, kind(77) - a),
        "from the largest": (high - x, kind(high) - a),
        "plus array": (x + b, a + b),
        "minus array": (x - b, a - b),
        "from array": (b - x, b - a),
        "times clear": (x * 100, a * kind(100)),
        "clear times": (np.int64(3) * x, kind(3) * a),
        "times nothing": (x * 0, a * kind(0)),
        "times the largest": (x * high, a * kind(high)),
        "shifted left": (x << 5, a << kind(5)),
        "shifted right": (x >> 3, a >> kind(3)),
        "shifted far": (x >> (8 * a.dtype.itemsize - 1), a >> kind(8 * a.dtype.itemsize - 1)),
        "carried": ((x + y).carry(), a + b),
    }
    for divisor in (1, 3, 16, 100, high) if a.itemsize <= 2 else (10,):
        cases[f"// {divisor}"] = (x // divisor, a // kind(divisor))
        cases[f"% {divisor}"] = (x % divisor, a % kind(divisor))
    for name, (array, expected) in cases.items():
        opened(keys, array, expected, name)
    quotient, remainder = divmod(x + y, 7)
    opened(keys, quotient, (a + b) // kind(7))
    opened(keys, remainder, (a + b) % kind(7))
    assert remainder.bounds == (0, 6)


@pytest.mark.parametrize("dtype", DTYPES)
def test_comparisons(keys: sunzi.Keys, dtype: str) -> None:
    a, b = pair(dtype, 100)
    x, y = keys.encrypt_integers(a), keys.encrypt_integers(b)
    low, high = ends(dtype)
    orders: list[Callable[[Any, Any], Any]] = [operator.eq, operator.lt, operator.ge, operator.ne, operator.le, operator.gt]
    for order in orders if a.itemsize <= 2 else orders[:3]:
        told(keys, order(x, y), order(a, b), order.__name__)
        if a.itemsize <= 2 or order is operator.lt:
            told(keys, order(x, b), order(a, b), order.__name__)
            told(keys, order(b, x), order(b, a), order.__name__)
            told(keys, order(x + y, y), order(a + b, b), f"{order.__name__} of a sum")
        # No look-up is needed for the first ones.
        for clear in (-(10**40), low - 1, high + 1, 10**40, *(low, 0, 15, 16, high)[: 5 if a.itemsize == 1 else 2]):
            told(keys, order(x, clear), [order(int(one), clear) for one in a], f"{order.__name__} {clear}")
        told(keys, order(np.int64(5), x), order(5, a), order.__name__)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint32", "int64"])
def test_choices(keys: sunzi.Keys, dtype: str) -> None:
    a, b = pair(dtype, 60)
    x, y = keys.encrypt_integers(a), keys.encrypt_integers(b)
    kind = a.dtype.type
    less, clear = x < y, np.asarray(a < b)
    cases: dict[str, tuple[sunzi.IntegerArray, Numbers]] = {
        "two": (less.where(x, y), np.where(clear, a, b)),
        "sum": (sunzi.where(less, x + y, y), np.where(clear, a + b, b)),
        "or 0": (less.where(x, 0), np.where(clear, a, kind(0))),
        "0 or": (less.where(np.int8(0), x), np.where(clear, kind(0), a)),
        "clear": (less.where(x, 77), np.where(clear, a, kind(77))),
        "array": (less.where(b, x), np.where(clear, b, a)),
        "both clear": (sunzi.where(less, 7, 0, dtype=dtype), np.where(clear, kind(7), kind(0))),
        "clear arrays": (less.where(a, b, dtype=dtype), np.where(clear, a, b)),
        "zeros": (less.where(0, 0, dtype=dtype), np.zeros(60, dtype=dtype)),
        "minimum": (x.minimum(y), np.minimum(a, b)),
        "maximum": (x.maximum(y), np.maximum(a, b)),
        "least of clear": (x.minimum(b), np.minimum(a, b)),
        "greatest of clear": (x.maximum(16), np.maximum(a, kind(16))),
        "relu": (x.relu(), np.maximum(a, kind(0))),
        "clip": (x.clip(3, 99), np.clip(a, kind(3), kind(99))),
        "clip below": (x.clip(low := kind(5)), np.maximum(a, low)),
        "clip above": (x.clip(high=y), np.minimum(a, b)),
        "clip far": (x.clip(ends(dtype)[0] - 1, 10**30), a),
    }
    for name, (array, expected) in cases.items():
        opened(keys, array, expected, name)
    assert x.clip(3, 99).bounds == (3, 99) and sunzi.where(less, 7, 0, dtype=dtype).bounds == (0, 7)
    # What was chosen is computed with.
    opened(keys, x.minimum(y) * x.maximum(y) - x * y, np.zeros(60, dtype=dtype))


def test_conditions(keys: sunzi.Keys) -> None:
    a = drawn("uint8", 300)
    x = keys.encrypt_integers(a)
    c, d, p, q = x < 100, x > 20, a < 100, a > 20
    cases = {"and": (c & d, p & q), "or": (~c | ~d, ~p | ~q), "xor": (c ^ d, p ^ q), "not": (~c, ~p), "equal": (c == d, p == q), "not equal": (c != d, p != q)}
    for name, (array, expected) in cases.items():
        told(keys, array, expected, name)
    deep = ((c & d) | ~(c ^ d)) & (x != 50)
    told(keys, deep, ((p & q) | ~(p ^ q)) & (a != 50))
    opened(keys, deep.where(x, 0), np.where(((p & q) | ~(p ^ q)) & (a != 50), a, 0).astype(np.uint8))
    assert len(c.ciphertexts) == 3 and (len(c), c.size, repr(c)) == (300, 300, "<sunzi.ConditionArray (300,), 3 ciphertexts>")


@pytest.mark.parametrize("log2_degree", [8, 9])
def test_shapes_and_degrees(log2_degree: int) -> None:
    keys = made(log2_degree)
    degree, half = keys.context.degree, keys.context.slots
    shapes: list[tuple[int, ...]] = [(), (1,), (half,), (half + 1,), (degree,), (degree + 3,), (2, degree), (degree + half + 1,), (3, 5, 7)]
    for shape in shapes:
        a, b = (RNG.integers(-128, 127, shape, dtype=np.int8, endpoint=True) for _ in range(2))
        x, y = keys.encrypt_integers(a), keys.encrypt_integers(b)
        assert len(x.ciphertexts) == -(-a.size // degree) * 2 and (x.shape, x.size) == (shape, a.size)
        opened(keys, x * y + b, np.asarray(a * b + b, dtype=np.int8))
        opened(keys, (x < y).where(x, y), np.minimum(a, b))
    a = drawn("uint16", 60).reshape(3, 4, 5)
    x, row = keys.encrypt_integers(a), RNG.integers(0, 2**16, (4, 1), dtype=np.uint16)
    opened(keys, x + row, a + row)
    opened(keys, row - x, row - a)
    told(keys, x >= row, a >= row)


def test_bounds_and_overflow(keys: sunzi.Keys) -> None:
    a, b = np.array([3, 100, 17], dtype=np.uint8), np.array([50, 0, 49], dtype=np.uint8)
    x, y = keys.encrypt_integers(a, bounds=(3, 100), overflow="refuse"), keys.public.encrypt_integers(b, bounds=(0, 50))
    assert (x.overflow, y.overflow, x.bounds, (x + y).overflow) == ("refuse", "wrap", (3, 100), "refuse")
    opened(keys, x + y, a + b)
    assert (x + y).bounds == (3, 150) and (2 * y + 1).bounds == (1, 101) and (x.minimum(y)).bounds == (0, 50)
    opened(keys, 200 - x, 200 - a)
    opened(keys, x - b.min(), a)
    refused: list[tuple[str, Callable[[], object]]] = [
        ("a sum may give any integer from 159 to 256, which u8 does not hold", lambda: x + 156),
        (r"a sum may give any integer from 9 to 300.*wider kind, or encrypt with overflow=\"wrap\"", lambda: x + x + x),
        ("a difference may give any integer from -47 to 100", lambda: x - y),
        ("a difference may give any integer from -47 to 100", lambda: x - b),
        ("a sum may give any integer from -2 to 95", lambda: x - 5),
        ("a product may give any integer from 9 to 10000", lambda: x * x),
        ("a product may give any integer from 9 to 300", lambda: 3 * x),
        ("a shift to the left may give any integer from 12 to 400", lambda: x << 2),
        ("a negation may give any integer from -100 to -3", lambda: -x),
    ]
    for words, call in refused:
        with pytest.raises(errors.Overflow, match=words):
            call()
    assert issubclass(errors.Overflow, OverflowError) and issubclass(errors.Overflow, ValueError)
    least = keys.encrypt_integers([-128], dtype="int8", overflow="refuse")
    with pytest.raises(errors.Overflow, match="128, which i8 does not hold"):
        abs(least)
    opened(keys, abs(keys.encrypt_integers([-127, 5], dtype="int8", bounds=(-127, 7), overflow="refuse")), np.array([127, 5], dtype=np.int8))
    # No look-up is needed where bounds decide.
    told(keys, x < 3, np.zeros(3, dtype=bool))
    told(keys, x <= 100, np.ones(3, dtype=bool))


def test_what_is_encrypted(keys: sunzi.Keys) -> None:
    opened(keys, keys.encrypt_integers([1, -2]), np.array([1, -2], dtype=np.int64))
    opened(keys, keys.encrypt_integers([0, 2**64 - 1], dtype=np.uint64), np.array([0, 2**64 - 1], dtype=np.uint64))
    opened(keys, keys.encrypt_integers(np.array([-1, 5], dtype=">i4")), np.array([-1, 5], dtype=np.int32))
    opened(keys, keys.encrypt_integers([True, False], dtype=np.uint8), np.array([1, 0], dtype=np.uint8))
    opened(keys, keys.encrypt_integers(np.array([1, 200]), dtype=np.uint8), np.array([1, 200], dtype=np.uint8))
    refused: list[tuple[type[Exception], str, Callable[[], object]]] = [
        (errors.OutsideBounds, "integer 1 that is encrypted is 256: it must be from 0 to 255 as uint8", lambda: keys.encrypt_integers([1, 256], "uint8")),
        (errors.OutsideBounds, "is -1", lambda: keys.public.encrypt_integers(np.array([[3], [-1]]), dtype="uint64")),
        (errors.OutsideBounds, str(2**64), lambda: keys.encrypt_integers([1, 2**64], dtype="uint64")),
        (errors.OutsideBounds, str(2**64 - 1), lambda: keys.encrypt_integers(np.array([2**64 - 1], dtype=np.uint64), dtype="int64")),
        (errors.OutsideBounds, "is -1.*from 0", lambda: keys.encrypt_integers([2**63, -1], dtype="uint64")),
        (errors.OutsideBounds, "integer 0 that is encrypted is 9: it must be from 10 to 20", lambda: keys.encrypt_integers([9, 10], "uint8", bounds=(10, 20))),
        (errors.OutsideBounds, "bounds from -1 to 3 for uint8", lambda: keys.encrypt_integers([1], "uint8", bounds=(-1, 3))),
        (errors.OutsideBounds, "bounds from 4 to 3", lambda: keys.encrypt_integers([1], "uint8", bounds=(4, 3))),
        (TypeError, "give dtype", lambda: keys.encrypt_integers([2**64])),
        (TypeError, "of bool: give dtype", lambda: keys.encrypt_integers([True])),
        (TypeError, "of float64: give dtype", lambda: keys.encrypt_integers([0.5])),
        (TypeError, "float64: give integers", lambda: keys.encrypt_integers(np.array([1.0]), "uint8")),
        (TypeError, "give integers", lambda: keys.encrypt_integers(["a"], "uint8")),
        (TypeError, "of float32", lambda: keys.encrypt_integers([1], "float32")),
        (ValueError, '"wrap" or "refuse"', lambda: keys.encrypt_integers([1], "uint8", overflow="saturate")),  # type: ignore[arg-type]
        (errors.ShapeError, "nothing to encrypt", lambda: keys.encrypt_integers(np.zeros((0, 2), dtype=int))),
        (TypeError, "encrypted already", lambda: keys.encrypt_integers(keys.encrypt_integers([1]))),  # type: ignore[arg-type]
    ]
    for kind, words, call in refused:
        with pytest.raises(kind, match=words):
            call()


def test_operands_that_cannot_be(keys: sunzi.Keys) -> None:
    x, y = keys.encrypt_integers([1, 2], "uint8"), keys.encrypt_integers([1, 2], "int8")
    c = x < 2
    anything: Any = x
    refused: list[tuple[type[Exception], str, Callable[[], object]]] = [
        (errors.WrongScheme, "of uint8 and of int8", lambda: x + y),
        (errors.WrongScheme, "of uint8 and of int8", lambda: x < y),
        (errors.WrongScheme, "choice among uint8", lambda: c.where(x, y)),
        (errors.WrongScheme, "choice among int8", lambda: c.where(x, 0, dtype="int8")),
        (errors.ShapeError, "one shape", lambda: x + keys.encrypt_integers([1], "uint8")),
        (errors.ShapeError, "one shape", lambda: c.where(keys.encrypt_integers([1], "uint8"), 0)),
        (errors.ShapeError, r"\(3,\) for encrypted ones of shape \(2,\)", lambda: x + [1, 2, 3]),
        (errors.OutsideBounds, "integer 1 that is added is 256", lambda: x + [1, 256]),
        (errors.OutsideBounds, "compared is -1", lambda: x == [1, -1]),
        (errors.OutsideBounds, "compared is 256", lambda: x.maximum(256)),
        (errors.OutsideBounds, "chosen is 300", lambda: c.where(x, 300)),
        (errors.Operand, "a clear integer is 256: it must be from -256 to 255", lambda: x + 256),
        (errors.Operand, "a clear integer is -257", lambda: x * -257),
        (errors.Operand, "a divisor is 256: it must be from 1 to 255", lambda: x // 256),
        (errors.Operand, "a divisor is -3", lambda: x % -3),
        (errors.Operand, "shift by is 8: it must be less than the 8 bits", lambda: x << 8),
        (errors.Operand, "shift by", lambda: x >> 2**40),
        (errors.Operand, "a shift by -1", lambda: x >> -1),
        (ZeroDivisionError, "by 0", lambda: x // 0),
        (TypeError, "a quotient by an encrypted array", lambda: x // anything),
        (TypeError, "a product with a clear array", lambda: x * [1, 2]),
        (TypeError, "rounds down", lambda: x / 2),
        (TypeError, "float64: give integers", lambda: x + 0.5),
        (TypeError, "give integers", lambda: x == None),  # noqa: E711
        (TypeError, "encrypted conditions with bool", lambda: c & True),
        (TypeError, "encrypted conditions with IntegerArray", lambda: c ^ x),
        (TypeError, "a choice among clear integers: give dtype", lambda: c.where(1, 0)),
        (TypeError, "np.where chooses by clear ones", lambda: sunzi.where(np.array([True]), x, y)),  # type: ignore[arg-type]
        (TypeError, "unknown", lambda: bool(c)),
        (TypeError, "unknown", lambda: 1 if x == 1 else 2),
        (TypeError, "no numpy array", lambda: np.asarray(x)),
        (TypeError, "no numpy array", lambda: np.where(c, 1, 2)),  # type: ignore[call-overload]
        (TypeError, "unhashable", lambda: hash(x)),
        (TypeError, "no dimension", lambda: len(keys.encrypt_integers(1))),
        (TypeError, "make arrays of integers", lambda: sunzi.IntegerArray()),
        (TypeError, "make conditions", lambda: sunzi.ConditionArray()),
        (AttributeError, "mean of IntegerArray", lambda: anything.mean()),
        (AttributeError, "ConditionArray has no colour", lambda: c.colour),  # type: ignore[attr-defined]
    ]
    for kind, words, call in refused:
        with pytest.raises(kind, match=words):
            call()
    assert repr(x) == "<sunzi.IntegerArray (2,) of uint8 from 0 to 255, 2 ciphertexts>"


def test_refusals_of_the_library(keys: sunzi.Keys) -> None:
    """What arrays refuse before Rust does, and Rust by itself."""
    bootstrapping = keys.public.bootstrapping
    assert bootstrapping is not None
    evaluator = sunzi._native.IntegerEvaluator(keys.public.bootstrapper, bootstrapping)
    x, y = keys.encrypt_integers([1, 2], "uint8"), keys.encrypt_integers([1, 2], "int8")
    ((a,), (b,)), digits = (x._batches, y._batches), list(x.ciphertexts)
    batch = sunzi._native.IntegerBatch
    refused: list[tuple[type[Exception], str, Callable[[], object]]] = [
        (errors.OutsideBounds, "integer 1 is 9: it must be from 0 to 3", lambda: evaluator.encode("uint8", (0, 3), np.array([1, 9]))),
        (errors.Operand, "upper bound of integers is 256", lambda: evaluator.encode("uint8", (0, 256), np.array([1]))),
        (errors.Operand, "number of integers of a batch is 129", lambda: evaluator.encode("uint8", (0, 255), np.zeros(129, dtype=np.int64))),
        (errors.Mismatch, "2 integers u8 and of 2 integers i8", lambda: evaluator.add(a, b)),
        (errors.Mismatch, "one ciphertext for each digit", lambda: evaluator.carried(batch("uint16", 2, (0, 255), digits))),
        (errors.WrongScheme, "float64", lambda: batch("float64", 2, (0, 255), digits)),
        (errors.Empty, "one for each digit", lambda: batch("uint8", 2, (0, 255), [])),
        (OverflowError, "too (big|large)", lambda: evaluator.add_clear(a, 1 << 200)),
    ]
    for kind, words, call in refused:
        with pytest.raises(kind, match=words):
            call()


def test_noise_is_taken_away(keys: sunzi.Keys) -> None:
    """As many operations as one likes."""
    a, b = drawn("uint16", 40), drawn("uint16", 40)
    x, y, expected = keys.encrypt_integers(a), keys.encrypt_integers(b), a
    for step in range(12):
        x, expected = (x * y, expected * b) if step % 3 == 2 else (x + x + x - y, expected * np.uint16(3) - b)
    opened(keys, x, expected)
    for _ in range(40):
        x, expected = x + x, expected + expected
        x, expected = x + y, expected + b
    opened(keys, x, expected)


def test_contexts(keys: sunzi.Keys, reals: Party) -> None:
    assert keys.context.has_integers and keys.context.message_bits is None
    nibbles = sunzi.keygen(sunzi.Context.for_bootstrapping("insecure-8-table-4"))
    for other in (reals.keys, nibbles):
        assert not other.context.has_integers
        with pytest.raises(errors.WrongScheme, match="Context.for_integers"):
            other.encrypt_integers([1])
    with pytest.raises(errors.WrongScheme, match="Context.for_tables"):
        keys.encrypt_messages([1])
    x, other = keys.encrypt_integers([1, 2], "uint8"), made(7)
    with pytest.raises(errors.KeyMismatch):
        other.decrypt_integers(x)
    with pytest.raises(errors.KeyMismatch):
        other.decrypt_conditions(x < 2)
    with pytest.raises(errors.KeyMismatch):
        x + other.encrypt_integers([1, 2], "uint8")
    with pytest.raises(errors.KeyMismatch):
        x.with_keys(other.public) * x
    with pytest.raises(errors.WrongScheme, match="different contexts"):
        x + made(8).encrypt_integers([1, 2], "uint8")
    bare = sunzi.PublicKeys(keys.context, keys.public.encryption, keys.public.evaluation)
    for call in (lambda: x.with_keys(bare) + x, lambda: bare.encrypt_integers([1]), lambda: ~(x < 2).with_keys(bare)):
        with pytest.raises(errors.MissingKey, match="Context.for_integers"):
            call()


def test_bytes(keys: sunzi.Keys) -> None:
    a = drawn("int16", 300).reshape(30, 10)
    x = keys.encrypt_integers(a, overflow="refuse")
    context = sunzi.Context.from_bytes(keys.context.to_bytes(), insecure_for_research_only=True)
    assert context is keys.context
    public = sunzi.PublicKeys.from_bytes(keys.public.to_bytes(), context=context)
    wrapping = keys.encrypt_integers(a)
    for array, expected in ((x, a), (wrapping + wrapping, a + a), (wrapping >> 5, a >> np.int16(5)), (x.maximum(-7), np.maximum(a, np.int16(-7)))):
        again = sunzi.IntegerArray.from_bytes(array.to_bytes(), public)
        assert (again.dtype, again.shape, again.bounds, again.overflow) == (array.dtype, array.shape, array.bounds, array.overflow)
        opened(keys, again, expected)
        told(keys, again < 9, expected < 9)
        assert again.to_bytes() == sunzi.IntegerArray.from_bytes(again.to_bytes(), context).to_bytes()
    for one in (pickle.loads(pickle.dumps(x)), sunzi.IntegerArray.from_bytes(x.to_bytes(), context)):
        opened(keys, one, a)
        for order in (operator.add, operator.lt, operator.mod):
            with pytest.raises(errors.MissingKey, match="with_keys"):
                order(one, 5)
        opened(keys, one.with_keys(public).minimum(3), np.minimum(a, np.int16(3)))
    c = x < 0
    for condition in (pickle.loads(pickle.dumps(c)), sunzi.ConditionArray.from_bytes(c.to_bytes(), context)):
        told(keys, condition, a < 0)
        with pytest.raises(errors.MissingKey, match="with_keys"):
            condition & c
        opened(keys, condition.with_keys(public).where(x, 0), np.minimum(a, np.int16(0)))
    assert copy.copy(x) is x and copy.deepcopy(c) is c
    other = made(7)
    with pytest.raises(errors.Key):
        sunzi.IntegerArray.from_bytes(x.to_bytes(), other)
    with pytest.raises(errors.Key):
        sunzi.ConditionArray.from_bytes(c.to_bytes(), other)
    with pytest.raises(errors.Parameters):
        sunzi.IntegerArray.from_bytes(x.to_bytes(), made(8).context)
    with pytest.raises(errors.Kind, match="expected an encrypted array of integers, got an encrypted array of conditions"):
        sunzi.IntegerArray.from_bytes(c.to_bytes(), keys)
    with pytest.raises(TypeError, match="not str"):
        sunzi.IntegerArray.from_bytes("x", keys)  # type: ignore[arg-type]


def resealed(shape: list[int], bits: int, signed: int, bounds: tuple[int, int], refuse: int, objects: list[bytes]) -> bytes:
    fields = _wire.Fields()
    fields.words(shape)
    fields.word(bits)
    fields.word(signed)
    for end in bounds:
        fields.integer(end)
    fields.word(refuse)
    return _wire.packed(_wire.INTEGERS, fields.to_bytes(), objects, like=0)


def test_bytes_of_attackers(keys: sunzi.Keys, reals: Party) -> None:
    """Fields and objects with checksums that are right, and that no array has. test_bytes.py damages arrays as a whole."""
    x = keys.encrypt_integers([1, 2], "uint8")
    _, objects, _ = _wire.unpacked(_wire.INTEGERS, x.to_bytes())
    opened(keys, sunzi.IntegerArray.from_bytes(resealed([2], 8, 0, (0, 255), 0, objects), keys), np.array([1, 2], dtype=np.uint8))
    wrong: list[tuple[str, bytes]] = [
        ("bits of integers.*8, 16, 32 or 64", resealed([2], 24, 0, (0, 255), 0, objects)),
        ("bits of integers", resealed([2], 2**63, 0, (0, 255), 0, objects)),
        ("a sign", resealed([2], 8, 2, (0, 255), 0, objects)),
        ("bounds", resealed([2], 8, 0, (0, 256), 0, objects)),
        ("bounds", resealed([2], 8, 0, (5, 4), 0, objects)),
        ("bounds", resealed([2], 8, 1, (0, 255), 0, objects)),
        ("bounds", resealed([2], 8, 0, (-(10**3000), 0), 0, objects)),
        ("whether results are refused", resealed([2], 8, 0, (0, 255), 2, objects)),
        ("a dimension", resealed([0], 8, 0, (0, 255), 0, objects)),
        ("the shape", resealed([2**40, 2**40], 8, 0, (0, 255), 0, objects)),
        ("count of a dimension", resealed([1] * 33, 8, 0, (0, 255), 0, objects)),
        ("count of ciphertexts", resealed([2**48], 8, 0, (0, 255), 0, objects)),
        ("count of ciphertexts", resealed([2], 16, 0, (0, 255), 0, objects)),
        ("count of ciphertexts", resealed([2], 8, 0, (0, 255), 0, objects[:1])),
    ]
    for words, data in wrong:
        with pytest.raises(errors.Value, match=words):
            sunzi.IntegerArray.from_bytes(data, keys)
    foreign = made(7).encrypt_integers([1, 2], "uint8").ciphertexts[0].to_bytes()
    with pytest.raises(errors.MixedKeys):
        sunzi.IntegerArray.from_bytes(resealed([2], 8, 0, (0, 255), 0, [objects[0], foreign]), keys)
    with pytest.raises(errors.Kind):
        sunzi.IntegerArray.from_bytes(resealed([2], 8, 0, (0, 255), 0, [objects[0], keys.public.encryption.to_bytes()]), keys)
    # Ciphertexts at a level that no look-up takes, of another scale, or of few slots.
    first = x.ciphertexts[0]
    for digit in (keys.encrypt([1.0, 0.5], level=1), keys.encrypt([1.0, 0.5])):
        data = resealed([2], 8, 0, (0, 255), 0, [first.to_bytes(), digit.ciphertexts[0].to_bytes()])
        with pytest.raises(errors.Value, match="slots of a ciphertext"):
            sunzi.IntegerArray.from_bytes(data, keys)
    full = keys.encrypt(np.full(keys.context.slots, 0.125), level=1).ciphertexts[0]
    low = sunzi.IntegerArray.from_bytes(resealed([2], 8, 0, (0, 255), 0, [first.to_bytes(), full.to_bytes()]), keys)
    calls: list[Callable[[], object]] = [lambda: low * low, lambda: low == 3, lambda: low < x, lambda: low.carry()]
    for call in calls:
        with pytest.raises(errors.SunziError):
            call()


def test_secure_set_has_its_name() -> None:
    context = sunzi.Context.for_integers()
    assert context is sunzi.Context.for_bootstrapping("n16-integer")
    assert (context.has_integers, context.degree, context.security) == (True, 2**16, 128)
    for bits in range(1, 11):
        assert not sunzi._native.has_integers(sunzi._native.table_set(bits))
