"""The verbs of `hockeystick ledger`, and the options that they share."""
