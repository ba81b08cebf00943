//! An element as it enters a key switch: written down, or a sum that never is.

use crate::poly::{Eval, Poly};
use crate::window::Window;

/// An element that a key switch reads block by block.
///
/// The parts of a product of ciphertexts are sums of few products. A switch forms them where it needs them, so that they
/// never go through memory.
#[derive(Debug, Clone, Copy)]
pub enum Operand<'a> {
    /// The element.
    Element(&'a Poly<Eval>),
    /// `sum_j a_j b_j` over the pairs `(a_j, b_j)`.
    Products(&'a [(&'a Poly<Eval>, &'a Poly<Eval>)]),
    /// Products, multiples and a constant, all added.
    Sum(&'a Sum<'a>),
}

/// `sum_j a_j b_j + sum_k w_k x_k + c` with integers `w_k` and c.
///
/// Integers are given by their residues, one for each limb of the ring that reads the sum, from its first limb on.
#[derive(Debug, Clone, Default)]
pub struct Sum<'a> {
    /// The pairs `(a_j, b_j)`.
    pub products: Vec<(&'a Poly<Eval>, &'a Poly<Eval>)>,
    /// The elements `x_k` with the residues of `w_k`.
    pub multiples: Vec<(&'a Poly<Eval>, Vec<u64>)>,
    /// The residues of c, if it is not 0.
    pub constant: Option<Vec<u64>>,
    /// The first limb of that ring.
    pub first: usize,
}

impl<'a> From<&'a Poly<Eval>> for Operand<'a> {
    fn from(element: &'a Poly<Eval>) -> Self {
        Self::Element(element)
    }
}

impl<'a> Operand<'a> {
    /// # Panics
    /// If an element lacks a limb of the ring.
    pub(crate) fn check_covers(&self, ring: &Window) {
        self.elements(|element| ring.check_covers(element));
    }

    /// Whether an element is secret.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        let mut secret = false;
        self.elements(|element| secret |= element.is_secret());
        secret
    }

    fn elements(&self, mut visit: impl FnMut(&Poly<Eval>)) {
        match self {
            Self::Element(element) => visit(element),
            Self::Products(pairs) => pairs.iter().for_each(|(a, b)| {
                visit(a);
                visit(b);
            }),
            Self::Sum(sum) => {
                sum.products.iter().flat_map(|&(a, b)| [a, b]).for_each(&mut visit);
                sum.multiples.iter().for_each(|(x, _)| visit(x));
            }
        }
    }
}
