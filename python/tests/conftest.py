"""Contexts and keys that many tests share: small, and without any security."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, Union

import numpy as np
import numpy.typing as npt
import pytest
from serving import Making, Server, making, serving

import sunzi


def record(row: int, what: str, value: float, most: float, cases: int) -> None:
    """Notes a figure of the table of reliability, as the tests in Rust do, and checks its bar."""
    figure = {"row": row, "what": what, "value": value, "bar": {"at_most": most}, "cases": cases, "of": cases}
    path = os.environ.get("SUNZI_FIGURES")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps({**figure, "holds": value <= most}) + "\n")
    assert value <= most, figure


class Party:
    """A context, its keys, and how close results must be."""

    def __init__(self, context: sunzi.Context) -> None:
        self.context = context
        self.keys = sunzi.keygen(context)

    def encrypt(self, values: npt.ArrayLike, bounds: tuple[float, float] | None = None) -> sunzi.EncryptedArray:
        return self.keys.encrypt(values, bounds=bounds)

    def check(self, array: sunzi.EncryptedArray, expected: object, tolerance: float = 1e-4) -> None:
        """Decrypts and compares, shape and type included."""
        opened = self.keys.decrypt(array)
        wanted = np.asarray(expected)
        assert opened.shape == wanted.shape == array.shape
        assert opened.dtype == array.dtype
        if opened.dtype.kind == "i":
            np.testing.assert_array_equal(opened, wanted)
        else:
            np.testing.assert_allclose(opened, wanted, rtol=0, atol=tolerance)


@pytest.fixture(scope="session")
def reals() -> Party:
    """512 slots, 6 levels."""
    context = sunzi.Context.for_depth(6, bound=8, result_bound=2**16, precision=18, security=0, log2_degree=10)
    return Party(context)


@pytest.fixture(scope="session")
def integers() -> Party:
    """BFV of 1024 slots."""
    context = sunzi.Context.for_depth(2, dtype=int, sums=10, plain_products=2, result_bound=2**24, security=0, log2_degree=10)
    return Party(context)


@pytest.fixture(scope="session")
def levelled() -> Party:
    """BGV of 1024 slots."""
    context = sunzi.Context.for_depth(2, dtype=int, scheme="bgv", sums=15, plain_products=2, result_bound=2**24, security=0, log2_degree=10)
    return Party(context)


@pytest.fixture(params=["reals", "integers", "levelled"])
def party(request: pytest.FixtureRequest) -> Party:
    """Each of the three schemes."""
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Party)
    return found


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of the command line."""
    with serving(tmp_path_factory.mktemp("server")) as started:
        yield started


@pytest.fixture(params=["sync", "async"])
def make(request: pytest.FixtureRequest) -> Iterator[Making]:
    """Makes clients of each kind, all of whose calls wait."""
    pytest.importorskip("httpx")
    yield from making(str(request.param))


def numbers(party: Party, shape: Union[int, tuple[int, ...]], seed: int = 1) -> npt.NDArray[Any]:
    """Small numbers of the party's kind, both signs."""
    rng = np.random.default_rng(seed)
    if party.context.is_real:
        return np.asarray(rng.uniform(-2, 2, shape))
    return np.asarray(rng.integers(-9, 10, shape))
