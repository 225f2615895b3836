"""A privacy budget that many people and machines share (the extra "ledger"): `hs.Ledger`."""
