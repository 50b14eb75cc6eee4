"""Rosters and parameters of several parties, and the examples of the documentation."""

from __future__ import annotations

import doctest
from typing import Any

import numpy as np
import pytest
from test_parties import NAMES, POLICY, context_of

import sunzi
from sunzi import errors, parties


def test_settings_that_do_not_fit() -> None:
    context, number = context_of("bfv", 3), parties.nonce()
    roster = parties.Roster(NAMES)
    assert "3 parties" in repr(context) and sunzi.Context.explain(1, dtype=int, parties=9) != sunzi.Context.explain(1, dtype=int)
    moduli: dict[str, Any] = {"special_moduli": context.special_moduli, "plain_modulus": context.plain_modulus, "security": 0}
    assert sunzi.Context.explicit("bfv", 11, context.moduli, parties=3, **moduli).parties == 3
    assert sunzi.Context.explicit("bfv", 11, context.moduli, **moduli).parties == 1
    assert context.parties == 3 and roster.names == NAMES == list(roster) and "west" in roster and "east" not in roster and len(roster) == roster.threshold == 3
    assert roster == parties.Roster(NAMES) != parties.Roster(NAMES, 2) and len({roster, parties.Roster(NAMES)}) == 1
    for names in (["north"], ["north", "north"], ["north", ""], ["north", "south\n"]):
        with pytest.raises(errors.PartySetting):
            parties.Roster(names)
    with pytest.raises(errors.PartySetting, match="2 to 3"):
        parties.Roster(NAMES, 1)
    with pytest.raises(errors.PartySetting, match="parties of the parameters"):
        parties.KeySession(context, parties.Roster(NAMES[:2]), "north", nonce=number)
    with pytest.raises(errors.PartySetting, match="parties of the parameters"):
        parties.KeySession(sunzi.Context.for_depth(1, dtype=int, security=0, log2_degree=10), roster, "north", nonce=number)
    with pytest.raises(errors.PartySetting, match="name of a party"):
        parties.KeySession(context, roster, "east", nonce=number)
    with pytest.raises(errors.PartySetting, match="32"):
        parties.KeySession(context, roster, "north", nonce=b"short")
    with pytest.raises(errors.PartySetting, match="not over"):
        parties.KeySession(context, roster, "north", nonce=number, rotations=[]).keys
    with pytest.raises(errors.SunziError, match="1024"):
        sunzi.Context.for_depth(1, dtype=int, parties=2000, security=0, log2_degree=10)
    with pytest.raises(errors.Request, match="secret_weight"):
        sunzi.Context.for_depth(1, parties=2, secret_weight=64, security=0, log2_degree=10)
    with pytest.raises(errors.Request, match="elements"):
        sunzi.Context.for_field(1, prime=2, ring_index=21845, parties=2)
    assert context != sunzi.Context.for_depth(1, dtype=int, sums=4, sharing=POLICY, security=0, result_bound=2**12, log2_degree=11, parties=2)


def test_documentation_runs() -> None:
    from sunzi import _party_handing_on, _party_keys, _party_refreshes, _party_shares, _party_switches

    names = {"sunzi": sunzi, "np": np, "parties": parties}
    for module in (parties, _party_keys, _party_handing_on, _party_refreshes, _party_shares, _party_switches):
        outcome = doctest.testmod(module, extraglobs=names)
        assert outcome.attempted > 0 and outcome.failed == 0
