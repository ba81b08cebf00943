# What BGV has of its own; see `integers.pyi`.

from typing import final

from noren._noren import bfv, integers

@final
class Context(integers._Context[Ciphertext, Evaluator, bfv.Ciphertext]): ...

@final
class Ciphertext(integers._Ciphertext[Ciphertext, Context]): ...

@final
class Evaluator(integers._Evaluator[Context, Ciphertext]): ...
