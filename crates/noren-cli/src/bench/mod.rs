//! `noren bench`: how fast this machine is, in records that can be compared with those of other libraries.

mod ckks;
mod client;
mod kernels;
mod measure;
mod record;
mod shape;
mod suite;

pub(crate) use suite::{Arguments, run};
