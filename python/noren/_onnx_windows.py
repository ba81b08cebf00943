"""Windows of images and signals, for convolutions and pools of ONNX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from noren._answers import Array
from noren._blocks import Blocks, Pattern


@dataclass(frozen=True)
class Windows:
    """The windows of a convolution or a pool along axes of space."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes of elements within windows, in a view."""
        return tuple(range(-len(self.kernel), 0))

    @staticmethod
    def of_pool(attributes: Mapping[str, Any], space: Sequence[int]) -> Windows:
        """Return the windows of a pool."""
        # Runtimes differ in whether the padding is that of windows with gaps.
        if attributes.get("auto_pad", "NOTSET") != "NOTSET" and set(attributes.get("dilations", ())) - {1}:
            raise ValueError("auto_pad with dilations: pads are taken in its place")
        return Windows.of(attributes, space, attributes["kernel_shape"])

    @staticmethod
    def of(attributes: Mapping[str, Any], space: Sequence[int], kernel: Sequence[int]) -> Windows:
        """Return the windows that the attributes of a node declare, for axes of some extents."""
        ones = (1,) * len(space)
        strides, dilations = (tuple(attributes.get(name, ones)) for name in ("strides", "dilations"))
        spans = [step * (k - 1) + 1 for step, k in zip(dilations, kernel, strict=True)]
        mode = attributes.get("auto_pad", "NOTSET")
        if mode in ("NOTSET", "VALID"):
            given = attributes.get("pads", (0, 0) * len(space)) if mode == "NOTSET" else (0, 0) * len(space)
            pads = tuple(zip(given[: len(space)], given[len(space) :], strict=True))
        else:
            pads = ()
            for extent, stride, span in zip(space, strides, spans, strict=True):
                total = max((-(-extent // stride) - 1) * stride + span - extent, 0)
                less, more = total // 2, total - total // 2
                pads += ((less, more) if mode == "SAME_UPPER" else (more, less),)
        whole = [extent + sum(pad) - span for extent, pad, span in zip(space, pads, spans, strict=True)]
        if min(whole) < 0:
            raise ValueError(f"windows of {tuple(spans)} elements in {tuple(space)}")
        if attributes.get("ceil_mode", 0) and any(rest % stride for rest, stride in zip(whole, strides, strict=True)):
            raise ValueError("ceil_mode=1 of windows that leave a rest: ceil_mode=0 is taken")
        return Windows(tuple(kernel), strides, dilations, pads)

    def view(self, x: Array) -> Array:
        """Return all windows, of shape (rows, channels, places ..., kernel ...)."""
        spans = tuple(step * (k - 1) + 1 for step, k in zip(self.dilations, self.kernel, strict=True))
        padded = np.pad(x, ((0, 0), (0, 0), *self.pads))
        view = np.lib.stride_tricks.sliding_window_view(padded, spans, tuple(range(2, x.ndim)))
        steps = tuple(slice(None, None, step) for step in (*self.strides, *self.dilations))
        return view[(slice(None), slice(None), *steps)]

    def blocks(self, space: Sequence[int], weights: Array, groups: int) -> Blocks:
        """Return the matrix of a convolution with weights of shape (outputs, channels of a group, kernel ...)."""
        counts = tuple(
            (extent + sum(pad) - step * (k - 1) - 1) // stride + 1
            for extent, k, stride, step, pad in zip(
                space, self.kernel, self.strides, self.dilations, self.pads, strict=True
            )
        )
        steps, results = ([prod(extents[at + 1 :]) for at in range(len(space))] for extents in (space, counts))
        outputs, inputs = weights.shape[:2]
        channels = np.arange(outputs)[:, np.newaxis] // (outputs // groups) * inputs + np.arange(inputs)
        patterns: list[Pattern] = []
        places, values = [], []
        for offset in np.ndindex(self.kernel):
            pattern, row, column = [], channels * prod(space), np.arange(outputs)[:, np.newaxis] * prod(counts)
            for at, k in enumerate(offset):
                # The places whose window has an element there, not padding.
                start = k * self.dilations[at] - self.pads[at][0]
                first = max(0, -(start // self.strides[at]))
                last = min(counts[at] - 1, (space[at] - 1 - start) // self.strides[at])
                pattern.append((last - first + 1, self.strides[at] * steps[at], results[at]))
                row, column = row + (start + first * self.strides[at]) * steps[at], column + first * results[at]
            if min(extent for extent, _, _ in pattern) > 0:
                own = np.broadcast_arrays(len(patterns), row, column)
                patterns.append(tuple(pattern))
                places.append(np.stack([part.ravel() for part in own], axis=1))
                values.append(weights[(slice(None), slice(None), *offset)].ravel())
        rows, columns = inputs * groups * prod(space), outputs * prod(counts)
        if not patterns:
            return Blocks(rows, columns, (), np.zeros((0, 3), dtype=np.int64), np.zeros(0))
        return Blocks(rows, columns, tuple(patterns), np.concatenate(places), np.concatenate(values))

    def elements(self, space: Sequence[int]) -> list[Array]:
        """Return the elements of each window along each axis, as (places, kernel); others stand for the padding."""
        found = []
        for at, extent in enumerate(space):
            stride, step, (before, after) = self.strides[at], self.dilations[at], self.pads[at]
            count = (extent + before + after - step * (self.kernel[at] - 1) - 1) // stride + 1
            index = np.arange(count)[:, np.newaxis] * stride - before + step * np.arange(self.kernel[at])
            own = (index >= 0) & (index < extent)
            if not own.any(axis=1).all():
                raise ValueError("windows of padding alone")
            found.append(np.where(own, index, np.take_along_axis(index, own.argmax(axis=1)[:, np.newaxis], axis=1)))
        return found
