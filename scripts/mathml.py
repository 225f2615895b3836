"""A hook of mkdocs: formulas, written as LaTeX between dollars, become MathML while the site is built.

Browsers draw MathML by themselves: a page needs no script, no font and no other host.  `pymdownx.arithmatex` finds the formulas and
leaves them as \\(...\\) and \\[...\\] in elements of the class "arithmatex", which are replaced here.
"""

import html
import re
from typing import Any

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
NAMES = "arg|cos|cosh|det|dim|erfc|erfcx|exp|expm1|Im|inf|ker|lim|limsup|log|log1p|max|min|mod|Re|sin|sinh|sup|tan|tanh"
NAMED = re.compile(rf"<m[io]>({NAMES})</m[io]>")
APPLIED = re.compile(rf"(<mi>(?:{NAMES})</mi>(?:</m(?:sub|sup|under)>)?)(?=<m(?:i|n|frac|sup|sub|subsup|sqrt|row)\b)")
BARE = re.compile(rf"(<m(?:i|n)[^>]*>[^<]*</m[in]>)(<mi>(?:{NAMES})</mi>)")


def mathml(latex: str, block: bool) -> str:
    r"""One formula.

    >>> mathml(r"\log x \le 2", block=False).count("mspace")
    1
    """
    from latex2mathml.converter import convert

    # bars that enclose something, not relations
    text = latex.strip().replace(r"\lvert", r"\left|").replace(r"\rvert", r"\right|")
    text = text.replace(r"\arg", r"\operatorname{arg}").replace(r"\lVert", r"\left\|").replace(r"\rVert", r"\right\|")
    found: str = convert(text, display="block" if block else "inline")
    if "\\" in html.unescape(found) or "&</" in found or re.search(r"<mi>&(amp;)?</mi>", found):
        raise ValueError(f"no MathML for this formula: {latex}")
    thin = '<mspace width="0.167em"/>'
    found = NAMED.sub(r"<mi>\1</mi>", found)  # names of functions, between which and their arguments there is a little space
    return APPLIED.sub(rf"\1{thin}", BARE.sub(rf"\1{thin}\2", found))


def _replaced(match: "re.Match[str]") -> str:
    block = match[2] == "["
    found = mathml(html.unescape(match[3]), block)
    return f'<div class="formula">{found}</div>' if block else found


def on_page_content(content: str, **_: Any) -> str:
    """What mkdocs calls with the HTML of each page."""
    return FORMULA.sub(_replaced, content)
