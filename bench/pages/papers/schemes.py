"""Tsuji and Oguchi: comparison of schemes and libraries; its conclusions beside what was measured here."""

from pages.papers.item import NOTHING, Found, Item, items, milliseconds, seconds, span
from records import Record, number, ratio, table

CHOOSING = "[choosing](choosing.md"
DEPTHS = [2, 4, 6, 8, 10]
# The size of the largest product and inner product.
LARGEST = 100


def chain(found: Found, library: str, scheme: str, depth: int, threads: int = 1) -> Record:
    """Return the record of a chain of products, or nothing."""
    fields = {"suite": "chain", "op": "chain", "library": library, "scheme": scheme, "depth": depth}
    return found.compared.one(**fields, threads=threads) or {}


def chain_time(found: Found, library: str, scheme: str, depth: int, threads: int = 1) -> float | None:
    """Return the time of a chain in nanoseconds."""
    return chain(found, library, scheme, depth, threads).get("median_ns")


def reduction(found: Found, suite: str, library: str, scheme: str, way: str, count: int = LARGEST) -> float | None:
    """Return the time of a product or inner product of 100 numbers on one thread in nanoseconds."""
    fields = {"suite": suite, "library": library, "scheme": scheme, "way": way, "count": count, "threads": 1}
    return found.compared.time(**fields)


def gate(found: Found, library: str, workload: str = "BOOL") -> float | None:
    """Return the time of one gate on one thread in nanoseconds."""
    return found.compared.time(suite="tfhe", library=library, op="gate", workload=workload, batch=1, threads=1)


def faster(found: Found, scheme: str, threads: int) -> str:
    """Say which of Lattigo and OpenFHE is the faster one at each depth."""
    text = []
    for depth in DEPTHS:
        lattigo, openfhe = (chain_time(found, name, scheme, depth, threads) for name in ["lattigo", "openfhe"])
        if lattigo is None or openfhe is None:
            return NOTHING
        text.append("Lattigo" if lattigo < openfhe else "OpenFHE")
    if len(set(text)) == 1:
        return f"{text[0]} at every depth"
    return ", ".join(f"{depth}: {name}" for depth, name in zip(DEPTHS, text, strict=True))


def memory(found: Found) -> str:
    """Say in how many chains OpenFHE takes less memory than Lattigo."""
    pairs = [
        [chain(found, name, scheme, depth).get("peak_rss_bytes") for name in ["openfhe", "lattigo"]]
        for scheme in ["bfv", "bgv", "ckks"]
        for depth in DEPTHS
    ]
    known = [(ours, theirs) for ours, theirs in pairs if ours and theirs]
    return f"in {sum(ours < theirs for ours, theirs in known)} of {len(known)} chains" if known else NOTHING


def own_memory(found: Found) -> str:
    """Return the quotients of the memory of the smaller library and noren."""
    quotients = []
    for scheme in ["bfv", "bgv", "ckks"]:
        for depth in DEPTHS:
            peaks = [chain(found, name, scheme, depth).get("peak_rss_bytes") for name in ["openfhe", "lattigo"]]
            least = min((peak for peak in peaks if peak), default=None)
            quotients.append(ratio(least, chain(found, "noren", scheme, depth).get("peak_rss_bytes")))
    return span(quotients, "")


def conclusions_table(found: Found) -> str:
    """Return each conclusion of the publication, whether it holds here, and with which figures."""
    bgv, other = (chain_time(found, name, "bgv", 10) for name in ["noren", "lattigo"])
    ckks, peer = (chain_time(found, name, "ckks", 10) for name in ["noren", "lattigo"])
    row_ckks, row_tfhe = (reduction(found, "product", "noren", scheme, "paper") for scheme in ["ckks", "tfhe"])
    peer_ckks, peer_tfhe = (
        reduction(found, "product", name, scheme, "paper")
        for name, scheme in [("openfhe", "ckks"), ("tfhe-rs", "tfhe")]
    )
    tree = reduction(found, "product", "noren", "ckks", "tree")
    inner = [reduction(found, "inner-product", "noren", scheme, "tree") for scheme in ["ckks", "tfhe"]]
    recorded = found.recorded["tfhe_ms"]
    gates = [gate(found, name) for name in ["noren", "openfhe", "tfhe-rs"]]
    rows = [
        [
            "Integers: BGV of Lattigo is the fastest",
            f"of other libraries, one thread: {faster(found, 'bgv', 1)}; at depth 10 noren's BGV takes "
            f"{milliseconds(bgv)}, Lattigo's {milliseconds(other)}",
            "yes, among the libraries that it compared",
        ],
        [
            "CKKS: Lattigo is faster for few products, OpenFHE for many",
            f"one thread: {faster(found, 'ckks', 1)}; two threads, by depth: {faster(found, 'ckks', 2)}; noren: "
            f"{milliseconds(ckks)} at depth 10, Lattigo {milliseconds(peer)}",
            "**no** on one thread: Lattigo is faster at depth 10; yes where OpenFHE has more threads, which Lattigo "
            "does not use. The number of threads is not stated; that machine has 20 logical cores",
        ],
        [
            "OpenFHE takes less memory than Lattigo in every scheme",
            f"{memory(found)} (one thread); the smaller of both takes {own_memory(found)} of the memory of noren",
            "yes",
        ],
        [
            "TFHE: TFHEpp bootstraps 17.3 times faster than OpenFHE",
            f"TFHEpp is not run here: it is no package of a registry. Published: 26.9 and 464 ms; recorded on a Zen 5: "
            f"{number(recorded['TFHEpp gate'])} ms, and OpenFHE with HEXL {number(recorded['OpenFHE gate, HEXL'])} ms; "
            f"here noren {milliseconds(gates[0])}, TFHE-rs {milliseconds(gates[2])}, OpenFHE {milliseconds(gates[1])}",
            "the order holds; the factor is smaller with OpenFHE's later sets and HEXL",
        ],
        [
            "Product of n numbers: CKKS loses its lead where bootstraps become necessary; TFHE grows evenly",
            f"in a row, n = 100: noren {seconds(row_ckks)} in CKKS with bootstraps, {seconds(row_tfhe)} in TFHE; "
            f"OpenFHE {seconds(peer_ckks)}, TFHE-rs {seconds(peer_tfhe)}. As a tree in CKKS: {milliseconds(tree)}",
            "**no** in noren: the bootstrapped chain beats TFHE (a bootstrap takes under a tenth of OpenFHE's); "
            "yes between OpenFHE and TFHE-rs; as a tree no bootstrap is needed",
        ],
        [
            "Inner product: CKKS needs one product and no bootstrap, TFHE n of each",
            f"n = 100: {milliseconds(inner[0])} and {seconds(inner[1])}",
            "yes",
        ],
        [
            "A weak client: TFHE's keys take too long; encrypt in CKKS, and let the server switch",
            f"light keys of TFHE: {milliseconds(light(found))} on this machine; whole: {milliseconds(whole(found))}",
            "yes for whole keys; light keys, which grow on the server, are made in milliseconds",
        ],
    ]
    return table(["conclusion", "measured here", "does it hold?"], rows)


def light(found: Found) -> float | None:
    """Return the time of light keys of TFHE in nanoseconds."""
    fields = {"suite": "weak-client", "library": "noren", "op": "light_keys"}
    return min((record["median_ns"] for record in found.compared.select(**fields)), default=None)


def whole(found: Found) -> float | None:
    """Return the time of whole keys of TFHE in nanoseconds."""
    fields = {"suite": "weak-client", "library": "noren", "op": "tfhe_keys", "part": "full"}
    return min((record["median_ns"] for record in found.compared.select(**fields)), default=None)


def over_peers(found: Found, scheme: str) -> str:
    """Return how many times longer the fastest other library takes, over all depths, on one thread."""
    quotients = []
    for depth in DEPTHS:
        peers = [chain_time(found, name, scheme, depth) for name in ["openfhe", "lattigo"]]
        fastest = min((time for time in peers if time), default=None)
        quotients.append(ratio(fastest, chain_time(found, "noren", scheme, depth)))
    return span(quotients, "x")


def table_of(found: Found) -> str:
    """Return all tables and figures."""
    return items(
        [
            Item(
                "Table 1: N, t and bits of q by depth",
                "`noren compare`",
                f"{CHOOSING}#chains-of-multiplications)",
                "BFV 118 to 354, BGV 118 to 590, CKKS 145 to 506 bits",
                "BFV 96 to 360, BGV 105 to 396, CKKS 138 to 498 bits, the same N and t",
                "q is the least that leaves a right result; Lattigo takes the published bits in the same run",
            ),
            Item(
                "Table 2: sets of TFHE",
                "`noren-lab bench tfhe --workload OPENFHE_PAPER_LEGACY,TFHEPP_LEGACY`",
                "[sets](tfhe.md#sets)",
                "N = 2048, n = 500 or 512",
                "`OPENFHE_PAPER_LEGACY` and `TFHEPP_LEGACY` for the comparison; `BOOL` and `BOOL_128` for use",
                "the published sets have less than 128 bits of security by the tables of today",
            ),
            Item(
                "Table 3: CKKS for products and inner products",
                "`noren compare`",
                f"{CHOOSING}#the-product-of-n-numbers)",
                "N up to 2^16, 1805 bits, depth 32",
                "N = 2^13 or 2^14, up to 326 bits as a tree; N = 2^16, 1293 bits and bootstraps in a row",
                "a tree has the logarithm of the depth; inner products in N = 2^13, because 2^12 leaves few bits",
            ),
            Item(
                "Figure 1: time of chains",
                "`noren compare`, or `noren-lab bench chain`",
                f"{CHOOSING}#chains-of-multiplications)",
                "no numbers are printed",
                f"fastest other library over noren: BFV {over_peers(found, 'bfv')}, BGV {over_peers(found, 'bgv')}, "
                f"CKKS {over_peers(found, 'ckks')}",
                "the libraries run beside noren, one thread, the bits of table 1",
            ),
            Item(
                "Table 4: keys, encryption, gates of TFHE",
                "`noren compare`, or `noren-lab bench tfhe --workload BOOL,BOOL_128`",
                f"{CHOOSING}#tfhe-keys-and-gates)",
                "gate: OpenFHE 464 ms, TFHEpp 26.9 ms",
                f"gate: noren {milliseconds(gate(found, 'noren'))}, OpenFHE {milliseconds(gate(found, 'openfhe'))}; "
                "TFHEpp as published only",
                "sets of 128 bits by the tables of today; TFHEpp is no package of a registry, so it is not run",
            ),
            Item(
                "Figure 2: the product of n numbers",
                "`noren compare`, or `noren-lab bench product`",
                f"{CHOOSING}#the-product-of-n-numbers)",
                "no numbers are printed",
                f"n = 100: {milliseconds(reduction(found, 'product', 'noren', 'ckks', 'tree'))} in CKKS, "
                f"{seconds(reduction(found, 'product', 'noren', 'tfhe', 'tree'))} in TFHE, as trees",
                "16-bit integers in TFHE, where the publication does not state the width",
            ),
            Item(
                "Figure 3: the inner product of length n",
                "`noren compare`, or `noren-lab bench inner-product`",
                f"{CHOOSING}#the-inner-product-of-length-n)",
                "no numbers are printed",
                f"n = 100: {milliseconds(reduction(found, 'inner-product', 'noren', 'ckks', 'tree'))} in CKKS, "
                f"{seconds(reduction(found, 'inner-product', 'noren', 'tfhe', 'tree'))} in TFHE",
                "as for figure 2",
            ),
            Item(
                "Table 5: keys, encoding and encryption of clients",
                "`noren compare`, or `noren-lab bench weak-client`",
                f"{CHOOSING}#clients)",
                "server 653 ms (CKKS), 3.30 s (TFHE); Raspberry Pi Zero 2 W 4.13 s and 295 s (OpenFHE)",
                "this machine is measured; a Raspberry Pi is a model of counted operations",
                "no such device is at hand: the page names the model, and what it was checked with",
            ),
        ]
    )
