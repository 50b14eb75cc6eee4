"""The notebooks run, and print what is in their files."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def runner() -> ModuleType:
    """python/notebooks/run.py as a module."""
    spec = importlib.util.spec_from_file_location("run_notebooks", FOLDER / "run.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RUNNER = runner()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_notebook(path: Path) -> None:
    if "sklearn" in path.read_text(encoding="utf-8"):
        pytest.importorskip("sklearn")
    before, after = RUNNER.read(path), RUNNER.run(path)
    # Whoever changed a notebook, or what it prints, runs python/notebooks/run.py.
    assert RUNNER.printed(after) == RUNNER.printed(before)
    shown = [output for cell in RUNNER.code_cells(after) for output in cell["outputs"]]
    assert shown, "a notebook shows something"
    assert all("<script" not in "".join(output.get("data", {}).get("text/html", [])) for output in shown)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_format(path: Path) -> None:
    """What Jupyter asks of a notebook of format 4.5."""
    notebook = RUNNER.read(path)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    names = [cell["id"] for cell in notebook["cells"]]
    assert len(set(names)) == len(names)
    assert notebook["cells"][0]["cell_type"] == "markdown" and "".join(notebook["cells"][0]["source"]).startswith("# ")
    for cell in notebook["cells"]:
        assert set(cell) >= {"cell_type", "id", "metadata", "source"} and cell["cell_type"] in ("code", "markdown")
    counts = [cell["execution_count"] for cell in RUNNER.code_cells(notebook)]
    assert counts == list(range(1, len(counts) + 1))


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 4 and NOTEBOOKS == RUNNER.notebooks()


def test_last_expressions_are_shown_and_statements_are_not() -> None:
    class Table:
        def __repr__(self) -> str:
            return "a table"

        def _repr_html_(self) -> str:
            return "<b>table</b>"

    names: dict[str, object] = {"table": Table()}
    printed, value = RUNNER.run_cell("print(1)\nx = 2\ntable", "cell", names, 7)
    assert printed == {"output_type": "stream", "name": "stdout", "text": ["1\n"]}
    assert value["data"] == {"text/plain": ["a table"], "text/html": ["<b>table</b>"]} and value["execution_count"] == 7
    assert RUNNER.run_cell("x = 3", "cell", names, 8) == [] and RUNNER.run_cell("None", "cell", names, 9) == []
    assert names["x"] == 3
    with pytest.raises(ZeroDivisionError):
        RUNNER.run_cell("1 / 0", "cell", names, 10)


def test_extracted_code_is_that_of_the_cells(tmp_path: Path) -> None:
    command = [sys.executable, "-B", str(FOLDER / "run.py"), "--extract", str(tmp_path)]
    subprocess.run(command, check=True)
    scripts = sorted(tmp_path.glob("*.py"))
    assert [script.stem for script in scripts] == [f"notebook_{path.stem}" for path in NOTEBOOKS]
    for script, path in zip(scripts, NOTEBOOKS):
        text = script.read_text(encoding="utf-8")
        compile(text, str(script), "exec")
        assert all(RUNNER.source(cell).rstrip() in text for cell in RUNNER.code_cells(RUNNER.read(path)))
