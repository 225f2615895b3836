"""A hook of mkdocs: what a copy button copies runs, and a page that does not read as it was written stops the build.

Examples are written as sessions, with prompts and answers.  Their copy buttons give the input alone (the theme copies what the
attribute "data-copy" holds); they are coloured as sessions, so that an answer is not taken for code.
"""

import doctest
import html
import re
from typing import Any

BLOCK = re.compile(r'<div class="([^"]*\bhighlight\b[^"]*)">(.*?)</div>', re.DOTALL)
SESSION = re.compile(r"^```python\n(?=>>> )", re.MULTILINE)
PUNCTUATED = re.compile(r"(<math\b(?:(?!</math>).)*</math>)([,.;:)]+)", re.DOTALL)
OPTION = re.compile(r"\s*# doctest: .*$", re.MULTILINE)


def runnable(text: str) -> str | None:
    """What can be run of a block: of a session its input, of commands those without their prompt; None if it has no prompts.

    >>> print(runnable(">>> x = 2\\n>>> x + 1\\n3\\n"))
    x = 2
    x + 1
    >>> runnable("$ hockeystick --help\\n$ hockeystick --version")
    'hockeystick --help\\nhockeystick --version'
    """
    if text.startswith(">>> "):
        source = "".join(one.source for one in doctest.DocTestParser().get_examples(text))
        return OPTION.sub("", source).rstrip()
    lines = text.strip().splitlines()
    if lines and lines[0].startswith("$ "):
        return "\n".join(line.removeprefix("$ ") for line in lines)
    return None


def _with_copy(match: "re.Match[str]") -> str:
    plain = html.unescape(re.sub(r"<[^>]+>", "", match[2]))
    source = runnable(plain.lstrip("\n"))
    if source is None:
        return match[0]
    return f'<div class="{match[1]}" data-copy="{html.escape(source).replace(chr(10), "&#10;")}">{match[2]}</div>'


def faults(page: str) -> list[str]:
    """What a reader would stumble over in a page as built.

    >>> faults("<p>well</p>"), faults("<blockquote><p>sorted(data)</p></blockquote>")
    ([], ['an example is shown as a quotation: <blockquote><p>sorted(data)</p></blockquote>'])
    """
    found = []
    text = re.sub(r"<(pre|code|script|math)\b.*?</\1>", "", page, flags=re.DOTALL)
    if quoted := re.search(r"<blockquote>.{0,40}", text, re.DOTALL):
        found.append(f"an example is shown as a quotation: {quoted[0]}")
    if "&gt;&gt;&gt; " in text:
        found.append("an example outside a block of code")
    if re.search(r"\\[(\[]|class=\"arithmatex\"", text):
        found.append("a formula that is not drawn")
    for match in re.finditer(r'data-copy="([^"]*)"', page):
        source = html.unescape(match[1])
        if not source.startswith(("hockeystick ", "pip ", "make ")):
            try:
                compile(source, "example", "exec", flags=_AWAIT)
            except SyntaxError as error:
                found.append(f"a copy button copies what does not run: {error}")
    return found


_AWAIT = 0x2000  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT: as notebooks run it


def on_page_markdown(markdown: str, **_: Any) -> str:
    """What mkdocs calls with the text of each page."""
    return SESSION.sub("```pycon\n", markdown)


def on_page_content(content: str, page: Any = None, **_: Any) -> str:
    """What mkdocs calls with the HTML of each page, after the hook that draws the formulas."""
    made = PUNCTUATED.sub(r'<span class="kept">\1\2</span>', BLOCK.sub(_with_copy, content))
    if found := faults(made):
        from mkdocs.exceptions import PluginError

        raise PluginError(f"{page.file.src_uri}: {'; '.join(found)}")
    return made
