"""`hockeystick ledger`: privacy budgets that many people and machines share.  Its verbs are in `cli/ledger/`."""

from ..ledger.verbs import verbs


def ledger() -> None:
    """Privacy budgets that many people share: accounts, spending, verification.

    Example: hockeystick ledger init ledger.db

    Every verb has --help with an example, and --json.
    """


app = verbs(ledger)
