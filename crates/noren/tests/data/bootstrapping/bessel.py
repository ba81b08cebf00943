"""Writes bessel.json: J_k(2 pi K / 2^r) for k = 0 .. 63, to 25 digits. Needs mpmath.

    python bessel.py > bessel.json
"""

import json

from mpmath import besselj, mp, mpf, nstr, pi

mp.dps = 60


def values(half_width: float, doublings: int) -> list[str]:
    frequency = 2 * pi * mpf(half_width) / 2**doublings
    return [nstr(besselj(k, frequency), 25) for k in range(64)]


cases = [(14.02, 3), (14.02, 4), (13.5, 3), (20.0, 3), (26.0, 8), (1.0, 0)]
print(json.dumps([{"half_width": k, "doublings": r, "values": values(k, r)} for k, r in cases], indent=1))
