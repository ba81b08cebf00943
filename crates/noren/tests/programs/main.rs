//! Every program against naive statistics, on the cleartext twin and encrypted, with the levels and keys that it plans.

mod data;
mod encrypted;
mod large;
mod layouts;
mod models;
mod statistics;
