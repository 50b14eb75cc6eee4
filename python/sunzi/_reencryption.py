"""Re-encryption: arrays and results of one owner become those of another, by a proxy that has no secret."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Optional, Union, overload

from . import _native
from ._array import EncryptedArray
from ._context import Context
from ._crt import CrtCiphertext
from ._keys import Keys, PublicKeys
from ._table_results import Results
from ._wire import Bytes
from .errors import Sharing

if TYPE_CHECKING:
    from . import tables

#: An owner of arrays, or of results of programs on tables.
OwnerKeys = Union[Keys, "tables.Keys"]
#: Whose parameters bytes belong to.
Belongs = Union[Context, PublicKeys, Keys, "tables.Keys"]
_Path = Union[str, "PathLike[str]"]


class ReencryptionPublicKey:
    """The public key of an owner to whom arrays or results of others are handed on; anybody may have it.

    Whoever made it reads all that is handed on: compare ``fingerprint`` with its owner before a key is made for it.
    """

    __slots__ = ("_inner",)
    _inner: _native.ReencryptionPublicKey

    def __init__(self) -> None:
        raise TypeError("make public keys for re-encryption with ReencryptionPublicKey.generate(keys)")

    @classmethod
    def _of(cls, inner: _native.ReencryptionPublicKey) -> ReencryptionPublicKey:
        key = cls.__new__(cls)
        key._inner = inner
        return key

    @classmethod
    def generate(cls, keys: OwnerKeys) -> ReencryptionPublicKey:
        """The public key of the owner of ``keys``, of ``sunzi.keygen`` or of ``sunzi.tables``; ``errors.WrongScheme`` or ``errors.Mismatch`` in schemes other than
        BFV and BGV."""
        if isinstance(keys, Keys):
            return cls._of(_native.ReencryptionPublicKey.generate(keys.secret))
        return cls._of(_native.ReencryptionPublicKey.of_tables(keys._inner))

    @property
    def id(self) -> str:
        """The name of the secret key that it leads to."""
        return self._inner.id

    @property
    def fingerprint(self) -> str:
        """Eight groups of four hexadecimal digits, which its owner reads out: those of ``sunzi reencrypt public``."""
        return self._inner.fingerprint

    def to_bytes(self) -> bytes:
        """The key in bytes: the file of ``sunzi reencrypt public``."""
        return self._inner.to_bytes()

    @classmethod
    def from_bytes(cls, data: Bytes, owner: Belongs) -> ReencryptionPublicKey:
        """From the bytes of ``to_bytes``, which may come from anybody, for the parameters of a context or of keys: of others it is ``errors.Parameters``."""
        context = _context_of(owner)
        if context is not None:
            return cls._of(_native.ReencryptionPublicKey.from_bytes(context, bytes(data)))
        return cls._of(_native.ReencryptionPublicKey.from_bytes_of_tables(_tables_of(owner), bytes(data)))

    def __repr__(self) -> str:
        return f"<sunzi.ReencryptionPublicKey to {self.id[:8]}, {self.fingerprint}>"


class ReencryptionKey:
    """The key of a proxy, which hands arrays or results of one owner on to another, with the ledger that counts them.

    The proxy reads nothing. Whoever has this key and the secret key of the new owner has that of the old one: give it to the proxy alone. It is in no
    pickle: ``export`` writes it for those who mean it.

    >>> import numpy as np, sunzi
    >>> room = (1, 100, 40)  # one time in a row, a hundred ciphertexts of one owner, 40 statistical bits
    >>> context = sunzi.Context.for_depth(1, dtype=int, reencryptions=room)
    >>> alice, bob = sunzi.keygen(context), sunzi.keygen(context)
    >>> public = sunzi.ReencryptionPublicKey.generate(bob)
    >>> key = sunzi.ReencryptionKey.generate(alice, public, queries=100, statistical_bits=40)
    >>> array = alice.public.encrypt([1, 2, 3])
    >>> [int(number) for number in bob.decrypt(key.apply(array * array))]
    [1, 4, 9]
    """

    __slots__ = ("_inner", "_tables")
    _inner: _native.ReencryptionKey
    #: The keys of tables that it belongs to; none for arrays.
    _tables: Optional[_native.TableKeys]

    def __init__(self) -> None:
        raise TypeError("make re-encryption keys with ReencryptionKey.generate(keys, public)")

    @classmethod
    def _of(cls, inner: _native.ReencryptionKey, tables: Optional[_native.TableKeys]) -> ReencryptionKey:
        key = cls.__new__(cls)
        key._inner, key._tables = inner, tables
        return key

    @classmethod
    def generate(
        cls, keys: OwnerKeys, public: ReencryptionPublicKey, *, ledger: Optional[_Path] = None, queries: int = 1 << 16, statistical_bits: int = 40
    ) -> ReencryptionKey:
        """The key that leads from the owner of ``keys`` to that of ``public``; to the same owner it is ``errors.SameKey``.

        At most ``queries`` ciphertexts, 1 to 2^32, are handed on by it, together at statistical distance at most 2^-``statistical_bits``, 1 to 80, from what tells
        nothing of any secret. They are counted in a new file at ``ledger``, or in memory, where keys that are exported are not kept. What other keys of the
        same owner hand on, and what it shares itself, adds up.
        """
        path = None if ledger is None else Path(ledger).absolute()
        if isinstance(keys, Keys):
            inner = _native.ReencryptionKey.generate(keys.secret, public._inner, queries, statistical_bits, path)
            return cls._of(inner, None)
        inner = _native.ReencryptionKey.of_tables(keys._inner, public._inner, queries, statistical_bits, path)
        return cls._of(inner, keys._inner.without_secret)

    def export(self) -> bytes:
        """The key in bytes, for the proxy alone: the file of ``sunzi reencrypt key``. Its ledger goes with it."""
        return self._inner.export()

    @classmethod
    def from_export(cls, data: Bytes, owner: Belongs, ledger: _Path) -> ReencryptionKey:
        """From the bytes of ``export``, for the parameters of a context or of keys, with the ledger that was made with the key: one that is missing is
        ``errors.Io``, and never a new one, and one of another key ``errors.Key``."""
        path, context = Path(ledger).absolute(), _context_of(owner)
        if context is not None:
            return cls._of(_native.ReencryptionKey.from_export(context, bytes(data), path), None)
        tables = _tables_of(owner)
        return cls._of(_native.ReencryptionKey.from_export_of_tables(tables, bytes(data), path), tables)

    @overload
    def apply(self, given: EncryptedArray, *, further: int = 0) -> EncryptedArray: ...

    @overload
    def apply(self, given: Results, *, further: int = 0) -> Results: ...

    def apply(self, given: Union[EncryptedArray, Results], *, further: int = 0) -> Union[EncryptedArray, Results]:
        """An array of integers, of any shape, or results of a program on a table, under the key of the new owner. The array has no keys to compute with: give it
        those of its new owner by ``with_keys``.

        ``further`` is how many times it may be handed on after this one, 0 to 1023; without, all room is used to hide more. Everything is checked before
        anything is counted: what is under another key is ``errors.KeyMismatch``, under that of the new owner already ``errors.SameKey``, without room
        ``errors.ReencryptionRoom``, beyond what the ledger allows ``errors.SharingSpent``. Of results these are ``errors.Mismatch`` where the key is another.

        The new owner sees all slots of the ciphertexts. Where slots beside the array hold unknown numbers, as behind some products and moves, it is
        ``errors.Sharing``: multiply by ``numpy.ones(array.shape, dtype=int)`` first, which clears them.
        """
        if not 0 <= further < _MOST_HOPS:
            raise Sharing(f"{further} further re-encryptions: give 0 to {_MOST_HOPS - 1}")
        if isinstance(given, EncryptedArray):
            return self._of_array(given, further)
        if isinstance(given, Results):
            if self._tables is None:
                raise TypeError("results of a program on a table for a key of arrays: make one from the keys of sunzi.tables")
            return Results._of(self._inner.reencrypt_results(self._tables, given._inner, further))
        raise TypeError(f"{type(given).__name__} cannot be handed on: give an EncryptedArray of integers, or sunzi.tables.Results")

    def _of_array(self, array: EncryptedArray, further: int) -> EncryptedArray:
        if self._tables is not None:
            raise TypeError("an array for a key of programs on tables: make one from the keys of sunzi.keygen")
        chunks = array.ciphertexts
        if array._fill is None and array.size < array._period * len(chunks):
            raise Sharing(
                "slots beside this array hold unknown numbers, and the new owner would see them: clear them first, by array * numpy.ones(array.shape, dtype=int)"
            )
        parts: list[tuple[Any, ...]] = [chunk.parts if isinstance(chunk, CrtCiphertext) else (chunk,) for chunk in chunks]
        flat = iter(self._inner.reencrypt([part for chunk in parts for part in chunk], further))
        made: list[Any] = [[next(flat) for _ in chunk] for chunk in parts]
        joined = [CrtCiphertext(ours) if isinstance(chunk, CrtCiphertext) else ours[0] for chunk, ours in zip(chunks, made)]
        handed_on = array._like(joined, fill=array._fill)
        handed_on._keys = None
        return handed_on

    @property
    def source(self) -> str:
        """The name of the secret key of the old owner."""
        return self._inner.source

    @property
    def target(self) -> str:
        """The name of the secret key of the new owner."""
        return self._inner.target

    @property
    def queries(self) -> int:
        """How many ciphertexts it may hand on in all."""
        return self._inner.queries

    @property
    def statistical_bits(self) -> int:
        """How well all of them together are hidden."""
        return self._inner.statistical_bits

    @property
    def used(self) -> int:
        """How many ciphertexts it has handed on."""
        return self._inner.used

    @property
    def nbytes(self) -> int:
        """Bytes of the key in memory."""
        return self._inner.nbytes

    def __reduce__(self) -> NoReturn:
        raise TypeError("re-encryption keys are not pickled: export() writes one for those who mean it")

    def __repr__(self) -> str:
        return f"<sunzi.ReencryptionKey {self.source[:8]} to {self.target[:8]}: {self.used} of {self.queries} used>"


#: Most times in a row that one ciphertext is handed on.
_MOST_HOPS = 1024


def _context_of(owner: Belongs) -> Optional[_native.Context]:
    """The native context of an owner of arrays; None of one of tables."""
    if isinstance(owner, Context):
        return owner._contexts[0]
    return owner.context._contexts[0] if isinstance(owner, (Keys, PublicKeys)) else None


def _tables_of(owner: Belongs) -> _native.TableKeys:
    """The native keys of an owner of tables."""
    inner = getattr(owner, "_inner", None)
    if not isinstance(inner, _native.TableKeys):
        raise TypeError(f"{type(owner).__name__} is no owner: give a Context, Keys, PublicKeys or sunzi.tables.Keys")
    return inner.without_secret


__all__ = ["ReencryptionKey", "ReencryptionPublicKey"]
