"""The same array in another scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ._context import Context
from .errors import PlainModuli, WrongScheme

if TYPE_CHECKING:
    from ._array import EncryptedArray


class Schemes:
    """Changes of scheme of an encrypted array: BFV and BGV are the same polynomials over one ring [KPZ21, app. A]."""

    __slots__ = ()

    def to_bfv(self) -> EncryptedArray:
        """The same integers in BFV, with the ring and the keys they have in BGV; an array of BFV gives itself. Fresh arrays keep their noise, and so do all
        at the highest level; those from lower levels gain as much as the moduli that come back. CKKS is ``errors.WrongScheme``.

        >>> context = sunzi.Context.for_depth(2, dtype=int, scheme="bgv")       # doctest: +SKIP
        >>> keys = sunzi.keygen(context)                                        # doctest: +SKIP
        >>> x = keys.encrypt([1, 2, 3]).to_bfv()                                # doctest: +SKIP
        >>> keys.decrypt((x * x).to_bgv(context))                               # doctest: +SKIP
        array([1, 4, 9])
        """
        array = cast("EncryptedArray", self)
        return _switched(array, array.context.to_bfv())

    def to_bgv(self, context: Context) -> EncryptedArray:
        """The same integers in this context of BGV, under the same keys: the array is one of ``context.to_bfv()``. Noise that grew in BFV takes levels: the array
        has the highest level whose modulus switch makes it small enough. Another ring is ``errors.ContextMismatch``, another plaintext modulus
        ``errors.PlainModuli``, another scheme ``errors.WrongScheme``."""
        if context.scheme != "bgv":
            raise WrongScheme(f"to_bgv takes a context of bgv, and this one is of {context.scheme}: make it with scheme=\"bgv\"")
        return _switched(cast("EncryptedArray", self), context)


def _switched(array: EncryptedArray, context: Context) -> EncryptedArray:
    """In another context, of the other exact scheme."""
    if context == array._context:
        return array
    if array._context._parts != context._parts:
        raise PlainModuli(f"{array._context._parts} plaintext moduli and {context._parts}: make both contexts with the same ones")
    switched = array._like([chunk.switched(context.lowlevel) for chunk in array._chunks], fill=array._fill)
    switched._context, switched._keys = context, None if array._keys is None else array._keys.within(context)
    return switched
