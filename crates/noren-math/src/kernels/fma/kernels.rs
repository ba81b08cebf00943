//! All kernels of an instruction set with fused multiply-add, from its lanes.

/// Expands to the kernels over the module `lanes` in scope, whose functions need the CPU features that the string names,
/// and to `KERNELS`, a table of them.
macro_rules! fma_kernels {
    ($features:literal) => {
        mod arithmetic {
            crate::kernels::fma::fma_arithmetic!($features);
        }
        mod conversion {
            crate::kernels::fma::fma_conversion!($features);
        }
        mod fft {
            crate::kernels::fma::fma_fft!($features);
        }
        mod horner {
            crate::kernels::fma::fma_horner!($features);
        }
        mod ntt {
            crate::kernels::fma::fma_ntt!($features);
        }
        mod panels {
            crate::kernels::fma::fma_panels!($features);
        }
        mod residues {
            crate::kernels::fma::fma_residues!($features);
        }
        mod rows {
            crate::kernels::fma::fma_rows!($features);
        }
        mod sums {
            crate::kernels::fma::fma_sums!($features);
        }
        mod torus {
            crate::kernels::fma::fma_torus!($features);
        }

        /// The kernels over these lanes; the others, and name and detection, are those of the portable table.
        const KERNELS: crate::kernels::table::Kernels = crate::kernels::table::Kernels {
            add: rows::add,
            add_streamed: rows::add_streamed,
            add_assign: rows::add_assign,
            sub: rows::sub,
            sub_streamed: rows::sub_streamed,
            sub_assign: rows::sub_assign,
            neg: rows::neg,
            neg_assign: rows::neg_assign,
            mul: rows::mul,
            mul_streamed: rows::mul_streamed,
            mul_assign: rows::mul_assign,
            mul_add_assign: rows::mul_add_assign,
            mul_scalar: rows::mul_scalar,
            mul_scalar_assign: rows::mul_scalar_assign,
            mul_scalar_add_assign: rows::mul_scalar_add_assign,
            sub_mul_scalar_assign: rows::sub_mul_scalar_assign,
            add_scalar_assign: rows::add_scalar_assign,
            inner_product: sums::inner_product,
            inner_product_pair: sums::inner_product_pair,
            add_moved_products: sums::add_moved_products,
            weighted_sums: conversion::weighted_sums,
            quotients: conversion::quotients,
            reduce: rows::reduce,
            reduce_centred: rows::reduce_centred,
            reduce_signed: rows::reduce_signed,
            unpack_halves: rows::unpack_halves,
            gaussian: rows::gaussian,
            permute: rows::permute,
            permute_add_assign: rows::permute_add_assign,
            ntt_forward: ntt::forward,
            ntt_inverse: ntt::inverse,
            fft_forward: fft::forward,
            fft_inverse: fft::inverse,
            horner: horner::horner,
            chacha20: rows::chacha20,
            normal: rows::normal,
            inside_circle: rows::inside_circle,
            torus32: torus::word32::TABLE,
            torus64: torus::word64::TABLE,
            panels: panels::TABLE,
            ..crate::kernels::portable::TABLE
        };
    };
}

pub(in crate::kernels) use fma_kernels;
