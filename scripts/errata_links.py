"""A hook of mkdocs: keys of errata (A-E1, S-E4, G-E9), in prose or a docstring, become links to the page of errata."""

import re
from functools import cache
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parent.parent / "docs" / "errata.md"
KEY = re.compile(r"\b([ASG]-E\d+)\b")
KEPT = re.compile(r"(<(?:a|code|pre|h[1-6]|script|math)\b.*?</(?:a|code|pre|h[1-6]|script|math)>|<[^>]*>)", re.DOTALL)


@cache
def defined() -> frozenset[str]:
    """The keys that the page of errata has as headings.

    >>> "A-E1" in defined()
    True
    """
    return frozenset(re.findall(r"^### ([ASG]-E\d+) ", PAGE.read_text(encoding="utf-8"), re.MULTILINE))


def linked(page: str, root: str) -> str:
    """A page with links, `root` the way from it to the root of the site.

    >>> linked("<p>erratum A-E1, <code>A-E1</code></p>", "../")
    '<p>erratum <a href="../errata/#a-e1">A-E1</a>, <code>A-E1</code></p>'
    """

    def link(found: "re.Match[str]") -> str:
        key = found[1]
        return f'<a href="{root}errata/#{key.lower()}">{key}</a>' if key in defined() else key

    parts = KEPT.split(page)
    return "".join(part if place % 2 else KEY.sub(link, part) for place, part in enumerate(parts))


def on_page_content(content: str, page: Any = None, **_: Any) -> str:
    """What mkdocs calls with the HTML of each page."""
    return linked(content, "../" * page.url.count("/"))
