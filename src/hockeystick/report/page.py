"""A report as HTML: a piece for notebooks, and a page of its own that needs nothing else, on the screen and on paper."""

import base64
import html as markup
import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import HockeystickError
from ..mechanism.training import Training
from .numbers import down_text, given, up_text
from .render import Section, sections
from .words import neighbouring, parts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .report import Report

_STYLE = """
:root { color-scheme: light; }
body { margin: 0; background: #f4f4f2; color: #1b1b1b; font: 16px/1.55 system-ui, "Segoe UI", Arial, sans-serif; }
main { max-width: 54rem; margin: 2rem auto; padding: 2.5rem 3rem; background: #fff; box-shadow: 0 1px 6px #0002; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 1.2rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; padding-bottom: .2rem; border-bottom: 1px solid #ccc; }
p { margin: .5rem 0; }
table { border-collapse: collapse; width: 100%; margin: .6rem 0 1rem; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .9rem .35rem 0; border-bottom: 1px solid #e4e4e4; }
th { font-weight: 600; width: 22%; }
td { overflow-wrap: break-word; }
.facts table { margin-top: 0; }
.guarantee { border-left: .4rem solid #0072b2; background: #f0f6fa; padding: .8rem 1.2rem; margin: 1.2rem 0; }
.guarantee strong { display: block; font-size: 1.45rem; }
figure { margin: 1.2rem 0; text-align: center; }
figure img { width: 80%; max-width: 36rem; }
figcaption { font-size: .85rem; color: #444; }
footer { margin-top: 2.5rem; font-size: .8rem; color: #555; }
@media (max-width: 45rem) { main { margin: 0; padding: 1.2rem; } figure img { width: 100%; } }
@page { size: A4; margin: 18mm 17mm 20mm; }
@media print {
  body { background: #fff; font-size: 10pt; }
  main { max-width: none; margin: 0; padding: 0; box-shadow: none; }
  h1 { font-size: 18pt; } h2 { font-size: 12pt; break-after: avoid; }
  tr, figure, .guarantee { break-inside: avoid; }
  figure img { width: 11cm; }
  a { color: inherit; text-decoration: none; }
}
"""


def html(found: list[Section]) -> str:
    """One div; colours come from the page."""
    parts = ['<div class="hockeystick-report" style="max-width:60em">']
    for level, section in enumerate(found):
        tag = "h2" if level == 0 else "h3"
        parts += [f"<{tag}>{markup.escape(section.title)}</{tag}>", *_body(section)]
    return "\n".join([*parts, "</div>"])


def _body(section: Section) -> list[str]:
    parts = [f"<p>{markup.escape(paragraph)}</p>" for paragraph in section.paragraphs]
    if section.rows:
        parts.append("<table>")
        wide = any(how for _, _, how in section.rows)
        for name, value, how in section.rows:
            across = " colspan='2'" if wide and not how else ""
            cells = f"<th scope='row' style='text-align:left'>{markup.escape(name)}</th>"
            cells += f"<td{across} style='text-align:left'>{_breakable(value)}</td>"
            cells += f"<td style='text-align:left'>{_breakable(how)}</td>" if how else ""
            parts.append(f"<tr>{cells}</tr>")
        parts.append("</table>")
    return parts


def _breakable(value: str) -> str:
    """Text whose long words, such as descriptions of releases, may be broken after their signs, and numbers never."""
    words = (re.sub(r"([(),=/]|\.(?=[a-z]))(?=\S)", "\\1\0", word) if len(word) > 24 else word for word in value.split(" "))
    return markup.escape(" ".join(words)).replace("\0", "<wbr>")


def page(report: "Report") -> str:
    """A whole document: facts and guarantee first, then what it means, pictures, numbers, grounds."""
    first, meant, *others = sections(report)
    return document(first, meant, others, _headline(report), report.basis, _pictures(report), _generator(report))


def document(
    first: Section, meant: Section, others: Sequence[Section], headline: str, basis: str, pictures: Sequence[str], maker: str
) -> str:
    """A page of its own from the sections of a report, its headline, and its pictures."""
    title = markup.escape(first.title)
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta name="generator" content="{markup.escape(maker)}">',
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>",
        f'<div class="facts">{"".join(_body(first._replace(paragraphs=[])))}</div>',
        f'<div class="guarantee"><strong>{headline}</strong>{markup.escape(basis)}</div>',
        *_body(first._replace(rows=[])),
        f"<h2>{markup.escape(meant.title)}</h2>",
        *_body(meant),
        *pictures,
    ]
    for section in others:
        parts += [f"<h2>{markup.escape(section.title)}</h2>", *_body(section)]
    return "\n".join([*parts, f"<footer>{markup.escape(maker)}</footer>", "</main>\n</body>\n</html>"])


def _headline(report: "Report") -> str:
    return f"ε = {up_text(report.epsilon['upper'], 3)} at δ = {given(report.at)}"


def _generator(report: "Report") -> str:
    from .answers import current_version

    day = f", {report.about.date}" if report.about.date else ""
    return f"Made by hockeystick {current_version()}{day}. Numbers are rounded to the safe side."


def _pictures(report: "Report") -> list[str]:
    """The profile and the trade-off curve, if they can be drawn."""
    from . import plots

    shown = (
        ("The privacy profile: delta at every epsilon. No point of the curve is below the truth.", plots.profile),
        ("What a test can reach that must tell a record's presence. No test is below the curve.", plots.tradeoff),
    )
    parts: list[str] = []
    for words, draw in shown:
        try:
            figure = draw(report.release, report.at, neighbours=report.neighbours)
        except HockeystickError as error:
            return [*parts, f"<p>{markup.escape(f'Not drawn: {error}')}</p>"]
        parts.append(picture(figure, words))
    return ["<h2>Pictures</h2>", *parts]


def picture(figure: "Figure", words: str) -> str:
    """A figure within a page, with its caption."""
    source = base64.b64encode(_svg(figure)).decode("ascii")
    shown = f'<img alt="{markup.escape(words)}" src="data:image/svg+xml;base64,{source}">'
    return f"<figure>{shown}<figcaption>{markup.escape(words)}</figcaption></figure>"


def _svg(figure: "Figure") -> bytes:
    """The same bytes each time; the page has captions of its own."""
    import matplotlib

    from .figures.style import trimmed

    target = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "hockeystick"}):
        trimmed(figure, caption=False).savefig(target, format="svg", metadata={"Date": None})
    return target.getvalue()


_TABLE = '<table style="border-collapse: collapse; text-align: left">'
_CELL = '<td style="text-align: left; padding: 0.15em 1.2em 0.15em 0">'
_MOST = 20  # entries of an array


def release_html(release: Any) -> str:
    """What is released, how often and on which sample, and what its questions are about."""
    rows: list[tuple[str, ...]] = [("uses", "what", "sample")]
    rows += [(f"{one.uses:,}", one.words, one.sampler) for one in parts(release)]
    notes = release.notes if isinstance(release, Training) else ()
    relation = f"Neighbours: {neighbouring(release, release.stated)} ({release.stated})."
    said = [*(note for note in notes if not note.startswith("Neighbours:")), relation]
    ask = "Ask for .epsilon(delta=...), .report(delta=...) or .plot(delta=...)."
    code = f"<code>{markup.escape(repr(release))}</code>"
    return f"<div>{code}{_small_table(rows)}<p>{'<br>'.join(map(markup.escape, [*said, ask]))}</p></div>"


def bounds_html(bounds: Any) -> str:
    """Both ends, rounded outwards; of an array the first entries."""
    if not hasattr(bounds.lower, "ravel"):
        listed, more = [(float(bounds.lower), float(bounds.upper))], ""
    else:
        every = list(zip(bounds.lower.ravel().tolist(), bounds.upper.ravel().tolist(), strict=True))
        listed, more = every[:_MOST], f" The first {_MOST} of {len(every):,}." if len(every) > _MOST else ""
    tight = "Some mechanism attains the truth." if bounds.tight else "The upper end may be more than is needed."
    rows = [("at least", "at most"), *((down_text(low, 10), up_text(high, 10)) for low, high in listed)]
    return f"<div>{_small_table(rows)}<p>{tight}{more}</p></div>"


def _small_table(rows: Sequence[tuple[str, ...]]) -> str:
    head, *body = rows
    cells = "".join(f"<tr>{''.join(f'{_CELL}{markup.escape(one)}</td>' for one in row)}</tr>" for row in body)
    titles = "".join(f"{_CELL}<b>{markup.escape(one)}</b></td>" for one in head)
    return f"{_TABLE}<tr>{titles}</tr>{cells}</table>"
