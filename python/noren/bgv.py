"""BGV: exact arithmetic on encrypted vectors of integers modulo t, whose noise is divided after every product.

>>> import numpy as np
>>> from noren import bgv
>>> params = bgv.Parameters(10, 65537, [36] * 4, [48], security=None)  # a small ring, for an example
>>> ctx = bgv.Context(params)
>>> keys = ctx.keygen(rotations=[1], swap=True)
>>> ev = ctx.evaluator(keys.evaluation)
>>> x = ctx.encrypt(np.arange(params.n), keys.public)
>>> y = ctx.decrypt(x * x + 1, keys.secret)
>>> bool((y == (np.arange(params.n) ** 2 + 1) % 65537).all())
True
>>> rows = ctx.decrypt(ev.swap_rows(ev.rotate(x, 1)), keys.secret).reshape(2, -1)
>>> rows[:, :3]
array([[513, 514, 515],
       [  1,   2,   3]])

Parameters and keys serve BFV too, and ``noren.bfv.Context.convert`` takes ciphertexts over.
"""

from noren._noren import rotations_of_matrix, rotations_of_product, rotations_of_sum
from noren._noren.bgv import Ciphertext, Context, Evaluator
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
    "Parameters",
    "PublicKey",
    "ReceiverKey",
    "ReencryptionKey",
    "SecretKey",
    "SlotMatrix",
    "rotations_of_matrix",
    "rotations_of_product",
    "rotations_of_sum",
]
