"""Several parties over TLS and over a shared folder: keys, thresholds and results between machines, and who is kept out."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_parties import POLICY, context_of, together

from sunzi import errors, parties

NAMES = ["north", "south", "west"]


def free_address() -> str:
    """An address of this machine where nobody listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{one.getsockname()[1]}"


def world(names: list[str], addresses: bool) -> tuple[dict[str, parties.Identity], parties.Contacts]:
    identities = {name: parties.Identity.generate(name) for name in names}
    cards = [one.card(free_address() if addresses else None) for one in identities.values()]
    # By way of their texts, as cards travel.
    return identities, parties.Contacts([parties.Card.from_json(card.to_json()) for card in cards])


def test_keys_over_tls(tmp_path: Path) -> None:
    identities, contacts = world(NAMES, True)
    context, roster, number = context_of("bfv", 3), contacts.roster(), parties.nonce()

    def party(me: str) -> parties.PartyKeys:
        with parties.KeySession(context, roster, me, nonce=number, store=tmp_path / me, rotations=[]) as session:
            with parties.tls(session, identities[me], contacts) as link:
                keys = session.run(link, timeout=60)
                assert link.finish(10) == ()
        return keys

    keys: dict[str, Any] = together(roster, party)
    assert len({one.id for one in keys.values()}) == 1
    array = keys["south"].encrypt([3, 4])
    noise = keys["north"].declared_noise(lambda a: a, [0, 0])

    # South asks, the others answer whoever asks.
    def opening(me: str) -> Any:
        with parties.Decryptor(keys[me], queries=POLICY[0], statistical_bits=POLICY[1]) as holder, parties.tls(holder, identities[me], contacts) as link:
            if me == "south":
                asked = holder.opening(array, noise=noise)
                asked.receive(me, holder.answer(asked.request, array, noise=noise))
                return asked.run(link, timeout=60)
            got = link.receive(60)
            assert got is not None and got[0] == "south"
            # What is sent goes out before a link ends.
            link.send_to(got[0], holder.answer(got[1], array, noise=noise))
            return None

    np.testing.assert_array_equal(together(roster, opening)["south"], [3, 4])


def test_a_threshold_through_a_folder(tmp_path: Path) -> None:
    """Nobody has an address there."""
    identities, contacts = world(NAMES, False)
    context, roster, number, dealt = context_of("bgv", 3), contacts.roster(2), parties.nonce(), parties.nonce()
    shared = tmp_path / "shared"
    shared.mkdir()

    def party(me: str) -> parties.PartyKeys:
        session = parties.KeySession(context, roster, me, nonce=number, products=False, rotations=[])
        with parties.folder(session, identities[me], contacts, shared, poll=0.01) as link:
            keys = session.run(link, timeout=60)
        dealing = parties.Dealing(keys, nonce=dealt)
        with parties.folder(dealing, identities[me], contacts, shared, poll=0.01) as link:
            return dealing.run(link, timeout=60)

    keys: dict[str, Any] = together(roster, party)
    holders = {me: parties.Decryptor(keys[me], queries=POLICY[0], statistical_bits=POLICY[1]) for me in ("north", "west")}
    array, noise = keys["south"].encrypt([5, 6]), keys["south"].declared_noise(lambda a: a, [0, 0])
    asked = holders["north"].opening(array, noise=noise, quorum=list(holders))
    for me, holder in holders.items():
        asked.receive(me, holder.answer(asked.request, array, noise=noise))
    np.testing.assert_array_equal(asked.open(), [5, 6])


def test_who_is_no_party_is_kept_out(tmp_path: Path) -> None:
    identities, contacts = world(NAMES[:2], True)
    context, number = context_of("bfv", 2), parties.nonce()
    session = parties.KeySession(context, contacts.roster(), "north", nonce=number, products=False, rotations=[])
    impostor = parties.Identity.generate("south")
    with pytest.raises(errors.PartySetting, match="identity"):
        parties.tls(session, impostor, contacts)
    with pytest.raises(errors.PartySetting, match="east"):
        parties.tls(session, parties.Identity.generate("east"), contacts)
    with pytest.raises(errors.PartyChannel):
        parties.folder(session, identities["north"], contacts, tmp_path / "nowhere")
    # Somebody who calls himself south, with cards of his own.
    other = parties.Contacts([identities["north"].card(), impostor.card()])
    theirs = parties.KeySession(context, contacts.roster(), "south", nonce=number, products=False, rotations=[])
    told: list[str] = []
    shared = tmp_path / "shared"
    shared.mkdir()
    with parties.folder(theirs, impostor, other, shared) as wrong, parties.folder(session, identities["north"], contacts, shared, poll=0.01) as link:
        wrong.send(theirs.message)
        with pytest.raises(errors.PartyMissing, match="south"):
            session.run(link, timeout=0.5, refused=lambda error: told.append(f"{type(error).__name__}: {error}"))
    assert told and all(text.startswith("PartyPeer") for text in told)
    with pytest.raises(errors.SessionClosed):
        link.send(b"late")


def test_identities_and_cards(tmp_path: Path) -> None:
    identities, contacts = world(NAMES[:2], True)
    north = identities["north"]
    north.save(tmp_path / "north")
    assert (tmp_path / "north").stat().st_mode & 0o777 == 0o600
    with pytest.raises(errors.SunziError):
        north.save(tmp_path / "north")
    again = parties.Identity.load(tmp_path / "north")
    assert again.name == "north" and again.card(None) == north.card(None) != identities["south"].card(None)
    (tmp_path / "north").chmod(0o644)
    with pytest.raises(errors.SunziError, match="others|mode|read"):
        parties.Identity.load(tmp_path / "north")
    card = north.card("north.example:7411")
    card.save(tmp_path / "card")
    assert parties.Card.load(tmp_path / "card") == card and card.address == "north.example:7411" and card.fingerprint == north.card(None).fingerprint
    assert contacts.roster().names == NAMES[:2] and contacts.roster(2).threshold == 2 and len(contacts.fingerprint.split()) == 8
    assert "SECRET" in repr(north) and card.fingerprint in repr(card) and contacts.fingerprint in repr(contacts)
    for text in ("", "{}", card.to_json()[:-3]):
        with pytest.raises(errors.SunziError):
            parties.Card.from_json(text)
    with pytest.raises(errors.PartySetting):
        parties.Contacts([card, card])
    with pytest.raises(errors.PartySetting):
        parties.Identity.generate("")
