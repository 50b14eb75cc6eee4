"""Programs on tables, in every scheme, against numpy. Rings are small, and without any security."""

from __future__ import annotations

import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any, Union

import numpy as np
import numpy.typing as npt
import pytest

import sunzi
from sunzi import errors, tables

ROWS = 23
RNG = np.random.default_rng(5)
SMALL: dict[str, Any] = {"security": 0, "log2_degree": 9}
RATES = {age: Fraction(age * age, 4) for age in range(91)}


def columns() -> dict[str, tables.Column]:
    return {
        "age": tables.integer(18, 90),
        "cost": tables.decimal("-10.0", 15, decimals=1),
        "seen": tables.integer(3, 12, missing=True),
        "region": tables.category("north", "south", "nowhere"),
        "year": tables.integer(2000, 2020, encrypted=False),
    }


def table(rows: int = ROWS) -> dict[str, Any]:
    """Cells with the ends of their ranges, equal ones, and some that are missing."""
    age = RNG.integers(18, 91, rows)
    age[:6] = [18, 90, 65, 65, 66, 64]
    cost = RNG.integers(-100, 151, rows) / 10
    cost[:2] = [-10, 15]
    seen = RNG.integers(3, 13, rows).astype(float)
    seen[::7] = np.nan
    return {"age": age, "cost": cost, "seen": seen, "region": np.where(np.arange(rows) % 3, "north", "south"), "year": RNG.integers(2000, 2021, rows)}


def planned(text: str, rows: int = ROWS, **options: Any) -> tables.Plan:
    program = tables.Program(text, tables.Schema(rows, columns()), files={"rates": {age: f"{float(rate)}" for age, rate in RATES.items()}})
    return program.plan(**{**SMALL, **options})


def tenths(numbers: npt.NDArray[Any]) -> int:
    return int(np.rint(10 * numbers).astype(int).sum())


def number(value: tables.Value) -> tables.Number:
    assert isinstance(value, tables.Number)
    return value


def exactly(value: tables.Value, expected: Union[int, Fraction]) -> None:
    assert number(value).exact == expected and number(value).error == 0 and float(number(value)) == float(expected)


def rows(value: tables.Value, expected: npt.ArrayLike) -> None:
    assert isinstance(value, tables.Rows)
    assert np.asarray(value).shape == value.errors.shape == (len(value),)
    np.testing.assert_array_less(np.abs(value.values - np.asarray(expected, dtype=float)), value.errors + 1e-12)


@pytest.mark.parametrize("scheme", ["bfv", "bgv", "integers"])
def test_sums_products_and_groups_are_exact(scheme: Any) -> None:
    last = "max" if scheme == "integers" else "sum"
    plan, cells = planned(f"mean(age); sum(age * cost); sum(cost) by region; mean(seen); age - 2 * cost; {last}(year)", scheme=scheme), table()
    keys = plan.keygen()
    found = plan.run(keys, cells)
    assert plan.scheme == scheme and list(found) == plan.outputs
    exactly(found["mean(age)"], Fraction(int(cells["age"].sum()), ROWS))
    exactly(found["sum(age * cost)"], Fraction(tenths(cells["age"] * cells["cost"]), 10))
    groups = found["sum(cost) by region"]
    assert isinstance(groups, dict) and list(groups) == ["north", "south", "nowhere"]
    for region, value in groups.items():
        exactly(value, Fraction(tenths(cells["cost"][cells["region"] == region]), 10))
    present = cells["seen"][~np.isnan(cells["seen"])]
    exactly(found["mean(seen)"], Fraction(int(present.sum()), len(present)))
    rows(found["age - 2 * cost"], cells["age"] - 2 * cells["cost"])
    clear = number(found[f"{last}(year)"])
    assert clear.never_encrypted and clear.exact == getattr(cells["year"], last)()
    assert not number(found["mean(age)"]).never_encrypted


def test_order_choices_and_tables_are_exact() -> None:
    text = 'median(age); quantile(cost, 0.1); top(age, 3); sort(age); max(cost) - min(cost); sum(where(age > 65, cost, 0)); lookup(age, "rates"); mean(age) by region'
    plan, cells = planned(text), table()
    assert plan.scheme == "integers" and plan.look_ups and plan.bootstraps is None and plan.log2_failure is not None and plan.log2_failure < -100
    steps: list[tuple[int, int]] = []
    keys = plan.keygen()
    results = plan.compute(keys.public, plan.encrypt(keys.public, cells), progress=lambda done, total: steps.append((done, total)))
    assert steps[-1] == (plan.look_ups, plan.look_ups) and len(steps) == plan.look_ups
    found = plan.decrypt(keys, results)
    in_order = np.sort(cells["age"])
    exactly(found["median(age)"], int(in_order[ROWS // 2]))
    below, above = np.rint(10 * np.sort(cells["cost"])[2:4]).astype(int)
    exactly(found["quantile(cost, 0.1)"], Fraction(int(below), 10) + Fraction(1, 5) * Fraction(int(above - below), 10))
    top = found["top(age, 3)"]
    assert isinstance(top, dict) and [float(value) for value in top.values()] == in_order[:-4:-1].tolist()
    rows(found["sort(age)"], in_order)
    exactly(found["max(cost) - min(cost)"], 25)
    exactly(found["sum(where(age > 65, cost, 0))"], Fraction(tenths(cells["cost"][cells["age"] > 65]), 10))
    rows(found['lookup(age, "rates")'], [float(RATES[age]) for age in cells["age"].tolist()])
    groups = found["mean(age) by region"]
    assert isinstance(groups, dict)
    exactly(groups["south"], Fraction(int(cells["age"][::3].sum()), len(cells["age"][::3])))
    # Nobody is nowhere.
    assert groups["nowhere"].undefined and np.isnan(float(groups["nowhere"])) and groups["nowhere"].exact is None


def test_real_numbers_state_their_errors() -> None:
    plan, cells = planned("mean(exp(0.05 * age)); var(cost); sqrt(age)", scheme="ckks"), table()
    assert plan.precision is not None and plan.precision >= 16 and plan.bootstraps is None and plan.seconds is not None
    found = plan.run(plan.keygen(), cells)
    for value, expected in [(found["mean(exp(0.05 * age))"], np.exp(0.05 * cells["age"]).mean()), (found["var(cost)"], cells["cost"].var(ddof=1))]:
        assert number(value).exact is None and abs(float(number(value)) - expected) <= number(value).error < 0.1
    rows(found["sqrt(age)"], np.sqrt(cells["age"]))


def test_programs_deeper_than_any_parameters_bootstrap() -> None:
    text, count = "x", 83
    x = np.linspace(-1, 1, count)
    expected = x
    for _ in range(20):
        text, expected = f"poly({text}, 0.125, 0.25, 0.5)", 0.125 + 0.25 * expected + 0.5 * expected**2
    schema = tables.Schema(count, {"x": tables.real(-1, 1), "rate": tables.real(0, 1, encrypted=False)})
    plan = tables.Program(f"m = mean({text}); y = rate * {text}", schema).plan(scheme="ckks", **SMALL)
    assert plan.bootstraps and plan.look_ups is None and plan.seconds is None and "bootstraps" in repr(plan)
    steps: list[int] = []
    keys = plan.keygen()
    found = plan.run(keys, {"x": x, "rate": np.abs(x)}, progress=lambda done, _: steps.append(done))
    assert len(steps) == plan.bootstraps
    mean = number(found["m"])
    assert abs(float(mean) - expected.mean()) <= mean.error < 1e-3
    rows(found["y"], np.abs(x) * expected)


def test_rows_in_several_chunks() -> None:
    count = 700
    plan, cells = planned("sum(age * cost); age + 1", count, scheme="bfv"), table(count)
    assert plan.chunks == 2 and plan.rows == count
    found = plan.run(plan.keygen(), cells)
    exactly(found["sum(age * cost)"], Fraction(tenths(cells["age"] * cells["cost"]), 10))
    rows(found["age + 1"], cells["age"] + 1)
    with pytest.raises(errors.Refused, match="rows"):
        planned("sort(age)", count)


def test_parties_and_their_files(tmp_path: Path) -> None:
    for text, scheme in [("sum(age * cost)", "bfv"), ("max(age)", "integers"), (_deep(), "ckks")]:
        plan, folder = planned(text, scheme=scheme), tmp_path / scheme
        plan.keygen().save(folder)
        with pytest.raises(errors.Io, match="never overwritten"):
            plan.keygen().save(folder)
        with pytest.raises(errors.Insecure):
            tables.Keys.load(folder)
        with sunzi.insecure_for_research_only():
            parties = {name: tables.Keys.load(folder / name) for name in ("secret", "public", "eval")}
            whole = tables.Keys.load(folder)
        assert {keys.id for keys in parties.values()} == {whole.id} and "secret, public, eval" in repr(whole)
        cells = table()
        encrypted = tables.EncryptedTable.from_bytes(plan.encrypt(parties["public"], cells).to_bytes())
        assert encrypted.schema == plan.schema and encrypted.key == whole.id
        # Under the secret key a ciphertext is half as long.
        assert plan.encrypt(parties["secret"], cells).nbytes < 0.7 * encrypted.nbytes
        # Whoever computes has the text of the program, the table and keys.
        served = tables.Program(text, encrypted.schema).plan(keys=parties["eval"], precision=16)
        results = tables.Results.from_bytes(served.compute(parties["eval"], encrypted).to_bytes())
        # The same bytes, whoever computes: the command line, too.
        assert plan.compute(whole, encrypted).to_bytes() == results.to_bytes()
        found = plan.decrypt(parties["secret"], results)
        assert found[text] == plan.decrypt(whole, results)[text]
        for work in (lambda: plan.encrypt(parties["eval"], cells), lambda: plan.compute(parties["public"], encrypted), lambda: plan.decrypt(parties["eval"], results)):
            with pytest.raises(errors.MissingKey, match="load the folder"):
                work()


def _deep() -> str:
    text = "0.01 * age"
    for _ in range(20):
        text = f"poly({text}, 0.125, 0.25, 0.5)"
    return f"mean({text})"


def test_plans_in_json() -> None:
    plan = planned("max(age)")
    text = plan.to_json()
    with pytest.raises(errors.Parse, match="Insecure"):
        tables.Plan.from_json(text)
    again = tables.Plan.from_json(text, insecure_for_research_only=True)
    assert again.parameters == plan.parameters and again.schema == plan.schema and again.look_ups == plan.look_ups
    keys, cells = plan.keygen(), table()
    exactly(again.decrypt(keys, plan.compute(keys, again.encrypt(keys, cells)))["max(age)"], 90)
    for wrong in ("", "{}", text[:-9], text.replace(f'"rows":{ROWS}', '"rows":22', 1), "[" * 10_000):
        with pytest.raises(errors.Parse):
            tables.Plan.from_json(wrong, insecure_for_research_only=True)


def test_what_does_not_belong_together_is_refused() -> None:
    plan, cells = planned("sum(age * cost)", scheme="bfv"), table()
    keys, others = plan.keygen(), plan.keygen()
    encrypted = plan.encrypt(keys, cells)
    with pytest.raises(errors.Key, match="made together"):
        plan.compute(others, encrypted)
    results = plan.compute(keys, encrypted)
    with pytest.raises(errors.Key):
        plan.decrypt(others, results)
    # Results of a server that ran another program.
    for text in ("sum(age * age)", "mean(age * cost)"):
        other = tables.Program(text, plan.schema).plan(keys=keys)
        with pytest.raises(errors.Mismatch, match="the program"):
            other.decrypt(keys, results)
    with pytest.raises(errors.Mismatch, match="parameters of the keys"):
        planned("max(age)").compute(keys, encrypted)
    fewer = tables.Program("sum(age * cost)", tables.Schema(ROWS - 1, columns())).plan(keys=keys)
    with pytest.raises(errors.Mismatch, match="rows of the table"):
        fewer.compute(keys, encrypted)
    narrower = tables.Program("sum(age * cost)", tables.Schema(ROWS, {**columns(), "age": tables.integer(18, 89)})).plan(keys=keys)
    with pytest.raises(errors.Mismatch, match="columns of the table"):
        narrower.compute(keys, encrypted)
    with pytest.raises(TypeError, match="those of the keys"):
        tables.Program("sum(age)", plan.schema).plan(keys=keys, scheme="bfv")
    for kept in (keys, encrypted, results, plan):
        with pytest.raises(TypeError):
            pickle.dumps(kept)


def test_damaged_bytes_are_refused(tmp_path: Path) -> None:
    plan = planned("max(age)")
    keys = plan.keygen()
    encrypted = plan.encrypt(keys, table())
    results = plan.compute(keys, encrypted)
    data = encrypted.to_bytes()
    for wrong in (b"", data[:-1], data + b"\0", b"x" * 100, results.to_bytes()):
        with pytest.raises(errors.FormatError):
            tables.EncryptedTable.from_bytes(wrong)
    opened = results.to_bytes()
    for wrong in (b"", opened[:60], data):
        with pytest.raises(errors.FormatError):
            tables.Results.from_bytes(wrong)
    for wrong in (opened[:-1], opened + b"\0", _flipped(opened, len(opened) - 9)):
        with pytest.raises(errors.FormatError):
            plan.decrypt(keys, tables.Results.from_bytes(wrong))
    # The digits of the ages come first; columns that the program leaves alone are not read.
    with pytest.raises(errors.FormatError):
        plan.compute(keys, tables.EncryptedTable.from_bytes(_flipped(data, len(data) // 10)))
    with pytest.raises(errors.Io, match="no keys"):
        tables.Keys.load(tmp_path)
    folder = tmp_path / "keys"
    keys.save(folder)
    secret = folder / "secret" / "secret.sz"
    secret.chmod(0o644)
    with pytest.raises(errors.Io, match="chmod 600"):
        tables.Keys.load(folder, insecure_for_research_only=True)
    secret.chmod(0o600)
    # The public key of somebody else.
    plan.keygen().save(tmp_path / "others")
    (tmp_path / "others" / "public" / "public.sz").replace(folder / "public" / "public.sz")
    with pytest.raises(errors.Key, match="made together"):
        tables.Keys.load(folder, insecure_for_research_only=True)


def _flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def test_tables_that_do_not_fit_are_refused() -> None:
    plan = planned("sum(age * cost)", scheme="bfv")
    keys, cells = plan.keygen(), table()
    few = {name: column[1:] for name, column in cells.items()}
    with pytest.raises(errors.ShapeError, match="22 rows for a schema of 23"):
        plan.encrypt(keys, few)
    with pytest.raises(errors.ShapeError, match="one cell for each row"):
        plan.encrypt(keys, {**cells, "age": cells["age"][1:]})
    with pytest.raises(errors.ShapeError, match="shape"):
        plan.encrypt(keys, {**cells, "age": cells["age"].reshape(1, -1)})
    without = {name: column for name, column in cells.items() if name != "cost"}
    with pytest.raises(errors.Column, match="cost"):
        plan.encrypt(keys, without)
    changed: list[tuple[str, Any, str]] = [
        ("age", 91, "row 4"),
        ("age", 64.5, "row 4"),
        ("cost", 3.25, "row 4"),
        ("cost", np.inf, "row 4"),
        ("cost", np.nan, "missing=True"),
        ("region", "east", "east"),
        ("seen", 2, "row 4"),
    ]
    for name, cell, said in changed:
        column = cells[name].astype(object if isinstance(cell, str) else float)
        column[4] = cell
        with pytest.raises(errors.Cell, match=said):
            plan.encrypt(keys, {**cells, name: column})
    with pytest.raises(TypeError, match="without columns"):
        plan.encrypt(keys, {})
    with pytest.raises(errors.Column, match="complex"):
        plan.encrypt(keys, {**cells, "age": cells["age"].astype(complex)})
    # Other columns are left out.
    assert plan.encrypt(keys, {**cells, "name": ["x"] * ROWS}).schema == plan.schema


def test_programs_that_cannot_be_are_refused() -> None:
    schema = tables.Schema(ROWS, columns())
    with pytest.raises(errors.Parse, match="agee"):
        tables.Program("mean(agee)", schema)
    with pytest.raises(errors.Parse, match="no text is given for it: files="):
        tables.Program('lookup(age, "/etc/passwd")', schema)
    with pytest.raises(errors.Refused, match='scheme="integers"'):
        tables.Program("max(age)", schema).plan(scheme="bfv")
    with pytest.raises(errors.Refused, match="one ring of 128 bits"):
        tables.Program("max(age)", schema).plan(log2_degree=9)
    with pytest.raises(ValueError, match="there is no scheme"):
        tables.Program("max(age)", schema).plan(scheme="tfhe")  # type: ignore[arg-type]
    with pytest.raises(errors.Schema):
        tables.Schema(0, columns())
    with pytest.raises(errors.Schema, match="lower end first"):
        tables.Schema(3, {"a": tables.integer(2, 1)})
    with pytest.raises(errors.Column, match="declare more"):
        tables.Schema(3, {"a": tables.decimal(0, 0.05, decimals=1)})
    with pytest.raises(errors.Schema):
        tables.Schema.from_json("{}")
    with pytest.raises(TypeError, match="tables.integer"):
        tables.Schema(3, {"a": (0, 1)})  # type: ignore[dict-item]
    real = tables.Schema(ROWS, {"x": tables.real(0, 1), "n": tables.integer(0, 1)})
    plan = tables.Program("sum(n)", real).plan(scheme="bfv", **SMALL)
    with pytest.raises(errors.Column, match="has real numbers"):
        plan.encrypt(plan.keygen(), {"x": np.zeros(ROWS), "n": np.zeros(ROWS, dtype=int)})


def test_schemas_of_tables_and_in_json() -> None:
    cells = {"n": [3, 1, 2], "d": [0.5, 0.25, 1], "c": ["x", "y", "x"], "t": np.array(["2024-01-31", "2024-02-01", "2024-02-02"], dtype="datetime64[D]")}
    schema = tables.Schema.of(cells, ranges={"n": (0, 10)}, clear=["c"])
    assert schema.rows == 3 and schema.names == ["n", "d", "c", "t"] and "c category in the clear" in repr(schema)
    assert tables.Schema.from_json(schema.to_json()) == schema
    declared = {
        "n": tables.integer(0, 10),
        "d": tables.decimal(0.25, 1, decimals=2),
        "c": tables.category("x", "y", encrypted=False),
        "t": tables.date("2024-01-31", "2024-02-02"),
    }
    assert tables.Schema(3, declared) == schema
    assert tables.Schema.of({"a": [1.0, None]}, missing=True) == tables.Schema(2, {"a": tables.integer(1, 1, missing=True)})
    with pytest.raises(errors.Cell, match="missing=True"):
        tables.Schema.of({"a": [1.0, None]})


@pytest.mark.parametrize(
    ("column", "given", "total"),
    [
        (tables.integer(0, 9), np.array([1, 2, 9], dtype=np.uint8), 12),
        (tables.integer(0, 1), [True, False, True], 2),
        (tables.decimal(0, 1, decimals=1), np.array([0.1, 0.2, 0.3], dtype=np.float32), Fraction(6, 10)),
        (tables.decimal(0, 1, decimals=1), [0.1, 0.2, 0.3], Fraction(6, 10)),
        (tables.decimal("-112589990684262.4", "112589990684262.4", decimals=1), [-112589990684262.3, 112589990684262.4, 0], Fraction(1, 10)),
        (tables.integer(0, 9, missing=True), np.ma.MaskedArray([1, 2, 9], mask=[False, True, False]), 10),
        (tables.integer(0, 9, missing=True), [1, None, 9], 10),
        (tables.date("1970-01-01", "1970-01-09"), np.array(["1970-01-02", "1970-01-03", "1970-01-09"], dtype="datetime64[s]"), 11),
        (tables.date("1970-01-01", "1970-01-09", missing=True), np.array(["1970-01-02", "NaT", "1970-01-09"], dtype="datetime64[D]"), 9),
    ],
)
def test_cells_of_all_types(column: tables.Column, given: Any, total: Union[int, Fraction]) -> None:
    plan = tables.Program("sum(a)", tables.Schema(3, {"a": column})).plan(scheme="bfv", **SMALL)
    exactly(plan.run(plan.keygen(), {"a": given})["sum(a)"], total)


def test_data_frames() -> None:
    pandas = pytest.importorskip("pandas")
    cells = table()
    frame = pandas.DataFrame(cells)
    frame["seen"] = frame["seen"].astype("Int64")
    frame["region"] = frame["region"].astype("category")
    plan = planned("mean(seen); sum(age) by region; mean(cost)", scheme="bfv")
    keys = plan.keygen()
    found = plan.run(keys, frame)
    assert float(number(found["mean(seen)"])) == pytest.approx(frame["seen"].mean())
    groups = found["sum(age) by region"]
    assert isinstance(groups, dict)
    for region, total in frame.groupby("region", observed=True)["age"].sum().items():
        exactly(groups[region], int(total))
    frame = pandas.concat([frame, frame[["age"]]], axis=1)
    with pytest.raises(errors.Column, match="one name"):
        plan.encrypt(keys, frame)


def test_tables_of_the_command_line_are_read() -> None:
    golden = Path(__file__).resolve().parents[2] / "testing" / "golden" / "v1"
    if not golden.is_dir():
        pytest.skip("only in the repository")
    plan = planned("sum(age)", scheme="bfv")
    keys = plan.keygen()
    for name in ("bfv", "bgv", "ckks", "integer"):
        data = (golden / f"{name}-table.sz").read_bytes()
        foreign = tables.EncryptedTable.from_bytes(data)
        assert foreign.to_bytes() == data and foreign.schema.rows > 1
        with pytest.raises(errors.FormatError):
            plan.compute(keys, foreign)
        assert tables.Results.from_bytes((golden / f"{name}-results.sz").read_bytes()).nbytes > 0
        with pytest.raises((errors.FormatError, errors.Mismatch)):
            plan.decrypt(keys, tables.Results.from_bytes((golden / f"{name}-results.sz").read_bytes()))


def test_keys_under_a_passphrase(tmp_path: Path) -> None:
    """A passphrase of Python or the command line opens keys of the other; wrong, missing and impossible ones are told."""
    plan = tables.Program("sum(x)", tables.Schema(3, {"x": tables.integer(0, 9)})).plan()
    keys, folder = plan.keygen(), tmp_path / "keys"
    keys.save(folder, passphrase="correct horse")
    assert (folder / "secret" / "secret.sz").stat().st_mode & 0o777 == 0o600
    for passphrase in ("correct horse", b"correct horse"):
        again = tables.Keys.load(folder, passphrase=passphrase)
        total = plan.decrypt(again, plan.compute(keys.public, plan.encrypt(keys.public, {"x": [1, 2, 3]})))["sum(x)"]
        assert again.id == keys.id and isinstance(total, tables.Number) and total.value == 6
    assert tables.Keys.load(folder / "public").id == keys.id
    with pytest.raises(errors.PassphraseMissing, match="passphrase"):
        tables.Keys.load(folder)
    with pytest.raises(errors.PassphraseWrong, match="does not open"):
        tables.Keys.load(folder / "secret", passphrase="correct")
    for impossible in ("", "x" * 1025):
        with pytest.raises(errors.PassphraseLength, match="1 to 1024"):
            keys.save(tmp_path / "others", passphrase=impossible)
    assert not (tmp_path / "others").exists()
