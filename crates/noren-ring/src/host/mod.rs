//! The device of the CPU: fused verbs on rows, shared out to threads.
//!
//! A row is finished while it is in the cache: digits are extended, transformed and multiplied with all keys limb by limb, and
//! neither digits nor their sums go through memory where a verb can avoid it. Kernels are those of
//! [`noren_math::kernels`]; the [`engine`](crate::engine) shares out loops.

mod convert;
pub mod digits;
pub mod torus;

mod arithmetic;
mod automorphism;
mod centered;
mod decompose;
mod device;
mod divide;
mod elements;
mod giants;
mod image_sets;
mod key;
mod mask;
mod matrix;
mod operand;
mod plain;
mod product;
mod product_switch;
mod raise;
mod source;
mod steps;
mod streamed;
mod sums;
mod switch;

pub use device::Host;
