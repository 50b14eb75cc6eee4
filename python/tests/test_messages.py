"""Messages of a few bits and their tables. All sets but one are small, and without any security."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from conftest import Party

import sunzi
from sunzi import _wire, errors

RNG = np.random.default_rng(17)


def made(bits: int, log2_degree: int = 9) -> sunzi.Keys:
    return sunzi.keygen(sunzi.Context.for_bootstrapping(f"insecure-{log2_degree}-table-{bits}"))


@pytest.fixture(scope="module")
def nibbles() -> sunzi.Keys:
    """Tables of 4 bits."""
    return made(4)


@pytest.fixture(scope="module")
def wide() -> sunzi.Keys:
    """Tables of 8 bits."""
    return made(8)


def drawn(bits: int, count: int) -> npt.NDArray[np.int64]:
    """Messages, the ends of their range among them."""
    values = RNG.integers(0, 1 << bits, count)
    values[:3] = [0, (1 << bits) - 1, 1 << (bits - 1)]
    return values


def opened(keys: sunzi.Keys, array: sunzi.MessageArray, expected: npt.ArrayLike) -> None:
    """Compares, shape and type included."""
    found, wanted = keys.decrypt_messages(array), np.asarray(expected)
    assert found.shape == wanted.shape == array.shape
    assert found.dtype == array.dtype == (np.uint8 if array.bits <= 8 else np.uint16)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("bits", [1, 2, 3, 8])
def test_tables_of_every_width(bits: int) -> None:
    keys = made(bits)
    assert keys.context.message_bits == bits
    table, values = RNG.permutation(1 << bits), drawn(bits, keys.context.degree)
    x = keys.public.encrypt_messages(values)
    assert (x.bits, len(x.ciphertexts), len(x)) == (bits, 1, keys.context.degree)
    opened(keys, x, values)
    y = x.apply(table)
    opened(keys, y, table[values])
    # Results are messages again.
    opened(keys, y.apply(table), table[table[values]])


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"])
def test_types_of_integers(nibbles: sunzi.Keys, dtype: str) -> None:
    values = np.array([[0, 1, 1], [1, 0, 1]] if dtype == "?" else [[0, 15, 8], [7, 1, 2]], dtype=dtype)
    opened(nibbles, nibbles.encrypt_messages(values), values)
    opened(nibbles, nibbles.encrypt_messages(values) + values, (2 * values.astype(int)) % 16)
    opened(nibbles, nibbles.encrypt_messages([0]).apply(np.resize(values, 16)), [values[0, 0]])


def test_sizes_and_shapes(nibbles: sunzi.Keys) -> None:
    degree, half = nibbles.context.degree, nibbles.context.slots
    shapes: list[tuple[int, ...]] = [(), (1,), (half,), (half + 1,), (degree,), (degree + 3,), (2, degree), (degree + half + 1,), (3, 5, 7)]
    for shape in shapes:
        values = RNG.integers(0, 16, shape)
        x = nibbles.encrypt_messages(values)
        assert len(x.ciphertexts) == -(-values.size // degree) and x.size == values.size
        opened(nibbles, x, values)
        opened(nibbles, x.apply(lambda m: 5 * m + 3), (5 * values + 3) % 16)


def test_real_parts_alone_are_taken_where_they_hold_all(nibbles: sunzi.Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    degree, half = nibbles.context.degree, nibbles.context.slots
    told: list[bool] = []

    class Spy:
        def apply(self, *arguments: Any, only_real: bool) -> Any:
            told.append(only_real)
            return bootstrapper.apply(*arguments, only_real=only_real)

    bootstrapper = nibbles.public.bootstrapper
    monkeypatch.setattr(nibbles.public, "_bootstrapper", Spy())
    for count, expected in [(half, [True]), (half + 1, [False]), (degree + half, [False, True])]:
        told.clear()
        nibbles.encrypt_messages(np.zeros(count, dtype=int)).apply(lambda m: m)
        assert told == expected


def test_sums_wrap(nibbles: sunzi.Keys) -> None:
    a, b = drawn(4, 700), drawn(4, 700)[::-1].copy()
    x, y = nibbles.encrypt_messages(a), nibbles.public.encrypt_messages(b)
    cases: dict[str, tuple[sunzi.MessageArray, npt.NDArray[Any]]] = {
        "sum": (x + y, a + b),
        "difference": (x - y, a - b),
        "negative": (-x, -a),
        "clear": (x + b, a + b),
        "clear first": (b - x, b - a),
        "one": (x + 13, a + 13),
        "one less": (x - 13, a - 13),
        "one first": (1 - x, 1 - a),
        "far": (x - 10**15, a - 10**15),
        "many": (x + x + x + x + y + y - 100, 4 * a + 2 * b - 100),
    }
    for name, (array, expected) in cases.items():
        np.testing.assert_array_equal(nibbles.decrypt_messages(array), expected % 16, err_msg=name)
    opened(nibbles, cases["many"][0].apply(lambda m: m * m), (4 * a + 2 * b - 100) ** 2 % 16)
    # Fresh messages and results of tables.
    opened(nibbles, x.apply(lambda m: 3 * m) + y, (3 * a + b) % 16)
    opened(nibbles, nibbles.encrypt_messages(a.reshape(7, 100)) + np.arange(100), (a.reshape(7, 100) + np.arange(100)) % 16)


def test_several_tables_by_one_bootstrapping(nibbles: sunzi.Keys) -> None:
    values = drawn(4, 600)
    x = nibbles.encrypt_messages(values)
    table = np.arange(16)[::-1] * 7
    found = x.apply([table, lambda m: m // 3, np.full(16, -1)])
    assert isinstance(found, list)
    for array, expected in zip(found, [table[values] % 16, values // 3, np.full(600, 15)]):
        opened(nibbles, array, expected)
    assert x.apply([]) == []
    opened(nibbles, x.apply((lambda m: m,))[0], values)


def test_other_widths(wide: sunzi.Keys) -> None:
    values = drawn(4, 600)
    x = wide.encrypt_messages(values, bits=4)
    assert x.bits == 4
    squares = x.apply(lambda m: m * m, bits=8)
    assert squares.bits == 8
    opened(wide, squares, values**2)
    opened(wide, squares.apply(lambda m: m >> 7, bits=1), values**2 >> 7)
    with pytest.raises(errors.WrongScheme, match="of 4 and of 8 bits.*bits="):
        x + squares


def test_pairs(wide: sunzi.Keys) -> None:
    a, b = drawn(4, 600), drawn(4, 600)[::-1].copy()
    x, y = wide.encrypt_messages(a, bits=4), wide.encrypt_messages(b, bits=4)
    product = x.apply_pairs(y, lambda m, k: m * k)
    assert product.bits == 8
    opened(wide, product, a * b)
    table = RNG.integers(0, 16, (16, 16))
    opened(wide, (x + 3).apply_pairs(y.apply(lambda m: m ^ 5), table, bits=4), table[(a + 3) % 16, b ^ 5])
    opened(wide, x.apply_pairs(y, lambda m, k: m < k, bits=1), a < b)
    narrow = wide.encrypt_messages(b % 4, bits=2)
    opened(wide, x.apply_pairs(narrow, lambda m, k: 4 * m + k), 4 * a + b % 4)
    for summed in (y + 1, y + y, y - y, -y):
        with pytest.raises(errors.Table, match="second array is a sum"):
            x.apply_pairs(summed, table)
    opened(wide, x.apply_pairs((y + 1).apply(lambda m: m), table), table[a, (b + 1) % 16])
    with pytest.raises(errors.Table, match=r"shape \(16, 15\).*must be \(16, 16\)"):
        x.apply_pairs(y, table[:, :15])
    with pytest.raises(errors.Table, match="10 bits.*1 to 8"):
        x.apply_pairs(wide.encrypt_messages(b, bits=6), lambda m, k: 0)
    with pytest.raises(TypeError, match="ndarray"):
        x.apply_pairs(b, table)  # type: ignore[arg-type]


@pytest.mark.parametrize("bound", [0, 5, 15])
def test_comparisons(nibbles: sunzi.Keys, bound: int) -> None:
    values = drawn(4, 300)
    x = nibbles.encrypt_messages(values)
    opened(nibbles, x == bound, values == bound)
    opened(nibbles, x != bound, values != bound)
    opened(nibbles, x < bound, values < bound)
    opened(nibbles, x <= bound, values <= bound)
    opened(nibbles, x > bound, values > bound)
    opened(nibbles, bound <= x, bound <= values)


def test_comparisons_with_others(nibbles: sunzi.Keys) -> None:
    a, b = drawn(4, 300), drawn(4, 300)
    x, y = nibbles.encrypt_messages(a), nibbles.encrypt_messages(b)
    opened(nibbles, x == y, a == b)
    opened(nibbles, x != y, a != b)
    opened(nibbles, x == b, a == b)
    # Beyond the messages an order is known.
    opened(nibbles, x < 16, np.ones(300))
    opened(nibbles, x >= -1, np.ones(300))
    with pytest.raises(errors.OutsideBounds, match="compared is 16"):
        x == 16  # noqa: B015
    with pytest.raises(TypeError, match="apply_pairs"):
        x < y  # noqa: B015
    with pytest.raises(TypeError, match="unknown"):
        bool(x)
    with pytest.raises(TypeError):
        hash(x)


def test_integers_that_are_no_messages(nibbles: sunzi.Keys) -> None:
    far = np.array([[1, 15], [16, -1]])
    for encrypt in (nibbles.encrypt_messages, nibbles.public.encrypt_messages):
        with pytest.raises(errors.OutsideBounds, match="integer 2 that is encrypted is 16.*4 bits are 0 to 15.*wrap=True"):
            encrypt(far)
        opened(nibbles, encrypt(far, wrap=True), far % 16)
    with pytest.raises(errors.OutsideBounds, match="is -1"):
        nibbles.encrypt_messages(np.array([-1], dtype=np.int8))
    ends = np.array([2**64 - 1, 2**63], dtype=np.uint64)
    with pytest.raises(errors.OutsideBounds, match=str(2**64 - 1)):
        nibbles.encrypt_messages(ends)
    opened(nibbles, nibbles.encrypt_messages(ends, wrap=True), [15, 0])
    for wrong in ([0.5], ["a"], [1j], np.array([1.0])):
        with pytest.raises(TypeError, match="give integers"):
            nibbles.encrypt_messages(wrong)
    with pytest.raises(errors.ShapeError, match="nothing to encrypt"):
        nibbles.encrypt_messages(np.zeros((0, 3), dtype=int))
    with pytest.raises(TypeError, match="encrypted already"):
        nibbles.encrypt_messages(nibbles.encrypt_messages([1]))  # type: ignore[arg-type]


def test_tables_that_cannot_be(nibbles: sunzi.Keys) -> None:
    x = nibbles.encrypt_messages([1, 2])
    refused: list[tuple[type[Exception], str, Callable[[], object]]] = [
        (errors.Table, r"shape \(15,\).*must be \(16,\)", lambda: x.apply(np.zeros(15, dtype=int))),
        (errors.Table, r"shape \(4, 4\)", lambda: x.apply(np.zeros((4, 4), dtype=int))),
        (errors.Table, "5 bits.*1 to 4 bits", lambda: x.apply(lambda m: m, bits=5)),
        (errors.Table, "0 bits", lambda: nibbles.encrypt_messages([0], bits=0)),
        (errors.Table, "5 bits", lambda: nibbles.encrypt_messages([0], bits=5)),
        (TypeError, "float64: give integers", lambda: x.apply(np.zeros(16))),
        (TypeError, "result 0.5", lambda: x.apply(lambda m: m / 2 if m else 0.5)),  # type: ignore[arg-type,return-value]
        (TypeError, "table that is int.*list of those", lambda: x.apply(list(range(16)))),  # type: ignore[arg-type]
        (TypeError, "3 \\* m", lambda: x * 2),
        (TypeError, "no numpy array", lambda: np.asarray(x)),
        (AttributeError, "sum of encrypted messages", lambda: x.sum()),  # type: ignore[attr-defined]
        (AttributeError, "has no colour", lambda: x.colour),  # type: ignore[attr-defined]
        (errors.ShapeError, r"\(3,\) for messages of shape \(2,\)", lambda: x + [1, 2, 3]),
        (errors.ShapeError, "one shape", lambda: x + nibbles.encrypt_messages([1])),
        (TypeError, "give integers", lambda: x + 0.5),
    ]
    for kind, words, call in refused:
        with pytest.raises(kind, match=words):
            call()
    with pytest.raises(ZeroDivisionError):
        x.apply(lambda m: 1 // m)


def test_noise_beyond_the_next_message_is_refused(nibbles: sunzi.Keys) -> None:
    x = nibbles.encrypt_messages([3, 5])
    found: list[int] = []
    while len(found) < 40:
        try:
            opened(nibbles, x.apply(lambda m: m), [3 ** (len(found) + 1) % 16, 5 * 3 ** len(found) % 16])
        except errors.MessageNoise as error:
            assert isinstance(error, errors.NoiseError) and "modulo 16" in str(error) and "apply a table earlier" in str(error)
            break
        found.append(len(found))
        x = x + x + x
    assert 5 < len(found) < 40
    # Decryption refuses too, once noise is that of a message: later, for a table has roundings of its own.
    with pytest.raises(errors.MessageNoise, match="modulo 16"):
        for _ in range(40):
            x = x + x
            nibbles.decrypt_messages(x)


def test_contexts(nibbles: sunzi.Keys, reals: Party, integers: Party) -> None:
    for bits in (0, 11, -3, 2**40):
        with pytest.raises(errors.UnknownSet, match=f"of {bits} bits: take 1 to 10 bits"):
            sunzi.Context.for_tables(bits)
    with pytest.raises(errors.UnknownSet):
        sunzi.Context.for_bootstrapping("insecure-9-table-9")
    assert reals.context.message_bits is integers.context.message_bits is None
    plain = sunzi.keygen(sunzi.Context.for_bootstrapping("insecure-10-6-first"))
    for keys in (reals.keys, integers.keys, plain):
        assert keys.context.message_bits is None
        with pytest.raises(errors.WrongScheme, match="Context.for_tables"):
            keys.encrypt_messages([1])
    # Real numbers have no tables, and messages no other bootstrapping.
    with pytest.raises(errors.Set, match="the set of insecure-9-table-4: it must be one without tables, as Context.for_bootstrapping"):
        nibbles.encrypt([0.5], level=3).bootstrap()
    x = nibbles.encrypt_messages([1])
    other = made(4)
    with pytest.raises(errors.KeyMismatch):
        other.decrypt_messages(x)
    with pytest.raises(errors.KeyMismatch):
        x + other.encrypt_messages([1])
    with pytest.raises(errors.KeyMismatch):
        x.with_keys(other.public).apply(lambda m: m)
    with pytest.raises(errors.WrongScheme, match="different contexts"):
        x + made(2).encrypt_messages([1])
    bare = sunzi.PublicKeys(nibbles.context, nibbles.public.encryption, nibbles.public.evaluation)
    with pytest.raises(errors.MissingKey, match="Context.for_tables"):
        x.with_keys(bare).apply(lambda m: m)


def test_bytes(nibbles: sunzi.Keys) -> None:
    values = drawn(4, 700).reshape(70, 10)
    x = nibbles.encrypt_messages(values)
    context = sunzi.Context.from_bytes(nibbles.context.to_bytes(), insecure_for_research_only=True)
    assert context is nibbles.context
    public = sunzi.PublicKeys.from_bytes(nibbles.public.to_bytes(), context=context)
    for array in (x, x + 1):
        again = sunzi.MessageArray.from_bytes(array.to_bytes(), public)
        assert (again._reduced, again.bits, again.shape) == (array is x, 4, (70, 10))
        opened(nibbles, again.apply(lambda m: m + 1), (values + (1 if array is x else 2)) % 16)
    for one in (pickle.loads(pickle.dumps(x)), sunzi.MessageArray.from_bytes(x.to_bytes(), context)):
        opened(nibbles, one, values)
        with pytest.raises(errors.MissingKey, match="with_keys"):
            one.apply(lambda m: m)
        opened(nibbles, one.with_keys(public).apply(lambda m: m), values)
    for one in (copy.copy(x), copy.deepcopy(x)):
        assert one._reduced and one.ciphertexts == x.ciphertexts
    with pytest.raises(errors.Key):
        sunzi.MessageArray.from_bytes(x.to_bytes(), made(4))
    # Wider messages than the context has tables for.
    _, objects, _ = _wire.unpacked(_wire.MESSAGES, x.to_bytes())
    fields = _wire.Fields()
    fields.words(x.shape)
    fields.word(5)
    fields.word(1)
    with pytest.raises(errors.Value, match="bits of messages"):
        sunzi.MessageArray.from_bytes(_wire.packed(_wire.MESSAGES, fields.to_bytes(), objects, like=0), nibbles)


def test_secure_sets_have_their_names() -> None:
    for bits, name in [(1, "n16-table-1"), (10, "n16-table-10")]:
        assert sunzi._native.table_set(bits) == name and sunzi._native.table_bits(name) == bits
    context = sunzi.Context.for_tables(2)
    assert (context.message_bits, context.degree, context.security) == (2, 2**16, 128)
    assert context is sunzi.Context.for_bootstrapping("n16-table-2")
    values = RNG.integers(0, 4, 2**16)
    secret = sunzi._native.SecretKey.generate(context.lowlevel)
    plaintext = sunzi._native.encode_messages(context.lowlevel, values.astype(np.uint16), 4, context.depth)
    np.testing.assert_array_equal(sunzi._native.decode_messages(secret.decrypt(secret.encrypt(plaintext)), 4), values)
