"""CKKS: arithmetic on encrypted vectors of real or complex numbers, up to a small error that is known.

>>> import numpy as np
>>> from noren import ckks
>>> params = ckks.Parameters(log_n=13, log_q=[50, 40, 40], log_p=[50])
>>> ctx = ckks.Context(params)
>>> keys = ctx.keygen(rotations=[1])
>>> ev = ctx.evaluator(keys.evaluation)
>>> values = np.linspace(-1, 1, ctx.slots)
>>> x = ctx.encrypt(values, keys.public)
>>> y = ev.rotate(x, 1) * x + 0.5
>>> y.level
1
>>> error = np.abs(ctx.decrypt(y, keys.secret) - (np.roll(values, -1) * values + 0.5))
>>> bool(error.max() < y.error_bound < 1e-4)
True
"""

from noren._noren import rotations_of_matrix, rotations_of_product, rotations_of_sum
from noren._noren.ckks import (
    Ciphertext,
    Context,
    EvaluationKeys,
    Evaluator,
    Keys,
    Parameters,
    Plaintext,
    PublicKey,
    ReceiverKey,
    ReencryptionKey,
    Releases,
    SecretKey,
)

__all__ = [
    "Ciphertext",
    "Context",
    "EvaluationKeys",
    "Evaluator",
    "Keys",
    "Parameters",
    "Plaintext",
    "PublicKey",
    "ReceiverKey",
    "ReencryptionKey",
    "Releases",
    "SecretKey",
    "rotations_of_matrix",
    "rotations_of_product",
    "rotations_of_sum",
]
