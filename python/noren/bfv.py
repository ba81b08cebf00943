"""BFV: exact arithmetic on encrypted vectors of integers modulo t, whose products are scaled.

>>> import numpy as np
>>> from noren import bfv
>>> params = bfv.Parameters.for_requirements(depth=2, plaintext_modulus=65537)
>>> params.security, params.has_slots
(128, True)
>>> ctx = bfv.Context(params)
>>> keys = ctx.keygen()
>>> ev = ctx.evaluator(keys.evaluation)
>>> x = ctx.encrypt([3, 5, 7], keys.public)
>>> ctx.decrypt(x * x * x, keys.secret)
array([ 27, 125, 343])

Parameters and keys serve BGV too, and ``noren.bgv.Context.convert`` takes ciphertexts over.
"""

from noren._lookup import Lookup
from noren._noren import rotations_of_matrix, rotations_of_product, rotations_of_sum
from noren._noren.bfv import Ciphertext, Context, Evaluator, LookupKeys, LookupPlan, PreparedLookup
from noren._noren.integers import (
    EvaluationKeys,
    Keys,
    Parameters,
    PublicKey,
    ReceiverKey,
    ReencryptionKey,
    SecretKey,
    SlotMatrix,
)

__all__ = [
    "Ciphertext",
    "Context",
    "EvaluationKeys",
    "Evaluator",
    "Keys",
    "Lookup",
    "LookupKeys",
    "LookupPlan",
    "Parameters",
    "PreparedLookup",
    "PublicKey",
    "ReceiverKey",
    "ReencryptionKey",
    "SecretKey",
    "SlotMatrix",
    "rotations_of_matrix",
    "rotations_of_product",
    "rotations_of_sum",
]
