"""Arrays and results of programs that a proxy hands on to another owner."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import sunzi
from sunzi import errors, tables

#: Two times in a row, thirty ciphertexts of one owner, 20 statistical bits.
ROOM = (2, 30, 20)
COUNTS: dict[str, int] = {"queries": ROOM[1], "statistical_bits": ROOM[2]}
Exact = Literal["bfv", "bgv"]


def context_of(scheme: Exact, **settings: Any) -> sunzi.Context:
    asked = {"result_bound": 1000, "sums": 1, "plain_products": 1, **settings}
    return sunzi.Context.for_depth(1, dtype=int, scheme=scheme, reencryptions=ROOM, **asked)


def key_between(first: Any, second: Any, **settings: Any) -> sunzi.ReencryptionKey:
    return sunzi.ReencryptionKey.generate(first, sunzi.ReencryptionPublicKey.generate(second), **{**COUNTS, **settings})


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
def test_arrays_from_owner_to_owner(scheme: Exact) -> None:
    context = context_of(scheme)
    alice, bob, carol = (sunzi.keygen(context, rotations=[]) for _ in range(3))
    x = np.arange(-3, 5).reshape(2, 4)
    theirs = alice.public.encrypt(x) * alice.public.encrypt(x)
    first, second = key_between(alice, bob), key_between(bob, carol)
    assert (first.source, first.target) == (alice.id, bob.id)
    array = first.apply(theirs, further=1)
    assert array.key_id == bob.id and array.keys is None and array.shape == (2, 4)
    np.testing.assert_array_equal(bob.decrypt(array), x * x)
    with pytest.raises(errors.KeyMismatch):
        alice.decrypt(array)
    # As bytes too, and computed on under the keys of the new owner.
    again = sunzi.EncryptedArray.from_bytes(array.to_bytes(), bob)
    np.testing.assert_array_equal(bob.decrypt(again + again), 2 * x * x)
    last = second.apply(again)
    np.testing.assert_array_equal(carol.decrypt(last), x * x)
    assert (first.used, second.used, first.queries, first.statistical_bits) == (1, 1, 30, 20)
    assert "1 of 30 used" in repr(first)
    # A third time has no room, nor a second where the first left none; nothing is counted.
    third = key_between(carol, alice)
    with pytest.raises(errors.ReencryptionRoom, match="re-encryption number 3"):
        third.apply(last)
    with pytest.raises(errors.ReencryptionRoom, match="re-encryption number 2"):
        second.apply(first.apply(theirs))
    with pytest.raises(errors.ReencryptionRoom):
        first.apply(theirs, further=9)
    assert (first.used, second.used, third.used) == (2, 1, 0)


def test_wide_integers_have_a_ciphertext_for_each_modulus() -> None:
    context = context_of("bfv", result_bound=2**58)
    assert context._parts > 1
    alice, bob = sunzi.keygen(context, rotations=[]), sunzi.keygen(context, rotations=[])
    x = np.array([2**28, -3, 5])
    key = key_between(alice, bob)
    array = key.apply(alice.public.encrypt(x) * alice.public.encrypt(x))
    np.testing.assert_array_equal(bob.decrypt(array), x * x)
    assert key.used == context._parts


def test_slots_that_nobody_knows_are_not_shown() -> None:
    """Slots beside the numbers of an array may hold other numbers, which the new owner would see."""
    context = context_of("bfv", plain_products=3)
    alice, bob = sunzi.keygen(context), sunzi.keygen(context)
    x = np.arange(1, 6)
    array = alice.public.encrypt(x)
    key = key_between(alice, bob)
    unknown = array._like(array._chunks, fill=None)
    with pytest.raises(errors.Sharing, match="numpy.ones"):
        key.apply(unknown)
    assert key.used == 0
    cleared = key.apply(unknown * np.ones(x.shape, dtype=int))
    np.testing.assert_array_equal(bob.decrypt(cleared), x)
    slots = context.lowlevel.decode_integers(bob.secret.decrypt(cleared.ciphertexts[0]))
    np.testing.assert_array_equal(slots[:8], [*x, 0, 0, 0])


def test_keys_are_bytes_with_a_ledger(tmp_path: Path) -> None:
    context = context_of("bfv")
    alice, bob = sunzi.keygen(context, rotations=[]), sunzi.keygen(context, rotations=[])
    public = sunzi.ReencryptionPublicKey.generate(bob)
    read = sunzi.ReencryptionPublicKey.from_bytes(public.to_bytes(), alice)
    assert (read.id, read.fingerprint) == (bob.id, public.fingerprint) and len(public.fingerprint.split()) == 8
    ledger = tmp_path / "proxy.sz"
    key = sunzi.ReencryptionKey.generate(alice, read, ledger=ledger, queries=2, statistical_bits=20)
    x = np.array([1, 2])
    array = alice.public.encrypt(x)
    key.apply(array)
    again = sunzi.ReencryptionKey.from_export(key.export(), context, ledger)
    np.testing.assert_array_equal(bob.decrypt(again.apply(array)), x)
    with pytest.raises(errors.SharingSpent):
        again.apply(array)
    assert again.used == 2 and again.nbytes > 0
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(key)
    with pytest.raises(errors.SunziError):
        sunzi.ReencryptionKey.generate(alice, read, ledger=ledger)
    with pytest.raises(errors.SunziError):
        sunzi.ReencryptionKey.from_export(key.export(), context, tmp_path / "missing.sz")
    other = key_between(bob, alice, ledger=tmp_path / "other.sz")
    with pytest.raises(errors.Key):
        sunzi.ReencryptionKey.from_export(key.export(), context, tmp_path / "other.sz")
    # What is under another key, or under that of the new owner already.
    with pytest.raises(errors.KeyMismatch):
        other.apply(key_between(alice, sunzi.keygen(context, rotations=[])).apply(array))
    with pytest.raises(errors.SameKey):
        other.apply(array)
    with pytest.raises(errors.SameKey):
        key_between(alice, alice)
    damaged = bytearray(key.export())
    damaged[len(damaged) // 2] ^= 1
    with pytest.raises(errors.FormatError):
        sunzi.ReencryptionKey.from_export(damaged, context, ledger)
    with pytest.raises(errors.Kind):
        sunzi.ReencryptionPublicKey.from_bytes(key.export(), context)
    with pytest.raises(errors.Parameters):
        sunzi.ReencryptionPublicKey.from_bytes(public.to_bytes(), context_of("bfv", result_bound=2**40))
    wrong: list[dict[str, Any]] = [{"queries": 0}, {"statistical_bits": 81}]
    for settings in wrong:
        with pytest.raises(errors.Sharing):
            sunzi.ReencryptionKey.generate(alice, public, **settings)
    for further in (-1, 1024):
        with pytest.raises(errors.Sharing):
            key.apply(array, further=further)
    assert copy.copy(array).key_id == alice.id


def test_real_numbers_are_refused_by_name() -> None:
    with pytest.raises(errors.WrongScheme):
        sunzi.Context.for_depth(1, reencryptions=ROOM)
    keys = sunzi.keygen(sunzi.Context.for_depth(1, security=0, log2_degree=10), rotations=[])
    with pytest.raises(errors.WrongScheme, match="decrypt_for_sharing"):
        sunzi.ReencryptionPublicKey.generate(keys)
    context = context_of("bfv")
    key = key_between(sunzi.keygen(context, rotations=[]), sunzi.keygen(context, rotations=[]))
    with pytest.raises(errors.WrongScheme):
        key.apply(keys.encrypt([0.5]))
    with pytest.raises(TypeError, match="EncryptedArray"):
        key.apply([1])  # type: ignore[call-overload]


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
def test_results_of_programs_on_tables(scheme: Exact, tmp_path: Path) -> None:
    schema = tables.Schema(4, {"age": tables.integer(0, 120), "cost": tables.decimal(0, 99.99, decimals=2)})
    program = tables.Program("sum(cost); sum(age * cost); age + age", schema)
    plan = program.plan(scheme=scheme, reencryptions=ROOM)
    table = {"age": [18, 65, 30, 41], "cost": [1.5, 20, 0, 99.99]}
    alice, bob, carol = (plan.keygen() for _ in range(3))
    own = plan.compute(alice, plan.encrypt(alice, table))
    key = sunzi.ReencryptionKey.generate(alice, sunzi.ReencryptionPublicKey.generate(bob), ledger=tmp_path / "a.sz", **COUNTS)
    expected = plan.decrypt(alice, own)
    handed_on = key.apply(own, further=1)
    opened = plan.decrypt(bob, tables.Results.from_bytes(handed_on.to_bytes()))
    assert float(opened["sum(cost)"]) == float(expected["sum(cost)"]) == 121.49  # type: ignore[arg-type]
    assert opened["sum(age * cost)"] == expected["sum(age * cost)"]
    np.testing.assert_array_equal(np.asarray(opened["age + age"]), 2 * np.array(table["age"]))
    assert key.used == 3
    with pytest.raises(errors.SunziError, match="key"):
        plan.decrypt(alice, handed_on)
    public = sunzi.ReencryptionPublicKey.generate(carol)
    read = sunzi.ReencryptionPublicKey.from_bytes(public.to_bytes(), bob)
    second = sunzi.ReencryptionKey.generate(bob, read, ledger=tmp_path / "b.sz", **COUNTS)
    second = sunzi.ReencryptionKey.from_export(second.export(), bob.public, tmp_path / "b.sz")
    last = second.apply(handed_on)
    assert plan.decrypt(carol, last)["sum(cost)"] == expected["sum(cost)"]
    with pytest.raises(errors.ReencryptionRoom, match="number 3"):
        key_between(carol, alice).apply(last)
    # Under another key, under that of the new owner already, and from tables that do not fill the slots.
    for wrong in (last, handed_on):
        with pytest.raises(errors.Mismatch, match="key of the results"):
            key.apply(wrong)
    short = program.plan(keys=alice)
    with pytest.raises(errors.Mismatch, match="slots"):
        key.apply(short.compute(alice, short.encrypt(alice, table)))
    assert key.used == 3
    with pytest.raises(TypeError, match="arrays"):
        key_between(*(sunzi.keygen(context_of("bfv"), rotations=[]) for _ in range(2))).apply(own)
    with pytest.raises(errors.Refused, match="no re-encryption"):
        program.plan(scheme="ckks", reencryptions=ROOM)
    with pytest.raises(errors.MissingKey):
        sunzi.ReencryptionPublicKey.generate(bob.public)
