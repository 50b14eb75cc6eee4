"""The examples run."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_example(path: Path) -> None:
    if "sklearn" in path.read_text():
        pytest.importorskip("sklearn")
    runpy.run_path(str(path), run_name="__main__")


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 3
