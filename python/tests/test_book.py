"""The book: its Python runs, its Rust is known to the harness, its pictures are those of their scripts."""

from __future__ import annotations

import importlib
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "docs" / "book"
CHAPTERS = sorted(BOOK.glob("*.md"))
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(chapter: Path, language: str) -> list[tuple[int, list[str], str]]:
    """Code of one language: line, packages that it takes, text."""
    text = chapter.read_text()
    found = []
    for match in BLOCK.finditer(text):
        if match[1] == language:
            found.append((text.count("\n", 0, match.start()) + 2, match[2].split(), match[3]))
    return found


@pytest.mark.parametrize("chapter", [path for path in CHAPTERS if blocks(path, "python")], ids=lambda path: str(path.stem))
def test_python(chapter: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """All blocks of a chapter, one after the other, in one namespace."""
    if chapter.stem == "service":
        server = request.getfixturevalue("server")
        monkeypatch.setenv("SUNZI_SERVER", server.address)
        monkeypatch.setenv("SUNZI_TOKEN", server.token)
    names: dict[str, object] = {"__name__": "__main__"}
    for line, packages, code in blocks(chapter, "python"):
        for package in packages:
            pytest.importorskip(package)
        # Lines count as in the chapter, so that a traceback names them.
        exec(compile("\n" * (line - 1) + code, str(chapter), "exec"), names)


def test_readme() -> None:
    """The blocks of the page of the package, one after the other."""
    names: dict[str, object] = {"__name__": "__main__"}
    for line, _, code in blocks(ROOT / "python" / "README.md", "python"):
        exec(compile("\n" * (line - 1) + code, "README.md", "exec"), names)
    assert float(names["plan"].decrypt(names["keys"], names["results"])["sum(age * cost)"]) == 5426.59  # type: ignore[attr-defined]


def test_rust_is_compiled() -> None:
    harness = (ROOT / "testing" / "src" / "book.rs").read_text()
    for chapter in CHAPTERS:
        assert bool(blocks(chapter, "rust")) == (f'"{chapter.name}"' in harness), chapter.name


def test_ten_examples_in_both_languages() -> None:
    parts = re.split(r"^## (\d+)\. ", (BOOK / "examples.md").read_text(), flags=re.MULTILINE)
    assert parts[1::2] == [str(i) for i in range(1, 11)]
    for text in parts[2::2]:
        assert "```rust\n" in text and "```python\n" in text


def test_names_of_the_index() -> None:
    """Every name of Python on the page of interfaces is one, and every name of Rust is imported by the block that is compiled."""
    text = (BOOK / "api.md").read_text()
    spans = re.findall(r"`([^`\n]+)`", re.sub(BLOCK, "", text))
    names = {span for span in spans if re.fullmatch(r"sunzi(\.\w+)+", span)}
    importlib.import_module("sunzi.cluster")
    for name in names:
        found: object = importlib.import_module("sunzi")
        for part in name.split(".")[1:]:
            found = getattr(found, part)
    ((_, _, code),) = blocks(BOOK / "api.md", "rust")
    imported = set()
    for folder, ends in re.findall(r"^use ([\w:]+?)(?:::\{(.*?)\})?;", code, re.MULTILINE | re.DOTALL):
        imported |= {f"{folder}::{end.split(' as ')[0].strip()}" for end in ends.split(",") if end.strip()} if ends else {folder}
    paths = {span for span in spans if span.startswith("sunzi::")}
    assert len(names) > 40 and len(paths) > 40
    assert not paths - imported, f"not in the block: {sorted(paths - imported)}"
    assert not imported - paths, f"not in the tables: {sorted(imported - paths)}"


def test_recipes_are_numbered() -> None:
    titles = [re.findall(r"^## (\d+)\. ", (BOOK / name).read_text(), flags=re.MULTILINE) for name in ("recipes.md", "recipes-code.md")]
    assert titles[0] + titles[1] == [str(i) for i in range(1, 26)]


def test_summary_names_all_chapters() -> None:
    named = re.findall(r"\]\((.*?)\)", (BOOK / "SUMMARY.md").read_text())
    assert sorted(named) == sorted(path.name for path in CHAPTERS if path.name != "SUMMARY.md")


def test_pictures() -> None:
    shown = {name for chapter in CHAPTERS for name in re.findall(r"\(plots/(\w+)\.svg\)", chapter.read_text())}
    assert shown == {path.stem for path in (BOOK / "plots").glob("*.svg")}
    script = BOOK / "plots" / "draw.py"
    checked = subprocess.run([sys.executable, "-B", str(script), "--check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_noise_of_the_picture_is_measured() -> None:
    spec = importlib.util.spec_from_file_location("draw", BOOK / "plots" / "draw.py")
    assert spec is not None and spec.loader is not None
    draw = importlib.util.module_from_spec(spec)
    sys.modules["draw"] = draw
    spec.loader.exec_module(draw)
    row, pairs = draw.measured()
    assert row == pytest.approx(draw.ROW, abs=2) and pairs == pytest.approx(draw.PAIRS, abs=2)
