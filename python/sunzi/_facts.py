"""What an array says of itself: shape and parameters, and what is known of its numbers without opening them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from . import _html, _native
from ._context import Context
from ._functions import DEVIATIONS
from ._known import GROWN, PLANNED, UNDECLARED, Known
from .errors import NotProved, RangeExceeded

if TYPE_CHECKING:
    from ._keys import PublicKeys

#: What slots that belong to no number hold; None where that is not known.
Fill = Optional[complex]
Shape = tuple[int, ...]
#: What doubles change where numbers come and go, relatively.
ROUNDING = 2.0**-46


class Facts:
    """The state of an encrypted array, and all that can be read off it."""

    __slots__ = ()

    _chunks: tuple[_native.Ciphertext, ...]
    _context: Context
    _divisor: int
    _dtype: np.dtype[Any]
    _fill: Fill
    _keys: PublicKeys | None
    _known: Known
    _period: int
    _shape: Shape

    # What it is.

    @property
    def context(self) -> Context:
        """Parameters and tables."""
        return self._context

    @property
    def shape(self) -> Shape:
        """The lengths of all dimensions."""
        return self._shape

    @property
    def ndim(self) -> int:
        """How many dimensions."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """How many numbers."""
        return math.prod(self._shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """What decryption gives: float64 for integers too, once they were divided."""
        return np.dtype(np.float64) if self._divisor != 1 else self._dtype

    @property
    def ciphertexts(self) -> tuple[_native.Ciphertext, ...]:
        """The ciphertexts it is made of."""
        return self._chunks

    @property
    def level(self) -> int | None:
        """Multiplications in a row that are left; None for BFV, where ``bits_left`` tells."""
        levels = [chunk.level for chunk in self._chunks]
        return min((level for level in levels if level is not None), default=None)

    @property
    def scale(self) -> float | None:
        """What real numbers are multiplied by inside."""
        return self._chunks[0].scale

    @property
    def bits_left(self) -> float:
        """Bits before decryption refuses; of real numbers, bits of the modulus that products can still take."""
        return min(chunk.bits_left for chunk in self._chunks)

    @property
    def precision(self) -> float | None:
        """Bits behind the binary point that noise leaves right, an estimate: −log2 of the deviation of a number's noise. About a third of all
        numbers are off by more, and approximations of functions do not count: see ``error``. None for integers, which are exact."""
        bits = [chunk.precision for chunk in self._chunks]
        return min((bit for bit in bits if bit is not None), default=None)

    @property
    def error(self) -> float:
        """What no number is off by from the truth, which is the program on exact numbers: 7.2 deviations of the noise, and bounds on the errors of
        approximated functions in the maximum norm, as they travel. 0 for integers.

        Noise is taken for normally distributed with the estimated deviation: a number lies beyond with a probability of at most 2^-40. Bounds
        and promises (``declared``) are taken for true, and so is what arrays that others made say of themselves. Whoever opens with ``decrypt_for_sharing`` adds
        noise that is not in it.

        Raises ``errors.NotProved`` where the error of a step was measured or estimated only, and names the step.
        """
        if not self._context.is_real:
            return 0.0
        if self._known.unproved is not None:
            raise NotProved(self._known.unproved)
        if self.precision is None:
            raise NotProved("a dry run has no errors before parameters are found: Plan.error tells")
        return self._noise() + self._known.off + self._rounding()

    def _noise(self) -> float:
        """What the noise of no number is beyond, by the model; 0 in a dry run."""
        bits = self.precision
        return 0.0 if bits is None else DEVIATIONS * 2.0**-bits

    def _rounding(self) -> float:
        """What doubles add where numbers come and go."""
        low, high = self.bounds
        return max(abs(low), abs(high)) * ROUNDING

    @property
    def bounds(self) -> tuple[float, float]:
        """Between what all numbers lie, as far as it is known without the secret key: by what was declared when they were encrypted or since, and by
        interval arithmetic from there. Of complex numbers the larger end bounds absolute values.

        Bounds hold for the truth, from which decrypted numbers are off by ``error``. After a function whose error nothing proves the truth is its polynomial.
        """
        low, high, off = self._known[:3]
        largest = self._largest()
        if largest is None:
            return low, high
        if not self._context.is_real:
            # What may have wrapped around is anywhere.
            return (low, high) if -largest <= low and high <= largest else (-largest, largest)
        least, most = max(low, -largest - off), min(high, largest + off)
        return (least, most) if least <= most else (low, high)

    def _largest(self) -> float | None:
        """What the ciphertexts themselves say of absolute values."""
        if self._context.is_real:
            found = [chunk.magnitude for chunk in self._chunks]
            return max((math.inf if magnitude is None else magnitude for magnitude in found), default=None)
        modulus = self._context.plain_modulus
        return None if modulus is None else (modulus // 2) / abs(self._divisor)

    def _now(self) -> Known:
        """What is known by all that tells it. Of integers it is what was declared and follows from it: what their modulus tells is no bound on sums and products."""
        if not self._context.is_real:
            return self._known
        known, (low, high) = self._known, self.bounds
        return known if low == known.low and high == known.high else known._replace(low=low, high=high)

    def _refuse_wrap(self, known: Known, divisor: int) -> None:
        """Fails where integers that are known may be beyond what the plaintext modulus holds: they would wrap around in silence."""
        modulus = self._context.plain_modulus
        if modulus is None or known.watch == PLANNED:
            return
        if known.watch == GROWN:
            raise RangeExceeded(
                f"a product of integers that others encrypted without bounds: beyond {-(modulus // 2)} to {modulus // 2} it would wrap around. Have them encrypt with "
                "bounds=(low, high), promise some (EncryptedArray.from_bytes(data, keys, bounds=(low, high)), array.declared(low, high)), or compute modulo t on "
                "purpose: array.wrapping()"
            )
        (low, high), most = known.range, modulus // 2
        low, high = low * abs(divisor), high * abs(divisor)
        if not (math.isfinite(low) and math.isfinite(high)) or (-most <= low and high <= most):
            return
        over = "" if abs(divisor) == 1 else f" (numerators: quotients are over {abs(divisor)})"
        needed, where = f"{max(-low, high):.0f}", f"lie between {low:.15g} and {high:.15g}"
        if known.seen is not None:
            # Messages of errors are stored and sent, so they tell no more of secret numbers than how many bits they have.
            bits = math.frexp(max(-low, high))[1]
            needed, where = f"2**{bits}", f"have up to {bits} bits"
        raise RangeExceeded(
            f"the numbers of the result {where}{over} as far as is known, and this context computes with {-most} to {most}: beyond, they would wrap around. "
            f"Take Context.for_depth(..., result_bound={needed}), encrypt narrower numbers or declare them (bounds=(low, high)), or compute modulo t on purpose: "
            "array.wrapping()"
        )

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return sum(chunk.nbytes for chunk in self._chunks)

    @property
    def key_id(self) -> str:
        """The name of the secret key that opens it."""
        return self._chunks[0].key_id

    @property
    def trace(self) -> str:
        """Which operations spent its bits."""
        return min(self._chunks, key=lambda chunk: chunk.bits_left).trace

    def __repr__(self) -> str:
        return f"<sunzi.EncryptedArray {', '.join(f'{name} {value}' for name, value in self._facts())}>"

    def _repr_html_(self) -> str:
        worst = min(self._chunks, key=lambda chunk: chunk.bits_left)
        what = "noise budget" if self.precision is None else "precision"
        return _html.table("sunzi.EncryptedArray", self._facts(), _html.sparkline(worst.steps, what))

    def _facts(self) -> list[tuple[str, str]]:
        facts = [("shape", str(self._shape)), ("dtype", str(self.dtype))]
        count = len(self._chunks)
        log2_degree = self._context.degree.bit_length() - 1
        facts.append(("scheme", f"{self._context.scheme} n=2^{log2_degree}"))
        facts.append(("ciphertexts", f"{count} ({self.nbytes / 2**20:.2f} MiB)"))
        if self.level is not None:
            facts.append(("level", f"{self.level} of {self._context.depth}"))
        if self.precision is None:
            facts.append(("left", f"{self.bits_left:.0f} bits"))
            facts.append(("range", self._range()))
        else:
            unproved = self._known.unproved
            facts.append(("precision", f"{self.precision:.1f} bits"))
            facts.append(("error", f"{self.error:.2g}" if unproved is None else f"not proved: {unproved}"))
        facts.append(("key", self.key_id[:8]))
        return facts

    def _range(self) -> str:
        """Whether somebody looks after integers that would wrap around. What was seen of secret numbers is not told."""
        low, high = self._known.low, self._known.high
        if math.isfinite(low) and math.isfinite(high):
            return f"{low:.15g} to {high:.15g}"
        if self._known.seen is not None:
            return "watched, not declared"
        largest = self._largest()
        if largest is None:
            return "not declared"
        products = "products are refused, " if self._known.watch == UNDECLARED else ""
        return f"not declared: {products}numbers beyond ±{largest:.15g} wrap around"

    # What is known of two arrays.

    def _times(self, other: Facts) -> Known:
        """What is known of a product of two arrays; a square has no negative numbers."""
        ours, theirs = self._both(other._now(), other._dtype)
        same = self._chunks == other._chunks and self._divisor == other._divisor and self._dtype.kind != "c"
        return ours.squared() if same else ours.times(theirs)

    def _both(self, other: Known, dtype: np.dtype[Any]) -> tuple[Known, Known]:
        """What is known of this and of another operand: as absolute values where one of them is complex."""
        if self._dtype.kind == "c" or dtype.kind == "c":
            return self._now().symmetric(), other.symmetric()
        return self._now(), other
