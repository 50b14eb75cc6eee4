"""Keys that are handed on: parties join and leave, old keys answer nothing, restarts, and what is refused."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Optional

import numpy as np
import pytest
from test_parties import NAMES, POLICY, Everybody, context_of, holders_of, keys_of, opened, products, refusal, together

from sunzi import errors, parties

BEFORE = parties.Roster(NAMES, 2)
#: North leaves, east joins.
TO = parties.Roster(["east", "south", "west"], 2)
DEALERS = ["north", "west"]


def everybody(to: parties.Roster, dealers: Sequence[str]) -> parties.Roster:
    """All who take part: those who get shares, and the dealers that leave."""
    return parties.Roster([*to.names, *(name for name in dealers if name not in to)])


def handing_on(
    me: str, keys: Everybody, number: bytes, /, *, before: parties.Roster = BEFORE, dealers: Sequence[str] = DEALERS, to: parties.Roster = TO, **settings: Any
) -> parties.HandingOn:
    common: dict[str, Any] = {
        "keys": keys.get(me), "public": next(iter(keys.values())).public, "queries": POLICY[0], "statistical_bits": POLICY[1], "opened": 0, **settings
    }
    return parties.HandingOn(before, dealers, to, me, nonce=number, **common)


def handed_on(
    keys: Everybody, *, before: parties.Roster = BEFORE, dealers: Sequence[str] = DEALERS, to: parties.Roster = TO, folder: Optional[Path] = None, **settings: Any
) -> Everybody:
    """The keys of those who get shares, over links among threads."""
    number, all_of = parties.nonce(), everybody(to, dealers)
    links = parties.local(all_of)

    def party(me: str) -> Optional[parties.PartyKeys]:
        store = None if folder is None else folder / me
        return handing_on(me, keys, number, before=before, dealers=dealers, to=to, store=store, **settings).run(links[me])

    return {me: new for me, new in together(all_of, party).items() if new is not None}


def by_hand(parts: dict[str, parties.HandingOn], until: int = 3) -> None:
    """The steps of a handing on: messages, confirmations, the end."""
    for me, part in parts.items():
        for other in part.roster.names:
            if me in DEALERS and other != me:
                assert parts[other].receive(me, part.message_for(other))
    if until < 2:
        return
    for part in parts.values():
        assert part.missing == ()
        part.advance()
    for me, other in itertools.permutations(parts, 2):
        parts[other].receive(me, parts[me].message)
    if until == 3:
        for part in parts.values():
            part.finish()


@pytest.fixture(scope="module")
def dealt() -> Everybody:
    """Shares of a threshold in memory, which no test hands on by itself: ``again`` gives others of the same parties."""
    return keys_of(context_of("bfv", 3), BEFORE, products=False, rotations=[])


def again(keys: Everybody, folder: Path) -> Everybody:
    """The same keys in folders of their own."""
    loaded = {}
    for me, one in keys.items():
        one._folder = None
        one.save(folder / me)
        one._folder = None
        loaded[me] = parties.PartyKeys.load(folder / me, BEFORE, me, context=one.context)
    return loaded


@pytest.mark.parametrize("scheme", ["bfv", "bgv", "ckks"])
def test_results_are_right_with_every_quorum(scheme: str) -> None:
    """Of what was encrypted and computed before and after; the new parties hand on to two who both decrypt, who hold shares too."""
    keys = keys_of(context_of(scheme, 3), BEFORE)
    exact = scheme != "ckks"
    x, y = (np.array([3, -1, 2, 0]), np.array([1, 4, -2, 5])) if exact else (np.array([0.5, -1, 0.25, 0]), np.array([1, 0.5, -0.5, 0.75]))
    bounds = (-5, 5) if exact else None
    a, b = (keys["north"].encrypt(values, bounds=bounds) for values in (x, y))
    results, expected = products(a, b), {"product": x * y, "dot": x @ y, "shifted": np.roll(x, -1) + y}
    new = handed_on(keys)
    assert sorted(new) == sorted(TO.names) and {one.id for one in new.values()} == {keys["north"].id}
    assert all(one.is_share and one.roster == next(iter(new.values())).roster for one in new.values())
    noises = new["east"].declared_noise(products, np.zeros(4, x.dtype), np.zeros(4, x.dtype), bounds=[bounds] * 2)
    results["later"], expected["later"] = new["east"].encrypt(x, bounds=bounds) * b, x * y
    noises["later"] = noises["product"]
    holders = holders_of(new)
    quorums = [list(two) for two in itertools.combinations(TO.names, 2)]
    for quorum, (name, result) in zip(quorums * 2, results.items()):
        np.testing.assert_allclose(opened(holders, result, noises[name], quorum), expected[name], rtol=0, atol=0 if exact else 2.0**-9)
    # Once more, to two of whom both decrypt: east goes, north is back.
    roster, last = new["east"].roster, parties.Roster(["west", "north"])
    counted = max(holder.used for holder in holders.values())
    third = handed_on(new, before=roster, dealers=["east", "south"], to=last, opened=counted)
    assert all(one.is_share and one.roster.has_shares and one.roster.threshold == 2 for one in third.values())
    holders = holders_of(third)
    np.testing.assert_allclose(opened(holders, results["product"], noises["product"]), x * y, rtol=0, atol=0 if exact else 2.0**-9)
    assert {holder.used for holder in holders.values()} == {counted + 1}


def test_old_keys_answer_nothing_and_are_erased() -> None:
    keys = keys_of(context_of("bfv", 3), BEFORE, products=False, rotations=[])
    array, noise = keys["north"].encrypt([5, 6]), keys["north"].declared_noise(lambda a: a, [0, 0])
    holder = parties.Decryptor(keys["west"], queries=POLICY[0], statistical_bits=POLICY[1])
    request = holder.opening(array, noise=noise, quorum=DEALERS).request
    for one in keys.values():
        with pytest.raises(errors.PartySetting, match="in use"):
            one.erase()
    number = parties.nonce()
    parts = {me: handing_on(me, keys, number) for me in everybody(TO, DEALERS).names}
    by_hand(parts, until=2)
    # Until all confirmed, what is there answers.
    first = holder.answer(request, array, noise=noise)
    assert first == holder.answer(request, array, noise=noise)
    made = {me: part.finish() for me, part in parts.items()}
    assert made["north"] is None and parts["north"].finish() is None
    new: Everybody = {me: one for me, one in made.items() if one is not None}
    where = f"handed on to east, south, west in session {parts['north'].name}"
    for act in (
        lambda: holder.answer(request, array, noise=noise),
        lambda: holder.refresh(request, array, noise=noise),
        lambda: parties.Decryptor(keys["north"], queries=POLICY[0], statistical_bits=POLICY[1]),
        lambda: handing_on("north", keys, parties.nonce()),
        lambda: parties.Dealing(keys["south"], nonce=parties.nonce()),
    ):
        with pytest.raises(errors.HandedOn, match=where):
            act()
    assert "handed on" in repr(keys["north"])
    # West answered once more than was agreed on before all confirmed: its new ledger counts it.
    holders = holders_of(new)
    assert {me: holder.used for me, holder in holders.items()} == {"east": 0, "south": 0, "west": 1}
    # A request of the parties of before is none of those after them, nor is an answer.
    with pytest.raises(errors.PartyMessage) as refused:
        holders["west"].opening(array, noise=noise, quorum=["south", "west"]).receive("west", first)
    assert refused.value.fault == "Session"
    np.testing.assert_array_equal(opened(holders, array, noise, ["east", "south"]), [5, 6])
    for one in keys.values():
        one.erase()
        one.erase()
    assert "nothing of the secret" in repr(keys["north"]) and keys["north"].me == "north" and keys["north"].is_share
    with pytest.raises(errors.HandedOn):
        keys["north"].save("nowhere")


def test_a_party_without_part_retires_itself(dealt: Everybody, tmp_path: Path) -> None:
    keys = again(dealt, tmp_path)
    roster = parties.Roster(["east", "west"], handed_on=bytes(range(32)))
    with pytest.raises(errors.PartySetting, match="nothing was handed on"):
        keys["south"].retire(TO)
    keys["south"].retire(roster)
    for one in (keys["south"], parties.PartyKeys.load(tmp_path / "south", BEFORE, "south", context=keys["south"].context)):
        with pytest.raises(errors.HandedOn, match="east, west"):
            parties.Decryptor(one)
    keys["south"].erase()
    with pytest.raises(errors.HandedOn, match="erased"):
        parties.PartyKeys.load(tmp_path / "south", BEFORE, "south", context=keys["south"].context)
    assert sorted(path.name for path in (tmp_path / "south").iterdir()) == ["handed-on-to", "public.sz", "sharing.sz"]


def test_a_restart_goes_on(dealt: Everybody, tmp_path: Path) -> None:
    """At every step, dealers without their keys; then keys, ledger and old folders are what they should be."""
    keys, number = again(dealt, tmp_path / "old"), parties.nonce()
    names = everybody(TO, DEALERS).names
    settings: dict[str, Any] = {"opened": 2}

    def begun(who: Everybody) -> dict[str, parties.HandingOn]:
        return {me: handing_on(me, who, number, store=tmp_path / me, **settings) for me in names}

    parts = begun(keys)
    piece = parts["north"].message_for("east")
    with pytest.raises(errors.Io, match="another process"):
        handing_on("north", keys, number, store=tmp_path / "north", **settings)
    for part in parts.values():
        part.close()
    with pytest.raises(errors.SessionClosed):
        parts["north"].message_for("east")
    # Whoever dealt needs its keys no more; whoever has neither says so.
    public = {"nobody": keys["north"]}
    parts = begun(public)
    assert parts["north"].message_for("east") == piece
    with pytest.raises(errors.PartySetting, match="neither"):
        handing_on("north", public, parties.nonce(), store=tmp_path / "new", **settings)
    by_hand(parts, until=1)
    for part in parts.values():
        part.close()
    parts = begun(keys)
    assert all(part.missing == () for part in parts.values())
    for part in parts.values():
        part.advance()
    assert parts["north"].message_for("east") == piece
    with parts["east"] as part:
        confirmation = part.message
    parts["east"] = handing_on("east", keys, number, store=tmp_path / "east", **settings)
    parts["east"].advance()
    assert parts["east"].message == confirmation
    for me, other in itertools.permutations(names, 2):
        parts[other].receive(me, parts[me].message)
    # All confirmed, and west stops before its keys are there; it goes on alone, from its records, with its old keys or without.
    parts["west"]._inner.finish()
    parts["west"].close()
    west = handing_on("west", keys, number, store=tmp_path / "west", **settings)
    west.advance()
    made = {me: (west if me == "west" else part).finish() for me, part in parts.items()}
    made["west"] = handed_again(west, keys, number, tmp_path / "west", settings)
    roster = parties.Roster(TO.names, 2, handed_on=bytes.fromhex(west.name))
    assert roster == west.roster and roster.handed_on == bytes.fromhex(west.name)
    loaded = {me: parties.PartyKeys.load(tmp_path / me, roster, me, context=keys["north"].context) for me in TO.names}
    array, noise = keys["north"].encrypt([7, 8]), keys["north"].declared_noise(lambda a: a, [0, 0])
    for quorum in (["east", "west"], ["south", "west"], ["east", "south"]):
        holders = holders_of(loaded)
        np.testing.assert_array_equal(opened(holders, array, noise, quorum), [7, 8])
    # The ledgers went on from the two that were agreed on, and a quorum is a draw of its own.
    assert {me: holder.used for me, holder in holders.items()} == {"east": 4, "south": 4, "west": 4}
    for one in ({**keys}, loaded):
        for holding in one.values():
            holding._close_decryptor()
    wrong = parties.Roster(TO.names, 2, handed_on=bytes(32))
    for unlike in (TO, wrong):
        with pytest.raises(errors.PartySetting, match=west.name):
            parties.PartyKeys.load(tmp_path / "east", unlike, "east", context=keys["north"].context)
    with pytest.raises(errors.PartySetting, match="no handed_on"):
        parties.PartyKeys.load(tmp_path / "old" / "west", roster, "west", context=keys["north"].context)
    with pytest.raises(errors.Sharing, match="promises 6"):
        parties.Decryptor(loaded["east"])
    for me in NAMES:
        keys[me].erase()
        assert not list((tmp_path / "old" / me).glob("share*/*")) and not (tmp_path / "old" / me / "share.sz").exists()
    assert not (tmp_path / "north" / "share.sz").exists()


def handed_again(first: parties.HandingOn, keys: Everybody, number: bytes, store: Path, settings: dict[str, Any]) -> Optional[parties.PartyKeys]:
    """What a party makes of its records that has finished already."""
    first.close()
    part = handing_on(first.me, keys, number, store=store, **settings)
    part.advance()
    with pytest.raises(errors.PartySetting, match="confirmed it"):
        part.message_for("east")
    return part.finish()


def test_wrong_messages_name_their_sender(dealt: Everybody, tmp_path: Path) -> None:
    keys, number = again(dealt, tmp_path), parties.nonce()
    names = everybody(TO, DEALERS).names
    settings: dict[str, dict[str, Any]] = {me: {"store": tmp_path / f"new {me}"} for me in names}
    parts = {me: handing_on(me, keys, number, **settings[me]) for me in names}
    others = {me: handing_on(me, keys, parties.nonce(), store=tmp_path / f"other {me}") for me in names}
    east, south, north = parts["east"], parts["south"], parts["north"]
    assert east.missing == ("west", "north") and north.missing == () and east.parties == tuple(names)
    piece = north.message_for("east")
    refusal("west", "OtherSender", False, lambda: east.receive("west", piece))
    refusal("north", "Session", False, lambda: east.receive("north", others["north"].message_for("east")))
    # What was opened so far is part of what all agree on.
    disagreeing = handing_on("north", keys, number, store=tmp_path / "disagreeing", opened=1)
    refusal("north", "Session", False, lambda: east.receive("north", disagreeing.message_for("east")))
    refusal("north", "Malformed", False, lambda: east.receive("north", piece[:-1]))
    refusal("north", "Malformed", False, lambda: east.receive("north", b""))
    refusal("north", "Kind", False, lambda: east.receive("north", keys["north"].public.to_bytes()))
    # One that deals nothing, one that is on neither roster.
    refusal("south", "OtherSender", False, lambda: east.receive("south", piece))
    with pytest.raises(errors.PartySetting, match="name of a party"):
        east.receive("nobody", piece)
    for sender, party, why in ((north, "north", "itself"), (east, "south", "no dealer"), (north, "nobody", "name of a party"), (parts["west"], "north", "gets no share")):
        with pytest.raises(errors.PartySetting, match=why):
            sender.message_for(party)
    for act in (east.advance, east.finish):
        with pytest.raises(errors.PartyMissing, match="west, north"):
            act()
    with pytest.raises(errors.PartySetting, match="advance"):
        _ = east.message
    assert east.receive("north", piece) and not east.receive("north", piece)
    # A confirmation may come before the last piece: it is told by its round.
    north.advance()
    refusal("north", "Early", False, lambda: east.receive("north", north.message))
    assert east.receive("west", parts["west"].message_for("east"))
    with pytest.raises(errors.PartySetting, match="nobody has confirmed"):
        east.finish()
    east.advance()
    assert not east.receive("north", piece) and east.receive("north", north.message)
    with pytest.raises(errors.PartyMissing, match="south, west"):
        east.finish()
    # A piece for somebody else ends the session, for good.
    refusal("north", "Content", True, lambda: south.receive("north", piece))
    for refused in (lambda: south.receive("north", north.message_for("south")), lambda: handing_on("south", keys, number, **settings["south"])):
        with pytest.raises((errors.SessionAborted, errors.Io)):
            refused()
    south.close()
    with pytest.raises(errors.SessionAborted):
        handing_on("south", keys, number, **settings["south"])


def test_settings_that_do_not_fit(dealt: Everybody, tmp_path: Path) -> None:
    number, own = parties.nonce(), keys_of(context_of("bfv", 3), parties.Roster(NAMES), products=False, rotations=[])

    def setting(what: str, **settings: Any) -> Callable[[], None]:
        def act() -> None:
            with pytest.raises(errors.PartySetting, match=what):
                handing_on(settings.pop("me", "north"), settings.pop("parties", dealt), number, **settings)

        return act

    setting("2 of 3", dealers=["north"])()
    setting("2 of 3", dealers=NAMES)()
    setting("2 of 3", dealers=["west", "west"])()
    setting("name of a party", dealers=["north", "east"])()
    setting("name of a party", me="nobody", keys=None)()
    setting("share of north, got that of west", keys=dealt["west"])()
    setting("own secret", parties=own)()
    setting("roster before", before=parties.Roster(NAMES, 2, handed_on=bytes(32)))()
    setting("neither", keys=None, public=None)()
    setting("public keys of", public=own["north"].public)()
    setting("roster with a threshold", before=parties.Roster(NAMES), keys=None)()
    setting("at most 3", to=parties.Roster(["a", "b", "c", "d"]))()
    setting("without handed_on", to=parties.Roster(TO.names, handed_on=bytes(32)))()
    setting("records of this session", keys=None)()
    for wrong in (b"short", bytes(33)):
        with pytest.raises(errors.PartySetting, match="32"):
            handing_on("north", dealt, wrong)
        with pytest.raises(errors.PartySetting, match="32"):
            parties.Roster(NAMES, 2, handed_on=wrong)
    with pytest.raises(TypeError, match="list of names"):
        handing_on("north", dealt, number, dealers="north")
    for counts, error in (
        ({"opened": 7}, errors.SharingSpent), ({"opened": -1}, errors.Sharing), ({"queries": 0}, errors.SharingError),
        ({"statistical_bits": 10**6}, errors.SharingError), ({"statistical_bits": -1}, errors.Sharing), ({"queries": 2**64}, errors.Sharing),
        ({"opened": 1.5}, TypeError), ({"opened": True}, TypeError),
    ):
        with pytest.raises(error):
            handing_on("north", dealt, number, **counts)
    # A folder of other keys, none for keys in a folder, and one of another session.
    loaded = again(dealt, tmp_path)
    with pytest.raises(errors.PartySetting, match="of its own"):
        handing_on("north", loaded, number, store=tmp_path / "north")
    with pytest.raises(errors.PartySetting, match="of its own"):
        handing_on("east", loaded, number, store=tmp_path / "north")
    with pytest.raises(errors.PartySetting, match="would lose them"):
        handing_on("north", loaded, number)
    handing_on("north", loaded, number, store=tmp_path / "new").close()
    with pytest.raises(errors.PartyRecords):
        handing_on("north", loaded, parties.nonce(), store=tmp_path / "new")


def test_ledgers_go_on() -> None:
    """A party that opened more than was agreed on says so, and another policy is refused; what was opened counts."""
    keys = keys_of(context_of("bfv", 3), BEFORE, products=False, rotations=[])
    arrays, noise = [keys["north"].encrypt([5, 6]) for _ in range(3)], keys["north"].declared_noise(lambda a: a, [0, 0])
    holders = holders_of(keys)
    for array in arrays[:2]:
        np.testing.assert_array_equal(opened(holders, array, noise, ["south", "west"]), [5, 6])
    number = parties.nonce()
    with pytest.raises(errors.Ledger, match="counts 2, and 1 were agreed on"):
        handing_on("south", keys, number, opened=1)
    with pytest.raises(errors.Sharing, match="promises 6"):
        handing_on("south", keys, number, queries=7, opened=2)
    first = handing_on("north", keys, number, opened=5)
    with pytest.raises(errors.PartySetting, match="second handing on"):
        handing_on("north", keys, number, opened=5)
    for holder in (first, keys["north"]):
        with pytest.raises(TypeError):
            pickle.dumps(holder)
        with pytest.raises(TypeError):
            copy.deepcopy(holder)
    new = handed_on(keys, opened=5)
    with pytest.raises(errors.Sharing, match="promises 6"):
        parties.Decryptor(new["east"])
    fresh = holders_of(new)
    assert {holder.used for holder in fresh.values()} == {5}
    np.testing.assert_array_equal(opened(fresh, arrays[2], noise, ["east", "west"]), [5, 6])
    array = keys["north"].encrypt([1])
    with pytest.raises(errors.SharingSpent):
        fresh["east"].answer(fresh["east"].opening(array, noise=noise, quorum=["east", "west"]).request, array, noise=noise)
    with pytest.raises(errors.Ledger, match="in memory"):
        new["west"].save("nowhere")


def test_keys_in_memory_may_be_saved_after_it(dealt: Everybody, tmp_path: Path) -> None:
    new = handed_on(again(dealt, tmp_path / "old"), opened=3, folder=tmp_path / "new")
    saved = parties.PartyKeys.load(tmp_path / "new" / "south", new["south"].roster, "south", context=new["south"].context)
    assert parties.Decryptor(saved, queries=POLICY[0], statistical_bits=POLICY[1]).used == 3
    kept = keys_of(context_of("bfv", 3), BEFORE, products=False, rotations=[])
    later = handed_on(kept, opened=4)["east"]
    later.save(tmp_path / "east")
    assert parties.Decryptor(later, queries=POLICY[0], statistical_bits=POLICY[1]).used == 4


def test_through_a_shared_folder(dealt: Everybody, tmp_path: Path) -> None:
    """Between machines, and a party that is silent is named."""
    names = everybody(TO, DEALERS).names
    identities = {name: parties.Identity.generate(name) for name in names}
    contacts = parties.Contacts([identity.card() for identity in identities.values()])
    keys, number, shared = again(dealt, tmp_path / "old"), parties.nonce(), tmp_path / "shared"
    shared.mkdir()

    def party(me: str) -> Optional[parties.PartyKeys]:
        part = handing_on(me, keys, number, store=tmp_path / me)
        with part, parties.folder(part, identities[me], contacts, shared, poll=0.01) as link:
            if me == "east":
                with pytest.raises(errors.PartyMissing, match="from"):
                    part.run(link, timeout=0)
            return part.run(link, timeout=60)

    new = {me: one for me, one in together(contacts.roster(), party).items() if one is not None}
    array, noise = keys["north"].encrypt([9]), keys["north"].declared_noise(lambda a: a, [0])
    assert opened(holders_of(new), array, noise, ["east", "west"]).tolist() == [9]
