"""Trains the ResNet-20 of `resnet_network.py` with jax: ``python bench/resnet_train.py weights.npz``, 20 minutes.

At first with max(y, 0) as activation, which becomes the polynomial while the network learns. What leaves [-3, 3] costs,
since a polynomial grows there.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import jax  # type: ignore[import-not-found]
import jax.numpy as jnp  # type: ignore[import-not-found]
import numpy as np

from resnet_images import KINDS, images
from resnet_network import BLOCKS, EPSILON, FACTOR, MEAN, SHIFT, STAGES

COUNT, BATCH, RATE, DECAY = 10_000, 32, 2e-3, 1e-3
BEFORE, UNTIL, INSIDE = 0.35, 0.6, 3.0
"""The parts of the time when the activation begins to change and is the polynomial; where outputs should stay."""
PENALTY = 0.3
SAMPLE = 2000
"""The images that the statistics of the normalisations are taken from, in the end."""

Tree = dict[str, Any]


def made(rng: np.random.Generator) -> Tree:
    """Return weights before training."""
    weights: Tree = {}

    def kernel(name: str, outputs: int, inputs: int, size: int) -> None:
        weights[name] = rng.normal(0, (inputs * size**2) ** -0.5, (size, size, inputs, outputs)).astype(np.float32)

    def normal(name: str, channels: int) -> None:
        weights[name] = (np.ones(channels, np.float32), np.zeros(channels, np.float32))

    inputs = STAGES[0][0]
    kernel("w0", inputs, 3, 3)
    normal("b0", inputs)
    for stage, (channels, _) in enumerate(STAGES):
        for block in range(BLOCKS):
            key = f"{stage}{block}"
            kernel(f"w{key}a", channels, inputs, 3)
            normal(f"b{key}a", channels)
            kernel(f"w{key}b", channels, channels, 3)
            normal(f"b{key}b", channels)
            if inputs != channels:
                kernel(f"s{key}", channels, inputs, 1)
            inputs = channels
    weights["fc"] = rng.normal(0, 0.1, (inputs, KINDS)).astype(np.float32)
    weights["fb"] = np.zeros(KINDS, np.float32)
    return weights


def scores(weights: Tree, x: Any, mix: Any) -> tuple[Any, Tree, Any]:
    """Return scores, with the statistics of this batch, and how far outputs of normalisations leave their interval."""
    found: Tree = {}
    far = []

    def layer(name: str, x: Any) -> Any:
        mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
        found[name] = (mean, variance)
        scale, shift = weights[name]
        y = (x - mean) / jnp.sqrt(variance + EPSILON) * scale + shift
        far.append(jnp.mean(jax.nn.relu(jnp.abs(y) - INSIDE) ** 2))
        return (1 - mix) * jax.nn.relu(y) + mix * (FACTOR * (y + SHIFT) ** 2 - MEAN)

    def convolution(x: Any, name: str, stride: int = 1) -> Any:
        pad = weights[name].shape[0] // 2
        numbers = ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(
            x, weights[name], (stride,) * 2, ((pad, pad),) * 2, dimension_numbers=numbers
        )

    rows = layer("b0", convolution(x, "w0"))
    for stage, (_, stride) in enumerate(STAGES):
        for block in range(BLOCKS):
            key, step = f"{stage}{block}", stride if block == 0 else 1
            inner = layer(f"b{key}a", convolution(rows, f"w{key}a", step))
            kept = convolution(rows, f"s{key}", step) if f"s{key}" in weights else rows
            rows = layer(f"b{key}b", convolution(inner, f"w{key}b") + kept)
    return rows.mean((1, 2)) @ weights["fc"] + weights["fb"], found, sum(far)


def loss(weights: Tree, x: Any, kinds: Any, mix: Any) -> Any:
    """Return what training makes small."""
    found, _, far = scores(weights, x, mix)
    return PENALTY * mix * far - jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(found), kinds[:, None], 1))


def step(weights: Tree, means: Tree, squares: Tree, count: Any, x: Any, kinds: Any, rate: Any, mix: Any) -> Any:
    """Return weights and moments after one batch, by Adam with decay."""
    value, slopes = jax.value_and_grad(loss)(weights, x, kinds, mix)
    size = jnp.sqrt(sum(jnp.sum(slope**2) for slope in jax.tree.leaves(slopes)))
    slopes = jax.tree.map(lambda slope: slope * jnp.minimum(1, 1 / size), slopes)
    means = jax.tree.map(lambda mean, slope: 0.9 * mean + 0.1 * slope, means, slopes)
    squares = jax.tree.map(lambda square, slope: 0.99 * square + 0.01 * slope**2, squares, slopes)

    def moved(weight: Any, mean: Any, square: Any) -> Any:
        own = mean / (1 - 0.9**count) / (jnp.sqrt(square / (1 - 0.99**count)) + 1e-6)
        return weight - rate * (own + DECAY * weight * (weight.ndim > 1))

    return jax.tree.map(moved, weights, means, squares), means, squares, value


def main() -> None:
    """Train, and write all arrays as halves of 32 bits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("to")
    parser.add_argument("--seconds", type=float, default=1200)
    given = parser.parse_args()
    x, kinds = images(COUNT, seed=1)
    x = x.transpose(0, 2, 3, 1)
    rng = np.random.default_rng(0)
    weights = made(rng)
    means, squares = (jax.tree.map(jnp.zeros_like, weights) for _ in range(2))
    compiled = jax.jit(step)
    start, count, part = time.monotonic(), 0, 0.0
    while part < 1:
        rate = RATE * min(1, (count + 1) / 50) * 0.5 * (1 + np.cos(np.pi * part))
        mix = float(np.clip((part - BEFORE) / (UNTIL - BEFORE), 0, 1))
        at = rng.integers(0, COUNT, BATCH)
        count += 1
        weights, means, squares, value = compiled(weights, means, squares, count, x[at], kinds[at], rate, mix)
        part = (time.monotonic() - start) / given.seconds
        if count % 50 == 0:
            print(f"{count} batches, activation {mix:.2f}, loss {float(value):.3f}", flush=True)
    arrays: Tree = {}
    statistics = jax.jit(lambda weights, x: scores(weights, x, 1.0)[1])(weights, x[:SAMPLE])
    for name, value in weights.items():
        parts = (
            {name + part: own for part, own in zip("gsmv", (*value, *statistics[name]), strict=True)}
            if name in statistics
            else {name: value}
        )
        arrays.update({key: np.asarray(own, dtype=np.float16) for key, own in parts.items()})
    np.savez_compressed(given.to, **arrays)


if __name__ == "__main__":
    main()
