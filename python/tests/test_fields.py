"""Slots of GF(p^d) and GR(p^r, d), in rings of any index."""

from __future__ import annotations

import copy
import pickle
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from conftest import Party

import sunzi
from sunzi import _wire, errors

#: Scheme, p, r, m: GF(2^8), GF(2^12), GF(3^8), numbers modulo 331, GR(7^2, 4).
FIELDS = [("bfv", 2, 1, 255), ("bgv", 2, 1, 91), ("bgv", 3, 1, 164), ("bfv", 331, 1, 165), ("bgv", 7, 2, 200)]


def made(scheme: str, p: int, r: int, m: int, depth: int = 2) -> sunzi.Context:
    return sunzi.Context.for_field(depth, prime=p, exponent=r, ring_index=m, scheme=scheme, security=0)  # type: ignore[arg-type]


@pytest.fixture(scope="module", params=FIELDS, ids=str)
def keys(request: pytest.FixtureRequest) -> sunzi.Keys:
    return sunzi.keygen(made(*request.param))


def field_of(keys: sunzi.Keys) -> Any:
    assert keys.context.field is not None
    return keys.context.field


def product(field: Any, a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Products of polynomials by the book, in Python's integers: none of the library's."""
    d, t, rows = field.degree, field.prime**field.exponent, []
    for left, right in zip(a.reshape(-1, d).tolist(), b.reshape(-1, d).tolist()):
        long = [sum(left[i] * right[k - i] for i in range(d) if 0 <= k - i < d) for k in range(2 * d - 1)]
        for top in range(2 * d - 2, d - 1, -1):
            for i, c in enumerate(field.relation.tolist()):
                long[top - d + i] -= long[top] * c
        rows.append([c % t for c in long[:d]])
    return np.array(rows).reshape(a.shape)


def elements(field: Any, count: int, seed: int = 1) -> npt.NDArray[Any]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, field.prime**field.exponent, (count, field.degree))


def test_arithmetic_is_that_of_the_field(keys: sunzi.Keys) -> None:
    field = field_of(keys)
    t = field.prime**field.exponent
    # More than a ciphertext holds.
    count = field.slots + 3
    a, b = elements(field, count), elements(field, count, 2)
    x, y = keys.encrypt_elements(a), keys.public.encrypt_elements(b)
    assert (x.shape, len(x.ciphertexts), x.field.degree) == ((count, field.degree), 2, field.degree)
    one = np.eye(1, field.degree, dtype=int)
    cases = {
        "sum": (x + y, a + b),
        "difference": (x - y, a - b),
        "negative": (-x, -a),
        "product": (x * y, product(field, a, b)),
        "clear": (b * x - a, product(field, a, b) - a),
        "one element": (x * b[0], product(field, a, np.broadcast_to(b[0], a.shape))),
        "constants": (3 * x + 1, 3 * a + one),
        "reversed": (1 - x, one - a),
        "cube": (x**3, product(field, product(field, a, a), a)),
    }
    for name, (array, expected) in cases.items():
        np.testing.assert_array_equal(keys.decrypt_elements(array), expected % t, err_msg=name)
    np.testing.assert_array_equal(field.multiply(a, b), product(field, a, b))


def test_frobenius_is_the_power_of_p(keys: sunzi.Keys) -> None:
    field = field_of(keys)
    a = elements(field, 5)
    x = keys.encrypt_elements(a)
    for times in (1, field.degree - 1, -1, field.degree):
        mapped = keys.decrypt_elements(x.frobenius(times))
        if field.exponent == 1:
            power = a
            for _ in range(times % field.degree):
                # By squarings and products of the oracle.
                bits, square, result = field.prime, power, None
                while bits:
                    if bits & 1:
                        result = square if result is None else product(field, result, square)
                    square, bits = product(field, square, square), bits >> 1
                assert result is not None
                power = result
            np.testing.assert_array_equal(mapped, power)
        elif times % field.degree == 0:
            np.testing.assert_array_equal(mapped, a)
    if x.level is not None:
        assert x.frobenius().level == x.level


#: Scheme, p, r, m, and which dimensions are good.
CUBES = [
    ("bfv", 2, 1, 1285, (True, False)),
    ("bgv", 2, 1, 1285, (True, False)),
    ("bfv", 2, 3, 255, (True, True, False)),
    ("bgv", 7, 2, 200, (True, True)),
    ("bfv", 331, 1, 165, (True, True, True)),
]


@pytest.mark.parametrize("cube", CUBES, ids=str)
def test_rotations_turn_dimensions_as_numpy_rolls(cube: tuple[str, int, int, int, tuple[bool, ...]]) -> None:
    context = made(*cube[:4])
    dimensions = context.slot_dimensions
    assert tuple(dimension.good for dimension in dimensions) == cube[4]
    lengths = [dimension.length for dimension in dimensions]
    assert np.prod(lengths) == context.slots
    asked = [(steps, i) for i, length in enumerate(lengths) for steps in {1, -1, length // 2}]
    keys = sunzi.keygen(context, rotations=[1, *asked])
    field = field_of(keys)
    # Two ciphertexts, which turn each for itself.
    a = elements(field, 2 * field.slots)
    x = keys.encrypt_elements(a.reshape(2, -1, field.degree))
    for steps, i in asked:
        expected = np.roll(a.reshape(2, *lengths, field.degree), -steps, axis=i + 1).reshape(x.shape)
        for turned in (x.rotate(steps, i), x.rotate(steps + lengths[i], i)):
            np.testing.assert_array_equal(keys.decrypt_elements(turned), expected, err_msg=f"{steps} steps along {i}")
    assert x.rotate(lengths[0]).ciphertexts == x.ciphertexts
    # What was turned is computed with further.
    b = np.roll(a.reshape(2, *lengths, field.degree), -1, axis=1).reshape(x.shape)
    np.testing.assert_array_equal(keys.decrypt_elements(x.rotate(1) * x), product(field, b, a.reshape(x.shape)))


def test_rotations_without_keys_or_places_are_named(keys: sunzi.Keys) -> None:
    field = field_of(keys)
    x = keys.encrypt_elements(elements(field, field.slots))
    with pytest.raises(errors.MissingKey, match=r"rotations=\[\(1, 0\)\]"):
        x.rotate(1)
    for dimension in (-1, len(keys.context.slot_dimensions), 0.5):
        with pytest.raises(errors.NoDimension, match="slot_dimensions"):
            x.rotate(1, dimension)  # type: ignore[arg-type]
    with pytest.raises(errors.ShapeError, match=str(field.slots)):
        keys.encrypt_elements(elements(field, field.slots + 1)).rotate(1)


def test_arrays_come_back_from_bytes(keys: sunzi.Keys) -> None:
    field = field_of(keys)
    a = elements(field, field.slots + 2).reshape(2, -1, field.degree) if field.slots % 2 == 0 else elements(field, 5)[None]
    x = keys.encrypt_elements(a)
    for owner in (keys, keys.public, keys.context):
        back = sunzi.FieldArray.from_bytes(x.to_bytes(), owner)
        assert back.shape == x.shape and back.context is keys.context
        np.testing.assert_array_equal(keys.decrypt_elements(back), a)
    assert back.keys is None and back.to_bytes() == x.to_bytes()
    computed: list[Any] = [lambda: back * back, back.frobenius]
    for compute in computed:
        with pytest.raises(errors.MissingKey, match="with_keys"):
            compute()
    np.testing.assert_array_equal(keys.decrypt_elements(back.with_keys(keys.public) * back + 1), keys.decrypt_elements(x * x + 1))
    with sunzi.insecure_for_research_only():
        np.testing.assert_array_equal(keys.decrypt_elements(pickle.loads(pickle.dumps(x))), a)
    assert copy.copy(x).ciphertexts == copy.deepcopy(x).ciphertexts == x.ciphertexts


def test_bytes_of_other_arrays_are_refused_by_name(keys: sunzi.Keys, integers: Party) -> None:
    field = field_of(keys)
    x = keys.encrypt_elements(elements(field, 3))
    data = x.to_bytes()
    stranger = sunzi.keygen(keys.context)
    with pytest.raises(errors.Key, match=stranger.id[:8]):
        sunzi.FieldArray.from_bytes(data, stranger)
    with pytest.raises(errors.FormatError):
        sunzi.FieldArray.from_bytes(data, integers.context)
    with pytest.raises(errors.Parameters):
        sunzi.FieldArray.from_bytes(data, made(keys.context.scheme, field.prime, field.exponent, field.ring_index, 9))
    with pytest.raises(errors.Kind, match="got an encrypted array of field elements"):
        sunzi.EncryptedArray.from_bytes(data, keys)
    with pytest.raises(errors.Kind, match="expected an encrypted array of field elements"):
        sunzi.FieldArray.from_bytes(integers.encrypt([1]).to_bytes(), keys)
    other = stranger.encrypt_elements(elements(field, field.slots + 1))
    objects = _wire.unpacked(_wire.ELEMENTS, other.to_bytes())[1]
    for shape, count in (((3, field.degree + 1), 1), ((), 1), ((2**40, 2**30, field.degree), 1), ((1, 0, field.degree), 1), ((3, field.degree), 2)):
        fields = _wire.Fields()
        fields.words(shape)
        with pytest.raises(errors.Value):
            sunzi.FieldArray.from_bytes(_wire.packed(_wire.ELEMENTS, fields.to_bytes(), objects[:count], like=0), stranger)
    fields = _wire.Fields()
    fields.words(other.shape)
    mine = _wire.unpacked(_wire.ELEMENTS, data)[1]
    with pytest.raises(errors.MixedKeys):
        sunzi.FieldArray.from_bytes(_wire.packed(_wire.ELEMENTS, fields.to_bytes(), [objects[0], mine[0]], like=0), stranger)


def test_shapes_and_parameters_travel(keys: sunzi.Keys) -> None:
    field, context = field_of(keys), keys.context
    a = elements(field, 6).reshape(2, 3, field.degree)
    np.testing.assert_array_equal(keys.decrypt_elements(keys.encrypt_elements(a)), a)
    assert str(field.ring_index) in repr(context) and context.slots == field.slots
    with sunzi.insecure_for_research_only():
        public = sunzi.PublicKeys.from_bytes(keys.public.to_bytes())
        assert pickle.loads(pickle.dumps(context)) == context
    np.testing.assert_array_equal(keys.decrypt_elements(public.encrypt_elements(a).frobenius(field.degree)), a)


def test_what_makes_no_sense_is_refused(integers: Party) -> None:
    context = made("bfv", 2, 1, 255)
    keys = sunzi.keygen(context)
    x = keys.encrypt_elements(np.ones((4, 8), dtype=int))
    for name in ("sum", "reshape", "apply", "polyval"):
        with pytest.raises(AttributeError, match="rotate along a dimension"):
            getattr(x, name)
    refused: list[Any] = [lambda: x / 3, lambda: x == x, lambda: np.asarray(x), lambda: x**0, lambda: x + 0.5, lambda: cast(Any, x)[0], lambda: np.add(x, x)]
    for call in refused:
        with pytest.raises(TypeError):
            call()
    with pytest.raises(errors.ElementDegree, match="8 coefficients"):
        keys.encrypt_elements([[1, 0, 1]])
    with pytest.raises(errors.ShapeError, match="not broadcast"):
        x + keys.encrypt_elements(np.ones((3, 8), dtype=int))
    with pytest.raises(errors.ShapeError):
        keys.encrypt_elements(np.zeros((0, 8), dtype=int))
    with pytest.raises(errors.WrongScheme, match="different contexts"):
        x + sunzi.keygen(made("bgv", 2, 1, 91)).encrypt_elements(np.ones((4, 12), dtype=int))
    with pytest.raises(errors.WrongScheme, match="for_field"):
        integers.keys.encrypt_elements([[1]])
    with pytest.raises(errors.WrongScheme, match="encrypt_elements"):
        keys.encrypt([1, 0, 1])
    with pytest.raises(errors.ShapeError, match="swap"):
        sunzi.keygen(context, swap=True)
    with pytest.raises(errors.ShapeError, match="dimension"):
        sunzi.keygen(integers.context, rotations=[(1, 0)])
    with pytest.raises(errors.NoDimension, match="slot_dimensions"):
        sunzi.keygen(context, rotations=[(1, 9)])
    with pytest.raises(errors.WrongScheme, match="for_field"):
        _ = integers.context.slot_dimensions


def test_parameters_that_make_no_field_are_named() -> None:
    with pytest.raises(errors.Request, match="power of two"):
        made("bfv", 2, 1, 256)
    with pytest.raises(errors.Request, match="for_field"):
        sunzi.Context.for_depth(1, dtype=int, ring_index=255, security=0)
    with pytest.raises(errors.PlainExponent):
        made("bfv", 2, 60, 255)
    for scheme in ("bfv", "bgv"):
        for p, m in ((6, 255), (5, 255), (2, 254), (0, 255), (2, 0)):
            with pytest.raises(sunzi.SunziError, match=str(p) if m % 4 else str(m)):
                made(scheme, p, 1, m)


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
def test_a_ring_is_chosen_where_none_is_given(scheme: Any) -> None:
    context = sunzi.Context.for_field(1, prime=2, slots=100, scheme=scheme)
    assert context.security == 128 and context.slots >= 100 and context.field is not None
    # The same parameters as by its index.
    again = sunzi.Context.for_field(1, prime=2, slots=100, ring_index=context.field.ring_index, scheme=scheme)
    assert again == context
    keys = sunzi.keygen(context)
    a = elements(context.field, 100)
    np.testing.assert_array_equal(keys.decrypt_elements(keys.encrypt_elements(a) ** 2), product(context.field, a, a))
    # Deeper computations and more slots take larger rings.
    deeper = sunzi.Context.for_field(6, prime=2, slots=100, scheme=scheme)
    assert deeper.degree > context.degree and sunzi.Context.for_field(1, prime=2, slots=1000, scheme=scheme).slots >= 1000
    with pytest.raises(errors.TooManySlots, match="the most are"):
        sunzi.Context.for_field(1, prime=2, slots=10**6, scheme=scheme)
    with pytest.raises(errors.TooManySlots, match="leave ring_index out"):
        sunzi.Context.for_field(1, prime=2, slots=17, ring_index=255, scheme=scheme, security=0)
    for prime in (0, 1, 6):
        with pytest.raises(sunzi.SunziError, match=str(prime)):
            sunzi.Context.for_field(1, prime=prime, scheme=scheme)
    with pytest.raises(sunzi.SunziError, match="depth"):
        sunzi.Context.for_field(1000, prime=2, scheme=scheme)
