//! Matrices times elements, by baby steps and giant steps.

use crate::automorphism::Automorphism;
use crate::divide::DivideRound;
use crate::key::KeyPairs;
use crate::poly::{Eval, Poly};
use crate::switch::Term;

/// A matrix as it acts on an element `(c_0, c_1)`: sums of products with the images
/// `y_a = psi_a(P c_0 + sum_j d_j k_j0, sum_j d_j k_j1)`, where the `d_j` are the digits of c_1.
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a> {
    /// The automorphisms `psi_a` of the images with their keys, or nothing for `(P c_0, P c_1)`.
    pub images: &'a [Option<Term<'a>>],
    /// The sums `S_b` with their automorphisms, at least one.
    pub giants: &'a [GiantStep<'a>],
    /// How the sums are joined.
    pub order: Order,
    /// The division by the special primes' product P.
    pub mod_down: &'a DivideRound,
    /// The division at the end: by P, or by P and the last limbs.
    pub divide: &'a DivideRound,
}

/// A sum `S = sum_i f_i y_i` of products with images, and what becomes of it.
#[derive(Debug, Clone)]
pub struct GiantStep<'a> {
    /// The automorphism of the sum, with its key; the identity if it is missing.
    pub rotation: Option<(&'a KeyPairs, &'a Automorphism)>,
    /// The positions of images, each with the factor, over the limbs of the keys or more. A factor in a
    /// [subring](crate::ring::Ring::subring) whose words stand for 8 words and more may be given as its element.
    pub terms: Vec<(usize, &'a Poly<Eval>)>,
}

/// How the sums of giant steps are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// `sum_b psi_b(S_b)`.
    Separate,
    /// `S_0 + psi_1(S_1 + psi_2(S_2 + ..))`.
    InTurn,
}
