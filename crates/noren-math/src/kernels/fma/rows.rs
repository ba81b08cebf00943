//! Kernels that treat each word of a row alike, over lanes of `f64`.

/// Expands to these kernels over the lanes in scope, whose functions need the CPU features that the string names.
macro_rules! fma_rows {
    ($features:literal) => {
        use super::lanes::{
            Integers as Vector, WIDTH, add_words, arrange, broadcast, fence, load, signed_16, store, stream,
        };
        use super::residues::{Product, Reduction, Scale, SignedReduction, Sum, add_above};
        use crate::kernels::random::{chacha, gaussian, normal};
        use crate::kernels::rows::vector::vector_rows;

        vector_rows!($features);

        /// See `chacha::chacha20`.
        #[target_feature(enable = $features)]
        pub(super) fn chacha20(out: &mut [u64], key: &[u32; 8], counter: u64) {
            chacha::chacha20::<8>(out, key, counter);
        }

        /// See `normal::normal`.
        #[target_feature(enable = $features)]
        pub(super) fn normal(out: &mut [u64], pairs: &[[f64; 2]], scale: f64) {
            normal::normal(out, pairs, scale);
        }

        /// See `normal::inside_circle`.
        #[target_feature(enable = $features)]
        pub(super) fn inside_circle(pairs: &mut [[f64; 2]], words: &[u64]) -> usize {
            normal::inside_circle(pairs, words)
        }

        /// See `gaussian::gaussian`.
        #[target_feature(enable = $features)]
        pub(super) fn gaussian(out: &mut [i64], words: &[u64]) {
            gaussian::gaussian(out, words);
        }

        #[target_feature(enable = $features)]
        pub(super) fn unpack_halves(out: &mut [u64], packed: &[u64], q: &Modulus) {
            let prime = broadcast(q.value());
            for (out, &word) in out.as_chunks_mut::<WIDTH>().0.iter_mut().zip(packed) {
                store(out, add_words(signed_16(word), prime));
            }
        }

        /// Entries that stay within four words, as those of automorphisms do four by four, are a shuffle of one vector.
        #[target_feature(enable = $features)]
        pub(super) fn permute(out: &mut [u64], a: &[u64], perm: &[u32]) {
            let groups = a.as_chunks::<WIDTH>().0;
            let (out, out_rest) = out.as_chunks_mut::<WIDTH>();
            let (perm, perm_rest) = perm.as_chunks::<WIDTH>();
            for (out, perm) in out.iter_mut().zip(perm) {
                match groups.get(perm[0] as usize / WIDTH) {
                    Some(group) if together(perm) => store(out, shuffle(load(group), perm)),
                    _ => portable::permute(out, a, perm),
                }
            }
            portable::permute(out_rest, a, perm_rest);
        }

        #[target_feature(enable = $features)]
        pub(super) fn permute_add_assign(acc: &mut [u64], a: &[u64], perm: &[u32], q: &Modulus) {
            let residues = Sum::new(q);
            let groups = a.as_chunks::<WIDTH>().0;
            let (acc, acc_rest) = acc.as_chunks_mut::<WIDTH>();
            let (perm, perm_rest) = perm.as_chunks::<WIDTH>();
            for (acc, perm) in acc.iter_mut().zip(perm) {
                if together(perm) {
                    let image = shuffle(load(&groups[perm[0] as usize / WIDTH]), perm);
                    store(acc, residues.add(load(acc), image));
                } else {
                    portable::permute_add_assign(acc, a, perm, q);
                }
            }
            portable::permute_add_assign(acc_rest, a, perm_rest, q);
        }

        /// Whether the entries are those of one vector.
        #[inline]
        fn together(perm: &[u32; WIDTH]) -> bool {
            perm.iter().all(|source| source / WIDTH as u32 == perm[0] / WIDTH as u32)
        }

        /// The words of a vector that the entries name by their place in it.
        #[inline]
        #[target_feature(enable = $features)]
        fn shuffle(group: Vector, perm: &[u32; WIDTH]) -> Vector {
            arrange(group, load(&perm.map(u64::from)))
        }
    };
}

pub(in crate::kernels) use fma_rows;
