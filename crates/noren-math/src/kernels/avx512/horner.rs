//! Horner's rule over eight lanes.

use super::float::{Vector, WIDTH, add, load, mul, splat, store, sub};
use crate::kernels::transforms::horner::vector_horner;

vector_horner!("avx512f");
