"""Draws the pictures of the book: python docs/book/plots/draw.py [--check]; --check tells whether they are those that are there.

--measure prints the bits left that noise.svg shows.
"""

from __future__ import annotations

import sys
from pathlib import Path

INK, GREY, BLUE, RED, LIGHT = "#222", "#888", "#2563a8", "#b5342b", "#e8eef6"

#: Bits left of a product of eight numbers, by the products behind it in a row, with parameters for three: see measured().
ROW = [120.9, 87.1, 54.0, 20.4, -13.3, -47.0, -80.8, -114.5]
PAIRS = [120.9, 87.1, 53.0, 18.4]

#: Advantage of the best attack on one party's shares, by log2 of the width of its flooding noise from -4 to 6, 10^4 trials each: what
#: cargo test -p sunzi-testing --test testing the_plotted_attack -- --ignored --nocapture prints.
WIDTHS = range(-4, 7)
ATTACKS = {
    "BFV": [1.0000, 1.0000, 1.0000, 0.9418, 0.6568, 0.3711, 0.1990, 0.0906, 0.0423, 0.0177, 0.0128],
    "BGV": [1.0000, 1.0000, 0.9998, 0.9395, 0.6502, 0.3623, 0.1980, 0.0943, 0.0434, 0.0302, 0.0085],
    "CKKS": [1.0000, 1.0000, 1.0000, 0.9382, 0.6532, 0.3648, 0.1812, 0.0878, 0.0368, 0.0198, -0.0032],
}


class Picture:
    """Shapes in pixels, from the top left."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self.shapes: list[str] = []

    def box(self, x: float, y: float, width: float, height: float, fill: str = "#fff", stroke: str = INK) -> None:
        self.shapes.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" fill="{fill}" stroke="{stroke}"/>')

    def text(self, x: float, y: float, what: str, size: int = 14, fill: str = INK, anchor: str = "middle") -> None:
        self.shapes.append(f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{fill}" text-anchor="{anchor}">{what}</text>')

    def line(self, points: list[tuple[float, float]], stroke: str = INK, width: float = 1.5, end: str = "", dash: str = "") -> None:
        way = " ".join(f"{x:g},{y:g}" for x, y in points)
        marker = ' marker-end="url(#tip)"' if end else ""
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.shapes.append(f'<polyline points="{way}" fill="none" stroke="{stroke}" stroke-width="{width:g}"{marker}{dashed}/>')

    def dot(self, x: float, y: float, fill: str) -> None:
        self.shapes.append(f'<circle cx="{x:g}" cy="{y:g}" r="4" fill="{fill}"/>')

    def svg(self) -> str:
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}" '
            f'font-family="sans-serif" role="img">\n<title>{self.title}</title>\n'
            f'<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
            f'<path d="M0,0 L8,4 L0,8 z" fill="{INK}"/></marker></defs>\n'
            f'<rect width="{self.width}" height="{self.height}" fill="#fff"/>\n'
        )
        return head + "\n".join(self.shapes) + "\n</svg>\n"


def parties() -> Picture:
    picture = Picture(680, 230, "Who holds what")
    for x, name, lines in (
        (20, "owner of the data", ["secret key: decrypts", "numbers in the clear"]),
        (450, "server", ["evaluation keys: compute", "ciphertexts only"]),
    ):
        picture.box(x, 40, 210, 130, LIGHT)
        picture.text(x + 105, 68, name, 16)
        for i, line in enumerate(lines):
            picture.text(x + 105, 104 + 26 * i, line)
    picture.line([(232, 75), (446, 75)], end="tip")
    picture.text(340, 67, "evaluation keys, once", 13, GREY)
    picture.line([(232, 110), (446, 110)], end="tip")
    picture.text(340, 102, "ciphertexts", 13, GREY)
    picture.line([(448, 145), (234, 145)], end="tip")
    picture.text(340, 137, "a ciphertext: the answer", 13, GREY)
    picture.text(340, 205, "Whoever has the public key may encrypt too. Only the secret key decrypts.", 13, GREY)
    return picture


def shares() -> Picture:
    picture = Picture(680, 400, "Who holds what of a joint key")
    for i, name in enumerate(("north", "south", "west")):
        x = 20 + 222 * i
        picture.box(x, 40, 196, 128, LIGHT)
        picture.text(x + 98, 66, name, 16)
        picture.text(x + 98, 94, "its share of the secret")
        picture.text(x + 98, 118, "its ledger, its identity")
        picture.text(x + 98, 142, "its rows in the clear")
        picture.line([(x + 98, 170), (x + 98, 226)], end="tip")
    picture.line([(118, 30), (562, 30)], GREY, 1, dash="4 3")
    picture.text(340, 24, "nobody has the secret: it is the sum of all shares, and is nowhere", 13, GREY)
    picture.box(20, 230, 640, 66, "#f4efe3")
    picture.text(340, 256, "the folder of the session", 16)
    picture.text(340, 281, "agreement, public cards, messages; keys/public, keys/eval; encrypted rows and results")
    picture.line([(340, 298), (340, 324)], end="tip")
    picture.line([(380, 326), (380, 300)], end="tip")
    picture.box(170, 328, 340, 40, LIGHT)
    picture.text(340, 353, "whoever computes: keys/eval, ciphertexts only")
    picture.text(340, 390, "What is in the folder may be public. A home never leaves its party.", 13, GREY)
    return picture


def slots() -> Picture:
    picture = Picture(680, 260, "Slots")
    rows = [
        ("a", [3, 1, 4, 1, 5, 9, 2, 6]),
        ("b", [2, 7, 1, 8, 2, 8, 1, 8]),
        ("a + b", []),
        ("a rotated by 2", []),
    ]
    first, second = rows[0][1], rows[1][1]
    rows[2] = ("a + b", [x + y for x, y in zip(first, second)])
    rows[3] = ("a rotated by 2", first[2:] + first[:2])
    for i, (name, numbers) in enumerate(rows):
        y = 20 + 52 * i + (12 if i > 1 else 0)
        picture.text(150, y + 25, name, anchor="end")
        for j, number in enumerate(numbers):
            picture.box(170 + 58 * j, y, 52, 38, LIGHT if i < 2 else "#f4efe3")
            picture.text(196 + 58 * j, y + 25, str(number), 16)
    picture.text(402, 250, "One operation works on all slots at once; a rotation takes a key for its distance.", 13, GREY)
    return picture


def axes(picture: Picture, labels: list[str], ticks: list[float], place: object, name: str) -> None:
    """A frame with numbers on the left and labels below."""
    left, right, bottom = 70.0, picture.width - 30.0, picture.height - 60.0
    for tick in ticks:
        y = place(0, tick)[1]  # type: ignore[operator]
        picture.line([(left, y), (right, y)], "#ddd", 1)
        picture.text(left - 10, y + 5, f"{tick:g}", 12, GREY, "end")
    for i, label in enumerate(labels):
        picture.text(place(i, 0)[0], bottom + 24, label, 12, GREY)  # type: ignore[operator]
    picture.text(left, 24, name, 13, INK, "start")


def noise() -> Picture:
    picture = Picture(680, 320, "Bits left after each product")
    top, low = max(ROW) + 5, min(ROW) - 5

    def place(step: float, bits: float) -> tuple[float, float]:
        return 100 + step * 76, 40 + (top - bits) / (top - low) * 210

    ticks = [float(tick) for tick in range(-200, 400, 25) if low <= tick <= top]
    axes(picture, [str(i) for i in range(len(ROW))], ticks, place, "bits left")
    picture.text(380, 305, "products in a row", 12, GREY)
    picture.line([(70, place(0, 0)[1]), (650, place(0, 0)[1])], RED, 1.5, dash="6 4")
    picture.text(646, place(0, 0)[1] - 7, "below 0 decryption refuses", 12, RED, "end")
    for bits, colour in ((ROW, RED), (PAIRS, BLUE)):
        points = [place(i, value) for i, value in enumerate(bits)]
        picture.line(points, colour, 2.5)
        for point in points:
            picture.dot(*point, colour)
    x, y = place(len(PAIRS) - 1, PAIRS[-1])
    picture.text(x + 12, y - 10, "in pairs: three are enough", 13, BLUE, "start")
    return picture


def attack() -> Picture:
    picture = Picture(680, 340, "What shares of decryptions tell")

    def place(width: float, advantage: float) -> tuple[float, float]:
        return 100 + (width + 4) * 54, 40 + (1 - advantage) * 230

    axes(picture, [], [0.0, 0.2, 0.4, 0.6, 0.8, 1.0], place, "advantage of the best attack")
    for width in WIDTHS:
        picture.text(place(width, 0)[0], 304, f"{width:g}", 12, GREY)
    picture.text(380, 328, "log2 of the width of the flooding noise: its statistical bits; below 0 it is too narrow", 12, GREY)
    promised = [place(width / 10, min(1.0, 2 ** (-width / 10))) for width in range(-40, 61)]
    picture.line(promised, RED, 1.5, dash="6 4")
    picture.text(place(1, 0.62)[0], place(1, 0.62)[1], "promised: at most 2^-s", 13, RED, "start")
    for (name, advantages), colour, shift in zip(ATTACKS.items(), (BLUE, INK, GREY), (-5, 0, 5)):
        for width, advantage in zip(WIDTHS, advantages):
            x, y = place(width, max(advantage, 0))
            picture.dot(x + shift, y, colour)
        y = 60 + 22 * (shift + 5) / 5
        picture.dot(520, y, colour)
        picture.text(534, y + 5, f"{name}, measured", 13, INK, "start")
    return picture


def levels() -> Picture:
    picture = Picture(680, 300, "Levels and bootstrapping")

    def place(step: float, level: float) -> tuple[float, float]:
        return 90 + step * 80, 40 + (10 - level) / 10 * 190

    axes(picture, [], [0.0, 2.0, 4.0, 6.0, 8.0, 10.0], place, "level")
    step, level, points = 0.0, 10, [place(0, 10)]
    for _ in range(11):
        if level == 0:
            points.append(place(step + 0.4, 10))
            picture.text(points[-1][0] + 6, points[-1][1] - 10, "bootstrapping", 13, BLUE)
            step, level = step + 0.4, 10
        step, level = step + 0.55, level - 2
        points += [place(step, level + 2), place(step, level)]
    picture.line(points, BLUE, 2.5)
    picture.text(360, 280, "time: each step down is some products in a row", 12, GREY)
    return picture


def schemes() -> Picture:
    picture = Picture(720, 580, "Which scheme")

    def question(y: float, lines: list[str]) -> None:
        picture.box(30, y, 360, 62, LIGHT)
        for i, line in enumerate(lines):
            picture.text(210, y + 26 + 22 * i, line)

    def answer(x: float, y: float, name: str, line: str) -> None:
        picture.box(x, y, 200, 62, "#f4efe3")
        picture.text(x + 100, y + 26, name, 16)
        picture.text(x + 100, y + 48, line, 12, GREY)

    def arrow(points: list[tuple[float, float]], x: float, y: float, word: str) -> None:
        picture.line(points, end="tip")
        picture.text(x, y, word, 13, BLUE)

    question(20, ["Are rows put into order, as by", "median, sort and top?"])
    question(130, ["Are the numbers whole or decimal,", "and must results be exact?"])
    question(240, ["Are numbers of more than 4096 values", "compared, or put into functions?"])
    question(350, ["Is it known before how many products", "stand in a row, and how many sums?"])
    answer(490, 20, "Encrypted integers", "exact, gigabytes of keys")
    answer(490, 185, "CKKS", "rounded, error stated")
    answer(490, 300, "CKKS, bootstrapped", "any depth, gigabytes of keys")
    answer(490, 410, "BGV", "exact, no noise to watch")
    answer(110, 480, "BFV", "exact, while bits are left")
    arrow([(390, 51), (486, 51)], 420, 43, "yes")
    arrow([(210, 82), (210, 126)], 228, 108, "no")
    arrow([(390, 161), (450, 161), (450, 206), (486, 206)], 420, 153, "no")
    arrow([(210, 192), (210, 236)], 230, 218, "yes")
    arrow([(390, 271), (450, 271), (450, 226), (486, 226)], 420, 263, "yes")
    arrow([(210, 302), (210, 346)], 228, 328, "no")
    picture.line([(590, 247), (590, 296)], end="tip")
    picture.text(600, 268, "more than twenty", 12, BLUE, "start")
    picture.text(600, 284, "products in a row", 12, BLUE, "start")
    arrow([(390, 381), (450, 381), (450, 441), (486, 441)], 420, 373, "yes")
    arrow([(210, 412), (210, 476)], 228, 450, "no")
    picture.text(360, 568, "sunzi plan and Context.for_depth choose by themselves, and say why.", 13, GREY)
    return picture


def measured() -> tuple[list[float], list[float]]:
    """Bits left of the product of eight numbers: in a row, and in pairs."""
    import numpy as np
    import sunzi

    keys = sunzi.keygen(sunzi.Context.for_depth(3, dtype=int, sums=0, plain_products=0, result_bound=65000), rotations=[])
    fresh = [keys.encrypt(np.array([number])) for number in (2, 3, 4, 1, 5, 2, 7, 6)]
    chain, row = fresh[0], [fresh[0].bits_left]
    for factor in fresh[1:]:
        chain = chain * factor
        row.append(chain.bits_left)
    layer, pairs = fresh, [fresh[0].bits_left]
    while len(layer) > 1:
        layer = [a * b for a, b in zip(layer[::2], layer[1::2])]
        pairs.append(layer[0].bits_left)
    return row, pairs


def main() -> None:
    if "--measure" in sys.argv:
        for bits in measured():
            print([round(value, 1) for value in bits])
        return
    wrong = []
    for draw in (parties, shares, slots, noise, attack, levels, schemes):
        path = Path(__file__).with_name(f"{draw.__name__}.svg")
        svg = draw().svg()
        if "--check" not in sys.argv:
            path.write_text(svg, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != svg:
            wrong.append(path.name)
    if wrong:
        sys.exit(f"{', '.join(wrong)}: not what the script draws; run it")


if __name__ == "__main__":
    main()
