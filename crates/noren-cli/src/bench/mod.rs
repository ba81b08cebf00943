//! `noren bench`: how fast this machine is, in records that can be compared with those of other libraries.

mod advise;
pub(crate) mod beside;
mod bootstrap;
mod chain;
mod ckks;
mod client;
mod cyclotomic;
mod fused;
mod judge;
mod kernels;
mod lookup;
mod matvec;
mod measure;
mod parallel;
pub(crate) mod record;
mod reduction;
mod rns_heaan;
mod run;
pub(crate) mod shape;
mod sharing;
mod suite;
mod switching;
mod tfhe;
mod trace;
mod weak_client;

pub(crate) use suite::{Arguments, run};
