"""Two threads and two processes on one shared ciphertext and key set, against one: times in turns.

    python python/benches/pools.py
"""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import pickle
import statistics
import time
from collections.abc import Callable

import numpy as np

import sunzi

ROUNDS = 9
PRODUCTS = 24
KEYS: sunzi.PublicKeys
ARRAY: sunzi.EncryptedArray


def products(count: int) -> int:
    """So many products on one thread."""
    with sunzi.threads(1):
        for _ in range(count):
            ARRAY * ARRAY
    return count


def take(keys: bytes, array: bytes) -> None:
    """What a process is given once."""
    global KEYS, ARRAY
    KEYS = pickle.loads(keys)
    ARRAY = pickle.loads(array).with_keys(KEYS)


def measure(name: str, work: Callable[[list[int]], None]) -> None:
    """One worker with all products against two with half each."""
    ratios = []
    work([1, 1])
    for turn in range(ROUNDS):
        times = {}
        for workers in (1, 2) if turn % 2 else (2, 1):
            start = time.perf_counter()
            work([PRODUCTS // workers] * workers)
            times[workers] = time.perf_counter() - start
        ratios.append(times[1] / times[2])
    quartiles = statistics.quantiles(ratios, n=4)
    print(f"{name}: two are {quartiles[1]:.2f} times as fast as one ({quartiles[0]:.2f} to {quartiles[2]:.2f})")


def main() -> None:
    """n = 2^14, depth 5."""
    context = sunzi.Context.for_depth(5, log2_degree=14)
    keys = sunzi.keygen(context, rotations=[])
    array = keys.encrypt(np.cos(np.arange(context.slots)))
    data = pickle.dumps(keys.public), pickle.dumps(array)
    take(*data)
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        measure("threads", lambda counts: [*threads.map(products, counts)].clear())
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, spawn, take, data) as processes:
        measure("processes", lambda counts: [*processes.map(products, counts)].clear())


if __name__ == "__main__":
    main()
