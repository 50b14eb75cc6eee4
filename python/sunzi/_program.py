"""Programs: functions of encrypted arrays whose parameters are found by a dry run."""

from __future__ import annotations

import functools
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _html, _native, errors
from ._array import EncryptedArray
from ._context import Context
from ._encoding import Bounds
from ._facts import ROUNDING
from ._field_plan import FieldPlan, Shaped, field_plan
from ._fields import FieldArray
from ._functions import DEVIATIONS
from ._keys import Keys, Progress, PublicKeys, keygen
from ._recorded import checked_arguments, plan_bytes, read_plan, run
from ._requests import SchemeName, scheme_for
from ._shadow import shadowed, unshadowed
from ._trace import Like, Line, Trace, flattened, traced
from ._wire import Bytes
from .errors import NothingFits, ParameterError, Request, WrongScheme

#: Ring degrees that are tried: log2 n.
_DEGREES = range(11, 18)
#: Rounds of a measurement.
_ROUNDS = 3
#: Points of a picture of what steps leave.
_MOST_POINTS = 100


@dataclass(frozen=True)
class Step:
    """What a run will do at one place, and what is left after it."""

    operation: str
    line: Line
    operands: tuple[int, ...]
    #: Multiplications that are left; None in BFV.
    level: Optional[int]
    #: Bits before decryption refuses; of real numbers, bits of the modulus that products can still take.
    bits_left: float
    #: Bits behind the binary point that are right; None for integers.
    precision: Optional[float]
    nbytes: int


class Plan:
    """What a program takes, known before anything is encrypted: parameters, keys, memory, time and precision, with reasons."""

    def __init__(
        self,
        context: Context,
        trace: Trace,
        rehearsal: _native.Rehearsal,
        reasons: list[str],
        sharing: Optional[tuple[int, int]] = None,
        chosen: bool = False,
    ) -> None:
        self.context = context
        #: Whether the context was chosen to hold all results.
        self._chosen = chosen
        #: Why those parameters.
        self.reasons = reasons
        self._trace, self._rehearsal, self._sharing = trace, rehearsal, sharing
        named = zip(trace.tape.steps, trace.lines, rehearsal.reports)
        #: Every operation in order.
        self.steps: list[Step] = [
            Step(name, line, tuple(operands), level, bits, precision, nbytes)
            for (name, operands), line, (level, bits, precision, _, nbytes) in named
        ]

    @property
    def rotations(self) -> list[int]:
        """Steps to make keys for."""
        return sorted(self._trace.steps)

    @property
    def products(self) -> bool:
        """Whether encrypted arrays are multiplied by each other."""
        return self._trace.tape.multiplies

    @property
    def depth(self) -> int:
        """Multiplications in a row, those with masks and clear numbers among them."""
        return self._trace.tape.depth

    @property
    def key_bytes(self) -> int:
        """Bytes of the evaluation keys."""
        return self._rehearsal.key_bytes

    @property
    def memory(self) -> int:
        """Bytes of keys and of the ciphertexts that are there at once."""
        return self._rehearsal.key_bytes + self._rehearsal.peak_bytes * self.context._parts

    @property
    def bits_left(self) -> float:
        """Bits that are left of the results before decryption would refuse; of real numbers, of the modulus."""
        return self._rehearsal.bits_left

    @property
    def precision(self) -> Optional[float]:
        """Bits behind the binary point of the results that noise leaves right, an estimate, as ``EncryptedArray.precision``; None for integers, which are exact."""
        return self._rehearsal.precision

    @property
    def error(self) -> float:
        """What no number of the results is off by, as ``EncryptedArray.error``: 7.2 deviations of the noise and the errors of approximated functions.

        Raises ``errors.NotProved`` where the error of a function is measured only, and names it.
        """
        if self.precision is None:
            return 0.0
        known = self._trace.known
        if known.unproved is not None:
            raise errors.NotProved(known.unproved)
        return float(DEVIATIONS * 2.0**-self.precision + known.off + known.most * ROUNDING)

    @functools.cached_property
    def seconds(self) -> float:
        """Seconds of a run on the threads at hand, by operations that are measured when this is first asked for."""
        times, parts = _measured(self.context), self.context._parts
        top = max(self.context.depth or 0, 1)
        total = 0.0
        for step in self.steps:
            # Operations take as long as they have moduli.
            share = 1.0 if step.level is None else (step.level + 1) / (top + 1)
            count = max(len(step.operands) // (2 if step.operation == "sum of products" else 1), 1)
            if step.operation == "polynomial" or step.operation == "series":
                count = 4
            total += times[_COSTS.get(step.operation, "add")] * share * count
        return total * parts

    def keygen(self, *, progress: Optional[Progress] = None) -> Keys:
        """The keys of the program, and no others."""
        return keygen(self.context, rotations=self.rotations, products=self.products, swap=self._trace.swaps, progress=progress)

    def encrypt(self, keys: Union[Keys, PublicKeys], *values: npt.ArrayLike) -> tuple[EncryptedArray, ...]:
        """The arguments, as planned: of these shapes, with the bounds of the plan, which tell nothing else of the numbers."""
        likes = self._trace.arguments
        if len(values) != len(likes):
            raise TypeError(f"{len(values)} arrays for a program of {len(likes)} arguments")
        return tuple(_planned(keys, np.asarray(one), like) for one, like in zip(values, likes))

    def compute(self, *arrays: EncryptedArray) -> Any:
        """Runs the operations of the plan on encrypted arguments, with their keys: what the function returns, without calling it. So whoever computes can take
        a plan from others (``from_bytes``). Arrays that are not as planned are refused.
        """
        checked_arguments(self.context, self._trace.arguments, arrays)
        keys = next((array.keys for array in arrays if array.keys is not None), None)
        if keys is None:
            raise errors.MissingKey("the arrays have no keys to compute with: read them for keys, or give them some by with_keys(keys.public)")
        result = run(self.context, self._trace, arrays, keys)
        for array in flattened(result) if self._chosen else ():
            array._settle()
        return result

    def to_bytes(self) -> bytes:
        """The plan in bytes that anybody may read by ``from_bytes``: parameters, operations, and the clear numbers of the program, which are not hidden. No code, no
        pickle, no lines of the program and no key is in them."""
        return plan_bytes(self.context, self._trace, self._sharing)

    @classmethod
    def from_bytes(cls, data: Bytes, *, insecure_for_research_only: bool = False) -> Plan:
        """From the bytes of ``to_bytes``, which may come from anybody: the dry run is made again, so that what the plan says of noise and precision is true. What it says
        of the errors of its functions is what its sender says. The security of its parameters is checked as by ``Context.from_bytes``.
        """
        context, trace, sharing = read_plan(data, insecure_for_research_only)
        return _rehearsed(context, trace, ["the plan was read from bytes"], sharing)

    def spent(self) -> list[tuple[Line, float]]:
        """The lines that spent most of the budget on the way to the result that has least left, with the bits of each."""
        return _spent(self.steps, [place for place in range(len(self.steps))][-1]) if self.steps else []

    def plot(self, ax: Any = None) -> Any:
        """Draws what is left after each step, and the precision of real numbers (takes matplotlib)."""
        if ax is None:
            from matplotlib import pyplot

            _, ax = pyplot.subplots()
        places = range(len(self.steps))
        ax.plot(places, [step.bits_left for step in self.steps], ".-", label="bits left")
        if self.precision is not None:
            ax.plot(places, [step.precision for step in self.steps], ".-", label="precision in bits")
        if any(step.level is not None for step in self.steps):
            ax.step(places, [step.level for step in self.steps], where="post", label="level")
        numbers = [step.line.number for step in self.steps]
        marks = [place for place in places if place == 0 or numbers[place] != numbers[place - 1]]
        ax.set_xticks(marks, [f"line {numbers[place]}" for place in marks], rotation=60, ha="right")
        ax.set_ylim(bottom=0)
        ax.legend()
        return ax

    def _facts(self) -> list[tuple[str, str]]:
        facts = [("context", repr(self.context)), ("steps", f"{len(self.steps)}, depth {self.depth}")]
        facts.append(("rotation keys", ", ".join(map(str, self.rotations)) or "none"))
        facts.append(("memory", f"{self.memory / 2**20:.1f} MiB, keys {self.key_bytes / 2**20:.1f} MiB"))
        if self.precision is None:
            facts.append(("left", f"{self.bits_left:.0f} bits"))
        else:
            unproved = self._trace.known.unproved
            facts.append(("precision", f"{self.precision:.1f} bits"))
            facts.append(("error", f"{self.error:.2g}" if unproved is None else f"not proved: {unproved}"))
        facts.extend(("because", reason) for reason in self.reasons)
        facts.extend((f"{bits:.0f} bits", str(line)) for line, bits in self.spent()[:3])
        return facts

    def __repr__(self) -> str:
        lines = "".join(f"\n  {name:<14}{value}" for name, value in self._facts())
        return f"<sunzi.Plan{lines}>"

    def _repr_html_(self) -> str:
        what = "noise budget" if self.precision is None else "precision"
        left = [step.bits_left if step.precision is None else step.precision for step in self.steps]
        points = [(step.operation, 1, before - after, after) for step, before, after in zip(self.steps, [*left[:1], *left], left)]
        return _html.table("sunzi.Plan", self._facts(), _html.sparkline(points[-_MOST_POINTS:], what))


#: What each operation is measured by.
_COSTS = {
    "multiply": "multiply",
    "sum of products": "multiply",
    "polynomial": "multiply",
    "series": "multiply",
    "multiply by a plaintext": "plain",
    "multiply by a constant": "plain",
    "rotate": "rotate",
    "swap": "rotate",
    "encrypt": "none",
    "bound": "none",
}


def _measured(context: Context) -> dict[str, float]:
    """Seconds of each operation at the highest level, with keys that are thrown away."""
    keys = keygen(context, rotations=[1])
    a = keys.encrypt(np.zeros(context.slots, dtype=context.dtype))
    chunk, evaluation = a._chunks[0], keys.public.evaluation
    values = np.arange(context.slots) % 2
    calls: dict[str, Callable[[], object]] = {
        "add": lambda: chunk.add(chunk),
        "plain": lambda: a * values,
        "rotate": lambda: chunk.rotate(1, evaluation),
        "multiply": lambda: chunk.multiply(chunk, evaluation),
    }
    found = {"none": 0.0}
    for name, call in calls.items():
        rounds = []
        for _ in range(_ROUNDS):
            start = time.perf_counter()
            try:
                call()
            except errors.NoiseError:
                # What the parameters have no level for is in no program for them.
                pass
            rounds.append(time.perf_counter() - start)
        found[name] = min(rounds) / context._parts
    return found


def _spent(steps: list[Step], last: int) -> list[tuple[Line, float]]:
    """Bits by line on the way that leads to a step, the largest first."""
    bits: Counter[Line] = Counter()
    place = last
    while steps[place].operands:
        before = min(steps[place].operands, key=lambda operand: steps[operand].bits_left)
        bits[steps[place].line] += steps[before].bits_left - steps[place].bits_left  # type: ignore[assignment]
        place = before
    return sorted(((line, float(spent)) for line, spent in bits.items() if spent > 0), key=lambda pair: -pair[1])


class Program:
    """A function of encrypted arrays. Called with encrypted arrays it computes; ``plan`` says before what that will take."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        #: What the arguments of the last plan were like, and the context that was chosen to hold all results.
        self._planned: list[Like] = []
        self._planned_in: Optional[Context] = None

    def __call__(self, *arrays: EncryptedArray) -> Any:
        if not self._holds(arrays):
            return self._function(*arrays)
        # The plan has looked at the range of the results, and what wraps in between wraps back.
        result = self._function(*map(_as_planned, arrays))
        for array in flattened(result):
            array._settle()
        return result

    def _holds(self, arrays: Sequence[EncryptedArray]) -> bool:
        """Whether these are integers as the last plan took them, in the context that it chose."""
        context = self._planned_in
        if context is None or context.is_real or len(arrays) != len(self._planned):
            return False
        return all(_is_planned(array, like, context) for array, like in zip(arrays, self._planned))

    def plan(
        self,
        *examples: Any,
        precision: int = 20,
        result_bound: Optional[float] = None,
        security: int = 128,
        log2_degree: Optional[int] = None,
        context: Optional[Context] = None,
        scheme: Optional[SchemeName] = None,
        sharing: Optional[tuple[int, int]] = None,
        ring_index: Optional[int] = None,
    ) -> Plan:
        """A dry run: the least parameters that hold all of the program, or what it will be like in a context that is there.

        ``examples`` are arrays like the arguments, or ``sunzi.Like(shape, dtype, bound)``. Real results are right to ``precision`` bits behind
        the binary point. How large integers become follows from the bounds of the arguments unless ``result_bound`` says it.
        Integers take BFV, or BGV if ``scheme`` says so. ``sharing`` is a pair, how many results will be shared and with how many statistical bits
        (``Keys.ledger``): there is room for ``Keys.decrypt_for_sharing`` of everything that the program returns, and ``precision`` is that of what is shared.
        Each ciphertext that is opened counts as one, and wide integers have several.
        Nothing is encrypted and no key is made. Where no parameters do it the error names the lines that spend most. Programs of field elements, in rings of
        any ``ring_index``, have ``plan_field``.
        """
        if ring_index is not None or (context is not None and context.field is not None):
            raise Request("slots of elements in a program of numbers: take plan_field(..., prime=p, ring_index=m), or call it on arrays of Context.for_field")
        arguments = [Like.of(example) for example in examples]
        if context is not None:
            plan = self._within(context, arguments, sharing)
            self._planned, self._planned_in = arguments, None
            return plan
        real = any(np.dtype(like.dtype).kind in "fc" for like in arguments)
        name = scheme_for(float if real else int, scheme)
        refusals: list[str] = []
        degrees = _DEGREES if log2_degree is None else [log2_degree]
        for degree in degrees:
            trace = traced(self._function, arguments, name, degree)
            try:
                natives, rehearsal, reasons = trace.tape.choose(
                    degree, precision=precision, security=security, largest=result_bound, scheme=name, sharing=sharing
                )
            except ParameterError as refused:
                refusals.append(f"n = 2^{degree}: {_with_lines(str(refused), trace)}")
                continue
            if refusals:
                reasons.append(f"smaller rings are refused, the last one so: {refusals[-1]}")
            chosen = Context._of_all(natives)
            self._planned, self._planned_in = arguments, chosen
            return Plan(chosen, trace, rehearsal, reasons, sharing, chosen=True)
        raise NothingFits(f"{self.__name__}: no parameters hold the program; the largest ring is refused so: {refusals[-1]}")

    def plan_field(
        self,
        *shapes: Shaped,
        prime: int,
        ring_index: Optional[int] = None,
        slots: int = 1,
        exponent: int = 1,
        scheme: Literal["bfv", "bgv"] = "bfv",
        security: int = 128,
    ) -> FieldPlan:
        """The context and the keys of a program of field elements, by its products in a row, its sums and its rotations.

        ``shapes`` are those of the arguments without the coefficients of elements, or how many elements they have; None is all slots of one ciphertext. The
        other settings are those of ``Context.for_field``: unless ``ring_index`` is given the ring is chosen too.

        >>> power = sunzi.program(lambda x: x * x.rotate(1))                     # doctest: +SKIP
        >>> plan = power.plan_field(None, prime=2, ring_index=21845)             # doctest: +SKIP
        >>> power.run(plan.keygen(), np.zeros((1024, 16), dtype=int))            # doctest: +SKIP
        """
        settings: dict[str, Any] = {"ring_index": ring_index, "slots": slots, "exponent": exponent, "scheme": scheme}
        return field_plan(self._function, shapes, prime=prime, security=security, **settings)

    def _within(self, context: Context, arguments: list[Like], sharing: Optional[tuple[int, int]]) -> Plan:
        trace = traced(self._function, arguments, context.scheme, context.degree.bit_length() - 1)
        return _rehearsed(context, trace, ["the context was given"], sharing)

    def to_bytes(self) -> NoReturn:
        """Refused: a function is code, and bytes from others must bring none. ``plan(...).to_bytes()`` has its operations as data."""
        raise TypeError(f"{self.__name__} is Python code, which bytes do not bring: plan(...).to_bytes() has its operations as data, for Plan.from_bytes")

    def run(self, keys: Keys, *arrays: npt.ArrayLike, shadow: bool = False) -> Any:
        """Encrypts the arguments, computes, and opens the results, which have the form that the function returns. The bounds of each argument are those of the
        last plan where its numbers lie in them, else its least and its largest number: whoever sends encrypted arrays away declares some that tell nothing
        (``keys.encrypt(values, bounds=...)``).

        With ``shadow=True`` every operation is decrypted and compared with the same on clear numbers, and an error names the line of the program.
        """
        clear = [np.asarray(array) for array in arrays]
        if keys.context.field is not None:
            if shadow:
                raise WrongScheme("a shadow of field elements: shadows are of numbers, compare with Field.multiply")
            return _opened(self._function(*map(keys.encrypt_elements, clear)), keys)
        likes = self._planned if len(self._planned) == len(clear) else [None] * len(clear)
        encrypted = [keys.encrypt(array, bounds=_bounds_of(array, like)) for array, like in zip(clear, likes)]
        if not keys.context.is_real and keys.context == self._planned_in and all(map(_fits, clear, likes)):
            encrypted = [_as_planned(array) for array in encrypted]
        if shadow:
            encrypted = shadowed(encrypted, clear, keys)
        return _opened(self._function(*encrypted), keys)

    def __repr__(self) -> str:
        return f"<sunzi.program {self.__name__}>"

    __name__: str


def program(function: Callable[..., Any]) -> Program:
    """Makes a function of arrays a program: see ``Program.plan`` and ``Program.run``."""
    return Program(function)


def _rehearsed(context: Context, trace: Trace, reasons: list[str], sharing: Optional[tuple[int, int]]) -> Plan:
    """A plan in a context that is there; fails where it does not hold the program."""
    rehearsal = trace.tape.rehearse(context._widest, sharing=sharing)
    plan = Plan(context, trace, rehearsal, reasons, sharing)
    if rehearsal.failed is not None:
        place, name, message = rehearsal.failed
        operands = trace.tape.steps[place][1]
        worst = min(operands, key=lambda operand: plan.steps[operand].bits_left, default=None)
        raise _named(name)(_blame(message, trace.lines[place], [] if worst is None else _spent(plan.steps, worst)))
    if plan.bits_left < 0:
        least = min(range(len(plan.steps)), key=lambda place: plan.steps[place].bits_left)
        text = f"decryption would refuse a result: {-plan.bits_left:.0f} bits are missing"
        raise errors.NoiseExhausted(_blame(text, plan.steps[least].line, _spent(plan.steps, least)))
    return plan


def _planned(keys: Union[Keys, PublicKeys], values: npt.NDArray[Any], like: Like) -> EncryptedArray:
    """An argument, encrypted with the bounds that were planned."""
    if values.shape != tuple(like.shape):
        raise errors.ShapeError(f"an argument of shape {values.shape}, planned was {tuple(like.shape)}")
    return keys.encrypt(values, bounds=None if np.dtype(like.dtype).kind == "c" else like._within())


def _bounds_of(array: npt.NDArray[Any], like: Optional[Like]) -> Optional[Bounds]:
    """Between what real numbers lie: what was planned, so that functions on their own bounds are those of the plan."""
    if array.dtype.kind != "f" or not array.size or not np.isfinite(array).all():
        return None
    low, high = float(array.min()), float(array.max())
    planned = (low, high) if like is None else like._within()
    return planned if planned[0] <= low and high <= planned[1] else (low, high)


def _fits(array: npt.NDArray[Any], like: Optional[Like]) -> bool:
    """Whether integers lie in the bounds that were planned."""
    low, high = (1.0, 0.0) if like is None else like._within()
    return bool(array.size) and low <= int(array.min()) and int(array.max()) <= high


def _is_planned(array: EncryptedArray, like: Like, context: Context) -> bool:
    """Whether an array is what was planned for, by its bounds too."""
    if not isinstance(array, EncryptedArray) or array._context != context or array._divisor != 1:
        return False
    (low, high), (least, most) = like._within(), array._known.range
    return array._shape == tuple(like.shape) and low <= least and most <= high


def _as_planned(array: EncryptedArray) -> EncryptedArray:
    return array._like(array._chunks, fill=array._fill, known=array._known.planned())


def _opened(result: Any, keys: Keys) -> Any:
    if isinstance(result, EncryptedArray):
        return keys.decrypt(unshadowed(result, keys))
    if isinstance(result, FieldArray):
        return keys.decrypt_elements(result)
    if isinstance(result, Mapping):
        return {name: _opened(value, keys) for name, value in result.items()}
    if isinstance(result, (tuple, list)):
        return type(result)(_opened(value, keys) for value in result)
    raise TypeError(f"a program that returns {type(result).__name__}: return encrypted arrays, or tuples, lists or dicts of them")


def _with_lines(message: str, trace: Trace) -> str:
    """The lines in the place of numbers of steps."""
    return re.sub(r"\bstep (\d+)\b", lambda found: str(trace.lines[int(found[1])]), message)


def _blame(message: str, line: Line, spent: list[tuple[Line, float]]) -> str:
    told = "".join(f"\n  {bits:.0f} bits were spent at {where}" for where, bits in spent[:3])
    return f"{message}\n  at {line}{told}"


def _named(name: str) -> type[Exception]:
    found: type[Exception] = getattr(errors, name, errors.SunziError)
    return found
