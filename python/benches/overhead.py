"""What Python adds to an operation on arrays: by the clock, in the same calls, everything but the work that Rust does in them; and
beside Rust alone, in turns, by the clock and by the time that the processors worked, which other programs do not disturb (Linux only).

    python python/benches/overhead.py
    python python/benches/overhead.py --set n16-128
    cargo build --release -p lab --features peers
    python python/benches/overhead.py --rust target/release/lab
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sunzi
from sunzi import _native

#: Calls in a row that are compared with the work in them.
CALLS = 300
ROUNDS = 41
#: Seconds that a turn takes.
TURN = 0.02


def worked(process: int) -> float:
    """Seconds that all threads of a process have worked."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


class Rust:
    """`lab bench serve`, which times itself."""

    def __init__(self, program: str) -> None:
        self.process = subprocess.Popen([program, "bench", "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.count = 0
        self.ask("hello", protocol=1)

    def ask(self, what: str, **fields: Any) -> Any:
        self.count += 1
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps({"id": self.count, "do": what, **fields}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise SystemExit(f"{what}: {answer['error']}")
        return answer


def added(name: str, call: Callable[[], object], calls: int) -> None:
    """What calls take beyond the work in them: the same calls, so that no other program changes one and not the other for long."""
    call()
    shares, micros, works = [], [], []
    for _ in range(calls):
        before, start = _native.seconds_of_work(), time.perf_counter()
        call()
        clock = time.perf_counter() - start
        work = _native.seconds_of_work() - before
        shares.append(100 * (clock - work) / work)
        micros.append(1e6 * (clock - work))
        works.append(1e6 * work)
    told, around = [], "quartiles" if calls >= 8 else "extremes"
    for values, unit in ((shares, " %"), (micros, " µs")):
        low, high = min(values), max(values)
        if calls >= 8:
            low, _, high = statistics.quantiles(values, n=4)
        told.append(f"{statistics.median(values):.2f} ({low:.2f} to {high:.2f}){unit}")
    print(f"{name}, {statistics.median(works):.0f} µs of work in Rust: Python adds {', '.join(told)}; median and {around} of {calls}", flush=True)


def context_of(log2_degree: int) -> sunzi.Context:
    """CKKS at 128 bits."""
    return sunzi.Context.for_depth({14: 5, 15: 12}[log2_degree], precision=20, log2_degree=log2_degree, sums=0)


def operations(keys: sunzi.Keys) -> dict[str, Callable[[], object]]:
    """Operations on arrays of one ciphertext."""
    slots = keys.context.slots
    a, b = keys.encrypt(np.cos(np.arange(slots))), keys.encrypt(np.sin(np.arange(slots)))
    return {"multiply_relinearize_rescale": lambda: a * b, "rotate": lambda: a.rotate(1), "add": lambda: a + b}


def bootstraps(name: str, calls: int) -> None:
    """The same of a bootstrapping, whose keys take gigabytes."""
    context = sunzi.Context.for_bootstrapping(name)
    keys = sunzi.keygen(context, rotations=[])
    array = keys.encrypt(np.cos(np.arange(context.slots)) / 2, level=0)
    added(f"{name}, bootstrap", array.bootstrap, calls)


def compare(program: str, log2_degree: int) -> None:
    """Alternating rounds of CKKS operations at one set of moduli."""
    context = context_of(log2_degree)
    native, slots, depth = context.lowlevel, context.slots, context.depth or 0
    keys = sunzi.keygen(context, rotations=[1])
    base = len(context.moduli) - depth
    rust = Rust(program)
    values = (np.cos(np.arange(2 * slots)) / 2).tolist()
    rust.ask(
        "prepare",
        scheme="ckks",
        n=context.degree,
        t=65537,
        log_scale=round(np.log2(native.scale(depth))),
        base=base,
        q=context.moduli,
        p=context.special_moduli,
        left=values,
        right=values,
    )
    for name, call in operations(keys).items():
        once = rust.ask("run", operation=name, calls=1, warm=True)["nanoseconds"]
        calls = max(1, int(TURN * 1e9 / once))
        call()
        ratios: list[list[float]] = [[], []]
        for turn in range(ROUNDS):
            times = {}
            for side in (turn % 2, 1 - turn % 2):
                process = rust.process.pid if side else os.getpid()
                if not side:
                    call()
                start, begun = time.perf_counter(), worked(process)
                if side:
                    clock = rust.ask("run", operation=name, calls=calls, warm=False)["nanoseconds"] / 1e9
                else:
                    for _ in range(calls):
                        call()
                    clock = time.perf_counter() - start
                times[side] = clock, worked(process) - begun
            for kind in (0, 1):
                ratios[kind].append(times[0][kind] / times[1][kind])
        told = []
        for kind, what in enumerate(("by the clock", "by work")):
            quartiles = statistics.quantiles(ratios[kind], n=4)
            told.append(f"{quartiles[1]:.3f} ({quartiles[0]:.3f} to {quartiles[2]:.3f}) {what}")
        print(f"n = 2^{log2_degree}, {len(context.moduli)} moduli, {name}, {once / 1e3:.0f} µs: Python / Rust {', '.join(told)}")
    rust.process.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=CALLS, help="calls in a row of each operation")
    parser.add_argument("--set", help="bootstrap at this set, and nothing else")
    parser.add_argument("--rust", help="compare with this program in turns")
    given = parser.parse_args()
    with sunzi.threads(1):
        if given.set:
            bootstraps(given.set, min(given.calls, 3))
        elif given.rust:
            for log2_degree in (14, 15):
                compare(given.rust, log2_degree)
        else:
            for log2_degree in (14, 15):
                context = context_of(log2_degree)
                for name, call in operations(sunzi.keygen(context, rotations=[1])).items():
                    added(f"n = 2^{log2_degree}, {len(context.moduli)} moduli, {name}", call, given.calls)


if __name__ == "__main__":
    main()
