"""The pages of proofs: lemmas in order, each with its place in the code, and the code's lemmas with their place in the pages."""

import re
import unicodedata
from importlib.util import find_spec
from pathlib import Path

import pytest

from places import ROOT

DOCS, SOURCE = ROOT / "docs", ROOT / "src" / "hockeystick"
MAP = (DOCS / "mathematics.md").read_text(encoding="utf-8")
ORDER = re.findall(r": mathematics/([\w-]+)\.md\n", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
PAGES = {stem: (DOCS / "mathematics" / f"{stem}.md").read_text(encoding="utf-8") for stem in ORDER}
TEXT = {"mathematics": MAP} | PAGES
KEY = r"\d+[a-z]?"
CODE = [path for path in sorted(SOURCE.rglob("*")) if path.suffix in (".py", ".c", ".h")]


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchor(heading: str) -> str:
    """As mkdocs makes it."""
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def headings(text: str, level: int, word: str = "") -> list[tuple[str, str]]:
    """Keys and whole headings of the lemmas ("Lemma "), or of the numbered sections, in order."""
    found = re.findall(rf"^{'#' * level} ({word}({KEY})\b.*)$", text, re.MULTILINE)
    return [(key, heading) for heading, key in found]


def place(key: str) -> tuple[int, str]:
    return int(re.sub(r"\D", "", key)), re.sub(r"\d", "", key)


LEMMAS = [(stem, *found) for stem, text in PAGES.items() for found in headings(text, 3, "Lemma ")]
SECTIONS = [(stem, *found) for stem, text in PAGES.items() for found in headings(text, 2)]
BODIES = {
    match[1]: match[2]
    for text in PAGES.values()
    for match in re.finditer(rf"^### Lemma ({KEY})\b.*?\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
}


@pytest.mark.parametrize("found", [LEMMAS, SECTIONS], ids=["lemmas", "sections"])
def test_numbers_are_unique_and_in_order(found):
    keys = [key for _, key, _ in found]
    assert len(keys) > 15
    assert keys == sorted(set(keys), key=place)


def test_the_road_map_leads_to_every_lemma_and_every_section():
    links = dict(re.findall(r"^\[([\w-]+)\]: mathematics/(\S+)$", MAP, re.MULTILINE))
    for kind, found in (("lemma-", LEMMAS), ("section-", SECTIONS)):
        rows = re.findall(rf"^\| \[({KEY})\]\[{kind}\1\] \|", MAP, re.MULTILINE)
        assert rows == [key for _, key, _ in found]
        for stem, key, heading in found:
            assert links[kind + key] == f"{stem}.md#{anchor(heading)}"


def test_what_lemmas_rest_on_are_lemmas_and_never_themselves():
    table = re.findall(rf"^\| \[({KEY})\]\[lemma-\1\] \| .* \| ([^|]*) \|$", MAP, re.MULTILINE)
    rests = {key: set(re.findall(KEY, on)) for key, on in table}
    assert set(rests) == set(BODIES)
    assert set().union(*rests.values()) <= set(rests)
    while rests:  # whatever rests on nothing that is left goes
        ripe = {key for key, on in rests.items() if not on & rests.keys()}
        assert ripe, rests
        rests = {key: on for key, on in rests.items() if key not in ripe}


@pytest.mark.parametrize("stem", TEXT)
def test_lemmas_and_sections_that_a_page_names_exist(stem):
    named = re.findall(rf"\bLemmas?[ \n]({KEY})(?:,? (?:and|to) ({KEY}))?", re.sub(r"\[[^\]]*\], Lemma \S+", "", TEXT[stem]))
    assert {key for keys in named for key in keys if key} <= set(BODIES)
    sections = {key for _, key, _ in SECTIONS}
    ours = re.sub(r"\[[A-Z]\w*\]\)?,?\s+section \S+", "", TEXT[stem])  # not those of papers
    assert set(re.findall(rf"[Ss]ections?\s+({KEY})", ours)) <= sections


@pytest.mark.parametrize("key", BODIES)
def test_every_lemma_says_where_it_is_used(key):
    used = re.search(r"^\*Used in\*(.*?)(?:\n\n|\Z)", BODIES[key], re.MULTILINE | re.DOTALL)
    assert used, f"Lemma {key}: no line '*Used in* `loss/...`'"
    assert re.findall(r"`([\w/]+\.(?:py|c|h))`", used[1])


@pytest.mark.parametrize("stem", TEXT)
def test_modules_that_a_page_names_exist(stem):
    for name in re.findall(r"`([\w/]+\.(?:py|c|h))`", TEXT[stem]):
        assert (SOURCE / name).exists(), name


def named_by(path: Path) -> set[str]:
    """The lemmas that a file names."""
    text = re.sub(r"\s+(?:[*#]\s+)?", " ", path.read_text(encoding="utf-8"))
    found = set()
    for listed in re.findall(rf"\bLemmas? ({KEY}(?:(?:, | and |, and | to ){KEY})*)", text):
        found |= set(re.findall(KEY, listed))
        for first, last in re.findall(r"(\d+) to (\d+)", listed):
            found |= {str(key) for key in range(int(first), int(last) + 1)}
    return found


@pytest.mark.parametrize("key", BODIES)
def test_the_code_names_back_the_lemmas_that_it_uses(key):
    used = re.search(r"^\*Used in\*(.*?)(?:\n\n|\Z)", BODIES[key], re.MULTILINE | re.DOTALL)
    assert used
    files = re.findall(r"`([\w/]+\.(?:py|c|h))`", used[1])
    assert [name for name in files if key not in named_by(SOURCE / name)] == []


def cited(word: str) -> list[tuple[str, str]]:
    """(file, number) of what the code cites as ours, not as some paper's."""
    found = []
    for path in CODE:
        text = re.sub(r"\s+(?:[*#]\s+)?", " ", path.read_text(encoding="utf-8"))
        for match in re.finditer(rf"\b{word}s? ({KEY}(?:(?:, | and |, and ){KEY})*)(?![\w.])", text):
            before = text[max(0, match.start() - 30) : match.start()]
            ours = "mathematics" in before or (
                word == "Lemma" and path.relative_to(SOURCE).parts[0] in ("loss", "native", "numerics")
            )
            if ours and not re.search(r"(\[[A-Z]\w*\]|\b(paper )?[AGS]|[12]\d\d\d),?\)? $", before):
                found += [(path.relative_to(SOURCE).as_posix(), key) for key in re.findall(KEY, match[1])]
    return found


def test_lemmas_and_sections_that_the_code_cites_exist():
    lemmas, sections = cited("Lemma"), cited("section")
    assert len(lemmas) > 8
    assert len(sections) > 8
    assert [found for found in lemmas if found[1] not in BODIES] == []
    assert [found for found in sections if found[1] not in {key for _, key, _ in SECTIONS}] == []


@pytest.mark.parametrize("stem", TEXT)
def test_lines_are_short_and_sources_have_their_keys(stem):
    text = TEXT[stem]
    assert [line for line in text.splitlines() if len(line) > 130] == []
    assert not re.search(r"\bpapers? [ASG]\b|\b[ASG], (Theorem|Lemma|section|Proposition)", text)
    listed = re.findall(r"^\| \[(\w+)\] \|", (DOCS / "bibliography.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(listed) == len(set(listed))
    prose = re.sub(r"\$[^$]*\$", "", without_code(text))
    assert set(re.findall(r"\[([A-Z][A-Za-z]*\d\d|GDPT)\]", prose)) <= set(listed)


def test_the_words_are_those_of_the_field():
    """A few of the private words that these pages once had."""
    prose = "\n".join(TEXT.values())
    for word in ("smeared", "smearing", "what is cut off", "counted apart", "stick out", "is told by"):
        assert word not in prose.lower(), word
    for word in ("Poisson summation", "aliasing error", "truncation error", "trapezoidal", "exponential tilt", "saddle point"):
        assert word in prose, word


def test_numbers_in_the_prose_of_the_example_are_those_that_it_computes():
    page = PAGES["example"]
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    printed = "\n".join(line for line in code.splitlines() if not line.startswith((">>>", "...")))
    prose = re.sub(r"\]\([^)]*\)", "]", without_code(page).partition("## The saddle point")[2])
    numbers = set(re.findall(r"(?<![\w.^-])\d+(?:\.\d+)?e-\d+|(?<![\w.^-])\d+\.\d+", prose))
    assert len(numbers) > 5
    # what the page computes by itself: e^-29, and the factor of the cells
    assert {number for number in numbers if number not in printed} <= {"2.5e-13", "1.25"}
    assert f"{2.718281828**-29:.1e}" == "2.5e-13"
    from hockeystick.numerics.trapezoid import RATIO

    assert RATIO == 1.25


def test_cells_grow_as_the_page_says():
    from hockeystick.numerics.trapezoid import RATIO

    assert f"Each cell is {RATIO} times as long" in BODIES["7"]


@pytest.mark.skipif(find_spec("latex2mathml") is None, reason="latex2mathml is not installed")
@pytest.mark.parametrize("stem", TEXT)
def test_every_formula_has_its_mathml(stem):
    from mathml import mathml

    for block, inline in re.findall(r"\$\$(.*?)\$\$|\$([^$]+)\$", without_code(TEXT[stem]), re.DOTALL):
        assert mathml(block or inline, bool(block)).startswith("<math")


@pytest.mark.skipif(find_spec("latex2mathml") is None, reason="latex2mathml is not installed")
def test_a_formula_that_is_not_understood_is_an_error():
    from mathml import mathml

    for formula in (r"\nosuchcommand x", r"\begin{aligned} a &= b \end{aligned}"):
        with pytest.raises(ValueError, match="no MathML"):
            mathml(formula, block=False)
    assert "<mspace" not in mathml(r"\log(x)", block=False)
    assert mathml(r"x \ge -q", block=False).count('form="prefix"') == 1
    assert 'form="prefix"' not in mathml("x - q", block=False)
