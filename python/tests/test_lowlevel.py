"""What a compiler emits: explicit moduli, keys by Galois element, levels and scales, and a small generated program."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest
from conftest import Party

import sunzi
from sunzi import lowlevel


class Compiled:
    """What a backend holds: an explicit context and keys, all named one by one."""

    def __init__(self) -> None:
        # Q_0 of two primes, four levels of one; two special ones. Found by the library for n = 2^10 and given back as numbers.
        found = sunzi.Context.for_depth(4, precision=20, security=0, log2_degree=10, bound=2)
        moduli, special = found.moduli, found.special_moduli
        first = len(moduli) - 4
        self.context = sunzi.Context.explicit(
            "ckks",
            10,
            moduli,
            special_moduli=special,
            levels=list(range(first, len(moduli) + 1)),
            scale_bits=round(np.log2(found.lowlevel.scale(4))),
            message_bits=1,
            security=0,
        )
        self.native = self.context.lowlevel
        self.secret = lowlevel.SecretKey.generate(self.native)
        self.public = lowlevel.PublicKey.generate(self.secret)
        # Keys by Galois element: X -> X^5 turns the slots by one.
        self.elements = [pow(5, step, 2048) for step in (1, 2, 4, 8, 16)] + [2047]
        assert self.elements[:1] == [self.native.rotation_exponent(1)] and self.elements[-1] == self.native.swap_exponent()
        self.keys = lowlevel.EvaluationKeys.generate(self.secret, relinearization=True, exponents=self.elements)

    def encrypt(self, values: np.ndarray, slots: int = 16) -> lowlevel.Ciphertext:
        return self.public.encrypt(self.native.encode_reals(np.asarray(values, dtype=float), slots))

    def open(self, ciphertext: lowlevel.Ciphertext) -> np.ndarray:
        return self.native.decode_reals(self.secret.decrypt(ciphertext))


@pytest.fixture(scope="module")
def target() -> Compiled:
    return Compiled()


X = np.linspace(-1, 1, 16)
Y = np.cos(np.arange(16))


def near(got: np.ndarray, expected: np.ndarray, tolerance: float = 1e-4) -> None:
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance)


def test_explicit_parameters(target: Compiled) -> None:
    context = target.native
    assert context.depth == 4 and context.slots == 512 and context.security == 0
    assert len(context.special_moduli) >= 1 and context.log2_key_modulus > context.log2_modulus
    assert sorted(target.keys.exponents) == sorted(target.elements)
    exact = sunzi.Context.explicit("bgv", 10, found_moduli(), plain_modulus=12289, security=0).lowlevel
    assert exact.plain_modulus == 12289
    with pytest.raises(TypeError, match="plain_modulus"):
        sunzi.Context.explicit("bfv", 10, found_moduli(), security=0)
    with pytest.raises(TypeError, match="scale_bits"):
        sunzi.Context.explicit("ckks", 10, found_moduli(), security=0)


def found_moduli() -> list[int]:
    """Three primes for n = 2^10."""
    return sunzi.Context.for_depth(1, dtype=int, security=0, log2_degree=10).moduli[:3]


def test_encoding_at_a_level_and_a_scale(target: Compiled) -> None:
    plaintext = target.native.encode_reals(X, 16, level=2, scale=2.0**33)
    assert (plaintext.level, plaintext.scale, plaintext.slots) == (2, 2.0**33, 16)
    near(target.native.decode_reals(plaintext), X)
    turned = target.native.encode_complex((X * 1j).astype(np.complex128), 16, level=1)
    assert turned.scale == target.native.scale(1)
    near(target.native.decode_complex(turned).imag, X)


def test_arithmetic(target: Compiled) -> None:
    a, b = target.encrypt(X), target.encrypt(Y)
    plain = target.native.encode_reals(Y, 16)
    near(target.open(a.add(b)), X + Y)
    near(target.open(a.sub(b).negate()), Y - X)
    near(target.open(a.add_plain(plain).sub_plain(plain).add_plain(plain)), X + Y)
    near(target.open(a.multiply_plain(plain)), X * Y)
    near(target.open(a.add_constant(0.25)), X + 0.25)
    near(target.open(a.multiply_constant(0.3).multiply_integer(-7)), X * -2.1)
    near(target.open(lowlevel.Ciphertext.sum_of_plain_products([(a, plain), (b, plain)])), (X + Y) * Y)
    near(target.open(lowlevel.Ciphertext.sum_of_products([(a, b), (b, b)], target.keys)), (X + Y) * Y)


def test_linear_combinations(target: Compiled) -> None:
    a, b = target.encrypt(X), target.encrypt(Y)
    combined = lowlevel.Ciphertext.linear_combination([(0.3, a), (-1.5, b), (0.0, a.level_to(3))], 0.125)
    assert combined.level == 2 and combined.scale == target.native.scale(2)
    near(target.open(combined), 0.3 * X - 1.5 * Y + 0.125)
    with pytest.raises(sunzi.errors.Empty):
        lowlevel.Ciphertext.linear_combination([])


def test_in_place(target: Compiled) -> None:
    a, b = target.encrypt(X), target.encrypt(Y)
    other = a
    a += b
    assert a is other
    a -= target.encrypt(X)
    near(target.open(other), Y)
    a.assign(a.multiply(b, target.keys))
    near(target.open(other), Y * Y)


def test_explicit_levels_and_scales(target: Compiled) -> None:
    a, b = target.encrypt(X), target.encrypt(Y)
    product = a.multiply_unrelinearized(b)
    assert product.parts == 3 and product.level == 4
    assert a.scale is not None and product.scale == pytest.approx(a.scale**2)
    two = product.relinearize(target.keys)
    assert two.parts == 2
    rescaled = two.rescale()
    assert rescaled.level == 3
    near(target.open(rescaled), X * Y)
    unscaled = a.multiply_plain(target.native.encode_reals(Y, 16), rescale=False)
    assert unscaled.level == 4
    near(target.open(unscaled.rescale()), X * Y)
    assert a.multiply_constant(0.5, scale=2.0**20).scale == pytest.approx(a.scale * 2.0**20)
    low = a.drop_to(1)
    assert low.level == 1 and low.scale == a.scale
    assert a.level_to(2).scale == target.native.scale(2)
    assert a.set_scale(2, 2.0**30).scale == pytest.approx(2.0**30)
    for lowered in (low, a.level_to(2), a.set_scale(2, 2.0**30)):
        near(target.open(lowered), X)


def test_rotations(target: Compiled) -> None:
    a = target.encrypt(X)
    near(target.open(a.rotate(4, target.keys)), np.roll(X, -4))
    for steps, turned in zip((1, 2, 8, 0), a.rotate_many([1, 2, 8, 0], target.keys)):
        near(target.open(turned), np.roll(X, -steps))
    # Steps may come at run time: any that there is a key for.
    for step in np.array([16, 2]):
        near(target.open(a.rotate(int(step), target.keys)), np.roll(X, -step))
    near(target.open(a.automorphism(target.elements[2], target.keys)), np.roll(X, -4))
    z = target.public.encrypt(target.native.encode_complex(X + 1j * Y, 16))
    conjugate = target.native.decode_complex(target.secret.decrypt(z.swap(target.keys)))
    near(conjugate, X - 1j * Y)
    with pytest.raises(sunzi.errors.MissingRotation):
        a.rotate(3, target.keys)


def test_linear_transforms(target: Compiled) -> None:
    matrix = np.random.default_rng(1).uniform(-0.25, 0.25, (16, 16))
    rows = np.arange(16)
    diagonals = {d: matrix[rows, (rows + d) % 16].astype(complex) for d in range(16)}
    transform = lowlevel.LinearTransform(target.native, 16, diagonals, level=3)
    exponents = [target.native.rotation_exponent(step) for step in transform.rotations]
    keys = lowlevel.EvaluationKeys.generate(target.secret, relinearization=False, exponents=exponents, level=3)
    assert not keys.can_multiply and keys.nbytes < target.keys.nbytes * 2 and transform.nbytes > 0
    product = transform.apply(target.encrypt(X), keys)
    assert product.level == 2
    near(target.open(product), matrix @ X)
    wrong = {0: np.ones(5, dtype=complex)}
    with pytest.raises(sunzi.errors.Period):
        lowlevel.LinearTransform(target.native, 16, wrong, level=3)


def test_series(target: Compiled) -> None:
    chebyshev = lowlevel.Series.chebyshev(-1, 1, np.array([0.5, 0.25, 0.0, -0.125]))
    assert (chebyshev.degree, chebyshev.depth, chebyshev.interval) == (3, 2, (-1, 1))
    value = target.encrypt(X).series(chebyshev, target.keys)
    assert value.level == 2
    near(target.open(value), np.polynomial.chebyshev.chebval(X, [0.5, 0.25, 0, -0.125]))
    assert chebyshev(0.5) == pytest.approx(np.polynomial.chebyshev.chebval(0.5, [0.5, 0.25, 0, -0.125]))
    sigmoid = lowlevel.Series.approximate(lambda x: 1 / (1 + np.exp(-x)), -4, 4, degree=7)
    assert sigmoid.error is not None and sigmoid.error < 0.01
    near(target.open(target.encrypt(X).series(sigmoid, target.keys)), 1 / (1 + np.exp(-X)), 0.01)


def test_exact_schemes(integers: Party, levelled: Party) -> None:
    for party in (integers, levelled):
        native, keys, secret = party.context.lowlevel, party.keys.public.evaluation, party.keys.secret
        x = np.arange(1024, dtype=np.int64) % 50
        a = secret.encrypt(native.encode_integers(x, 1024))

        def opened(ciphertext: lowlevel.Ciphertext) -> np.ndarray:
            return native.decode_integers(secret.decrypt(ciphertext))

        product = a.multiply_unrelinearized(a)
        assert product.parts == 3
        np.testing.assert_array_equal(opened(product.relinearize(keys)), x * x)
        np.testing.assert_array_equal(opened(a.swap(keys)), np.roll(x, 512))
        rows = np.roll(x.reshape(2, 512), -3, axis=1).reshape(-1)
        first, second = a.rotate_many([1, 2], keys)
        np.testing.assert_array_equal(opened(first.rotate(2, keys)), rows)
        np.testing.assert_array_equal(opened(second.rotate(1, keys)), rows)
        np.testing.assert_array_equal(opened(a.polynomial([3, 0, 1], keys)), x * x + 3)
        with pytest.raises(sunzi.errors.WrongScheme):
            a.rescale()
    assert levelled.encrypt([1]).level_to(1).level == 1


#: A straight-line program as a compiler would emit it: opcode, result, operands.
PROGRAM = """
encode p0 weights
linear s0 x near
add_plain t0 s0 p0
rotate t1 t0 8
add t2 t0 t1
rotate t3 t2 4
add t4 t2 t3
rotate t5 t4 2
add t6 t4 t5
rotate t7 t6 1
add t8 t6 t7
add_const t9 t8 0.125
mul_norelin t10 t9 t9
relin t11 t10
rescale t12 t11
chebyshev t13 t12 sigmoid
hoist t13 1 2
neg t14 t13.1
sub t15 t13.2 t14
mul_int y t15 2
"""


def test_a_generated_program(target: Compiled) -> None:
    weights = np.cos(np.arange(16)) / 8
    sigmoid = lowlevel.Series.chebyshev(-1, 1, np.array([0.5, 0.46, 0, -0.05]))
    keys, native = target.keys, target.native
    cells: dict[str, lowlevel.Ciphertext] = {"x": target.encrypt(X)}
    plain: dict[str, np.ndarray] = {"weights": weights}
    operations: dict[str, Callable[..., lowlevel.Ciphertext]] = {
        "add_plain": lambda a, p: cells[a].add_plain(native.encode_reals(plain[p], 16, cells[a].level, cells[a].scale)),
        "rotate": lambda a, k: cells[a].rotate(int(k), keys),
        "add": lambda a, b: cells[a].add(cells[b]),
        "add_const": lambda a, c: cells[a].add_constant(float(c)),
        "mul_norelin": lambda a, b: cells[a].multiply_unrelinearized(cells[b]),
        "relin": lambda a: cells[a].relinearize(keys),
        "rescale": lambda a: cells[a].rescale(),
        "chebyshev": lambda a, _: cells[a].series(sigmoid, keys),
        "mul_int": lambda a, c: cells[a].multiply_integer(int(c)),
        "neg": lambda a: cells[a].negate(),
        "sub": lambda a, b: cells[a].sub(cells[b]),
        "linear": lambda a, _: lowlevel.LinearTransform(native, 16, near_diagonals, cells[a].level or 0).apply(cells[a], keys),
    }
    near_diagonals = {0: weights.astype(np.complex128), 1: (weights / 2).astype(np.complex128)}
    for line in PROGRAM.split("\n")[1:-1]:
        opcode, result, *operands = line.split()
        if opcode == "encode":
            plain[result] = plain[operands[0]]
        elif opcode == "hoist":
            for step, turned in zip(operands, cells[result].rotate_many([int(step) for step in operands], keys)):
                cells[f"{result}.{step}"] = turned
        else:
            cells[result] = operations[opcode](*operands)
    inner = (float(X @ weights + np.roll(X, -1) @ weights / 2 + weights.sum()) + 0.125) ** 2
    expected = 2 * np.polynomial.chebyshev.chebval(inner, [0.5, 0.46, 0, -0.05])
    # The same number in every slot, turned by 1 and by 2, and added up.
    near(target.open(cells["y"]), np.full(16, 2 * expected))


def test_pickles(target: Compiled) -> None:
    a = target.encrypt(X)
    for twin in (pickle.loads(pickle.dumps(a)), copy.copy(a), copy.deepcopy(a)):
        near(target.open(twin), X)
    keys, public, series = pickle.loads(pickle.dumps((target.keys, target.public, lowlevel.Series.chebyshev(0, 2, Y))))
    near(target.open(a.rotate(1, keys)), np.roll(X, -1))
    near(target.open(public.encrypt(target.native.encode_reals(X, 16))), X)
    assert series(0.5) == lowlevel.Series.chebyshev(0, 2, Y)(0.5) and series.interval == (0, 2)
    assert pickle.loads(pickle.dumps(target.native)).to_bytes() == target.native.to_bytes()
    for secret in (target.secret, target.native.encode_reals(X, 16)):
        with pytest.raises(TypeError):
            pickle.dumps(secret)


def test_bootstrapping() -> None:
    context = sunzi.Context.for_bootstrapping("insecure-10")
    told: list[tuple[str, int, int]] = []
    keys = sunzi.keygen(context, bootstrap_slots=16, rotations=[1], progress=lambda *step: told.append(step))
    assert {what for what, _, _ in told} == {"evaluation keys", "bootstrapping matrices", "bootstrapping keys"}
    assert all(0 < done <= total for _, done, total in told)
    bootstrapper = keys.public.bootstrapper
    # The cost is known before anything is bootstrapped.
    assert bootstrapper.levels_left == context.depth and bootstrapper.levels_taken > 0 and bootstrapper.lowest_level == 0
    assert bootstrapper.log2_failure < 0 and bootstrapper.key_bytes > 0 and bootstrapper.slots == 16
    a = keys.encrypt(X, level=0)
    assert a.level == 0
    b = a.bootstrap(progress=lambda *step: told.append(step))
    assert told[-1] == ("bootstrap", 1, 1) and b.level == context.depth
    np.testing.assert_allclose(keys.decrypt(b * b), X * X, atol=1e-2)
    assert len(sunzi.bootstrap_sets()) == 5


def test_bootstrapping_that_begins_on_levels_of_the_message() -> None:
    context = sunzi.Context.for_bootstrapping("insecure-10-6-first")
    keys = sunzi.keygen(context, bootstrap_slots=16)
    lowest = keys.public.bootstrapper.lowest_level
    assert lowest == 3
    b = keys.encrypt(X, level=lowest).bootstrap()
    assert b.level == 6
    np.testing.assert_allclose(keys.decrypt(b), X, atol=1e-4)
    with pytest.raises(sunzi.errors.LevelTooLow, match="SlotsToCoeffs"):
        keys.encrypt(X, level=lowest - 1).bootstrap()


def primes(bits: int, count: int) -> list[int]:
    """Primes of so many bits for n = 2^10."""
    candidates = range(2**bits - 2047, 2 ** (bits - 1), -2048)
    return [q for q, _ in zip((q for q in candidates if pow(2, q - 1, q) == 1), range(count))]


def test_keys_with_merged_digits_compute_the_same() -> None:
    """Sums of keys take memory, help at every level, and are in no bytes."""
    levels = list(range(2, 11))
    context = sunzi.Context.explicit("ckks", 10, primes(40, 10), special_moduli=primes(44, 1), levels=levels, scale_bits=40, security=0)
    keys = sunzi.keygen(context, rotations=[1])
    alone, summed = keys.public, keys.public.with_merged_digits()
    assert 1.2 * alone.nbytes < summed.nbytes < 2 * alone.nbytes
    assert summed.with_merged_digits().nbytes == summed.nbytes
    assert (summed.id, summed.exponents, summed.to_bytes()) == (alone.id, alone.exponents, alone.to_bytes())
    assert sunzi.PublicKeys.from_bytes(summed.to_bytes(), context=context).with_merged_digits().nbytes == summed.nbytes
    x, merged = keys.encrypt(X), 0
    a, b = x, x.with_keys(summed)
    for _ in range(8):
        a, b = (a * x).rotate(1), (b * x).rotate(1)
        merged += a.to_bytes() != b.to_bytes()
        assert b.keys is summed and a.level == b.level and abs(a.error - b.error) <= a.error
        near(keys.decrypt(a), keys.decrypt(b))
    assert merged >= 6
