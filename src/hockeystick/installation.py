"""What is installed here: versions, the compiled core, the platform.  (What people say of a run is `report/about.py`.)"""

import json
import platform
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .native import core, switched_off

NEEDED = ("numpy", "scipy")
EXTRAS = ("matplotlib", "typer", "rich", "dp-accounting", "jax-privacy", "opacus", "SQLAlchemy", "psycopg")
WITHOUT = "answers are as certain, an epsilon of DP-SGD takes 10 to 70 times as long"  # scripts/without_core.py


@dataclass(frozen=True, repr=False)
class Installation:
    """What is installed here; printed, it is a few lines for a bug report.

    Parameters
    ----------
    version : str
        Of hockeystick.
    folder : str
        Where it stands.
    core : {"compiled", "not compiled", "switched off", "broken"}
        Whether the compiled core answers; "switched off" is the wish of HOCKEYSTICK_PURE.
    core_detail : str
        The core's file, or why there is none.
    python : str
        The interpreter and its version.
    platform : str
        The system and the processor.
    packages : dict of str
        The versions of the packages that it needs or can use; None where one is not installed.
    """

    version: str
    folder: str
    core: str
    core_detail: str
    python: str
    platform: str
    packages: dict[str, str | None]

    def __str__(self) -> str:
        installed = ", ".join(f"{name} {one}" for name, one in self.packages.items() if one)
        missing = ", ".join(name for name, one in self.packages.items() if not one)
        rows = {
            "folder": self.folder,
            "core": f"{self.core}: {self.core_detail}",
            "Python": self.python,
            "platform": self.platform,
            "packages": installed,
            "not installed": missing or "-",
        }
        return "\n".join((f"hockeystick {self.version}", *(f"  {name:<15}{text}" for name, text in rows.items())))

    __repr__ = __str__

    def to_dict(self) -> dict[str, object]:
        """The same as plain values.

        Returns
        -------
        dict of str
            The keys are the attributes.
        """
        return asdict(self)

    def to_json(self) -> str:
        """The same as JSON.

        Returns
        -------
        str
            An object whose keys are the attributes.
        """
        return json.dumps(self.to_dict(), indent=2)


def about() -> Installation:
    """What is installed here: the version, whether the compiled core answers, the platform.

    It has nothing to do with `About`, which is what people say of a run.

    Returns
    -------
    Installation
        Versions, core and platform; readable when printed, and as JSON by `to_json`.

    Examples
    --------
    >>> import hockeystick as hs
    >>> hs.about().version == hs.__version__
    True
    """
    from . import __version__

    state, detail = _core()
    return Installation(
        version=__version__,
        folder=str(Path(__file__).parent),
        core=state,
        core_detail=detail,
        python=f"{platform.python_implementation()} {platform.python_version()}",
        platform=platform.platform(),
        packages={name: _version(name) for name in (*NEEDED, *EXTRAS)},
    )


def in_short() -> str:
    """One line: the version, and whether the compiled core answers."""
    from . import __version__

    state, _ = _core()
    return f"{__version__} ({state} core)" if state == "compiled" else f"{__version__} (core {state}: {WITHOUT})"


def _core() -> tuple[str, str]:
    """Whether it answers, and its file or what is missing."""
    if core is not None:
        return "compiled", str(core.__file__)
    if switched_off:
        return "switched off", f"HOCKEYSTICK_PURE is set; {WITHOUT}"
    try:
        import_module(".native.core", __package__)
    except ModuleNotFoundError:
        return "not compiled", f"install it where there is a C compiler; {WITHOUT}"
    except ImportError as error:
        return "broken", f"{error}; {WITHOUT}"
    return "not compiled", "it was compiled since; start Python anew"


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
