"""What the memory of a node grows by with each worker of a cluster, on Ray: python python/benches/cluster.py [--log2-degree 14]

Counts proportional shares (PSS) of all pages, so that a page that k processes share counts 1/k in each.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import ray

import sunzi
from sunzi import cluster


def shares(word: bytes) -> list[tuple[int, int]]:
    """PSS and private bytes of processes whose command line has this word."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and word in (entry / "cmdline").read_bytes():
                lines = dict(line.split(":", 1) for line in (entry / "smaps_rollup").read_text().splitlines() if ":" in line)
                pages = {name: int(value.split()[0]) * 1024 for name, value in lines.items() if value.strip().endswith("kB")}
                found.append((pages["Pss"], pages["Private_Clean"] + pages["Private_Dirty"]))
        except (OSError, KeyError):
            continue
    return found


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--log2-degree", type=int, default=14)
    options.add_argument("--rotations", type=int, default=400)
    options.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    given = options.parse_args()
    context = sunzi.Context.for_depth(4, log2_degree=given.log2_degree)
    keys = sunzi.keygen(context, rotations=[*range(1, given.rotations), *(1 << i for i in range(given.log2_degree - 1))])
    size = keys.public.nbytes
    print(f"{context}: keys of {size / 2**20:.0f} MiB")
    with tempfile.TemporaryDirectory() as folder:
        table, public = Path(folder) / "table.parquet", Path(folder) / "keys"
        rng = np.random.default_rng(1)
        values = rng.uniform(-1, 1, 16 * context.slots)
        chunks = cluster.encrypt_parquet(table, keys, {"x": values})
        cluster.save_keys(keys.public, public)

        def program(columns: cluster.Columns) -> sunzi.EncryptedArray:
            x = columns["x"]
            for _ in range(8):
                total = (x * x).sum()
            return total

        for count in given.workers:
            ray.init(num_cpus=count, include_dashboard=False, object_store_memory=10**8, log_to_driver=False)
            most, stop = [(0, 0, 0, 0)], threading.Event()

            def watch() -> None:
                while not stop.wait(0.2):
                    hosts, workers = shares(b"sunzi._host"), shares(b"ray::_remote")
                    most.append((sum(pss for pss, _ in hosts), sum(own for _, own in hosts), sum(pss for pss, _ in workers), len(hosts)))

            # The host is there, and has its keys, before anything is measured.
            for _ in cluster.map(program, table, public):
                pass
            watcher = threading.Thread(target=watch)
            watcher.start()
            started = time.perf_counter()
            sums = {chunk.index: float(keys.decrypt(chunk.result)) for chunk in cluster.map(program, table, public)}
            seconds = time.perf_counter() - started
            stop.set()
            watcher.join()
            expected = [float((part * part).sum()) for part in np.split(values, chunks)]
            worst = max(abs(sums[i] - wanted) for i, wanted in enumerate(expected))
            pss, _own, outside, processes = max(most)
            print(
                f"{count} workers: {seconds:.1f} s, host and {processes - 1} processes with keys share {pss / 2**20:.0f} MiB "
                f"({pss / size:.2f} key sets), Ray's workers {outside / 2**20:.0f} MiB; sums within {worst:.1e}",
                flush=True,
            )
            ray.shutdown()
            time.sleep(1)


if __name__ == "__main__":
    main()
