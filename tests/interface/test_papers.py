"""The index of the papers is whole and its examples are true; every key of an erratum is defined, and leads to its definition."""

import doctest
import json
import math
import re

import pytest

import errata_links
import hockeystick as hs
from places import ROOT

PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
ERRATA = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
PAPERS = json.loads((ROOT / "tests" / "data" / "papers.json").read_text(encoding="utf-8"))
SECTIONS = dict(
    re.findall(r"^## (.*)\n+\| in the paper \| says \| here \| example \|\n\|[-|]+\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
)
ROWS = {
    heading: [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()]
    for heading, table in SECTIONS.items()
}


def numbered(paper: str) -> list[str]:
    """Every item with a number, as the paper calls it."""
    found = []
    for kind, numbers in PAPERS[paper].items():
        for number in numbers.split():
            first, _, last = number.partition("-")
            found += [f"{kind} {one}" for one in range(int(first), int(last) + 1)] if last else [f"{kind} {number}"]
    return found


def items(cell: str) -> list[str]:
    """What the first cell of a row names: "Eq. 1, Eq. 3 to 5" are four."""
    found = []
    for part in cell.split(", "):
        match = re.fullmatch(r"(Eq\.) (\d+) to (\d+)", part)
        found += [f"{match[1]} {one}" for one in range(int(match[2]), int(match[3]) + 1)] if match else [part]
    return found


@pytest.mark.parametrize("paper", PAPERS)
def test_every_numbered_item_has_a_row(paper):
    found = [item for heading, rows in ROWS.items() if heading.startswith(paper) for row in rows for item in items(row[0])]
    assert sorted(set(numbered(paper)) - set(found)) == []
    twice = sorted(item for item in set(found) if found.count(item) > 1 and not item.startswith(("Definition 1", "Figure")))
    assert twice == []


@pytest.mark.parametrize("heading", ROWS)
def test_headings_name_the_numbered_items_of_their_rows(heading):
    """So that a search for an author and a number finds the section by its title."""
    paper = next(paper for paper in PAPERS if heading.startswith(paper + ", "))
    every = set(numbered(paper))
    for row in ROWS[heading]:
        for kind, number in (item.split(" ") for item in items(row[0]) if item in every):
            numbers = re.findall(r"[\w.]*\w", heading)
            between = re.search(r"Eq\. (\d+) to (\d+)", heading)
            spanned = kind == "Eq." and between and int(between[1]) <= int(number) <= int(between[2])
            proof = kind == "Proof" and "appendices A" in heading
            assert number.partition(".")[0] in numbers or number in numbers or spanned or proof, (kind, number)


@pytest.fixture(scope="module")
def names():
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    found: dict[str, object] = {}
    for example in doctest.DocTestParser().get_examples(code):
        exec(example.source, found)
    return found


def numbers(value):
    return [one for part in value for one in numbers(part)] if isinstance(value, list | tuple) else [float(value)]


@pytest.mark.parametrize("heading", ROWS)
def test_every_row_is_executed(heading, names):
    for item, _, here, example in ROWS[heading]:
        if example == "-":
            assert here.startswith(("a step of a proof", "not computed, because")), item
            continue
        code, value = re.fullmatch(r"`([^`]*)` → (.*)", example).groups()
        printed = numbers(eval(value, {"inf": math.inf}))
        found = numbers(eval(code, names))
        assert found == pytest.approx(printed, rel=1e-6), (item, code)


@pytest.mark.parametrize("heading", ROWS)
def test_what_computes_it_exists(heading):
    for item, _, here, _ in ROWS[heading]:
        for word in re.findall(r"`(\w+(?:\.\w+)*)`", here):
            first, *rest = word.split(".")
            if first in ("Release", "Decomposition"):
                first, rest = "Gaussian" if first == "Release" else "Pair", rest if first == "Release" else []
            owners = [getattr(place, first) for place in (hs, hs.conversion, hs.Gaussian, hs.Profile) if hasattr(place, first)]
            owners += [hs] if first == "hockeystick" else []
            assert owners, (item, word)
            if first != "hockeystick":
                for name in rest:
                    assert any(hasattr(owner, name) for owner in owners), (item, word)


def texts():
    for path in sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.c")]):
        yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def test_every_key_of_an_erratum_is_defined_once_and_leads_there():
    keys = re.findall(r"^### ([ASG]-E\d+) .* \{ #(\S+) \}$", ERRATA, re.MULTILINE)
    assert [anchor for _, anchor in keys] == [key.lower() for key, _ in keys]
    assert len({key for key, _ in keys}) == len(keys) == len(re.findall("^### ", ERRATA, re.MULTILINE)) == 58
    named = {(place, key) for place, text in texts() for key in re.findall(r"\b[ASG]-E\d+\b", text)}
    assert [one for one in named if one[1] not in errata_links.defined()] == []
    for key in ("S-E1", "S-E2", "S-E4", "G-E6", "G-E9", "G-E16", "G-E18"):  # told where they change a result
        assert any(place.startswith("src/") for place, found in named if found == key), key


def test_what_an_erratum_says_is_said_of_each():
    for body in re.split(r"^### ", ERRATA, flags=re.MULTILINE)[1:]:
        key = body.split()[0]
        silent = "No number changes" in body or "no number changes" in body
        assert silent or "```python" in body or key in ("A-E14", "G-E22", "G-E25"), key
        assert "*Printed*" in body or key in ("A-E14", "S-E8", "S-E17", "G-E20"), key


def test_keys_become_links_but_not_in_code_or_headings():
    page = '<h3 id="a-e1">A-E1</h3><p>see G-E9 (<code>G-E9</code>) and X-E1, A-E999</p>'
    assert errata_links.linked(page, "../../") == page.replace("see G-E9", 'see <a href="../../errata/#g-e9">G-E9</a>')


def test_the_papers_have_names_and_no_letters():
    letter = r"\b[Pp]apers? [ASG]\b|\((?:[^()]*; )?[ASG],? (?:Theorem|Lemma|Proposition|Eq\.|Corollary|section|appendix|Remark)"
    assert [(place, found) for place, text in texts() for found in re.findall(letter, text)] == []
