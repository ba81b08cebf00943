"""TFHE: arrays of truth values and integers, encrypted element by element, for programs of any depth.

>>> import numpy as np
>>> from noren import tfhe
>>> ctx = tfhe.Context(tfhe.Parameters("TOY_2_2"))  # for an example: nothing is secret; "2_2" is the set to use
>>> keys = ctx.keygen()
>>> ev = ctx.evaluator(keys.server)
>>> x = ctx.encrypt(np.array([7, 250, 41], dtype=np.uint8), keys.secret)

>>> y = ev.where(x > 40, x // 10, 3 * x)
>>> ctx.decrypt(y, keys.secret)
array([21, 25,  4], dtype=uint8)
>>> int(ctx.decrypt(ev.argmax(x), keys.secret))
1
"""

from noren._noren.tfhe import (
    CircuitKeys,
    Context,
    EncryptedArray,
    Evaluator,
    ExpandedServerKeys,
    Keys,
    LightKeys,
    Parameters,
    SecretKey,
    ServerKeys,
    concatenate,
    stack,
)

PRESETS = ("2_2", "BOOL", "BOOL_128", "1_1", "3_3", "4_4", "2_2_LIGHT", "BOOL_LIGHT", "TOY_2_2", "TOY_BOOL")
"""Names that ``Parameters`` takes; those for comparisons with other libraries are in ``docs/tfhe.md``."""

__all__ = [
    "PRESETS",
    "CircuitKeys",
    "Context",
    "EncryptedArray",
    "Evaluator",
    "ExpandedServerKeys",
    "Keys",
    "LightKeys",
    "Parameters",
    "SecretKey",
    "ServerKeys",
    "concatenate",
    "stack",
]
