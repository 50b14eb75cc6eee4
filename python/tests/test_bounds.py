"""Where numbers lie is declared, checked and followed; a function takes no numbers that may lie outside of its interval."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from conftest import Party

import sunzi
from sunzi import Series, _functions, _known, errors
from sunzi._known import Known


def test_numbers_outside_of_an_interval_are_refused(reals: Party) -> None:
    """The series of exp on (-0.1, 0.1) to 2^-20 is 2.427 at 0.9, where exp is 2.4596."""
    with pytest.raises(errors.OutsideInterval, match=r"between -8 and 8.*bounds=.*declared") as refused:
        reals.encrypt([0.9]).apply(np.exp, (-0.1, 0.1))
    assert "[-0.1, 0.1]" in str(refused.value)
    for high in (0.9, math.nextafter(0.1, 1) + 1e-12):
        with pytest.raises(errors.OutsideInterval):
            reals.encrypt([0.05], bounds=(-0.1, high)).apply(np.exp, (-0.1, 0.1))
    ends = np.array([-0.1, 0.1, 0.0, 0.1, -0.1])
    y = reals.encrypt(ends, bounds=(-0.1, 0.1)).apply(np.exp, (-0.1, 0.1))
    assert (np.abs(reals.keys.decrypt(y) - np.exp(ends)) <= y.error).all() and y.error < 1e-3


def test_encryption_checks_what_is_declared(reals: Party, integers: Party) -> None:
    for party in (reals, integers):
        a = party.keys.public.encrypt(np.array([1, 3]), bounds=(1, 3))
        assert a.bounds == (1, 3) and (a + 1).bounds == (2, 4) and (-a).bounds == (-3, -1)
        for wrong in ((1, 2.5), (1.5, 3), (3, 1), (math.nan, 3), (1, math.inf)):
            with pytest.raises(errors.OutsideBounds):
                party.keys.encrypt(np.array([1, 3]), bounds=wrong)
    edge = math.nextafter(1.0, 2.0)
    with pytest.raises(errors.OutsideBounds, match="number 2"):
        reals.keys.encrypt([0.0, 1.0, edge], bounds=(0, 1))
    with pytest.raises(errors.NotFinite):
        reals.keys.encrypt([math.nan], bounds=(0, 1))
    with pytest.raises(TypeError, match="complex"):
        reals.keys.encrypt([1j], bounds=(0, 1))
    assert reals.encrypt([1.0]).bounds == (-8, 8)
    modulus = integers.context.plain_modulus or 0
    assert integers.encrypt([1]).bounds == (-(modulus // 2), modulus // 2)
    # What may wrap around is refused, or may be anywhere where that was asked for.
    large = integers.keys.encrypt([5], bounds=(0, modulus // 2))
    assert (large * 1).bounds == (0, modulus // 2) and (large.wrapping() + 1).bounds == (-(modulus // 2), modulus // 2)
    with pytest.raises(errors.RangeExceeded):
        large + 1


def test_what_moves_numbers_keeps_their_bounds(reals: Party) -> None:
    x = np.linspace(1, 2, 12).reshape(3, 4)
    a = reals.keys.encrypt(x, bounds=(1, 2))
    moved = [a[1], a[:, ::2], a.T, a.reshape(2, 6), a.ravel().rotate(5), copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a))]
    moved += [a.with_keys(reals.keys.public), a.level_to(3), next(iter(a)), a[1].reshape(1, 4)._expanded((3, 4))]
    assert all(b.bounds == (1, 2) for b in moved)
    assert a.sum().bounds == (12, 24) and a.sum(0).bounds == (3, 6) and a.mean().bounds == (1, 2) and a.var().bounds[0] == 0
    assert 0.25 <= a.var().bounds[1] < 0.2500001
    long = reals.keys.encrypt(np.ones(1500), bounds=(0, 1))
    assert long[600:1100].bounds == (0, 1) and long.sum().bounds == (0, 1500) and (long @ long).bounds == (0, 1500)


def test_interval_arithmetic(reals: Party) -> None:
    a = reals.keys.encrypt([0.5, -1.0], bounds=(-1, 0.5))
    b = reals.keys.encrypt([2.0, 3.0], bounds=(2, 3))
    assert (a + b).bounds == (1, 3.5) and (a - b).bounds == (-4, -1.5) and (a * b).bounds == (-3, 1.5)
    assert (a * a).bounds == (0, 1) and (b * b).bounds == (4, 9) and (a**3).bounds == (-1, 0.5) and (b**2).bounds == (4, 9)
    assert (1 - a).bounds == (0.5, 2) and (a * -2).bounds == (-1, 2) and (a / 2).bounds == (-0.5, 0.25)
    assert (a + np.array([0, 10])).bounds == (-1, 10.5) and (a * np.array([-1, 2])).bounds == (-2, 1)
    assert (np.array([[1, 1], [-1, 0.5]]) @ a).bounds == (-2, 1.25)
    least, most = (a * 1j).bounds
    assert least == -most and 1 <= most < 1.000001
    cube = a.polyval([0, 0, 0, 1]).bounds
    assert -1.01 < cube[0] <= -1 and 0.125 <= cube[1] < 0.13
    # A bound that the ciphertext itself has is taken where it is narrower.
    assert reals.encrypt([1.0]).declared(-100, 5).bounds == (-8, 5)


def test_promises(reals: Party) -> None:
    a = reals.keys.encrypt([1.5], bounds=(1, 3))
    assert a.declared(0, 2).bounds == (1, 2) and a.declared(2, 9).declared(1, 2.5).bounds == (2, 2.5)
    for low, high in ((3.5, 4), (-1, 0.5)):
        with pytest.raises(errors.OutsideBounds, match="promise"):
            a.declared(low, high)
    for low, high in ((2, 1), (math.nan, 2), (-math.inf, 2)):
        with pytest.raises(errors.OutsideBounds):
            a.declared(low, high)
    with pytest.raises(errors.OutsideInterval):
        reals.encrypt([1.5]).apply("log", (1, 2))
    y = reals.encrypt([1.5]).declared(1, 2).apply("log", (1, 2))
    assert abs(float(reals.keys.decrypt(y)[0]) - math.log(1.5)) <= y.error


def test_own_bounds_are_the_interval(reals: Party) -> None:
    x = np.array([1.0, 2.0, 1.0, 1.75])
    a = reals.keys.encrypt(x, bounds=(1, 2))
    for function in ("log", "sqrt", np.reciprocal, math.exp):
        y = a.apply(function, error=1e-4)
        truth = getattr(np, str(_functions.known_name(function)).replace("inverse", "reciprocal"))(x)
        assert (np.abs(reals.keys.decrypt(y) - truth) <= y.error).all() and y.error < 0.01
        assert y.bounds[0] <= truth.min() and truth.max() <= y.bounds[1] <= truth.max() + 1e-12
    same = reals.keys.encrypt([1.0], bounds=(1, 1)).apply("exp")
    assert abs(float(reals.keys.decrypt(same)[0]) - math.e) <= same.error
    with pytest.raises(errors.OutOfRange, match="above 0"):
        reals.encrypt(x).apply("log")
    with pytest.raises(errors.OutsideInterval, match="nothing bounds"):
        _ = sunzi.program(lambda v: v.apply("exp")).plan(sunzi.Like((4,), bound=math.inf))


def test_errors_are_proved_or_said(reals: Party) -> None:
    a = reals.keys.encrypt([0.5, -0.25], bounds=(-1, 1))
    curve = a.apply(lambda v: v / (2 + v), (-1, 1), error=1e-3)
    with pytest.raises(errors.NotProved, match=r"lambda.*measured.*lipschitz"):
        _ = curve.error
    with pytest.raises(errors.NotProved):
        _ = (curve * 2 + a).sum().error
    assert "not proved" in repr(curve) and curve.precision is not None
    known = a.apply(lambda v: v / (2 + v), (-1, 1), error=1e-3, second_derivative=4.0)
    assert 1e-4 < known.error < 2e-2
    assert "error" in repr(known)
    rough = a.apply(abs, (-1, 1), degree=7, lipschitz=1.0)
    assert (np.abs(reals.keys.decrypt(rough) - [0.5, 0.25]) <= rough.error).all() and rough.error < 0.5
    for series, proved in ((Series.approximate(np.exp, 0, 1, degree=3), True), (Series.approximate(lambda v: v, 0, 1, degree=3), False)):
        back = pickle.loads(pickle.dumps(series))
        assert (back.error, back.error_is_proved, back.function) == (series.error, proved, series.function)
    assert Series.power(np.ones(2)).error_is_proved and Series.power(np.ones(2)).error is None
    with pytest.raises(errors.UnknownFunction, match="sigmoid"):
        a.apply("expit", (-1, 1))
    with pytest.raises(TypeError):
        Series.approximate(abs, -1, 1, degree=3, lipschitz=1, second_derivative=1)
    with pytest.raises(TypeError, match="complex"):
        reals.encrypt([1j]).apply(np.exp, (-1, 1))
    assert reals.encrypt([0.5]).error > 0


def test_a_series_stands_for_its_function_on_its_own_interval(reals: Party) -> None:
    series = Series.approximate("exp", -1, 1, degree=5)
    a = reals.keys.encrypt([1.0, -1.0], bounds=(-1, 1))
    y = a.apply(series)
    assert (np.abs(reals.keys.decrypt(y) - np.exp([1.0, -1.0])) <= y.error).all()
    for wide in (a * 1.5, reals.encrypt([0.0])):
        with pytest.raises(errors.OutsideInterval):
            wide.apply(series)
        with pytest.raises(errors.OutsideInterval):
            wide.apply(series, (-8, 8))
    # A polynomial that stands for nothing else has no interval, or has one of its own to be right in.
    assert reals.encrypt([2.0]).apply(Series.power(np.array([1.0, 2.0]))).error < 1e-2
    with pytest.raises(errors.OutsideInterval):
        reals.encrypt([2.0]).apply(Series.chebyshev(-1, 1, np.array([1.0, 2.0])))


def test_noise_that_leaves_the_interval_is_refused() -> None:
    context = sunzi.Context.for_depth(6, precision=8, security=0, log2_degree=10, result_bound=16)
    a = sunzi.keygen(context).encrypt([0.5], bounds=(0, 1))
    with pytest.raises(errors.NoiseTooLarge, match="wider interval"):
        a.declared(0, 2.0**-12).apply(np.sqrt, degree=31)
    # On all of what was declared there is room.
    assert a.apply(np.sqrt, degree=31).error < 1


def test_programs_state_their_errors() -> None:
    @sunzi.program
    def score(x: sunzi.EncryptedArray) -> sunzi.EncryptedArray:
        return x.apply("log", degree=7).sum()

    x = np.array([0.5, 1.0, 2.0])
    with pytest.raises(errors.OutOfRange, match="above 0"):
        score.plan(sunzi.Like((3,), bound=2))
    plan = score.plan(sunzi.Like((3,), bound=2, bounds=(0.5, 2)))
    assert plan.error < 0.01 and "error" in repr(plan)
    assert abs(float(score.run(plan.keygen(), x)) - np.log(x).sum()) <= plan.error
    # On other numbers the run is that of the plan: a narrower interval might take more levels.
    small = np.array([0.75, 1.0, 0.6])
    cosine = sunzi.program(lambda v: v.apply(np.cos, degree=3) * v)
    plan = cosine.plan(sunzi.Like((3,), bound=1))
    assert (np.abs(cosine.run(plan.keygen(), small) - np.cos(small) * small) <= plan.error).all()
    unknown = sunzi.program(lambda v: v.apply(lambda t: t * t, (-1, 1), degree=3)).plan(sunzi.Like((3,)))
    assert "not proved" in repr(unknown)
    with pytest.raises(errors.NotProved):
        _ = unknown.error
    with pytest.raises(errors.OutsideBounds):
        sunzi.Like((3,), bound=1, bounds=(0, 2))


def test_ends_are_rounded_outward() -> None:
    rng = np.random.default_rng(3)
    for _ in range(3000):
        a, b = (float(v) * 2.0 ** int(rng.integers(-40, 40)) for v in rng.normal(size=2))
        for side in (-1, 1):
            for found, exact in ((_known.added(a, b, side), Fraction(a) + Fraction(b)), (_known.multiplied(a, b, side), Fraction(a) * Fraction(b))):
                assert (Fraction(found) - exact) * side >= 0 and abs(Fraction(found) - exact) <= abs(exact) * Fraction(1, 2**51)
            divided = Fraction(_known.quotient(a, abs(b), side))
            assert (divided - Fraction(a) / abs(Fraction(b))) * side >= 0
        ends = [sorted(float(v) for v in rng.choice([-3.0, -1.0, -0.1, 0.0, 0.1, 1.0, 3.0], 2)) for _ in range(2)]
        (a, b), (c, d) = ends
        exacts = [Fraction(x) * Fraction(y) for x in (a, b) for y in (c, d)]
        low, high = _known.product(a, b, c, d)
        assert Fraction(low) <= min(exacts) and max(exacts) <= Fraction(high) and high <= float(max(exacts)) + 1e-14
    assert _known.added(0.5, 0.25, 1) == 0.75 and _known.multiplied(0.5, 3.0, -1) == 1.5 and _known.quotient(1.0, 4.0, 1) == 0.25
    assert Known().times(Known(0, 0))[:2] == (0, 0) and Known(2, math.inf).times(Known(-1, 3))[:2] == (-math.inf, math.inf)
    assert _known.multiplied(1e300, 1e300, -1) < math.inf and _known.multiplied(1e300, 1e300, 1) == math.inf
    assert _known.multiplied(1e-300, 1e-300, 1) > 0 >= _known.multiplied(1e-300, 1e-300, -1)
    assert Known(-math.inf, 1).combined(np.ones((2, 2))).high == math.inf


@pytest.mark.parametrize("degree", [0, 1, 2, 7, 31, 100])
def test_bounds_on_polynomials(degree: int) -> None:
    """Against grids that are finer by far."""
    rng = np.random.default_rng(degree)
    for kind in range(6):
        coefficients = rng.normal(size=degree + 1) / (1 + np.arange(degree + 1)) ** (kind % 3)
        low, high = sorted(rng.uniform(-2, 2, 2))
        series = Series.chebyshev(-2, 2, coefficients) if kind < 3 else Series.power(coefficients)
        points = np.cos(np.linspace(0, np.pi, 20 * degree + 4001)) * (high - low) / 2 + (low + high) / 2
        values = np.array([series(float(point)) for point in points])
        least, most = _functions.polynomial_range(series, float(low), float(high))
        spread = float(np.ptp(values))
        assert least <= values.min() and values.max() <= most
        assert most - least <= spread * 1.01 + 1e-9 * max(1.0, float(np.abs(values).max()))
        slopes = np.abs(np.diff(values) / np.diff(points))
        assert slopes.max() <= _functions.steepest(series, float(low), float(high)) * (1 + 1e-9) + 1e-7 * float(np.abs(values).max())


def test_declared_bounds_are_those_of_ciphertexts(reals: Party) -> None:
    """Products of numbers below 1 were refused because messages of the context may be as large as 8."""
    keys = sunzi.keygen(sunzi.Context.for_depth(2, bound=8, result_bound=16, precision=16, security=0, log2_degree=10))
    x = np.array([0.5, -0.25, 1.0])
    unknown = keys.encrypt(x)
    with pytest.raises(errors.MessageTooLarge, match=r"bounds=\(low, high\).*array\.declared\(low, high\)") as told:
        unknown * unknown * (unknown * unknown)
    assert "Evaluator" not in str(told.value) and "with_magnitude" not in str(told.value)
    for known in (keys.encrypt(x, bounds=(-1, 1)), unknown.declared(-1, 1)):
        assert known.ciphertexts[0].magnitude == 1 and known.trace == unknown.trace
        np.testing.assert_allclose(keys.decrypt(known * known * (known * known)), x**4, atol=1e-3)
        assert pickle.loads(pickle.dumps(known)).ciphertexts[0].magnitude == 1
    # Bounds of ciphertexts hold for padding too, and never grow.
    moved = (unknown + 6).declared(4.5, 7.5)
    assert moved.ciphertexts[0].magnitude == 7.5 and keys.decrypt(moved * moved).shape == (3,)
    small = (keys.encrypt(x, bounds=(-1, 1)).polyval([6, 1]) - 6).declared(-1, 1)
    assert small._fill == 6 and small.ciphertexts[0].magnitude == 6
    assert keys.encrypt(x, bounds=(-100, 100)).ciphertexts[0].magnitude == 8
    assert keys.encrypt([0.0], bounds=(0, 0)).ciphertexts[0].magnitude == 8
    # Approximations are off from what is declared of the truth.
    near = keys.encrypt(x, bounds=(-1, 1)).apply(np.tanh, degree=3)
    assert near.declared(-0.5, 0.5).ciphertexts[0].magnitude == 0.5 + near._known.off > 0.5
