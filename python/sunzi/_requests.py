"""Requests for parameters: what ``Context.for_depth`` asks the builders of the schemes for."""

from __future__ import annotations

import math
from typing import Any, Literal, Union

import numpy as np
import numpy.typing as npt

from .errors import Request, WrongScheme

SchemeName = Literal["bfv", "bgv", "ckks"]

#: What a sum over slots may grow a real number by, in bits, unless a bound on results is given.
_SUM_BITS = 14


def scheme_for(dtype: npt.DTypeLike, scheme: SchemeName | None) -> SchemeName:
    kind = np.dtype(dtype).kind
    if kind in "fc":
        if scheme not in (None, "ckks"):
            raise WrongScheme(f"{scheme} computes with integers: give an integer dtype, or take ckks for real numbers")
        return "ckks"
    if kind not in "iub":
        raise TypeError(f"dtype {np.dtype(dtype)}: Sunzi computes with integers, real and complex numbers")
    if scheme == "ckks":
        raise WrongScheme("ckks computes with real numbers: give dtype=float, or take bfv or bgv for integers")
    return scheme or "bfv"


def joined(asked: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """A request with further settings: a plaintext modulus, or its bits, in the place of a range of results."""
    plain = {"plain_range"} if {"plain_modulus", "plain_bits"} & settings.keys() else set()
    return {**{name: value for name, value in asked.items() if name not in plain}, **settings}


def request_for(
    scheme: str,
    depth: int,
    bound: float,
    result_bound: float | None,
    precision: int,
    slots: int,
    sums: int,
    plain_products: int,
    security: int,
) -> dict[str, Union[int, None]]:
    request: dict[str, Union[int, None]] = {"depth": depth, "slots": slots, "security": security}
    if scheme == "ckks":
        if not bound > 0:
            raise Request(f"bound = {bound}: it must be positive, the largest absolute value that is encrypted")
        bits = max(math.ceil(math.log2(bound)), 0)
        results = bits + min(sums, _SUM_BITS) if result_bound is None else max(math.ceil(math.log2(result_bound)), bits)
        request.update(precision=precision, message_bits=bits, result_bits=results)
        return request
    request["plain_range"] = 2**31 - 1 if result_bound is None else math.ceil(result_bound)
    if scheme == "bfv":
        request.update(rotations=sums, plain_products=plain_products)
    else:
        terms = 2**sums - 1
        request.update(fresh_additions=terms, fresh_rotations=terms, additions_per_level=terms, rotations_per_level=terms)
        request.update(fresh_plain_products=plain_products, plain_products_per_level=plain_products)
    return request
