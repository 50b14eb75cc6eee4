"""Additive shares of encrypted integers, the way back to an array, and what is refused."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

import numpy as np
import numpy.typing as npt
import pytest
from test_parties import NAMES, POLICY, Everybody, context_of, holders_of, keys_of, opened, refusal, together
from test_party_handing_on import BEFORE, handed_on

import sunzi
from sunzi import errors, parties

Values = npt.NDArray[Any]


def shared(holders: dict[str, parties.Decryptor], array: sunzi.EncryptedArray, noise: float, quorum: Optional[Sequence[str]] = None) -> tuple[dict[str, Values], Values]:
    """The shares of all or of a quorum, and the rest."""
    sharing = next(iter(holders.values())).sharing(array, noise=noise, quorum=quorum, purpose="a test")
    shares = {}
    for me in quorum or holders:
        assert me in sharing.missing
        answer, shares[me] = holders[me].share_additively(sharing.request, array, noise=noise)
        assert sharing.receive(me, answer)
    assert sharing.missing == ()
    return shares, sharing.rest()


def sum_of(context: sunzi.Context, shares: Sequence[Values]) -> Values:
    """The integers around 0 of which these are shares."""
    t = context.plain_modulus or 0
    total = sum(share.astype(object) for share in shares) % t
    return np.asarray(np.where(total > t // 2, total - t, total)).astype(np.int64)


def encrypted(public: sunzi.PublicKeys, shares: dict[str, Values], bounds: Optional[tuple[float, float]] = None) -> sunzi.EncryptedArray:
    """The array of shares that their holders encrypt."""
    encrypting = parties.Encrypting(public, list(shares), next(iter(shares.values())).shape, bounds=bounds, purpose="a test")
    for me, share in shares.items():
        assert me in encrypting.missing
        assert encrypting.receive(me, parties.encrypt_share(public, me, encrypting.request, share))
    assert encrypting.missing == ()
    return encrypting.encrypted()


@pytest.fixture(scope="module")
def trio() -> Everybody:
    """Three parties of one BFV context."""
    return keys_of(context_of("bfv", 3), parties.Roster(NAMES), rotations=[])


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
@pytest.mark.parametrize("threshold", [3, 2])
def test_shares_add_up_and_go_back(scheme: str, threshold: int) -> None:
    """A product becomes shares, each party triples its own, and the sum is encrypted again and multiplied once more."""
    context = context_of(scheme, 3)
    keys = keys_of(context, parties.Roster(NAMES, threshold), rotations=[])
    x, y = np.array([[3, -1], [2, 0], [1, -4]]), np.array([[5, 4], [-2, 5], [0, -3]])
    a, b = (keys[me].encrypt(values, bounds=(-5, 5)) for me, values in zip(NAMES, (x, y)))

    def product(one: Any, other: Any) -> Any:
        return one * other

    array, noise = product(a, b), keys["west"].declared_noise(product, 0 * x, 0 * y, bounds=[(-5, 5)] * 2)
    holders, quorum = holders_of(keys), None if threshold == 3 else ["south", "west"]
    shares, rest = shared(holders, array, noise, quorum)
    t = context.plain_modulus or 0
    everything = [*shares.values(), rest]
    assert all(share.shape == x.shape and share.dtype == np.int64 and 0 <= share.min() and share.max() < t for share in everything)
    np.testing.assert_array_equal(sum_of(context, everything), x * y)
    # Any of them missing, the others say nothing.
    assert not np.array_equal(sum_of(context, everything[1:]), x * y) and len({share.tobytes() for share in everything}) == len(everything)
    tripled = {me: 3 * share for me, share in {**shares, "server": rest}.items()}
    array = encrypted(keys["north"].public, tripled, (-75, 75))
    assert array.shape == x.shape and array.bounds == (-75, 75) and array.keys is keys["north"].public and array.level == a.level
    count = len(tripled)

    def later(*arrays: Any) -> Any:
        *terms, factor = arrays
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total * factor

    again = keys["south"].declared_noise(later, *[0 * x] * (count + 1), bounds=[(-15, 15)] * count + [(-5, 5)])
    np.testing.assert_array_equal(opened(holders, array * a, again, quorum), 3 * x * y * x)
    assert {holder.used for holder in holders.values()} == ({2} if threshold == 3 else {0, 2})


def test_shares_are_uniform(trio: Everybody) -> None:
    """Shares of zeros fill their range evenly, each by itself and the rest too."""
    context = trio["north"].context
    array, noise = trio["north"].encrypt(np.zeros(context.slots, int)), trio["north"].declared_noise(lambda a: a, np.zeros(context.slots, int))
    shares, rest = shared(holders_of(trio), array, noise)
    t = context.plain_modulus or 0
    for share in (*shares.values(), rest):
        counts = np.bincount(share * 8 // t, minlength=8)
        # 2048 numbers, 256 in each eighth: seven deviations of 15.
        assert counts.sum() == context.slots and np.abs(counts - context.slots / 8).max() < 105
    assert not sum_of(context, [*shares.values(), rest]).any()


@pytest.mark.parametrize(("bound", "dtype"), [(2**60, np.int64), (2**62, np.uint64), (2**70, object)])
def test_wide_integers_of_several_ciphertexts(bound: int, dtype: Any) -> None:
    """Integers beyond one plaintext modulus have shares modulo the product of all, of a type that holds them."""
    context = context_of("bfv", 2, result_bound=bound)
    keys = keys_of(context, parties.Roster(NAMES[:2]), products=False, rotations=[])
    x = np.arange(-(2**20), 2**20, 2**21 // (context.slots + 3)) * 2**40
    array, noise = keys["south"].encrypt(x), keys["north"].declared_noise(lambda a: a, 0 * x)
    wide = {me: parties.Decryptor(one, queries=100, statistical_bits=20) for me, one in keys.items()}
    shares, rest = shared(wide, array, noise)
    assert context._parts > 1 and all(share.dtype == dtype and share.max() < (context.plain_modulus or 0) for share in (*shares.values(), rest))
    assert wide["north"].used == len(array.ciphertexts) * context._parts >= 4
    np.testing.assert_array_equal(sum_of(context, [*shares.values(), rest]), x)
    array = encrypted(keys["north"].public, {**shares, "server": rest})
    later = keys["north"].declared_noise(lambda a, b, c: a + b + c, 0 * x, 0 * x, 0 * x)
    np.testing.assert_array_equal(opened(wide, array, later), x)


def test_shares_are_made_once_and_count(trio: Everybody) -> None:
    array, noise = trio["north"].encrypt([5, 6]), trio["north"].declared_noise(lambda a: a, [0, 0])
    holders = holders_of(trio)
    north = holders["north"]
    sharing = north.sharing(array, noise=noise, purpose="a look")
    asked = north.read(sharing.request)
    assert (asked.operation, asked.purpose, asked.noise, asked.parties, asked.ciphertexts) == ("share", "a look", noise, tuple(NAMES), 1) and asked == sharing.asked
    used = north.used
    first, again = (north.share_additively(sharing.request, array, noise=noise) for _ in range(2))
    assert first.answer == again.answer and north.used == used + 1
    np.testing.assert_array_equal(first.numbers, again.numbers)
    with pytest.raises(errors.RequestRefused, match="share was given"):
        north.share_additively(north.sharing(array, noise=noise, purpose="another look").request, array, noise=noise)
    assert north.used == used + 1
    taken = parties.Sharing.of(trio["north"].roster, array, sharing.request, sharing=POLICY)
    assert taken.receive("north", first.answer)
    with pytest.raises(errors.PartyMissing, match="south, west"):
        taken.rest()
    for me in NAMES[1:]:
        taken.receive(me, holders[me].share_additively(sharing.request, array, noise=noise).answer)
    np.testing.assert_array_equal(taken.rest(), taken.rest())
    assert taken.missing == () and not taken.receive("north", first.answer)
    while north.used < POLICY[0]:
        one = trio["north"].encrypt([5, 6])
        north.share_additively(north.sharing(one, noise=noise).request, one, noise=noise)
    one = trio["north"].encrypt([5, 6])
    with pytest.raises(errors.SharingSpent):
        north.share_additively(north.sharing(one, noise=noise).request, one, noise=noise)


def test_requests_and_answers_that_are_refused() -> None:
    """Nothing is counted for requests that are."""
    keys = keys_of(context_of("bgv", 3), parties.Roster(NAMES), rotations=[])
    array, other = keys["south"].encrypt([1, 2], bounds=(0, 2)), keys["south"].encrypt([1, 2])
    noise, holders = keys["south"].declared_noise(lambda a: a, [0, 0]), holders_of(keys)
    south, sharing = holders["south"], holders["south"].sharing(array, noise=noise)
    with pytest.raises(errors.RequestRefused, match="the ciphertext"):
        south.share_additively(sharing.request, other, noise=noise)
    with pytest.raises(errors.RequestRefused, match="noise of the ciphertext"):
        south.share_additively(south.sharing(array, noise=noise + 1).request, array, noise=noise)
    with pytest.raises(errors.NoiseDeclaredTooLow):
        south.share_additively(sharing.request, array, noise=1.0)
    with pytest.raises(errors.SharingRoom):
        south.share_additively(sharing.request, array, noise=500.0)
    with pytest.raises(TypeError, match="encrypted arrays"):
        south.share_additively(sharing.request, np.array([1]), noise=noise)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="encrypted arrays"):
        south.sharing([1], noise=noise)  # type: ignore[arg-type]
    mean = array / 2
    for refused in (lambda: south.sharing(mean, noise=noise), lambda: south.share_additively(sharing.request, mean, noise=noise)):
        with pytest.raises(errors.PartySetting, match="before they are divided"):
            refused()
    refreshing = south.refreshing(array, noise=noise)
    with pytest.raises(errors.FormatError, match="request"):
        south.share_additively(refreshing.request, array, noise=noise)
    with pytest.raises(errors.FormatError, match="request"):
        south.refresh(sharing.request, array, noise=noise)
    with pytest.raises(errors.RequestRefused, match="expected share, got refresh"):
        parties.Sharing.of(keys["south"].roster, array, refreshing.request, sharing=POLICY)
    for request in (b"", b"nothing", sharing.request[:-1], sharing.request * 2, array.to_bytes()):
        with pytest.raises(errors.SunziError):
            south.share_additively(request, array, noise=noise)
    with pytest.raises(errors.RequestRefused, match="parties asked"):
        south.sharing(array, noise=noise, quorum=["south", "west"])
    assert south.used == 0
    answer = south.share_additively(sharing.request, array, noise=noise).answer
    refusal("west", "OtherSender", False, lambda: sharing.receive("west", answer))
    refusal("south", "Session", False, lambda: holders["west"].sharing(other, noise=noise).receive("south", answer))
    for wrong in (answer[:-1], b"", answer * 2, south.answer(south.opening(array, noise=noise).request, array, noise=noise)):
        with pytest.raises(errors.PartyMessage, match="party south"):
            sharing.receive("south", wrong)
    with pytest.raises(errors.PartySetting, match="name of a party"):
        sharing.receive("nobody", answer)
    assert sharing.receive("south", answer) and not sharing.receive("south", answer)


def test_real_numbers_have_no_shares() -> None:
    context = context_of("ckks", 2)
    keys = keys_of(context, parties.Roster(NAMES[:2]), products=False, rotations=[])
    north, array = holders_of(keys)["north"], keys["north"].encrypt([0.5])
    noise = keys["north"].declared_noise(lambda a: a, [0.5])
    with pytest.raises(errors.WrongScheme, match="of integers"):
        north.sharing(array, noise=noise)
    with pytest.raises(errors.WrongScheme, match="of integers"):
        north.share_additively(north.refreshing(array, noise=noise).request, array, noise=noise)
    with pytest.raises(errors.WrongScheme, match="of integers"):
        parties.Encrypting(keys["north"].public, NAMES, 3)


def test_shares_that_are_encrypted_wrongly() -> None:
    trio = keys_of(context_of("bfv", 3), parties.Roster(NAMES), rotations=[])
    public, t = trio["north"].public, trio["north"].context.plain_modulus or 0
    encrypting = parties.Encrypting(public, ["north", "server"], (2,), bounds=(-9, 9), purpose="a look")
    seen = parties.Encrypting.of(public, encrypting.request)
    assert (seen.names, seen.shape, seen.bounds, seen.purpose, seen.missing) == (("north", "server"), (2,), (-9, 9), "a look", ("north", "server"))
    assert "2 of 2" in repr(encrypting) and encrypting.request != parties.Encrypting(public, ["north", "server"], (2,), bounds=(-9, 9), purpose="a look").request
    north = holders_of(trio)["north"]
    answer = north.encrypt_share(encrypting.request, [t - 1, 5])
    with pytest.raises(errors.PartyMissing, match="north, server"):
        encrypting.encrypted()
    # Other senders, requests, keys, and what is none.
    refusal("server", "OtherSender", False, lambda: encrypting.receive("server", answer))
    again = parties.Encrypting(public, ["north", "server"], (2,))
    refusal("north", "Session", False, lambda: again.receive("north", answer))
    refusal("north", "Kind", False, lambda: encrypting.receive("north", trio["north"].encrypt([1, 2]).to_bytes()))
    for wrong in (b"", b"nothing", answer[:-1], answer + b"\0", answer[:80] + b"\1" + answer[81:]):
        refusal("north", "Malformed", False, lambda wrong=wrong: encrypting.receive("north", wrong))  # type: ignore[misc]
    with pytest.raises(errors.PartySetting, match="nobody"):
        encrypting.receive("nobody", answer)
    others = keys_of(trio["north"].context, parties.Roster(NAMES), products=False, rotations=[])["north"]
    with pytest.raises(errors.RequestRefused, match="the key"):
        parties.encrypt_share(others.public, "north", encrypting.request, [1, 2])
    with pytest.raises(errors.RequestRefused, match="the key"):
        parties.Encrypting.of(others.public, encrypting.request)
    assert encrypting.receive("north", answer) and not encrypting.receive("north", answer) and encrypting.missing == ("server",)
    refusal("north", "Conflict", False, lambda: encrypting.receive("north", north.encrypt_share(encrypting.request, [t - 1, 5])))
    with pytest.raises(errors.RequestRefused, match="holders of shares"):
        parties.encrypt_share(public, "south", encrypting.request, [1, 2])
    for shape in ([1, 2, 3], 1, [[1, 2]]):
        with pytest.raises(errors.ShapeError):
            parties.encrypt_share(public, "server", encrypting.request, shape)
    for kind in ([0.5, 1.0], ["a", "b"], [None, 1]):
        with pytest.raises(TypeError, match="integers"):
            parties.encrypt_share(public, "server", encrypting.request, np.array(kind))
    for names in ([], ["north"], ["north", "north"], ["north", ""]):
        with pytest.raises(errors.PartySetting, match="holders"):
            parties.Encrypting(public, names, 2)
    with pytest.raises(TypeError, match="list of names"):
        parties.Encrypting(public, "north", 2)
    with pytest.raises(errors.ShapeError):
        parties.Encrypting(public, NAMES, (2, 0))
    with pytest.raises(errors.OutsideBounds):
        parties.Encrypting(public, NAMES, 2, bounds=(2, 1))
    for request in (b"", answer, encrypting.request[:-1]):
        with pytest.raises(errors.FormatError):
            parties.encrypt_share(public, "north", request, [1, 2])
    # Numbers of any size are taken modulo t, and nobody knows bounds that nobody declared.
    assert encrypting.receive("server", parties.encrypt_share(public, "server", encrypting.request, np.array([-3 * t - 1, 2 * t + 1], dtype=object)))
    array = encrypting.encrypted()
    noise = trio["north"].declared_noise(lambda a, b: a + b, [0, 0], [0, 0])
    assert opened(holders_of(trio), array, noise).tolist() == [-2, 6]
    again.receive("north", north.encrypt_share(again.request, [1, 2]))
    again.receive("server", parties.encrypt_share(public, "server", again.request, [3, 4]))
    with pytest.raises(errors.RangeExceeded):
        again.encrypted() * again.encrypted()


def test_shares_through_links_after_a_restart(tmp_path: Path) -> None:
    """Keys in folders give the same answer and the same share again; links between machines take both, and the way back."""
    identities = {name: parties.Identity.generate(name) for name in NAMES[:2]}
    contacts = parties.Contacts([identity.card() for identity in identities.values()])
    context, roster, number, folder = context_of("bgv", 2), contacts.roster(), parties.nonce(), tmp_path / "shared"
    folder.mkdir()
    links = parties.local(roster)
    keys: Everybody = together(
        roster, lambda me: parties.KeySession(context, roster, me, nonce=number, store=tmp_path / me, products=False, rotations=[]).run(links[me])
    )
    array, noise = keys["north"].encrypt([3, 4]), keys["north"].declared_noise(lambda a: a, [0, 0])
    with parties.Decryptor(keys["south"], queries=POLICY[0], statistical_bits=POLICY[1]) as south:
        request = south.sharing(array, noise=noise).request
        first = south.share_additively(request, array, noise=noise)
    loaded = {me: parties.PartyKeys.load(tmp_path / me, roster, me, context=context) for me in roster.names}
    holders = holders_of(loaded)
    again = holders["south"].share_additively(request, array, noise=noise)
    assert again.answer == first.answer and holders["south"].used == 1 and again.numbers.tolist() == first.numbers.tolist()
    asking = parties.Sharing.of(roster, array, request, sharing=POLICY)
    own = holders["north"].share_additively(request, array, noise=noise)
    asking.receive("north", own.answer)
    shares = {"north": own.numbers}

    def answering() -> None:
        with parties.folder(holders["south"], identities["south"], contacts, folder, poll=0.01) as link:
            sender, asked = link.receive(60) or ("", b"")
            made = holders["south"].share_additively(asked, array, noise=noise)
            link.send_to(sender, made.answer)
            sender, asked = link.receive(60) or ("", b"")
            link.send_to(sender, holders["south"].encrypt_share(asked, made.numbers))

    thread = threading.Thread(target=answering)
    thread.start()
    with parties.folder(holders["north"], identities["north"], contacts, folder, poll=0.01) as link:
        shares["north"] = (shares["north"] + asking.run(link, timeout=60)) % (context.plain_modulus or 1)
        encrypting = parties.Encrypting(keys["north"].public, roster.names, (2,))
        encrypting.receive("north", holders["north"].encrypt_share(encrypting.request, shares["north"]))
        back = encrypting.run(link, timeout=60)
    thread.join()
    later = keys["north"].declared_noise(lambda a, b: a + b, [0, 0], [0, 0])
    assert opened(holders, back, later).tolist() == [3, 4]


def test_those_to_whom_a_key_was_handed_on_share() -> None:
    old = keys_of(context_of("bfv", 3), BEFORE, products=False, rotations=[])
    array, noise = old["north"].encrypt([3, -4]), old["north"].declared_noise(lambda a: a, [0, 0])
    shares, rest = shared(holders_of(handed_on(old, opened=0)), array, noise, ["south", "west"])
    assert sum_of(array.context, [*shares.values(), rest]).tolist() == [3, -4]
    with pytest.raises(errors.HandedOn):
        holders_of({"south": old["south"]})["south"].share_additively(b"", array, noise=noise)
