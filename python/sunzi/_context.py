"""Contexts: parameters chosen for a computation, and the tables made of them."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from . import _html, _native, _wire
from ._crt import CrtContext, CrtKey
from ._requests import SchemeName, joined, request_for, scheme_for
from .errors import PlainExponent, Request, ShapeError, TooManySlots, WrongScheme

#: Contexts that are in use, by their parameters: two of the same parameters would be two sets of tables. References without callbacks: Ctrl-C
#: that arrives in one is printed and forgotten.
_LIVE: dict[tuple[bytes, str], weakref.ref[Context]] = {}

#: Whether pickles and files may bring parameters without security.
_INSECURE: ContextVar[bool] = ContextVar("insecure_for_research_only", default=False)

#: Integers beyond this are spread over several plaintext moduli.
_ONE_MODULUS = 2**31 - 1
#: Rotate-and-add steps after each product that are provided for unless said otherwise: sums of 4096 slots.
_SUM_STEPS = 12


@contextlib.contextmanager
def insecure_for_research_only() -> Iterator[None]:
    """Within it, pickles and files may bring parameters that were made with ``security=0``, which protect nothing: anywhere else these are
    ``errors.Insecure``, since they may have been written by anybody. For tests, never for data that matters. It holds for the thread it is entered in.

    >>> data = pickle.dumps(sunzi.Context.for_depth(1, security=0, log2_degree=10))   # doctest: +SKIP
    >>> with sunzi.insecure_for_research_only():                                      # doctest: +SKIP
    ...     context = pickle.loads(data)
    """
    before = _INSECURE.set(True)
    try:
        yield
    finally:
        _INSECURE.reset(before)


class SlotDimension(NamedTuple):
    """A dimension of the slots of field elements."""

    length: int
    #: Whether a rotation along it is one automorphism. Along a bad one it is two, and a product with a mask.
    good: bool


class Context:
    """Parameters and tables of one scheme. Holds no key; may be shared by any number of threads, and given away by ``to_bytes``."""

    __slots__ = ("__weakref__", "_bfv", "_bytes", "_inner", "_rotations", "_set", "_top")

    _inner: _native.Context
    _bytes: bytes
    _set: str
    _top: int | None
    #: That of BFV with the same keys, once it was asked for.
    _bfv: Context | None
    #: Rotations of field elements that were prepared, by dimension and steps.
    _rotations: dict[tuple[int, int], _native.SlotRotation]

    def __init__(self) -> None:
        raise TypeError("make a context with Context.for_depth, Context.for_bootstrapping or Context.explicit")

    @classmethod
    def _of(cls, native: _native.Context, set_name: str = "") -> Context:
        data = native.to_bytes()
        known = _live(data, set_name)
        if known is not None:
            return known
        context = cls.__new__(cls)
        context._inner, context._bytes, context._set = native, data, set_name
        context._top, context._bfv, context._rotations = native.depth, None, {}
        if set_name:
            context._top = _native.bootstrap_levels_left(native, set_name)
        for key in [key for key, reference in list(_LIVE.items()) if reference() is None]:
            _LIVE.pop(key, None)
        _LIVE[data, set_name] = weakref.ref(context)
        return context

    @classmethod
    def _of_all(cls, natives: Sequence[_native.Context]) -> Context:
        """Of one plaintext modulus, or of several together."""
        if len(natives) == 1:
            return cls._of(natives[0])
        return cls._of(cast(_native.Context, CrtContext(natives)))

    @property
    def _contexts(self) -> tuple[_native.Context, ...]:
        """One for each plaintext modulus."""
        return self._inner.parts if isinstance(self._inner, CrtContext) else (self._inner,)

    @property
    def _parts(self) -> int:
        return len(self._contexts)

    @property
    def _widest(self) -> _native.Context:
        """That of the largest plaintext modulus."""
        return max(self._contexts, key=lambda part: part.plain_modulus or 0)

    def _bound(self, key: Any) -> Any:
        """A key as what encodes and opens for this context."""
        return CrtKey(key, self._inner) if isinstance(self._inner, CrtContext) else key

    @classmethod
    def for_depth(
        cls,
        depth: int,
        *,
        dtype: npt.DTypeLike = float,
        scheme: SchemeName | None = None,
        bound: float = 1.0,
        result_bound: float | None = None,
        precision: int = 20,
        slots: int = 1,
        sums: int = _SUM_STEPS,
        plain_products: int = 1,
        security: int = 128,
        sharing: tuple[int, int] | None = None,
        reencryptions: tuple[int, int, int] | None = None,
        parties: int = 1,
        **settings: int,
    ) -> Context:
        """Chooses the cheapest secure parameters for ``depth`` multiplications in a row.

        ``dtype`` decides the scheme: real numbers take CKKS, integers BFV, or BGV if ``scheme`` says so.
        Real numbers are at most ``bound`` when they are encrypted and results right to ``precision`` bits behind the binary
        point. Integer results lie within ±``result_bound`` (2^31 - 1 unless given): beyond it they wrap around. Up to 2^63 - 1 integers take several
        plaintext moduli together, each with ciphertexts of its own.
        Before the first product and after each one sums over 2^``sums`` slots are provided for, and for integers ``plain_products``
        products with clear arrays in a row, masks of indices among them; real numbers take a level for each. ``security`` is 128, 192 or 256 bits; 0 asks for no
        security at all and is for tests. ``sharing`` is a pair, how many results will be shared and with how many statistical bits (``Keys.ledger``): it leaves room for
        ``Keys.decrypt_for_sharing`` at the end of the depth, and ``precision`` is then that of what is shared. ``reencryptions`` of integers
        are three numbers, how many times in a row arrays are handed on to another owner, how many ciphertexts of one owner, and with how many statistical bits
        (``ReencryptionKey``): there is room for them at the end of the depth. ``parties``, up to 1024, make
        the keys together (``sunzi.parties``): noise is counted for the secrets of all, and what they open together needs ``sharing``. Other settings are those of the Rust builder of the scheme.
        """
        if "ring_index" in settings:
            raise Request("a ring_index: its slots hold elements of a field, take Context.for_field; log2_degree chooses among the rings of numbers")
        name = scheme_for(dtype, scheme)
        asked = request_for(name, depth, bound, result_bound, precision, slots, sums, plain_products, security)
        request: dict[str, Any] = {**joined(asked, settings), "sharing": sharing, "reencryptions": reencryptions, "parties": parties}
        if name != "ckks" and (request.get("plain_range") or 0) > _ONE_MODULUS:
            return cls._of_all(_native.Context.choose_all(name, request))
        return cls._of(_native.Context.choose(name, request))

    @classmethod
    def for_field(
        cls,
        depth: int,
        *,
        prime: int,
        ring_index: int | None = None,
        slots: int = 1,
        exponent: int = 1,
        scheme: Literal["bfv", "bgv"] = "bfv",
        sums: int = 4,
        plain_products: int = 1,
        security: int = 128,
        **settings: int,
    ) -> Context:
        """Chooses parameters whose slots hold elements of GF(p^d), p the ``prime``, for ``depth`` multiplications in a row: ``Keys.encrypt_elements`` takes them.

        The ring is modulo the cyclotomic polynomial of ``ring_index`` m, which is odd or a multiple of four, no power of two, and no multiple of p. d is the order
        of p modulo m, and there are φ(m)/d slots: GF(2^16) in 1024 slots for p = 2 and m = 21845. Unless it is given, the cheapest ring with at least so many
        ``slots`` is taken, as ``sunzi params --slots S --plain P`` does, which also prints the others. An ``exponent`` r above 1
        makes elements of the Galois ring GR(p^r, d). Before the first product and after each one there is room for sums of 2^``sums`` arrays with their Frobenius
        maps, and for ``plain_products`` products with clear arrays in a row.

        >>> context = sunzi.Context.for_field(2, prime=2, ring_index=21845)     # doctest: +SKIP
        >>> context.field.degree, context.field.slots                           # doctest: +SKIP
        (16, 1024)
        """
        if ring_index is not None and ring_index > 0 and ring_index & (ring_index - 1) == 0:
            raise Request(f"ring_index = {ring_index}, a power of two: slots hold numbers there, take Context.for_depth with dtype=int")
        if "parties" in settings:
            raise Request("parties of a context of elements: several parties make keys for arrays of numbers, take Context.for_depth")
        if prime < 0 or exponent < 0 or prime**exponent >= 1 << 60:
            raise PlainExponent(f"{prime}^{exponent} as plaintext modulus: take a power of a prime below 2^60")
        terms = 2**sums - 1
        # A Frobenius map is made of at most eight.
        maps = 8 * (terms + 1)
        asked: dict[str, Any] = {"depth": depth, "plain_modulus": prime**exponent, "security": security}
        if scheme == "bfv":
            asked.update(additions=sums, rotations=1, plain_products=plain_products)
        else:
            asked.update(fresh_additions=terms, fresh_rotations=maps, additions_per_level=terms, rotations_per_level=maps)
            asked.update(fresh_plain_products=plain_products, plain_products_per_level=plain_products)
        asked.update(settings)
        if ring_index is None:
            context = cls._of(_native.Context.choose_field(scheme, asked, prime, slots))
        else:
            context = cls._of(_native.Context.choose(scheme, {**asked, "ring_index": ring_index}))
        if context.slots < slots:
            raise TooManySlots(f"{slots} slots, where ring_index = {ring_index} has {context.slots}: leave ring_index out for a ring that has them")
        return context

    @classmethod
    def explain(cls, depth: int, *, dtype: npt.DTypeLike = float, scheme: SchemeName | None = None, **settings: Any) -> str:
        """Every candidate that ``for_depth`` with these arguments considers, and why it takes the one it takes."""
        name = scheme_for(dtype, scheme)
        known: dict[str, Any] = {"bound": 1.0, "result_bound": None, "precision": 20, "slots": 1, "sums": _SUM_STEPS}
        known.update(plain_products=1, security=128)
        chosen = [settings.pop(key, value) for key, value in known.items()]
        return _native.Context.explain(name, joined(request_for(name, depth, *chosen), settings))

    @classmethod
    def for_bootstrapping(cls, name: str = "n16-128", *, levels: int | None = None, slots: int | None = None, real_slots: bool = False) -> Context:
        """The context of a bootstrapping set: ``sunzi.bootstrap_sets()`` lists them with what each costs.

        ``levels`` is how many levels a bootstrapped array has, the set's own number unless given: fewer take less time and smaller keys, at the same
        precision and security. ``"n16-128-fast-8"`` is the name of a set with 8.

        ``slots`` is how many numbers a bootstrapped ciphertext has, as many as the ring unless given: few take less time and smaller keys, for which the
        set has other matrices. ``"n16-128-fast-8-s16"`` is the name of that set for 16. Arrays must not have more in a ciphertext.

        With ``real_slots`` the context is that of the real ring of half the degree, with as many slots and no imaginary parts: operations take about
        half of the time and the memory, and a bootstrapping, which runs in the ring of the set, as long as there. ``EncryptedArray.bootstrap`` takes
        two ciphertexts for one.
        """
        name = _native.bootstrap_set(name, levels, slots)
        return cls._of(_native.bootstrap_context(name, real_slots), name)

    @classmethod
    def for_tables(cls, bits: int) -> Context:
        """The context for messages of ``bits`` bits, 1 to 10, whose tables bootstrap: ``Keys.encrypt_messages`` takes 2^16 of them in a ciphertext."""
        return cls.for_bootstrapping(_native.table_set(bits))

    @classmethod
    def for_integers(cls) -> Context:
        """The context for integers of 8 to 64 bits, with or without a sign: ``Keys.encrypt_integers`` takes 2^16 of them in two ciphertexts for every byte."""
        return cls.for_bootstrapping(_native.integer_set())

    @classmethod
    def explicit(
        cls,
        scheme: SchemeName,
        log2_degree: int,
        moduli: Sequence[int],
        *,
        special_moduli: Sequence[int] = (),
        plain_modulus: int | None = None,
        levels: Sequence[int] | None = None,
        scale_bits: int | None = None,
        message_bits: int = 0,
        digits: int | None = None,
        security: int = 128,
        parties: int = 1,
    ) -> Context:
        """Exactly these moduli: those of Q, lowest level first, and the special ones of P.

        ``levels`` says how many moduli Q_0, Q_1, … are made of, one more each unless given. ``parties`` is how many make the keys together.
        """
        native = _native.Context.explicit(
            scheme,
            log2_degree,
            list(moduli),
            special_moduli=list(special_moduli),
            plain_modulus=plain_modulus,
            levels=None if levels is None else list(levels),
            scale_bits=scale_bits,
            message_bits=message_bits,
            digits=digits,
            security=security,
            parties=parties,
        )
        return cls._of(native)

    @classmethod
    def from_bytes(cls, data: bytes, *, insecure_for_research_only: bool = False) -> Context:
        """From the bytes of a file of parameters. Their security is checked again, and those that have none, made with ``security=0``, are
        ``errors.Insecure`` unless ``insecure_for_research_only`` says that they may come."""
        accept = insecure_for_research_only or _INSECURE.get()
        if _wire.is_kind(_wire.BOOTSTRAP_CONTEXT, data):
            fields, objects, _ = _wire.unpacked(_wire.BOOTSTRAP_CONTEXT, data)
            set_name = fields.text("the name of a bootstrapping set")
            fields.finish()
            return cls._of(_native.Context.from_bytes(b"".join(objects), insecure_for_research_only=accept), set_name)
        return cls._of_all(_native.Context.all_from_bytes(data, insecure_for_research_only=accept))

    def to_bytes(self) -> bytes:
        """The parameters as a file: a header and some hundred bytes. With those of a bootstrapping set its name is written."""
        if not self._set:
            return self._bytes
        fields = _wire.Fields()
        fields.text(self._set)
        return _wire.packed(_wire.BOOTSTRAP_CONTEXT, fields.to_bytes(), _wire.cut(self._bytes))

    def to_bfv(self) -> Context:
        """The context of BFV with the ring, the moduli, the plaintext modulus and so the keys of one of BGV: see ``EncryptedArray.to_bfv``. A context of BFV
        gives itself. Moduli in which several primes share a word, as BGV has them for a small plaintext modulus, are ``errors.SharedModuli``."""
        if self.scheme == "bfv":
            return self
        if self.is_real:
            raise WrongScheme("a context of ckks, which computes with real numbers: integers change between bfv and bgv")
        if not isinstance(self._contexts[0], _native.Context):
            raise ShapeError("a change of scheme in a program: a plan is of one scheme, change before it or after it")
        if self._bfv is None:
            self._bfv = Context._of_all(_native.Context.bfv_of(self._contexts))
        return self._bfv

    def _shares_keys(self, other: Context) -> bool:
        """Whether keys of this context serve the other one."""
        if self is other or self == other:
            return True
        return self._parts == other._parts and self._contexts[0].shares_keys(other._contexts[0])

    @property
    def lowlevel(self) -> _native.Context:
        """The context of single ciphertexts, for compilers: see ``sunzi.lowlevel``."""
        return self._inner

    @property
    def scheme(self) -> str:
        """``"bfv"``, ``"bgv"`` or ``"ckks"``."""
        return self._inner.scheme

    @property
    def dtype(self) -> np.dtype[Any]:
        """What arrays hold unless they are complex: ``int64`` or ``float64``."""
        return np.dtype(np.float64 if self.is_real else np.int64)

    @property
    def is_real(self) -> bool:
        """Whether numbers are real (or complex) and results approximate."""
        return self._inner.scheme == "ckks"

    @property
    def degree(self) -> int:
        """The ring degree n."""
        return self._inner.degree

    @property
    def slots(self) -> int:
        """Numbers in one ciphertext: n, or n/2 of real ones, unless slots are real."""
        return self._inner.slots

    @property
    def field(self) -> _native.Field | None:
        """What slots hold where that is no number: GF(p^d) of ``Context.for_field``."""
        native = self._contexts[0]
        return _native.Field(native) if native.ring_index & (native.ring_index - 1) else None

    @property
    def slot_dimensions(self) -> tuple[SlotDimension, ...]:
        """The dimensions of the slots of a context of ``Context.for_field``, the last one fastest: ``FieldArray.rotate`` turns elements along them."""
        field = self.field
        if field is None:
            raise WrongScheme(f"dimensions of the slots of {self!r}, which hold numbers: those of elements have some, take Context.for_field")
        return tuple(SlotDimension(length, good) for length, good, _ in field.dimensions)

    @property
    def depth(self) -> int | None:
        """The level of fresh arrays: multiplications in a row. None for BFV, which has no levels."""
        return self._top

    @property
    def message_bits(self) -> int | None:
        """The most bits of messages for ``Keys.encrypt_messages``; None where there are no tables for them: ``Context.for_tables`` makes some."""
        return _native.table_bits(self._set) if self._set else None

    @property
    def has_integers(self) -> bool:
        """Whether ``Keys.encrypt_integers`` encrypts here: ``Context.for_integers`` makes such a context."""
        return bool(self._set) and _native.has_integers(self._set)

    @property
    def plain_modulus(self) -> int | None:
        """t: integers are computed with modulo this."""
        return self._inner.plain_modulus

    @property
    def moduli(self) -> list[int]:
        """The ciphertext moduli."""
        return self._inner.moduli

    @property
    def special_moduli(self) -> list[int]:
        """The moduli of keys besides."""
        return self._inner.special_moduli

    @property
    def log2_key_modulus(self) -> float:
        """log2 of the modulus that security is checked for."""
        return self._inner.log2_key_modulus

    @property
    def security(self) -> int:
        """Bits against a classical adversary; 0 if security was given up."""
        return self._inner.security

    @property
    def parties(self) -> int:
        """How many parties make the keys together; 1 for those of ``sunzi.keygen``."""
        return self._contexts[0].parties

    @property
    def _message_bound(self) -> float | None:
        """The largest absolute value of real numbers that are encrypted; None for integers."""
        return self._inner.message_bound if self.is_real else None

    @property
    def _row(self) -> int:
        """Slots that a rotation turns around."""
        # All slots of CKKS are one row: n/2, or n real ones.
        return self.slots if self.is_real else self._inner.degree // 2

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._bytes, self._set)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context) and (self._bytes, self._set) == (other._bytes, other._set)

    def __hash__(self) -> int:
        return hash((self._bytes, self._set))

    def __repr__(self) -> str:
        what = f"t = {self.plain_modulus}" if not self.is_real else f"depth {self.depth}"
        security = f"{self.security} bits" if self.security else "NO SECURITY"
        what += f", {self.parties} parties" if self.parties > 1 else ""
        return f"<sunzi.Context {self.scheme}, n = {self._degree_told()}, {what}, log2 QP = {self.log2_key_modulus:.0f}, {security}>"

    def _degree_told(self) -> str:
        """The ring degree: a power of two, or any with the index of its ring."""
        n, m = self.degree, self._inner.ring_index
        power = f"2^{n.bit_length() - 1}"
        if self.is_real and self.slots == n:
            return f"{power}, real slots"
        return power if m == 2 * n else f"{n} (index {m})"

    def _facts(self) -> list[tuple[str, str]]:
        facts = [("scheme", f"{self.scheme}, {'real numbers' if self.is_real else 'integers'}"), ("ring degree", self._degree_told())]
        facts.append(("numbers in a ciphertext", str(self.slots)))
        if self.depth is not None:
            facts.append(("depth", str(self.depth)))
        if self._message_bound is not None:
            facts.append(("numbers that are encrypted", f"at most {self._message_bound:g} in size"))
        if self.plain_modulus is not None:
            facts.append(("results", f"within ±{self.plain_modulus // 2}"))
        facts.append(("log2 QP", f"{self.log2_key_modulus:.0f}"))
        if self.parties > 1:
            facts.append(("parties", str(self.parties)))
        facts.append(("security", f"{self.security} bits" if self.security else "NO SECURITY"))
        return facts

    def _repr_html_(self) -> str:
        return _html.table("sunzi.Context", self._facts())


def _live(data: bytes, set_name: str) -> Context | None:
    reference = _LIVE.get((data, set_name))
    return None if reference is None else reference()


def _restored(data: bytes, set_name: str, accept: bool = False) -> Context:
    """Of parameters and the name of a set. What is in use here already came in by its name."""
    known = _live(data, set_name)
    if known is not None:
        return known
    accept = accept or _INSECURE.get()
    if not set_name:
        return Context.from_bytes(data, insecure_for_research_only=accept)
    return Context._of(_native.Context.from_bytes(data, insecure_for_research_only=accept), set_name)
