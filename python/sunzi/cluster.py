"""Encrypted data sets that are larger than one machine: a program mapped over the partitions of Parquet files.

A data set is a folder of Parquet files or one file. A row group is a partition, and a row of the file is a *chunk*: the number of rows it holds
(``sunzi.rows``) and a ciphertext for each column, as docs/format.md has it. ``encrypt_parquet`` writes one, ``save_keys`` what those who
compute need, ``map`` runs a function of the columns of a chunk on Ray, on Dask, or here, and yields results as they come.

On each node the keys are loaded once, by a process that forks whoever computes: their pages are shared. Take pyarrow and ray, or
dask.distributed, besides.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import json
import os
import pickle
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Optional, Union, cast

import numpy as np
import numpy.typing as npt

from . import _native
from ._array import EncryptedArray
from ._context import Context, insecure_for_research_only
from ._crt import CrtCiphertext, CrtContext
from ._host import PathLike, connect, load_context, load_keys, receive, save_keys, send
from ._keys import Keys, PublicKeys
from ._layout import period_of
from .errors import KeyMismatch, ShapeError, Trailing

Columns = dict[str, EncryptedArray]
Result = Union[EncryptedArray, dict[str, EncryptedArray]]
#: A function of the columns of one chunk, by name.
Program = Callable[[Columns], Result]
Engine = Literal["local", "ray", "dask"]

#: Names and metadata that tables of the command line have too.
ROWS, CIPHERTEXT = "sunzi.rows", "sunzi.ciphertext"
#: Tasks that are under way for each worker: what is streamed waits for nobody.
_AHEAD = 2


@dataclasses.dataclass(frozen=True)
class Chunk:
    """The result of a program on one chunk of rows."""

    #: Which one, in the order of files and rows.
    index: int
    #: How many rows it has.
    rows: int
    #: What the program returned.
    result: Result


def _module(name: str) -> Any:
    """A package that only this module takes, and only where it is used."""
    return importlib.import_module(name)


# Data sets.


def encrypt_parquet(
    path: PathLike, keys: Union[Keys, PublicKeys], columns: Mapping[str, npt.ArrayLike], *, rows: Optional[int] = None
) -> int:
    """Encrypts columns of equal lengths, so many rows in a chunk (all slots of a ciphertext unless given), into a Parquet file; returns the number
    of chunks. A row group holds one of them, so that a file is written, read and moved chunk by chunk."""
    pa, pq = _module("pyarrow"), _module("pyarrow.parquet")

    tables = {name: np.asarray(column) for name, column in columns.items()}
    lengths = {column.shape for column in tables.values()}
    span = keys.context.slots if rows is None else rows
    if len(lengths) != 1 or any(column.ndim != 1 for column in tables.values()) or not 1 <= span <= keys.context.slots:
        raise ShapeError(f"columns of shapes {sorted(lengths)} in chunks of {span}: give columns of one length, and 1 to {keys.context.slots} rows")
    count = int(lengths.pop()[0])
    writer = None
    for start in range(0, count, span):
        part = {name: keys.encrypt(column[start : start + span]) for name, column in tables.items()}
        held = min(span, count - start)
        cells = {name: _cell(array.ciphertexts[0]) for name, array in part.items()}
        if writer is None:
            schema = pa.schema([pa.field(ROWS, pa.uint32(), nullable=False), *(_field(name, cell) for name, cell in cells.items())])
            writer = pq.ParquetWriter(os.fspath(path), schema, compression="none", use_dictionary=False, write_statistics=False)
        writer.write_table(pa.table([[held], *([cell] for cell in cells.values())], schema=schema))
    if writer is None:
        raise ShapeError("columns without rows: there is nothing to encrypt")
    writer.close()
    return -(-count // span)


def _field(name: str, cell: bytes) -> Any:
    """A column of ciphertexts and whose they are, by the header of one."""
    pa = _module("pyarrow")

    about = {"version": 1, "ring": cell[16:24].hex(), "scheme": cell[24:32].hex(), "key": cell[32:48].hex(), "column": name, "label": None}
    about["padding"] = 0
    metadata = {"ARROW:extension:name": CIPHERTEXT, "ARROW:extension:metadata": json.dumps(about)}
    return pa.field(name, pa.binary(), nullable=False, metadata=metadata)


@dataclasses.dataclass(frozen=True)
class _Place:
    """A chunk: which, and where."""

    index: int
    path: str
    group: int
    row: int


@dataclasses.dataclass(frozen=True)
class _Node:
    """What the process with the keys is started with."""

    folder: str
    threads: int
    #: Whether parameters without security were accepted.
    insecure: bool


def _places(data: PathLike) -> list[_Place]:
    pq = _module("pyarrow.parquet")

    top = Path(data)
    files = sorted(top.rglob("*.parquet")) if top.is_dir() else [top]
    found = []
    for file in files:
        metadata = pq.ParquetFile(file).metadata
        for group in range(metadata.num_row_groups):
            for row in range(metadata.row_group(group).num_rows):
                found.append((str(file.resolve()), group, row))
    return [_Place(index, *place) for index, place in enumerate(found)]


def read_chunk(context: Context, table: Any, row: int, keys: Optional[PublicKeys] = None) -> tuple[int, Columns]:
    """How many rows a chunk of an Arrow table has, and its columns."""
    names = {field.name: _padding(field) for field in table.schema if _is_ciphertext(field)}
    if not names or ROWS not in table.column_names:
        raise ShapeError(f"a table without {ROWS} or without columns of {CIPHERTEXT}: write it with encrypt_parquet or sunzi encrypt")
    rows = int(table[ROWS][row].as_py())
    columns: Columns = {}
    for name, fill in names.items():
        chunk = _opened(context, table[name][row].as_py())
        if keys is not None and chunk.key_id != keys.id:
            raise KeyMismatch(f"column {name} belongs to the key {chunk.key_id[:8]}, the keys to {keys.id[:8]}")
        period = chunk.slots if context.is_real else period_of(context, rows)
        if not 1 <= rows <= period:
            raise ShapeError(f"{rows} rows in {period} slots")
        columns[name] = EncryptedArray._make(context, [chunk], (rows,), period, fill, context.dtype, keys)
    return rows, columns


def _cell(chunk: Union[_native.Ciphertext, CrtCiphertext]) -> bytes:
    """A file for each plaintext modulus, one after the other."""
    return b"".join(part.to_bytes() for part in chunk.parts) if isinstance(chunk, CrtCiphertext) else chunk.to_bytes()


def _opened(context: Context, cell: bytes) -> _native.Ciphertext:
    native = context.lowlevel
    if not isinstance(native, CrtContext):
        return _native.Ciphertext.from_bytes(native, cell)
    parts = []
    for part in native.parts:
        # The header of a file says how long its body is.
        length = 64 + int.from_bytes(cell[48:56], "little")
        parts.append(_native.Ciphertext.from_bytes(part, cell[:length]))
        cell = cell[length:]
    if cell:
        raise Trailing(f"{len(cell)} bytes after the ciphertexts of {len(parts)} plaintext moduli")
    return cast(_native.Ciphertext, CrtCiphertext(parts))


def _is_ciphertext(field: Any) -> bool:
    own = getattr(field.type, "extension_name", None)
    return own == CIPHERTEXT or (field.metadata or {}).get(b"ARROW:extension:name") == CIPHERTEXT.encode()


def _padding(field: Any) -> Optional[int]:
    """What stands in slots without a row, where the writer says so."""
    value = json.loads((field.metadata or {}).get(b"ARROW:extension:metadata", b"{}")).get("padding")
    return value if isinstance(value, int) else None


# Work.


def _computed(keys: PublicKeys, program: bytes, place: _Place) -> tuple[int, bytes]:
    """One chunk: read, computed, and pickled."""
    pq = _module("pyarrow.parquet")

    run: Program = pickle.loads(program)
    table = pq.ParquetFile(place.path).read_row_group(place.group)
    rows, columns = read_chunk(keys.context, table, place.row, keys)
    return rows, pickle.dumps(run(columns))


#: The connections of a worker, by their keys: each is to a process of its own, which has them.
_CONNECTIONS: dict[str, Any] = {}


def _remote(node: _Node, program: bytes, place: _Place) -> tuple[int, bytes]:
    """The same in a process that shares the keys of its node."""
    with insecure_for_research_only() if node.insecure else contextlib.nullcontext():
        connection = _CONNECTIONS.pop(node.folder, None) or connect(node.folder, node.threads)
    send(connection, pickle.dumps((pickle.dumps(_computed), (program, place))))
    good, answer = pickle.loads(receive(connection))
    _CONNECTIONS[node.folder] = connection
    if not good:
        name, message, trace = answer
        raise RuntimeError(f"the program failed on chunk {place.index}: {name}: {message}\n{trace}")
    rows, result = answer
    return int(rows), bytes(result)


def map(  # noqa: A001
    program: Program,
    data: PathLike,
    keys: PathLike,
    *,
    engine: Engine = "ray",
    threads: int = 1,
    retries: int = 3,
    client: Any = None,
) -> Iterator[Chunk]:
    """Runs a program on every chunk of a data set, and yields results as they come.

    ``keys`` is the folder of ``save_keys`` or of ``sunzi keygen``, ``data`` a Parquet file or a folder of them; all nodes see both under these names. Each worker computes on so many
    ``threads``. A task whose worker or process ends is tried again, ``retries`` times. ``engine`` is ``"ray"``, on the cluster of ``ray.init``; ``"dask"``, on that
    of ``client``, a ``distributed.Client``; or ``"local"``: this process, one chunk after the other.
    Keys of parameters without security are taken within ``sunzi.insecure_for_research_only()`` only, or where their context is in use.
    """
    places = _places(data)
    folder = str(Path(keys).resolve())
    if engine == "local":
        yield from _local(program, places, folder)
        return
    context = load_context(folder)
    packed = _packed(program)
    # What is accepted here is accepted by the workers.
    node = _Node(folder, threads, context.security == 0)
    done = _on_ray(node, retries, packed, places) if engine == "ray" else _on_dask(client, node, retries, packed, places)
    for place, (rows, result) in done:
        found: Result = pickle.loads(result)
        arrays = found.values() if isinstance(found, dict) else [found]
        if any(array.context != context for array in arrays):
            raise KeyMismatch("a result of other parameters")
        yield Chunk(place.index, rows, found)


def _local(program: Program, places: list[_Place], folder: str) -> Iterator[Chunk]:
    pq = _module("pyarrow.parquet")

    keys = load_keys(folder)
    for place in places:
        rows, columns = read_chunk(keys.context, pq.ParquetFile(place.path).read_row_group(place.group), place.row, keys)
        yield Chunk(place.index, rows, program(columns))


def _packed(program: Program) -> bytes:
    """Functions of the caller's own by value, which pickle alone does not."""
    try:
        cloudpickle = _module("cloudpickle")
    except ImportError:
        cloudpickle = _module("ray.cloudpickle")
    return bytes(cloudpickle.dumps(program))


Done = Iterator[tuple[_Place, tuple[int, bytes]]]


def _on_ray(node: _Node, retries: int, program: bytes, places: list[_Place]) -> Done:
    ray = _module("ray")
    if not ray.is_initialized():
        ray.init()
    # A worker that ends, and a process of it that does.
    task = ray.remote(max_retries=retries, retry_exceptions=[ConnectionError], num_cpus=node.threads)(_remote)
    shared = ray.put(program)
    most = max(1, int(ray.cluster_resources().get("CPU", 1)) // node.threads) * _AHEAD
    waiting: dict[Any, _Place] = {}
    left = iter(places)
    while True:
        for place in left:
            waiting[task.remote(node, shared, place)] = place
            if len(waiting) >= most:
                break
        if not waiting:
            return
        ready, _ = ray.wait(list(waiting), num_returns=1)
        for one in ready:
            yield waiting.pop(one), ray.get(one)


def _on_dask(client: Any, node: _Node, retries: int, program: bytes, places: list[_Place]) -> Done:
    if client is None:
        raise ValueError("give the client of the cluster: client=distributed.Client(...)")
    shared = client.scatter(program, broadcast=True)
    left = iter(places)
    waiting: dict[Any, _Place] = {}

    def submit() -> Any:
        place = next(left, None)
        if place is None:
            return None
        future = client.submit(_remote, node, shared, place, retries=retries, pure=False)
        waiting[future.key] = place
        return future

    most = max(1, sum(client.nthreads().values())) * _AHEAD
    first = [future for future in (submit() for _ in range(most)) if future is not None]
    running = _module("distributed").as_completed(first)
    for future in running:
        place, answer = waiting.pop(future.key), future.result()
        following = submit()
        if following is not None:
            running.add(following)
        future.release()
        yield place, answer


__all__ = ["Chunk", "Columns", "Program", "encrypt_parquet", "load_context", "load_keys", "map", "read_chunk", "save_keys"]
