"""Programs of field elements: parameters and keys by what a function does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sunzi
from sunzi import errors


def elements(field: Any, count: int, seed: int = 1) -> Any:
    return np.random.default_rng(seed).integers(0, field.prime**field.exponent, (count, field.degree))


@sunzi.program
def fourth(x: sunzi.FieldArray, y: sunzi.FieldArray) -> Any:
    return {"power": (x * y) * (x * y), "sum": [x + y - 1, 3 * (x + y).frobenius()]}


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
def test_a_plan_has_room_for_its_program(scheme: Any) -> None:
    plan = fourth.plan_field(100, 100, prime=2, slots=100, scheme=scheme)
    assert (plan.depth, plan.sums, plan.plain_products, plan.rotations) == (2, 1, 1, [])
    assert plan.context.security == 128 and plan.context.slots >= 100 and "depth 2" in repr(plan)
    keys, field = plan.keygen(), plan.context.field
    assert field is not None
    a, b = elements(field, 100), elements(field, 100, 2)
    found = fourth.run(keys, a, b)
    product = field.multiply(a, b)
    np.testing.assert_array_equal(found["power"], field.multiply(product, product))
    one = np.eye(1, field.degree, dtype=int)
    np.testing.assert_array_equal(found["sum"][0], (a + b + one) % 2)
    np.testing.assert_array_equal(found["sum"][1], field.multiply((a + b) % 2, (a + b) % 2))
    # The ring that was chosen, by its name.
    named = fourth.plan_field(100, 100, prime=2, ring_index=field.ring_index, scheme=scheme)
    assert named.context == plan.context


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
@pytest.mark.parametrize("p, r, m", [(2, 1, 1285), (2, 3, 255), (7, 2, 200)])
def test_rotations_of_a_program_have_room_and_keys(scheme: Any, p: int, r: int, m: int) -> None:
    """Sums along all dimensions, those with masks among them, and products between."""

    def total(x: sunzi.FieldArray) -> sunzi.FieldArray:
        x = x * x
        for i, dimension in enumerate(x.context.slot_dimensions):
            x = sum((x.rotate(steps, i) for steps in range(1, dimension.length)), x)
        return x * x

    program = sunzi.program(total)
    plan = program.plan_field(None, prime=p, exponent=r, ring_index=m, scheme=scheme, security=0)
    dimensions, field = plan.context.slot_dimensions, plan.context.field
    assert field is not None
    assert plan.rotations == sorted((steps, i) for i, dimension in enumerate(dimensions) for steps in range(1, dimension.length))
    assert (plan.depth, plan.plain_products) == (2, sum(not dimension.good for dimension in dimensions))
    a = elements(field, field.slots)
    expected = field.multiply(a, a).sum(axis=0, keepdims=True) % p**r
    found = program.run(plan.keygen(), a)
    np.testing.assert_array_equal(found, np.broadcast_to(field.multiply(expected, expected), a.shape))


class Clear:
    """Clear elements with the operations of an encrypted array, by numpy and by clear products alone."""

    def __init__(self, context: sunzi.Context, values: Any) -> None:
        self.context, self.field = context, context.field
        assert self.field is not None
        self.values = np.asarray(values) % self.field.prime**self.field.exponent

    def __add__(self, other: Clear) -> Clear:
        return Clear(self.context, self.values + other.values)

    def __sub__(self, other: Clear) -> Clear:
        return Clear(self.context, self.values - other.values)

    def __mul__(self, other: Any) -> Clear:
        assert self.field is not None
        return Clear(self.context, self.field.multiply(self.values, getattr(other, "values", other)))

    def rotate(self, steps: int, dimension: int) -> Clear:
        lengths = [one.length for one in self.context.slot_dimensions]
        turned = np.roll(self.values.reshape(*lengths, -1), -steps, axis=dimension)
        return Clear(self.context, turned.reshape(self.values.shape))

    def frobenius(self, times: int) -> Clear:
        assert self.field is not None
        power = self
        for _ in range(times % self.field.degree):
            factor, power = power, power
            for _ in range(self.field.prime - 1):
                power = power * factor
        return power


def steps_of(seed: int, maps: bool) -> list[tuple[str, int, int, int]]:
    """A random program: operation, two operands among what is there, a number."""
    rng = np.random.default_rng(seed)
    names = ["add", "sub", "multiply", "clear", "rotate", "rotate", *(["frobenius"] if maps else [])]
    steps, depths = [], [0, 0]
    for _ in range(int(rng.integers(1, 14))):
        name, (i, j) = str(rng.choice(names)), rng.integers(0, len(depths), 2)
        name = "add" if name == "multiply" and max(depths[i], depths[j]) == 3 else name
        steps.append((name, int(i), int(j), int(rng.integers(1, 30))))
        depths.append(max(depths[i], depths[j]) + (name == "multiply"))
    return steps


def played(steps: list[tuple[str, int, int, int]], x: Any, y: Any) -> Any:
    values, dimensions, field = [x, y], x.context.slot_dimensions, x.field
    for name, i, j, number in steps:
        a, b = values[i], values[j]
        clear = np.random.default_rng(number).integers(0, field.prime**field.exponent, (field.slots, field.degree))
        made = {
            "add": lambda: a + b,
            "sub": lambda: a - b,
            "multiply": lambda: a * b,
            "clear": lambda: a * clear,
            "rotate": lambda: a.rotate(number, number % len(dimensions)),
            "frobenius": lambda: a.frobenius(number),
        }
        values.append(made[name]())
    return values[-1]


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
@pytest.mark.parametrize("p, r, m", [(2, 1, 1285), (2, 3, 255), (7, 2, 200), (3, 1, 164), (331, 1, 165)])
def test_random_programs_decrypt_in_the_parameters_of_their_plans(scheme: Any, p: int, r: int, m: int) -> None:
    for seed in range(4):
        steps = steps_of(1000 * m + seed, r == 1)
        program = sunzi.program(lambda x, y: played(steps, x, y))  # noqa: B023
        plan = program.plan_field(None, None, prime=p, exponent=r, ring_index=m, scheme=scheme, security=0)
        context, field = plan.context, plan.context.field
        assert field is not None
        a, b = elements(field, field.slots, seed), elements(field, field.slots, seed + 99)
        expected = played(steps, Clear(context, a), Clear(context, b)).values
        np.testing.assert_array_equal(program.run(plan.keygen(), a, b), expected, err_msg=f"{seed}: {steps}")


def test_what_no_program_of_elements_does_is_named() -> None:
    field = sunzi.Context.for_field(1, prime=2, ring_index=255, security=0)
    calls: list[Any] = [lambda: fourth.plan([1], [1], ring_index=255), lambda: fourth.plan([1], [1], context=field)]
    for refused in calls:
        with pytest.raises(errors.Request, match="plan_field"):
            refused()
    with pytest.raises(errors.ShapeError, match="lengths"):
        fourth.plan_field(0, 1, prime=2)
    alone = sunzi.program(lambda x: x + x).plan_field((2, 3), prime=2, ring_index=255, security=0)
    keys = alone.keygen()
    assert alone.depth == 0 and not keys.public.evaluation.can_multiply
    with pytest.raises(errors.WrongScheme, match="shadow"):
        fourth.run(keys, [[1] * 8], [[1] * 8], shadow=True)
    with pytest.raises(errors.ShapeError, match="multiple of"):
        sunzi.program(lambda x: x.rotate(1)).plan_field(3, prime=2, ring_index=255, security=0)
    # Deeper than any ring holds.
    with pytest.raises(errors.NothingFits):
        sunzi.program(lambda x: x ** (2**90)).plan_field(1, prime=2)
