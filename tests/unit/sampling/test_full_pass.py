"""A pass over all records."""

import pytest

import hockeystick as hs
from sampled_cases import GAUSSIAN


def test_a_pass_is_one_step():
    for by in ("shuffle", "position", "id"):
        run = GAUSSIAN.full_pass(by=by) * 5
        for relation in ("replace", "zero-out"):
            assert run.epsilon(1e-6, relation) == (GAUSSIAN * 5).epsilon(1e-6, relation)
            assert run.epsilon_bounds(1e-6, relation).tight is (by != "shuffle")
    assert (GAUSSIAN.full_pass(by="id") * 5).epsilon(1e-6) == (GAUSSIAN * 5).epsilon(1e-6)


@pytest.mark.parametrize("by", ["shuffle", "position"])
@pytest.mark.parametrize("relation", ["add-or-remove", "add", "remove"])
def test_a_pass_refuses_add_and_remove(by, relation):
    with pytest.raises(hs.Unsupported, match="zero-out"):
        GAUSSIAN.full_pass(by=by).epsilon(1e-6, neighbours=relation)
