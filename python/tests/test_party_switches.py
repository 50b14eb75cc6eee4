"""Switches by shares to the public key of somebody else, who alone decrypts, and what is refused."""

from __future__ import annotations

import re
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


def switched(
    holders: dict[str, parties.Decryptor], array: sunzi.EncryptedArray, target: sunzi.PublicKeys, noise: float, quorum: Optional[Sequence[str]] = None
) -> sunzi.EncryptedArray:
    """The array under the other key, by the answers of all or of a quorum."""
    switching = next(iter(holders.values())).switching(array, target, noise=noise, quorum=quorum, purpose="a test")
    for me in quorum or holders:
        assert me in switching.missing
        assert switching.receive(me, holders[me].switch(switching.request, array, target, noise=noise))
    assert switching.missing == ()
    return switching.switched()


@pytest.fixture(scope="module")
def trio() -> Everybody:
    """Three parties of one BFV context."""
    return keys_of(context_of("bfv", 3), parties.Roster(NAMES), products=False, rotations=[])


@pytest.mark.parametrize("scheme", ["bfv", "bgv", "ckks"])
@pytest.mark.parametrize("threshold", [3, 2])
def test_somebody_else_decrypts(scheme: str, threshold: int) -> None:
    """A product of what parties encrypted is the recipient's, who goes on computing with it; the parties cannot open that."""
    context = context_of(scheme, 3)
    keys = keys_of(context, parties.Roster(NAMES, threshold), rotations=[])
    x, y = (np.array([[3, -1], [2, 0]]), np.array([[5, 4], [-2, 5]])) if scheme != "ckks" else (np.array([[0.5, -1], [0.25, 0]]), np.array([[1, 0.5], [-0.5, 0.75]]))
    bounds = (-5, 5) if scheme != "ckks" else None
    a, b = (keys[me].encrypt(values, bounds=bounds) for me, values in zip(NAMES, (x, y)))

    def product(one: Any, other: Any) -> Any:
        return one * other

    array, noise = product(a, b), keys["west"].declared_noise(product, 0 * x, 0 * y, bounds=[bounds] * 2)
    holders, quorum = holders_of(keys), None if threshold == 3 else ["south", "west"]
    doctor = parties.recipient_keys(context)
    got = switched(holders, array, doctor.public, noise, quorum)
    assert got.shape == x.shape and got.dtype == array.dtype and got.context is array.context and got.keys is doctor.public
    assert got.ciphertexts[0].key_id == doctor.id and got.ciphertexts[0].noise > array.ciphertexts[0].noise
    tolerance = 0 if scheme != "ckks" else 2.0**-9
    np.testing.assert_allclose(doctor.decrypt(got), x * y, rtol=0, atol=tolerance)
    np.testing.assert_allclose(doctor.decrypt(got + 1), x * y + 1, rtol=0, atol=tolerance)
    if scheme == "ckks":
        assert got.level == array.level and got.precision is not None and array.precision is not None and got.precision < array.precision
        assert np.abs(doctor.decrypt(got) - x * y).max() <= got.error
    assert sunzi.EncryptedArray.from_bytes(got.to_bytes(), doctor).shape == x.shape
    with pytest.raises(errors.KeyMismatch):
        doctor.decrypt(array)
    if scheme != "ckks":
        later = got.ciphertexts[0].noise
        with pytest.raises(errors.RequestRefused, match="key"):
            holders["south"].answer(holders["south"].opening(got, noise=later, quorum=quorum).request, got, noise=later)
    assert {holder.used for holder in holders.values()} == ({1} if threshold == 3 else {0, 1})


def test_other_parties_get_an_array() -> None:
    """The recipient may be another group of the same parameters, which opens it together."""
    context = context_of("bgv", 2)
    old, new = (keys_of(context, parties.Roster(names), products=False, rotations=[]) for names in (NAMES[:2], ["east", "centre"]))
    array, noise = old["south"].encrypt([3, -4]), old["north"].declared_noise(lambda a: a, [0, 0])
    got = switched(holders_of(old), array, new["east"].public, noise)
    assert opened(holders_of(new), got + 1, (got + 1).ciphertexts[0].noise).tolist() == [4, -3]


def test_arrays_of_several_ciphertexts() -> None:
    context = context_of("bfv", 2, result_bound=2**62)
    keys = keys_of(context, parties.Roster(NAMES[:2]), products=False, rotations=[])
    x = np.arange(-(2**20), 2**20, 2**21 // (context.slots + 3))
    array, noise = keys["south"].encrypt(x), keys["north"].declared_noise(lambda a: a, np.zeros(x.size, int))
    wide = {me: parties.Decryptor(one, queries=100, statistical_bits=20) for me, one in keys.items()}
    doctor = parties.recipient_keys(context)
    got = switched(wide, array, doctor.public, noise)
    count = len(array.ciphertexts) * context._parts
    assert wide["north"].used == count >= 4
    np.testing.assert_array_equal(doctor.decrypt(got), x)


def test_keys_of_recipients(trio: Everybody) -> None:
    context = trio["north"].context
    doctor = parties.recipient_keys(context, products=True, rotations=[1])
    array = doctor.encrypt([3, 4], bounds=(0, 4))
    assert doctor.decrypt(array * array).tolist() == [9, 16] and doctor.decrypt(array.rotate(1)).tolist() == [4, 3]
    back = sunzi.Keys.from_secret(doctor.export_secret(), doctor.public)
    assert back.decrypt(array).tolist() == [3, 4] and parties.recipient_keys(context).id != doctor.id
    told = parties.recipient_fingerprint(doctor.public)
    with sunzi.insecure_for_research_only():
        assert parties.recipient_fingerprint(sunzi.PublicKeys.from_bytes(doctor.public.to_bytes())) == told
    assert re.fullmatch("([0-9a-f]{4} ){7}[0-9a-f]{4}", told) and parties.recipient_fingerprint(parties.recipient_keys(context).public) != told
    with pytest.raises(errors.PartySetting, match=r"sunzi\.keygen"):
        parties.recipient_keys(context_of("bfv", 1))
    with pytest.raises(errors.PartySetting, match="KeySession"):
        sunzi.keygen(context)
    # Keys of other parameters, and what is no key.
    holder, mine = holders_of(trio)["north"], trio["north"].encrypt([1, 2])
    noise = trio["north"].declared_noise(lambda a: a, [0, 0])
    for other in (sunzi.keygen(context_of("bfv", 1)).public, parties.recipient_keys(context_of("bfv", 2)).public):
        with pytest.raises(errors.ContextMismatch, match="recipient_keys"):
            holder.switching(mine, other, noise=noise)
        with pytest.raises(errors.ContextMismatch):
            holder.switch(b"", mine, other, noise=noise)
    with pytest.raises(TypeError, match=r"keys\.public"):
        holder.switching(mine, doctor, noise=noise)  # type: ignore[arg-type]


def test_shares_are_made_once_and_count(trio: Everybody) -> None:
    array, noise = trio["north"].encrypt([5, 6]), trio["north"].declared_noise(lambda a: a, [0, 0])
    doctor, nurse = (parties.recipient_keys(trio["north"].context).public for _ in range(2))
    holders = holders_of(trio)
    north = holders["north"]
    switching = north.switching(array, doctor, noise=noise, purpose="a look")
    asked = north.read(switching.request)
    assert (asked.operation, asked.purpose, asked.noise, asked.parties, asked.ciphertexts) == ("switch", "a look", noise, tuple(NAMES), 1)
    assert asked == switching.asked and "3 of 3" in repr(switching)
    used = north.used
    first = north.switch(switching.request, array, doctor, noise=noise)
    assert north.switch(switching.request, array, doctor, noise=noise) == first and north.used == used + 1
    for again in (north.switching(array, doctor, noise=noise, purpose="another look"), north.switching(array, nurse, noise=noise)):
        target = doctor if again.request.find(b"another") > 0 else nurse
        with pytest.raises(errors.RequestRefused, match="share was given"):
            north.switch(again.request, array, target, noise=noise)
    assert north.used == used + 1
    taken = parties.Switching.of(trio["north"].roster, array, doctor, switching.request, sharing=POLICY)
    assert taken.receive("north", first)
    with pytest.raises(errors.PartyMissing, match="south, west"):
        taken.switched()
    with pytest.raises(errors.RequestRefused, match="whom the result is for"):
        parties.Switching.of(trio["north"].roster, array, nurse, switching.request, sharing=POLICY)
    while north.used < POLICY[0]:
        one = trio["north"].encrypt([5, 6])
        north.switch(north.switching(one, doctor, noise=noise).request, one, doctor, noise=noise)
    one = trio["north"].encrypt([5, 6])
    with pytest.raises(errors.SharingSpent):
        north.switch(north.switching(one, doctor, noise=noise).request, one, doctor, noise=noise)


def test_requests_and_answers_that_are_refused(trio: Everybody) -> None:
    """Nothing is counted for requests that are."""
    array, other = trio["south"].encrypt([1, 2]), trio["south"].encrypt([1, 2])
    noise, holders = trio["south"].declared_noise(lambda a: a, [0, 0]), holders_of(trio)
    doctor, nurse = (parties.recipient_keys(trio["north"].context).public for _ in range(2))
    south, switching = holders["south"], holders["south"].switching(array, doctor, noise=noise)
    used = south.used
    with pytest.raises(errors.RequestRefused, match="whom the result is for"):
        south.switch(switching.request, array, nurse, noise=noise)
    with pytest.raises(errors.RequestRefused, match="the ciphertext"):
        south.switch(switching.request, other, doctor, noise=noise)
    with pytest.raises(errors.RequestRefused, match="noise of the ciphertext"):
        south.switch(south.switching(array, doctor, noise=noise + 1).request, array, doctor, noise=noise)
    # The noise of the result follows from that of the request.
    with pytest.raises(errors.RequestRefused, match="noise of the request"):
        south.switch(switching.request, array, doctor, noise=noise + 1)
    with pytest.raises(errors.NoiseDeclaredTooLow):
        south.switch(switching.request, array, doctor, noise=1.0)
    with pytest.raises(errors.SharingRoom):
        south.switch(switching.request, array, doctor, noise=500.0)
    with pytest.raises(errors.SharingRoom):
        south.switching(array, doctor, noise=500.0)
    with pytest.raises(errors.SharingError):
        south.switch(switching.request, array, doctor, noise=float("nan"))
    with pytest.raises(TypeError, match="encrypted arrays"):
        south.switch(switching.request, np.array([1]), doctor, noise=noise)  # type: ignore[arg-type]
    refreshing = south.refreshing(array, noise=noise)
    with pytest.raises(errors.FormatError, match="request"):
        south.switch(refreshing.request, array, doctor, noise=noise)
    with pytest.raises(errors.FormatError, match="request"):
        south.refresh(switching.request, array, noise=noise)
    with pytest.raises(errors.RequestRefused, match="expected switch, got refresh"):
        parties.Switching.of(trio["south"].roster, array, doctor, refreshing.request, sharing=POLICY)
    for request in (b"", b"nothing", switching.request[:-1], switching.request * 2, array.to_bytes()):
        with pytest.raises(errors.SunziError):
            south.switch(request, array, doctor, noise=noise)
    with pytest.raises(errors.RequestRefused, match="parties asked"):
        south.switching(array, doctor, noise=noise, quorum=["south", "west"])
    assert south.used == used
    answer = south.switch(switching.request, array, doctor, noise=noise)
    refusal("west", "OtherSender", False, lambda: switching.receive("west", answer))
    refusal("south", "Session", False, lambda: holders["west"].switching(other, doctor, noise=noise).receive("south", answer))
    refusal("south", "Session", False, lambda: holders["west"].switching(array, nurse, noise=noise).receive("south", answer))
    for wrong in (answer[:-1], b"", answer * 2, south.answer(south.opening(array, noise=noise).request, array, noise=noise)):
        with pytest.raises(errors.PartyMessage, match="party south"):
            switching.receive("south", wrong)
    with pytest.raises(errors.PartySetting, match="name of a party"):
        switching.receive("nobody", answer)
    assert switching.receive("south", answer) and not switching.receive("south", answer)


def test_a_switch_through_links_after_a_restart(tmp_path: Path) -> None:
    """Keys in folders give the same share again; links between machines take answers of the length of a switch."""
    identities = {name: parties.Identity.generate(name) for name in NAMES[:2]}
    contacts = parties.Contacts([identity.card() for identity in identities.values()])
    context, roster, number, shared = context_of("bgv", 2), contacts.roster(), parties.nonce(), tmp_path / "shared"
    shared.mkdir()
    links = parties.local(roster)
    keys: Everybody = together(
        roster, lambda me: parties.KeySession(context, roster, me, nonce=number, store=tmp_path / me, products=False, rotations=[]).run(links[me])
    )
    doctor = parties.recipient_keys(context)
    array, noise = keys["north"].encrypt([3, 4]), keys["north"].declared_noise(lambda a: a, [0, 0])
    with parties.Decryptor(keys["south"], queries=POLICY[0], statistical_bits=POLICY[1]) as south:
        request = south.switching(array, doctor.public, noise=noise).request
        first = south.switch(request, array, doctor.public, noise=noise)
    loaded = {me: parties.PartyKeys.load(tmp_path / me, roster, me, context=context) for me in roster.names}
    holders = holders_of(loaded)
    assert holders["south"].used == 1 and holders["south"].switch(request, array, doctor.public, noise=noise) == first and holders["south"].used == 1
    asking = holders["north"].switching(array, doctor.public, noise=noise)
    asking.receive("north", holders["north"].switch(asking.request, array, doctor.public, noise=noise))

    def answering() -> None:
        with parties.folder(holders["south"], identities["south"], contacts, shared, poll=0.01) as link:
            sender, asked = link.receive(60) or ("", b"")
            link.send_to(sender, holders["south"].switch(asked, array, doctor.public, noise=noise))

    thread = threading.Thread(target=answering)
    thread.start()
    with parties.folder(holders["north"], identities["north"], contacts, shared, poll=0.01) as link:
        got = asking.run(link, timeout=60)
    thread.join()
    assert doctor.decrypt(got).tolist() == [3, 4]


def test_those_to_whom_a_key_was_handed_on_switch() -> None:
    old = keys_of(context_of("bfv", 3), BEFORE, products=False, rotations=[])
    array, noise = old["north"].encrypt([3, 4]), old["north"].declared_noise(lambda a: a, [0, 0])
    doctor = parties.recipient_keys(old["north"].context)
    new = handed_on(old, opened=0)
    got = switched(holders_of(new), array, doctor.public, noise, ["south", "west"])
    assert doctor.decrypt(got).tolist() == [3, 4]
    with pytest.raises(errors.HandedOn):
        holders_of({"south": old["south"]})["south"].switch(b"", array, doctor.public, noise=noise)
