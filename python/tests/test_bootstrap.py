"""Bootstrapping of arrays: real ciphertexts alone and in pairs, complex ones. All sets are small, and without any security."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Sequence

import numpy as np
import pytest
from conftest import Party

import sunzi
from sunzi import _native, errors, lowlevel

RNG = np.random.default_rng(11)


@pytest.fixture(scope="module")
def last() -> sunzi.Keys:
    """SlotsToCoeffs last, where a pair takes a level and costs a bit."""
    return sunzi.keygen(sunzi.Context.for_bootstrapping("insecure-10"))


@pytest.fixture(scope="module")
def first() -> sunzi.Keys:
    """SlotsToCoeffs first, where a pair costs nothing."""
    return sunzi.keygen(sunzi.Context.for_bootstrapping("insecure-10-6-first"))


@pytest.fixture(params=["last", "first"])
def keys(request: pytest.FixtureRequest) -> sunzi.Keys:
    found: sunzi.Keys = request.getfixturevalue(request.param)
    return found


class Ways:
    """Every way to bootstrap ciphertexts one by one, by the functions for single ones."""

    def __init__(self, keys: sunzi.Keys, chunks: Sequence[lowlevel.Ciphertext]) -> None:
        assert keys.public.bootstrapping is not None
        bootstrapper, public = keys.public.bootstrapper, keys.public.bootstrapping
        self.any = [bootstrapper.bootstrap(chunk, public) for chunk in chunks]
        self.alone = [bootstrapper.bootstrap_real(chunk, public) for chunk in chunks]
        self.pairs: list[lowlevel.Ciphertext] = []
        for a, b in zip(chunks[0::2], chunks[1::2]):
            self.pairs += bootstrapper.bootstrap_real_pair(a, b, public)
        self.pairs += self.alone[len(self.pairs) :]


def bits(chunks: Sequence[lowlevel.Ciphertext]) -> list[bytes]:
    return [chunk.to_bytes() for chunk in chunks]


def reals(keys: sunzi.Keys, ciphertexts: int) -> np.ndarray:
    """Numbers for this many ciphertexts, of which the last has padding."""
    return RNG.uniform(-1, 1, keys.context.slots * ciphertexts - 3)


def level(keys: sunzi.Keys) -> int:
    """The lowest level that a pair may have."""
    return max(keys.public.bootstrapper.lowest_level, 1)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_real_numbers(keys: sunzi.Keys, count: int) -> None:
    x = reals(keys, count)
    a = keys.encrypt(x, level=level(keys))
    ways, slots_first = Ways(keys, a.ciphertexts), keys.public.bootstrapper.slots_to_coeffs_first
    assert len(a.ciphertexts) == count
    for pairs in (None, True, False):
        told: list[tuple[str, int, int]] = []
        b = a.bootstrap(pairs=pairs, progress=lambda *step: told.append(step))
        together = slots_first if pairs is None else pairs
        # Bits of the results tell which way they came.
        assert bits(b.ciphertexts) == bits(ways.pairs if together else ways.alone)
        done = [*range(2, count + 1, 2), *[count] * (count % 2)] if together else range(1, count + 1)
        assert told == [("bootstrap", k, count) for k in done]
        assert [chunk.level for chunk in b.ciphertexts] == [keys.context.depth] * count
        assert b.dtype == np.float64 and b.shape == x.shape and b.precision is not None and b.precision > 14
        np.testing.assert_allclose(keys.decrypt(b), x, rtol=0, atol=1e-4)
        # Padding is what it was.
        np.testing.assert_allclose(keys.decrypt(b.mean()), x.mean(), rtol=0, atol=1e-4)
        with pytest.raises(errors.NotProved, match="bootstrapping"):
            _ = b.error
    assert count == 1 or bits(ways.pairs) != bits(ways.alone)
    assert (bits(ways.alone) == bits(ways.any)) != slots_first


def test_the_default_loses_no_precision(keys: sunzi.Keys) -> None:
    bootstrapper = keys.public.bootstrapper
    assert bootstrapper.slots_to_coeffs_first == (bootstrapper.lowest_level > 0)
    x = reals(keys, 2)
    a = keys.encrypt(x, level=level(keys))
    found = {pairs: a.bootstrap(pairs=pairs) for pairs in (None, True, False)}
    off = {pairs: float((keys.decrypt(b) - x).std()) for pairs, b in found.items()}
    stated = {pairs: b.precision or 0.0 for pairs, b in found.items()}
    assert off[None] < 1.2 * off[False] and stated[None] > stated[False] - 0.1
    # Elsewhere a pair costs a bit.
    assert off[True] < 2**1.5 * off[False] and stated[True] > stated[False] - 1.5


@pytest.mark.parametrize("count", [1, 2, 3])
def test_complex_numbers_have_no_pairs(keys: sunzi.Keys, count: int) -> None:
    x = reals(keys, count) + 1j * reals(keys, count)
    a = keys.encrypt(x / 2, level=level(keys))
    told: list[tuple[str, int, int]] = []
    b = a.bootstrap(progress=lambda *step: told.append(step))
    assert bits(b.ciphertexts) == bits(a.bootstrap(pairs=False).ciphertexts) == bits(Ways(keys, a.ciphertexts).any)
    assert told == [("bootstrap", k, count) for k in range(1, count + 1)]
    assert b.dtype == np.complex128
    np.testing.assert_allclose(keys.decrypt(b), x / 2, rtol=0, atol=1e-4)
    with pytest.raises(TypeError, match="complex.*leave pairs out"):
        a.bootstrap(pairs=True)


def test_rounds_have_no_pairs(last: sunzi.Keys) -> None:
    x = reals(last, 2)
    a = last.encrypt(x, level=1)
    public, bootstrapper = last.public.bootstrapping, last.public.bootstrapper
    assert public is not None
    refined = [bootstrapper.bootstrap(chunk, public, rounds=2) for chunk in a.ciphertexts]
    for pairs in (None, False):
        b = a.bootstrap(rounds=2, pairs=pairs)
        assert bits(b.ciphertexts) == bits(refined) and b.level == 2
    with pytest.raises(ValueError, match="pairs in 2 rounds.*leave pairs or rounds out"):
        a.bootstrap(rounds=2, pairs=True)


def test_levels_that_are_too_low(last: sunzi.Keys, first: sunzi.Keys) -> None:
    x = reals(last, 3)
    a = last.encrypt(x, level=0)
    with pytest.raises(errors.LevelTooLow, match=r"a pair takes .* level 1 or above.*bootstrap it earlier"):
        a.bootstrap(pairs=True)
    np.testing.assert_allclose(last.decrypt(a.bootstrap()), x, rtol=0, atol=1e-4)
    # One alone takes no level.
    b = last.encrypt(x[:5], level=0).bootstrap(pairs=True)
    np.testing.assert_allclose(last.decrypt(b), x[:5], rtol=0, atol=1e-4)
    for pairs in (None, True, False):
        with pytest.raises(errors.LevelTooLow, match="SlotsToCoeffs takes .* level 3 or above"):
            first.encrypt(x, level=2).bootstrap(pairs=pairs)


def test_sums_over_more_slots_are_bootstrapped_as_what_they_are() -> None:
    keys = sunzi.keygen(sunzi.Context.for_bootstrapping("insecure-10-6-first"), bootstrap_slots=16)
    x = RNG.uniform(-1, 1, keys.context.slots)
    total = (keys.encrypt(x) * 2.0**-9).sum().declared(-1, 1)
    assert total.ciphertexts[0].slots == keys.context.slots > keys.public.bootstrapper.slots
    for pairs in (None, True, False):
        b = total.bootstrap(pairs=pairs)
        assert b.ciphertexts[0].slots == 1
        np.testing.assert_allclose(keys.decrypt(b), x.sum() * 2.0**-9, rtol=0, atol=1e-4)


def test_ciphertexts_of_others(first: sunzi.Keys, last: sunzi.Keys, integers: Party) -> None:
    bootstrapper, public = first.public.bootstrapper, first.public.bootstrapping
    assert public is not None
    own = first.encrypt([1.0], level=3).ciphertexts[0]
    stranger = sunzi.keygen(first.context, bootstrap_slots=16)
    others = [(integers.encrypt([1]), errors.WrongScheme), (last.encrypt([1.0], level=3), errors.OtherModulus), (stranger.encrypt([1.0], level=3), errors.KeyMismatch)]
    for other, kind in others:
        theirs = other.ciphertexts[0]
        for one, two in ((own, theirs), (theirs, own)):
            with pytest.raises(kind):
                bootstrapper.bootstrap_real_pair(one, two, public)
        with pytest.raises(kind):
            bootstrapper.bootstrap_real(theirs, public)
    with pytest.raises(errors.MissingKeyError):
        integers.encrypt([1]).bootstrap(pairs=True)


def test_the_set_that_is_taken_by_default_is_there() -> None:
    default = inspect.signature(sunzi.Context.for_bootstrapping).parameters["name"].default
    assert default in dict(sunzi.bootstrap_sets())


@pytest.mark.parametrize(("name", "levels", "canonical"), [("insecure-10", 5, "insecure-10-5"), ("insecure-10-6-first", 4, "insecure-10-4-first")])
def test_a_set_leaves_as_many_levels_as_asked(name: str, levels: int, canonical: str) -> None:
    context = sunzi.Context.for_bootstrapping(name, levels=levels)
    assert context is sunzi.Context.for_bootstrapping(canonical)
    assert pickle.loads(pickle.dumps(context)) == context
    keys = sunzi.keygen(context)
    numbers = RNG.uniform(-1, 1, 100)
    again = keys.encrypt(numbers).bootstrap()
    assert [chunk.level for chunk in again.ciphertexts] == [levels]
    np.testing.assert_allclose(keys.decrypt(again), numbers, atol=1e-4)


@pytest.mark.parametrize(("name", "levels", "canonical"), [("insecure-10", None, "insecure-10-s16"), ("insecure-10-6-first", 4, "insecure-10-4-first-s16")])
def test_a_set_is_made_for_few_slots(name: str, levels: int | None, canonical: str) -> None:
    context = sunzi.Context.for_bootstrapping(name, levels=levels, slots=16)
    assert context is sunzi.Context.for_bootstrapping(canonical)
    assert pickle.loads(pickle.dumps(context)) == context
    keys = sunzi.keygen(context)
    numbers = RNG.uniform(-1, 1, 16)
    again = keys.encrypt(numbers).bootstrap()
    assert [chunk.slots for chunk in again.ciphertexts] == [16]
    np.testing.assert_allclose(keys.decrypt(again), numbers, atol=1e-4)
    with pytest.raises(errors.TooManySlots, match="32 slots for a bootstrapping of 16"):
        keys.encrypt(RNG.uniform(-1, 1, 17)).bootstrap()


def test_names_of_sets_for_few_slots() -> None:
    assert _native.bootstrap_set("n15-128", slots=9) == _native.bootstrap_set("n15-128-s16") == "n15-128-s16"
    assert _native.bootstrap_set("n15-128-s16", 1) == "n15-128-1-s16"
    assert _native.bootstrap_set("n15-128-s16", slots=1 << 14) == "n15-128"
    assert (_native.bootstrap_slots("n15-128-s16"), _native.bootstrap_slots("n15-128")) == (16, 1 << 14)
    with pytest.raises((TypeError, OverflowError)):
        sunzi.Context.for_bootstrapping("n15-128", slots=-1)


def test_numbers_of_levels_that_a_set_cannot_leave_are_refused() -> None:
    assert _native.bootstrap_set("n16-128-fast", 12) == _native.bootstrap_set("n16-128-fast-12") == "n16-128-fast"
    assert _native.bootstrap_set("n16-128-fast-8", 5) == "n16-128-fast-5"
    for name, levels, expected in [("n16-128", 40, "1746"), ("n16-128-fast", 2, "at least 3"), ("n16-128", 0, "1 to 256")]:
        with pytest.raises(errors.ParameterError, match=expected):
            sunzi.Context.for_bootstrapping(name, levels=levels)
    with pytest.raises(errors.UnknownSet, match="n17"):
        sunzi.Context.for_bootstrapping("n17", levels=3)
    with pytest.raises((TypeError, OverflowError)):
        sunzi.Context.for_bootstrapping("n16-128", levels=-1)
