"""Threads, processes, signals and callbacks."""

from __future__ import annotations

import concurrent.futures
import gc
import mmap
import multiprocessing
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np
import pytest
from conftest import Party, numbers, record

import sunzi
from sunzi import _native


def test_the_work_of_calls_is_counted(party: Party) -> None:
    """It grows with every call, and one thread's calls work no longer than they take."""
    x = numbers(party, 600)
    a = party.encrypt(x)
    with sunzi.threads(1):
        calls: list[Callable[[], object]] = [lambda: a * a, lambda: a + a, lambda: a.rotate(1), lambda: party.encrypt(x)]
        for call in calls:
            for _ in range(10):
                before, start = _native.seconds_of_work(), time.perf_counter()
                call()
                work = _native.seconds_of_work() - before
                assert 0 < work <= time.perf_counter() - start


def test_threads_give_the_same_bits(party: Party) -> None:
    x = numbers(party, 1500)
    a = party.encrypt(x)
    results = []
    for count in (1, 2, 3):
        with sunzi.threads(count) as threads:
            assert threads.count == count
            results.append([chunk.to_bytes() for chunk in (a * a).ciphertexts])
    assert results[0] == results[1] == results[2]
    pool = sunzi.threads(2)
    with pool, sunzi.threads(1), pool:
        party.check(a + a, x + x)
    with pytest.raises(ValueError, match="at least one"):
        sunzi.threads(0)


def test_a_thread_pool_shares_everything(party: Party) -> None:
    x = numbers(party, 600)
    a = party.encrypt(x)

    def work(i: int) -> sunzi.EncryptedArray:
        with sunzi.threads(1):
            return a * a + i

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for i, result in enumerate(pool.map(work, range(8))):
            party.check(result, x * x + i)


KEYS: sunzi.PublicKeys


def start(data: bytes) -> None:
    """What each process of a pool is given once."""
    global KEYS
    with sunzi.insecure_for_research_only():
        KEYS = pickle.loads(data)


def square(a: sunzi.EncryptedArray) -> sunzi.EncryptedArray:
    """What they do."""
    a = a.with_keys(KEYS)
    return a * a


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_a_process_pool_shares_keys(party: Party, method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    x = numbers(party, 600)
    a = party.encrypt(x, bounds=(-9, 9))
    context = multiprocessing.get_context(method)
    data = pickle.dumps(party.keys.public)
    # A fork inherits the choice of threads, not the threads.
    with sunzi.threads(2), concurrent.futures.ProcessPoolExecutor(2, context, start, (data,)) as pool:
        for result in pool.map(square, [a] * 4, timeout=120):
            party.check(result, x * x)


def test_the_interpreter_runs_on(integers: Party) -> None:
    """Another thread counts while a key is made."""
    stop, counted = threading.Event(), [0]

    def count() -> None:
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.0005)

    thread = threading.Thread(target=count)
    thread.start()
    with sunzi.threads(1):
        sunzi.keygen(integers.context)
        before = counted[0]
        start = time.perf_counter()
        while time.perf_counter() - start < 0.3:
            sunzi.keygen(integers.context, rotations=[1])
    stop.set()
    thread.join()
    assert counted[0] - before > 50


def test_progress(integers: Party) -> None:
    told: list[tuple[str, int, int]] = []
    sunzi.keygen(integers.context, rotations=[1, 2, 5], progress=lambda *step: told.append(step))
    assert [done for _, done, _ in told] == [1, 2, 3, 4, 5]
    assert {(what, total) for what, _, total in told} == {("evaluation keys", 5)}

    def failing(what: str, done: int, total: int) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        sunzi.keygen(integers.context, progress=failing)
    a = integers.encrypt([1, 2])
    with pytest.raises(sunzi.errors.ReentrantCall):
        sunzi.keygen(integers.context, progress=lambda *_: a + a)


#: Whoever waits at a keyboard presses Ctrl-C again: the interpreter itself forgets one that arrives in a destructor. Shells start jobs in
#: the background with Ctrl-C ignored. These keys take nine gigabytes, which are told before any is made, and more than five seconds.
INTERRUPTED = """
import os, signal, threading, time
import sunzi
signal.signal(signal.SIGINT, signal.default_int_handler)
context = sunzi.Context.for_depth(2, dtype=int, log2_degree=14)
caught = threading.Event()

def press():
    while not caught.wait(0.5):
        signal.raise_signal(signal.SIGINT)

start = time.perf_counter()
try:
    threading.Thread(target=press, daemon=True).start()
    sunzi.keygen(context, rotations=range(2500))
except KeyboardInterrupt:
    caught.set()
    print(time.perf_counter() - start, flush=True)
    os._exit(0)
"""


def test_a_keyboard_interrupt_ends_the_wait() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=300, check=True)
    assert float(done.stdout) < 5, done.stdout


def test_no_destructor_forgets_an_interrupt() -> None:
    """A context that dies calls no Python: what is raised there would be printed and lost."""
    data = sunzi.Context.for_depth(1, dtype=int, security=0, log2_degree=11).to_bytes()
    called: list[str] = []

    def noted(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            called.append(frame.f_code.co_name)

    context = sunzi.Context.from_bytes(data, insecure_for_research_only=True)
    sys.setprofile(noted)
    try:
        del context
    finally:
        sys.setprofile(None)
    assert called == []


def test_memory_stays_flat(reals: Party) -> None:
    statm = Path("/proc/self/statm")
    if not statm.exists():
        pytest.skip("no /proc here")

    def resident() -> int:
        """KiB in memory now: a peak that other tests left would hide what grows below it."""
        gc.collect()
        return int(statm.read_text().split()[1]) * mmap.PAGESIZE // 1024

    x = numbers(reals, 8)
    a = reals.encrypt(x)
    rng = np.random.default_rng(3)
    keys = reals.keys

    wrong = 0

    def once() -> None:
        nonlocal wrong
        kind = rng.integers(6)
        if kind == 0:
            result, expected = a + a, x + x
        elif kind == 1:
            result, expected = a * a, x * x
        elif kind == 2:
            result, expected = a * x, x * x
        elif kind == 3:
            result, expected = a.rotate(3), np.roll(x, -3)
        elif kind == 4:
            result, expected = keys.encrypt(x), x
        else:
            result, expected = pickle.loads(pickle.dumps(a)), x
        # Every decryption would make most of the operations decryptions.
        if rng.integers(4) == 0:
            wrong += not np.allclose(keys.decrypt(result), expected, rtol=0, atol=1e-3)

    with sunzi.threads(1):
        for _ in range(1000):
            once()
        before = resident()
        for _ in range(8000):
            once()
    grown = resident() - before
    record(20, "wrong values of random operations, Python", wrong, 0, 8000)
    # A ciphertext of this ring has 130.
    record(20, "KiB of memory more after them, Python", grown, 8192, 8000)
