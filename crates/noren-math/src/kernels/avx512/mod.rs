//! Kernels for x86-64 with AVX-512 and IFMA: eight residues to a vector, products of 52 bits.
//!
//! `vpmadd52hi` gives the quotient of Shoup's product at 2^52 in one step; this is why primes stay
//! below 2^50.

use std::arch::is_x86_feature_detected;

use super::avx2::binary;
use super::table::Kernels;

mod arithmetic;
mod butterfly;
mod chacha;
mod conversion;
mod fft;
mod float;
mod gaussian;
mod horner;
mod multiples;
mod normal;
mod ntt;
mod panels;
mod rows;
mod sums;
mod torus;
mod windows;

pub(super) const TABLE: Kernels = Kernels {
    name: "avx512",
    supported: || {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512ifma")
            && is_x86_feature_detected!("pclmulqdq")
    },
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
    gaussian: gaussian::gaussian,
    permute: rows::permute,
    permute_add_assign: rows::permute_add_assign,
    ntt_forward: ntt::forward,
    ntt_inverse: ntt::inverse,
    fft_forward: fft::forward,
    fft_inverse: fft::inverse,
    horner: horner::horner,
    add_binary_product: binary::add_binary_product,
    window_combination: windows::window_combination,
    window_dots: windows::window_dots,
    chacha20: chacha::chacha20,
    normal: normal::normal,
    inside_circle: normal::inside_circle,
    sub_multiples: multiples::sub_multiples,
    torus32: torus::word32::TABLE,
    torus64: torus::word64::TABLE,
    panels: panels::TABLE,
};
