"""Results for somebody else to see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sunzi
from sunzi import errors


@pytest.mark.parametrize("dtype", [float, int])
def test_shared_results(dtype: type, tmp_path: Path) -> None:
    if dtype is float:
        context = sunzi.Context.for_depth(2, precision=40, result_bound=2**12, security=0, log2_degree=10)
    else:
        context = sunzi.Context.for_depth(1, dtype=int, result_bound=1000, margin=90, security=0, log2_degree=10)
    keys = sunzi.keygen(context)
    x = np.array([1, 0, -1]) if dtype is int else np.array([0.5, 1.0, -0.25])
    own, theirs = keys.encrypt(x) * 3, keys.public.encrypt(x) * 3
    ledger = keys.ledger(tmp_path / "ledger", queries=3, statistical_bits=20)
    noise = keys.declared_noise(lambda a: a * 3, x)
    opened = keys.decrypt_for_sharing(theirs, ledger, noise=noise)
    np.testing.assert_allclose(opened, 3 * x, atol=1e-3)
    assert ledger.used == 1 and ledger.queries == 3 and "1 of 3" in repr(ledger)
    # It counts on the disk, whoever opens it.
    again = keys.ledger(tmp_path / "ledger", queries=3, statistical_bits=20)
    keys.decrypt_for_sharing(own, again, noise=float(np.float32(noise + 0.5)))
    keys.decrypt_for_sharing(own, again, noise=noise)
    with pytest.raises(errors.SharingSpent):
        keys.decrypt_for_sharing(own, again, noise=noise)
    with pytest.raises(errors.Sharing, match="promises"):
        keys.ledger(tmp_path / "ledger", queries=4, statistical_bits=20)
    # One ledger a key: not another file, not one in memory, no new one where it was.
    for other in (tmp_path / "other", None):
        with pytest.raises(errors.Ledger, match="one ledger"):
            keys.ledger(other, queries=3, statistical_bits=20)
    (tmp_path / "ledger").rename(tmp_path / "kept")
    with pytest.raises(errors.Ledger, match="is missing"):
        keys.ledger(tmp_path / "ledger", queries=3, statistical_bits=20)
    keys = sunzi.keygen(context)
    theirs = keys.public.encrypt(x) * 3
    memory = keys.ledger()
    assert keys.ledger() is memory
    with pytest.raises(errors.Ledger, match="in memory"):
        keys.ledger(tmp_path / "ledger")
    with pytest.raises(errors.NoiseDeclaredTooLow):
        keys.decrypt_for_sharing(theirs, memory, noise=1.0)
    with pytest.raises(errors.SharingRoom):
        keys.decrypt_for_sharing(theirs, memory, noise=500.0)
    assert memory.used == 0
    with pytest.raises(errors.SharingError):
        sunzi.keygen(context).ledger(queries=0)


def test_an_array_declares_nothing() -> None:
    """Neither its own noise nor that of another: whoever made it says how much it has."""
    context = sunzi.Context.for_depth(1, dtype=int, result_bound=1000, margin=90, security=0, log2_degree=10)
    keys = sunzi.keygen(context)
    ledger = keys.ledger(queries=3, statistical_bits=20)
    theirs, other = keys.public.encrypt([1, 2]) * 3, keys.public.encrypt([3, 4]) * 3
    for array in (theirs, other):
        with pytest.raises(errors.Sharing, match="declared_noise"):
            keys.decrypt_for_sharing(theirs, ledger, noise=array)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a number"):
        keys.decrypt_for_sharing(theirs, ledger, noise="30")  # type: ignore[arg-type]
    assert ledger.used == 0
    noise = keys.declared_noise(lambda a, b: {"sum": a + b, "both": [a, b]}, [0, 0], [0, 0])
    assert noise["sum"] > max(noise["both"])
    with pytest.raises(TypeError, match="encrypted arrays"):
        keys.declared_noise(lambda a: 3, [0])


def test_a_key_from_bytes_has_its_ledger(tmp_path: Path) -> None:
    """It may have shared before: a missing ledger is never a new one."""
    context = sunzi.Context.for_depth(1, dtype=int, result_bound=1000, margin=90, security=0, log2_degree=10)
    keys = sunzi.keygen(context)
    asked = {"queries": 2, "statistical_bits": 20}
    noise = keys.declared_noise(lambda a: a, [0])
    keys.decrypt_for_sharing(keys.public.encrypt([1]), keys.ledger(tmp_path / "ledger", **asked), noise=noise)
    again = sunzi.Keys.from_secret(keys.export_secret(), keys.public)
    for path, reason in ((None, "may have shared"), (tmp_path / "new", "is missing")):
        with pytest.raises(errors.Ledger, match=reason):
            again.ledger(path, **asked)
    ledger = again.ledger(tmp_path / "ledger", **asked)
    assert ledger.used == 1
    other = sunzi.keygen(context)
    with pytest.raises(errors.SunziError, match="belongs to key"):
        other.ledger(tmp_path / "ledger", **asked)


@pytest.mark.parametrize(("dtype", "scheme"), [(float, None), (int, "bfv"), (int, "bgv")])
def test_room_for_sharing(dtype: type, scheme: str | None) -> None:
    """At the end of the depth that was asked for, with the precision that was asked for."""
    bits = 10 if dtype is float else 40
    asked: dict[str, Any] = {"dtype": dtype, "scheme": scheme, "precision": 10, "result_bound": 1000, "sums": 0, "plain_products": 0}
    context = sunzi.Context.for_depth(2, sharing=(16, bits), **asked)
    keys = sunzi.keygen(context, rotations=[])
    x = np.array([1, 0, -1]) if dtype is int else np.array([0.5, 1.0, -0.25])
    fresh = keys.public.encrypt(x)
    theirs = fresh * fresh * (fresh * fresh)
    noise = keys.declared_noise(lambda a: a * a * (a * a), x)
    ledger = keys.ledger(queries=16, statistical_bits=bits)
    opened = keys.decrypt_for_sharing(theirs, ledger, noise=noise)
    np.testing.assert_allclose(opened, x**4, atol=0 if dtype is int else 8 * 2.0**-10)
    assert "16 shared results" in sunzi.Context.explain(2, sharing=(16, bits), **asked)
    with pytest.raises(errors.SharingError):
        sunzi.Context.for_depth(1, sharing=(0, 40))


@sunzi.program
def square_and_sum(x: sunzi.EncryptedArray) -> dict[str, sunzi.EncryptedArray]:
    square = x * x
    return {"square": square, "sum": square.sum()}


@pytest.mark.parametrize(("dtype", "scheme"), [(float, None), (int, "bfv"), (int, "bgv")])
def test_dry_runs_leave_room_for_sharing(dtype: type, scheme: Any) -> None:
    """Everything that comes out can be shared, as precise as the plan says."""
    policy = (16, 10 if dtype is float else 40)
    x = np.array([1, 0, -1, 3]) if dtype is int else np.array([0.5, 1.0, -0.25, 0.0])
    plan = square_and_sum.plan(x, precision=10, scheme=scheme, sharing=policy)
    keys = plan.keygen()
    theirs, noise = square_and_sum(keys.public.encrypt(x)), keys.declared_noise(square_and_sum, x)
    ledger = keys.ledger(queries=policy[0], statistical_bits=policy[1])
    for name, expected in (("square", x**2), ("sum", (x**2).sum())):
        opened = keys.decrypt_for_sharing(theirs[name], ledger, noise=noise[name])
        np.testing.assert_allclose(opened, expected, rtol=0, atol=plan.error)
    # Without the room that was asked for there is none.
    tight = square_and_sum.plan(x, precision=10, scheme=scheme).context
    with pytest.raises(errors.SharingRoom):
        square_and_sum.plan(x, context=tight, sharing=policy)
