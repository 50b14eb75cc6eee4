"""Additive shares on their way back to an encrypted array: each holder encrypts its own under the joint key, and the ciphertexts are added up."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from typing import Optional, Union, cast

import numpy as np
import numpy.typing as npt

from . import _native
from ._array import EncryptedArray
from ._context import Context
from ._crt import CrtCiphertext
from ._encoding import Bounds, checked_bounds, encoded
from ._facts import Shape
from ._keys import PublicKeys
from ._known import BOUNDS, UNDECLARED, Known
from ._layout import period_of
from ._party_answers import HASH, refused_message
from ._party_links import Gathering, Link, Refusals
from ._stored import _parts, _shape_in
from ._wire import SHARE, SHARES, Bytes, FieldReader, Fields, packed, unpacked
from .errors import FormatError, Kind, PartyMissing, PartySetting, RequestRefused, ShapeError, WrongScheme

#: Holders of shares, as many as parties and whoever else has one.
_MOST_HOLDERS = 1025
#: Bytes of the number that tells requests of equal terms apart.
_NONCE = 32


class _Terms:
    """What a request says."""

    def __init__(self, key: str, names: tuple[str, ...], shape: Shape, bounds: Optional[Bounds], purpose: str, nonce: bytes) -> None:
        self.key, self.names, self.shape, self.bounds, self.purpose, self.nonce = key, names, shape, bounds, purpose, nonce

    def to_bytes(self) -> bytes:
        fields = Fields()
        fields.words(self.shape)
        fields.text(self.key)
        fields.word(len(self.names))
        for name in self.names:
            fields.text(name)

        def put(bounds: Bounds) -> None:
            fields.double(bounds[0])
            fields.double(bounds[1])

        fields.optional(self.bounds, put)
        fields.text(self.purpose)
        fields.raw(self.nonce)
        return packed(SHARES, fields.to_bytes(), [])

    @classmethod
    def from_bytes(cls, data: Bytes) -> _Terms:
        fields, _, _ = unpacked(SHARES, data)
        shape, key = _shape_in(fields, "numbers"), fields.text("the key")
        names = tuple(fields.text("a name") for _ in range(fields.word("the count of names", 2, _MOST_HOLDERS)))
        bounds = fields.optional("bounds", lambda: (fields.double("the lower bound"), fields.double("the upper bound")))
        purpose, nonce = fields.text("the purpose"), fields.take(_NONCE)
        fields.finish()
        return cls(key, _checked_names(names), shape, None if bounds is None else checked_bounds(*bounds), purpose, nonce)


def _checked_names(names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise TypeError(f"holders of shares, {names!r}: give a list of names")
    found = tuple(str(name) for name in names)
    if len(set(found)) != len(found) or not 2 <= len(found) <= _MOST_HOLDERS or not all(found):
        raise PartySetting(f"holders of additive shares: expected 2 to {_MOST_HOLDERS} different names, got {', '.join(found) or 'none'}")
    return found


def _check_exact(context: Context) -> None:
    if context.is_real or context.field is not None:
        raise WrongScheme("additive shares modulo t are of integers, in BFV and BGV, and these keys are of other numbers")


def encrypt_share(public: PublicKeys, me: str, request: Bytes, numbers: npt.ArrayLike) -> bytes:
    """The additive share of ``me`` for whoever asked (``Encrypting``), encrypted under the joint key: it may be seen by anybody. ``numbers`` are integers of the shape that the
    request says, of which the residues modulo t count.

    No secret but the share goes into it and nothing is counted. A request for other keys, or of other holders, is ``errors.RequestRefused``; numbers of another shape are
    ``errors.ShapeError``.
    """
    terms, context = _Terms.from_bytes(request), public.context
    _check_exact(context)
    _check_key(terms, public)
    if me not in terms.names:
        raise RequestRefused(f"the request is refused: holders of shares: expected {me}, got {', '.join(terms.names)}")
    values = np.asarray(numbers)
    if values.dtype.kind not in "iubO" or (values.dtype.kind == "O" and not all(isinstance(one, (int, np.integer)) for one in values.reshape(-1))):
        raise TypeError(f"an additive share of {values.dtype}: give integers")
    if values.shape != terms.shape:
        raise ShapeError(f"an additive share of shape {values.shape}: the request is for {terms.shape}")
    t, key = context.plain_modulus or 1, context._bound(public.encryption)
    # Wide ones modulo t first; then as slots have them, from −t/2 on.
    reduced = values.reshape(-1).astype(object) % t
    centred = np.where(reduced > t // 2, reduced - t, reduced)
    if t < 2**63:
        centred = centred.astype(np.int64)
    period = period_of(context, values.size)
    starts = range(0, values.size, period)
    chunks = [key.encrypt(encoded(context, centred[start : start + period], period, None)) for start in starts]
    fields = Fields()
    fields.raw(_digest(request))
    fields.text(me)
    return packed(SHARE, fields.to_bytes(), [part.to_bytes() for chunk in chunks for part in _parts(chunk)], like=0)


def _digest(request: Bytes) -> bytes:
    return hashlib.sha256(bytes(request)).digest()


def _check_key(terms: _Terms, public: PublicKeys) -> None:
    if terms.key != public.id:
        raise RequestRefused(f"the request is refused: the key of the request: expected {public.id}, got {terms.key}")


class Encrypting:
    """Additive shares on their way back to an encrypted array: the request to all who hold one, and their answers, whose sum is the array.

    Each holder encrypts its own share under the joint public key (``Decryptor.encrypt_share``, or ``parties.encrypt_share`` of one that is no party), and nobody learns a share or the numbers. ``public`` are the joint keys,
    ``names`` those of all who hold a share, the one who has the rest of a ``Sharing`` among them; ``shape`` is that of each share, and ``bounds`` promises between what the numbers lie, where they are meant as
    integers between −t/2 and t/2, as ``EncryptedArray.declared``. Without bounds nobody knows them, and products of the array are refused.

    The array has the noise of as many encryptions as there are holders: for what is computed with it declare that of a computation that adds up as many arrays.

    ``Sharing`` has an example. Errors are ``errors.PartySetting`` for names that are no different ones, ``errors.ShapeError`` for a shape without numbers, ``errors.WrongScheme`` for keys of other
    numbers than integers, ``errors.PartyMessage`` for answers that are refused.
    """

    def __init__(
        self, public: PublicKeys, names: Sequence[str], shape: Union[int, Sequence[int]], *, bounds: Optional[Bounds] = None, purpose: str = ""
    ) -> None:
        _check_exact(public.context)
        sizes = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(size) for size in shape)
        if any(size < 1 for size in sizes):
            raise ShapeError(f"additive shares of shape {sizes}: there is nothing to encrypt")
        declared = None if bounds is None else checked_bounds(*bounds)
        terms = _Terms(public.id, _checked_names(names), sizes, declared, purpose, os.urandom(_NONCE))
        self._set(public, terms.to_bytes())

    def _set(self, public: PublicKeys, request: bytes) -> None:
        self._public, self._request, self._terms = public, request, _Terms.from_bytes(request)
        self._answers: dict[str, tuple[bytes, list[_native.Ciphertext]]] = {}

    @classmethod
    def of(cls, public: PublicKeys, request: Bytes) -> Encrypting:
        """That of a request that somebody else made, to look at it, and for those who take the answers."""
        _check_exact(public.context)
        encrypting = cls.__new__(cls)
        encrypting._set(public, bytes(request))
        _check_key(encrypting._terms, public)
        return encrypting

    @property
    def request(self) -> bytes:
        """The request in bytes, for all who hold a share."""
        return self._request

    @property
    def names(self) -> tuple[str, ...]:
        """Those who hold a share."""
        return self._terms.names

    @property
    def shape(self) -> Shape:
        """The shape of each share, and of the array."""
        return self._terms.shape

    @property
    def bounds(self) -> Optional[Bounds]:
        """Between what the numbers lie, by the word of whoever asked."""
        return self._terms.bounds

    @property
    def purpose(self) -> str:
        """What the array is for, in the words of whoever asked."""
        return self._terms.purpose

    @property
    def missing(self) -> tuple[str, ...]:
        """Those whose answers did not come yet."""
        return tuple(name for name in self.names if name not in self._answers)

    def receive(self, sender: str, answer: Bytes) -> bool:
        """Takes the answer of ``sender``, by what the channel says. Whether it counts from now on; one that is refused is ``errors.PartyMessage``, which names the sender."""
        if sender not in self.names:
            raise PartySetting(f"the name of a holder of a share: expected {', '.join(self.names)}, got {sender}")
        data = bytes(answer)
        if sender in self._answers:
            if self._answers[sender][0] == data:
                return False
            raise refused_message(sender, "Conflict", "it differs from the answer that came before")
        self._answers[sender] = data, self._read(sender, data)
        return True

    def _read(self, sender: str, data: bytes) -> list[_native.Ciphertext]:
        """The ciphertexts of an answer."""
        try:
            fields, objects, key = unpacked(SHARE, data)
            digest, name = fields.take(HASH), fields.text("the name of a holder")
            fields.finish()
        except Kind as error:
            raise refused_message(sender, "Kind", str(error)) from error
        except FormatError as error:
            raise refused_message(sender, "Malformed", f"it cannot be read: {error}") from error
        if digest != _digest(self._request):
            raise refused_message(sender, "Session", "it answers another request")
        if name != sender:
            raise refused_message(sender, "OtherSender", f"it is of {name}, by what it says")
        if key != self._public.id:
            raise refused_message(sender, "Content", "it is encrypted under another key")
        count = len(range(0, self._size, self._period)) * self._public.context._parts
        if len(objects) != count:
            raise refused_message(sender, "Length", f"it has {len(objects)} ciphertexts, the shares take {count}")
        try:
            native = self._public.context._contexts
            return [_native.Ciphertext.from_bytes(native[i % len(native)], one) for i, one in enumerate(objects)]
        except FormatError as error:
            raise refused_message(sender, "Content", f"it cannot be read: {error}") from error

    @property
    def _size(self) -> int:
        return int(np.prod(self.shape, dtype=object))

    @property
    def _period(self) -> int:
        return period_of(self._public.context, self._size)

    def encrypted(self) -> EncryptedArray:
        """The array of the sum of all shares, once all answers are there; ``errors.PartyMissing`` names those whose answers are missing.

        A share that its holder encrypted of something else than it should cannot be told, and spoils the numbers.
        """
        if self.missing:
            raise PartyMissing(f"answers are missing, from {', '.join(self.missing)}: ask them to send again")
        first, *others = (self._answers[name][1] for name in self.names)
        sums = list(first)
        for other in others:
            sums = [a.add(b) for a, b in zip(sums, other)]
        context, chunks = self._public.context, sums
        if context._parts > 1:
            parts = (sums[i : i + context._parts] for i in range(0, len(sums), context._parts))
            chunks = [cast(_native.Ciphertext, CrtCiphertext(part)) for part in parts]
        # Nobody declared bounds of what others encrypted, unless the request does.
        known = Known(watch=UNDECLARED) if self.bounds is None else Known(*self.bounds, watch=BOUNDS)
        return EncryptedArray._make(context, chunks, self.shape, self._period, 0, np.dtype(np.int64), self._public, known=known)

    def run(self, link: Link, *, timeout: float = 60.0, refused: Optional[Refusals] = None) -> EncryptedArray:
        """Asks over a link, waits at most ``timeout`` seconds for the answers that are missing, and gives the array. The own answer is given by ``receive`` before."""
        for name in self.missing:
            link.send_to(name, self.request)
        Gathering(link, self.receive, lambda: self.missing, refused).gather(timeout, lambda: None)
        return self.encrypted()

    def __repr__(self) -> str:
        return f"<sunzi.parties.Encrypting: {len(self.missing)} of {len(self.names)} answers missing>"
