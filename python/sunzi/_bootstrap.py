"""Bootstrapping of arrays: new levels for their ciphertexts, two at a time where numbers are real."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from . import _native
from .errors import MissingKey

if TYPE_CHECKING:
    from ._array import EncryptedArray


def bootstrapped(
    array: EncryptedArray, rounds: int, pairs: bool | None, progress: Callable[[str, int, int], object] | None
) -> EncryptedArray:
    """The array with new levels; ``progress`` is told how many ciphertexts are done."""
    keys = array._need_keys()
    bootstrapper, bootstrapping = keys.bootstrapper, keys.bootstrapping
    if bootstrapping is None:
        raise MissingKey("there are no bootstrapping keys: take a context from Context.for_bootstrapping")
    if pairs and array._dtype.kind == "c":
        raise TypeError("pairs of complex numbers: two ciphertexts are bootstrapped as one where numbers are real, leave pairs out")
    if pairs and rounds != 1:
        raise ValueError(f"pairs in {rounds} rounds: pairs are bootstrapped in one round, leave pairs or rounds out")
    real = rounds == 1 and array._dtype.kind != "c"
    paired = bootstrapper.slots_to_coeffs_first if pairs is None else pairs
    step, total = 2 if real and paired else 1, len(array._chunks)
    done: list[_native.Ciphertext] = []
    for i in range(0, total, step):
        # Sums over more slots repeat: they are bootstrapped as what they are.
        part = [chunk if chunk.slots <= array._period else chunk.read_as(array._period) for chunk in array._chunks[i : i + step]]
        if len(part) == 2:
            done += bootstrapper.bootstrap_real_pair(part[0], part[1], bootstrapping)
        elif real:
            done.append(bootstrapper.bootstrap_real(part[0], bootstrapping))
        else:
            done.append(bootstrapper.bootstrap(part[0], bootstrapping, rounds=rounds))
        if progress is not None:
            progress("bootstrap", len(done), total)
    known = array._now().doubted("the errors of a bootstrapping are an estimate: take precision, or a context of enough levels")
    return array._like(done, fill=array._fill, known=known)
