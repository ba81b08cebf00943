//! A device that counts what another one does.

use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use noren_math::machine::mapped::MappedRow;
use noren_ring::decompose::Decomposer;
use noren_ring::device::{Change, Device, Direction, Operation, Upload};
use noren_ring::divide::DivideRound;
use noren_ring::error::Error;
use noren_ring::handle::KeyHandle;
use noren_ring::images::Images;
use noren_ring::key::KeyPairs;
use noren_ring::matrix::Matrix;
use noren_ring::memory::Limbs;
use noren_ring::operand::Operand;
use noren_ring::poly::{Eval, Poly};
use noren_ring::product::{Pairs, ScaledProduct};
use noren_ring::product_switch::SwitchedProduct;
use noren_ring::small::SmallPolynomials;
use noren_ring::switch::{KeySwitch, Term};
use noren_ring::window::Window;

/// The names of the verbs of [`Device`] that were called, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// Verbs that compute with what the device holds.
    pub launches: Vec<&'static str>,
    /// Elements that the host wrote.
    pub uploads: Vec<&'static str>,
    /// Rows that the host read.
    pub downloads: Vec<&'static str>,
}

/// Hands each verb to another device, which must not be the host, whose rows are read without a verb.
#[derive(Debug)]
pub struct Counting<D> {
    device: D,
    trace: Mutex<Trace>,
}

impl<D: Device> Counting<D> {
    /// Counts what a device does.
    pub fn new(device: D) -> Self {
        Self { device, trace: Mutex::default() }
    }

    /// The trace, which begins anew.
    pub fn take(&self) -> Trace {
        mem::take(&mut *self.trace())
    }

    fn trace(&self) -> MutexGuard<'_, Trace> {
        self.trace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn launch(&self, verb: &'static str) -> &D {
        self.trace().launches.push(verb);
        &self.device
    }

    fn upload(&self, verb: &'static str) -> &D {
        self.trace().uploads.push(verb);
        &self.device
    }
}

impl<D: Device> Device for Counting<D> {
    fn name(&self) -> &str {
        self.device.name()
    }

    fn check_ring(&self, window: &Window) -> Result<(), Error> {
        self.device.check_ring(window)
    }

    fn reserve(&self, window: &Window, count: usize) {
        self.device.reserve(window, count);
    }

    fn zero(&self, window: &Window) -> Limbs {
        self.launch("zero").zero(window)
    }

    fn upload(&self, window: &Window, rows: Upload) -> Limbs {
        self.upload("upload").upload(window, rows)
    }

    fn map(&self, window: &Window, words: MappedRow) -> Limbs {
        self.upload("map").map(window, words)
    }

    fn download(&self, a: &Limbs, limb: usize, read: &mut dyn FnMut(&[u64])) {
        self.trace().downloads.push("download");
        self.device.download(a, limb, read);
    }

    fn transform(&self, window: &Window, a: &mut Limbs, direction: Direction) {
        self.launch("transform").transform(window, a, direction);
    }

    fn compute(&self, window: &Window, operation: Operation) -> Limbs {
        self.launch("compute").compute(window, operation)
    }

    fn update(&self, window: &Window, a: &mut Limbs, change: Change) {
        self.launch("update").update(window, a, change);
    }

    fn key(&self, window: &Window, digits: usize) -> KeyHandle {
        self.launch("key").key(window, digits)
    }

    fn map_key(&self, window: &Window, digits: usize, words: MappedRow) -> KeyHandle {
        self.upload("map_key").map_key(window, digits, words)
    }

    fn set_key_pair(&self, key: &mut KeyPairs, digit: usize, pair: [&Poly<Eval>; 2]) {
        self.launch("set_key_pair").set_key_pair(key, digit, pair);
    }

    fn key_half(&self, window: &Window, key: &KeyPairs, digit: usize, half: usize) -> Poly<Eval> {
        self.launch("key_half").key_half(window, key, digit, half)
    }

    fn key_words<'a>(&self, key: &'a KeyPairs) -> Option<&'a [u64]> {
        self.device.key_words(key)
    }

    fn gather(&self, window: &Window, operand: Operand) -> Poly<Eval> {
        self.launch("gather").gather(window, operand)
    }

    fn divide_round(&self, divide: &DivideRound, xs: Vec<Poly<Eval>>) -> Vec<Poly<Eval>> {
        self.launch("divide_round").divide_round(divide, xs)
    }

    fn switch(&self, decomposer: &Decomposer, ring_q: &Window, c: Operand, switch: &KeySwitch) -> [Poly<Eval>; 2] {
        self.launch("switch").switch(decomposer, ring_q, c, switch)
    }

    fn switch_each(
        &self,
        decomposer: &Decomposer,
        ring_q: &Window,
        c: &Poly<Eval>,
        switch: &KeySwitch,
    ) -> Vec<[Poly<Eval>; 2]> {
        self.launch("switch_each").switch_each(decomposer, ring_q, c, switch)
    }

    fn sum_in_steps(
        &self,
        decomposer: &Decomposer,
        ring_q: &Window,
        c: [&Poly<Eval>; 2],
        steps: &[&[Term]],
        divide: &DivideRound,
    ) -> [Poly<Eval>; 2] {
        self.launch("sum_in_steps").sum_in_steps(decomposer, ring_q, c, steps, divide)
    }

    fn multiply_matrix(
        &self,
        decomposer: &Decomposer,
        ring_q: &Window,
        c: [&Poly<Eval>; 2],
        matrix: &Matrix,
    ) -> [Poly<Eval>; 2] {
        self.launch("multiply_matrix").multiply_matrix(decomposer, ring_q, c, matrix)
    }

    fn scaled_product(&self, product: &ScaledProduct, factors: &[Pairs]) -> [Poly<Eval>; 3] {
        self.launch("scaled_product").scaled_product(product, factors)
    }

    fn switched_product(
        &self,
        product: &SwitchedProduct,
        decomposer: &Decomposer,
        key: &KeyPairs,
        factors: &[Pairs],
    ) -> [Poly<Eval>; 2] {
        self.launch("switched_product").switched_product(product, decomposer, key, factors)
    }

    fn raise(&self, window: &Window, c: &Poly<Eval>) -> Poly<Eval> {
        self.launch("raise").raise(window, c)
    }

    fn raise_and_switch(&self, divide: &DivideRound, c: [&Poly<Eval>; 2], key: &KeyPairs) -> [Poly<Eval>; 2] {
        self.launch("raise_and_switch").raise_and_switch(divide, c, key)
    }

    fn mask(&self, window: &Window, k: [&Poly<Eval>; 2], v: &[i64], e: [&[i64]; 2], m: &Poly<Eval>) -> [Poly<Eval>; 2] {
        self.upload("mask").mask(window, k, v, e, m)
    }

    fn images(&self, window: &Window, count: usize) -> Limbs {
        self.launch("images").images(window, count)
    }

    fn set_image(&self, images: &mut Images, i: usize, image: [&Poly<Eval>; 2]) {
        self.launch("set_image").set_image(images, i, image);
    }

    fn streamed_sums(
        &self,
        window: &Window,
        sets: &[&Images],
        factors: &SmallPolynomials,
    ) -> Vec<Vec<[Poly<Eval>; 2]>> {
        self.launch("streamed_sums").streamed_sums(window, sets, factors)
    }
}
