"""Numbers to ciphertexts and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional, Protocol, Union

import numpy as np
import numpy.typing as npt

from . import _native
from ._context import Context
from ._known import Known, of_numbers
from ._layout import period_of, signed
from .errors import OutsideBounds, ShapeError, WrongScheme

if TYPE_CHECKING:
    from ._array import EncryptedArray
    from ._keys import PublicKeys

Encryptor = Union[_native.SecretKey, _native.PublicKey]


def encoded(
    context: Context, values: npt.NDArray[Any], slots: int, level: int | None, scale: float | None = None
) -> _native.Plaintext:
    """Numbers of one ciphertext; those that are missing are 0."""
    native = context.lowlevel
    if not context.is_real:
        return native.encode_integers(values, slots)
    if values.dtype.kind == "c":
        return native.encode_complex(values.astype(np.complex128, copy=False), slots, level, scale)
    return native.encode_reals(values, slots, level, scale)


#: Between what numbers lie.
Bounds = tuple[float, float]


def checked_bounds(low: float, high: float) -> Bounds:
    """Bounds that can be: two numbers, the lower one first."""
    least, most = float(low), float(high)
    if not (math.isfinite(least) and math.isfinite(most) and least <= most):
        raise OutsideBounds(f"bounds of ({low}, {high}): give two finite numbers, the lower one first")
    return least, most


def _declared(array: npt.NDArray[Any], bounds: Optional[Bounds]) -> Known:
    """What is known of fresh numbers; fails where a number lies outside of its declared bounds."""
    if bounds is None:
        return Known() if array.dtype.kind != "i" else Known(seen=of_numbers(array).range)
    low, high = checked_bounds(*bounds)
    if array.dtype.kind == "c":
        raise TypeError("bounds of complex numbers: they have no order, encrypt real and imaginary parts")
    outside = np.flatnonzero((array < low) | (array > high))
    if outside.size:
        place = int(outside[0])
        number = array.reshape(-1)[place]
        raise OutsideBounds(f"number {place} is {number}, and {low:g} to {high:g} are declared: correct the numbers or the bounds")
    return Known(low, high)


def narrowed(chunks: Sequence[_native.Ciphertext], bound: float) -> list[_native.Ciphertext]:
    """The ciphertexts with this bound on their slots, where it is tighter than their own: products then know that they fit their modulus."""
    if not 0 < bound < math.inf:
        return list(chunks)
    return [one if one.magnitude is None or one.magnitude <= bound else one.with_magnitude(bound) for one in chunks]


def encrypted(
    context: Context,
    values: npt.ArrayLike,
    key: Encryptor,
    level: int | None,
    keys: PublicKeys,
    bounds: Optional[Bounds] = None,
) -> EncryptedArray:
    """Encrypts an array of any shape."""
    from ._array import EncryptedArray

    if isinstance(values, EncryptedArray):
        raise TypeError("the array is encrypted already: compute with it, or open it with keys.decrypt(array)")
    array, key = np.asarray(values), context._bound(key)
    if context.is_real:
        if array.dtype.kind not in "iubfc":
            raise TypeError(f"an array of {array.dtype}: give real or complex numbers")
        array = array if array.dtype.kind == "c" else array.astype(np.float64, copy=False)
        level = context.depth if level is None else level
    else:
        if array.dtype.kind not in "iub":
            raise WrongScheme(f"an array of {array.dtype} in a context of integers: round it, or take a context with dtype=float")
        array = signed(array)
    if array.size == 0:
        raise ShapeError("an array without numbers: there is nothing to encrypt")
    known, most = _declared(array, bounds), context._message_bound
    if most is not None and array.dtype.kind == "f" and most < np.abs(array).max() <= most * (1 + 2.0**-50):
        # Rounded beyond the bound of messages, which encryption allows: by less than its own rounding.
        array = np.clip(array, -most, most)
    flat, period = array.reshape(-1), period_of(context, array.size)
    parts = (flat[start : start + period] for start in range(0, flat.size, period))
    chunks = [key.encrypt(encoded(context, part, period, level)) for part in parts]
    if bounds is not None and context.is_real:
        # What was declared is checked and in the bytes, so it may stand for the bound of all messages.
        chunks = narrowed(chunks, known.most)
    return EncryptedArray._make(context, chunks, array.shape, period, 0, array.dtype, keys, known=known)


class Sharer:
    """Opens ciphertexts for others to see, in the place of the secret key."""

    def __init__(self, secret: _native.SecretKey, ledger: _native.SharingLedger, noise: float) -> None:
        self.secret, self.ledger, self.noise = secret, ledger, noise

    def within(self, context: _native.Context) -> Sharer:
        return Sharer(self.secret.within(context), self.ledger, self.noise)

    def decrypt(self, ciphertext: _native.Ciphertext) -> _native.Plaintext:
        return self.ledger.decrypt(ciphertext, self.secret, self.noise)


class Opener(Protocol):
    """What opens a ciphertext."""

    def decrypt(self, ciphertext: _native.Ciphertext, /) -> _native.Plaintext: ...


def decrypted(array: EncryptedArray, secret: Opener) -> npt.NDArray[Any]:
    """Opens an array."""
    opened = _opened(array, secret)
    if opened.dtype.kind == "O":
        opened = _narrow(opened)
    return opened / array._divisor if array._divisor != 1 else opened


def residues(array: EncryptedArray, secret: Opener) -> npt.NDArray[Any]:
    """Opens an array of integers to numbers from 0 to t − 1, t the plaintext modulus: Python integers where numpy has none so wide. A divisor stays behind."""
    t = array._context.plain_modulus or 1
    opened = _opened(array, secret) % t
    return opened.astype(np.int64 if t <= 2**63 else np.uint64) if t <= 2**64 else opened


def _opened(array: EncryptedArray, secret: Opener) -> npt.NDArray[Any]:
    """The numbers in the ciphertexts of an array: those of several plaintext moduli are Python integers."""
    native, parts, key = array._context.lowlevel, [], array._context._bound(secret)
    for chunk in array._chunks:
        plaintext = key.decrypt(chunk)
        if not array._context.is_real:
            slots: npt.NDArray[Any] = native.decode_integers(plaintext)
        elif array._dtype.kind == "c":
            slots = native.decode_complex(plaintext)
        else:
            slots = native.decode_reals(plaintext)
        # Fewer slots than a period repeat in it.
        parts.append(slots[: array._period] if slots.size >= array._period else np.resize(slots, array._period))
    flat = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return flat[: array.size].reshape(array._shape)


def _narrow(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Integers of several plaintext moduli, which may be wider than numpy's."""
    if not -(2**63) <= values.min() or not values.max() < 2**63:
        raise OverflowError("a result beyond 64 bits: numpy has no such integers, compute with smaller ones")
    return values.astype(np.int64)
