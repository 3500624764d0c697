"""Charts as inline SVG: bars over months, bars of names. Colours are those of the page, by class; no style, no script.

A chart is a picture with a name for those who do not see it (`role="img"`, a title and a description of every number).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from pipeline.text import clean

#: Bars that a timeline has at most: longer ones are by quarter, then by year.
MOST_BARS = 60
_WIDTH, _HEIGHT, _AXIS = 360, 72, 18
_GAP = 1.5
#: Widest bar: three months are three bars, not three walls.
_WIDEST = 24.0
#: Distance between two labels of years.
_LABEL = 34.0


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a list."""

    name: str
    count: int
    kind: str = ""  # class of the bar: "fixed" is drawn hollow


def timeline(counts: Mapping[str, int], *, title: str) -> Markup:
    """Bars over time of `counts`, "2026-03" -> how many; empty months stand as gaps. "" for a single bar."""
    spans = _spans(counts)
    if len(spans) < 2:
        return Markup()
    most = max(count for _, count in spans)
    step = min(_WIDTH / len(spans), _WIDEST)
    parts = [_bar(number * step, step, count, most, label) for number, (label, count) in enumerate(spans) if count]
    parts.append(Markup('<line class="axis" x1="0" y1="{0}" x2="{1}" y2="{0}"/>').format(_HEIGHT, _WIDTH))
    parts += _dates([label for label, _ in spans], step)
    told = "; ".join(f"{label}: {count}" for label, count in spans if count)
    return _picture(title, told, parts, height=_HEIGHT + _AXIS)


def bars(rows: Sequence[Bar], *, title: str) -> Markup:
    """One bar a row, in their order, with name and number as text. "" without any."""
    if not rows:
        return Markup()
    most = max(row.count for row in rows) or 1
    named = [Bar(clean(row.name), row.count, row.kind) for row in rows]
    parts = [_named(number, row, most) for number, row in enumerate(named)]
    told = "; ".join(f"{row.name}: {row.count}" for row in named)
    return _picture(title, told, parts, height=len(rows) * _ROW, width=_LIST_WIDTH)


#: A list of bars: narrow, so that its text keeps its size on a phone.
_LIST_WIDTH, _ROW, _NAME_CHARACTERS = 360, 30, 46


def _named(number: int, row: Bar, most: int) -> Markup:
    top = number * _ROW
    name = row.name if len(row.name) <= _NAME_CHARACTERS else row.name[: _NAME_CHARACTERS - 1] + "…"
    width = max(2.0, (_LIST_WIDTH - 2) * row.count / most)
    return Markup(
        '<text class="label" x="0" y="{}">{}</text><text class="label number" x="{}" y="{}">{}</text>'
        '<rect class="{}" x="1" y="{}" width="{}" height="6" rx="1"/>'
    ).format(
        top + 12, name, _LIST_WIDTH, top + 12, f"{row.count:,}", f"bar {row.kind}".strip(), top + 17, _written(width)
    )


def _bar(left: float, step: float, count: int, most: int, label: str) -> Markup:
    height = max(2.0, (_HEIGHT - 4) * count / most)
    gap = min(_GAP, step / 4)
    return Markup('<rect class="bar" x="{}" y="{}" width="{}" height="{}"><title>{}: {}</title></rect>').format(
        _written(left), _written(_HEIGHT - height), _written(step - gap), _written(height), label, count
    )


def _dates(labels: Sequence[str], step: float) -> list[Markup]:
    """The first bar's label, and the year wherever it changes and there is room."""
    parts, room = [], 0.0
    for number, label in enumerate(labels):
        shown = label if number == 0 else label[:4]
        place = min(number * step, _WIDTH - _LABEL)
        is_new = number == 0 or label[:4] != labels[number - 1][:4]
        if is_new and place >= room:
            line = Markup('<text class="label" x="{}" y="{}">{}</text>')
            parts.append(line.format(_written(place), _HEIGHT + 14, shown))
            room = place + (_LABEL if len(shown) == 4 else 1.8 * _LABEL)
    return parts


def _spans(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """(label, count) of every month from the first to the last; of quarters or years where there are too many."""
    months = sorted(month for month in counts if _number(month) is not None)
    if not months:
        return []
    first, last = _number(months[0]) or 0, _number(months[-1]) or 0
    size = next((size for size in (1, 3, 12) if (last - first) / size < MOST_BARS), 12)
    spans = dict.fromkeys(range(first // size, last // size + 1), 0)
    for month in months:
        spans[(_number(month) or 0) // size] += counts[month]
    return [(_label(number, size), count) for number, count in spans.items()][-_MOST_SPANS:]


#: Years that a timeline goes back at most; nothing was reported before.
_MOST_SPANS = 120


def _number(month: str) -> int | None:
    """Months since the year 0; None for what is no month."""
    year, mark, rest = month.partition("-")
    if not (mark and len(year) == 4 and year.isascii() and year.isdigit() and rest in _MONTHS):
        return None
    return int(year) * 12 + int(rest) - 1


_MONTHS = frozenset(f"{month:02}" for month in range(1, 13))


def _label(number: int, size: int) -> str:
    year, month = divmod(number * size, 12)
    return f"{year:04}-{month + 1:02}" if size == 1 else f"{year:04}-Q{month // 3 + 1}" if size == 3 else f"{year:04}"


def _picture(title: str, told: str, parts: Sequence[Markup], *, height: int, width: int = _WIDTH) -> Markup:
    head = Markup('<svg class="chart" role="img" viewBox="0 0 {} {}" aria-label="{}"><title>{}</title>').format(
        width, height, f"{title}. {told}", title
    )
    return head + Markup().join(map(escape, parts)) + Markup("</svg>")


def _written(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
