"""Every refusal has a class and says what to do; nothing panics."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Party, numbers

import sunzi
from sunzi import errors

#: Error types of the library that Python never meets, or, of several parties, by classes of other names (test_parties.py).
ELSEWHERE = {"BenchError", "RivalError", "ReproError", "ClearError", "ClearRealsError", "RegressionError", "RetrievalError", "IntersectionError", "NearestError", "OprfError", "LogError", "PartiesError", "ServiceError"}
#: Variants that only pass on an error of a layer below.
WRAPPERS = {"Bfv", "Bgv", "Bootstrap", "Ckks", "Encoder", "Encoding", "Intersection", "Kernel", "Math", "Moduli", "Oprf", "Program", "Retrieval", "Rlwe", "Ring", "Scheme", "Segment", "Series", "Statistics", "Transform", "Wire"}


def test_every_variant_has_a_class() -> None:
    crates = Path(__file__).resolve().parents[2] / "crates"
    if not crates.is_dir():
        pytest.skip("only in the repository")
    found = 0
    for path in crates.glob("*/src/**/*.rs"):
        for name, body in re.findall(r"pub enum (\w*Error)\b[^{]*\{(.*?)\n\}", path.read_text(), re.S):
            if name in ELSEWHERE:
                continue
            # What the package is built without.
            body = re.sub(r"#\[cfg\(feature.*\n(\s*#\[.*\n)*\s*\w+", "", body)
            for variant in re.findall(r"^    (\w+)\s*[{(,]", body, re.M):
                if variant not in WRAPPERS:
                    assert issubclass(getattr(errors, variant), sunzi.SunziError), f"{name}::{variant}"
                    found += 1
    assert found > 100


def test_parameters() -> None:
    with pytest.raises(errors.NothingFits, match="2\\^10"):
        sunzi.Context.for_depth(9, log2_degree=10)
    with pytest.raises(errors.Request):
        sunzi.Context.for_depth(1000)
    with pytest.raises(errors.ParameterError):
        sunzi.Context.for_depth(1, bound=-1)
    with pytest.raises(TypeError, match="additions"):
        sunzi.Context.for_depth(1, additions=3)
    with pytest.raises(ValueError, match="128, 192 or 256"):
        sunzi.Context.for_depth(1, security=100)
    with pytest.raises(errors.WrongScheme):
        sunzi.Context.for_depth(1, dtype=int, scheme="ckks")
    with pytest.raises(TypeError):
        sunzi.Context.for_depth(1, dtype=str)
    with pytest.raises(errors.Insecure):
        large = sunzi.Context.for_depth(1, security=0, log2_degree=10)
        sunzi.Context.explicit("ckks", 10, large.moduli, special_moduli=large.special_moduli, scale_bits=35)
    with pytest.raises(OverflowError):
        sunzi.Context.for_depth(-1)
    with pytest.raises(errors.UnknownSet):
        sunzi.Context.for_bootstrapping("none")
    assert "n" in sunzi.Context.explain(1)
    # A plaintext modulus counts, and not the usual range of results.
    exact: dict[str, Any] = {"plain_modulus": 65537, "security": 0, "log2_degree": 10}
    assert sunzi.Context.for_depth(1, dtype=int, **exact).plain_modulus == 65537
    assert "65537" in sunzi.Context.explain(1, dtype=int, **exact)


def test_computations(reals: Party, integers: Party, levelled: Party) -> None:
    a = reals.encrypt(numbers(reals, 4))
    with pytest.raises(errors.LevelExhausted, match="depth"):
        for _ in range(9):
            a = a * 0.5
    b = integers.encrypt([1, -1, 0, 1])
    with pytest.raises(errors.NoiseExhausted, match="multiply"):
        for _ in range(9):
            b = b * b
        integers.keys.decrypt(b)
    c = levelled.encrypt([1, -1, 0, 1])
    with pytest.raises(errors.DepthExceeded):
        c**8
    with pytest.raises(errors.NoiseError):
        c**8
    with pytest.raises(ArithmeticError):
        c**8


def test_operands(reals: Party, integers: Party) -> None:
    a, b = reals.encrypt([1.0, 2.0]), integers.encrypt([1, 2])
    mixed: list[Callable[[], object]] = [lambda: a + b, lambda: b * 0.5, lambda: b.apply(abs, (0, 1)), lambda: integers.encrypt([0.5])]
    for wrong in mixed:
        with pytest.raises(errors.WrongScheme):
            wrong()
    with pytest.raises(errors.MessageBound, match="message_bits"):
        reals.encrypt([100.0])
    with pytest.raises(errors.ValueOutOfRange):
        integers.encrypt([2**40])
    with pytest.raises(errors.NotFinite):
        reals.encrypt([np.nan])
    with pytest.raises(OverflowError):
        integers.encrypt(np.array([2**63], dtype=np.uint64))
    with pytest.raises(errors.ShapeError):
        reals.encrypt([])
    with pytest.raises(errors.ShapeError):
        a @ np.ones(3)
    with pytest.raises(ValueError, match="broadcast"):
        a + np.ones(3)
    half: Any = 0.5
    senseless: list[Callable[[], object]] = [lambda: a**half, lambda: b / b, lambda: b / 0, lambda: len(a.sum())]
    for nonsense in senseless:
        with pytest.raises(TypeError):
            nonsense()
    other = sunzi.keygen(reals.context, rotations=[1])
    with pytest.raises(errors.KeyMismatch):
        a + other.encrypt([1.0, 2.0])
    with pytest.raises(errors.KeyMismatch):
        other.decrypt(a)
    with pytest.raises(errors.MissingRotation, match="rotation by"):
        other.encrypt(np.ones(8)).rotate(2)
    plain = sunzi.keygen(reals.context, rotations=[], products=False)
    c = plain.encrypt([1.0])
    with pytest.raises(errors.MissingRelinearizationKey):
        c * c
    with pytest.raises(errors.MissingKeyError):
        c.bootstrap()


def test_bytes(reals: Party, integers: Party) -> None:
    data = reals.encrypt([1.0]).ciphertexts[0].to_bytes()
    load = sunzi.lowlevel.Ciphertext.from_bytes
    native = reals.context.lowlevel
    for wrong, kind in [
        (data[:-1], errors.Truncated),
        (data + b"x", errors.Trailing),
        (b"x" + data[1:], errors.Magic),
        (data[:100] + bytes([data[100] ^ 1]) + data[101:], errors.FormatError),
        (b"", errors.Truncated),
        (integers.encrypt([1]).ciphertexts[0].to_bytes(), errors.Kind),
    ]:
        with pytest.raises(kind):
            load(native, wrong)
    with pytest.raises(errors.FormatError):
        sunzi.Context.from_bytes(data)


def test_parameters_without_security_are_asked_for_by_name() -> None:
    made = sunzi.Context.for_depth(1, dtype=int, scheme="bgv", result_bound=100, security=0, log2_degree=10)
    data, pickled, native = made.to_bytes(), pickle.dumps(made), pickle.dumps(made.lowlevel)
    assert made.security == 0
    # What is in use here came in by its name.
    assert pickle.loads(pickled) is made and sunzi.lowlevel.Context is type(pickle.loads(native))
    del made
    loads: list[Callable[[], object]] = [
        lambda: sunzi.Context.from_bytes(data),
        lambda: sunzi.lowlevel.Context.from_bytes(data),
        lambda: sunzi.lowlevel.Context.all_from_bytes(data),
        lambda: pickle.loads(pickled),
        lambda: pickle.loads(native),
    ]
    for load in loads:
        with pytest.raises(errors.Insecure, match="insecure_for_research_only"):
            load()
    for load in loads[:1] + loads[3:]:
        with sunzi.insecure_for_research_only():
            load()
        with pytest.raises(errors.Insecure):
            load()
    assert sunzi.Context.from_bytes(data, insecure_for_research_only=True).security == 0
    assert sunzi.lowlevel.Context.from_bytes(data, insecure_for_research_only=True).security == 0
    secure = sunzi.Context.for_depth(1, dtype=int, result_bound=100)
    assert sunzi.Context.from_bytes(secure.to_bytes()).security == 128


def test_contexts_are_one_for_equal_parameters(reals: Party) -> None:
    twin = sunzi.Context.from_bytes(reals.context.to_bytes(), insecure_for_research_only=True)
    assert twin is reals.context and twin == reals.context and hash(twin) == hash(reals.context)
    with pytest.raises(TypeError):
        sunzi.Context()
    with pytest.raises(TypeError):
        sunzi.EncryptedArray()
