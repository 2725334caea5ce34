"""Draw the results of the benchmarks: python bench/plots.py FOLDER OUT

FOLDER has the JSON that `make -C bench every` keeps; each file becomes an SVG in OUT. The bars of other
engines are those of README's table of speed. Needs only Python.
"""

import argparse
import json
import math
import re
from html import escape
from pathlib import Path

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 720, 400, 70, 50, 160, 60
# A picture in a page knows its own width and the reader's colours.
STYLE = (
    "<style>@media (max-width: 480px) { text { font-size: 15px } } @media (prefers-color-scheme: dark) { "
    "text { fill: #e6edf3 } line { stroke: #3d444d } rect[fill=white] { fill: #1f2129 } }</style>"
)
COLOURS = ("#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df", "#57606a")


class Axis:
    """A logarithmic axis from the decade below the smallest value to the one above the largest."""

    def __init__(self, values, start, end):
        self.low = math.floor(math.log10(min(values)) + 1e-9)
        self.high = max(self.low + 1, math.ceil(math.log10(max(values)) - 1e-9))
        self.start, self.end = start, end

    def at(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def decades(self):
        return [10.0**power for power in range(self.low, self.high + 1)]


def text(x, y, words, anchor="middle", size=12):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{escape(words)}</text>'


def line(x1, y1, x2, y2, colour="#d0d7de"):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def number(value):
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def curves(title, across, up, series):
    """Return an SVG of {name: [(x, y), …]}, both axes logarithmic."""
    points = [point for some in series.values() for point in some]
    x = Axis([p[0] for p in points], LEFT, WIDTH - RIGHT)
    y = Axis([p[1] for p in points], HEIGHT - BOTTOM, TOP)
    parts = [text(WIDTH / 2, 24, title, size=15)]
    for value in x.decades():
        parts += [line(x.at(value), TOP, x.at(value), HEIGHT - BOTTOM)]
        parts += [text(x.at(value), HEIGHT - BOTTOM + 18, number(value))]
    for value in y.decades():
        parts += [line(LEFT, y.at(value), WIDTH - RIGHT, y.at(value))]
        parts += [text(LEFT - 6, y.at(value) + 4, number(value), "end")]
    parts += [
        text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 16, across),
        text(LEFT, TOP - 12, up, "start"),
    ]
    for i, (name, some) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        places = [(x.at(a), y.at(b)) for a, b in sorted(some)]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5"/>'
        )
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3.5" fill="{colour}"/>' for a, b in places]
        row = TOP + 10 + 20 * i
        parts.append(
            f'<rect x="{WIDTH - RIGHT + 14}" y="{row - 9}" width="12" height="10" fill="{colour}"/>'
        )
        parts.append(text(WIDTH - RIGHT + 32, row, name, "start"))
    return picture(parts, HEIGHT)


def picture(parts, height):
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">'
    body = "\n".join(parts)
    return (
        f'{head}\n{STYLE}\n<rect width="{WIDTH}" height="{height}" fill="white"/>\n{body}\n</svg>\n'
    )


def bars(tables, margin=170):
    """Return an SVG of {title: [(name, value), …]}: bars on a logarithmic axis for each title, the first in colour."""
    parts, row = [], 0
    for title, values in tables.items():
        x = Axis([value for _, value in values], margin, WIDTH - 70)
        parts.append(text(8, row + 26, title, "start", 14))
        for i, (name, value) in enumerate(values):
            top, end = row + 38 + 22 * i, max(x.at(value), margin + 3)
            colour = COLOURS[0] if i == 0 else "#8c959f"
            parts += [text(margin - 8, top + 12, name, "end")]
            parts += [
                f'<rect x="{margin}" y="{top}" width="{end - margin:.1f}" height="16" fill="{colour}"/>'
            ]
            parts += [text(end + 6, top + 12, f"{value:,g}", "start")]
        row += 50 + 22 * len(values)
    parts.append(
        text(WIDTH - 8, row + 8, "exact engines; logarithmic axes; shorter is faster", "end", 11)
    )
    return picture(parts, row + 20)


def of_readme(readme):
    """Return the picture of README's table of speed: each question's exact engines, fastest first."""
    tables = {}
    for line in re.findall(r"^\| the 10 .*$|^\| 12 passages .*$", readme, re.MULTILINE):
        question, ours, others, _ = (cell.strip() for cell in line.strip("|").split("|"))
        peers = re.findall(r"([A-Za-z][^,;:]*?) ([\d,]+(?:\.\d+)?)(?=, |$)", others)
        named = [("ragfile", ours.strip("*")), *peers]
        tables[question] = [(name, float(value.replace(",", ""))) for name, value in named]
    return bars(tables)


STEPS = {
    "filter": "filter", "embed": "embed the question", "bm25": "search by words",
    "vector": "search by vectors", "fuse": "fuse and rank", "fetch": "read the passages",
}  # fmt: skip


def of_question_steps(found):
    """Return one bar as long as the question, divided into its steps."""
    stages = {words: found["stages"][name] for name, words in STEPS.items()}
    total, at, parts = sum(stages.values()), 10.0, []
    title = f"One hybrid question over {found['passages']:,} passages: {total:.2f} ms"
    parts.append(text(10, 24, title, "start", 15))
    for i, (name, spent) in enumerate(stages.items()):
        colour, width = COLOURS[i % len(COLOURS)], (WIDTH - 20) * spent / total
        parts.append(f'<rect x="{at:.1f}" y="40" width="{width:.1f}" height="34" fill="{colour}"/>')
        column, row = 10 + 235 * (i % 3), 96 + 22 * (i // 3)
        parts.append(f'<rect x="{column}" y="{row - 10}" width="12" height="12" fill="{colour}"/>')
        parts.append(text(column + 18, row, f"{name}: {1000 * spent:,.0f} µs", "start"))
        at += width
    return picture(parts, 132)


def of_filters(found):
    series = {}
    for cell, times in found["share"].items():
        if cell.endswith("k = 10"):
            for name in ("ragfile", "numpy"):
                series.setdefault(name, []).append((times["rows"], times[name]))
    title = f"A filter over {found['rows']:,} vectors, k = 10"
    return curves(title, "rows that pass", "CPU ms a question", series)


def of_vectors_own(found):
    series = {}
    for count, cells in found["sizes"].items():
        for cell in ("one, k = 10", "one, k = 100"):
            for name in ("ragfile", "faiss"):
                if name in cells[cell]:
                    row = series.setdefault(f"{name}, {cell[5:]}", [])
                    row.append((int(count), cells[cell][name]))
    return curves("Exact top k, own-model vectors", "vectors", "CPU ms a question", series)


def of_service(found):
    series = {}
    for share, said in found["load"].items():
        for name in ("p50", "p99", "p99.9"):
            rate = float(share.rstrip("%")) / 100 * found["questions a second"]
            series.setdefault(name, []).append((rate, said[name]))
    return curves("A service under load", "questions a second", "ms until the answer", series)


def of_small_commits(found):
    title = "Commits of one record: bytes written for each byte stored"
    return curves(title, "commits", "bytes written ÷ bytes of a compacted ragfile", found)


DRAWN = {
    "filters": of_filters, "vectors_own": of_vectors_own, "service": of_service,
    "small_commits": of_small_commits, "question_steps": of_question_steps,
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name, draw in DRAWN.items():
        measured = args.folder / f"{name}.json"
        if measured.exists():
            (args.out / f"bench-{name}.svg").write_text(draw(json.loads(measured.read_text())))
            print(args.out / f"bench-{name}.svg")
    readme = Path(__file__).parent.parent / "README.md"
    (args.out / "bench-peers.svg").write_text(of_readme(readme.read_text("utf-8")))


if __name__ == "__main__":
    main()
