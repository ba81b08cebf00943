//! Kernels that make several sums of products side by side.

/// Expands to these kernels over the lanes in scope, whose functions need the CPU features that the string names.
macro_rules! fma_panels {
    ($features:literal) => {
        use super::arithmetic::numbers;
        use super::lanes::{Vector, WIDTH, broadcast, load, splat, store};
        use super::sums::{Fold, Sum, Unit};
        use crate::kernels::rows::operands::KeyRows;
        use crate::kernels::rows::panels::{Panel, PanelKernels};
        use crate::kernels::rows::places::GROUP;
        use crate::kernels::rows::portable_panels as portable;
        use crate::modulus::Modulus;

        pub(super) const TABLE: PanelKernels =
            PanelKernels { products, stretched, regroup: portable::regroup, spread: portable::spread };

        /// How many vectors a group of words is.
        const COLUMNS: usize = GROUP / WIDTH;

        /// The vectors of a group.
        #[inline]
        #[target_feature(enable = $features)]
        fn vectors(words: &[u64; GROUP]) -> [Vector; COLUMNS] {
            let words = words.as_chunks().0;
            [numbers(load(&words[0])), numbers(load(&words[1]))]
        }

        /// Writes both halves of a sum at a group of words: the products of factors with images, and what is there if `add`.
        #[inline]
        #[target_feature(enable = $features)]
        fn write_group(
            out: [&mut [u64; GROUP]; 2],
            products: impl Iterator<Item = ([Vector; COLUMNS], [[Vector; COLUMNS]; 2])>,
            add: bool,
            fold: &Fold,
        ) {
            let unit = Unit::ANY;
            let mut sums = out.each_ref().map(|out| {
                let low = if add { vectors(out) } else { [splat(0.0); COLUMNS] };
                low.map(|low| Sum::start(unit, low))
            });
            for (i, (factor, image)) in products.enumerate() {
                if i > 0 && i % unit.terms == 0 {
                    sums = sums.map(|sums| sums.map(|sum| Sum::start(unit, fold.reduce(sum))));
                }
                for (sums, image) in sums.iter_mut().zip(image) {
                    for (sum, (factor, image)) in sums.iter_mut().zip(factor.into_iter().zip(image)) {
                        sum.add(factor, image);
                    }
                }
            }
            for (out, sums) in out.into_iter().zip(sums) {
                for (out, sum) in out.as_chunks_mut().0.iter_mut().zip(sums) {
                    store(out, fold.words(sum));
                }
            }
        }

        #[target_feature(enable = $features)]
        fn products(out: &mut [&mut [u64]], &Panel { factors, images, .. }: &Panel, add: bool, q: &Modulus) {
            let (n, sums, fold) = (out[0].len(), out.len() / 2, Fold::new(q, Unit::ANY));
            let terms = images.len() / (2 * n);
            let (images, factors) = (images.as_chunks::<GROUP>().0.as_chunks::<2>().0, factors.as_chunks::<GROUP>().0);
            for (group, images) in images.chunks_exact(terms).enumerate() {
                let factors = factors[group * sums * terms..].chunks_exact(terms);
                for (out, factors) in out.as_chunks_mut::<2>().0.iter_mut().zip(factors) {
                    let products = factors.iter().zip(images);
                    let products =
                        products.map(|(factor, [left, right])| (vectors(factor), [vectors(left), vectors(right)]));
                    let out = out.each_mut().map(|row| &mut row.as_chunks_mut().0[group]);
                    write_group(out, products, add, &fold);
                }
            }
        }

        #[target_feature(enable = $features)]
        fn stretched(out: &mut [[&mut [u64]; 2]], factors: &[&[u64]], rows: KeyRows, q: &Modulus) {
            let (n, terms, fold) = (out[0][0].len(), factors.len() / out.len(), Fold::new(q, Unit::ANY));
            if terms == 0 {
                return out.as_flattened_mut().iter_mut().for_each(|row| row.fill(0));
            }
            let stretch = n / factors[0].len() / GROUP;
            for (out, factors) in out.iter_mut().zip(factors.chunks_exact(terms)) {
                for group in 0..n / GROUP {
                    let row = |j: usize| &rows.words[j * rows.stride + group * GROUP..].as_chunks().0[0];
                    let products = factors.iter().enumerate().map(|(j, factor)| {
                        let factor = numbers(broadcast(factor[group / stretch]));
                        ([factor; COLUMNS], [vectors(row(2 * j)), vectors(row(2 * j + 1))])
                    });
                    let out = out.each_mut().map(|row| &mut row.as_chunks_mut().0[group]);
                    write_group(out, products, false, &fold);
                }
            }
        }
    };
}

pub(in crate::kernels) use fma_panels;
