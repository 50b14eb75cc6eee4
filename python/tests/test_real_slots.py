"""Real slots of CKKS: twice the numbers in a ciphertext, and no imaginary parts."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import Party

import sunzi
from sunzi import errors


@pytest.fixture(scope="module")
def party() -> Party:
    return Party(sunzi.Context.for_depth(3, bound=4, result_bound=2**12, precision=18, security=0, log2_degree=10, real_slots=True))


def test_a_ciphertext_holds_n_numbers(party: Party) -> None:
    context = party.context
    assert (context.degree, context.slots) == (1024, 1024)
    assert "2^10, real slots" in repr(context)
    assert sunzi.Context.from_bytes(context.to_bytes(), insecure_for_research_only=True) == context
    whole = sunzi.Context.for_depth(3, security=0, log2_degree=10)
    assert whole.slots == 512 and "real slots" not in repr(whole)


def test_arrays_compute(party: Party) -> None:
    x, y = np.linspace(-2, 2, 1024), np.cos(np.arange(1024))
    a, b = party.encrypt(x), party.encrypt(y)
    party.check(a + b, x + y)
    party.check(a * b - 1.5, x * y - 1.5)
    party.check(a * y + b * b, x * y + y * y)
    party.check(a.rotate(3), np.roll(x, -3))
    party.check((a * b).sum(), (x * y).sum(), tolerance=1e-2)
    long = np.linspace(-1, 1, 3000)
    party.check(party.encrypt(long) * 0.5, long * 0.5)


def test_imaginary_parts_are_refused_by_name(party: Party) -> None:
    with pytest.raises(errors.NotReal, match="slot 1"):
        party.encrypt(np.array([1.0, 1j]))
    with pytest.raises(errors.RealRing, match="imaginary part"):
        party.encrypt(np.ones(4)) * 1j
