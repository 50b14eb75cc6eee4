"""Programs on encrypted tables, in the language of ``sunzi plan`` and ``sunzi eval``, whose files these are.

A schema says what is public of a table, a program what is computed from its columns, a plan in which scheme: sums, products and groups in BFV, BGV or CKKS,
functions of any depth in CKKS with bootstrapping, order, tables and exact comparisons on encrypted integers.

>>> from sunzi import tables
>>> schema = tables.Schema(4, {"age": tables.integer(0, 120), "cost": tables.decimal(0, 99.99, decimals=2)})
>>> plan = tables.Program("mean(age); sum(age * cost)", schema).plan()
>>> keys = plan.keygen()
>>> float(plan.run(keys, {"age": [18, 65, 30, 41], "cost": [1.5, 20, 0, 99.99]})["mean(age)"])
38.5
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, Optional, Union

from . import _html, _native
from ._cells import Frame, Table, columns_of
from ._context import _INSECURE
from ._table_results import Number, Results, Rows, Value, opened
from ._table_schema import Column, Schema, category, date, decimal, integer, real

#: The text of a file that a program names, its path, or the entries of a table by their numbers.
File = Union[str, "os.PathLike[str]", Mapping[Any, Any]]
Scheme = Literal["bfv", "bgv", "ckks", "integers"]
Progress = Callable[[int, int], object]
_Path = Union[str, "os.PathLike[str]"]


class Program:
    """What is computed from the columns of a table, in the language that ``sunzi help language`` and the book describe.

    ``files`` has what the program names in quotation marks, as in ``lookup(age, "rates")``: the text of a file, its path, or a dict of entries by
    numbers. No other file is read.

    >>> schema = tables.Schema(1000, {"age": tables.integer(18, 20)})
    >>> program = tables.Program('median(age); sum(lookup(age, "rates"))', schema, files={"rates": {18: 0.5, 19: 0.75, 20: 1}})
    >>> program.outputs
    ['median(age)', 'sum(lookup(age, "rates"))']
    """

    __slots__ = ("_inner",)
    _inner: _native.TableProgram

    def __init__(self, text: str, schema: Schema, files: Optional[Mapping[str, File]] = None) -> None:
        texts = {name: _text(file) for name, file in (files or {}).items()}
        self._inner = _native.TableProgram(text, schema._inner, texts)

    @property
    def outputs(self) -> list[str]:
        """The names of the results."""
        return self._inner.outputs

    @property
    def schema(self) -> Schema:
        """The schema of the table."""
        return Schema._of(self._inner.schema)

    def to_json(self) -> str:
        """In JSON with its schema and the texts of ``files``, as ``sunzi remote put program --schema`` sends a program to a server."""
        return self._inner.to_json()

    def plan(
        self,
        *,
        scheme: Optional[Scheme] = None,
        precision: int = 16,
        security: int = 128,
        log2_degree: Optional[int] = None,
        reencryptions: Optional[tuple[int, int, int]] = None,
        keys: Optional[Keys] = None,
    ) -> Plan:
        """Scheme, parameters and keys of the program, before anything is encrypted; ``errors.Refused`` says what no parameters hold, and what would help.

        Without a ``scheme`` it is the cheapest that computes the program: encrypted integers where it has order or tables, CKKS with bootstrapping where it is
        deeper than any parameters. ``precision`` is that of CKKS, in bits of each number's range. ``security=0`` allows small rings, for tests.
        ``reencryptions`` are three numbers, how many times in a row results are handed on to another owner, how many ciphertexts of one owner, and with how many
        statistical bits (``sunzi.ReencryptionKey``): the scheme is BFV or BGV, and each owner makes keys of this plan. With ``keys`` it is the plan within their
        parameters.
        """
        if keys is None:
            asked = self._inner.plan(
                scheme=scheme, precision=precision, security=security, log2_degree=log2_degree, reencryptions=reencryptions
            )
            return Plan._of(asked)
        if scheme is not None or log2_degree is not None or security != 128 or reencryptions is not None:
            raise TypeError("scheme, security, log2_degree and reencryptions are those of the keys: leave them out")
        return Plan._of(keys._inner.plan(self._inner, precision))

    def __repr__(self) -> str:
        return f"<sunzi.tables.Program of {'; '.join(self.outputs)}>"


def _text(file: File) -> str:
    if isinstance(file, Mapping):
        return "".join(f"{number},{entry}\n" for number, entry in file.items())
    return file if isinstance(file, str) else Path(file).read_text(encoding="utf-8")


class Plan:
    """What a program takes on a table: scheme, parameters, keys, memory and time, with reasons. Both parties make equal plans of equal programs."""

    # No slots: times are kept once they were measured.
    _inner: _native.TablePlan

    def __init__(self) -> None:
        raise TypeError("make plans with Program.plan or Plan.from_json")

    @classmethod
    def _of(cls, inner: _native.TablePlan) -> Plan:
        plan = cls.__new__(cls)
        plan._inner = inner
        return plan

    @property
    def scheme(self) -> str:
        """``"bfv"``, ``"bgv"``, ``"ckks"`` or ``"integers"``."""
        return self._inner.scheme

    @property
    def degree(self) -> int:
        """The ring degree n."""
        return self._inner.degree

    @property
    def security(self) -> int:
        """Bits of security; 0 of parameters for tests."""
        return self._inner.security

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return self._inner.layout[0]

    @property
    def chunks(self) -> int:
        """In how many pieces the rows are encrypted."""
        return self._inner.layout[2]

    @property
    def depth(self) -> int:
        """Levels in CKKS, products in a row in exact schemes; 0 for integers, which have no such limit."""
        return self._inner.depth

    @property
    def look_ups(self) -> Optional[int]:
        """Look-ups of a run on encrypted integers, each of about a second; None in other schemes."""
        return self._inner.look_ups

    @property
    def bootstraps(self) -> Optional[int]:
        """Bootstraps of a run in CKKS; None where parameters have levels for the whole program."""
        return self._inner.bootstraps

    @property
    def log2_failure(self) -> Optional[float]:
        """log2 of the probability that one look-up, or one bootstrap, goes wrong; None where there are none."""
        return self._inner.log2_failure

    @property
    def key_bytes(self) -> int:
        """Bytes of the files of evaluation keys."""
        return self._inner.key_bytes

    @property
    def table_bytes(self) -> int:
        """Bytes in memory of all ciphertexts that a run reads."""
        return self._inner.table_bytes

    @property
    def memory(self) -> int:
        """Bytes that a run takes at most, about."""
        return self._inner.memory

    @property
    def precision(self) -> Optional[float]:
        """Bits of each number's range that parameters of CKKS leave right; None for exact schemes, and with bootstraps."""
        return self._inner.precision

    @functools.cached_property
    def seconds(self) -> Optional[float]:
        """Seconds of a run here, by operations that are measured when this is first asked for; None with bootstraps, whose time is not estimated."""
        return self._inner.seconds()

    @property
    def reasons(self) -> list[str]:
        """Why this scheme and these parameters."""
        return self._inner.reasons

    @property
    def outputs(self) -> list[str]:
        """The names of the results."""
        return self._inner.program.outputs

    @property
    def schema(self) -> Schema:
        """The schema of the table."""
        return Schema._of(self._inner.program.schema)

    @property
    def parameters(self) -> bytes:
        """The parameters in bytes, as the file that ``sunzi plan --output`` writes and ``sunzi keygen`` reads."""
        return self._inner.parameters()

    def to_json(self) -> str:
        """In JSON, as the commands of the command line take a plan. The program is in it, and no key."""
        return self._inner.to_json()

    @classmethod
    def from_json(cls, text: str, *, insecure_for_research_only: bool = False) -> Plan:
        """From JSON, as ``to_json`` and ``sunzi plan --json`` write it, which may come from anybody: everything but program, parameters and layout is found again.
        Parameters without security are refused unless ``insecure_for_research_only`` says that they may come."""
        return cls._of(_native.TablePlan.from_json(text, insecure_for_research_only=insecure_for_research_only or _INSECURE.get()))

    # What the parties do.

    def keygen(self, *, progress: Optional[Progress] = None) -> Keys:
        """All keys of the plan. ``progress`` is called with the numbers of keys made and of all keys of look-ups or bootstraps."""
        return Keys._of(_native.TableKeys.generate(self._inner, progress))

    def encrypt(self, keys: Keys, table: Table) -> EncryptedTable:
        """Encrypts the columns of the schema, with the secret key if it is there, else with the public one. ``table`` is a dict of arrays or a DataFrame; other columns of it are left out.

        Numbers are read by their digits, so that 0.1 is one tenth. Missing are masked cells, None, and numbers that are none. Cells out of their declared
        range are refused.
        """
        names = set(self.schema.names)
        columns = [column for column in columns_of(table) if column[0] in names]
        return EncryptedTable._of(keys._inner.encrypt(self._inner, columns))

    def compute(self, keys: Keys, table: EncryptedTable, *, progress: Optional[Progress] = None) -> Results:
        """Runs the program on an encrypted table, with evaluation keys alone. ``progress`` is called with the numbers of look-ups, bootstraps or inputs done and of all."""
        return Results._of(keys._inner.compute(self._inner, table._inner, progress))

    def decrypt(self, keys: Keys, results: Results) -> dict[str, Value]:
        """Opens the results with the secret key: a ``Number`` for each total, a dict of them by labels for groups, ``Rows`` for columns. Results of another program are
        refused. Errors of CKKS depend on the secret key: give its results to nobody who made or chose the ciphertexts.
        """
        return {name: opened(value) for name, value in keys._inner.decrypt(self._inner, results._inner)}

    def run(self, keys: Keys, table: Table, *, progress: Optional[Progress] = None) -> dict[str, Value]:
        """Encrypts, computes and decrypts, for whoever has all keys."""
        return self.decrypt(keys, self.compute(keys, self.encrypt(keys, table), progress=progress))

    def _facts(self) -> list[tuple[str, str]]:
        inner = self._inner
        rows, span, chunks = inner.layout
        facts = [("scheme", f"{inner.name}, n = {inner.degree}, {inner.security} bits of security"), ("rows", f"{rows} in {chunks} of {span}")]
        if self.look_ups is not None:
            facts.append(("look-ups", str(self.look_ups)))
        else:
            facts.append(("depth", f"{self.depth}, {inner.rotations} rotations"))
        if self.bootstraps is not None:
            facts.append(("bootstraps", str(self.bootstraps)))
        if self.precision is not None:
            facts.append(("precision", f"{self.precision:.0f} bits"))
        facts.append(("keys", _html.megabytes(self.key_bytes)))
        facts.append(("table", _html.megabytes(self.table_bytes)))
        facts.append(("memory", _html.megabytes(self.memory)))
        facts.extend(("because", reason) for reason in self.reasons)
        return facts

    def __repr__(self) -> str:
        lines = "".join(f"\n  {name:<14}{value}" for name, value in self._facts())
        return f"<sunzi.tables.Plan{lines}>"

    def _repr_html_(self) -> str:
        return _html.table("sunzi.tables.Plan", self._facts())


def _passphrase(passphrase: Optional[Union[str, bytes]]) -> Optional[bytes]:
    return passphrase.encode() if isinstance(passphrase, str) else passphrase


class Keys:
    """Keys of a plan: all of them from ``Plan.keygen``, or those that a party has from ``Keys.load``. They are not pickled: ``save`` writes them."""

    __slots__ = ("_inner",)
    _inner: _native.TableKeys

    def __init__(self) -> None:
        raise TypeError("make keys with Plan.keygen, or read them with Keys.load")

    @classmethod
    def _of(cls, inner: _native.TableKeys) -> Keys:
        keys = cls.__new__(cls)
        keys._inner = inner
        return keys

    @classmethod
    def load(cls, folder: _Path, *, insecure_for_research_only: bool = False, passphrase: Optional[Union[str, bytes]] = None) -> Keys:
        """The keys in a folder that ``save`` or ``sunzi keygen`` made, or in one of the folders in it: ``secret`` of the owner, ``public`` of whoever encrypts, ``eval`` of
        whoever computes. Parameters without security are refused unless ``insecure_for_research_only`` says that they may come. A secret key under a passphrase takes it:
        ``errors.PassphraseMissing``, ``errors.PassphraseWrong``."""
        insecure = insecure_for_research_only or _INSECURE.get()
        return cls._of(_native.TableKeys.load(folder, insecure_for_research_only=insecure, passphrase=_passphrase(passphrase)))

    def save(self, folder: _Path, *, passphrase: Optional[Union[str, bytes]] = None) -> None:
        """Writes the folders ``secret``, ``public`` and ``eval``, each for one party, into a folder that is not there yet. With a passphrase, of 1 to 1024 bytes, the secret key is
        encrypted under it (Argon2id, XChaCha20-Poly1305): ``sunzi passphrase`` changes and removes it."""
        self._inner.save(folder, passphrase=_passphrase(passphrase))

    @property
    def public(self) -> Keys:
        """The same keys without the secret one, for whoever encrypts and computes."""
        return Keys._of(self._inner.without_secret)

    @property
    def id(self) -> str:
        """The name of the secret key, which is no secret."""
        return self._inner.id

    def __repr__(self) -> str:
        names = [name for name, there in zip(("secret", "public", "eval"), self._inner.parts) if there]
        return f"<sunzi.tables.Keys {self.id[:8]} of {self._inner.scheme}, n = {self._inner.degree}: {', '.join(names)}>"


class EncryptedTable:
    """An encrypted table. Its bytes are the file that ``sunzi encrypt`` writes and ``sunzi eval`` reads."""

    __slots__ = ("_inner",)
    _inner: _native.TableBytes

    def __init__(self) -> None:
        raise TypeError("make encrypted tables with Plan.encrypt, or read them with EncryptedTable.from_bytes")

    @classmethod
    def _of(cls, inner: _native.TableBytes) -> EncryptedTable:
        table = cls.__new__(cls)
        table._inner = inner
        return table

    @classmethod
    def from_bytes(cls, data: bytes) -> EncryptedTable:
        """From the bytes of ``to_bytes``, or of a file of ``sunzi encrypt``, which may come from anybody."""
        return cls._of(_native.TableBytes.from_bytes(data))

    def to_bytes(self) -> bytes:
        """The table in bytes: its schema, its clear columns and its ciphertexts."""
        return self._inner.to_bytes()

    @property
    def nbytes(self) -> int:
        """How many bytes it has."""
        return self._inner.nbytes

    @property
    def schema(self) -> Schema:
        """What is public of the table."""
        return Schema._of(self._inner.schema)

    @property
    def key(self) -> str:
        """The name of the secret key that opens it."""
        return self._inner.key

    def __repr__(self) -> str:
        return f"<sunzi.tables.EncryptedTable of {self.schema.rows} rows, {_html.megabytes(self.nbytes)}, for key {self.key[:8]}>"


__all__ = [
    "Column",
    "EncryptedTable",
    "Frame",
    "Keys",
    "Number",
    "Plan",
    "Program",
    "Results",
    "Rows",
    "Schema",
    "Value",
    "category",
    "date",
    "decimal",
    "integer",
    "real",
]
