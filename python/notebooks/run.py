"""Runs the notebooks, each in a namespace of its own, and keeps what they show: python notebooks/run.py.

--check runs them and says whether they print what is in the files; --extract FOLDER writes their code as Python files, for type checkers.
Jupyter is not needed: a cell is code whose last expression is shown.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent

#: A cell's output as the format of notebooks has it.
Output = dict[str, Any]


def notebooks() -> list[Path]:
    """All notebooks, in order."""
    return sorted(FOLDER.glob("*.ipynb"))


def read(path: Path) -> dict[str, Any]:
    """A notebook as JSON."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells that hold code."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def source(cell: dict[str, Any]) -> str:
    """Text of a cell."""
    return "".join(cell["source"])


def lines(text: str) -> list[str]:
    """A text as notebooks store it: line by line."""
    return text.splitlines(keepends=True)


def shown(value: object, count: int) -> Output:
    """What a notebook shows of a value: its text, and its HTML if it has any."""
    data = {"text/plain": lines(repr(value))}
    make = getattr(value, "_repr_html_", None)
    if callable(make):
        data["text/html"] = lines(str(make()))
    return {"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": data}


def run_cell(code: str, name: str, namespace: dict[str, Any], count: int) -> list[Output]:
    """Runs the code of a cell, and returns its outputs."""
    tree = ast.parse(code, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    stream, value = io.StringIO(), None
    with contextlib.redirect_stdout(stream):
        exec(compile(tree, name, "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
    outputs: list[Output] = []
    if stream.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": lines(stream.getvalue())})
    if value is not None:
        outputs.append(shown(value, count))
    return outputs


def run(path: Path) -> dict[str, Any]:
    """A notebook with the outputs of its cells, which are run from the first to the last."""
    notebook = read(path)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for count, cell in enumerate(code_cells(notebook), start=1):
        cell["outputs"] = run_cell(source(cell), f"{path.name}, cell {count}", namespace, count)
        cell["execution_count"] = count
    return notebook


def printed(notebook: dict[str, Any]) -> list[str]:
    """Texts that a notebook prints, without the names of keys, which are random. Values that it shows may differ in their last digits."""
    outputs = [output for cell in code_cells(notebook) for output in cell["outputs"] if output["output_type"] == "stream"]
    return [re.sub(r"\b[0-9a-f]{8}\b", "KEY", "".join(output["text"])) for output in outputs]


def script(path: Path) -> str:
    """The code of a notebook as a Python file."""
    return "\n\n".join(source(cell).rstrip() for cell in code_cells(read(path))) + "\n"


def main() -> int:
    """Does what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the files and change nothing")
    parser.add_argument("--extract", type=Path, metavar="FOLDER", help="write the code of all notebooks and run nothing")
    arguments = parser.parse_args()
    if arguments.extract is not None:
        arguments.extract.mkdir(parents=True, exist_ok=True)
        for path in notebooks():
            (arguments.extract / f"notebook_{path.stem}.py").write_text(script(path), encoding="utf-8")
        return 0
    different = 0
    for path in notebooks():
        after = run(path)
        if arguments.check:
            different += printed(after) != printed(read(path))
        else:
            path.write_text(json.dumps(after, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
