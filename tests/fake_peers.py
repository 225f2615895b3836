"""Accountants for the tests of the benchmark: ours is certified, one is loose, one below the truth, one hangs, one dies."""

import os
import time

from bench.peers import Cannot, Peer

TRUTH = 2.0


def _hangs(uses, delta):
    time.sleep(600)


def _dies(uses, delta):
    os._exit(7)


def _raises(uses, delta):
    raise ArithmeticError("no  number\nhere")


def _none(uses, delta):
    print("a peer may print what it likes")
    return 0.0, float("nan")


def _unable(uses, delta):
    raise Cannot("not today")


OURS = Peer("hockeystick", "hockeystick", "ours", lambda uses, delta: (1.9999999, 2.0000001), lambda *_: 1.0)
PEERS = (
    Peer("loose", "numpy", "loss", lambda uses, delta: (0.0, 2.2)),
    Peer("below", "numpy", "loss", lambda uses, delta: (0.0, 1.5)),
    Peer("hangs", "numpy", "loss", _hangs),
    Peer("dies", "numpy", "rdp", _dies),
    Peer("raises", "numpy", "rdp", _raises),
    Peer("none", "numpy", "rdp", _none),
    Peer("unable", "numpy", "rdp", _unable),
    Peer("absent", "no-such-distribution", "rdp", _unable),
)
