"""Several parties: keys that nobody has alone, and results that only all of them, or t of n, open together.

Three hospitals want numbers of all their patients, and none shows its own. They make keys together, each encrypts under the joint public key, anybody computes
with ``sunzi.EncryptedArray`` as usual, and each gives its share of those results alone that all agreed on:

1. All agree on a ``Roster`` of names, on parameters (``sunzi.Context.for_depth(..., parties=3, sharing=(results, bits))``) and on a ``nonce``.
2. Each runs a ``KeySession`` over a ``Link`` and has ``PartyKeys``: the public keys of all, and a secret of its own. With a threshold, each then runs a ``Dealing``.
3. Each encrypts, by ``keys.public.encrypt``; somebody who holds no secret computes.
4. An ``Opening`` asks for a result. Each party has a ``Decryptor``, which answers and counts, and ``Opening.open`` makes numbers of the answers.
5. A ``Refreshing`` takes away the noise of an array in between, so that more is computed with it, and nobody learns the numbers.
6. A ``Switching`` makes an array of somebody else's, who decrypts it alone with other keys (``recipient_keys``).
7. A ``Sharing`` makes additive shares modulo t of integers, one for each party, for other protocols; an ``Encrypting`` makes an array of such shares again.
8. By a ``HandingOn`` parties join and leave a threshold: public keys and ciphertexts stay.

A ``Link`` is whatever brings bytes from one to another and tells who sent them: ``tls`` connects machines, ``folder`` takes a folder that all share, ``local`` is for the
threads of one process, and a class of your own is for any other way. For ``tls`` and ``folder`` each party makes an ``Identity`` once and gives its ``Card`` to all,
who compare fingerprints by another way, by telephone for example, and make ``Contacts`` of all cards.
What is promised to whom, and what is not, is in SECURITY.md, "Several parties". In short: parties that follow the protocol learn what is opened and nothing else; one
that does not can spoil results; and **a party that answers for whatever it is shown gives away the inputs of all**.

>>> import threading
>>> import numpy as np, sunzi
>>> from sunzi import parties
>>> roster, number = parties.Roster(["north", "south", "west"]), parties.nonce()
>>> context = sunzi.Context.for_depth(0, dtype=int, parties=3, sharing=(10, 40), result_bound=1000, security=0, log2_degree=10)
>>> links, keys = parties.local(roster), {}
>>> def hospital(me: str) -> None:
...     session = parties.KeySession(context, roster, me, nonce=number, products=False)
...     keys[me] = session.run(links[me])
>>> threads = [threading.Thread(target=hospital, args=(me,)) for me in roster.names]
>>> for thread in threads:
...     thread.start()
>>> for thread in threads:
...     thread.join()
>>> a, b, c = (keys[me].public.encrypt(ages) for me, ages in zip(roster.names, ([71, 64], [45, 69], [52, 61])))
>>> def total(x, y, z):
...     return (x + y + z).sum()
>>> result = total(a, b, c)
>>> holders = {me: parties.Decryptor(keys[me], queries=10, statistical_bits=40) for me in roster.names}
>>> noise = keys["north"].declared_noise(total, *[np.zeros(2, int)] * 3)
>>> opening = holders["north"].opening(result, noise=noise, purpose="total age")
>>> for me, holder in holders.items():
...     _ = opening.receive(me, holder.answer(opening.request, result, noise=keys[me].declared_noise(total, *[np.zeros(2, int)] * 3)))
>>> int(opening.open()), holders["south"].used
(362, 1)
"""

from ._native import Card, Contacts, Identity, Roster
from ._party_answers import Asked
from ._party_encryptions import Encrypting, encrypt_share
from ._party_handing_on import HandingOn
from ._party_keys import Dealing, KeySession, PartyKeys, nonce
from ._party_links import Link, LocalLink, NetLink, folder, local, tls
from ._party_refreshes import Refreshing
from ._party_results import Decryptor, Opening
from ._party_shares import AdditiveShare, Sharing
from ._party_switches import Switching, recipient_fingerprint, recipient_keys

__all__ = [
    "AdditiveShare",
    "Asked",
    "Card",
    "Contacts",
    "Dealing",
    "Decryptor",
    "Encrypting",
    "HandingOn",
    "Identity",
    "KeySession",
    "Link",
    "LocalLink",
    "NetLink",
    "Opening",
    "PartyKeys",
    "Refreshing",
    "Roster",
    "Sharing",
    "Switching",
    "encrypt_share",
    "folder",
    "local",
    "nonce",
    "recipient_fingerprint",
    "recipient_keys",
    "tls",
]
