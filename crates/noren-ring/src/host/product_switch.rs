//! Products times t/Q in two parts: the third is switched, and one division ends everything.

use crate::decompose::Decomposer;
use crate::host::switch::Added;
use crate::key::KeyPairs;
use crate::poly::{Eval, Poly};
use crate::product::Pairs;
use crate::product_switch::SwitchedProduct;

impl SwitchedProduct {
    /// Both parts of the sum of the products.
    pub(super) fn multiply(&self, decomposer: &Decomposer, key: &KeyPairs, factors: &[Pairs]) -> [Poly<Eval>; 2] {
        let [s0, s1, s2] = self.product.tensor(factors);
        let third = self.product.divide.apply_all(vec![s2]).remove(0);
        let added = Added { elements: [Some((&s0).into()), Some((&s1).into())], factors: Some(&self.factors) };
        decomposer.switch_and_add(self.product.ring(), &third, key, added, &self.divide)
    }
}
