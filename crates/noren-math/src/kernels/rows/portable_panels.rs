//! The reference of panels.

use crate::kernels::rows::operands::KeyRows;
use crate::kernels::rows::panels::{Panel, PanelKernels};
use crate::kernels::rows::places::GROUP;
use crate::kernels::rows::wide_reduction::WideReduction;
use crate::modulus::Modulus;

/// The reference.
pub(in crate::kernels) const TABLE: PanelKernels = PanelKernels { products, stretched, regroup, spread };

fn products(out: &mut [&mut [u64]], &Panel { factors, images, .. }: &Panel, add: bool, q: &Modulus) {
    let (reduction, n, sums) = (WideReduction::new(q), out[0].len(), out.len() / 2);
    let terms = images.len() / (2 * n);
    for (row, out) in out.iter_mut().enumerate() {
        let (b, half) = (row / 2, row % 2);
        for (word, out) in out.iter_mut().enumerate() {
            let (group, lane) = (word / GROUP, word % GROUP);
            let factor = |j: usize| factors[((group * sums + b) * terms + j) * GROUP + lane];
            let image = |j: usize| images[((group * terms + j) * 2 + half) * GROUP + lane];
            let sum: u128 = (0..terms).map(|j| u128::from(factor(j)) * u128::from(image(j))).sum();
            *out = reduction.reduce(if add { sum + u128::from(*out) } else { sum });
        }
    }
}

fn stretched(out: &mut [[&mut [u64]; 2]], factors: &[&[u64]], rows: KeyRows, q: &Modulus) {
    let (reduction, n, terms) = (WideReduction::new(q), out[0][0].len(), factors.len() / out.len());
    for (b, pair) in out.iter_mut().enumerate() {
        for (half, out) in pair.iter_mut().enumerate() {
            for (i, out) in out.iter_mut().enumerate() {
                let products = factors[b * terms..][..terms].iter().zip(rows.pairs(n));
                let products = products.map(|(f, y)| u128::from(f[i * f.len() / n]) * u128::from(y[half][i]));
                *out = reduction.reduce(products.sum());
            }
        }
    }
}

pub(in crate::kernels) fn regroup(out: &mut [u64], a: &[u64], width: usize) {
    let rows = a.len() / width;
    for (r, row) in a.chunks_exact(width).enumerate() {
        for (g, group) in row.as_chunks::<GROUP>().0.iter().enumerate() {
            out[(g * rows + r) * GROUP..][..GROUP].copy_from_slice(group);
        }
    }
}

pub(in crate::kernels) fn spread(out: &mut [u64], row: &[u64], width: usize, stride: usize) {
    row.chunks_exact(width).zip(out.chunks_mut(stride)).for_each(|(piece, out)| out[..width].copy_from_slice(piece));
}
