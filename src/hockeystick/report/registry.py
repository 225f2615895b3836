"""A report as a record for the registry of deployments of differential privacy that OpenDP keeps.

The form is that of schemas/deployments-schema.yaml in opendp/deployments-registry-data (commit 057e5d81).  What only people know
stands as a comment with the question; a required field among them must be filled before the record is valid.
"""

import itertools
import json
import math
import re
import unicodedata
from typing import TYPE_CHECKING, Any

from .answers import current_version, listed
from .methods import steps
from .numbers import given, rounded_up
from .words import neighbouring

if TYPE_CHECKING:
    from .report import Report


def registry(report: "Report") -> str:
    """The record as YAML, in the order of the schema."""
    about = report.about
    named = about.title or about.name
    lines = [
        "# A draft for https://registry.opendp.org; lines that begin with '#?' are questions that only people can answer.",
        "# To answer one, remove '#?' and the question behind the second '#'.",
        _given("url_slug", _slug(named), "a short name for the address, such as visits-office-2025"),
        "deployment:",
        "  basic:",
        _given("    name", named, "the name of the data product"),
        _asked("    data_curators", '[{data_curator_name: "", data_curator_type: Government}]', "who publishes it; Government, "
               "Industry or Nonprofit"),
        _given("    description", _description(report), "the data product in a few words"),
        _given("    intended_use", about.purpose, "what it is to be used for"),
        _asked("    data_product_type", "Summary statistics", "or Machine learning model, Dataset, Synthetic data, "
               "Interactive API, SQL queries"),
        _asked("    data_product_region", '""', "which region the data describe, or whose law applies"),
        _asked("    data_product_sector", "Technology", "or Healthcare, Education, Government, Energy, Finance"),
        _given("    publication_date", about.date, "the day of publication, YYYY-MM-DD", "1900-01-01"),
        "  dp_variant:",
        f"    variant_name: {'Pure DP' if report.at == 0.0 else 'Approximate DP'}",
        _given("    data_domain", about.dataset, "which data sets are protected: actual, possible, counterfactual"),
        _asked("    unprotected_quantities", '""', "what is published without noise (invariants), or none"),
        *_loss(report),
        *_model(report),
        *_implementation(report),
        "  administrative:",
        _asked("    evidence_sources", '{paper: {evidence_source_type: "Other public source", misc: {title: "", url: ""}}}',
               "what was published about it, if anything"),
        "    status: Draft",
        _given("    registry_authors", [about.author] if about.author else None, "who fills in this record", [""]),
        "    tier: 1  # 2 or 3 when the questions above are answered; see the schema",
    ]  # fmt: skip
    return "\n".join(_without_empty_rooms(lines))


def _without_empty_rooms(lines: list[str]) -> list[str]:
    """A room whose fields are all questions is one, too: an empty one would be no valid record."""
    made = []
    for place, line in enumerate(lines):
        if re.fullmatch(r"  [a-z_]+:", line):
            below = list(itertools.takewhile(lambda one: one.startswith("    "), lines[place + 1 :]))
            if all(one.lstrip().startswith("#") for one in below):
                line = f"  #? {line.strip()}  # needed by any of the lines below"
        made.append(line)
    return made


def _loss(report: "Report") -> list[str]:
    """An epsilon never goes without its delta, unit, relation and sampler."""
    relation = f"{neighbouring(report.release, report.neighbours)} ({report.neighbours})"
    unit = report.about.unit
    detail = f"Neighbours: {relation}. One record is {unit}." if unit else f"Neighbours: {relation}."
    lines = [
        "  privacy_loss:",
        _given("    privacy_unit", unit, "whose data change between neighbours: a person, a household, a person on a day"),
        f"    privacy_unit_details: {_text(detail)}",
        _asked("    number_of_privacy_units", "1000", "how many there are; about, if that is not public"),
    ]
    epsilon = report.epsilon["upper"]
    if math.isinf(epsilon):
        return [*lines, f"    # no epsilon is finite at delta = {given(report.at)}: there are no privacy_parameters to state"]
    return [
        *lines,
        "    privacy_parameters:",
        f"      epsilon: {_number(rounded_up(epsilon, 3))}  # rounded up; sampling: {report.sampler}",
        *([f"      delta: {_number(report.at)}"] if report.at else []),
        f"    privacy_parameters_details: {_text(report.statement)}",
    ]


def _model(report: "Report") -> list[str]:
    shuffled = any(one.release.startswith("Shuffled(") for one in steps(report.release, report.neighbours))
    model = "    model_name: Shuffle" if shuffled else _asked("    model_name", "Central", "or Local, Shuffle, Federated, Varies")
    return [
        "  deployment_model:",
        model,
        _asked("    trust_assumptions", '""', "who is trusted with what, and why"),
        _asked("    actors", '""', "who may see the data or the product, adversaries included"),
        _asked("    release_type", "One release", "or Many releases"),
        _asked("    release_type_details", '""', "are further releases of the same data planned, and how is their loss managed"),
        _asked("    data_source_type", "Static", "or Dynamic, if new data come in"),
        _asked("    access_type", "Non-interactive", "or Interactive"),
    ]


def _implementation(report: "Report") -> list[str]:
    parts = steps(report.release, report.neighbours)
    mechanisms = f"{listed(parts)}. In the words of the library: {report.release!r}."
    composed = f"All releases are composed as one; {report.methods['epsilon']}."
    more = f"Accounted for with hockeystick {current_version()}. {' '.join(report.assumptions)}"
    return [
        "  implementation:",
        _asked(
            "    preprocessing_and_hyperparameter_tuning", '""', "was anything computed on the data before, and is it counted"
        ),
        f"    mechanisms: {_text(mechanisms)}",
        "    #? which library draws the noise, and is it safe against attacks on floating point and timing  # add it above",
        f"    composition: {_text(composed)}",
        _asked("    post_processing", '""', "what is done to the noisy results before they are published"),
        _asked("    justification", '""', "why these parameters, decided by whom"),
        _asked("    utility", '""', "how accurate the product is"),
        f"    additional_information: {_text(more)}",
    ]


def _description(report: "Report") -> str:
    names = ", ".join(one.name for one in report.about.entries if one.name)
    data = report.about.dataset
    return f"{names}; from {data}" if names and data else names


def _given(key: str, value: Any, question: str, example: Any = "") -> str:
    """A field with its value if it was given, else the question for it."""
    if value:
        return f"{key}: {_text(value)}"
    return _asked(key, _text(example), question)


def _asked(key: str, example: str, question: str) -> str:
    """A field that only people can fill: a comment, in its place."""
    indent = len(key) - len(key.lstrip())
    return f"{key[:indent]}#? {key[indent:]}: {example}  # {question}?"


def _text(value: Any) -> str:
    """In double quotes, which YAML reads as JSON does."""
    return json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    """A number that YAML 1.1 reads as one: 1.0e-05, where 1e-05 would be a text."""
    text = repr(float(value))
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}{e}{exponent}"


def _slug(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
