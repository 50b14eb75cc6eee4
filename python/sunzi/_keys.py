"""Keys: who holds what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NoReturn, Optional

import numpy as np
import numpy.typing as npt

from . import _html, _native
from ._array import EncryptedArray
from ._batches import EncryptedMatrices, MatrixKeys, matrix_keys, opened
from ._conditions import ConditionArray, conditions_decrypted
from ._context import Context
from ._encoding import Bounds, Sharer, decrypted, encrypted
from ._fields import FieldArray, elements_decrypted, elements_encrypted, frobenius_exponents, rotation_exponents
from ._integers import Ends, IntegerArray, integers_decrypted, integers_encrypted
from ._messages import MessageArray, messages_decrypted, messages_encrypted
from ._stored import keys_bytes, read_keys
from ._wire import Bytes
from .errors import ContextMismatch, Ledger, MissingKey, ShapeError, Sharing

#: Told what is being made, how many are done and how many there will be; from any thread.
Progress = Callable[[str, int, int], object]


class PublicKeys:
    """What whoever encrypts or computes holds. Nothing in it decrypts; ``to_bytes`` makes bytes to give away."""

    __slots__ = ("_bootstrapper", "bootstrapping", "context", "encryption", "evaluation", "exponents", "matrices")

    context: Context
    encryption: _native.PublicKey
    evaluation: _native.EvaluationKeys
    bootstrapping: _native.BootstrapKeys | None
    _bootstrapper: _native.Bootstrapper | None
    #: What ``@`` of two encrypted matrices multiplies with, where it was given by ``with_matrix_keys``.
    matrices: MatrixKeys | None
    #: The k of all X → X^k that there are keys for.
    exponents: frozenset[int]

    def __init__(
        self,
        context: Context,
        encryption: _native.PublicKey,
        evaluation: _native.EvaluationKeys,
        bootstrapping: _native.BootstrapKeys | None = None,
        bootstrapper: _native.Bootstrapper | None = None,
    ) -> None:
        self.context, self.encryption, self.evaluation = context, encryption, evaluation
        self.bootstrapping, self._bootstrapper = bootstrapping, bootstrapper
        self.exponents = frozenset([1, *evaluation.exponents])
        self.matrices = None

    def encrypt(
        self, values: npt.ArrayLike, *, level: int | None = None, bounds: Optional[Bounds] = None
    ) -> EncryptedArray:
        """Encrypts an array of any shape; ``level`` if it will take few multiplications. ``bounds`` declares between what the numbers lie, for whoever
        computes with them: it is checked, and the ciphertext tells it and nothing else of them. Unless given, real numbers lie within the bound of the context.
        """
        return encrypted(self.context, values, self.encryption, level, self, bounds)

    def encrypt_elements(self, values: npt.ArrayLike) -> FieldArray:
        """Encrypts elements of the field of a context of ``Context.for_field``: integers of shape (…, d), the coefficients of each element."""
        return elements_encrypted(self.context, values, self.encryption, self)

    def encrypt_messages(self, values: npt.ArrayLike, *, bits: int | None = None, wrap: bool = False) -> MessageArray:
        """Encrypts integers as messages modulo 2^``bits``, in a context of ``Context.for_tables``: its own bits unless given. Integers outside of 0 to
        2^``bits`` - 1 are ``errors.OutsideBounds``, or are taken modulo 2^``bits`` with ``wrap=True``.
        """
        return messages_encrypted(self.context, values, self.encryption, self, bits, wrap)

    def encrypt_integers(
        self, values: npt.ArrayLike, dtype: Optional[npt.DTypeLike] = None, bounds: Optional[Ends] = None, overflow: Literal["wrap", "refuse"] = "wrap"
    ) -> IntegerArray:
        """Encrypts integers of a type from ``uint8`` to ``int64``, in a context of ``Context.for_integers``: that of the array unless ``dtype`` says another.
        ``bounds`` are what everybody may know of them, both ends included, those of the type unless given: tight ones save work and tell when results cannot
        be beyond the type. Integers outside of them are ``errors.OutsideBounds``.

        Results beyond the type wrap around as those of numpy do. With ``overflow="refuse"`` operations that may have some, by the bounds of their operands, are
        ``errors.Overflow`` before any work.
        """
        return integers_encrypted(self.context, values, self.encryption, self, dtype, bounds, overflow)

    def within(self, context: Context) -> PublicKeys:
        """The same keys in another context of the same ring and moduli, as those of BFV and BGV that ``EncryptedArray.to_bfv`` and ``to_bgv`` go between."""
        if context == self.context:
            return self
        if not self.context._shares_keys(context):
            raise ContextMismatch(f"keys of {self.context!r} in {context!r}: ring, moduli or key switching are others, make keys in that context")
        return PublicKeys(context, self.encryption.within(context._contexts[0]), self.evaluation)

    def with_merged_digits(self) -> PublicKeys:
        """The same keys with sums of their polynomials, by which products and rotations below the highest level take less time where keys have many digits, as at the
        edge of a ring: down a chain of 16 products 0.74 of it. ``nbytes`` tells what the sums take, at most as much as the keys of products and rotations; ``to_bytes``
        leaves them out. Arrays are encrypted under these keys, or take them by ``with_keys``.
        """
        keys = PublicKeys(self.context, self.encryption, self.evaluation.with_merged_digits(), self.bootstrapping, self._bootstrapper)
        keys.matrices = self.matrices
        return keys

    def with_matrix_keys(self, matrices: MatrixKeys) -> PublicKeys:
        """The same keys with those of ``Keys.matrix_keys``, by which ``a @ b`` of two encrypted arrays is a product of matrices of integers where that costs less:
        where rows of ``b`` fill ciphertexts of their own. It takes three levels of ``a``, four where its columns are no power of two. Arrays are encrypted under
        these keys, or take them by ``with_keys``. ``to_bytes`` leaves them out.
        """
        if matrices.id != self.id:
            raise ContextMismatch(f"keys of matrices of the secret key {matrices.id[:8]}, these are of {self.id[:8]}: make both from one")
        keys = PublicKeys(self.context, self.encryption, self.evaluation, self.bootstrapping, self._bootstrapper)
        keys.matrices = matrices
        return keys

    @property
    def id(self) -> str:
        """The name of the secret key that these belong to."""
        return self.encryption.id

    @property
    def nbytes(self) -> int:
        """Bytes of the evaluation keys in memory, with those of matrices."""
        beside = (keys.nbytes for keys in (self.bootstrapping, self.matrices) if keys is not None)
        return self.evaluation.nbytes + sum(beside)

    @property
    def bootstrapper(self) -> _native.Bootstrapper:
        """What bootstraps with these keys; made when it is first asked for."""
        if self._bootstrapper is None:
            raise MissingKey("there are no bootstrapping keys: take a context from Context.for_bootstrapping")
        return self._bootstrapper

    def to_bytes(self) -> bytes:
        """The keys and their parameters in bytes that anybody may read by ``from_bytes``: files of the wire format, no secret and no pickle."""
        return keys_bytes(self)

    @classmethod
    def from_bytes(cls, data: Bytes, *, context: Context | None = None, insecure_for_research_only: bool = False) -> PublicKeys:
        """From the bytes of ``to_bytes``, which may come from anybody, with the parameters in them. Their security is checked as by ``Context.from_bytes``. Where
        a ``context`` is given, keys of another one are ``errors.Parameters``.
        """
        return read_keys(data, context, insecure_for_research_only)

    def __reduce__(self) -> tuple[Any, ...]:
        return read_keys, (self.to_bytes(), None, False)

    def __copy__(self) -> PublicKeys:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> PublicKeys:
        return self

    def __repr__(self) -> str:
        return f"<sunzi.PublicKeys {self.id[:8]}, {self.nbytes / 2**20:.1f} MiB, {self.context!r}>"

    def _facts(self) -> list[tuple[str, str]]:
        facts = [("key", self.id[:8]), ("products", "yes" if self.evaluation.can_multiply else "no")]
        facts.append(("automorphisms", str(len(self.exponents) - 1)))
        facts.append(("bootstrapping", "no" if self.bootstrapping is None else f"{self.bootstrapper.slots} slots"))
        return [*facts, ("memory", _html.megabytes(self.nbytes)), *self.context._facts()]

    def _repr_html_(self) -> str:
        return _html.table("sunzi.PublicKeys", self._facts())


class Keys:
    """What the owner of the data holds: a secret key, and the public ones that belong to it.

    It is in no bytes and no pickle: ``export_secret`` writes the secret for those who mean it, and ``public`` may go anywhere.
    """

    __slots__ = ("_file", "_is_new", "_memory", "context", "public", "secret")

    context: Context
    public: PublicKeys
    secret: _native.SecretKey
    #: Whether the secret was drawn here, so that nothing was shared under it before.
    _is_new: bool
    #: Its ledger, once there is one: of the two at most one.
    _memory: _native.SharingLedger | None
    _file: Path | None

    def __init__(self, context: Context, secret: _native.SecretKey, public: PublicKeys) -> None:
        self.context, self.secret, self.public = context, secret, public
        self._is_new, self._memory, self._file = False, None, None

    def encrypt(
        self, values: npt.ArrayLike, *, level: int | None = None, bounds: Optional[Bounds] = None
    ) -> EncryptedArray:
        """Encrypts an array of any shape under the secret key, which leaves less noise than the public one. ``bounds`` as for ``PublicKeys.encrypt``."""
        return encrypted(self.context, values, self.secret, level, self.public, bounds)

    def encrypt_elements(self, values: npt.ArrayLike) -> FieldArray:
        """Encrypts elements of a field under the secret key, as ``PublicKeys.encrypt_elements``."""
        return elements_encrypted(self.context, values, self.secret, self.public)

    def decrypt_elements(self, array: FieldArray) -> npt.NDArray[Any]:
        """Opens an array of elements of a field: their coefficients, from 0 to p^r - 1."""
        return elements_decrypted(array, self.secret)

    def encrypt_messages(self, values: npt.ArrayLike, *, bits: int | None = None, wrap: bool = False) -> MessageArray:
        """Encrypts integers as messages under the secret key, as ``PublicKeys.encrypt_messages``."""
        return messages_encrypted(self.context, values, self.secret, self.public, bits, wrap)

    def encrypt_integers(
        self, values: npt.ArrayLike, dtype: Optional[npt.DTypeLike] = None, bounds: Optional[Ends] = None, overflow: Literal["wrap", "refuse"] = "wrap"
    ) -> IntegerArray:
        """Encrypts integers of 8 to 64 bits under the secret key, as ``PublicKeys.encrypt_integers``."""
        return integers_encrypted(self.context, values, self.secret, self.public, dtype, bounds, overflow)

    def decrypt_integers(self, array: IntegerArray) -> npt.NDArray[Any]:
        """Opens an array of integers, as an array of its dtype. Noise that may have led a digit to the next one is ``errors.MessageNoise``."""
        return integers_decrypted(array, self.secret, self.public)

    def decrypt_conditions(self, array: ConditionArray) -> npt.NDArray[np.bool_]:
        """Opens an array of conditions, as an array of booleans."""
        return conditions_decrypted(array, self.secret, self.public)

    def decrypt_messages(self, array: MessageArray) -> npt.NDArray[Any]:
        """Opens an array of messages: integers from 0 to 2^w - 1. Noise that may have led one to the next is ``errors.MessageNoise``."""
        return messages_decrypted(array, self.secret, self.public)

    def decrypt(self, array: EncryptedArray) -> npt.NDArray[Any]:
        """Opens an array.

        Numbers opened from real ones carry an error that depends on the secret key: do not hand them to whoever made the
        array: ``decrypt_for_sharing`` hides it. SECURITY.md says more.
        """
        return decrypted(array, self._secret_for(array.context))

    def matrix_keys(self, size: int, *, few: bool = False) -> MatrixKeys:
        """Keys that multiply encrypted matrices of sides up to ``size``, a power of two from 64 to the ring degree: about as many as ``size``, or twice its root
        with ``few=True``, which take up to twice the time."""
        return matrix_keys(self.context._contexts[0], self.secret, self.public.encryption, size, few)

    def decrypt_matrices(self, matrices: EncryptedMatrices) -> npt.NDArray[Any]:
        """Opens encrypted matrices. What ``decrypt`` says of sharing holds here."""
        return opened(matrices, self.secret)

    def _secret_for(self, context: Context) -> _native.SecretKey:
        """The secret key seen from the context of an array, which may be of another scheme with the same ring."""
        if context == self.context or not self.context._shares_keys(context):
            return self.secret
        return self.secret.within(context._contexts[0])

    def ledger(
        self, path: str | PathLike[str] | None = None, *, queries: int = 1000, statistical_bits: int = 40
    ) -> _native.SharingLedger:
        """Counts the results that are shared under this key: at most ``queries`` ciphertexts, together at statistical distance at most
        2^-``statistical_bits`` from what does not depend on the key. In the file at ``path``, or in memory, where keys that ``keygen`` made are not kept.

        A key has one ledger for all its life. It is made by the first call for keys that come from ``keygen``, and opened ever after: keys from
        ``export_secret`` may have shared results, so that their ledger has to be there.
        """
        ledger = self._counts_in_memory(queries, statistical_bits) if path is None else self._counts_at(Path(path), queries, statistical_bits)
        if (ledger.queries, ledger.statistical_bits) != (queries, statistical_bits):
            raise Sharing(
                f"the ledger promises {ledger.queries} results at 2^-{ledger.statistical_bits}, "
                f"not {queries} at 2^-{statistical_bits}: what a key promised is not changed"
            )
        return ledger

    def _counts_in_memory(self, queries: int, statistical_bits: int) -> _native.SharingLedger:
        if self._file is not None:
            raise Ledger(f"a key has one ledger: that of this one is {self._file}, give its path")
        if self._memory is None:
            if not self._is_new:
                raise Ledger("this key comes from bytes and may have shared results, which its ledger knows: give its path")
            self._memory = _native.SharingLedger.create(self.secret, queries, statistical_bits, None)
        return self._memory

    def _counts_at(self, path: Path, queries: int, statistical_bits: int) -> _native.SharingLedger:
        if self._memory is not None:
            raise Ledger("a key has one ledger: that of this one is in memory, ask for it without a path")
        path = path.absolute()
        if self._file not in (None, path):
            raise Ledger(f"a key has one ledger: that of this one is {self._file}")
        if path.exists():
            ledger = _native.SharingLedger.open(self.secret, queries, statistical_bits, path)
        elif self._is_new and self._file is None:
            ledger = _native.SharingLedger.create(self.secret, queries, statistical_bits, path)
        else:
            raise Ledger(
                f"{path} is missing, and without it nobody knows how many results were shared under this key: put it back, or make another key "
                "(the ledger of a key is made with Keys.ledger(path) before its secret is exported)"
            )
        self._file = path
        return ledger

    def declared_noise(
        self,
        compute: Callable[..., Any],
        *values: npt.ArrayLike,
        level: int | None = None,
        bounds: Optional[Sequence[Optional[Bounds]]] = None,
    ) -> Any:
        """log2 of a bound on the noise of what a computation leaves, to declare for ``decrypt_for_sharing``.

        ``compute`` is the computation that was agreed on, run here on arrays that the key holder encrypts: ``values`` of the shape of those that will be
        computed on, and for real numbers as large as they may be; ``level`` and ``bounds``, a pair or None for each of the values, as for ``encrypt``. One number for an array; a dictionary, list or tuple of arrays gives one of numbers.
        """
        return declared_noise(self.public, compute, values, level, bounds)

    def decrypt_for_sharing(
        self, array: EncryptedArray, ledger: _native.SharingLedger, *, noise: float
    ) -> npt.NDArray[Any]:
        """Opens an array for somebody else to see: noise is added that hides the array's own, and each ciphertext is counted first.

        ``noise`` is what the key holder knows of it: log2 of a bound, from ``declared_noise`` or from an analysis. What an array says of itself is what its
        maker says, and is not taken. Parameters need room for it: ``Context.for_depth(..., sharing=(queries, statistical_bits))``.
        """
        return decrypted(array, Sharer(self._secret_for(array.context), ledger, checked_noise(noise)))

    @property
    def id(self) -> str:
        """The name of the secret key."""
        return self.secret.id

    def to_bytes(self) -> NoReturn:
        """Refused: ``export_secret`` writes the secret key for those who mean it, ``public.to_bytes()`` everything else."""
        raise TypeError("bytes of these keys would hold the SECRET key: public.to_bytes() may go anywhere, export_secret() is for those who mean it")

    def export_secret(self) -> bytes:
        """The secret key in bytes: whoever sees them can decrypt."""
        return self.secret.export()

    @classmethod
    def from_secret(cls, secret: bytes, public: PublicKeys) -> Keys:
        """From the bytes of ``export_secret`` and the public keys that were made with it."""
        key = _native.SecretKey.from_export(public.context._contexts[0], secret)
        if key.id != public.id:
            from .errors import KeyMismatch

            raise KeyMismatch(f"the secret key is {key.id[:8]}, the public ones belong to {public.id[:8]}")
        return cls(public.context, key, public)

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("secret keys are not pickled: export_secret() writes one for those who mean it, public may go anywhere")

    def __repr__(self) -> str:
        return f"<sunzi.Keys {self.id[:8]} with its SECRET key, {self.context!r}>"

    def _repr_html_(self) -> str:
        return _html.table("sunzi.Keys, with their SECRET key", self.public._facts())


def keygen(
    context: Context,
    *,
    rotations: Optional[Iterable[int | tuple[int, int]]] = None,
    products: bool = True,
    swap: bool | None = None,
    level: int | None = None,
    bootstrap_slots: int | None = None,
    progress: Optional[Progress] = None,
) -> Keys:
    """Makes a secret key and the public keys of a computation.

    ``rotations`` are the steps to make keys for. Unless given, those of all powers of two, of which any other rotation is
    put together, and what swaps the two rows of integers, which ``swap`` asks for or declines; none for messages and integers of ``Context.for_integers``, which do not move. In a context of ``Context.for_field`` they are
    pairs of steps and dimension for ``FieldArray.rotate``, or steps along dimension 0; keys for Frobenius maps are always made.
    ``products`` says whether arrays are multiplied by each other. Keys for real numbers serve ciphertexts of at most ``level``. In a context for bootstrapping there are its keys besides, for arrays
    of up to ``bootstrap_slots`` numbers in a ciphertext, as many as the set is for unless given.
    ``progress`` is called with what is being made, how many are done and how many there will be.
    """
    native = context._contexts[0]
    secret = _native.SecretKey.generate(native)
    top = context.depth if context._set and level is None else level
    made = made_keys(context, secret, rotations, products, swap, top, progress)
    if not context._set:
        return made
    slots = _native.bootstrap_slots(context._set) if bootstrap_slots is None else bootstrap_slots
    bootstrapper = _native.Bootstrapper(native, context._set, slots, _told(progress, "bootstrapping matrices"))
    keys = bootstrapper.generate_keys(secret, _told(progress, "bootstrapping keys"))
    return _new(Keys(context, secret, PublicKeys(context, made.public.encryption, made.public.evaluation, keys, bootstrapper)))


def made_keys(
    context: Context,
    secret: _native.SecretKey,
    rotations: Optional[Iterable[int | tuple[int, int]]],
    products: bool,
    swap: bool | None,
    level: int | None,
    progress: Optional[Progress] = None,
) -> Keys:
    """The keys of a secret that was just drawn, without those of bootstrapping."""
    exponents = _exponents(context, rotations, swap)
    encryption = _native.PublicKey.generate(secret)
    evaluation = _native.EvaluationKeys.generate(
        secret, relinearization=products, exponents=exponents, level=level, progress=_told(progress, "evaluation keys")
    )
    return _new(Keys(context, secret, PublicKeys(context, encryption, evaluation)))


def _exponents(context: Context, rotations: Optional[Iterable[int | tuple[int, int]]], swap: bool | None) -> list[int]:
    """The k of all X → X^k that keys are made for."""
    native, field = context._contexts[0], context.field
    if field is not None:
        if swap:
            raise ShapeError("a swap of rows in a field: slots of elements have dimensions and no rows, leave swap out")
        return sorted({*frobenius_exponents(field), *rotation_exponents(context, rotations or ())})
    if rotations is None and (context.message_bits is not None or context.has_integers):
        steps = []
    elif rotations is None:
        steps = [1 << i for i in range(context._row.bit_length() - 1)]
    else:
        steps = sorted({_steps(rotation) % context._row for rotation in rotations})
    exponents = [native.rotation_exponent(step) for step in steps]
    if swap if swap is not None else steps and not context.is_real:
        exponents.append(native.swap_exponent())
    return exponents


def _steps(rotation: int | tuple[int, int]) -> int:
    """The steps of a rotation of numbers."""
    if isinstance(rotation, tuple):
        raise ShapeError(f"a rotation {rotation} along a dimension: slots of numbers have none, give steps")
    return int(rotation)


def _new(keys: Keys) -> Keys:
    keys._is_new = True
    return keys


def declared_noise(
    public: PublicKeys, compute: Callable[..., Any], values: Sequence[npt.ArrayLike], level: int | None, bounds: Optional[Sequence[Optional[Bounds]]]
) -> Any:
    """log2 of a bound on the noise of what a computation leaves of arrays that are encrypted here."""
    pairs = [None] * len(values) if bounds is None else list(bounds)
    if len(pairs) != len(values):
        raise ShapeError(f"{len(values)} arrays and {len(pairs)} bounds: give a pair or None for each")
    fresh = (public.encrypt(value, level=level, bounds=pair) for value, pair in zip(values, pairs))
    return _noise_of(compute(*fresh))


def checked_noise(noise: float) -> float:
    """A declaration of noise, which no array is."""
    if isinstance(noise, EncryptedArray):
        raise Sharing(
            "an array is no declaration of noise: whoever made it says how much it has. Give log2 of a bound: keys.declared_noise(compute, values) "
            "finds it by the agreed computation on encryptions of your own"
        )
    if not isinstance(noise, Real):
        raise TypeError(f"noise is log2 of a bound, a number, not {type(noise).__name__}")
    return float(noise)


def _noise_of(result: Any) -> Any:
    """Of every array the largest bound of its ciphertexts."""
    if isinstance(result, EncryptedArray):
        return max(chunk.noise for chunk in result.ciphertexts)
    if isinstance(result, dict):
        return {name: _noise_of(part) for name, part in result.items()}
    if isinstance(result, (list, tuple)):
        return type(result)(_noise_of(part) for part in result)
    raise TypeError(f"the computation gives encrypted arrays, not {type(result).__name__}")


def _told(progress: Optional[Progress], what: str) -> Optional[Callable[[int, int], object]]:
    if progress is None:
        return None
    told = progress
    return lambda done, total: told(what, done, total)


__all__ = ["Keys", "Progress", "PublicKeys", "keygen"]
