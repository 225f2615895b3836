"""Batches of random allocation: the sampler by itself, and with Opacus the accountant that counts what was trained."""

import json
import math
import warnings

import pytest

import hockeystick as hs
from hockeystick.interop.balls_and_bins import BallsAndBins

DELTA = 1e-5
OPACUS = ("ignore:Secure RNG", "ignore:Full backward hook")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    try:
        import opacus
        import torch

        from hockeystick.interop.opacus_allocation import BallsAndBinsAccountant, balls_and_bins_loader
    except ImportError:
        opacus = None

with_opacus = pytest.mark.skipif(opacus is None, reason="Opacus is not installed")


# the sampler


@pytest.mark.parametrize(("records", "steps"), [(1, 1), (7, 1), (1, 5), (50, 7), (5, 40), (1000, 64)])
def test_every_record_is_in_one_batch_of_each_pass(records, steps):
    sampler = BallsAndBins(records=records, steps=steps)
    for number in (1, 2):
        batches = list(sampler)
        assert len(batches) == len(sampler) == steps  # empty ones included
        assert sorted(one for batch in batches for one in batch) == list(range(records))
        assert all(type(one) is int for batch in batches for one in batch)
        assert (sampler.begun, sampler.given) == (number, steps)


def test_batches_are_uniform_and_independent():
    """Chi squared over the pairs of batches of two records, and of one record in two passes; the seed is fixed."""
    steps, passes = 3, 9000
    sampler = BallsAndBins(records=2, steps=steps, seeded_rng=hs.InsecureSeed(5))
    places = []
    for _ in range(passes):
        batches = list(sampler)
        places.append(tuple(next(t for t in range(steps) if one in batches[t]) for one in (0, 1)))
    following = [(one[0], other[0]) for one, other in zip(places[::2], places[1::2], strict=True)]
    for pairs in (places, following):
        wanted = len(pairs) / steps**2
        found = sum((pairs.count((i, j)) - wanted) ** 2 / wanted for i in range(steps) for j in range(steps))
        assert found < 33.0  # 8 degrees of freedom: exceeded with probability below 1e-4


def test_words_of_the_last_round_are_drawn_again():
    """With 3 * 2^29 batches a quarter of the words is rejected: else some batches come too often."""
    steps = 3 << 29
    sampler = BallsAndBins(records=20_000, steps=steps, seeded_rng=hs.InsecureSeed(1))
    bins = sampler._drawn()
    assert bins.min() >= 0
    assert bins.max() < steps
    assert abs((bins < steps // 3).mean() - 1 / 3) < 0.02  # six standard deviations; a modulo alone has 3/8


def test_only_a_seed_repeats_batches():
    def drawn(**given):
        return list(BallsAndBins(records=200, steps=10, **given))

    assert drawn(seeded_rng=hs.InsecureSeed(3)) == drawn(seeded_rng=hs.InsecureSeed(3)) != drawn(seeded_rng=hs.InsecureSeed(4))
    assert drawn() != drawn()
    seeded = BallsAndBins(records=200, steps=10, seeded_rng=hs.InsecureSeed(3))
    assert list(seeded) != list(seeded)  # each pass afresh


def test_one_pass_at_a_time():
    sampler = BallsAndBins(records=20, steps=4)
    first = iter(sampler)
    next(first)
    second = iter(sampler)
    assert (sampler.begun, sampler.given) == (1, 1)  # an iterator that is not used is no pass
    assert isinstance(next(second), list)
    assert (sampler.begun, sampler.given) == (2, 1)
    with pytest.raises(hs.Unsupported, match="pass 2 was begun while pass 1"):
        next(first)
    assert len(list(second)) == 3


@pytest.mark.parametrize("bad", [0, -1, 1.5, math.nan, "x", None, True])
def test_bad_numbers(bad):
    for given in ({"records": bad, "steps": 3}, {"records": 3, "steps": bad}):
        with pytest.raises((hs.BadType, hs.BadValue), match=r"records|steps"):
            BallsAndBins(**given)
    with pytest.raises(hs.BadType, match="rng"):
        BallsAndBins(records=3, steps=3, seeded_rng=7)


# with Opacus


def setting(records=60, steps=5, sigma=1.0, resumed=None, workers=0, poisson=False):
    torch.manual_seed(0)
    x = torch.randn(records, 3)
    data = torch.utils.data.TensorDataset(x, x.sum(dim=1, keepdim=True))
    loader = balls_and_bins_loader(torch.utils.data.DataLoader(data, batch_size=12, num_workers=workers), steps=steps)
    engine, model = opacus.PrivacyEngine(), torch.nn.Linear(3, 1)
    engine.accountant = BallsAndBinsAccountant(loader.batch_sampler)
    if resumed is not None:
        engine.accountant.load_state_dict(resumed)
    made = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.05),
        data_loader=loader,
        noise_multiplier=sigma,
        max_grad_norm=1.0,
        poisson_sampling=poisson,
    )
    return engine, *made


def update(model, optimizer, batch):
    x, y = batch
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()


def train(model, optimizer, loader, passes=1, most=math.inf):
    for _ in range(passes):
        for place, batch in enumerate(loader):
            if place >= most:
                break
            update(model, optimizer, batch)


def allocated(sigma, steps):
    return hs.Gaussian(sigma=sigma).allocated(steps=steps)


@with_opacus
@pytest.mark.filterwarnings(*OPACUS)
@pytest.mark.parametrize(("records", "steps", "workers"), [(60, 5, 0), (3, 8, 0), (60, 5, 1)])
def test_epsilon_is_that_of_the_allocation(records, steps, workers):
    """With three records in eight steps most batches are empty, the first one often, too."""
    engine, model, optimizer, loader = setting(records, steps, workers=workers)
    assert engine.get_epsilon(DELTA) == 0.0
    train(model, optimizer, loader, passes=3)
    assert engine.accountant.history == [(1.0, steps, 3)]
    assert len(engine.accountant) == 3 * steps
    assert engine.get_epsilon(DELTA) == (allocated(1.0, steps) * 3).epsilon(DELTA)
    assert engine.accountant.release == allocated(1.0, steps) * 3
    assert engine.accountant.get_epsilon(DELTA, neighbours="zero-out") == (allocated(1.0, steps) * 3).epsilon(DELTA, "zero-out")
    with pytest.raises(hs.Unsupported):
        engine.accountant.get_epsilon(DELTA, neighbours="replace")
    assert optimizer.expected_batch_size == records // steps


@with_opacus
@pytest.mark.filterwarnings(*OPACUS)
def test_a_pass_that_was_begun_counts_as_a_whole():
    engine, model, optimizer, loader = setting()
    train(model, optimizer, loader, most=1)
    assert len(engine.accountant) == 1
    assert engine.get_epsilon(DELTA) == allocated(1.0, 5).epsilon(DELTA)
    next(iter(loader))  # a look counts, too, with the next step
    train(model, optimizer, loader)
    assert engine.accountant.history == [(1.0, 5, 3)]
    optimizer.noise_multiplier = 2.0
    train(model, optimizer, loader)
    assert engine.accountant.history == [(1.0, 5, 3), (2.0, 5, 1)]
    assert engine.get_epsilon(DELTA) == (allocated(1.0, 5) * 3 + allocated(2.0, 5)).epsilon(DELTA)


@with_opacus
@pytest.mark.filterwarnings(*OPACUS)
def test_what_is_not_accounted_for_is_refused_before_the_model_changes():
    engine, model, optimizer, loader = setting()
    batch = next(iter(loader))
    update(model, optimizer, batch)
    weights = model._module.weight.detach().clone()

    def refused(words, once):
        kept = engine.accountant.state_dict()
        with pytest.raises(hs.Unsupported, match=words):
            once()
        assert torch.equal(model._module.weight, weights)
        assert engine.accountant.state_dict() == kept

    refused("no batch for this step", lambda: update(model, optimizer, batch))  # the same batch again
    rest = iter(loader)
    update(model, optimizer, next(rest))
    weights = model._module.weight.detach().clone()
    following = next(rest)
    optimizer.noise_multiplier = 0.5
    refused("it was 1.0 in this pass", lambda: update(model, optimizer, following))
    optimizer.noise_multiplier = 1.0
    for one in (following, *rest):
        update(model, optimizer, one)
    weights = model._module.weight.detach().clone()
    refused("all 5 steps", lambda: update(model, optimizer, batch))
    x, y = batch
    optimizer.zero_grad()
    for _ in range(2):
        torch.nn.functional.mse_loss(model(x), y).backward()
    refused("accumulated", optimizer.step)


@with_opacus
@pytest.mark.filterwarnings(*OPACUS)
def test_a_loader_that_opacus_replaced_is_noticed():
    """poisson_sampling=True, the default, draws Poisson samples instead."""
    engine, model, optimizer, loader = setting(poisson=True)
    x = torch.randn(4, 3)
    with pytest.raises(hs.Unsupported, match="poisson_sampling=False"):
        update(model, optimizer, (x, x.sum(dim=1, keepdim=True)))
    assert engine.accountant.history == []
    with pytest.raises(hs.Unsupported, match=r"of a loader of rate 0\.1"):
        engine.accountant.step(noise_multiplier=1.0, sample_rate=0.1)
    assert loader.batch_sampler is not engine.accountant.sampler


@with_opacus
@pytest.mark.filterwarnings(*OPACUS)
def test_batches_taken_apart_to_save_memory():
    from opacus.utils.batch_memory_manager import BatchMemoryManager

    engine, model, optimizer, loader = setting()
    for _ in range(2):
        with BatchMemoryManager(data_loader=loader, max_physical_batch_size=4, optimizer=optimizer) as parts:
            for batch in parts:
                update(model, optimizer, batch)
    assert engine.accountant.history == [(1.0, 5, 2)]
    assert len(engine.accountant) == 10


@with_opacus
@pytest.mark.filterwarnings(*OPACUS)
def test_checkpoints():
    """The pass that was broken off counts as a whole, and the next step is one of a new pass."""
    engine, model, optimizer, loader = setting()
    train(model, optimizer, loader)
    train(model, optimizer, loader, most=2)
    state = json.loads(json.dumps(engine.accountant.state_dict()))
    other, model, optimizer, loader = setting(resumed=state)
    assert other.accountant.state_dict() == engine.accountant.state_dict()
    assert other.get_epsilon(DELTA) == engine.get_epsilon(DELTA) == (allocated(1.0, 5) * 2).epsilon(DELTA)
    train(model, optimizer, loader)
    assert other.accountant.history == [(1.0, 5, 3)]
    assert len(other.accountant) == 12
    good = other.accountant.state_dict()
    for bad in (
        None,
        {},
        {**good, "mechanism": "hockeystick"},
        {**good, "history": 7},
        {**good, "steps": 99},
        {**good, "steps": None},
    ):
        with pytest.raises((ValueError, hs.HockeystickError)):
            other.accountant.load_state_dict(bad)
    for entry in (7, [1.0, 5], [-1.0, 5, 1], [1.0, 0, 1], [1.0, 5, 1.5], [1.0, 0.2, 5]):
        with pytest.raises(hs.HockeystickError):
            other.accountant.load_state_dict({**good, "history": [entry]})
    assert other.accountant.state_dict() == good


@with_opacus
@pytest.mark.filterwarnings(*OPACUS)
def test_no_noise_is_no_privacy():
    engine, model, optimizer, loader = setting(sigma=0.0)
    train(model, optimizer, loader)
    assert engine.get_epsilon(DELTA) == math.inf
    with pytest.raises(hs.BadValue, match="noise multiplier of 0"):
        _ = engine.accountant.release


@with_opacus
def test_loaders_that_have_no_positions():
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(3))

    with pytest.raises(hs.Unsupported, match="IterableDataset"):
        balls_and_bins_loader(torch.utils.data.DataLoader(Stream()), steps=2)
    with pytest.raises(hs.BadType, match="DataLoader"):
        balls_and_bins_loader([1, 2, 3], steps=2)
    with pytest.raises(hs.BadType, match="BallsAndBins"):
        BallsAndBinsAccountant(balls_and_bins_loader)
    records = [{"x": torch.ones(2), "y": 1}] * 30
    loader = balls_and_bins_loader(torch.utils.data.DataLoader(records, batch_size=10))
    assert len(loader) == 3  # as many as before
    assert loader.collate_fn([])["x"].shape == (0, 2)  # the form is known though no batch came yet


@with_opacus
def test_several_processes_are_refused(monkeypatch):
    from torch import distributed

    sampler = BallsAndBins(records=4, steps=2)
    monkeypatch.setattr(distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(distributed, "get_world_size", lambda: 2)
    with pytest.raises(hs.Unsupported, match="one process"):
        BallsAndBinsAccountant(sampler).get_optimizer_hook_fn(0.5)
