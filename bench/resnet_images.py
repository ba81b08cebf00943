"""Images of 32 x 32 pixels in three colours: ten kinds of textured shapes, with noise."""

from __future__ import annotations

from typing import Any

import numpy as np

SIDE, KINDS = 32, 10
NOISE = 0.15
FARTHEST = 3.0
"""Pixels have mean 0 and deviation 1 in each image, and end here."""


def images(count: int, seed: int) -> tuple[Any, Any]:
    """Return images, as (count, 3, 32, 32), and the kind of each."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, KINDS, count)
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
    found = np.empty((count, 3, SIDE, SIDE), dtype=np.float32)
    for at, kind in enumerate(kinds):
        middle, radius, turn = rng.uniform(13, 19, 2), rng.uniform(7, 11), rng.uniform(-0.3, 0.3)
        u = (np.cos(turn) * (x - middle[0]) + np.sin(turn) * (y - middle[1])) / radius
        v = (np.cos(turn) * (y - middle[1]) - np.sin(turn) * (x - middle[0])) / radius
        colours = rng.uniform(-0.8, 0.8, (2, 3, 1, 1))
        waves = [np.sin(rng.uniform(0.2, 1.2) * x + rng.uniform(0.2, 1.2) * y + rng.uniform(0, 6)) for _ in range(2)]
        textures = [colour + rng.uniform(0.1, 0.35) * wave for colour, wave in zip(colours, waves, strict=True)]
        found[at] = np.where(_inside(kind, u, v), *textures)
    found += rng.normal(0, NOISE, found.shape)
    found -= found.mean(axis=(1, 2, 3), keepdims=True)
    return np.clip(found / found.std(axis=(1, 2, 3), keepdims=True), -FARTHEST, FARTHEST), kinds


def _inside(kind: int, u: Any, v: Any) -> Any:
    distance, angle = np.hypot(u, v), np.arctan2(v, u)
    shapes = (
        distance < 1,
        np.maximum(abs(u), abs(v)) < 0.85,
        (v < 0.7) & (abs(u) < (v + 1) / 1.7),
        (np.minimum(abs(u), abs(v)) < 0.3) & (distance < 1.1),
        (distance < 1.1) & (distance > 0.6),
        abs(u) + abs(v) < 1.1,
        (abs(v) < 0.35) & (abs(u) < 1.2),
        distance < 0.75 + 0.35 * np.cos(5 * angle),
        (distance < 1.1) & (np.hypot(u - 0.5, v) > 0.8),
        (np.maximum(abs(u), abs(v)) < 1) & (np.maximum(abs(u), abs(v)) > 0.55),
    )
    return shapes[kind]
