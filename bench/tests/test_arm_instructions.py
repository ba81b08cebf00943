"""Counts of instructions: what the plugin prints, and the cells that follow."""

import pytest

import arm_instructions


def test_the_last_count_of_the_plugin_counts() -> None:
    assert arm_instructions.instructions("instructions 7\nwarning\ninstructions 12\n") == 12
    with pytest.raises(ValueError, match="no count"):
        arm_instructions.instructions("qemu: no such file")


def test_cells_are_millions_ratios_and_instructions_per_cycle() -> None:
    arm, neon, x86 = [3_000_000] * 3, [2_000_000] * 3, [2_500_000] * 3
    counts = dict(zip(arm_instructions.VARIANTS, [arm, neon, x86], strict=True))
    times = {"phone": [1e-3] * 3, "pi4": [2e-3] * 3, "pi-zero": [6e-3] * 3}
    first = arm_instructions.rows(counts, times)[0]
    assert first == ["keys", "3.00", "2.00", "2.50", "1.20", "1.25", "1.00", "0.50"]


def test_kernels_show_counts_of_one_unit_and_their_ratio() -> None:
    assert arm_instructions.kernel_row("mul", "product", 14.008, 11.02) == ["mul", "product", "14.01", "11.02", "0.79"]
    assert arm_instructions.kernel_row("torus", "transform", 109_667.0, 34_529.0)[2:] == ["109667", "34529", "0.31"]
