"""Trains a logistic regression on the encrypted Wisconsin table and compares it with scikit-learn's on the same split.

    python python/benches/wisconsin.py                     128 bits, n = 2^16: 8 GiB of memory
    python python/benches/wisconsin.py --set insecure-12-9 small and WITHOUT SECURITY
"""

from __future__ import annotations

import argparse
import json
import resource
import time

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sunzi
from sunzi import ml


def memory() -> float:
    """GiB that this process had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def split(seed: int) -> tuple[np.ndarray, ...]:
    """Four fifths of the table to train on, the same share of both classes in each part."""
    rows, target = load_breast_cancer(return_X_y=True)
    return tuple(train_test_split(rows, target, test_size=0.2, random_state=seed, stratify=target))


def in_the_clear(seeds: int) -> None:
    """The same steps in the clear on many splits, beside scikit-learn."""
    gaps, largest = [], 0.0
    for seed in range(seeds):
        rows, held, target, held_target = split(seed)
        usual = make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000)).fit(rows, target)
        ours = ml.LogisticRegression().fit_clear(rows, target)
        gaps.append(ours.score(held, held_target) - usual.score(held, held_target))
        largest = max(largest, ours.largest_score_)
    within = sum(gap >= -0.005 for gap in gaps)
    print(f"{seeds} splits in the clear: mean gap {np.mean(gaps):+.4f}, {within} no more than 0.005 below, largest score {largest:.2f} widths")


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--set", default="n16-128")
    options.add_argument("--splits", type=int, default=20)
    given = options.parse_args()
    in_the_clear(given.splits)
    rows, held, target, held_target = split(0)
    usual = make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000)).fit(rows, target)

    context = sunzi.Context.for_bootstrapping(given.set)
    clock = [time.perf_counter()]

    def lap() -> float:
        clock.append(time.perf_counter())
        return clock[-1] - clock[-2]

    keys = ml.training_keys(context, *rows.shape)
    seconds = {"keys": lap()}
    model = ml.LogisticRegression()
    table = model.encrypt(keys, rows, target)
    seconds["encryption"] = lap()
    model.fit(table, progress=lambda what, done, total: print(f"{what} {done}/{total}: {time.perf_counter() - clock[-1]:.1f} s", flush=True))
    seconds["training"] = lap()
    model.decrypt(keys)
    clear = ml.LogisticRegression().fit_clear(rows, target)
    figures = {
        "context": repr(context),
        "rows": len(rows),
        "features": rows.shape[1],
        "iterations": model.iterations,
        "seconds": {name: round(value, 2) for name, value in seconds.items()},
        "keys_gib": round(keys.public.nbytes / 2**30, 2),
        "table_mib": round(table.nbytes / 2**20, 1),
        "memory_gib": round(memory(), 2),
        "accuracy_encrypted": [round(model.score(rows, target), 4), round(model.score(held, held_target), 4)],
        "accuracy_scikit_learn": [round(usual.score(rows, target), 4), round(usual.score(held, held_target), 4)],
        "weights_differ_by": float(np.abs((model.coef_ - clear.coef_) * clear.deviation_).max()),
    }
    print(json.dumps(figures, indent=1))
    for ours, theirs in zip(figures["accuracy_encrypted"], figures["accuracy_scikit_learn"]):
        assert ours >= theirs - 0.005, "more than 0.5 % below scikit-learn"


if __name__ == "__main__":
    main()
