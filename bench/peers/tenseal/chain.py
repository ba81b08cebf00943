"""Products of integers that follow one another, in the BFV of SEAL.

SEAL has one special prime. TenSEAL exposes no BGV, and SEAL's check of security ends below a degree of 2^16, that of
the chains of CKKS.
"""

from functools import partial
from typing import Any

import tenseal.sealapi as seal
from measure import report

LOG_N = 15
SLOTS = 1 << LOG_N
PLAINTEXT_MODULUS = 65537
SPECIAL_BITS = 60
# For each depth the primes of the comparison of Tsuji and Oguchi, table 1, and how many bits they have together.
LIMBS = {2: (2, 118), 4: (3, 177), 6: (4, 235), 8: (5, 294), 10: (6, 352)}


class World:
    """The context, keys and tools of one depth."""

    def __init__(self, depth: int) -> None:
        limbs, bits = LIMBS[depth]
        sizes = [bits // limbs + (i < bits % limbs) for i in range(limbs)]
        self.log_q, self.log_qp = float(bits), float(bits + SPECIAL_BITS)
        self.depth, self.limbs = depth, limbs
        parameters = seal.EncryptionParameters(seal.SCHEME_TYPE.BFV)
        parameters.set_poly_modulus_degree(SLOTS)
        parameters.set_coeff_modulus(seal.CoeffModulus.Create(SLOTS, [*sizes, SPECIAL_BITS]))
        parameters.set_plain_modulus(PLAINTEXT_MODULUS)
        context = seal.SEALContext(parameters, True, seal.SEC_LEVEL_TYPE.TC128)
        if not context.parameters_set():
            raise SystemExit(context.parameters_error_message())
        generator, public = seal.KeyGenerator(context), seal.PublicKey()
        generator.create_public_key(public)
        self.keys = seal.RelinKeys()
        generator.create_relin_keys(self.keys)
        self.encoder = seal.BatchEncoder(context)
        self.evaluator = seal.Evaluator(context)
        self.encryptor = seal.Encryptor(context, public)
        self.decryptor = seal.Decryptor(context, generator.secret_key())
        self.x, self.y = ([(j * step + 3) % PLAINTEXT_MODULUS for j in range(SLOTS)] for step in (5, 7))
        self.a, self.b = self.encrypt(self.x), self.encrypt(self.y)

    def encrypt(self, numbers: list[int]) -> Any:
        plain, ciphertext = seal.Plaintext(), seal.Ciphertext()
        self.encoder.encode(numbers, plain)
        self.encryptor.encrypt(plain, ciphertext)
        return ciphertext

    def chain(self, squares: bool) -> Any:
        source, out = self.a, seal.Ciphertext()
        for _ in range(self.depth):
            if squares:
                self.evaluator.square(source, out)
            else:
                self.evaluator.multiply(source, self.b, out)
            self.evaluator.relinearize_inplace(out, self.keys)
            source = out
        return out

    def is_right(self, squares: bool) -> bool:
        """Decrypt and compare."""
        plain = seal.Plaintext()
        self.decryptor.decrypt(self.chain(squares), plain)
        expected = self.x
        for _ in range(self.depth):
            factors = expected if squares else self.y
            expected = [x * y % PLAINTEXT_MODULUS for x, y in zip(expected, factors, strict=True)]
        return list(self.encoder.decode_uint64(plain)) == expected


def run_chain(depth: int, seconds: float) -> None:
    """Measure products with a fresh ciphertext, and of the ciphertext with itself."""
    if depth not in LIMBS:
        return
    world = World(depth)
    for squares in (False, True):
        fields: dict[str, object] = {"n": SLOTS, "slots": SLOTS, "limbs": world.limbs, "dnum": world.limbs}
        fields |= {"log_qp": world.log_qp, "security": "128", "scheme": "bfv", "depth": depth, "log_q": world.log_q}
        right, op = world.is_right(squares), "chain_squares" if squares else "chain"
        report("chain", op, "", right, seconds, partial(world.chain, squares), **fields)
