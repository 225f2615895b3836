"""A hook of mkdocs: formulas, written as LaTeX between dollars, become MathML while the site is built.

Browsers draw MathML by themselves: a page needs no script, no font and no other host.  `pymdownx.arithmatex` finds the formulas
and leaves them as \\(...\\) and \\[...\\] in elements of the class "arithmatex", which are replaced here.
"""

import html
import re
from typing import Any
from xml.etree import ElementTree as Tree  # of what latex2mathml has made

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
NAMESPACE = "http://www.w3.org/1998/Math/MathML"
ROWS = {"math", "mrow", "mtd", "msqrt", "mstyle"}  # whose children stand side by side
SCRIPTED = {"msub", "msup", "msubsup", "munder", "mover", "munderover"}
OPENING = set("([{,;|∣‖=<>≤≥≈∼∈→↦≠±∓+−·/:")  # after which a sign is not one between two terms
SIZED = re.compile(r"\\[bB]igg?([lr])(?![a-z])")  # brackets that stretch, in whatever they stand
WRITTEN = {
    r"\lvert": r"\left|",
    r"\rvert": r"\right|",
    r"\lVert": r"\left\|",
    r"\rVert": r"\right\|",
    r"\arg": r"\operatorname{arg}",
}
PRIMES = ("′", "″", "‴")
DISPLAY = ("inline", "block")


def mathml(latex: str, block: bool) -> str:
    r"""One formula.

    >>> mathml(r"\log x \le 2", block=False).count("mspace")
    1
    """
    from latex2mathml.converter import convert

    for name, meaning in WRITTEN.items():  # bars that enclose something are no relations
        latex = latex.replace(name, meaning)
    latex = SIZED.sub(lambda found: {"l": r"\left", "r": r"\right"}[found[1]], latex)
    root = Tree.fromstring(_escaped(convert(latex.strip(), display=DISPLAY[block])))
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        if set(element.text or "") & set("\\&$_^"):
            raise ValueError(f"no MathML for this formula: {latex}")
    for element in root.iter():
        if element.tag == "msup" and element[1].text in PRIMES:  # raised already, and tiny if raised again
            element.tag, element[1].tag = "mrow", "mo"
            element[1].attrib.update(lspace="0", rspace="0")
        if _name(element) and element.tag == "mo":
            element.tag, element.attrib = "mi", {}
        if element.tag == "mo" and element.text in ("∞", "…", "⋯"):
            element.tag, element.attrib = "mi", {}
        if element.text in ("/", "."):
            element.attrib.update(lspace="0", rspace="0")
    for element in root.iter():
        if element.tag in ROWS:
            _spaced(element)
    root.set("xmlns", NAMESPACE)
    return Tree.tostring(root, encoding="unicode")


def _escaped(text: str) -> str:
    """latex2mathml leaves a bare & where it did not understand one."""
    return re.sub(r"&(?!#?\w+;)", "&amp;", text)


def _name(element: Tree.Element) -> bool:
    """Whether it is the name of a function, such as log, with or without something below or above it."""
    if element.tag in SCRIPTED:
        return _name(element[0])
    return element.tag in ("mi", "mo") and (element.text or "").isalpha() and len(element.text or "") > 1


def _spaced(row: Tree.Element) -> None:
    """Signs that stand before a single term, and a little space around names of functions."""
    children = list(row)
    for place in range(len(children) - 1, 0, -1):
        before, here = children[place - 1], children[place]
        if here.text in ("−", "+") and before.tag == "mo" and (before.text or "") in OPENING:
            here.set("form", "prefix")
        bracket = here.tag == "mo"
        ends_term = before.tag != "mo" and before.tag != "mspace"
        if (_name(before) and not bracket and here.tag != "mspace") or (_name(here) and ends_term):
            row.insert(place, Tree.Element("mspace", width="0.167em"))


def _replaced(match: "re.Match[str]") -> str:
    block = match[2] == "["
    found = mathml(html.unescape(match[3]), block)
    return f'<div class="formula">{found}</div>' if block else found


def on_page_content(content: str, **_: Any) -> str:
    """What mkdocs calls with the HTML of each page."""
    return FORMULA.sub(_replaced, content)
