"""A logistic regression trained on rows that nobody who computes can read. Small and WITHOUT SECURITY: python/benches/wisconsin.py is the real thing."""

import pickle

import numpy as np

import sunzi
from sunzi import ml

rng = np.random.default_rng(1)
rows = rng.normal(size=(60, 2))
sick = rows @ [1.0, -2.0] + rng.normal(0, 0.5, 60) > 0


def serve(public: bytes, table: bytes) -> bytes:
    """Trains without seeing rows, labels or weights."""
    keys: sunzi.PublicKeys = pickle.loads(public)
    rows: ml.EncryptedTable = pickle.loads(table)
    model = ml.LogisticRegression(iterations=4, degree=5, width=16)
    model.fit(rows.with_keys(keys), progress=lambda what, done, total: print(what, done, "of", total))
    return pickle.dumps((model.state_, model.scores_))


owner = ml.training_keys(sunzi.Context.for_bootstrapping("insecure-10-6"), *rows.shape)
model = ml.LogisticRegression(iterations=4, degree=5, width=16)
table = pickle.dumps(model.encrypt(owner, rows, sick))
# With the scores of all steps comes the proof that none lay beyond the width.
model.decrypt(owner, *pickle.loads(serve(pickle.dumps(owner.public), table)))
assert model.largest_score_ is not None and model.largest_score_ <= 1
print(model.coef_, model.intercept_, f"{model.score(rows, sick):.2f} of the rows are right")

clear = ml.LogisticRegression(iterations=4, degree=5, width=16).fit_clear(rows, sick)
np.testing.assert_allclose(model.coef_, clear.coef_, rtol=1e-3)
assert model.score(rows, sick) == clear.score(rows, sick)
