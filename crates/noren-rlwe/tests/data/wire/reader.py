"""A second implementation of docs/wire.md: checks the golden files of this directory.

Needs nothing but Python. Run: python3 reader.py
"""

import struct
import sys
from math import log2
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
MASK = 0xFFFFFFFF
BLAKE3_IV = (
    0x6A09E667,
    0xBB67AE85,
    0x3C6EF372,
    0xA54FF53A,
    0x510E527F,
    0x9B05688C,
    0x1F83D9AB,
    0x5BE0CD19,
)
BLAKE3_PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
CHUNK_START, CHUNK_END, PARENT, ROOT, KEYED_HASH, CONTEXT, MATERIAL = 1, 2, 4, 8, 16, 32, 64
LARGEST_ERROR = 32


def quarter(v, a, b, c, d, x, y, rotations):
    """One G of BLAKE, or one quarter round of ChaCha where nothing is added."""
    for add, (first, second) in ((x, rotations[:2]), (y, rotations[2:])):
        v[a] = (v[a] + v[b] + add) & MASK
        v[d] = rotate(v[d] ^ v[a], first)
        v[c] = (v[c] + v[d]) & MASK
        v[b] = rotate(v[b] ^ v[c], second)


def rotate(word, right):
    return (word >> right | word << (32 - right)) & MASK


DIAGONALS = (
    (0, 4, 8, 12),
    (1, 5, 9, 13),
    (2, 6, 10, 14),
    (3, 7, 11, 15),
    (0, 5, 10, 15),
    (1, 6, 11, 12),
    (2, 7, 8, 13),
    (3, 4, 9, 14),
)


def compress(chain, block, counter, length, flags):
    m = list(struct.unpack("<16I", block.ljust(64, b"\0")))
    v = [*chain, *BLAKE3_IV[:4], counter & MASK, counter >> 32, length, flags]
    for _ in range(7):
        for i, at in enumerate(DIAGONALS):
            quarter(v, *at, m[2 * i], m[2 * i + 1], (16, 12, 8, 7))
        m = [m[i] for i in BLAKE3_PERMUTATION]
    return [v[i] ^ v[i + 8] for i in range(8)]


def blake3(data, key=None, mode=None):
    words = struct.unpack("<8I", key) if key else BLAKE3_IV
    base = (KEYED_HASH if key else 0) if mode is None else mode

    def tree(data, counter, root):
        if len(data) <= 1024:
            chain = words
            blocks = [data[i : i + 64] for i in range(0, len(data), 64)] or [b""]
            for i, block in enumerate(blocks):
                last = i == len(blocks) - 1
                flags = base | (CHUNK_START if i == 0 else 0) | (CHUNK_END | root if last else 0)
                chain = compress(chain, block, counter, len(block), flags)
            return chain
        chunks = (len(data) - 1) // 1024
        left = 1 << (chunks.bit_length() - 1)
        split = 1024 * left
        children = tree(data[:split], counter, 0) + tree(data[split:], counter + left, 0)
        return compress(words, struct.pack("<16I", *children), 0, 64, base | PARENT | root)

    return struct.pack("<8I", *tree(data, 0, ROOT))


def key_id(fingerprint, secret):
    """The identity of a secret key: 16 bytes of BLAKE3 in its mode of key derivation."""
    context = blake3(b"noren identity of a secret key, version 1", mode=CONTEXT)
    return blake3(fingerprint + struct.pack(f"{len(secret)}b", *secret), context, MATERIAL)[:16]


def chacha20(key):
    """The stream of words of 8 bytes."""
    start = [*struct.unpack("<4I", b"expand 32-byte k"), *struct.unpack("<8I", key)]
    counter = 0
    while True:
        state = [*start, counter & MASK, counter >> 32, 0, 0]
        v = list(state)
        for _ in range(10):
            for at in DIAGONALS:
                quarter(v, *at, 0, 0, (16, 20, 24, 25))
        block = struct.pack("<16I", *((a + b) & MASK for a, b in zip(v, state)))
        yield from struct.unpack("<8Q", block)
        counter += 1


def uniform(seed, label, q, n):
    words = chacha20(blake3(b"noren-xof-v1/" + f"{label}/{q}".encode(), seed))
    row = []
    while len(row) < n:
        value = next(words) & ((1 << q.bit_length()) - 1)
        if value < q:
            row.append(value)
    return row


class Section(NamedTuple):
    item: int
    tag: int
    encoding: int
    detail: int
    data: bytes

    def words(self):
        assert self.encoding == 1
        return list(struct.unpack(f"<{len(self.data) // 8}Q", self.data))

    def rows(self, parameters):
        """The limbs of a polynomial: {limb: residues}."""
        first, limbs = self.detail & MASK, self.detail >> 32
        rows, at = {}, 0
        for limb in range(first, first + limbs):
            q = parameters.primes[limb]
            bits = 64 if self.encoding == 2 else q.bit_length()
            rows[limb], at = unpack(self.data, at, parameters.n, bits)
            assert max(rows[limb]) < q
        assert at == len(self.data)
        return rows


def unpack(data, at, count, bits):
    length = (count * bits + 63) // 64 * 8
    stream = int.from_bytes(data[at : at + length], "little")
    assert stream >> (count * bits) == 0
    return [stream >> (i * bits) & ((1 << bits) - 1) for i in range(count)], at + length


def read(path):
    data = path.read_bytes()
    magic, version, kind, flags, length, count, reserved = struct.unpack("<8sHHIQII", data[:32])
    assert magic == b"\x89NOREN\r\n" and (version, flags, reserved) == (2, 0, 0)
    assert length == len(data)
    assert data[64:96] == blake3(data[:64] + data[96:]), "digest"
    sections, end = [], 96 + 32 * count
    for i in range(count):
        item, tag, encoding, offset, size, detail = struct.unpack_from("<IHHQQQ", data, 96 + 32 * i)
        needed = (end + 63) // 64 * 64
        assert offset == needed and not any(data[end:offset])
        end = offset + size
        sections.append(Section(item, tag, encoding, detail, data[offset:end]))
    assert length == (end + 63) // 64 * 64 and not any(data[end:])
    places = [(section.item, section.tag) for section in sections]
    assert places == sorted(set(places))
    return kind, data[32:64], sections


class Parameters:
    def __init__(self, path):
        kind, fingerprint, (shape, q, p) = read(path)
        assert kind == 1
        self.log_n, dnum, secret, weight, _ = shape.words()
        self.n, self.q, self.p = 1 << self.log_n, q.words(), p.words()
        self.primes = self.p + self.q
        self.digits = self.cut(len(self.q), dnum)
        words = [self.log_n, secret, weight, len(self.q), *self.q, len(self.p), *self.p]
        words += [dnum, *(end for _, end in self.digits)]
        text = b"noren-rlwe-parameters-v1" + struct.pack(f"<{len(words)}Q", *words)
        self.fingerprint = blake3(text)
        assert self.fingerprint == fingerprint, "fingerprint"
        self.points = {q: self.evaluation_points(q) for q in self.primes}

    def cut(self, limbs, dnum):
        sizes = [round(2**20 * log2(q)) for q in self.q]

        def largest(end, count):
            if count == 1:
                return sum(sizes[:end])
            return min(
                max(largest(at, count - 1), sum(sizes[at:end])) for at in range(count - 1, end)
            )

        if dnum <= 1:
            return [(0, limbs)] * dnum
        best = largest(limbs, dnum)
        at = max(
            at
            for at in range(dnum - 1, limbs)
            if max(largest(at, dnum - 1), sum(sizes[at:limbs])) == best
        )
        return [*self.cut(at, dnum - 1), (at, limbs)]

    def evaluation_points(self, q):
        g = next(g for g in range(2, q) if pow(g, (q - 1) // 2, q) == q - 1)
        psi = pow(g, (q - 1) // (2 * self.n), q)
        reverse = [int(f"{j:0{self.log_n}b}"[::-1], 2) for j in range(self.n)]
        return [pow(psi, 2 * j + 1, q) for j in reverse]

    def evaluate(self, coefficients, q):
        return [sum(c * pow(x, i, q) for i, c in enumerate(coefficients)) % q for x in self.points[q]]

    def coefficients(self, values, q):
        """The centred coefficients of the polynomial with these values."""
        inverse = pow(self.n, -1, q)
        found = [
            inverse * sum(v * pow(x, -i, q) for v, x in zip(values, self.points[q])) % q
            for i in range(self.n)
        ]
        return [c - q if c > q // 2 else c for c in found]


def main():
    for form in ("raw", "packed"):
        names = {path.name.split(".")[0]: path for path in sorted(HERE.glob(f"*.{form}.noren"))}
        parameters = Parameters(names["parameters"])
        for path in names.values():
            kind, fingerprint, sections = read(path)
            assert fingerprint == parameters.fingerprint
            polynomials = [section for section in sections if section.encoding in (2, 3)]
            assert all(section.encoding == (2 if form == "raw" else 3) for section in polynomials)
            print(f"{path.name}: kind {kind:#06x}, {len(sections)} sections")
        check_equations(parameters, names)
    print("the files agree with the description")


def check_equations(parameters, names):
    _, _, (_, secret) = read(names["secret_key"])
    values, _ = unpack(secret.data, 0, parameters.n, secret.detail)
    half = 1 << (secret.detail - 1)
    s = [value - 2 * half if value >= half else value for value in values]
    assert all(abs(c) <= 1 for c in s)
    owner = key_id(parameters.fingerprint, s)

    def check_small(b, seed, label, key, other):
        """b + a key - other is the same small polynomial modulo every prime."""
        errors = []
        for limb, row in b.items():
            q = parameters.primes[limb]
            a = uniform(seed, label, q, parameters.n)
            key_values = parameters.evaluate(key, q)
            expected = other(limb, q)
            rest = [(x + y * z - w) % q for x, y, z, w in zip(row, a, key_values, expected)]
            errors.append(parameters.coefficients(rest, q))
        assert all(error == errors[0] for error in errors)
        assert any(errors[0]) and max(map(abs, errors[0])) <= LARGEST_ERROR

    def zero(limb, q):
        return [0] * parameters.n

    _, _, (identity, seed, b) = read(names["public_key"])
    assert (identity.tag, identity.data) == (0x103, owner)
    check_small(b.rows(parameters), seed.data, "public", s, zero)

    _, _, (plain,) = read(names["plaintext"])
    message = plain.rows(parameters)
    _, _, (seed, identity, part) = read(names["ciphertext_seeded"])
    assert (identity.tag, identity.data) == (0x103, owner)
    check_small(part.rows(parameters), seed.data, "ciphertext", s, lambda limb, q: message[limb])

    _, _, sections = read(names["evaluation_keys"])
    assert (sections[0].tag, sections[0].data) == (0x103, owner)
    for item in range(1, sections[-1].item + 1):
        element, identities, seed, *digits = [section for section in sections if section.item == item]
        (k,) = element.words()
        assert (identities.tag, identities.data) == (0x103, owner + owner)
        inverse = pow(k, -1, 2 * parameters.n) if k else 1
        image = [0] * parameters.n
        for i, c in enumerate(s):
            at = i * inverse % (2 * parameters.n)
            image[at % parameters.n] = -c if at >= parameters.n else c
        special = len(parameters.p)
        for j, section in enumerate(digits):
            assert section.tag == 0x120 + j
            start, end = parameters.digits[j]

            def carried(limb, q, start=start, end=end, k=k):
                factor = 0
                if start <= limb - special < end:
                    factor = 1
                    for p in parameters.p:
                        factor = factor * p % q
                values = parameters.evaluate(s, q)
                return [factor * (v if k else v * v) % q for v in values]

            check_small(section.rows(parameters), seed.data, f"digit/{j}", image, carried)


if __name__ == "__main__":
    sys.exit(main())
