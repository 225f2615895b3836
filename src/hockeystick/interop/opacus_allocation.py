"""Opacus with batches of random allocation (balls and bins): the loader, and the accountant that counts its passes.

    loader = balls_and_bins_loader(loader, steps=100)
    engine = opacus.PrivacyEngine()
    engine.accountant = BallsAndBinsAccountant(loader.batch_sampler)
    ... = engine.make_private(data_loader=loader, poisson_sampling=False, ...)

Epsilon is that of `hs.Gaussian(sigma).allocated(steps=100) * passes`.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from .. import checks
from ..errors import BadType, BadValue, MissingExtra, Unsupported, remedy
from ..mechanism.gaussian import Gaussian
from ..mechanism.release import Release, joined
from ..neighbours import DEFAULT, Relation, checked
from .balls_and_bins import BallsAndBins

try:
    from opacus.accountants import IAccountant
    from opacus.data_loader import wrap_collate_with_empty
except ImportError:
    raise MissingExtra(f"the accountant is one of Opacus's, which is not installed; {remedy('opacus')}.") from None

NAME = "hockeystick-balls-and-bins"
Passes = tuple[float, int, int]
_REMEDY = (
    "Train with the loader of balls_and_bins_loader, given to make_private(poisson_sampling=False), and give the accountant that "
    "loader's batch_sampler."
)


def balls_and_bins_loader(loader: Any, *, steps: int | None = None, batch_first: bool = True, seeded_rng: Any = None) -> Any:
    """The same loader with batches of random allocation: in each pass every record is in one of `steps` batches.

    Empty batches have tensors of no records, in the form of the others, as in Opacus's own `DPDataLoader`.

    Parameters
    ----------
    loader : torch.utils.data.DataLoader
        A loader of records that have positions.
    steps : int, optional
        The batches of a pass; by default as many as the loader has.
    batch_first : bool, default True
        Whether records are the first dimension of a batch's tensors, as in `make_private`.
    seeded_rng : InsecureSeed, optional
        For tests and figures only: a seed of the batches.

    Returns
    -------
    torch.utils.data.DataLoader
        The new loader; its `batch_sampler` is a `BallsAndBins`.

    Raises
    ------
    BadType
        If loader is no such loader, or an argument of another type.
    BadValue
        If steps is no whole number from 1 up, or there are no records.
    Unsupported
        If records have no positions (an iterable data set), or several processes train together.
    """
    from torch.utils.data import DataLoader, IterableDataset

    if not isinstance(loader, DataLoader):
        raise BadType(f"loader is {loader!r}; allowed: a torch.utils.data.DataLoader.")
    if isinstance(loader.dataset, IterableDataset):
        raise Unsupported("an IterableDataset has no positions to draw; allowed: a data set of records by position.")
    _refuse_several_processes()
    data: Any = loader.dataset
    count = len(loader) if steps is None else steps
    sampler = BallsAndBins(records=len(data), steps=count, seeded_rng=seeded_rng)
    collate = wrap_collate_with_empty(collate_fn=loader.collate_fn, batch_first=checks.flag("batch_first", batch_first))
    collate([data[0]])  # it learns the form of a batch, should the first be empty
    return DataLoader(
        data,
        batch_sampler=sampler,
        collate_fn=collate,
        num_workers=loader.num_workers,
        pin_memory=loader.pin_memory,
        timeout=loader.timeout,
        worker_init_fn=loader.worker_init_fn,
        multiprocessing_context=loader.multiprocessing_context,
        generator=loader.generator,
        prefetch_factor=loader.prefetch_factor,
        persistent_workers=loader.persistent_workers,
    )


class BallsAndBinsAccountant(IAccountant):  # type: ignore[misc]
    """Certified epsilons of a training with Opacus on the batches of a `BallsAndBins` sampler.

    `history` is a list of (noise multiplier, batches of a pass, passes); a pass that was begun counts as a whole, from its first
    step on, and so do passes that were begun and not trained on.  Each batch is one step, with the same noise throughout a pass:
    what is not, is refused before the model is changed.

    It sees passes, batches and steps, and not which batch a step was computed on: that is up to the loop.  A training that goes
    on from a checkpoint begins a new pass.  Set `engine.accountant` before `make_private`.

    Parameters
    ----------
    sampler : BallsAndBins
        What draws the batches: the loader's `batch_sampler`.

    Raises
    ------
    BadType
        If sampler is no `BallsAndBins`.
    """

    def __init__(self, sampler: BallsAndBins) -> None:
        if not isinstance(sampler, BallsAndBins):
            raise BadType(f"sampler is {sampler!r}; allowed: a BallsAndBins, such as balls_and_bins_loader(...).batch_sampler.")
        super().__init__()
        self.sampler = sampler
        self.history: list[Passes] = []
        self._seen, self._steps, self._total = sampler.begun, 0, 0
        self._last_question: tuple[Any, ...] = ()
        self._answer = 0.0

    @classmethod
    def mechanism(cls) -> str:
        """Its name in checkpoints; no other accountant takes its history for one of Poisson samples.

        Returns
        -------
        str
            "hockeystick-balls-and-bins".
        """
        return NAME

    def __len__(self) -> int:
        """The number of steps taken."""
        return self._total

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Take note of one step, or refuse it, and then nothing changes.

        Parameters
        ----------
        noise_multiplier : float
            The standard deviation of the noise over the clipping norm, from 0 up.
        sample_rate : float
            What Opacus takes the rate for: one over the batches of a pass.

        Raises
        ------
        BadType
            If one is no number.
        BadValue
            If one is out of its range.
        Unsupported
            If the rate is that of another loader, there was no batch of the sampler for the step, or the noise is another than
            that of the steps before in this pass.
        """
        sigma, rate = checks.non_negative("noise_multiplier", noise_multiplier), checks.rate("sample_rate", sample_rate)
        bins = self.sampler.steps
        if rate != 1.0 / bins:
            raise Unsupported(f"the step is of a loader of rate {rate}, and a pass has {bins} batches, {1.0 / bins}.  {_REMEDY}")
        begun = self.sampler.begun - self._seen
        made = self._steps if begun == 0 else 0
        if made >= bins:
            raise Unsupported(f"all {bins} steps of this pass were made: one more is not accounted for.  Begin a new pass.")
        if (begun == 0 and made == 0) or made >= self.sampler.given:
            raise Unsupported(f"the sampler has given no batch for this step: each batch is one step.  {_REMEDY}")
        if made and sigma != self.history[-1][0]:
            raise Unsupported(
                f"noise_multiplier is {sigma}, and it was {self.history[-1][0]} in this pass; allowed: the same in all its "
                "steps.  Change it when the next one begins."
            )
        if begun:
            self.history = _appended(self.history, (sigma, bins, begun))
            self._seen = self.sampler.begun
        self._steps, self._total = made + 1, self._total + 1

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Any], None]:
        """What Opacus calls at each step, after the noise was added and before the model is changed.

        Parameters
        ----------
        sample_rate : float
            One over the batches of a pass.

        Returns
        -------
        callable
            A function of the optimizer, which takes note of a step.

        Raises
        ------
        Unsupported
            If several processes train together; and by that function, if the step is not accounted for.
        """
        _refuse_several_processes()

        def hook(optimizer: Any) -> None:
            if (batches := optimizer.accumulated_iterations) > 1:
                raise Unsupported(
                    f"{batches} batches were accumulated for one step; allowed: one.  Draw larger batches, with fewer steps; to "
                    "save memory, let Opacus's BatchMemoryManager take them apart."
                )
            self.step(noise_multiplier=optimizer.noise_multiplier, sample_rate=sample_rate)

        return hook

    @property
    def release(self) -> Release:
        """The passes so far, the last one whole: everything that can be asked of a release.

        Returns
        -------
        Release
            Their composition.

        Raises
        ------
        BadValue
            If a pass had no noise.
        """
        if any(sigma == 0.0 for sigma, _, _ in self.history):
            raise BadValue("some steps had a noise multiplier of 0, which no epsilon covers; allowed: a finite number above 0.")
        return joined((Gaussian(sigma=sigma).allocated(steps=bins), passes) for sigma, bins, passes in self._passes())

    def get_epsilon(self, delta: float, *, neighbours: Relation = DEFAULT, **_ignored: Any) -> float:
        """Epsilon of the passes so far, the last one whole: a certified upper bound, inf if a pass had no noise.

        Parameters
        ----------
        delta : float
            From 0 to 1.
        neighbours : Relation, default "add-or-remove"
            The neighbouring relation; no theorem is known for "replace".
        **_ignored : object
            What other accountants are told.

        Returns
        -------
        float
            Epsilon, rounded up.

        Raises
        ------
        BadType
            If delta is no number, or neighbours no text.
        BadValue
            If delta is outside [0, 1], or neighbours no relation.
        Unsupported
            If there is no theorem for neighbours.
        """
        passes = self._passes()
        question = (passes, checks.probability("delta", delta), checked(neighbours))
        checks.warn_of_large(question[1])
        if any(sigma == 0.0 for sigma, _, _ in passes) and delta < 1.0:
            return math.inf
        if question != self._last_question:
            self._answer, self._last_question = float(self.release.epsilon(delta, neighbours)), question
        return self._answer

    def _passes(self) -> list[Passes]:
        return [_checked(one) for one in self.history]

    def state_dict(self, destination: Any = None) -> Any:
        """What a checkpoint holds: the history, the accountant's name, and the number of steps.

        Parameters
        ----------
        destination : dict, optional
            Where to put it; by default a new one.

        Returns
        -------
        dict
            The state.
        """
        state = super().state_dict(destination)
        state["steps"] = self._total
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from a checkpoint of this accountant, with a new pass: the one that was broken off counts as a whole.

        Parameters
        ----------
        state_dict : mapping
            The state of such an accountant.

        Raises
        ------
        BadType
            If its history is no list of (noise multiplier, batches of a pass, passes), or steps no number.
        BadValue
            If one of them is out of its range, or the state is that of another accountant.
        """
        before = self.history
        super().load_state_dict(state_dict)
        given, self.history = self.history, before  # nothing changes unless all of it is good
        if not isinstance(given, list | tuple):
            raise BadType(f"history is {given!r}; allowed: a list of (noise multiplier, batches of a pass, passes).")
        passes = [_checked(one) for one in given]
        self._total = checks.count("steps", state_dict.get("steps"), most=sum(bins * times for _, bins, times in passes))
        self.history = passes
        self._seen, self._steps = self.sampler.begun, 0


def _appended(history: list[Passes], passes: Passes) -> list[Passes]:
    """The history with further passes, those like the last ones in one entry."""
    if history and history[-1][:2] == passes[:2]:
        return [*history[:-1], (*passes[:2], history[-1][2] + passes[2])]
    return [*history, passes]


def _checked(given: Any) -> Passes:
    """An entry of a history, checked."""
    if not isinstance(given, list | tuple) or len(given) != 3:
        raise BadType(f"history has {given!r}; allowed: (noise multiplier, batches of a pass, passes).")
    sigma, bins, passes = given
    return (
        checks.non_negative("noise_multiplier", sigma),
        checks.count("batches of a pass", bins, least=1),
        checks.count("passes", passes, least=1),
    )


def _refuse_several_processes() -> None:
    """Processes that draw on their own put a record into a batch of each."""
    from torch import distributed

    if distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1:
        raise Unsupported("several processes train together, and each would draw its own batches; allowed: one process.")
