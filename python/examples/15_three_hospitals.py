"""Three hospitals make keys together, a server computes on the rows of all, and any two of the hospitals open the results that all agreed on.

Each hospital is a thread with a folder of its own here. On three machines it is the same program with another ``parties.Link``.
"""

import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import sunzi
from sunzi import parties

AGES = {"north": [71, 64, 58, 80], "south": [45, 69, 77, 61], "west": [52, 61, 66, 83]}
DAYS = {"north": [9, 4, 3, 14], "south": [2, 7, 11, 5], "west": [3, 6, 8, 12]}
#: At most ten results are opened under these keys, together within 2^-40 of what tells nothing of any secret.
RESULTS, BITS = 10, 40

# What all agree on: who decrypts, parameters, and two numbers for the sessions.
roster = parties.Roster(list(AGES), threshold=2)
context = sunzi.Context.for_depth(1, dtype=int, result_bound=10**6, sums=4, parties=len(roster), sharing=(RESULTS, BITS))
number, dealt = parties.nonce(), parties.nonce()
links, home = parties.local(roster), Path(tempfile.mkdtemp())


def totals(ages: Sequence[sunzi.EncryptedArray], days: Sequence[sunzi.EncryptedArray]) -> dict[str, sunzi.EncryptedArray]:
    """The program: total age, total days, and days weighed by age."""
    both = [age * stay for age, stay in zip(ages, days)]
    return {name: sum(arrays[1:], arrays[0]).sum() for name, arrays in (("age", ages), ("days", days), ("both", both))}


def rows(keys: sunzi.PublicKeys, name: str) -> list[sunzi.EncryptedArray]:
    return [keys.encrypt(AGES[name], bounds=(0, 120)), keys.encrypt(DAYS[name], bounds=(0, 366))]


def hospital(me: str) -> None:
    """Keys, and the share of two of three: all of it stays in the folder of the hospital, its secret with mode 0600."""
    with parties.KeySession(context, roster, me, nonce=number, store=home / me) as session:
        keys = session.run(links[me])
    with parties.Dealing(keys, nonce=dealt) as dealing:
        dealing.run(links[me])


threads = [threading.Thread(target=hospital, args=(me,)) for me in roster]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

# Everybody encrypts under the joint public key, and the server, which holds no secret, computes.
keys = {me: parties.PartyKeys.load(home / me, roster, me) for me in roster}
server = sunzi.PublicKeys.from_bytes(keys["north"].public.to_bytes())
sent = {me: [array.to_bytes() for array in rows(keys[me].public, me)] for me in roster}
received = {me: [sunzi.EncryptedArray.from_bytes(data, server, bounds=ends) for data, ends in zip(sent[me], ((0, 120), (0, 366)))] for me in roster}
results = totals([received[me][0] for me in roster], [received[me][1] for me in roster])

# Each hospital has run the program on zeros of its own, and declares the noise that it leaves: what an array says of itself is its maker's word.
def declared(own: parties.PartyKeys) -> dict[str, float]:
    def on_zeros(*arrays: sunzi.EncryptedArray) -> dict[str, sunzi.EncryptedArray]:
        return totals(arrays[:3], arrays[3:])

    noise: dict[str, float] = own.declared_noise(on_zeros, *[np.zeros(4, int)] * 6, bounds=[(0, 120)] * 3 + [(0, 366)] * 3)
    return noise


quorum = ["north", "west"]
holders = {me: parties.Decryptor(keys[me], queries=RESULTS, statistical_bits=BITS) for me in quorum}
noises = {me: declared(keys[me]) for me in quorum}
opened = {}
for name, result in results.items():
    opening = holders["north"].opening(result, noise=noises["north"][name], quorum=quorum, purpose=f"total of {name}")
    for me, holder in holders.items():
        print(f"{me} is asked for: {holder.read(opening.request).purpose}")
        opening.receive(me, holder.answer(opening.request, result, noise=noises[me][name]))
    opened[name] = int(opening.open())

ages, days = (np.concatenate(list(table.values())) for table in (AGES, DAYS))
assert opened == {"age": ages.sum(), "days": days.sum(), "both": (ages * days).sum()}, opened
count = ages.size
print(f"{count} patients: mean age {opened['age'] / count:.1f}, mean stay {opened['days'] / count:.1f} days, {holders['west']}")

# Another ciphertext than the one that was agreed on is refused, whoever asks.
stolen = received["south"][0]
try:
    holders["west"].answer(opening.request, stolen, noise=noises["west"]["age"])
except sunzi.errors.RequestRefused as refused:
    print(refused)
else:
    raise AssertionError("the rows of a hospital were opened")
