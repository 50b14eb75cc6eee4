"""A program over the chunks of an encrypted Parquet file: the same results on a cluster, with workers killed, as in one process."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sunzi

pytest.importorskip("pyarrow")
from sunzi import cluster  # noqa: E402

ROWS, CHUNK = 300, 64
RNG = np.random.default_rng(3)
TABLE = {"x": RNG.integers(-9, 10, ROWS), "y": RNG.integers(-9, 10, ROWS)}


class Data:
    def __init__(self, folder: Path) -> None:
        self.context = sunzi.Context.for_depth(1, dtype=int, result_bound=2**20, security=0, log2_degree=10)
        self.keys = sunzi.keygen(self.context)
        self.table, self.public = folder / "table.parquet", folder / "keys"
        assert cluster.encrypt_parquet(self.table, self.keys, TABLE, rows=CHUNK) == 5
        cluster.save_keys(self.keys.public, self.public)

    def check(self, chunks: list[cluster.Chunk]) -> None:
        """Against the clear table, whatever order they came in."""
        assert sorted(chunk.index for chunk in chunks) == list(range(5))
        for chunk in chunks:
            part = {name: column[chunk.index * CHUNK :][:CHUNK] for name, column in TABLE.items()}
            assert chunk.rows == len(part["x"]) and isinstance(chunk.result, dict)
            np.testing.assert_array_equal(self.keys.decrypt(chunk.result["each"]), part["x"] * part["y"] + 1)
            assert int(self.keys.decrypt(chunk.result["dot"])) == int(part["x"] @ part["y"])


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    return Data(tmp_path_factory.mktemp("cluster"))


def program(columns: cluster.Columns) -> dict[str, sunzi.EncryptedArray]:
    x, y = columns["x"], columns["y"]
    return {"each": x * y + 1, "dot": x @ y}


def failing_once(marker: str, seconds: float, kills: bool) -> cluster.Program:
    """The program, which on its first call waits, or ends the process it is in."""

    def run(columns: cluster.Columns) -> dict[str, sunzi.EncryptedArray]:
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            pass
        else:
            time.sleep(seconds)
            if kills:
                os.kill(os.getpid(), signal.SIGKILL)
        x, y = columns["x"], columns["y"]
        return {"each": x * y + 1, "dot": x @ y}

    return run


def test_one_process(data: Data) -> None:
    chunks = list(cluster.map(program, data.table, data.public, engine="local"))
    assert [chunk.index for chunk in chunks] == list(range(5))
    data.check(chunks)


def test_what_is_refused(data: Data, tmp_path: Path) -> None:
    with pytest.raises(sunzi.errors.ShapeError):
        cluster.encrypt_parquet(tmp_path / "a", data.keys, {"x": np.ones(2, int), "y": np.ones(3, int)})
    with pytest.raises(sunzi.errors.ShapeError):
        cluster.encrypt_parquet(tmp_path / "a", data.keys, {"x": np.ones(2, int)}, rows=10**6)
    other = sunzi.keygen(data.context)
    cluster.encrypt_parquet(tmp_path / "other.parquet", other, {"x": np.ones(2, int)})
    with pytest.raises(sunzi.errors.KeyMismatch):
        list(cluster.map(program, tmp_path / "other.parquet", data.public, engine="local"))


def test_several_plaintext_moduli(tmp_path: Path) -> None:
    context = sunzi.Context.for_depth(1, dtype=int, result_bound=2**50, security=0, log2_degree=11)
    keys, values = sunzi.keygen(context), np.array([2**24, -(2**23), 5])
    cluster.encrypt_parquet(tmp_path / "wide.parquet", keys, {"x": values})
    cluster.save_keys(keys.public, tmp_path / "keys")
    (chunk,) = cluster.map(lambda columns: columns["x"] * columns["x"], tmp_path / "wide.parquet", tmp_path / "keys", engine="local")
    assert isinstance(chunk.result, sunzi.EncryptedArray)
    assert keys.decrypt(chunk.result).tolist() == (values * values).tolist()


def test_keys_come_back(data: Data) -> None:
    keys = cluster.load_keys(data.public)
    assert keys.id == data.keys.id and keys.exponents == data.keys.public.exponents
    square = (keys.encrypt(np.array([3, 4])) ** 2).sum()
    assert int(data.keys.decrypt(square)) == 25


def test_keys_of_the_command_line(data: Data, tmp_path: Path) -> None:
    """The same files under the names that sunzi keygen gives them."""
    for name, source in {"eval/parameters.sz": "parameters", "eval/galois.sz": "evaluation", "public/public.sz": "public"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((data.public / source).read_bytes())
    with pytest.raises(sunzi.errors.Insecure):
        cluster.load_context(tmp_path)
    with sunzi.insecure_for_research_only():
        data.check(list(cluster.map(program, data.table, tmp_path, engine="local")))


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=10**8, log_to_driver=False)
    yield ray
    ray.shutdown()


def workers() -> list[int]:
    """Processes of Ray that are at work on chunks."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cmdline").read_bytes().startswith(b"ray::_remote"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def test_ray(data: Data, ray: Any) -> None:
    data.check(list(cluster.map(failing_once(os.devnull, 0, False), data.table, data.public)))


def test_a_process_that_ends_is_replaced(data: Data, ray: Any, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    data.check(list(cluster.map(failing_once(str(marker), 0, True), data.table, data.public)))
    assert marker.exists()


def test_a_worker_that_is_killed_is_replaced(data: Data, ray: Any, tmp_path: Path) -> None:
    marker, chunks, killed = tmp_path / "marker", [], 0
    for chunk in cluster.map(failing_once(str(marker), 3, False), data.table, data.public):
        chunks.append(chunk)
        if not killed and marker.exists() and workers():
            killed = workers()[0]
            os.kill(killed, signal.SIGKILL)
    assert killed
    data.check(chunks)


def test_keys_are_in_memory_once(ray: Any, tmp_path: Path) -> None:
    context = sunzi.Context.for_depth(4, security=0, log2_degree=12)
    keys = sunzi.keygen(context, rotations=range(1, 200))
    assert keys.public.nbytes > 2**26
    cluster.encrypt_parquet(tmp_path / "x.parquet", keys, {"x": np.ones(8)}, rows=1)
    cluster.save_keys(keys.public, tmp_path / "keys")

    def private(columns: cluster.Columns) -> sunzi.EncryptedArray:
        product = columns["x"] * columns["x"]
        lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
        own = sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) * 1024
        (tmp_path / str(os.getpid())).write_text(str(own))
        time.sleep(0.2)
        return product

    assert len(list(cluster.map(private, tmp_path / "x.parquet", tmp_path / "keys"))) == 8
    own = [int(path.read_text()) for path in tmp_path.iterdir() if path.name.isdigit()]
    assert len(own) >= 2 and max(own) < keys.public.nbytes / 2


def test_errors_of_programs_are_told(data: Data, ray: Any) -> None:
    def wrong(columns: cluster.Columns) -> sunzi.EncryptedArray:
        return columns["z"]

    with pytest.raises(Exception, match="KeyError.*z"):
        list(cluster.map(wrong, data.table, data.public))


def test_dask(data: Data, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local, distributed.Client(local) as client:
        marker = tmp_path / "marker"
        data.check(list(cluster.map(failing_once(str(marker), 0, True), data.table, data.public, engine="dask", client=client)))
