//! Every circuit against its definition, on the cleartext twin and encrypted, with the levels and operations that it
//! promises.

mod approximations;
mod bounds;
mod derivatives;
mod encrypted;
mod linear_maps;
mod numbers;
mod polynomials;
mod products;
mod sums;
