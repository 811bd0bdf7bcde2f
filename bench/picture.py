"""Bars against a line: each figure over its aim, drawn as SVG by hand."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

_ROW: Final = 26
_LEFT: Final = 330
_AIM: Final = 230
"""Pixels from the left end of a bar to the aim."""
_MOST: Final = 2.0
"""Bars beyond twice the aim are cut off there."""
_WIDTH: Final = _LEFT + int(_AIM * _MOST) + 190
_STYLE: Final = (
    "text{font:13px system-ui,sans-serif;fill:#24292f}.met{fill:#2f7d4f}.missed{fill:#b4532a}"
    ".aim{stroke:#57606a;stroke-dasharray:4 3}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.aim{stroke:#9198a1}}"
)


@dataclass(frozen=True, slots=True)
class Bar:
    """One figure."""

    label: str
    share: float
    """Of its aim."""
    told: str
    met: bool


def picture(bars: Sequence[Bar]) -> str:
    """An SVG document; the dashed line is the aim."""
    height = _ROW * (len(bars) + 1) + 10
    x = _LEFT + _AIM
    drawn = "\n".join(_drawn(bar, 5 + number * _ROW) for number, bar in enumerate(bars))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img" aria-label="Figures against their aims">\n'
        f"<style>{_STYLE}</style>\n{drawn}\n"
        f'<line class="aim" x1="{x}" y1="0" x2="{x}" y2="{height - _ROW}"/>\n'
        f'<text x="{x}" y="{height - 9}" text-anchor="middle">the aim</text>\n</svg>\n'
    )


def _drawn(bar: Bar, y: int) -> str:
    length = round(min(bar.share, _MOST) * _AIM)
    kind = "met" if bar.met else "missed"
    return (
        f'<text x="{_LEFT - 8}" y="{y + 14}" text-anchor="end">{escape(bar.label)}</text>'
        f'<rect class="{kind}" x="{_LEFT}" y="{y}" width="{length}" height="18" rx="2"/>'
        f'<text x="{_LEFT + max(length, _AIM) + 8}" y="{y + 14}">{escape(bar.told)}</text>'
    )
