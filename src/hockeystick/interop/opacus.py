"""Opacus: importing this module registers the accountant "hockeystick" (needs the extra `opacus`).

    import hockeystick.interop.opacus
    engine = opacus.PrivacyEngine(accountant="hockeystick")

Of each step the accountant is told the noise multiplier and the sample rate; like Opacus's own accountants it takes the step for
Gaussian noise on the sum over a Poisson sample.  Epsilon is that of `hs.dpsgd` for the same history, to the last bit, for data
sets that differ by one record added or removed unless `neighbours=` says otherwise.

Opacus does not tell an accountant how batches are drawn, and `make_private(poisson_sampling=False)` leaves the batches of a
shuffled pass, for which these epsilons do not hold.  What an accountant can see are the sizes of the batches: those of Poisson
samples vary, the batches of a pass have at most two.  See `HockeystickAccountant.poisson`.
"""

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from .. import checks
from ..errors import BadType, BadValue, MissingExtra, Unsupported, remedy
from ..mechanism.growing import Growing
from ..mechanism.training import Training
from ..neighbours import DEFAULT, Relation
from .batch_sizes import Sizes
from .charging import Charging, charging
from .phases import Phase, bare, epsilon_of, phase_of, run_of

try:
    from opacus.accountants import IAccountant, register_accountant
except ImportError:
    raise MissingExtra(f"the accountant is one of Opacus's, which is not installed; {remedy('opacus')}.") from None

NAME = "hockeystick"
_THEIRS = ("rdp", "prv", "gdp")  # Opacus's own accountants, which write the same history: (noise multiplier, rate, steps)
_CHANCE = math.log(1e-9)  # so unlikely must the sizes of the batches be under Poisson sampling
_REMEDY = (
    "Use make_private(poisson_sampling=True); or account for the passes with hs.dpsgd(sampler='shuffle', neighbours='zero-out', "
    "...), of which hs.poisson_claim says how far off a Poisson epsilon is; or, if you know that every record joins each batch "
    "by itself, set accountant.poisson = True."
)


class FixedBatches(UserWarning):
    """The batches of a run are no Poisson samples."""


class HockeystickAccountant(IAccountant):  # type: ignore[misc]
    """Certified epsilons of a training run with Opacus.

    `history` is a list of (noise multiplier, sample rate, steps), as in Opacus's own accountants, so that one may be continued:
    `accountant.history = list(other.history)`.

    With `account=` (a `Charging`) steps are charged to a ledger; one that does not fit raises `OverBudget` before the model is
    changed.  Set `engine.accountant = HockeystickAccountant(account=...)` before `make_private`.

    `poisson` says whether batches are Poisson samples: True (you know it), None (nobody said so; their sizes are watched), False
    (their sizes are not those of Poisson samples; then epsilon is refused).

    To ask after each step is cheap: once two questions follow each other, those of the next steps are answered along with them
    (`Growing`), as long as noise and rate stay what they were from the first step on.  Where that is not so, or for less still,
    `every` rounds the steps of the last phase up to a multiple of it, so that epsilon is computed once in so many steps.  More
    steps never lower epsilon, so this is a bound, too, and exact at each multiple.

    Parameters
    ----------
    account : Charging, optional
        The account to which steps are charged.

    Raises
    ------
    BadType
        If account is no `Charging`.
    """

    def __init__(self, account: Charging | None = None) -> None:
        super().__init__()
        self.account = charging(account)
        self.history: list[Phase] = []
        self.poisson: bool | None = None
        self.every = 1
        self._sizes = Sizes()
        self._last_question: tuple[Any, ...] = ()
        self._answer = 0.0
        self._growing: Growing | None = None
        self._grown: tuple[Any, ...] = ()  # what it is for

    @classmethod
    def mechanism(cls) -> str:
        """The name under which Opacus knows it.

        Returns
        -------
        str
            "hockeystick".
        """
        return NAME

    def __len__(self) -> int:
        """The number of steps taken."""
        return sum(steps for _, _, steps in self.history)

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Take note of one step; with an account, charge it first, so that one that does not fit is refused and nothing changes.

        Parameters
        ----------
        noise_multiplier : float
            The standard deviation of the noise over the clipping norm, from 0 up.
        sample_rate : float
            The rate of Poisson sampling, from 0 to 1.

        Raises
        ------
        BadType
            If one is no number.
        BadValue
            If one is out of its range, or with an account it is no step of its line.
        OverBudget
            If the account has no room for it.
        Unsupported
            With an account, if the batches are no Poisson samples.
        """
        if self.account is not None:
            self._charge(self.account, phase_of((noise_multiplier, sample_rate, 1)))
        last = self.history[-1] if self.history else None
        if last is not None and last[0] == noise_multiplier and last[1] == sample_rate:
            self.history[-1] = (last[0], last[1], last[2] + 1)
        else:
            self.history.append(phase_of((noise_multiplier, sample_rate, 1)))

    def _charge(self, account: Charging, phase: Phase) -> None:
        """Opacus calls `step` when noise was added and before the model is changed: what is refused here, nobody sees."""
        self._refuse_fixed_batches()
        if bare([phase]):
            raise BadValue("noise_multiplier is 0.0; allowed under an account: a finite number above 0.")
        account.charge(run_of([phase], DEFAULT).run)

    @property
    def release(self) -> Training:
        """The run so far: everything that can be asked of a release, such as `.report(delta=1e-5)`.

        Returns
        -------
        Training
            The run, for data sets that differ by one record added or removed.

        Raises
        ------
        BadValue
            If a step had no noise.
        Unsupported
            If the batches are no Poisson samples.
        """
        self._refuse_fixed_batches()
        phases = self._phases()
        if bare(phases):
            raise BadValue("some steps had a noise multiplier of 0, which no epsilon covers; allowed: a finite number above 0.")
        return run_of(phases, DEFAULT)

    def get_epsilon(self, delta: float, *, neighbours: Relation = DEFAULT, poisson: bool = True, **_ignored: Any) -> float:
        """Epsilon of the steps so far: a certified upper bound, inf if a step had no noise.

        What other accountants are told (`alphas`, `eps_error`, `delta_error`) has no meaning here and changes nothing.

        Parameters
        ----------
        delta : float
            From 0 to 1.
        neighbours : Relation, default "add-or-remove"
            The neighbouring relation.
        poisson : bool, default True
            Whether batches are Poisson samples; False is refused.
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
            If the batches are no Poisson samples.
        """
        if not poisson:
            raise Unsupported(
                f"poisson=False asks for batches that are no Poisson samples, which is not accounted for.  {_REMEDY}"
            )
        self._refuse_fixed_batches()
        question = (self._rounded(), checks.probability("delta", delta), neighbours)
        checks.warn_of_large(question[1])
        if question != self._last_question:
            self._answer, self._last_question = self._computed(*question), question
        return self._answer

    def _computed(self, phases: list[Phase], delta: float, neighbours: Relation) -> float:
        if len(phases) == 1 and not bare(phases):
            sigma, rate, steps = phases[0]
            if (about := (sigma, rate, delta, neighbours)) != self._grown:
                self._growing, self._grown = Growing(run_of([(sigma, rate, 1)], neighbours).run, delta, neighbours), about
            if self._growing is not None and (found := self._growing.epsilon(steps)) is not None:
                return found
        return epsilon_of(phases, delta, neighbours)

    def _phases(self) -> list[Phase]:
        return [phase_of(one) for one in self.history]

    def _rounded(self) -> list[Phase]:
        """The history, with the steps of its last phase rounded up to a block."""
        phases = self._phases()
        if phases and self.every != 1:
            sigma, rate, steps = phases[-1]
            block = checks.count("every", self.every, least=1)
            phases[-1] = (sigma, rate, -(-steps // block) * block)
        return phases

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Any], None]:
        """What Opacus calls at each step, after the noise was added and before the model is changed.

        Parameters
        ----------
        sample_rate : float
            The rate of Poisson sampling, from 0 to 1.

        Returns
        -------
        callable
            A function of the optimizer, which takes note of a step.

        Raises
        ------
        Unsupported
            By that function, if several batches were accumulated for a step.
        """

        def hook(optimizer: Any) -> None:
            batches = optimizer.accumulated_iterations
            if batches > 1:
                raise Unsupported(
                    f"{batches} batches were accumulated for one step: drawn apart from each other, a record may be in several "
                    "of them, which one larger sample does not cover.  Draw one larger batch; to save memory, let Opacus's "
                    "BatchMemoryManager take it apart."
                )
            self._watch(optimizer, sample_rate)
            self.step(noise_multiplier=optimizer.noise_multiplier, sample_rate=sample_rate)

        return hook

    def _watch(self, optimizer: Any, sample_rate: float) -> None:
        if self.poisson is not None or self._sizes.varied or getattr(optimizer, "_is_last_step_skipped", False):
            return  # (a batch that was taken apart shows only its last piece)
        gradients = getattr(optimizer.params[0], "grad_sample", None)
        records = optimizer.expected_batch_size
        if gradients is None or not hasattr(gradients, "shape") or not records:
            return
        self._sizes.see(int(gradients.shape[0]), records, sample_rate)
        if self._sizes.log_chance < _CHANCE:
            self.poisson = False
            warnings.warn(
                f"{self._sizes.count} batches had {' or '.join(map(str, self._sizes.seen))} records each, which under Poisson "
                f"sampling has a probability below 1e-9: epsilon will be refused.  {_REMEDY}",
                FixedBatches,
                stacklevel=2,
            )

    def _refuse_fixed_batches(self) -> None:
        if self.poisson is False:
            raise Unsupported(f"the batches of this run are no Poisson samples: they have at most two sizes.  {_REMEDY}")

    def state_dict(self, destination: Any = None) -> Any:
        """What a checkpoint holds: the history, the accountant's name, and what is known of the sampler.

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
        state["poisson"] = self.poisson
        if self.account is not None:
            state["charged"] = self.account.state()
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from a checkpoint of this accountant, or of Opacus's own "rdp", "prv" or "gdp", taken at their word.

        They did not watch how batches were drawn, and wrote down accumulated batches as one larger sample.

        Parameters
        ----------
        state_dict : mapping
            The state of an accountant.

        Raises
        ------
        BadType
            If its history is no list of (noise multiplier, sample rate, steps).
        BadValue
            If an entry of the history is out of its range, the state is that of another accountant, or with an account its
            steps were not charged to it.
        """
        if isinstance(state_dict, Mapping) and state_dict.get("mechanism") in _THEIRS:
            state_dict = {**state_dict, "mechanism": NAME}
        before = self.history
        super().load_state_dict(state_dict)
        given, self.history = self.history, before  # nothing changes unless all of it is good
        if not isinstance(given, list | tuple):
            raise BadType(f"history is {given!r}; allowed: a list of (noise multiplier, sample rate, steps).")
        phases = [phase_of(one) for one in given]
        if self.account is not None:
            self.account.load(state_dict.get("charged"), sum(steps for _, _, steps in phases))
        self.history = phases
        self.poisson = state_dict.get("poisson")
        self._sizes = Sizes()


register_accountant(NAME, HockeystickAccountant, force=True)
