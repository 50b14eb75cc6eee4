"""The line protocol of peers/README.md for rivals that are reached through Python.

A module gives `hello()` and `prepare(asked)`. What it prepares has `operations`, a dictionary of `Operation`, and `said()`, what
else is answered; and `replace(asked)` if it takes other operands.
"""

import json
import os
import platform
import sys
import time

VERSION = 1
# Rows and columns of a matrix that multiplies.
MATRIX = 64
# Pairs of an inner product, and factors of a product tree.
PAIRS = 128
FACTORS = 128
HOISTED = range(1, 17)


class Operation:
    """Something to call again and again, and the slots that its result opens to."""

    def __init__(self, call, opened):
        self.call = call
        self.opened = opened

    def repeat(self, calls):
        for _ in range(calls):
            self.call()


class Later(dict):
    """Operations by name. What an operation needs is made when it is first asked for."""

    def __init__(self, makers):
        super().__init__()
        self.makers = makers

    def __missing__(self, name):
        made = self.makers[name]()
        self[name] = made
        return made


def pool(n):
    """How many different ciphertexts long sums run through: more than a cache holds."""
    return min(2 * PAIRS, max(2, (1 << 20) // n))


def diagonals(entries, baby, row):
    """The diagonals of the matrix, by giant step and baby step, each turned back by its giant step.

    Entry (r, c) is entries[64 r + c]; diagonal d holds the entry (i mod 64, i + d mod 64) in slot i. Slots come in rows of
    `row`, or all in one.
    """
    def value(slot, giant, diagonal):
        r = (slot - giant) % MATRIX
        return entries[MATRIX * r + (r + diagonal) % MATRIX]

    periods = [
        [[value(slot, giant, giant + step) for slot in range(MATRIX)] for step in range(baby)]
        for giant in range(0, MATRIX, baby)
    ]
    return [[period * (row // MATRIX) for period in group] for group in periods]


def tree(multiply, factors, root=True):
    """The product of a list of factors, depth first: a product is made when both of its factors are there."""
    if len(factors) == 1:
        return factors[0]
    half = len(factors) // 2
    return multiply(tree(multiply, factors[:half], False), tree(multiply, factors[half:], False), root)


def complex_slots(parts):
    """Real and imaginary parts in turn, as complex numbers."""
    return [complex(re, im) for re, im in zip(parts[::2], parts[1::2])]


def parts(slots):
    """Complex numbers as real and imaginary parts in turn."""
    return [part for slot in slots for part in (slot.real, slot.imag)]


def turn(operation, calls, warm):
    """How long so many calls take, in nanoseconds."""
    if warm:
        operation.call()
    begin = time.perf_counter_ns()
    operation.repeat(calls)
    return time.perf_counter_ns() - begin


def serve(hello, prepare):
    """Answers requests until there are no more."""
    # What a library prints is no answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    prepared = None
    for line in sys.stdin:
        asked, given = {}, {}
        try:
            asked = json.loads(line)
            what = asked["do"]
            if what == "quit":
                return
            if what == "hello":
                if asked["protocol"] != VERSION:
                    raise ValueError(f"protocol {asked['protocol']} was asked for, this is {VERSION}")
                given = {"protocol": VERSION, **hello()}
                given["features"] += f", CPython {platform.python_version()}"
            elif what == "prepare":
                prepared = None
                prepared = prepare(asked)
                given = {"operations": list(prepared.operations.makers), **prepared.said()}
            elif prepared is None:
                raise ValueError("nothing is prepared yet")
            elif what == "replace":
                prepared.replace(asked)
            elif what == "verify":
                operation = prepared.operations[asked["operation"]]
                operation.call()
                given = {"values": operation.opened()}
            elif what == "circuit":
                given = {"values": prepared.circuit([(step["name"], step["left"], step["right"]) for step in asked["steps"]])}
            elif what == "run":
                operation = prepared.operations[asked["operation"]]
                given = {"nanoseconds": turn(operation, asked["calls"], asked["warm"])}
            else:
                raise ValueError(f"no request {what}")
        except Exception as error:  # The harness decides what an error means.
            given = {"error": f"{type(error).__name__}: {error}"}
        given["id"] = asked.get("id")
        answers.write(json.dumps(given) + "\n")
        answers.flush()
