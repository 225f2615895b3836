"""Training under an account: a step is charged before it runs, once, and refused if it does not fit."""

import json

import dp_accounting as dp
import pytest

pytest.importorskip("sqlalchemy")

import hockeystick as hs
from hockeystick.interop.charging import Charging
from hockeystick.interop.dp_accounting import HockeystickAccountant

STEP = hs.Gaussian(sigma=1.1).poisson(rate=0.01)
EVENT = dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(1.1))
OTHER = dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(1.2))


@pytest.fixture
def account(tmp_path):
    with hs.Ledger(tmp_path / "ledger.db") as ledger:
        ledger.add_dataset("photos", unit="one person", actor="ada")
        yield ledger.open_account(
            "2026", dataset="photos", epsilon=3.0, delta=1e-5, plan=[("training", STEP, 10), ("tens", STEP * 10, 3)], actor="ada"
        )


def charges(account):
    return [entry for entry in account.log() if entry["kind"] == "commit"]


# steps of a planned line


def test_each_step_takes_a_use_and_the_last_is_refused_before_it_runs(account):
    accountant = HockeystickAccountant(account=Charging(account, line="training", actor="bob"))
    for left in range(9, -1, -1):
        accountant.compose(EVENT)
        assert account.remaining("training") == left
    before = accountant.get_epsilon(1e-5)
    with pytest.raises(hs.OverBudget, match="nothing was charged"):
        accountant.compose(EVENT)
    assert accountant.get_epsilon(1e-5) == before == (STEP * 10).epsilon(1e-5)
    assert accountant.release == STEP * 10
    assert len(charges(account)) == 10


def test_asking_whether_an_event_is_supported_charges_nothing(account):
    accountant = HockeystickAccountant(account=Charging(account, line="training", actor="bob"))
    assert accountant.supports(EVENT)
    assert not charges(account)


def test_another_step_than_that_of_the_line_is_refused(account):
    accountant = HockeystickAccountant(account=Charging(account, line="training", actor="bob"))
    with pytest.raises(hs.BadValue, match=r"sigma=1\.2.*use of line 'training'.*sigma=1\.1"):
        accountant.compose(OTHER)
    with pytest.raises(hs.Unsupported, match="without any privacy"):
        accountant.compose(dp.NonPrivateDpEvent())
    assert not charges(account)
    assert accountant.release == hs.compose([])


def test_blocks_are_charged_ahead_and_the_last_one_is_short(account):
    charging = Charging(account, line="training", actor="bob", block=4)
    for _ in range(5):
        charging.charge(STEP)
    assert (account.remaining("training"), charging.ahead, charging.done, charging.left) == (2, 3, 5, 5)
    charging.charge(STEP, 5)
    assert (account.remaining("training"), charging.ahead, charging.done) == (0, 0, 10)
    with pytest.raises(hs.OverBudget):
        charging.charge(STEP)
    assert [entry["what"]["count"] for entry in charges(account)] == [4, 4, 2]
    assert len({entry["key"] for entry in charges(account)}) == 3


def test_a_use_of_a_line_may_be_several_steps(account):
    accountant = HockeystickAccountant(account=Charging(account, line="tens", actor="bob"))
    accountant.compose(dp.SelfComposedDpEvent(EVENT, 10))
    accountant.compose(EVENT, 10)
    assert account.remaining("tens") == 1
    with pytest.raises(hs.BadValue, match="use of line"):
        accountant.compose(EVENT, 5)
    again = HockeystickAccountant(account=Charging(account, line="tens", actor="bob")).load(accountant.state())
    assert again.account.done == 2


# checkpoints


def test_steps_up_to_a_checkpoint_are_charged_once_and_steps_run_again_anew(account):
    first = HockeystickAccountant(account=Charging(account, line="training", actor="bob", run="cnn"))
    first.compose(EVENT, 3)
    saved = json.dumps(first.state())
    first.compose(EVENT, 2)  # and then the machine is gone
    assert account.remaining("training") == 5

    second = HockeystickAccountant(account=Charging(account, line="training", actor="bob")).load(json.loads(saved))
    assert account.remaining("training") == 5  # nothing for what the checkpoint has
    assert second.release == STEP * 3
    second.compose(EVENT, 2)  # the same steps again, with fresh noise
    assert account.remaining("training") == 3
    assert second.release == STEP * 5

    third = HockeystickAccountant(account=Charging(account, line="training", actor="eve")).load(second.state())
    third.compose(EVENT, 3)
    with pytest.raises(hs.OverBudget):
        third.compose(EVENT)
    assert third.account.done == 8
    assert sum(entry["what"]["count"] for entry in charges(account)) == 10


def test_steps_charged_ahead_are_not_run_by_who_resumes(account):
    charging = Charging(account, line="training", actor="bob", block=5)
    charging.charge(STEP, 2)
    resumed = Charging(account, line="training", actor="bob")
    resumed.load(charging.state())
    assert (resumed.done, resumed.ahead) == (2, 0)
    resumed.charge(STEP)
    assert account.remaining("training") == 4


def test_a_checkpoint_whose_steps_were_not_charged_here_is_refused(account, tmp_path):
    bare = HockeystickAccountant()
    bare.compose(EVENT, 3)
    with pytest.raises(hs.BadType, match="must be charged to it first"):
        HockeystickAccountant(account=Charging(account, line="training", actor="bob")).load(bare.state())
    made = HockeystickAccountant(account=Charging(account, line="training", actor="bob"))
    made.compose(EVENT, 3)
    more = made.state()
    (name,) = more["charged"]["executions"]
    more["charged"]["executions"][name] = 4
    with pytest.raises(hs.BadValue, match="3 steps, and 4 were charged"):
        HockeystickAccountant(account=Charging(account, line="training", actor="bob")).load(more)
    more["release"] = (STEP * 4).to_json()
    with pytest.raises(hs.BadValue, match="no entries"):
        HockeystickAccountant(account=Charging(account, line="training", actor="bob")).load(more)
    with hs.Ledger(tmp_path / "other.db") as ledger:
        ledger.add_dataset("photos", unit="one person", actor="ada")
        other = ledger.open_account("2026", dataset="photos", epsilon=3.0, delta=1e-5, plan=[("training", STEP, 10)], actor="ada")
        with pytest.raises(hs.BadValue, match="checkpoint is of another ledger"):
            Charging(other, line="training", actor="bob").load(made.account.state())
        named = ledger.open_account("2027", dataset="photos", epsilon=3.0, delta=1e-5, plan=[("training", STEP, 10)], actor="ada")
        with pytest.raises(hs.BadValue, match="charged to '2026'"):
            Charging(named, line="training", actor="bob").load(made.account.state())


# a whole run, one entry of the reserve


def test_a_whole_run_is_one_entry_charged_with_its_first_step(account):
    accountant = HockeystickAccountant(account=Charging(account, steps=50, actor="bob"))
    assert not charges(account)
    for _ in range(50):
        accountant.compose(EVENT)
    (entry,) = charges(account)
    assert entry["charge"]["reserve"] == account.terms.reserve.price(STEP * 50).amount
    with pytest.raises(hs.OverBudget, match="may run no other step"):
        accountant.compose(EVENT)
    assert len(charges(account)) == 1


def test_the_parameters_of_an_entry_are_frozen(account):
    accountant = HockeystickAccountant(account=Charging(account, steps=50, actor="bob"))
    accountant.compose(EVENT)
    with pytest.raises(hs.BadValue, match="its parameters are frozen"):
        accountant.compose(OTHER)
    assert accountant.release == STEP


def test_a_run_that_does_not_fit_is_refused_before_its_first_step(account):
    accountant = HockeystickAccountant(account=Charging(account, steps=20_000, actor="bob"))
    with pytest.raises(hs.OverBudget, match="nothing was charged"):
        accountant.compose(EVENT)
    assert accountant.release == hs.compose([])
    assert not charges(account)


def test_the_rest_of_a_whole_run_is_a_new_entry(account):
    first = HockeystickAccountant(account=Charging(account, steps=50, actor="bob"))
    first.compose(EVENT, 20)
    second = HockeystickAccountant(account=Charging(account, steps=50, actor="bob")).load(first.state())
    second.compose(EVENT)
    costs = [entry["charge"]["reserve"] for entry in charges(account)]
    assert costs[1] == pytest.approx(account.terms.reserve.price(STEP * 30).amount, rel=1e-9)
    second.compose(EVENT, 29)
    with pytest.raises(hs.OverBudget, match="may run no other step"):
        second.compose(EVENT)


# arguments


def test_arguments_are_checked(account):
    with pytest.raises(hs.BadValue, match="give line"):
        Charging(account, actor="bob")
    with pytest.raises(hs.BadValue, match="give line"):
        Charging(account, actor="bob", line="training", steps=3)
    with pytest.raises(hs.BadValue, match="no planned line 'trainin'"):
        Charging(account, actor="bob", line="trainin")
    with pytest.raises(hs.BadType, match="account of a ledger"):
        Charging("2026", actor="bob", line="training")
    with pytest.raises(hs.BadType, match="Charging"):
        HockeystickAccountant(account=account)
    with pytest.raises(hs.BadValue, match="allowed: the same"):
        HockeystickAccountant(dp.NeighboringRelation.REPLACE_ONE, account=Charging(account, actor="bob", line="training"))
    with pytest.raises(hs.BadType, match="step is"):
        Charging(account, actor="bob", line="training").charge(EVENT)
    with pytest.raises(hs.BadValue, match="block is 2"):
        Charging(account, actor="bob", steps=5, block=2)
