"""What notebooks show: tables, and a small picture of what the operations of an array left. Self-contained, without scripts; all text is escaped."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

#: Width, height and margin of a picture, in pixels.
_WIDTH, _HEIGHT, _MARGIN = 160, 32, 3
#: An operation in a row of equal ones: name, how many times, bits that were spent, bits left afterwards.
Step = tuple[str, int, float, float]


def table(caption: str, rows: Sequence[tuple[str, str]], picture: str = "") -> str:
    """Rows of names and values, and below them a picture that is HTML already."""
    body = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in rows)
    if picture:
        body += f'<tr><td colspan="2">{picture}</td></tr>'
    return f"<table><caption>{html.escape(caption)}</caption>{body}</table>"


def sparkline(steps: Sequence[Step], what: str) -> str:
    """An inline picture of the bits left along operations, of which the title of each point tells; none of fewer than two."""
    known = [step for step in steps if math.isfinite(step[3])]
    if len(known) < 2:
        return ""
    bits = [left for _, _, _, left in known]
    # Down to 0, where nothing is left: a fall that matters looks like one.
    low, high = min(0.0, *bits), max(0.0, *bits)
    across, up = (_WIDTH - 2 * _MARGIN) / (len(bits) - 1), (_HEIGHT - 2 * _MARGIN) / max(high - low, 1e-9)
    points = [(_MARGIN + i * across, _HEIGHT - _MARGIN - (left - low) * up) for i, left in enumerate(bits)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    marks = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2"><title>{html.escape(_told(step))}</title></circle>' for (x, y), step in zip(points, known)
    )
    said = html.escape(f"{what}: {bits[0]:.0f} bits at first, {bits[-1]:.0f} now", quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{said}" '
        f'fill="currentColor"><polyline points="{line}" fill="none" stroke="currentColor" stroke-width="1.5"/>{marks}</svg><br>{said}'
    )


def _told(step: Step) -> str:
    name, times, spent, left = step
    return f"{name}{f' ({times} times)' if times > 1 else ''}: {spent:.1f} bits spent, {left:.1f} left"


def megabytes(count: int) -> str:
    """Bytes in words."""
    return f"{count / 2**20:.2f} MiB"
