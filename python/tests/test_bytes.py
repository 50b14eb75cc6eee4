"""Bytes from anybody: what ``to_bytes`` writes is read again, and everything else is refused by name, without code of the sender and without memory that it asks for."""

from __future__ import annotations

import math
import pickle
import pickletools
import struct
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Party, numbers

import sunzi
from sunzi import EncryptedArray, Plan, PublicKeys, _native, _wire, errors, ml

#: Damaged copies that are tried of each object.
ROUNDS = 400
GOLDEN = Path(__file__).resolve().parent / "golden"


@pytest.fixture(scope="module")
def wide() -> sunzi.Keys:
    """Integers of 64 bits: several plaintext moduli."""
    return sunzi.keygen(sunzi.Context.for_depth(1, dtype=int, result_bound=2**63 - 1, sums=4, security=0, log2_degree=10))


@sunzi.program
def score(x: EncryptedArray, w: EncryptedArray) -> Any:
    y = (x * w + np.arange(4))[::-1]
    return {"sum": y.sum(), "parts": [y.polyval([1, -1, 1]), (x - 2 * w, y.rotate(1))]}


@pytest.fixture(scope="module")
def plan() -> Plan:
    found: Plan = score.plan(sunzi.Like((4,), int, 9), sunzi.Like((4,), int, 9), security=0, log2_degree=10)
    return found


def again(party: Party, array: EncryptedArray) -> EncryptedArray:
    return EncryptedArray.from_bytes(array.to_bytes(), party.keys)


# What is written is read.


@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (1500,)])
def test_arrays_come_back(party: Party, shape: tuple[int, ...]) -> None:
    x = numbers(party, shape)
    a = party.encrypt(x)
    back = again(party, a)
    party.check(back, x)
    assert back.keys is party.keys.public and back.shape == a.shape and back.dtype == a.dtype and back.bounds == a.bounds
    party.check(back.declared(-9, 9) * a + 1, x * x + 1)
    # Padding that is not 0, quotients and bounds go along.
    moved = (a + 3) * 2
    party.check(again(party, moved).sum(), ((x + 3) * 2).sum(), 1e-2)
    if shape:
        party.check(again(party, a.mean()) - 1, np.asarray(x.mean() - 1))
    assert EncryptedArray.from_bytes(bytearray(a.to_bytes()), party.context).keys is None


def test_what_is_known_of_numbers_goes_along(reals: Party, integers: Party) -> None:
    a = reals.encrypt([0.5, 0.25], bounds=(0, 1)).apply(np.exp, degree=5)
    back = again(reals, a)
    assert back.bounds == a.bounds and back.error == a.error
    doubtful = reals.encrypt([0.5], bounds=(0, 1)).apply(lambda v: v * v, (0, 1), degree=3)
    with pytest.raises(errors.NotProved, match="lambda"):
        _ = again(reals, doubtful).error
    assert again(reals, reals.encrypt([1j])).dtype == np.complex128
    b = integers.encrypt([3, 5], bounds=(0, 9))
    assert again(integers, b * b).bounds == (0, 81)


def test_bytes_tell_nothing_of_numbers_that_were_not_declared(integers: Party) -> None:
    """What this process saw of its own numbers bounds them here, and nowhere else."""
    large = integers.encrypt([60000, 60000])
    with pytest.raises(errors.RangeExceeded):
        large * large
    back = again(integers, large)
    assert back._known.seen is None and back.bounds == large.bounds
    with pytest.raises(errors.RangeExceeded, match="others"):
        back * back
    assert pickle.loads(pickle.dumps(large))._known.seen is None


def test_wide_integers_come_back(wide: sunzi.Keys) -> None:
    x = np.array([2**62, -7, 3])
    a = wide.encrypt(x)
    for owner in (wide, wide.public, wide.context):
        np.testing.assert_array_equal(wide.decrypt(EncryptedArray.from_bytes(a.to_bytes(), owner)), x)
    shifted = (a + 2**61)[:2] - 2**61
    np.testing.assert_array_equal(wide.decrypt(EncryptedArray.from_bytes(shifted.to_bytes(), wide)), x[:2])
    keys = PublicKeys.from_bytes(wide.public.to_bytes())
    np.testing.assert_array_equal(wide.decrypt(keys.encrypt(x)), x)
    assert keys.context is wide.context


def test_public_keys_come_back(party: Party) -> None:
    x, data = numbers(party, 6), party.keys.public.to_bytes()
    keys = PublicKeys.from_bytes(data, context=party.context)
    assert keys.id == party.keys.id and keys.exponents == party.keys.public.exponents and keys.context is party.context
    party.check(keys.encrypt(x) * party.encrypt(x), x * x)
    few = sunzi.keygen(party.context, rotations=[], products=False)
    assert PublicKeys.from_bytes(few.public.to_bytes()).exponents == {1}
    with pytest.raises(TypeError, match=r"export_secret"):
        party.keys.to_bytes()
    assert party.keys.export_secret() not in data


def test_contexts_of_bootstrapping_come_back() -> None:
    context = sunzi.Context.for_bootstrapping("insecure-10")
    data, parameters = context.to_bytes(), context._bytes
    with pytest.raises(errors.Insecure):
        sunzi.Context.from_bytes(data)
    back = sunzi.Context.from_bytes(data, insecure_for_research_only=True)
    assert back is context and back.depth == context.depth
    # The same parameters without the name of the set serve single ciphertexts.
    assert sunzi.Context.from_bytes(parameters, insecure_for_research_only=True).depth != context.depth
    fields = _wire.Fields()
    fields.text("none")
    with pytest.raises(errors.UnknownSet):
        sunzi.Context.from_bytes(_wire.packed(_wire.BOOTSTRAP_CONTEXT, fields.to_bytes(), [parameters]), insecure_for_research_only=True)
    keys = sunzi.keygen(context, bootstrap_slots=16)
    public = PublicKeys.from_bytes(keys.public.to_bytes())
    x = np.linspace(0, 1, 16)
    fresh = EncryptedArray.from_bytes(keys.encrypt(x, level=0).to_bytes(), public).bootstrap()
    np.testing.assert_allclose(keys.decrypt(fresh), x, atol=1e-3)


def test_tables_to_train_on_come_back(reals: Party) -> None:
    digits = sunzi.keygen(sunzi.Context.for_bootstrapping("insecure-8-integer"))
    small = digits.encrypt_integers([[1, 2, 3]], dtype=np.uint8)
    table = ml.EncryptedTable((reals.encrypt(np.zeros((4, 8))), reals.encrypt(np.zeros((4, 8)))), 7, 2)
    back = ml.EncryptedTable.from_bytes(table.to_bytes(), reals.keys)
    assert (back.rows, back.features, back.width, back.blocks[1].keys) == (7, 2, 4, reals.keys.public)
    for wrong in (ml.EncryptedTable(table.blocks, 9, 2), ml.EncryptedTable(table.blocks, 7, 3)):
        with pytest.raises(errors.Value, match="rows and features"):
            ml.EncryptedTable.from_bytes(wrong.to_bytes(), reals.keys)
    with pytest.raises(errors.Kind, match="expected an encrypted table to train on, got an encrypted array"):
        ml.EncryptedTable.from_bytes(table.blocks[0].to_bytes(), reals.keys)


# Programs.


def test_a_plan_runs_elsewhere(plan: Plan) -> None:
    x, w = np.array([1, -2, 3, 9]), np.array([4, 5, -6, 7])
    data = plan.to_bytes()
    assert b"test_bytes" not in data and b"score" not in data
    elsewhere = Plan.from_bytes(data)
    assert elsewhere.context is plan.context and elsewhere.rotations == plan.rotations and elsewhere.depth == plan.depth
    assert elsewhere.bits_left == plan.bits_left and elsewhere.key_bytes == plan.key_bytes and "read from bytes" in repr(elsewhere)
    owner = plan.keygen()
    server = PublicKeys.from_bytes(owner.public.to_bytes())
    sent = [array.to_bytes() for array in elsewhere.encrypt(owner, x, w)]
    result = elsewhere.compute(*(EncryptedArray.from_bytes(one, server) for one in sent))
    y = (x * w + np.arange(4))[::-1]
    assert int(owner.decrypt(result["sum"])) == y.sum() and isinstance(result["parts"][1], tuple)
    np.testing.assert_array_equal(owner.decrypt(result["parts"][0]), 1 - y + y * y)
    np.testing.assert_array_equal(owner.decrypt(result["parts"][1][0]), x - 2 * w)
    np.testing.assert_array_equal(owner.decrypt(result["parts"][1][1]), np.roll(y, -1))
    # What it gives is what a call of the function gives, to the last bit of what it says of noise.
    called = score(*plan.encrypt(owner, x, w))
    assert called["sum"].bits_left == result["sum"].bits_left and called["sum"].bounds == result["sum"].bounds


def test_a_plan_of_real_numbers_runs_elsewhere() -> None:
    matrix = np.array([[0.5, -0.25, 1.0], [0.0, 0.125, -1.0]])
    logistic = sunzi.program(lambda x: ((matrix @ x) * 0.5 + np.array([0.25, 0.5])).apply("sigmoid", degree=5) @ np.ones(2))
    made = logistic.plan(sunzi.Like((3,), bound=1), precision=10, security=0, log2_degree=11)
    back = Plan.from_bytes(made.to_bytes())
    assert back.error == made.error and back.precision == made.precision
    owner, x = made.keygen(), np.array([0.5, -1.0, 0.75])
    expected = (1 / (1 + np.exp(-((matrix @ x) * 0.5 + np.array([0.25, 0.5]))))).sum()
    opened = float(owner.decrypt(back.compute(*back.encrypt(owner, x))))
    assert abs(opened - expected) <= back.error < 0.05


def test_a_plan_computes_what_was_planned_only(plan: Plan) -> None:
    owner = plan.keygen()
    x = np.array([1, 2, 3, 4])
    a, b = plan.encrypt(owner, x, x)
    cases: list[tuple[tuple[Any, ...], type[Exception]]] = [
        ((a,), TypeError),
        ((a, x), TypeError),
        ((a, b[:3]), errors.ShapeError),
        ((a, owner.encrypt(x)), errors.OutsideBounds),
        ((a, b / 2), errors.ShapeError),
        ((a.reshape(2, 2), b), errors.ShapeError),
    ]
    for wrong, kind in cases:
        with pytest.raises(kind):
            plan.compute(*wrong)
    with pytest.raises(errors.ShapeError):
        plan.encrypt(owner, x, x[:2])
    with pytest.raises(errors.OutsideBounds):
        plan.encrypt(owner, x, x * 9)
    with pytest.raises(errors.MissingKey, match="with_keys"):
        plan.compute(*(EncryptedArray.from_bytes(one.to_bytes(), plan.context) for one in (a, b)))
    other = sunzi.keygen(sunzi.Context.for_depth(1, dtype=int, security=0, log2_degree=11))
    with pytest.raises(errors.WrongScheme):
        plan.compute(a, other.encrypt(x, bounds=(-9, 9)))
    with pytest.raises(TypeError, match=r"plan\(\.\.\.\)\.to_bytes"):
        score.to_bytes()
    named = sunzi.program(lambda x: {1: x}).plan(sunzi.Like((2,), int, 1), security=0, log2_degree=10)
    with pytest.raises(TypeError, match="names"):
        named.to_bytes()


# What does not belong together.


def test_bytes_of_others_are_refused_by_name(reals: Party, integers: Party) -> None:
    data = integers.encrypt([1, 2]).to_bytes()
    stranger = sunzi.keygen(integers.context, rotations=[])
    with pytest.raises(errors.Key, match=stranger.id[:8]):
        EncryptedArray.from_bytes(data, stranger)
    larger = sunzi.Context.for_depth(1, dtype=int, security=0, log2_degree=11)
    twin = sunzi.Context.for_depth(2, dtype=int, sums=10, plain_products=2, result_bound=2**23, security=0, log2_degree=10)
    for context, kind in ((larger, errors.Parameters), (twin, errors.Parameters), (reals.context, errors.Kind)):
        with pytest.raises(kind):
            EncryptedArray.from_bytes(data, context)
    with pytest.raises(errors.Parameters, match="other parameters"):
        PublicKeys.from_bytes(integers.keys.public.to_bytes(), context=reals.context)
    for read in (
        lambda: EncryptedArray.from_bytes(integers.keys.public.to_bytes(), integers.keys),
        lambda: PublicKeys.from_bytes(data),
        lambda: Plan.from_bytes(data),
        lambda: EncryptedArray.from_bytes(integers.encrypt([1]).ciphertexts[0].to_bytes(), integers.keys),
        lambda: sunzi.Context.from_bytes(data),
    ):
        with pytest.raises(errors.Kind, match="expected"):
            read()
    nonsense: list[tuple[Any, Any]] = [("text", integers.keys), (data, "keys")]
    for wrong, owner in nonsense:
        with pytest.raises(TypeError):
            EncryptedArray.from_bytes(wrong, owner)


def test_keys_without_security_are_asked_for_by_name() -> None:
    keys = sunzi.keygen(sunzi.Context.for_depth(1, dtype=int, result_bound=500, security=0, log2_degree=10), rotations=[])
    data, x = keys.public.to_bytes(), keys.encrypt([3]).to_bytes()
    small = sunzi.program(lambda v: v * v).plan(sunzi.Like((2,), int, 4), security=0, log2_degree=10).to_bytes()
    del keys
    for read in (PublicKeys.from_bytes, Plan.from_bytes):
        with pytest.raises(errors.Insecure, match="insecure_for_research_only"):
            read(data if read == PublicKeys.from_bytes else small)
    public = PublicKeys.from_bytes(data, insecure_for_research_only=True)
    assert EncryptedArray.from_bytes(x, public).key_id == public.id
    assert Plan.from_bytes(small, insecure_for_research_only=True).depth == 1


def test_objects_of_two_keys_are_not_mixed(integers: Party) -> None:
    other = sunzi.keygen(integers.context)
    parts = [integers.encrypt(np.arange(1500)), other.encrypt(np.arange(1500))]
    fields, objects, _ = _wire.unpacked(_wire.ARRAY, parts[0].to_bytes())
    stolen = _wire.unpacked(_wire.ARRAY, parts[1].to_bytes())[1]
    raw = fields.take(fields.left)
    with pytest.raises(errors.MixedKeys):
        EncryptedArray.from_bytes(_wire.packed(_wire.ARRAY, raw, [objects[0], stolen[1]], like=0), integers.keys)
    for few in ([objects[0]], [*objects, objects[0]], []):
        with pytest.raises(errors.Value, match="count of ciphertexts"):
            EncryptedArray.from_bytes(_wire.packed(_wire.ARRAY, raw, few, like=0 if few else None), integers.context)
    fields, objects, _ = _wire.unpacked(_wire.PUBLIC_KEYS, integers.keys.public.to_bytes())
    stolen = _wire.unpacked(_wire.PUBLIC_KEYS, other.public.to_bytes())[1]
    with pytest.raises(errors.MixedKeys):
        PublicKeys.from_bytes(_wire.packed(_wire.PUBLIC_KEYS, fields.take(fields.left), [*objects[:2], *stolen[2:]], like=1))


# Hostile bytes.


def samples(integers: Party, reals: Party, plan: Plan) -> list[tuple[str, bytes, Callable[[bytes], object]]]:
    few = sunzi.keygen(integers.context, rotations=[1])
    elements = sunzi.keygen(sunzi.Context.for_field(1, prime=2, ring_index=255, security=0))
    nibbles = sunzi.keygen(sunzi.Context.for_bootstrapping("insecure-9-table-4"))
    digits = sunzi.keygen(sunzi.Context.for_bootstrapping("insecure-8-integer"))
    small = digits.encrypt_integers([[1, 2, 3]], dtype=np.uint8)
    table = ml.EncryptedTable((reals.encrypt(np.zeros((4, 8))),), 4, 2)
    return [
        ("array", integers.encrypt(np.arange(5)).to_bytes(), lambda data: EncryptedArray.from_bytes(data, integers.keys)),
        ("reals", (reals.encrypt(np.ones(3)) + 1).to_bytes(), lambda data: EncryptedArray.from_bytes(data, reals.context)),
        ("keys", few.public.to_bytes(), lambda data: PublicKeys.from_bytes(data, context=integers.context)),
        ("plan", plan.to_bytes(), Plan.from_bytes),
        ("table", table.to_bytes(), lambda data: ml.EncryptedTable.from_bytes(data, reals.keys)),
        ("elements", elements.encrypt_elements(np.ones((3, 8), dtype=int)).to_bytes(), lambda data: sunzi.FieldArray.from_bytes(data, elements)),
        ("messages", nibbles.encrypt_messages([[1, 2, 3]]).to_bytes(), lambda data: sunzi.MessageArray.from_bytes(data, nibbles)),
        ("digits", small.to_bytes(), lambda data: sunzi.IntegerArray.from_bytes(data, digits)),
        ("conditions", (small < 2).to_bytes(), lambda data: sunzi.ConditionArray.from_bytes(data, digits)),
        ("context", sunzi.Context.for_bootstrapping("insecure-10").to_bytes(), lambda data: sunzi.Context.from_bytes(data, insecure_for_research_only=True)),
    ]


def test_damaged_bytes_are_refused_by_name(integers: Party, reals: Party, plan: Plan) -> None:
    """Every cut, and bits that flip, bytes that are lost and that come in between: with the checksums as they were, nothing but a typed error comes of them."""
    rng = np.random.default_rng(29)
    for name, data, read in samples(integers, reals, plan):
        read(data)
        for end in [*range(0, 200), *(int(cut) for cut in rng.integers(0, len(data), 40))]:
            with pytest.raises(errors.FormatError):
                read(data[:end])
        with pytest.raises(errors.Trailing):
            read(data + b"x")
        for _ in range(ROUNDS // 8):
            place, bit = int(rng.integers(len(data))), 1 << int(rng.integers(8))
            with pytest.raises(errors.FormatError):
                read(data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :])
                raise AssertionError(f"{name}: byte {place} may change")


def resealed(kind: int, fields: bytes, objects: list[bytes]) -> bytes:
    """Bytes with checksums that are right: what an attacker sends."""
    like = next((i for i, one in enumerate(objects) if _wire.key_of(one) is not None), None)
    return _wire.packed(kind, fields, objects, like=like)


def test_fields_of_attackers_are_refused_by_name(integers: Party, reals: Party, plan: Plan) -> None:
    """Fields that anybody may write, with right checksums: an object comes of them, or an error of Sunzi, and never another one."""
    rng = np.random.default_rng(30)
    kinds = {"array": _wire.ARRAY, "reals": _wire.ARRAY, "keys": _wire.PUBLIC_KEYS, "plan": _wire.PLAN, "table": _wire.TABLE, "context": _wire.BOOTSTRAP_CONTEXT}
    kinds["elements"], kinds["messages"] = _wire.ELEMENTS, _wire.MESSAGES
    kinds["digits"], kinds["conditions"] = _wire.INTEGERS, _wire.CONDITIONS
    words = [0, 1, 2, 3, 2**16, 2**31, 2**40, 2**63 - 1, 2**63, 2**64 - 1, *struct.unpack("<4Q", struct.pack("<4d", math.nan, math.inf, -math.inf, 1e300))]
    refused = 0
    for name, data, read in samples(integers, reals, plan):
        fields, objects, _ = _wire.unpacked(kinds[name], data)
        raw = bytearray(fields.take(fields.left))
        for _ in range(ROUNDS):
            changed = bytearray(raw)
            for _ in range(int(rng.integers(1, 4))):
                place = 8 * int(rng.integers(max(len(raw) // 8, 1)))
                if rng.integers(2):
                    changed[place : place + 8] = struct.pack("<Q", words[int(rng.integers(len(words)))])
                else:
                    place = int(rng.integers(len(raw)))
                    changed[place] ^= 1 << int(rng.integers(8))
            if rng.integers(8) == 0:
                del changed[int(rng.integers(len(changed))) :]
            try:
                read(resealed(kinds[name], bytes(changed), objects))
            except errors.SunziError as error:
                assert str(error)
                refused += 1
    assert refused > 3 * ROUNDS


def test_no_memory_is_taken_that_bytes_only_ask_for(integers: Party, plan: Plan) -> None:
    data = integers.encrypt([1]).to_bytes()
    header = _native.header(_wire.ARRAY, 2**40, data[:64])
    lengths = struct.pack("<QQ", 2**20, 2**50)
    long = _native.header(_wire.ARRAY, 24, data[:64]) + _wire._record(lengths)
    many = _native.header(_wire.ARRAY, 24 + 8, data[:64]) + _wire._record(struct.pack("<QQ", 0, 2**50)) + _wire._record(b"")
    shape = _wire.Fields()
    for number in (1, 2**40, 1024):
        shape.word(number)
    huge = _wire.packed(_wire.ARRAY, shape.to_bytes(), [integers.encrypt([1]).ciphertexts[0].to_bytes()], like=0)
    sizes = _wire.Fields()
    sizes.text("")
    for number in (0, 1, 1, 2**39, 0):
        sizes.word(number)
    for bound in (1.0, -1.0, 1.0):
        sizes.double(bound)
    rows = _wire.packed(_wire.PLAN, sizes.to_bytes(), _wire.cut(plan.context._bytes))
    tracemalloc.start()
    try:
        for wrong in (header, header + b"x" * 100, long, many, huge):
            with pytest.raises(errors.FormatError):
                EncryptedArray.from_bytes(wrong, integers.keys)
        with pytest.raises(errors.Value, match="16384 ciphertexts"):
            Plan.from_bytes(rows)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_arguments_of_a_plan_take_memory_by_the_ciphertext(plan: Plan, tmp_path: Path) -> None:
    """1.4 KB of bytes took 273 MiB: a double for each number of an argument, twice."""
    fields = _wire.Fields()
    fields.text("")
    for number in (0, 1, 1, 2**24, 0):
        fields.word(number)
    for bound in (1.0, -1.0, 1.0):
        fields.double(bound)
    # No operation, and an empty list of results.
    for number in (0, 2, 0):
        fields.word(number)
    data = _wire.packed(_wire.PLAN, fields.to_bytes(), _wire.cut(plan.context._bytes))
    assert len(data) < 1500
    (tmp_path / "plan.sz").write_bytes(data)
    script = (
        "import resource, sys, sunzi\n"
        "data, most = open(sys.argv[1], 'rb').read(), lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "sunzi.Context.from_bytes(open(sys.argv[2], 'rb').read(), insecure_for_research_only=True)\n"
        "before = most()\n"
        "plan = sunzi.Plan.from_bytes(data, insecure_for_research_only=True)\n"
        "print(len(plan.steps), most() - before)\n"
    )
    (tmp_path / "context.sz").write_bytes(plan.context.to_bytes())
    run = [sys.executable, "-c", script, str(tmp_path / "plan.sz"), str(tmp_path / "context.sz")]
    steps, grown = map(int, subprocess.run(run, capture_output=True, text=True, check=True).stdout.split())
    # ru_maxrss is in KiB on Linux, in bytes elsewhere.
    assert steps == 2**24 // plan.context.slots and grown < (48 << 10 if sys.platform == "linux" else 48 << 20)


def test_reading_runs_no_code(integers: Party, reals: Party, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither what is written is a pickle, nor is one read where it stands for an object."""

    class Evil:
        def __reduce__(self) -> Any:
            return exec, ("raise SystemExit('code of the sender ran')",)

    for _, data, read in samples(integers, reals, plan):
        with pytest.raises(Exception):  # noqa: B017
            list(pickletools.genops(data))
        monkeypatch.setattr(pickle, "loads", lambda *_: pytest.fail("bytes were unpickled"))
        read(data)
        monkeypatch.undo()
        with pytest.raises(errors.FormatError):
            read(pickle.dumps(Evil()))


def test_golden_bytes_are_read() -> None:
    """Files that an earlier version wrote: later ones read them."""
    keys = PublicKeys.from_bytes((GOLDEN / "keys.sz").read_bytes(), insecure_for_research_only=True)
    owner = sunzi.Keys.from_secret((GOLDEN / "secret.sz").read_bytes(), keys)
    array = EncryptedArray.from_bytes((GOLDEN / "array.sz").read_bytes(), keys)
    assert owner.decrypt(array).tolist() == [[0.5, -1.5, 2.5], [-3.5, 4.5, -5.5]] and array.bounds == (-11, 10)
    golden = Plan.from_bytes((GOLDEN / "plan.sz").read_bytes(), insecure_for_research_only=True)
    x = np.array([1, -2, 3])
    assert owner.decrypt(golden.compute(*golden.encrypt(owner, x))).tolist() == (x * x - 3).tolist()
    # Whatever is read is written as it was.
    for name, made in (("keys", keys), ("array", array), ("plan", golden)):
        assert made.to_bytes() == (GOLDEN / f"{name}.sz").read_bytes(), name
