"""What Python adds: the same operation through an array and in Rust alone, in turns, on one thread each, by the clock and by the
time that the processors worked, which other programs do not disturb (Linux only).

    cargo build --release -p bench
    python python/benches/overhead.py target/release/bench
"""

from __future__ import annotations

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

ROUNDS = 41
#: Seconds that a turn takes.
TURN = 0.02


def worked(process: int) -> float:
    """Seconds that all threads of a process have worked."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


class Rust:
    """`bench serve`, which times itself."""

    def __init__(self, program: str) -> None:
        self.process = subprocess.Popen([program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
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


def compare(program: str, log2_degree: int) -> None:
    """Alternating rounds of CKKS operations at one set of moduli."""
    depth = {14: 5, 15: 12}[log2_degree]
    context = sunzi.Context.for_depth(depth, precision=20, log2_degree=log2_degree, sums=0)
    native = context.lowlevel
    keys = sunzi.keygen(context, rotations=[1])
    slots = context.slots
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
    a, b = keys.encrypt(np.cos(np.arange(slots))), keys.encrypt(np.sin(np.arange(slots)))
    cases: dict[str, Callable[[], object]] = {
        "multiply_relinearize_rescale": lambda: a * b,
        "rotate": lambda: a.rotate(1),
        "add": lambda: a + b,
    }
    for name, call in cases.items():
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


if __name__ == "__main__":
    with sunzi.threads(1):
        for log2_degree in (14, 15):
            compare(sys.argv[1], log2_degree)
