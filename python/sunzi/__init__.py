"""Computes on encrypted numpy arrays.

>>> import numpy as np, sunzi
>>> context = sunzi.Context.for_depth(1, dtype=int)
>>> keys = sunzi.keygen(context)
>>> a, b = keys.encrypt(np.array([1, 2, 3])), keys.encrypt(np.array([4, 5, 6]))
>>> int(keys.decrypt(a @ b))
32
"""

from . import errors, lowlevel, ml, parties, remote, tables
from ._array import EncryptedArray
from ._batches import EncryptedMatrices, MatrixKeys
from ._conditions import ConditionArray, where
from ._context import Context, insecure_for_research_only
from ._field_plan import FieldPlan
from ._fields import FieldArray
from ._integers import IntegerArray
from ._keys import Keys, PublicKeys, keygen
from ._messages import MessageArray
from ._native import Series, SharingLedger, bootstrap_sets, threads
from ._program import Plan, Program, program
from ._reencryption import ReencryptionKey, ReencryptionPublicKey
from ._remote_client import AsyncClient, Client
from ._trace import Like
from .errors import SunziError

__all__ = [
    "AsyncClient",
    "Client",
    "ConditionArray",
    "Context",
    "EncryptedArray",
    "EncryptedMatrices",
    "FieldArray",
    "FieldPlan",
    "IntegerArray",
    "Keys",
    "Like",
    "MatrixKeys",
    "MessageArray",
    "Plan",
    "Program",
    "PublicKeys",
    "ReencryptionKey",
    "ReencryptionPublicKey",
    "Series",
    "SharingLedger",
    "SunziError",
    "bootstrap_sets",
    "errors",
    "insecure_for_research_only",
    "keygen",
    "lowlevel",
    "ml",
    "parties",
    "program",
    "remote",
    "tables",
    "threads",
    "where",
]
