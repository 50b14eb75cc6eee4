"""A logistic regression trained on rows that nobody who computes can read. Small and WITHOUT SECURITY: python/benches/wisconsin.py is the real thing."""

import numpy as np

import sunzi
from sunzi import ml

rng = np.random.default_rng(1)
rows = rng.normal(size=(60, 2))
sick = rows @ [1.0, -2.0] + rng.normal(0, 0.5, 60) > 0


def serve(public: bytes, table: bytes) -> list[bytes]:
    """Trains without seeing rows, labels or weights."""
    # The set of this example has no security, which its bytes are refused for unless they are asked for by name.
    keys = sunzi.PublicKeys.from_bytes(public, insecure_for_research_only=True)
    model = ml.LogisticRegression(iterations=4, degree=5, width=16)
    model.fit(ml.EncryptedTable.from_bytes(table, keys), progress=lambda what, done, total: print(what, done, "of", total))
    return [array.to_bytes() for array in (model.state_, *model.scores_)]


owner = ml.training_keys(sunzi.Context.for_bootstrapping("insecure-10-6"), *rows.shape)
model = ml.LogisticRegression(iterations=4, degree=5, width=16)
table = model.encrypt(owner, rows, sick).to_bytes()
state, *scores = (sunzi.EncryptedArray.from_bytes(data, owner) for data in serve(owner.public.to_bytes(), table))
# With the scores of all steps comes the proof that none lay beyond the width.
model.decrypt(owner, state, scores)
assert model.largest_score_ is not None and model.largest_score_ <= 1
print(model.coef_, model.intercept_, f"{model.score(rows, sick):.2f} of the rows are right")

clear = ml.LogisticRegression(iterations=4, degree=5, width=16).fit_clear(rows, sick)
np.testing.assert_allclose(model.coef_, clear.coef_, rtol=1e-3)
assert model.score(rows, sick) == clear.score(rows, sick)
