"""Single ciphertexts and every operation on them: what compilers target.

A ``Context`` here is ``sunzi.Context.lowlevel``. Nothing is done behind the caller's back: levels, scales, relinearisation and keys are
explicit.
"""

from __future__ import annotations

import copyreg
from typing import Any, Union

from ._context import _INSECURE, _live
from ._native import (
    Bootstrapper,
    BootstrapKeys,
    Ciphertext,
    Context,
    EvaluationKeys,
    LinearTransform,
    Plaintext,
    PublicKey,
    SecretKey,
    Series,
)

__all__ = [
    "BootstrapKeys",
    "Bootstrapper",
    "Ciphertext",
    "Context",
    "EvaluationKeys",
    "LinearTransform",
    "Plaintext",
    "PublicKey",
    "SecretKey",
    "Series",
]


# Pickles of everything but secrets: bytes, and the context that reads them.

_Kept = Union[BootstrapKeys, Ciphertext, EvaluationKeys, PublicKey]


def _reduced(value: _Kept) -> tuple[Any, ...]:
    return _restored, (type(value), value.context, value.to_bytes())


def _restored(kind: Any, context: Context, data: bytes) -> Any:
    return kind.from_bytes(context, data)


def _reduced_context(context: Context) -> tuple[Any, ...]:
    return _restored_context, (context.to_bytes(),)


def _restored_context(data: bytes) -> Context:
    known = _live(data, "")
    if known is not None and isinstance(known.lowlevel, Context):
        return known.lowlevel
    return Context.from_bytes(data, insecure_for_research_only=_INSECURE.get())


def _reduced_series(series: Series) -> tuple[Any, ...]:
    return _restored_series, (series.interval, series.coefficients, series.error, series.error_is_proved, series.function)


def _restored_series(
    interval: tuple[float, float] | None,
    coefficients: Any,
    error: float | None = None,
    proved: bool = True,
    function: str | None = None,
) -> Series:
    return Series.restored(interval, coefficients, error, proved, function)


for _kind in (BootstrapKeys, Ciphertext, EvaluationKeys, PublicKey):
    copyreg.pickle(_kind, _reduced)  # type: ignore[arg-type]
copyreg.pickle(Context, _reduced_context)
copyreg.pickle(Series, _reduced_series)
