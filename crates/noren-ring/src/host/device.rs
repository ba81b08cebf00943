//! The verbs of [`Host`], each in a file of its own.

use noren_math::machine::mapped::MappedRow;
use noren_math::ntt::general::order_of_roots;

use crate::decompose::Decomposer;
use crate::device::{Change, Device, Direction, Operation, Upload};
use crate::divide::DivideRound;
use crate::error::Error;
use crate::handle::KeyHandle;
use crate::host::key::HostKey;
use crate::images::Images;
use crate::key::KeyPairs;
use crate::matrix::Matrix;
use crate::memory::Limbs;
use crate::operand::Operand;
use crate::poly::{Eval, Poly};
use crate::product::{Pairs, ScaledProduct};
use crate::product_switch::SwitchedProduct;
use crate::small::SmallPolynomials;
use crate::switch::{KeySwitch, Term};
use crate::window::Window;

/// The CPU. Elements lie in the memory of the process, one aligned row for each prime.
#[derive(Debug, Clone, Copy, Default)]
pub struct Host;

impl Device for Host {
    fn name(&self) -> &str {
        "host"
    }

    fn check_ring(&self, window: &Window) -> Result<(), Error> {
        if window.basis().has_transforms() {
            return Ok(());
        }
        let index = window.index();
        Err(Error::NoTransforms { index: index.index(), order: order_of_roots(index) })
    }

    fn reserve(&self, window: &Window, count: usize) {
        window.engine().reserve_rows(count, window.limbs(), window.degree());
    }

    fn zero(&self, window: &Window) -> Limbs {
        Limbs::new(window.engine().zero_rows(window.limbs(), window.degree()), window.range().start)
    }

    fn upload(&self, window: &Window, rows: Upload) -> Limbs {
        let poly: Poly<Eval> = match rows {
            Upload::Rows(write) => window.build(false, write),
            Upload::Ranges(write) => window.build_pointwise(false, write),
        };
        poly.into_limbs()
    }

    fn map(&self, window: &Window, words: MappedRow) -> Limbs {
        let rows = window.engine().mapped_rows(words, window.limbs(), window.degree());
        Limbs::new(rows, window.range().start)
    }

    fn download(&self, a: &Limbs, limb: usize, read: &mut dyn FnMut(&[u64])) {
        read(a.limb(limb));
    }

    fn transform(&self, window: &Window, a: &mut Limbs, direction: Direction) {
        window.transform(a, direction);
    }

    fn compute(&self, window: &Window, operation: Operation) -> Limbs {
        window.compute(operation)
    }

    fn update(&self, window: &Window, a: &mut Limbs, change: Change) {
        window.change(a, change);
    }

    fn key(&self, window: &Window, digits: usize) -> KeyHandle {
        HostKey::zero(window, digits)
    }

    fn map_key(&self, window: &Window, digits: usize, words: MappedRow) -> KeyHandle {
        HostKey::mapped(window, digits, words)
    }

    fn set_key_pair(&self, key: &mut KeyPairs, digit: usize, pair: [&Poly<Eval>; 2]) {
        key.set(digit, pair);
    }

    fn key_half(&self, window: &Window, key: &KeyPairs, digit: usize, half: usize) -> Poly<Eval> {
        window.build(false, |limb, row| key.copy_row(digit, half, limb, row))
    }

    fn key_words<'a>(&self, key: &'a KeyPairs) -> Option<&'a [u64]> {
        Some(key.words())
    }

    fn gather(&self, window: &Window, operand: Operand) -> Poly<Eval> {
        window.gather(operand)
    }

    fn divide_round(&self, divide: &DivideRound, xs: Vec<Poly<Eval>>) -> Vec<Poly<Eval>> {
        divide.apply_all(xs)
    }

    fn switch(&self, decomposer: &Decomposer, ring_q: &Window, c: Operand, switch: &KeySwitch) -> [Poly<Eval>; 2] {
        decomposer.switch(ring_q, c, switch)
    }

    fn switch_each(
        &self,
        decomposer: &Decomposer,
        ring_q: &Window,
        c: &Poly<Eval>,
        switch: &KeySwitch,
    ) -> Vec<[Poly<Eval>; 2]> {
        decomposer.switch_each(ring_q, c, switch)
    }

    fn sum_in_steps(
        &self,
        decomposer: &Decomposer,
        ring_q: &Window,
        c: [&Poly<Eval>; 2],
        steps: &[&[Term]],
        divide: &DivideRound,
    ) -> [Poly<Eval>; 2] {
        decomposer.sum_in_steps(ring_q, c, steps, divide)
    }

    fn multiply_matrix(
        &self,
        decomposer: &Decomposer,
        ring_q: &Window,
        c: [&Poly<Eval>; 2],
        matrix: &Matrix,
    ) -> [Poly<Eval>; 2] {
        match ring_q.index().is_power_of_two() {
            true => decomposer.multiply_matrix(ring_q, c, matrix),
            false => decomposer.multiply_matrix_in_steps(ring_q, c, matrix),
        }
    }

    fn scaled_product(&self, product: &ScaledProduct, factors: &[Pairs]) -> [Poly<Eval>; 3] {
        product.multiply(factors)
    }

    fn switched_product(
        &self,
        product: &SwitchedProduct,
        decomposer: &Decomposer,
        key: &KeyPairs,
        factors: &[Pairs],
    ) -> [Poly<Eval>; 2] {
        product.multiply(decomposer, key, factors)
    }

    fn raise(&self, window: &Window, c: &Poly<Eval>) -> Poly<Eval> {
        window.raise(c)
    }

    fn raise_and_switch(&self, divide: &DivideRound, c: [&Poly<Eval>; 2], key: &KeyPairs) -> [Poly<Eval>; 2] {
        divide.raise_and_switch(c, key)
    }

    fn mask(&self, window: &Window, k: [&Poly<Eval>; 2], v: &[i64], e: [&[i64]; 2], m: &Poly<Eval>) -> [Poly<Eval>; 2] {
        window.mask(k, v, e, m)
    }

    fn images(&self, window: &Window, count: usize) -> Limbs {
        let rows = window.engine().unset_rows(window.limbs(), 2 * count * window.degree());
        Limbs::new(rows, window.range().start)
    }

    fn set_image(&self, images: &mut Images, i: usize, image: [&Poly<Eval>; 2]) {
        images.set(i, image);
    }

    fn streamed_sums(
        &self,
        window: &Window,
        sets: &[&Images],
        factors: &SmallPolynomials,
    ) -> Vec<Vec<[Poly<Eval>; 2]>> {
        window.streamed_sums(sets, factors)
    }
}
