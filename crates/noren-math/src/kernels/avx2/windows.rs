//! Sums over windows of a table, modulo `2^64`.

use crate::kernels::rows::windows::vector_windows;

vector_windows!("avx2");
