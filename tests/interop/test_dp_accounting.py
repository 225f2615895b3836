"""dp_accounting: its own test class for accountants, every event class, both ways, all relations."""

import math
import random
import subprocess
import sys

import dp_accounting as dp
import mpmath as mp
import numpy as np
import pytest
from dp_accounting import dp_event, mechanism_calibration, privacy_accountant_test

import hockeystick as hs
from hockeystick.interop.dp_accounting import HockeystickAccountant, from_dp_event, to_dp_event

ADD, REPLACE, SPECIAL = dp.NeighboringRelation
OURS = {ADD: "add-or-remove", REPLACE: "replace", SPECIAL: "zero-out"}


class TestTheirs(privacy_accountant_test.PrivacyAccountantTest):
    """The class that dp_accounting ships for whoever writes an accountant."""

    def _make_test_accountants(self):
        return [HockeystickAccountant(), *map(HockeystickAccountant, (ADD, REPLACE, SPECIAL))]


GAUSSIAN, LAPLACE = dp.GaussianDpEvent(2.0), dp.LaplaceDpEvent(3.0)
RESPONSE = dp_event.RandomizedResponseDpEvent(0.5, 4)
MIXTURE = dp_event.MixtureOfGaussiansDpEvent(2.0, [0.0, 1.0, 2.0], [0.81, 0.18, 0.01])
TREE = dp.SingleEpochTreeAggregationDpEvent(3.0, [3, 8, 5])

# event, its description, the relations under which it is accounted for
MEANINGS = [
    (dp.NoOpDpEvent(), hs.compose([]), (ADD, REPLACE, SPECIAL)),
    (GAUSSIAN, hs.Gaussian(sigma=2.0), (ADD, REPLACE, SPECIAL)),
    (LAPLACE, hs.Laplace(scale=3.0), (ADD, REPLACE, SPECIAL)),
    (dp_event.DiscreteLaplaceDpEvent(0.5, 3), hs.DiscreteLaplace(scale=2.0, sensitivity=3), (ADD, REPLACE, SPECIAL)),
    (MIXTURE, hs.GaussianMixture(sigma=2.0, moves=(0, 1, 2), weights=(0.81, 0.18, 0.01)), (ADD, SPECIAL)),
    (dp_event.MixtureOfGaussiansDpEvent(0.0, [0.0, 1.0], [1.0, 0.0]), hs.compose([]), (ADD, SPECIAL)),
    (TREE, (hs.Gaussian(sigma=3.0) * 4).full_pass(by="position"), (REPLACE, SPECIAL)),
    (dp.PoissonSampledDpEvent(0.1, GAUSSIAN), hs.Gaussian(sigma=2.0).poisson(rate=0.1), (ADD, REPLACE, SPECIAL)),
    (dp.PoissonSampledDpEvent(0.1, LAPLACE), hs.Laplace(scale=3.0).poisson(rate=0.1), (ADD, REPLACE, SPECIAL)),
    (
        dp.PoissonSampledDpEvent(0.1, dp.ComposedDpEvent([dp.SelfComposedDpEvent(GAUSSIAN, 2), dp.GaussianDpEvent(3.0)])),
        (hs.Gaussian(sigma=2.0) * 2 + hs.Gaussian(sigma=3.0)).poisson(rate=0.1),
        (ADD, REPLACE, SPECIAL),
    ),
    (dp.PoissonSampledDpEvent(0.5, dp.PoissonSampledDpEvent(0.25, GAUSSIAN)), hs.Gaussian(sigma=2.0).poisson(rate=0.125), OURS),
    (dp.PoissonSampledDpEvent(0.0, dp.GaussianDpEvent(0.0)), hs.compose([]), OURS),
    (
        dp.SampledWithoutReplacementDpEvent(1000, 10, GAUSSIAN),
        hs.Gaussian(sigma=2.0).without_replacement(batch=10, examples=1000),
        OURS,
    ),
    (
        dp.SampledWithReplacementDpEvent(1000, 10, GAUSSIAN),
        hs.Gaussian(sigma=2.0).with_replacement(draws=10, examples=1000),
        OURS,
    ),
    (
        dp.SelfComposedDpEvent(dp.ComposedDpEvent([GAUSSIAN, LAPLACE, GAUSSIAN]), 3),
        (hs.Gaussian(2.0) * 2 + hs.Laplace(3.0)) * 3,
        OURS,
    ),
]


@pytest.mark.parametrize(("event", "release", "relations"), MEANINGS, ids=lambda one: type(one).__name__)
def test_meanings(event, release, relations):
    for theirs, ours in OURS.items():
        accountant = HockeystickAccountant(theirs)
        assert accountant.supports(event) == (theirs in relations)
        if theirs not in relations:
            with pytest.raises(hs.Unsupported, match=type(event).__name__):
                from_dp_event(event, theirs)
            with pytest.raises(dp.UnsupportedEventError):
                accountant.compose(event)
            assert isinstance(accountant.ledger, dp.NoOpDpEvent)
            continue
        found = from_dp_event(event, theirs)
        assert found == from_dp_event(event, ours)
        assert found.stated == ours
        assert frozenset(found.parts) == frozenset(release.parts)
        accountant.compose(event, 3).compose(event)
        assert accountant.release == found * 4
        assert accountant.neighbours == accountant.release.stated == ours
        if theirs is next(iter(relations)):
            assert accountant.get_epsilon(1e-6) == (release * 4).epsilon(1e-6, ours)
            assert accountant.get_delta(0.7) == (release * 4).delta(0.7, ours)


@pytest.mark.parametrize("relation", OURS)
def test_claims_are_for_the_relation_of_the_accountant(relation):
    """An event of zCDP says what it says for whatever relation its accountant has."""
    for xi in (0.0, 0.1):
        accountant = HockeystickAccountant(relation).compose(dp.ZCDpEvent(0.05, xi), 3)
        assert accountant.get_epsilon(1e-5) == (hs.ZCDP(rho=0.05, xi=xi) * 3).epsilon(1e-5)
    assert from_dp_event(dp.ZCDpEvent(0.0)) == hs.compose([])
    release = from_dp_event(dp.ZCDpEvent(0.05), relation)
    others = {"add-or-remove", "replace", "zero-out"} - {OURS[relation]}
    carried = {ADD: {"replace", "zero-out"}, REPLACE: {"zero-out"}, SPECIAL: set()}[relation]
    for other in others:
        if other in carried:
            assert release.epsilon(1e-5, other) >= release.epsilon(1e-5)
        else:
            with pytest.raises(hs.Unsupported):
                release.epsilon(1e-5, other)


def test_every_event_class_has_a_meaning_or_is_refused_by_name():
    from hockeystick.interop.dp_accounting import meanings

    classes = {name for name, one in vars(dp_event).items() if isinstance(one, type) and issubclass(one, dp.DpEvent)}
    assert classes - {"DpEvent", "ComposedDpEvent", "SelfComposedDpEvent"} == set(meanings._MEANINGS)


REFUSED = [
    (dp.UnsupportedDpEvent(), ADD, "says of itself"),
    (dp_event.RepeatAndSelectDpEvent(GAUSSIAN, 3.0, 1.0), ADD, "Papernot and Steinke"),
    (RESPONSE, ADD, "REPLACE_ONE"),
    (dp.PoissonSampledDpEvent(0.1, RESPONSE), REPLACE, "without Poisson"),
    (MIXTURE, REPLACE, "GaussianMixture"),
    (dp.SampledWithoutReplacementDpEvent(10, 5, MIXTURE), ADD, "replaced record"),
    (dp.SampledWithoutReplacementDpEvent(10, 5, dp.PoissonSampledDpEvent(0.1, MIXTURE)), ADD, "replaced record"),
    (dp.SampledWithoutReplacementDpEvent(10, 5, dp.PoissonSampledDpEvent(0.1, RESPONSE)), REPLACE, "without Poisson"),
    (TREE, ADD, "moves the others"),
    (dp.PoissonSampledDpEvent(0.1, dp.ZCDpEvent(0.1)), REPLACE, "add-or-remove"),
    (dp.PoissonSampledDpEvent(0.1, dp.SelfComposedDpEvent(LAPLACE, 2)), ADD, "joint loss"),
    (dp.PoissonSampledDpEvent(0.1, dp.SampledWithoutReplacementDpEvent(10, 5, GAUSSIAN)), ADD, "sample of a sample"),
    (dp.SampledWithReplacementDpEvent(10, 5, dp_event.DiscreteLaplaceDpEvent(1.0, 1)), ADD, "profiles of groups"),
    (dp_event.MixtureOfGaussiansDpEvent(1.0, [1.0, 2.0], [0.5, 0.5]), ADD, "largest distance"),
]


@pytest.mark.parametrize(("event", "relation", "why"), REFUSED, ids=lambda one: type(one).__name__)
def test_refused_by_name_with_what_is_missing(event, relation, why):
    for whole in (event, dp.ComposedDpEvent([GAUSSIAN, dp.SelfComposedDpEvent(event, 2)])):
        accountant = HockeystickAccountant(relation)
        assert not accountant.supports(whole)
        with pytest.raises(dp.UnsupportedEventError, match=why) as caught:
            accountant.compose(whole)
        assert type(event).__name__ in str(caught.value)
        with pytest.raises(hs.Unsupported, match=why):
            from_dp_event(whole, relation)
        assert accountant.get_epsilon(1e-5) == 0.0  # nothing of it was counted


def test_no_privacy_does_not_hide_what_is_not_understood():
    for events in ([dp.NonPrivateDpEvent(), dp.UnsupportedDpEvent()], [dp.UnsupportedDpEvent(), dp.NonPrivateDpEvent()]):
        assert not HockeystickAccountant().supports(dp.ComposedDpEvent(events))
    assert not HockeystickAccountant().supports(dp.ComposedDpEvent([dp.NonPrivateDpEvent(), TREE]))
    assert HockeystickAccountant(SPECIAL).supports(dp.ComposedDpEvent([dp.NonPrivateDpEvent(), TREE]))


def test_a_class_of_the_same_name_or_derived_is_not_taken_for_it():
    class GaussianDpEvent(dp.GaussianDpEvent):
        pass

    class Half(dp.SelfComposedDpEvent):
        pass

    assert not HockeystickAccountant().supports(GaussianDpEvent(1.0))
    assert not HockeystickAccountant().supports(Half(GAUSSIAN, 2))


@pytest.mark.parametrize(
    "event",
    [
        dp.NonPrivateDpEvent(),
        dp.GaussianDpEvent(0.0),
        dp.LaplaceDpEvent(0),
        dp_event.DiscreteLaplaceDpEvent(0, 1),
        dp.PoissonSampledDpEvent(0.1, dp.GaussianDpEvent(0.0)),
        dp.PoissonSampledDpEvent(0.1, dp.NonPrivateDpEvent()),
        dp_event.MixtureOfGaussiansDpEvent(0, [1, 2], [0.5, 0.5]),
        dp.ComposedDpEvent([GAUSSIAN, dp.NonPrivateDpEvent()]),
    ],
    ids=repr,
)
def test_no_privacy(event):
    accountant = HockeystickAccountant()
    assert accountant.supports(event)
    accountant.compose(GAUSSIAN).compose(event).compose(GAUSSIAN)
    assert [accountant.get_epsilon(delta) for delta in (0.0, 0.5, 1.0)] == [math.inf] * 3
    assert [accountant.get_delta(epsilon) for epsilon in (0.0, 100.0, math.inf)] == [1.0] * 3
    with pytest.raises(hs.Unsupported, match="no release"):
        _ = accountant.release
    with pytest.raises(hs.Unsupported, match="infinity"):
        from_dp_event(event)


def test_counts_are_honoured_everywhere():
    """The peer's PLD accountant forgets the count of randomised response: 1.0987 for ten."""
    ten = dp_event.RandomizedResponseDpEvent(0.5, 2)
    found = HockeystickAccountant(REPLACE).compose(ten, 10).get_epsilon(1e-5)
    assert round(found, 5) == 10.98595
    assert dp.pld.PLDAccountant(REPLACE).compose(ten, 10).get_epsilon(1e-5) < 1.1
    random.seed(8)
    leaves = [GAUSSIAN, LAPLACE, MIXTURE, dp.PoissonSampledDpEvent(0.1, GAUSSIAN), dp.ZCDpEvent(0.01), dp.NoOpDpEvent()]
    leaves += [dp.SampledWithoutReplacementDpEvent(100, 10, LAPLACE), dp_event.DiscreteLaplaceDpEvent(0.25, 1)]

    def tree(depth):
        """A random event and the list of its leaves."""
        kind = random.choice(("leaf", "self", "composed")) if depth else "leaf"
        if kind == "leaf":
            leaf = random.choice(leaves)
            return leaf, [leaf]
        if kind == "self":
            (event, inner), count = tree(depth - 1), random.randint(1, 3)
            return dp.SelfComposedDpEvent(event, count), inner * count
        several = [tree(depth - 1) for _ in range(random.randint(1, 3))]
        return dp.ComposedDpEvent([event for event, _ in several]), [leaf for _, inner in several for leaf in inner]

    for _ in range(50):
        event, listed = tree(3)
        count = random.randint(1, 5)
        whole = HockeystickAccountant().compose(event, count)
        one_by_one = HockeystickAccountant()
        for leaf in listed * count:
            one_by_one.compose(leaf)
        assert frozenset(whole.release.parts) == frozenset(one_by_one.release.parts)


SHARED = {  # what the peer's PLD accountant takes, too
    ADD: (
        GAUSSIAN,
        LAPLACE,
        dp.PoissonSampledDpEvent(0.1, GAUSSIAN),
        dp.PoissonSampledDpEvent(0.2, LAPLACE),
        dp_event.DiscreteLaplaceDpEvent(0.3, 2),
        MIXTURE,
    ),
    REPLACE: (GAUSSIAN, dp.PoissonSampledDpEvent(0.1, GAUSSIAN), dp.GaussianDpEvent(5.0), RESPONSE),
    SPECIAL: (
        GAUSSIAN,
        LAPLACE,
        dp.PoissonSampledDpEvent(0.1, GAUSSIAN),
        dp_event.DiscreteLaplaceDpEvent(0.3, 2),
        RESPONSE,
        TREE,
    ),
}


@pytest.mark.parametrize("relation", OURS)
@pytest.mark.parametrize("seed", range(3))
def test_the_peer_means_the_same(relation, seed):
    """Random compositions, delta at three epsilons; the peer's grid of 1e-3 a step and its missing counts allowed for."""
    random.seed(seed)
    ours, theirs, steps = HockeystickAccountant(relation), dp.pld.PLDAccountant(relation, 1e-3), 0
    for _ in range(3):
        event, count = random.choice(SHARED[relation]), random.randint(1, 4)
        for accountant in (ours, theirs):
            if event is TREE:  # which the peer knows by Rényi divergences only: noise on four levels
                same = (TREE, count) if accountant is ours else (dp.GaussianDpEvent(3.0), 4 * count)
                accountant.compose(*same)
            elif event is RESPONSE:
                for _ in range(count):
                    accountant.compose(RESPONSE)
            else:
                accountant.compose(event, count)
        steps += count * (4 if event is TREE else 1)
    for epsilon in (0.5, 2.0, 5.0):
        both = ours.release.delta_bounds(epsilon)
        assert both.lower - 1e-9 <= theirs.get_delta(epsilon)
        assert theirs.get_delta(epsilon + 1e-3 * steps) - 1e-9 <= both.upper == ours.get_delta(epsilon)
        assert both.width <= 1e-3 * both.upper  # what the lattice promises of delta


@pytest.mark.parametrize(("noise", "buckets"), [(0.5, 2), (0.1, 3), (1.0 - 1e-12, 5), (1e-9, 2), (0.9, 10**6), (0.3, 10**12)])
@pytest.mark.parametrize("relation", [REPLACE, SPECIAL])
def test_randomised_response_against_its_definition(noise, buckets, relation):
    """delta(epsilon) of one use, summed in 60 digits; and the translation is never more private than the event."""
    with mp.workdps(60):
        p, k = mp.mpf(noise), mp.mpf(buckets)
        true, other = 1 - p + p / k, p / k
        if relation is REPLACE:
            pairs = [[(true, other, 1), (other, true, 1), (other, other, k - 2)]]
        else:
            pairs = [[(true, 1 / k, 1), (other, 1 / k, k - 1)], [(1 / k, true, 1), (1 / k, other, k - 1)]]
        release = from_dp_event(dp_event.RandomizedResponseDpEvent(noise, buckets), relation)
        for epsilon in (0.0, 1e-3, 0.1, 1.0, 5.0):
            grow = mp.exp(mp.mpf(epsilon))
            truth = max(mp.fsum(times * max(one - grow * two, 0) for one, two, times in pair) for pair in pairs)
            upper = release.delta(epsilon)
            assert truth <= upper
            assert upper <= truth * (1 + mp.mpf(1e-9)) + mp.mpf(1e-14)
        largest = max(abs(mp.log(one / two)) for pair in pairs for one, two, times in pair if times)
        assert largest <= release.epsilon(0.0) <= largest * (1 + mp.mpf(1e-12))


def test_randomised_response_at_the_ends():
    for relation in (REPLACE, SPECIAL):
        free = HockeystickAccountant(relation)
        for event in (dp_event.RandomizedResponseDpEvent(0.0, 1), dp_event.RandomizedResponseDpEvent(1.0, 7)):
            free.compose(event)
        assert (free.get_epsilon(0.0), free.get_delta(0.0)) == (0.0, 0.0)
        assert HockeystickAccountant(relation).compose(dp_event.RandomizedResponseDpEvent(0.0, 3)).get_epsilon(0.01) == math.inf
    # on a batch of a fixed size a record is replaced, whichever relation is asked
    drawn = dp.SampledWithoutReplacementDpEvent(100, 10, RESPONSE)
    asked = [HockeystickAccountant(relation).compose(drawn).get_epsilon(1e-3) for relation in OURS]
    assert asked[0] <= asked[1] == asked[2]
    assert asked[0] > 0.0


def test_a_uniform_null_is_no_more_than_a_category():
    """H(P, U) for U the mean of all answers is at most the mean of H(P, P_j), by convexity."""
    for one in (0.1, 1.0, 8.0):
        for categories in (2, 5, 1000):
            usual = hs.RandomizedResponse(one, categories) * 20
            uniform = hs.RandomizedResponse(one, categories, null="uniform") * 20
            assert uniform.epsilon(1e-6, "zero-out") <= usual.epsilon(1e-6, "zero-out")
            assert uniform.epsilon(1e-6, "replace") == usual.epsilon(1e-6, "replace")
    with pytest.raises(hs.BadValue, match="null"):
        hs.RandomizedResponse(1.0, null="nothing")


BAD = [
    (dp.GaussianDpEvent(-1.0), "noise_multiplier"),
    (dp.GaussianDpEvent(math.nan), "noise_multiplier"),
    (dp.GaussianDpEvent("2"), "noise_multiplier"),
    (dp.LaplaceDpEvent(True), "noise_multiplier"),
    (dp.PoissonSampledDpEvent(1.5, GAUSSIAN), "sampling_probability"),
    (dp.PoissonSampledDpEvent(-0.1, GAUSSIAN), "sampling_probability"),
    (dp.SelfComposedDpEvent(GAUSSIAN, -1), "count"),
    (dp.SelfComposedDpEvent(GAUSSIAN, 1.5), "count"),
    (dp.SampledWithoutReplacementDpEvent(10, 11, GAUSSIAN), "batch"),
    (dp_event.DiscreteLaplaceDpEvent(0.5, 0), "sensitivity"),
    (dp_event.DiscreteLaplaceDpEvent(1e-320, 1), "too large"),
    (dp.GaussianDpEvent(math.inf), "noise_multiplier"),
    (dp_event.MixtureOfGaussiansDpEvent(1.0, [0.0, 1.0], [0.5, 0.4]), "add up"),
    (dp_event.MixtureOfGaussiansDpEvent(1.0, [0.0, -1.0], [0.5, 0.5]), "move"),
    (dp_event.MixtureOfGaussiansDpEvent(1.0, [0.0], [0.5, 0.5]), "as many"),
    (dp.ZCDpEvent(-0.1), "rho"),
    (dp.ZCDpEvent(0.1, -0.1), "xi"),
    (dp.SingleEpochTreeAggregationDpEvent(1.0, []), "step_counts"),
    (dp.SingleEpochTreeAggregationDpEvent(1.0, -2), "step_counts"),
    (dp.ComposedDpEvent([GAUSSIAN, "Gaussian"]), "DpEvent"),
]


@pytest.mark.parametrize(("event", "name"), BAD, ids=lambda one: repr(one)[:60])
def test_bad_parameters_are_named(event, name):
    accountant = HockeystickAccountant()
    assert not accountant.supports(event)
    with pytest.raises((hs.BadValue, hs.BadType), match=name):
        accountant.compose(event)
    with pytest.raises((hs.BadValue, hs.BadType), match=name):
        from_dp_event(event)
    assert isinstance(accountant.ledger, dp.NoOpDpEvent)


def test_deltas_of_an_array():
    """As PLDAccountant does, and infinity is answered there, too."""
    accountant = HockeystickAccountant().compose(GAUSSIAN)
    epsilons = [0.0, 0.5, 2.0, math.inf]
    for given in (epsilons, tuple(epsilons), np.array(epsilons), np.array([epsilons, epsilons])):
        found = accountant.get_delta(given)
        assert isinstance(found, np.ndarray)
        assert found.shape == np.shape(given)
        assert found.reshape(-1, 4)[-1].tolist() == pytest.approx([accountant.get_delta(one) for one in epsilons], rel=1e-9)
    theirs = dp.pld.PLDAccountant().compose(GAUSSIAN).get_delta(epsilons[:3])
    assert accountant.get_delta(epsilons[:3]) == pytest.approx(theirs, rel=1e-2)
    assert isinstance(accountant.get_delta(np.array(0.5)), float)
    assert accountant.get_delta([]).shape == (0,)
    assert HockeystickAccountant().compose(dp.NonPrivateDpEvent()).get_delta([0.0, 1.0]).tolist() == [1.0, 1.0]
    for bad in ([0.0, math.nan], [-math.inf], ["1"], [True], [[0.0], [1.0, 2.0]], [None]):
        with pytest.raises((hs.BadValue, hs.BadType), match="epsilon"):
            accountant.get_delta(bad)


def test_bad_questions():
    with pytest.raises(hs.BadType, match="NeighboringRelation"):
        HockeystickAccountant("add-or-remove")
    accountant = HockeystickAccountant().compose(GAUSSIAN)
    for delta in (-0.1, 1.1, math.nan, "1e-5", None):
        with pytest.raises((hs.BadValue, hs.BadType), match="target_delta"):
            accountant.get_epsilon(delta)
    for epsilon in (math.nan, "1", -math.inf):
        with pytest.raises((hs.BadValue, hs.BadType), match="epsilon"):
            accountant.get_delta(epsilon)
    with pytest.raises(TypeError, match="DpEvent"):
        accountant.compose("Gaussian")
    for count in (0, -1):
        with pytest.raises(ValueError, match="count"):
            accountant.compose(GAUSSIAN, count)
    with pytest.raises(TypeError, match="count"):
        accountant.compose(GAUSSIAN, 1.5)
    with pytest.raises(hs.BadValue, match="count"):
        accountant.compose(GAUSSIAN, 2**60)
    assert accountant.get_epsilon(1e-5) == hs.Gaussian(2.0).epsilon(1e-5)
    for neighbours in ("add", "remove", "both", None):
        with pytest.raises((hs.BadValue, hs.BadType), match="neighbours"):
            from_dp_event(GAUSSIAN, neighbours)
    with pytest.raises(hs.BadType, match="release"):
        to_dp_event(GAUSSIAN)


def test_a_list_that_changes_is_read_again():
    event = dp.ComposedDpEvent([GAUSSIAN])
    accountant = HockeystickAccountant().compose(event)
    event.events.append(LAPLACE)
    assert accountant.compose(event).release == hs.Gaussian(2.0) * 2 + hs.Laplace(3.0)


def test_the_ledger_is_theirs():
    accountant = HockeystickAccountant().compose(GAUSSIAN, 2).compose(GAUSSIAN).compose(LAPLACE)
    assert accountant.ledger == dp.ComposedDpEvent([dp.SelfComposedDpEvent(GAUSSIAN, 3), LAPLACE])
    replayed = HockeystickAccountant().compose(accountant.ledger)
    assert replayed.get_epsilon(1e-6) == accountant.get_epsilon(1e-6)


# releases to events and back

THERE_AND_BACK = [
    (hs.compose([]), OURS),
    (hs.Gaussian(sigma=2.0) * 3 + hs.Laplace(scale=4.0), OURS),
    (hs.Gaussian(sigma=2.0, sensitivity=0.5), OURS),
    (hs.GDP(mu=0.25), (ADD, REPLACE)),
    (hs.DiscreteLaplace(scale=4.0, sensitivity=2), OURS),
    (hs.RandomizedResponse(1.0, 3), (REPLACE,)),
    (hs.RandomizedResponse(1.0, null="uniform"), (REPLACE, SPECIAL)),
    (hs.RandomizedResponse(0.0), (REPLACE,)),
    (hs.GaussianMixture(1.0, (0, 1, 3), (0.5, 0.3, 0.2)), (ADD, SPECIAL)),
    (hs.ZCDP(rho=0.1, xi=0.2) * 2, (ADD,)),
    (hs.ZCDP(rho=0.1, neighbours="replace"), (REPLACE, SPECIAL)),
    (hs.ZCDP(rho=0.1, neighbours="zero-out"), (SPECIAL,)),
    ((hs.Gaussian(2.0) * 2 + hs.Gaussian(3.0)).poisson(rate=0.1) * 10, OURS),
    (hs.Gaussian(2.0).without_replacement(batch=10, examples=100), OURS),
    (hs.Laplace(2.0).with_replacement(draws=3, examples=100), OURS),
    ((hs.Gaussian(3.0) * 4).full_pass(by="position") * 2, (REPLACE, SPECIAL)),
    (hs.Gaussian(3.0).full_pass(by="shuffle"), (REPLACE, SPECIAL)),
    (hs.Gaussian(2.0).poisson(rate=0.1).group(size=4) * 10, (ADD, SPECIAL)),
    (hs.dpsgd(examples=1000, batch=10, epochs=1, sigma=1.0, sampler="poisson"), OURS),
]


@pytest.mark.parametrize(("release", "relations"), THERE_AND_BACK, ids=lambda one: repr(one)[:50])
def test_there_and_back(release, relations):
    for theirs, ours in OURS.items():
        if theirs not in relations:
            with pytest.raises(hs.Unsupported):
                to_dp_event(release, theirs)
            continue
        event = to_dp_event(release, theirs)
        back = from_dp_event(event, theirs)
        direct, again = release.epsilon_bounds(1e-6, ours), back.epsilon_bounds(1e-6)
        assert direct.lower <= again.upper
        assert again.lower <= direct.upper * (1 + 1e-12)


REFUSED_RELEASES = [
    (hs.DiscreteGaussian(2.0), ADD),
    (hs.Exponential(1.0), ADD),
    (hs.PureDP(1.0), ADD),
    (hs.ApproxDP(1.0, 1e-6), ADD),
    (hs.RDP((2.0,), (0.1,)), ADD),
    (hs.Profile.from_claims([(0.5, 1e-6)]), ADD),
    (hs.Gaussian(2.0, replace_sensitivity=1.0), ADD),
    (hs.GDP(1.0), SPECIAL),  # carried to zero-out by group privacy of two, which the event would not be
    (hs.GDP(1.0, neighbours="replace"), REPLACE),
    (hs.RandomizedResponse(1.0), SPECIAL),  # a null record is one of its categories
    (hs.Gaussian(2.0).full_pass(by="id"), ADD),
    (hs.Laplace(2.0).full_pass(by="position"), REPLACE),
    (hs.Shuffled(hs.RandomizedResponse(1.0), count=100), REPLACE),
]


@pytest.mark.parametrize(("release", "relation"), REFUSED_RELEASES, ids=lambda one: repr(one)[:50])
def test_releases_without_an_event(release, relation):
    with pytest.raises(hs.Unsupported, match="no event"):
        to_dp_event(release, relation)


def test_rounding_goes_to_the_safe_side():
    """What an inexact translation says is never more private than what it translates."""
    random.seed(3)
    for _ in range(300):
        sigma, sensitivity = random.uniform(0.1, 10.0), random.uniform(0.1, 10.0)
        multiplier = to_dp_event(hs.Gaussian(sigma, sensitivity)).noise_multiplier
        assert mp.mpf(multiplier) * mp.mpf(sensitivity) <= mp.mpf(sigma) * (1 + mp.mpf(10) ** -40)
        fall = random.uniform(0.01, 5.0)
        (found, _), *_ = from_dp_event(dp_event.DiscreteLaplaceDpEvent(fall, 1)).parts
        with mp.workdps(50):
            assert mp.mpf(found.scale) * mp.mpf(fall) <= 1
            assert mp.mpf(to_dp_event(hs.DiscreteLaplace(sigma)).noise_parameter) * mp.mpf(sigma) >= 1
            one, categories = random.uniform(0.0, 20.0), random.randint(2, 9)
            noise = mp.mpf(to_dp_event(hs.RandomizedResponse(one, categories), REPLACE).noise_parameter)
            assert categories * (1 - noise) / noise + 1 >= mp.exp(mp.mpf(one))


def test_thinned_mixtures():
    """A coin in front of a mixture is a mixture; by both ways."""
    event = dp.PoissonSampledDpEvent(0.1, MIXTURE)
    for relation in (ADD, SPECIAL):
        direct = HockeystickAccountant(relation).compose(event, 10).get_epsilon(1e-6)
        wrapped = (hs.GaussianMixture(2.0, (0, 1, 2), (0.81, 0.18, 0.01)).poisson(rate=0.1) * 10).epsilon_bounds(1e-6)
        assert direct == pytest.approx(wrapped.upper, rel=1e-4)
        assert direct >= wrapped.lower
    assert not HockeystickAccountant(REPLACE).supports(event)


# calibration

CASES = [
    (make, ours, epsilon, delta)
    for make, ours in (
        (dp.GaussianDpEvent, lambda s: hs.Gaussian(sigma=s)),
        (lambda s: dp.SelfComposedDpEvent(dp.LaplaceDpEvent(s), 20), lambda s: hs.Laplace(scale=s) * 20),
        (
            lambda s: dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(s)), 1000),
            lambda s: hs.Gaussian(sigma=s).poisson(rate=0.01) * 1000,
        ),
        (
            lambda s: dp.ComposedDpEvent([dp.PoissonSampledDpEvent(0.2, dp.GaussianDpEvent(s)), dp.GaussianDpEvent(20.0)]),
            lambda s: hs.Gaussian(sigma=s).poisson(rate=0.2) + hs.Gaussian(sigma=20.0),
        ),
        (
            lambda s: dp.SelfComposedDpEvent(dp.SampledWithReplacementDpEvent(1000, 5, dp.GaussianDpEvent(s)), 10),
            lambda s: hs.Gaussian(sigma=s).with_replacement(draws=5, examples=1000) * 10,
        ),
    )
    for epsilon, delta in ((0.3, 1e-5), (1.0, 1e-6), (4.0, 1e-8), (8.0, 1e-5))
]


@pytest.mark.parametrize(("make", "ours", "epsilon", "delta"), CASES)
def test_their_calibration_with_our_accountant(make, ours, epsilon, delta):
    """20 cases; calibrate_dp_mechanism promises 1e-6 in the parameter."""
    found = dp.calibrate_dp_mechanism(HockeystickAccountant, make, epsilon, delta)
    best = hs.calibrate(ours, epsilon=epsilon, delta=delta)
    assert abs(found - best) <= 1e-6
    assert HockeystickAccountant().compose(make(found)).get_epsilon(delta) <= epsilon


def test_their_calibration_of_a_count():
    def make(count):
        return dp.SelfComposedDpEvent(dp.GaussianDpEvent(20.0), count)

    bracket = mechanism_calibration.ExplicitBracketInterval(1, 10_000)
    found = dp.calibrate_dp_mechanism(HockeystickAccountant, make, 6.0, 1e-5, bracket, discrete=True)
    best = hs.rounds(hs.Gaussian(sigma=20.0), epsilon=6.0, delta=1e-5)
    assert best - 1 <= found <= best
    with pytest.raises(mechanism_calibration.NonEmptyAccountantError):
        dp.calibrate_dp_mechanism(lambda: HockeystickAccountant().compose(GAUSSIAN), dp.GaussianDpEvent, 1.0, 1e-5)


def test_steps_that_are_alike_are_one_entry():
    accountant, step = HockeystickAccountant(), dp.PoissonSampledDpEvent(0.01, GAUSSIAN)
    for _ in range(2000):
        accountant.compose(step)
        accountant.compose(dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(2.0)))  # equal, not the same
    assert accountant.release == hs.Gaussian(2.0).poisson(rate=0.01) * 4000
    assert accountant.ledger == dp.SelfComposedDpEvent(step, 4000)


@pytest.mark.parametrize("relation", [REPLACE, SPECIAL])
def test_the_release_goes_to_json_with_its_relation(relation):
    accountant = HockeystickAccountant(relation).compose(dp.PoissonSampledDpEvent(0.01, GAUSSIAN), 100).compose(RESPONSE)
    again = hs.from_json(accountant.release.to_json())
    assert again.epsilon(1e-6) == accountant.get_epsilon(1e-6)
    assert from_dp_event(accountant.ledger, relation) == again


def test_missing_package_is_one_line():
    code = """
import sys
sys.modules["dp_accounting"] = None
import hockeystick as hs
try:
    import hockeystick.interop.dp_accounting
except hs.MissingExtra as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    (line,) = done.stdout.splitlines()
    assert "pip install 'dp-accounting>=" in line


def test_nothing_is_imported_unless_asked():
    code = "import sys, hockeystick.interop; print([m for m in sys.modules if m.partition('.')[0] in ('dp_accounting', 'jax')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def newer(name, **fields):
    """An event of a version of dp_accounting that is not installed."""
    body = {"__module__": dp_event.__name__, "__init__": lambda self: self.__dict__.update(fields)}
    return type(name, (dp.DpEvent,), body)()


def test_events_of_newer_versions():
    allocated = newer("RandomAllocationDpEvent", event=GAUSSIAN, num_selected=1, num_steps=9)
    (step, _), *_ = from_dp_event(GAUSSIAN).parts
    assert from_dp_event(dp.SelfComposedDpEvent(allocated, 3)) == step.allocated(steps=9) * 3
    twice = newer("RandomAllocationDpEvent", event=GAUSSIAN, num_selected=2, num_steps=9)
    assert from_dp_event(twice) == step.allocated(steps=9, times=2)
    with pytest.raises(hs.Unsupported, match="replace-one"):
        from_dp_event(allocated, REPLACE)
    claim = newer("EpsilonDeltaDpEvent", epsilon=1.0, delta=1e-6)
    for relation, ours in ((ADD, "add-or-remove"), (REPLACE, "replace"), (SPECIAL, "zero-out")):
        assert from_dp_event(claim, relation).parts == ((hs.ApproxDP(1.0, 1e-6, neighbours=ours), 1),)
    assert from_dp_event(newer("PermuteAndFlipDpEvent", epsilon=0.5)) == hs.PureDP(0.5)
    for event in (newer("PermuteAndFlipDpEvent", eps=0.5), newer("DiscreteGaussianDpEvent", sigma=1.0)):
        with pytest.raises(hs.Unsupported, match="DpEvent is not accounted for"):
            from_dp_event(event)


def test_truncated_samples():
    event = dp.TruncatedSubsampledGaussianDpEvent(60_000, 256 / 60_000, 300, 1.1)
    step = hs.Gaussian(1.1).truncated_poisson(rate=256 / 60_000, cap=300, examples=60_000)
    run = dp.SelfComposedDpEvent(event, 3510)
    for relation in (ADD, REPLACE, SPECIAL):
        assert from_dp_event(run, relation).parts == ((step, 3510),)
    ours = HockeystickAccountant(SPECIAL).compose(run).get_epsilon(1e-5)
    assert ours == pytest.approx(1.162547, abs=1e-6)
    assert ours < dp.pld.PLDAccountant(SPECIAL).compose(run).get_epsilon(1e-5)
    assert from_dp_event(dp.TruncatedSubsampledGaussianDpEvent(100, 0.0, 20, 1.0)) == hs.compose([])
    assert from_dp_event(dp.TruncatedSubsampledGaussianDpEvent(100, 0.1, 0, 1.0)) == hs.compose([])
