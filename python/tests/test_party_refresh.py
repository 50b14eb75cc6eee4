"""Refreshes by shares: numbers stay, noise and levels begin anew, more is computed, and what is refused."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

import numpy as np
import pytest
from test_parties import NAMES, POLICY, Everybody, context_of, holders_of, keys_of, opened, refusal, together
from test_party_handing_on import BEFORE, handed_on

import sunzi
from sunzi import errors, parties


def refreshed(holders: dict[str, parties.Decryptor], array: sunzi.EncryptedArray, noise: float, quorum: Optional[Sequence[str]] = None) -> sunzi.EncryptedArray:
    """The fresh array, by the answers of all or of a quorum."""
    refreshing = next(iter(holders.values())).refreshing(array, noise=noise, quorum=quorum, purpose="a test")
    for me in quorum or holders:
        assert me in refreshing.missing
        assert refreshing.receive(me, holders[me].refresh(refreshing.request, array, noise=noise))
    assert refreshing.missing == ()
    return refreshing.refreshed()


@pytest.fixture(scope="module")
def trio() -> Everybody:
    """Three parties of one BFV context, with keys for products."""
    return keys_of(context_of("bfv", 3), parties.Roster(NAMES), rotations=[])


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
@pytest.mark.parametrize("threshold", [3, 2])
def test_integers_are_refreshed(scheme: str, threshold: int) -> None:
    """A product in parameters for one, a refresh, and another product."""
    roster = parties.Roster(NAMES, threshold)
    keys = keys_of(context_of(scheme, 3), roster, rotations=[])
    x, y = np.array([[3, -1], [2, 0]]), np.array([[5, 4], [-2, 5]])
    a, b = (keys[me].encrypt(values, bounds=(-5, 5)) for me, values in zip(NAMES, (x, y)))

    def product(one: Any, other: Any) -> Any:
        return one * other

    before, noise = product(a, b), keys["west"].declared_noise(product, 0 * x, 0 * y, bounds=[(-5, 5)] * 2)
    holders, quorum = holders_of(keys), None if threshold == 3 else ["south", "west"]
    fresh = refreshed(holders, before, noise, quorum)
    assert fresh.shape == x.shape and fresh.dtype == before.dtype and fresh.context is before.context
    assert fresh.ciphertexts[0].noise < a.ciphertexts[0].noise < before.ciphertexts[0].noise
    assert fresh.ciphertexts[0].key_id == keys["north"].id and fresh.level == a.level
    again = product(fresh, a)
    later = keys["west"].declared_noise(product, 0 * x, 0 * x, bounds=[(-25, 25), (-5, 5)])
    np.testing.assert_array_equal(opened(holders, again, later, quorum), x * y * x)
    np.testing.assert_array_equal(opened(holders, before, noise, quorum), x * y)
    assert {holder.used for holder in holders.values()} == ({3} if threshold == 3 else {0, 3})


def test_real_numbers_are_refreshed() -> None:
    """The level is the highest one again; what flooding noise takes is told by the precision."""
    context = sunzi.Context.for_depth(3, precision=10, sums=4, log2_degree=11, parties=3, sharing=POLICY, security=0)
    keys = keys_of(context, parties.Roster(NAMES), rotations=[])
    x = np.array([0.5, -1, 0.25, 0.75, 0])
    a = keys["north"].encrypt(x)

    def square(one: Any) -> Any:
        return one * one

    before, noise = square(a), keys["west"].declared_noise(square, np.ones(5))
    holders = holders_of(keys)
    fresh = refreshed(holders, before, noise)
    assert before.level == 2 and fresh.level == a.level == 3 and fresh.shape == before.shape
    precisions = before.precision, fresh.precision
    assert precisions[0] is not None and precisions[1] is not None and 8 < precisions[1] < precisions[0]
    result, later = square(square(fresh)), keys["south"].declared_noise(lambda one: square(square(one)), np.ones(5))
    got = opened(holders, result, later)
    assert fresh.error < 2.0**-12 and np.abs(got - x**8).max() < 2.0**-10
    assert {holder.used for holder in holders.values()} == {2}


def test_room_and_noise_are_named() -> None:
    context = context_of("ckks", 2)
    keys = keys_of(context, parties.Roster(NAMES[:2]), rotations=[])
    holders, used = holders_of(keys), keys["north"].encrypt([0.5]) * keys["south"].encrypt([0.5])
    noise = keys["north"].declared_noise(lambda a, b: a * b, [0.5], [0.5])
    with pytest.raises(errors.SharingRoom):
        holders["north"].refreshing(used, noise=noise + 400)
    with pytest.raises(errors.NoiseDeclaredTooLow):
        holders["north"].refreshing(used, noise=1.0)
    assert {holder.used for holder in holders.values()} == {0}


def test_parties_of_other_noise_are_refused() -> None:
    """A party whose noise leads to another level would make a share that fits no others."""
    context = sunzi.Context.for_depth(3, precision=10, sums=4, log2_degree=11, parties=2, sharing=POLICY, security=0)
    keys = keys_of(context, parties.Roster(NAMES[:2]), rotations=[], products=False)
    holders = holders_of(keys)
    array, fresh = keys["north"].encrypt([0.5]), keys["north"].declared_noise(lambda a: a, [0.5])
    refreshing, refused = holders["north"].refreshing(array, noise=fresh), 0
    for more in range(2, 160, 6):
        try:
            holders["south"].refresh(refreshing.request, array, noise=fresh + more)
        except errors.RequestRefused as error:
            assert "level at which" in str(error)
            refused += 1
        except errors.SharingRoom:
            break
    assert refused > 0 and holders["north"].used == 0 and holders["south"].used == 1


def test_arrays_of_several_ciphertexts() -> None:
    """Of more numbers than slots, and of integers beyond one plaintext modulus: each ciphertext counts."""
    context = context_of("bfv", 2, result_bound=2**62)
    keys = keys_of(context, parties.Roster(NAMES[:2]), products=False, rotations=[])
    x = np.arange(-(2**20), 2**20, 2**21 // (context.slots + 3))
    array = keys["south"].encrypt(x) * 3
    noise = keys["north"].declared_noise(lambda a: a * 3, np.zeros(x.size, int))
    wide = {me: parties.Decryptor(one, queries=100, statistical_bits=20) for me, one in keys.items()}
    fresh = refreshed(wide, array, noise)
    count = len(array.ciphertexts) * context._parts
    assert wide["north"].used == count >= 4 and len(fresh.ciphertexts) == len(array.ciphertexts)
    np.testing.assert_array_equal(opened(wide, fresh - 1, keys["north"].declared_noise(lambda a: a - 1, 0 * x)), 3 * x - 1)
    back = sunzi.EncryptedArray.from_bytes(fresh.to_bytes(), keys["south"].public)
    assert back.shape == x.shape
    refreshing = wide["north"].refreshing(array, noise=noise)
    assert refreshing.asked.ciphertexts == count and refreshing.asked.operation == "refresh"
    one = refreshing.request[: len(refreshing.request) // count]
    with pytest.raises(errors.RequestRefused, match="expected"):
        wide["south"].refresh(one, array, noise=noise)


def test_shares_are_made_once_and_count(trio: Everybody) -> None:
    array, noise = trio["north"].encrypt([5, 6]), trio["north"].declared_noise(lambda a: a, [0, 0])
    holders = holders_of(trio)
    north = holders["north"]
    refreshing = north.refreshing(array, noise=noise, purpose="a look")
    asked = north.read(refreshing.request)
    assert (asked.operation, asked.purpose, asked.noise, asked.parties) == ("refresh", "a look", noise, tuple(NAMES)) and asked == refreshing.asked
    assert north.read(north.opening(array, noise=noise).request).operation == "open"
    used = north.used
    first = north.refresh(refreshing.request, array, noise=noise)
    assert north.refresh(refreshing.request, array, noise=noise) == first and north.used == used + 1
    # Another request for the same ciphertext would be a second draw.
    with pytest.raises(errors.RequestRefused, match="share was given"):
        north.refresh(north.refreshing(array, noise=noise, purpose="another look").request, array, noise=noise)
    assert north.used == used + 1
    again = parties.Refreshing.of(trio["north"].roster, array, refreshing.request, sharing=POLICY)
    with pytest.raises(errors.PartyMissing, match="south, west"):
        again.refreshed() if again.receive("north", first) else None
    while north.used < POLICY[0]:
        one = trio["north"].encrypt([5, 6])
        north.refresh(north.refreshing(one, noise=noise).request, one, noise=noise)
    one = trio["north"].encrypt([5, 6])
    with pytest.raises(errors.SharingSpent):
        north.refresh(north.refreshing(one, noise=noise).request, one, noise=noise)


def test_requests_and_answers_that_are_refused(trio: Everybody) -> None:
    """Nothing is counted for requests that are."""
    array, other = trio["south"].encrypt([1, 2]), trio["south"].encrypt([1, 2])
    noise, holders = trio["south"].declared_noise(lambda a: a, [0, 0]), holders_of(trio)
    south, refreshing = holders["south"], holders["south"].refreshing(array, noise=noise)
    used = south.used
    with pytest.raises(errors.RequestRefused, match="the ciphertext"):
        south.refresh(refreshing.request, other, noise=noise)
    with pytest.raises(errors.RequestRefused, match="noise of the ciphertext"):
        south.refresh(south.refreshing(array, noise=noise + 1).request, array, noise=noise)
    with pytest.raises(errors.NoiseDeclaredTooLow):
        south.refresh(refreshing.request, array, noise=1.0)
    with pytest.raises(errors.SharingRoom):
        south.refresh(refreshing.request, array, noise=500.0)
    with pytest.raises(errors.SharingError):
        south.refresh(refreshing.request, array, noise=float("nan"))
    with pytest.raises(TypeError, match="encrypted arrays"):
        south.refresh(refreshing.request, np.array([1]), noise=noise)  # type: ignore[arg-type]
    # A request to open is none to refresh, and the other way round.
    opening = south.opening(array, noise=noise)
    with pytest.raises(errors.FormatError, match="request"):
        south.refresh(opening.request, array, noise=noise)
    with pytest.raises(errors.FormatError, match="request"):
        south.answer(refreshing.request, array, noise=noise)
    with pytest.raises(errors.RequestRefused, match="expected refresh, got open"):
        parties.Refreshing.of(trio["south"].roster, array, opening.request, sharing=POLICY)
    with pytest.raises(errors.RequestRefused, match="expected open, got refresh"):
        parties.Opening.of(trio["south"].roster, array, refreshing.request, sharing=POLICY)
    for request in (b"", b"nothing", refreshing.request[:-1], array.to_bytes()):
        with pytest.raises(errors.SunziError):
            south.refresh(request, array, noise=noise)
    for quorum in (["south"], ["south", "west"]):
        with pytest.raises(errors.RequestRefused, match="parties asked"):
            south.refreshing(array, noise=noise, quorum=quorum)
    with pytest.raises(errors.PartySetting, match="32 bytes"):
        south.refreshing(array, noise=noise, program=b"short")
    assert south.used == used
    answer = south.refresh(refreshing.request, array, noise=noise)
    refusal("west", "OtherSender", False, lambda: refreshing.receive("west", answer))
    refusal("south", "Session", False, lambda: holders["west"].refreshing(other, noise=noise).receive("south", answer))
    for wrong in (answer[:-1], b"", answer * 2):
        with pytest.raises(errors.PartyMessage, match="party south"):
            refreshing.receive("south", wrong)
    with pytest.raises(errors.PartyMessage, match="party south"):
        refreshing.receive("south", south.answer(opening.request, array, noise=noise))
    with pytest.raises(errors.PartySetting, match="name of a party"):
        refreshing.receive("nobody", answer)
    assert refreshing.receive("south", answer) and not refreshing.receive("south", answer)


def test_a_refresh_through_links_after_a_restart(tmp_path: Path) -> None:
    """Keys in folders give the same share again; links between machines take answers of the length of a refresh."""
    identities = {name: parties.Identity.generate(name) for name in NAMES[:2]}
    contacts = parties.Contacts([identity.card() for identity in identities.values()])
    context, roster, number, shared = context_of("bgv", 2), contacts.roster(), parties.nonce(), tmp_path / "shared"
    shared.mkdir()
    links = parties.local(roster)
    keys: Everybody = together(
        roster, lambda me: parties.KeySession(context, roster, me, nonce=number, store=tmp_path / me, rotations=[]).run(links[me])
    )
    array, noise = keys["north"].encrypt([3, 4], bounds=(0, 4)), keys["north"].declared_noise(lambda a: a, [0, 0], bounds=[(0, 4)])
    with parties.Decryptor(keys["south"], queries=POLICY[0], statistical_bits=POLICY[1]) as south:
        request = south.refreshing(array, noise=noise).request
        first = south.refresh(request, array, noise=noise)
    loaded = {me: parties.PartyKeys.load(tmp_path / me, roster, me, context=context) for me in roster.names}
    holders = holders_of(loaded)
    assert holders["south"].used == 1 and holders["south"].refresh(request, array, noise=noise) == first and holders["south"].used == 1
    asking = holders["north"].refreshing(array, noise=noise)
    asking.receive("north", holders["north"].refresh(asking.request, array, noise=noise))

    def answering() -> None:
        with parties.folder(holders["south"], identities["south"], contacts, shared, poll=0.01) as link:
            sender, asked = link.receive(60) or ("", b"")
            link.send_to(sender, holders["south"].refresh(asked, array, noise=noise))

    thread = threading.Thread(target=answering)
    thread.start()
    with parties.folder(holders["north"], identities["north"], contacts, shared, poll=0.01) as link:
        fresh = asking.run(link, timeout=60)
    thread.join()
    later = keys["north"].declared_noise(lambda a: a * a, [0, 0], bounds=[(0, 4)])
    assert opened(holders, fresh * fresh, later).tolist() == [9, 16]


def test_those_to_whom_a_key_was_handed_on_refresh() -> None:
    """Two of three, and two who both decrypt; a request of those before them is none of theirs."""
    old = keys_of(context_of("bgv", 3), BEFORE, rotations=[])
    before = holders_of(old)
    array, noise = old["north"].encrypt([3, 4], bounds=(0, 4)), old["north"].declared_noise(lambda a: a, [0, 0], bounds=[(0, 4)])
    request = before["south"].refreshing(array, noise=noise, quorum=["south", "west"])
    share = before["south"].refresh(request.request, array, noise=noise)
    new = handed_on(old, opened=1)
    holders = holders_of(new)
    asking = holders["east"].refreshing(array, noise=noise, quorum=["south", "west"])
    refusal("south", "Session", False, lambda: asking.receive("south", share))
    fresh = refreshed(holders, array, noise, ["south", "west"])
    pair = handed_on(new, before=new["east"].roster, dealers=["east", "south"], to=parties.Roster(["east", "north"]), opened=2)
    both = holders_of(pair)
    fresh = refreshed(both, fresh * fresh, old["north"].declared_noise(lambda a: a * a, [0, 0], bounds=[(0, 4)]))
    assert opened(both, fresh, noise).tolist() == [9, 16]
    assert {holder.used for holder in both.values()} == {4}
