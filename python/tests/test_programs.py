"""Dry runs say what runs need: no more than one ring size too much, and never too little."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sunzi
from sunzi import Like, errors

#: Programs that are drawn: 200 in the long form (SUNZI_LONG=1).
COUNT = 200 if os.environ.get("SUNZI_LONG") else 12


@sunzi.program
def spread(x: sunzi.EncryptedArray, w: sunzi.EncryptedArray) -> sunzi.EncryptedArray:
    centred = x - x.mean()
    return (centred * centred) @ w


@sunzi.program
def squares(x: sunzi.EncryptedArray) -> dict[str, Any]:
    y = x
    for _ in range(3):
        y = y * y
    return {"x": x + 1, "powers": [y, y.sum()]}


def test_a_plan_says_everything_before() -> None:
    x, w = np.linspace(-1, 1, 100), np.full(100, 0.01)
    plan = spread.plan(x, w, precision=20)
    assert plan.context.security == 128 and plan.depth == 3 and plan.products and plan.rotations
    assert plan.precision is not None and plan.precision >= 20 and plan.error < 1e-4
    assert len(plan.steps) > 10 and plan.steps[0].operation == "encrypt"
    assert {step.line.number for step in plan.steps[2:]} <= set(range(20, 30))
    text, table = repr(plan), plan._repr_html_()
    for said in ("log2 QP", "rotation keys", "MiB", "because", "centred * centred"):
        assert said in text
    assert table.startswith("<table>")
    keys = plan.keygen()
    assert keys.public.nbytes == plan.key_bytes
    got = spread.run(keys, x, w)
    np.testing.assert_allclose(got, ((x - x.mean()) ** 2) @ w, rtol=0, atol=plan.error)
    assert plan.memory > plan.key_bytes and plan.seconds > 0


def test_the_rehearsal_is_the_run() -> None:
    """What ciphertexts say of themselves is what was said before, to the last bit."""
    x, w = np.linspace(-1, 1, 50), np.full(50, 0.01)
    cases: list[tuple[Any, tuple[Any, ...], Any]]
    cases = [(spread, (x, w), None), (squares, (np.arange(50),), "bfv"), (squares, (np.arange(50),), "bgv")]
    for function, arguments, scheme in cases:
        plan = function.plan(*arguments, scheme=scheme)
        keys = plan.keygen()
        made = function(*[keys.public.encrypt(argument) for argument in arguments])
        outputs = [made] if function is spread else [made["x"], *made["powers"]]
        bits = min(output.bits_left for output in outputs)
        assert bits == pytest.approx(plan.bits_left, abs=1e-6)
        if plan.precision is not None:
            assert made.precision == pytest.approx(plan.precision, abs=1e-6)
        assert min(output.nbytes for output in outputs) in {step.nbytes * plan.context._parts for step in plan.steps}


def test_results_have_the_form_of_the_function() -> None:
    x = np.array([-3, 2, 1])
    plan = squares.plan(x)
    keys = plan.keygen()
    opened = squares.run(keys, x)
    np.testing.assert_array_equal(opened["x"], x + 1)
    np.testing.assert_array_equal(opened["powers"][0], x**8)
    assert opened["powers"][1] == (x**8).sum()
    assert opened["x"].dtype == np.int64


def test_bgv_is_planned_when_asked_for() -> None:
    """Sums of masked slots between products, and a polynomial whose own steps are not on the tape."""

    @sunzi.program
    def mixed(x: sunzi.EncryptedArray, y: sunzi.EncryptedArray) -> sunzi.EncryptedArray:
        z = (x[::-1] * y).polyval([1, -2, 0, 1])
        return (z * 3 - x).sum() + z

    x, y = np.array([-3, 2, 1, 0, 4]), np.array([1, 1, -2, 3, 0])
    plan = mixed.plan(x, y, scheme="bgv")
    assert plan.context.scheme == "bgv" and plan.context.security == 128 and plan.steps[-1].level is not None
    z = 1 - 2 * (x[::-1] * y) + (x[::-1] * y) ** 3
    np.testing.assert_array_equal(mixed.run(plan.keygen(), x, y), (z * 3 - x).sum() + z)
    with pytest.raises(errors.NothingFits, match="in a row"):
        squares.plan(Like((4,), int, 2**20), log2_degree=11, scheme="bgv")
    with pytest.raises(errors.WrongScheme):
        spread.plan(np.ones(4), np.ones(4), scheme="bgv")


def test_errors_name_the_line_that_spent_the_budget() -> None:
    context = sunzi.Context.for_depth(1, bound=2, security=0, log2_degree=11)
    with pytest.raises(errors.LevelExhausted, match=r"test_programs.py:\d+: y = y \* y") as told:
        squares.plan(np.ones(4), context=context)
    assert "were spent at test_programs.py" in str(told.value)
    small = sunzi.Context.for_depth(1, dtype=int, security=0, log2_degree=11, result_bound=100)
    with pytest.raises(errors.NoiseExhausted, match=r"y = y \* y"):
        squares.plan(np.arange(4), context=small)
    with pytest.raises(errors.NothingFits, match=r"y = y \* y|bits"):
        squares.plan(Like((4,), int, 2**20), log2_degree=11)
    with pytest.raises(TypeError, match="Like"):
        squares.plan("x")


def test_shadows_compare_every_operation() -> None:
    x, w = np.linspace(-1, 1, 40), np.full(40, 0.01)
    plan = spread.plan(x, w, log2_degree=11, security=0)
    keys = plan.keygen()
    np.testing.assert_allclose(spread.run(keys, x, w, shadow=True), ((x - x.mean()) ** 2) @ w, rtol=0, atol=plan.error)
    y = np.array([-3, 2, 1])
    plan = squares.plan(y, log2_degree=11, security=0)
    opened = squares.run(plan.keygen(), y, shadow=True)
    np.testing.assert_array_equal(opened["powers"][0], y**8)
    keys = sunzi.keygen(sunzi.Context.for_depth(1, bound=2, security=0, log2_degree=11))
    with pytest.raises(errors.LevelExhausted, match=r"test_programs.py:\d+: y = y \* y\n .*were spent at"):
        squares.run(keys, np.ones(4), shadow=True)


def test_shadows_tell_wrong_results() -> None:
    """Outside of its interval a series is off by more than it says."""

    @sunzi.program
    def claimed(x: sunzi.EncryptedArray) -> sunzi.EncryptedArray:
        # Wrong on purpose: the numbers are larger than is said here.
        chunk = x.ciphertexts[0].cipher.multiply_integer(3)  # type: ignore[attr-defined]
        x.ciphertexts[0].cipher.assign(chunk)  # type: ignore[attr-defined]
        return x + 1.0

    plan = spread.plan(np.ones(4), np.ones(4), log2_degree=11, security=0)
    with pytest.raises(errors.ShadowMismatch, match=r"return x \+ 1.0.*in the clear it is 2"):
        claimed.run(plan.keygen(), np.ones(4), shadow=True)


def test_plots() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    ax = spread.plan(np.ones(8), np.ones(8)).plot()
    assert {line.get_label() for line in ax.get_lines()} >= {"bits left", "precision in bits", "level"}
    ax = squares.plan(np.ones(8, dtype=int)).plot()
    assert [line.get_label() for line in ax.get_lines()] == ["bits left"]


# Random programs.

Operation = Callable[[Any, Any], Any]


def drawn(rng: np.random.Generator, real: bool) -> tuple[Callable[..., Any], list[np.ndarray], str]:
    """A program of two arrays that works on encrypted and on clear ones, arguments, and its text."""
    size = int(rng.choice([1, 5, 16, 30, 100]))
    clear = rng.uniform(-1, 1, size) if real else rng.integers(-4, 5, size)
    matrix = rng.uniform(-1, 1, (3, size)) if real else rng.integers(-2, 3, (3, size))
    shift = int(rng.integers(size))
    moves: dict[str, Operation] = {
        "a + b": lambda a, b: a + b,
        "a - b": lambda a, b: a - b,
        "a * b": lambda a, b: a * b,
        "a * a": lambda a, b: a * a,
        "a * clear": lambda a, b: a * clear,
        "a - clear": lambda a, b: a - clear,
        "2 * a - 1": lambda a, b: 2 * a - 1,
        "rotate(a)": lambda a, b: a.rotate(shift) if isinstance(a, sunzi.EncryptedArray) else np.roll(a, -shift),
        "a[::-1]": lambda a, b: a[::-1],
        "polyval(a)": lambda a, b: a.polyval([1, -2, 1]) if isinstance(a, sunzi.EncryptedArray) else 1 - 2 * a + a * a,
    }
    if real:
        moves["a / 2"] = lambda a, b: a * 0.5
    ends: dict[str, Operation] = {
        "a": lambda a, b: a,
        "sum(a)": lambda a, b: a.sum(),
        "a @ b": lambda a, b: a @ b,
        "mean(a)": lambda a, b: a.mean(),
        "matrix @ a": lambda a, b: matrix @ a,
    }
    # A polynomial that stands for nothing but itself.
    cosine = sunzi.Series.chebyshev(-1, 1, sunzi.Series.approximate(np.cos, -1, 1, degree=3).coefficients)
    curved = bool(real and rng.integers(4) == 0)
    names = [str(name) for name in rng.choice(list(moves), int(rng.integers(1, 5)))]
    end = str(rng.choice(list(ends)))

    def function(x: Any, y: Any) -> Any:
        a, b = x, y
        if curved:
            a = a.apply(cosine, (-1, 1)) if isinstance(a, sunzi.EncryptedArray) else np.vectorize(cosine)(a)
        for name in names:
            a, b = moves[name](a, b), a
        return ends[end](a, b)

    arguments = [rng.uniform(-1, 1, size) if real else rng.integers(-4, 5, size) for _ in range(2)]
    return function, arguments, "; ".join(["cos(a)"] * curved + [*names, end]) + f" of {size}"


def works(function: Callable[..., Any], arguments: list[np.ndarray], expected: Any, keys: sunzi.Keys, tolerance: float) -> bool:
    """Whether a run gives the right result. What wraps on the way is no fault: the plan found a range for the result."""
    encrypted = [keys.public.encrypt(argument) for argument in arguments]
    try:
        opened = keys.decrypt(function(*(encrypted if keys.context.is_real else [array.wrapping() for array in encrypted])))
    except errors.SunziError:
        return False
    return bool(np.all(np.abs(opened - expected) <= tolerance))


def smaller(plan: sunzi.Plan, bits: int) -> sunzi.Context | None:
    """The largest modulus that is secure at a degree that is by so many bits smaller, if there is one."""
    context, log2_degree = plan.context, plan.context.degree.bit_length() - 1 - bits
    best = None
    for depth in range(12):
        try:
            if context.is_real:
                best = sunzi.Context.for_depth(depth, log2_degree=log2_degree, bound=1, precision=20, sums=8)
            else:
                bound = plan.context.plain_modulus or 3
                best = sunzi.Context.for_depth(depth, dtype=int, log2_degree=log2_degree, sums=0, plain_products=0, result_bound=bound // 2)
        except errors.SunziError:
            break
    return best


@pytest.mark.parametrize("seed", range(COUNT))
def test_random_programs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    real = bool(seed % 2)
    function, arguments, text = drawn(rng, real)
    expected = function(*arguments)
    program = sunzi.program(function)
    likes = [Like(argument.shape, argument.dtype, 1.0 if real else 4.0) for argument in arguments]
    plan = program.plan(*likes, precision=16)
    assert plan.context.security == 128
    assert works(function, arguments, expected, plan.keygen(), plan.error), text
    # Two sizes below nothing works.
    least = smaller(plan, 2)
    if least is not None:
        keys = sunzi.keygen(least)
        assert not works(function, arguments, expected, keys, 2.0**-16 if real else 0), f"{text}: {least} for {plan.context}"
