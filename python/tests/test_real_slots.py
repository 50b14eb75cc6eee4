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


@pytest.fixture(scope="module", params=["insecure-8", "insecure-8-4-first"])
def bootstrapping(request: pytest.FixtureRequest) -> Party:
    return Party(sunzi.Context.for_bootstrapping(request.param, real_slots=True))


def test_arrays_bootstrap(bootstrapping: Party) -> None:
    context = bootstrapping.context
    assert (context.degree, context.slots) == (128, 128)
    assert sunzi.Context.from_bytes(context.to_bytes(), insecure_for_research_only=True) == context
    x = np.sin(np.arange(300) * 1.7)
    a = bootstrapping.encrypt(x)
    lower = a * a
    fresh = lower.bootstrap()
    assert fresh.level is not None and lower.level is not None
    assert fresh.level > lower.level
    bootstrapping.check(fresh, x * x, tolerance=1e-5)
    bootstrapping.check(fresh * fresh, x**4, tolerance=1e-5)
    # Three ciphertexts are two bootstrappings in pairs, three without.
    for pairs in (True, False):
        done: list[int] = []
        out = lower.bootstrap(pairs=pairs, progress=lambda what, count, total: done.append(count))
        assert done == ([2, 3] if pairs else [1, 2, 3])
        bootstrapping.check(out, x * x, tolerance=1e-5)


def test_keys_of_a_real_ring_come_back(bootstrapping: Party) -> None:
    keys = bootstrapping.keys.public
    again = sunzi.PublicKeys.from_bytes(keys.to_bytes(), insecure_for_research_only=True)
    a = again.encrypt(np.array([0.5, -0.25]))
    bootstrapping.check((a * 0.5).bootstrap(), [0.25, -0.125], tolerance=1e-5)
    # Keys of the whole ring are others.
    whole = sunzi.keygen(sunzi.Context.for_bootstrapping("insecure-8"))
    assert whole.public.bootstrapping is not None
    with pytest.raises(errors.Kind):
        keys.bootstrapper.read_keys(whole.public.bootstrapping.to_bytes())
