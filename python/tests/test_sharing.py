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
    noise = keys.public.encrypt(x) * 3
    opened = keys.decrypt_for_sharing(theirs, ledger, noise=noise)
    np.testing.assert_allclose(opened, 3 * x, atol=1e-3)
    assert ledger.used == 1 and ledger.queries == 3 and "1 of 3" in repr(ledger)
    # It counts on the disk, whoever opens it.
    again = keys.ledger(tmp_path / "ledger", queries=3, statistical_bits=20)
    keys.decrypt_for_sharing(own, again, noise=noise.ciphertexts[0].noise)
    keys.decrypt_for_sharing(own, again, noise=noise)
    with pytest.raises(errors.SharingSpent):
        keys.decrypt_for_sharing(own, again, noise=noise)
    with pytest.raises(errors.Sharing, match="promises"):
        keys.ledger(tmp_path / "ledger", queries=4, statistical_bits=20)
    memory = keys.ledger()
    with pytest.raises(errors.NoiseDeclaredTooLow):
        keys.decrypt_for_sharing(theirs, memory, noise=1.0)
    with pytest.raises(errors.SharingRoom):
        keys.decrypt_for_sharing(theirs, memory, noise=500.0)
    assert memory.used == 0
    with pytest.raises(errors.SharingError):
        keys.ledger(queries=0)


@pytest.mark.parametrize(("dtype", "scheme"), [(float, None), (int, "bfv"), (int, "bgv")])
def test_room_for_sharing(dtype: type, scheme: str | None) -> None:
    """At the end of the depth that was asked for, with the precision that was asked for."""
    bits = 10 if dtype is float else 40
    asked = {"dtype": dtype, "scheme": scheme, "precision": 10, "result_bound": 1000, "sums": 0, "plain_products": 0}
    context = sunzi.Context.for_depth(2, sharing=(16, bits), **asked)
    keys = sunzi.keygen(context, rotations=[])
    x = np.array([1, 0, -1]) if dtype is int else np.array([0.5, 1.0, -0.25])
    results = [keys.public.encrypt(x) for _ in range(2)]
    theirs, own = (result * result * (result * result) for result in results)
    ledger = keys.ledger(queries=16, statistical_bits=bits)
    opened = keys.decrypt_for_sharing(theirs, ledger, noise=own)
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
    theirs, own = (square_and_sum(keys.public.encrypt(x)) for _ in range(2))
    ledger = keys.ledger(queries=policy[0], statistical_bits=policy[1])
    for name, expected in (("square", x**2), ("sum", (x**2).sum())):
        opened = keys.decrypt_for_sharing(theirs[name], ledger, noise=own[name])
        np.testing.assert_allclose(opened, expected, rtol=0, atol=plan.error)
    # Without the room that was asked for there is none.
    tight = square_and_sum.plan(x, precision=10, scheme=scheme).context
    with pytest.raises(errors.SharingRoom):
        square_and_sum.plan(x, context=tight, sharing=policy)
