"""The report of an account, in all forms, and its picture."""

import json

import pytest
import yaml

import hockeystick as hs
from ledgers import opened, timed


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    ledger, clock = timed(tmp_path_factory.mktemp("ledger") / "ledger.db")
    with ledger:
        account = opened(ledger, purpose="Statistics & more", delta=1e-6, reserve="pure")
        account.spend("unit", key="2026-03", actor="bob", count=2, note="by request")
        clock.now += 86_400.0
        account.spend(hs.Laplace(scale=10.0), key="ad-hoc", actor="eve")
        held = account.reserve("unit", key="held", actor="bob")
        account.void("held", token=held.token, actor="bob", not_read=True)
        account.reserve("unit", key="late", actor="bob", timeout=60.0)
        clock.now += 86_400.0
        account.amend(epsilon=1.5, actor="ada", reason="the board decided so")
        return account.report()


def test_one_row_for_each_release(report):
    rows = report.releases
    assert [(one["key"], one["count"], one["became"].partition(":")[0]) for one in rows] == [
        ("2026-03", 2, "released"),
        ("ad-hoc", 1, "released"),
        ("held", 1, "given back"),
        ("late", 1, "counts as released"),
    ]
    assert rows[0]["charge"]["lines"] == {"unit": 2}
    assert rows[1]["release"] == "Laplace(scale=10.0)"


@pytest.mark.parametrize(
    "form", ["to_text", "to_json", "to_html", "to_page", "to_markdown", "to_latex", "__str__", "_repr_html_"]
)
def test_every_form_has_every_release_and_the_promise(report, form):
    text = getattr(report, form)()
    for words in ("2026-03", "ad-hoc", "held", "late", "one person"):
        assert words in text, words
    assert "1.5" in text
    assert "NaN" not in text


def test_the_promise_for_a_registry_and_a_model_card(report):
    loss = yaml.safe_load(report.to_registry())["deployment"]["privacy_loss"]["privacy_parameters"]
    assert (loss["epsilon"], loss["delta"]) == (1.5, 1e-6)
    assert "| Epsilon | 1.5, rounded up |" in report.to_model_card()


def test_the_json_says_what_the_log_says(report):
    found = json.loads(report.to_json())
    assert found["account"]["promise"] == {"epsilon": 1.5, "delta": 1e-6}
    assert [one["kind"] for one in found["changes"]] == ["open", "amend"]
    assert found["statement"] == report.statement
    assert "ε = 1.5 and δ = 1e-06 for neighbours by add-or-remove; one record is one person." in report.statement


def test_the_picture_ends_where_the_account_is(report):
    figure = report.plot()
    curves = {line.get_label(): line.get_ydata() for line in figure.axes[0].get_lines()}
    status = report.status
    assert curves["unit (planned)"][-1] == pytest.approx(0.3)
    assert curves["the reserve"][-1] == pytest.approx(1.0 - status["reserve"]["left"])
    assert any("epsilon 1.5" in text.get_text() for text in figure.axes[0].texts)


def test_the_budget_is_one_release_whose_epsilon_is_the_promise(tmp_path):
    """Plan, reserve and slack together, also at the boundary: nothing that is granted is beyond it."""
    with hs.Ledger(tmp_path / "ledger.db") as ledger:
        account = opened(ledger, delta=1e-6, reserve="gdp", plan=[("h", hs.Gaussian(sigma=20.0), 12)], epsilon=2.0)
        whole = account.report()._budget
        assert 1.9999 < whole.epsilon["upper"] < 2.0 + 1e-9


def test_an_account_of_nothing_has_a_page(tmp_path):
    """Neither a line nor a reserve: no curve, and no legend."""
    with hs.Ledger(tmp_path / "ledger.db") as ledger:
        ledger.add_dataset("data", unit="one person")
        made = ledger.open_account("nothing", dataset="data", epsilon=0.0, delta=0.0, reserve="pure", actor="ada")
        assert "The budget over time" in made.report().to_page()
