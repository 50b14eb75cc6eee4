"""Several parties: keys together, results by shares, thresholds, restarts, and what is refused."""

from __future__ import annotations

import copy
import os
import pickle
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Optional

import numpy as np
import numpy.typing as npt
import pytest

import sunzi
from sunzi import errors, parties

#: The policy of all ledgers here.
POLICY = (6, 20)
NAMES = ["north", "south", "west"]
Everybody = dict[str, parties.PartyKeys]


def context_of(scheme: str, count: int, **asked: Any) -> sunzi.Context:
    """One product, and room for shared results."""
    common: dict[str, Any] = {"parties": count, "sharing": POLICY, "security": 0, "result_bound": 2**12, **asked}
    if scheme == "ckks":
        return sunzi.Context.for_depth(1, precision=12, log2_degree=11, sums=4, **common)
    return sunzi.Context.for_depth(1, dtype=int, scheme=scheme, log2_degree=11, sums=4, **common)  # type: ignore[arg-type]


def together(roster: parties.Roster, act: Callable[[str], Any]) -> dict[str, Any]:
    """What every party does in a thread of its own; their errors come out here."""
    done: dict[str, Any] = {}

    def party(me: str) -> None:
        try:
            done[me] = act(me)
        except BaseException as error:
            done[me] = error

    threads = [threading.Thread(target=party, args=(me,)) for me in roster.names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for outcome in done.values():
        if isinstance(outcome, BaseException):
            raise outcome
    return done


def keys_of(context: sunzi.Context, roster: parties.Roster, **settings: Any) -> Everybody:
    """Keys over links among threads; the share of a threshold where the roster has one, over the same links."""
    number, dealt, links = parties.nonce(), parties.nonce(), parties.local(roster)

    def party(me: str) -> parties.PartyKeys:
        keys = parties.KeySession(context, roster, me, nonce=number, **settings).run(links[me])
        return keys if roster.threshold == len(roster) else parties.Dealing(keys, nonce=dealt).run(links[me])

    return together(roster, party)


def holders_of(keys: Everybody) -> dict[str, parties.Decryptor]:
    return {me: parties.Decryptor(one, queries=POLICY[0], statistical_bits=POLICY[1]) for me, one in keys.items()}


def opened(holders: dict[str, parties.Decryptor], result: sunzi.EncryptedArray, noise: float, quorum: Optional[Sequence[str]] = None) -> npt.NDArray[Any]:
    """The result, by the answers of all or of a quorum."""
    opening = next(iter(holders.values())).opening(result, noise=noise, quorum=quorum, purpose="a test")
    for me in quorum or holders:
        assert me in opening.missing
        assert opening.receive(me, holders[me].answer(opening.request, result, noise=noise))
    assert opening.missing == ()
    return opening.open()


@pytest.fixture(scope="module")
def trio() -> Everybody:
    """Three parties of one BFV context, with keys for products and sums."""
    return keys_of(context_of("bfv", 3), parties.Roster(NAMES))


def products(x: sunzi.EncryptedArray, y: sunzi.EncryptedArray) -> dict[str, sunzi.EncryptedArray]:
    return {"product": x * y, "dot": x @ y, "shifted": x.rotate(1) + y}


@pytest.mark.parametrize("scheme", ["bfv", "bgv", "ckks"])
@pytest.mark.parametrize(("count", "threshold"), [(2, 2), (3, 3), (3, 2)])
def test_results_are_right(scheme: str, count: int, threshold: int) -> None:
    """What all, or any two of three, open is what numpy says; the server has public keys from bytes."""
    context, roster = context_of(scheme, count), parties.Roster(NAMES[:count], threshold)
    keys = keys_of(context, roster)
    assert len({one.id for one in keys.values()}) == 1
    assert all(one.is_share == (threshold < count) for one in keys.values())
    with sunzi.insecure_for_research_only():
        server = sunzi.PublicKeys.from_bytes(keys["north"].public.to_bytes())
    assert server.context.parties == count
    x, y = (np.array([3, -1, 2, 0]), np.array([1, 4, -2, 5])) if scheme != "ckks" else (np.array([0.5, -1, 0.25, 0]), np.array([1, 0.5, -0.5, 0.75]))
    theirs = [sunzi.EncryptedArray.from_bytes(keys[me].public.encrypt(values, bounds=(-5, 5) if scheme != "ckks" else None).to_bytes(), server) for me, values in zip(NAMES, (x, y))]
    results, holders = products(*theirs), holders_of(keys)
    bounds = [(-5, 5)] * 2 if scheme != "ckks" else None
    noises = [one.declared_noise(products, np.zeros(4, x.dtype), np.zeros(4, x.dtype), bounds=bounds) for one in keys.values()]
    assert all(noise == noises[0] for noise in noises)
    expected = {"product": x * y, "dot": x @ y, "shifted": np.roll(x, -1) + y}
    quorums = [None] if threshold == count else [["north", "west"], ["west", "south"], ["north", "south"]]
    for (name, result), quorum in zip(results.items(), quorums * 3):
        got = opened(holders, result, noises[0][name], quorum)
        np.testing.assert_allclose(got, expected[name], rtol=0, atol=0 if scheme != "ckks" else 2.0**-9)
        assert got.shape == result.shape and got.dtype == result.dtype
    used = [holder.used for holder in holders.values()]
    assert used == [3] * count if threshold == count else sum(used) == 6


def test_arrays_of_several_ciphertexts() -> None:
    """Of more numbers than slots, and of integers beyond one plaintext modulus: each ciphertext counts."""
    context = context_of("bfv", 2, result_bound=2**62)
    keys = keys_of(context, parties.Roster(NAMES[:2]), products=False, rotations=[])
    x = np.arange(-(2**20), 2**20, 2**21 // (context.slots + 3))
    array = keys["south"].encrypt(x) * 3
    noise = keys["north"].declared_noise(lambda a: a * 3, np.zeros(x.size, int))
    holders = holders_of(keys)
    np.testing.assert_array_equal(opened(holders, array, noise), 3 * x)
    count = holders["north"].used
    assert count == len(array.ciphertexts) * context._parts >= 4
    opening = holders["north"].opening(array, noise=noise)
    assert opening.asked.ciphertexts == count
    answer = holders["south"].answer(opening.request, array, noise=noise)
    for wrong, fault in ((answer[:-1], "Malformed"), (answer[: len(answer) // count], "Length")):
        with pytest.raises(errors.PartyMessage, match="party south") as refused:
            opening.receive("south", wrong)
        assert (refused.value.sender, refused.value.fault) == ("south", fault)
    with pytest.raises(errors.RequestRefused, match="expected"):
        holders["south"].answer(opening.request[: len(opening.request) // count], array, noise=noise)
    assert sunzi.Context.from_bytes(context.to_bytes(), insecure_for_research_only=True) == context


# Sessions and what is refused.


def sessions_of(context: sunzi.Context, roster: parties.Roster, number: bytes, folder: Optional[Path] = None, **settings: Any) -> dict[str, parties.KeySession]:
    stores = {me: None if folder is None else folder / me for me in roster.names}
    return {me: parties.KeySession(context, roster, me, nonce=number, store=stores[me], rotations=[1], **settings) for me in roster.names}


def exchange(sessions: dict[str, parties.KeySession]) -> None:
    messages = {me: session.message for me, session in sessions.items()}
    for me, session in sessions.items():
        for sender, message in messages.items():
            if sender != me:
                session.receive(sender, message)


def refusal(sender: str, fault: str, fatal: bool, act: Callable[[], object]) -> None:
    with pytest.raises(errors.PartyMessage, match=f"message of party {sender}") as refused:
        act()
    assert (refused.value.sender, refused.value.fault, refused.value.is_fatal) == (sender, fault, fatal)


def test_wrong_messages_name_their_sender() -> None:
    context, roster, number = context_of("bfv", 3), parties.Roster(NAMES), parties.nonce()
    sessions, others = sessions_of(context, roster, number), sessions_of(context, roster, parties.nonce())
    north, south, west = (sessions[me] for me in NAMES)
    first = {me: session.message for me, session in sessions.items()}
    assert north.round == 1 and list(north.missing) == ["south", "west"] and "of north" in repr(north)
    refusal("west", "OtherSender", False, lambda: north.receive("west", first["south"]))
    refusal("south", "Session", False, lambda: north.receive("south", others["south"].message))
    refusal("south", "Malformed", False, lambda: north.receive("south", b"nothing"))
    refusal("south", "Malformed", False, lambda: north.receive("south", first["south"][:-3]))
    refusal("south", "Kind", False, lambda: north.receive("south", context.to_bytes()))
    with pytest.raises(errors.PartySetting, match="name of a party"):
        north.receive("nobody", first["south"])
    with pytest.raises(errors.PartyMissing, match="south, west"):
        north.advance()
    assert north.receive("south", first["south"]) and not north.receive("south", first["south"])
    exchange(sessions)
    for session in sessions.values():
        session.advance()
    assert north.round == 2 and not north.receive("south", first["south"])
    # A message of the next round may come early, and counts when that begins.
    exchange({"south": south, "west": west})
    south.receive("north", north.message)
    south.advance()
    assert north.receive("south", south.messages[1]) and north.receive("south", south.message)
    assert list(north.missing) == ["west"] and len(south.messages) == 3
    # Somebody who contributes another thing than what it is bound to ends the session, for good.
    reveal = bytearray(west.message)
    refusal("west", "Malformed", False, lambda: north.receive("west", bytes(reveal[:-1] + b"\0")))
    assert north.receive("west", west.message)
    north.advance()
    assert north.round == 3 and list(north.missing) == ["west"]
    north.abort("west is on fire")
    for act in (north.advance, lambda: north.receive("west", west.message), lambda: north.message):
        with pytest.raises(errors.SessionAborted, match="on fire"):
            act()


def test_two_messages_for_one_round_end_a_session(tmp_path: Path) -> None:
    """A party that restarted without its records is somebody else: the session ends, for good, and its secrets are gone."""
    context, roster, number = context_of("bfv", 2), parties.Roster(NAMES[:2]), parties.nonce()
    sessions = sessions_of(context, roster, number, tmp_path)
    forgetful = sessions_of(context, roster, number)["south"]
    north = sessions["north"]
    assert north.receive("south", sessions["south"].message)
    refusal("south", "Conflict", True, lambda: north.receive("south", forgetful.message))
    with pytest.raises(errors.SessionAborted, match="message of party south"):
        north.receive("south", sessions["south"].message)
    for session in sessions.values():
        session.close()
    with pytest.raises(errors.SessionAborted):
        sessions_of(context, roster, number, tmp_path)
    assert not list(tmp_path.glob("north/session/secret*"))


def test_parties_that_were_told_different_things_find_out() -> None:
    """One that shows two faces, each right for itself, is found out in the next round, by whoever hears of it first."""
    context, roster, number = context_of("bfv", 3), parties.Roster(NAMES), parties.nonce()
    sessions, other = sessions_of(context, roster, number), sessions_of(context, roster, number)["west"]
    north, south, west = (sessions[me] for me in NAMES)
    south.receive("west", other.message)
    for receiver, sender in (("north", "south"), ("north", "west"), ("south", "north"), ("west", "north"), ("west", "south")):
        sessions[receiver].receive(sender, sessions[sender].message)
    for session in sessions.values():
        session.advance()
    refusal("south", "Diverged", True, lambda: north.receive("south", south.message))
    with pytest.raises(errors.SessionAborted, match="party south saw other messages|the party saw other messages"):
        north.receive("west", west.message)


def test_a_restart_sends_the_same_bytes(tmp_path: Path) -> None:
    """In every round, before and after it received; the keys and files at the end are the same too."""
    context, roster, number = context_of("bgv", 2), parties.Roster(NAMES[:2]), parties.nonce()
    sessions = sessions_of(context, roster, number, tmp_path)
    rounds = 0
    while not sessions["north"].done:
        for received in (False, True):
            if received:
                exchange(sessions)
            before = sessions["south"].messages
            with pytest.raises(errors.Io, match="another process"):
                parties.KeySession(context, roster, "south", nonce=number, store=tmp_path / "south", rotations=[1])
            sessions["south"].close()
            with pytest.raises(errors.SessionClosed):
                sessions["south"].advance()
            again = parties.KeySession(context, roster, "south", nonce=number, store=tmp_path / "south", rotations=[1])
            while not again.missing and len(again.messages) < len(before):
                again.advance()
            sessions["south"] = again
            assert again.messages == before and (again.missing == ()) == received
        for session in sessions.values():
            session.advance()
        rounds += 1
    assert rounds == 6
    keys = {me: session.keys for me, session in sessions.items()}
    with pytest.raises(errors.PartiesError, match="another session|of another"):
        parties.KeySession(context, roster, "south", nonce=parties.nonce(), store=tmp_path / "south", rotations=[1])
    for me in roster.names:
        modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / me).iterdir()}
        assert modes["secret.sz"] == modes["sharing.sz"] == 0o600 and os.stat(tmp_path / me).st_mode & 0o777 == 0o700
    loaded = {me: parties.PartyKeys.load(tmp_path / me, roster, me, context=context) for me in roster.names}
    array = keys["north"].encrypt([1, 2, 3])
    noise = loaded["south"].declared_noise(lambda a: a, [0, 0, 0])
    np.testing.assert_array_equal(opened(holders_of(loaded), array, noise), [1, 2, 3])
    with pytest.raises(errors.PartySetting, match="party north"):
        parties.PartyKeys.load(tmp_path / "south", roster, "north", context=context)
    with pytest.raises(errors.Parameters):
        parties.PartyKeys.load(tmp_path / "south", roster, "south", context=context_of("bfv", 2))


def test_a_silent_party_is_named() -> None:
    context, roster, number = context_of("bfv", 2), parties.Roster(NAMES[:2]), parties.nonce()
    links = parties.local(roster)
    north = parties.KeySession(context, roster, "north", nonce=number, rotations=[], products=False)
    links["south"].send(b"hello")
    told: list[str] = []
    with pytest.raises(errors.PartyMissing, match="from south in 0.05 seconds .*message of party south"):
        north.run(links["north"], timeout=0.05, refused=lambda error: told.append(str(error)))
    assert len(told) == 1 and "party south" in told[0]
    # Both go on where they are, and the steps are told.
    south = parties.KeySession(context, roster, "south", nonce=number, rotations=[], products=False)
    steps: list[tuple[str, int, int]] = []
    runs = {"north": lambda: north.run(links["north"], progress=lambda *step: steps.append(step)), "south": lambda: south.run(links["south"])}
    keys = together(roster, lambda me: runs[me]())
    assert keys["north"].id == keys["south"].id and ("round 6 (a confirmation of keys)", 2, 2) in steps and len(steps) == 10
    assert not north.receive("south", south.message) and north.round is None


# Results.


def test_a_ledger_counts_and_is_used_up(trio: Everybody) -> None:
    roster = trio["north"].roster
    array, noise = trio["north"].encrypt([5, 6]), trio["north"].declared_noise(lambda a: a, [0, 0])
    holders = holders_of(trio)
    north, opening = holders["north"], holders["north"].opening(array, noise=noise, purpose="a look")
    assert north.used == 0 and repr(north).endswith("0 of 6 used>")
    asked = north.read(opening.request)
    assert (asked.purpose, asked.noise, asked.parties, asked.program) == ("a look", noise, tuple(NAMES), bytes(32)) and opening.asked == asked
    first = north.answer(opening.request, array, noise=noise)
    # The same again for the same, whoever asks and for whatever, and it does not count; less noise is not enough for what was declared before.
    again = parties.Opening.of(roster, array, opening.request, sharing=POLICY)
    assert north.answer(again.request, array, noise=noise) == first and north.used == 1
    with pytest.raises(errors.PartyMissing, match="south, west"):
        again.open() if again.receive("north", first) else None
    for _ in range(POLICY[0] - 1):
        one = trio["north"].encrypt([5, 6])
        north.answer(north.opening(one, noise=noise).request, one, noise=noise)
    one = trio["north"].encrypt([5, 6])
    with pytest.raises(errors.SharingSpent):
        north.answer(north.opening(one, noise=noise).request, one, noise=noise)
    assert north.used == POLICY[0] and holders["south"].used == 0
    # There is no second ledger, with another policy or in a folder.
    with pytest.raises(errors.Sharing, match="promises 6"):
        parties.Decryptor(trio["north"])
    with pytest.raises(errors.Ledger, match="in memory"):
        trio["north"].save("nowhere")
    assert parties.Decryptor(trio["north"], queries=POLICY[0], statistical_bits=POLICY[1]).used == POLICY[0]


def test_requests_that_are_refused(trio: Everybody) -> None:
    """Nothing is counted for them."""
    array, other = trio["south"].encrypt([1, 2]), trio["south"].encrypt([1, 2])
    noise, holders = trio["south"].declared_noise(lambda a: a, [0, 0]), holders_of(trio)
    south, opening = holders["south"], holders["south"].opening(array, noise=noise)
    used = south.used
    with pytest.raises(errors.RequestRefused, match="the ciphertext"):
        south.answer(opening.request, other, noise=noise)
    with pytest.raises(errors.RequestRefused, match="noise of the ciphertext"):
        south.answer(south.opening(array, noise=noise + 1).request, array, noise=noise)
    with pytest.raises(errors.NoiseDeclaredTooLow):
        south.answer(opening.request, array, noise=1.0)
    with pytest.raises(errors.SharingRoom):
        south.answer(opening.request, array, noise=500.0)
    with pytest.raises(errors.SharingError):
        south.answer(opening.request, array, noise=float("nan"))
    with pytest.raises(errors.Sharing, match="declared_noise"):
        south.answer(opening.request, array, noise=array)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="encrypted arrays"):
        south.answer(opening.request, np.array([1]), noise=noise)  # type: ignore[arg-type]
    # Of other keys: those of another session of the same parties.
    stranger = keys_of(trio["south"].context, trio["south"].roster, products=False, rotations=[])
    theirs = stranger["south"].encrypt([1, 2])
    with pytest.raises(errors.RequestRefused, match="key of the request"):
        south.answer(parties.Opening(trio["south"].roster, theirs, noise=noise, sharing=POLICY).request, theirs, noise=noise)
    wider = keys_of(context_of("bfv", 3, result_bound=2**30), trio["south"].roster, products=False, rotations=[])["south"].encrypt([1, 2])
    with pytest.raises(errors.ContextMismatch):
        south.answer(opening.request, wider, noise=noise)
    with pytest.raises(errors.SunziError):
        array + wider
    with pytest.raises(errors.SunziError):
        array + theirs
    for quorum in (["south"], ["south", "west"]):
        with pytest.raises(errors.RequestRefused, match="parties asked"):
            south.opening(array, noise=noise, quorum=quorum)
    for request in (b"", b"nothing", opening.request[:-1], array.to_bytes()):
        with pytest.raises(errors.SunziError):
            south.answer(request, array, noise=noise)
    assert south.used == used
    # Answers of another party, or to another request.
    answer = south.answer(opening.request, array, noise=noise)
    refusal("west", "OtherSender", False, lambda: opening.receive("west", answer))
    refusal("south", "Session", False, lambda: holders["west"].opening(other, noise=noise).receive("south", answer))
    assert opening.receive("south", answer) and not opening.receive("south", answer)


def test_a_threshold_in_folders(tmp_path: Path) -> None:
    """Shares, the ledger and what was answered are there after a restart; a dealing that is begun again sends the same."""
    context, roster, number, dealt = context_of("bfv", 3), parties.Roster(NAMES, 2), parties.nonce(), parties.nonce()
    links = parties.local(roster)
    keys: Everybody = together(
        roster, lambda me: parties.KeySession(context, roster, me, nonce=number, store=tmp_path / me, rotations=[], products=False).run(links[me])
    )
    with pytest.raises(errors.PartySetting, match="share of a threshold"):
        holders_of(keys)
    dealing = parties.Dealing(keys["north"], nonce=dealt)
    piece = dealing.message_for("west")
    with pytest.raises(errors.PartyMissing, match="south, west"):
        dealing.finish()
    for wrong in ("north", "nobody"):
        with pytest.raises(errors.PartySetting):
            dealing.message_for(wrong)
    dealing.close()
    with pytest.raises(errors.SessionClosed):
        dealing.receive("west", piece)
    again = parties.Dealing(keys["north"], nonce=dealt)
    assert again.message_for("west") == piece != again.message_for("south")
    other = parties.Dealing(keys["west"], nonce=dealt)
    # A piece for somebody else ends the dealing; one by another sender is refused.
    refusal("south", "OtherSender", False, lambda: other.receive("south", piece))
    assert other.receive("north", piece) and not other.receive("north", piece)
    again.close()
    other.close()
    shares: Everybody = together(roster, lambda me: parties.Dealing(keys[me], nonce=dealt).run(links[me]))
    assert all(share.is_share for share in shares.values())
    array, noise = keys["south"].encrypt([7, 8]), keys["south"].declared_noise(lambda a: a, [0, 0])
    quorum = ["south", "west"]
    answers = {me: parties.Decryptor(shares[me], queries=6, statistical_bits=20) for me in quorum}
    np.testing.assert_array_equal(opened(answers, array, noise, quorum), [7, 8])
    request = answers["south"].opening(array, noise=noise, quorum=quorum).request
    first = answers["south"].answer(request, array, noise=noise)
    with pytest.raises(errors.PartySetting, match="name those"):
        answers["south"].opening(array, noise=noise)
    with pytest.raises(errors.Ledger, match="south"):
        shares["south"].save(tmp_path / "copy")
    for answering in answers.values():
        answering.close()
    with pytest.raises(errors.SessionClosed):
        answers["south"].answer(request, array, noise=noise)
    south = parties.Decryptor(parties.PartyKeys.load(tmp_path / "south", roster, "south", context=context), queries=6, statistical_bits=20)
    assert south.keys.is_share and south.used == 1
    assert south.answer(request, array, noise=noise) == first and south.used == 1
    south.close()
    (tmp_path / "south" / "sharing.sz").unlink()
    with pytest.raises(errors.Ledger, match="is missing"):
        parties.Decryptor(parties.PartyKeys.load(tmp_path / "south", roster, "south", context=context), queries=6, statistical_bits=20)


def test_pieces_in_memory_are_drawn_once() -> None:
    roster, number = parties.Roster(NAMES[:3], 2), parties.nonce()
    keys = keys_of(context_of("bfv", 3), parties.Roster(NAMES), products=False, rotations=[])["west"]
    with pytest.raises(errors.PartySetting, match="at most 2"):
        parties.Dealing(keys, nonce=number)
    sessions = sessions_of(context_of("bfv", 3), roster, number, products=False)
    while not sessions["north"].done:
        exchange(sessions)
        for session in sessions.values():
            session.advance()
    first = parties.Dealing(sessions["north"].keys, nonce=number)
    with pytest.raises(errors.PartySetting, match="second dealing"):
        parties.Dealing(sessions["north"].keys, nonce=number)
    assert parties.Dealing(sessions["north"].keys, nonce=parties.nonce()).message_for("west") != first.message_for("west")


def test_a_request_over_links(trio: Everybody) -> None:
    """Those who are asked answer whoever asks."""
    links, array = parties.local(trio["west"].roster), trio["west"].encrypt([4])
    noise, holders = trio["west"].declared_noise(lambda a: a, [0]), holders_of(trio)
    opening = holders["west"].opening(array, noise=noise)
    opening.receive("west", holders["west"].answer(opening.request, array, noise=noise))

    def answering() -> None:
        sender, request = links["south"].receive(10) or ("", b"")
        links["south"].send_to(sender, holders["south"].answer(request, array, noise=noise))

    # North has used up its ledger, or has not answered: it is named.
    thread = threading.Thread(target=answering)
    thread.start()
    with pytest.raises(errors.PartyMissing, match="from north"):
        opening.run(links["west"], timeout=0.5)
    thread.join()
    assert opening.missing == ("north",)


def test_secrets_stay_inside(trio: Everybody, tmp_path: Path) -> None:
    context, roster = trio["north"].context, trio["north"].roster
    session = parties.KeySession(context, roster, "north", nonce=parties.nonce(), rotations=[])
    for holder in (trio["north"], session, parties.Decryptor(trio["west"], queries=6, statistical_bits=20), trio["north"]._secret):
        with pytest.raises(TypeError):
            pickle.dumps(holder)
        with pytest.raises(TypeError):
            copy.deepcopy(holder)
        assert len(repr(holder)) < 300
    assert "SECRET" in repr(trio["north"]) and trio["north"].id[:8] in repr(trio["north"]._secret)
    with pytest.raises(TypeError, match="SECRET"):
        trio["north"].to_bytes()
    with pytest.raises(errors.PartySetting, match=r"sunzi\.parties"):
        sunzi.keygen(context)
