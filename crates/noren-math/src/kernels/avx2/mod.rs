//! Kernels for x86-64 with AVX2 and FMA: four residues to a vector, multiplied as integers in `f64`.
//!
//! A fused multiply-add gives both halves of a product of 106 bits exactly, where the integer
//! instructions of AVX2 multiply 32 bits. All results are exact integers; see `arithmetic.rs`.

use std::arch::is_x86_feature_detected;

use super::table::Kernels;

mod arithmetic;
mod conversion;
mod fft;
mod float;
mod multiples;
mod ntt;
mod panels;
mod rows;
mod sums;
mod torus;

pub(super) const TABLE: Kernels = Kernels {
    name: "avx2",
    supported: || is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
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
    chacha20: rows::chacha20,
    normal: rows::normal,
    inside_circle: rows::inside_circle,
    sub_multiples: multiples::sub_multiples,
    torus32: torus::word32::TABLE,
    torus64: torus::word64::TABLE,
    panels: panels::TABLE,
};
