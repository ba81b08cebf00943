"""Times operations of SEAL through TenSEAL and prints them as JSON lines in noren's benchmark schema.

It takes the options of one step of a suite, as every program in bench/peers does: see bench/README.md. The operations
are those of SEAL's own interface, which TenSEAL exposes as `tenseal.sealapi`; its SEAL is built without HEXL. SEAL has
one special prime and one thread, so that steps with more of either print nothing.
"""

import argparse
import cmath
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import tenseal.sealapi as seal
from chain import LIMBS, run_chain
from measure import report

# Tells right results from wrong ones: all shapes are thousands of times more exact.
TOLERANCE = 1 / 1024

# The rotation by one slot: SEAL's rotations are powers of this.
GENERATOR = 3

SUMMED = 128

# How the values come in and go out.
LIST = "with conversion of a Python list"


@dataclass(frozen=True)
class Shape:
    """A parameter set: sizes of primes in bits, and how many there are. The same as in noren's shape.rs."""

    log_n: int
    first: int
    scale: int
    limbs: int
    special_bits: int
    secure: bool = True

    @property
    def degree(self) -> int:
        return 1 << self.log_n


SEAL = Shape(15, 44, 44, 20, 48, secure=False)
CLIENT = [Shape(13, 40, 33, 5, 40), Shape(14, 48, 42, 9, 45), Shape(15, 48, 44, 18, 48)]
TRACE = Shape(15, 48, 40, 10, 48)


class World:
    """The context, keys and tools of one shape."""

    def __init__(self, shape: Shape, seconds: float) -> None:
        self.shape, self.seconds = shape, seconds
        parameters = seal.EncryptionParameters(seal.SCHEME_TYPE.CKKS)
        parameters.set_poly_modulus_degree(shape.degree)
        sizes = [shape.first, *[shape.scale] * (shape.limbs - 1), shape.special_bits]
        moduli = seal.CoeffModulus.Create(shape.degree, sizes)
        self.log_qp = float(sum(sizes))
        parameters.set_coeff_modulus(moduli)
        level = seal.SEC_LEVEL_TYPE.TC128 if shape.secure else seal.SEC_LEVEL_TYPE.NONE
        self.context = seal.SEALContext(parameters, True, level)
        if not self.context.parameters_set():
            raise SystemExit(self.context.parameters_error_message())
        self.generator = seal.KeyGenerator(self.context)
        self.secret = self.generator.secret_key()
        self.public = seal.PublicKey()
        self.generator.create_public_key(self.public)
        self.encoder = seal.CKKSEncoder(self.context)
        self.evaluator = seal.Evaluator(self.context)
        self.decryptor = seal.Decryptor(self.context, self.secret)
        self.encryptor = seal.Encryptor(self.context, self.public)
        self.values = [cmath.rect(1, j) for j in range(shape.degree // 2)]
        self.scale = 2.0**shape.scale
        self.plain = self.encode()
        self.fresh = self.encrypt()

    def galois_keys(self, steps: Sequence[int]) -> Any:
        keys = seal.GaloisKeys()
        self.generator.create_galois_keys([pow(GENERATOR, step, 2 * self.shape.degree) for step in steps], keys)
        return keys

    def encode(self) -> Any:
        plain = seal.Plaintext()
        self.encoder.encode(self.values, self.scale, plain)
        return plain

    def encrypt(self) -> Any:
        ciphertext = seal.Ciphertext()
        self.encryptor.encrypt(self.plain, ciphertext)
        return ciphertext

    def decrypt(self, ciphertext: Any) -> Any:
        plain = seal.Plaintext()
        self.decryptor.decrypt(ciphertext, plain)
        return plain

    def is_right(self, ciphertext: Any, expected: Callable[[int], complex]) -> bool:
        """Decrypt and compare."""
        found = self.encoder.decode_complex(self.decrypt(ciphertext))
        return all(abs(x - expected(j)) <= TOLERANCE for j, x in enumerate(found))

    def report(self, suite: str, op: str, note: str, right: bool, call: Callable[[], object], **more: object) -> None:
        """Measure an operation if its result is right, and print the record."""
        shape = self.shape
        fields: dict[str, object] = {"n": shape.degree, "slots": shape.degree // 2, "limbs": shape.limbs}
        fields |= {"dnum": shape.limbs, "log_qp": self.log_qp, "security": "128" if shape.secure else "none"}
        report(suite, op, note, right, self.seconds, call, **fields, **more)


def run_ckks(seconds: float) -> None:
    """Measure operations on full ciphertexts, at the one shape of the suite that SEAL has."""
    world = World(SEAL, seconds)
    evaluator, x = world.evaluator, world.values
    keys, relinearization = world.galois_keys([1]), seal.RelinKeys()
    world.generator.create_relin_keys(relinearization)
    a, b, out = world.fresh, world.encrypt(), seal.Ciphertext()

    def multiply() -> None:
        evaluator.multiply(a, b, out)
        evaluator.relinearize_inplace(out, relinearization)
        evaluator.rescale_to_next_inplace(out)

    def report(op: str, note: str, call: Callable[[], object], expected: Callable[[int], complex]) -> None:
        call()
        world.report("ckks", op, note, world.is_right(out, expected), call)

    fresh = world.is_right(a, lambda j: x[j])
    world.report("ckks", "encode", LIST, fresh, world.encode)
    world.report("ckks", "encrypt", "public key", fresh, world.encrypt)
    decode = world.encoder.decode_complex
    world.report("ckks", "decrypt", f"with decoding; {LIST}", fresh, lambda: decode(world.decrypt(a)))
    report("add", "", lambda: evaluator.add(a, b, out), lambda j: 2 * x[j])
    square = [value * value for value in x]
    multiply_plain = evaluator.multiply_plain
    report("mul_plain", "without rescaling", lambda: multiply_plain(a, world.plain, out), lambda j: square[j])
    report("mul_relin_rescale", "", multiply, lambda j: square[j])
    report("rotate", "", lambda: evaluator.rotate_vector(a, 1, keys, out), lambda j: x[(j + 1) % len(x)])


def run_trace(levels: Sequence[int], seconds: float) -> None:
    """Measure repeated doubling, with the one special prime that SEAL has."""
    world = World(TRACE, seconds)
    steps = [1 << i for i in range(SUMMED.bit_length() - 1)]
    keys, x = world.galois_keys(steps), world.values
    turned, total = seal.Ciphertext(), world.fresh
    key_bytes = 2 * TRACE.limbs * (TRACE.limbs + 1) * TRACE.degree * 8
    for level in sorted(levels, reverse=True):
        while world.context.get_context_data(total.parms_id()).chain_index() > level:
            world.evaluator.mod_switch_to_next_inplace(total)
        start, out = seal.Ciphertext(), seal.Ciphertext()
        world.evaluator.mod_switch_to(total, total.parms_id(), start)

        def double(start: Any = start, out: Any = out) -> None:
            world.evaluator.rotate_vector(start, steps[0], keys, turned)
            world.evaluator.add(start, turned, out)
            for step in steps[1:]:
                world.evaluator.rotate_vector(out, step, keys, turned)
                world.evaluator.add_inplace(out, turned)

        double()
        right = world.is_right(out, lambda j: sum(x[(j + i) % len(x)] for i in range(SUMMED)))
        more = {"level": level, "keys": len(steps), "key_bytes": len(steps) * key_bytes, "method": "rotate and sum"}
        world.report("trace", "trace", "rotate and sum; keys for all levels", right, double, **more)


def run_client(shape: Shape, seconds: float) -> None:
    """Measure what the owner of the data does."""
    world = World(shape, seconds)
    symmetric, out = seal.Encryptor(world.context, world.secret), seal.Ciphertext()
    symmetric.encrypt_symmetric(world.plain, out)
    right = all(world.is_right(ciphertext, lambda j: world.values[j]) for ciphertext in (world.fresh, out))
    decrypted = world.decrypt(world.fresh)

    def generate() -> None:
        seal.KeyGenerator(world.context).create_public_key(seal.PublicKey())

    def report(op: str, note: str, call: Callable[[], object]) -> None:
        world.report("client", op, note, right, call)

    report("keygen", "secret and public key", generate)
    report("keygen_secret", "", lambda: seal.KeyGenerator(world.context))
    report("keygen_public", "", lambda: world.generator.create_public_key(seal.PublicKey()))
    report("encode", LIST, world.encode)
    report("encrypt", "public key", world.encrypt)
    report("encrypt_secret", "secret key", lambda: symmetric.encrypt_symmetric(world.plain, out))
    report("decrypt", "without decoding", lambda: world.decrypt(world.fresh))
    report("decode", f"of the decrypted message; {LIST}", lambda: world.encoder.decode_complex(decrypted))


def numbers(text: str) -> list[int]:
    """Read a list such as 1,2."""
    return [int(field) for field in text.split(",")]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--suite", choices=["ckks", "trace", "client", "chain"], default="ckks")
    parser.add_argument("--log-n", type=numbers, default=[13, 14, 15])
    parser.add_argument("--shape", choices=["hybrid", "seal"], default="hybrid")
    parser.add_argument("--special", type=numbers, default=[1])
    parser.add_argument("--level", type=numbers, default=[1, 4, 9])
    parser.add_argument("--scheme", type=lambda text: text.split(","), default=["bfv"])
    parser.add_argument("--depth", type=numbers, default=list(LIMBS))
    parser.add_argument("--threads", type=numbers, default=[1])
    parser.add_argument("--seconds", type=float, default=1.0)
    options = parser.parse_args()
    if 1 not in options.threads:
        return 0
    if options.suite == "ckks" and options.shape == "seal" and SEAL.log_n in options.log_n:
        run_ckks(options.seconds)
    if options.suite == "trace" and 1 in options.special:
        run_trace(options.level, options.seconds)
    if options.suite == "client":
        for shape in CLIENT:
            if shape.log_n in options.log_n:
                run_client(shape, options.seconds)
    if options.suite == "chain" and "bfv" in options.scheme:
        for depth in options.depth:
            run_chain(depth, options.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
