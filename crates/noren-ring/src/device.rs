//! The door for devices: what must be able to hold elements and to compute on them.

use std::fmt;
use std::ops::Range;

use noren_math::machine::mapped::MappedRow;

use crate::automorphism::Automorphism;
use crate::decompose::Decomposer;
use crate::divide::DivideRound;
use crate::error::Error;
use crate::handle::KeyHandle;
use crate::images::Images;
use crate::key::KeyPairs;
use crate::key_layout::KeyLayout;
use crate::matrix::Matrix;
use crate::memory::Limbs;
use crate::operand::Operand;
use crate::poly::{Eval, Poly};
use crate::product::{Pairs, ScaledProduct};
use crate::product_switch::SwitchedProduct;
use crate::small::SmallPolynomials;
use crate::switch::{KeySwitch, Term};
use crate::window::Window;

/// Holds elements in a memory of its own, and computes on them.
///
/// [`Ring`](crate::ring::Ring) is the face of every device: it checks operands, and hands each verb on. What a verb computes is
/// exact, so every device gives the same residues; the one freedom is that of [`DivideRound`] next to halves. [`Host`](crate::host::Host) is the device of the CPU: its
/// verbs are fused, so that a row is finished while it is in the cache, and shared out to threads. The crate
/// `noren-naive` holds the shortest device that there can be: each verb as its formula says, one after the other.
///
/// A verb gets elements that were made by the same device, over the limbs of `window` or more; `window` names the limbs of the
/// result and the engine of the host, whose threads may prepare what is uploaded. A result is secret if an operand is.
pub trait Device: fmt::Debug + Send + Sync {
    /// The name of the device, for messages.
    fn name(&self) -> &str;

    /// Whether the device computes in this ring; by default in all.
    ///
    /// # Errors
    /// Why the ring is refused.
    fn check_ring(&self, window: &Window) -> Result<(), Error> {
        let _ = window;
        Ok(())
    }

    /// Makes memory for `count` elements that are to be held together; by default it does nothing.
    fn reserve(&self, window: &Window, count: usize) {
        let _ = (window, count);
    }

    /// Zero.
    fn zero(&self, window: &Window) -> Limbs;

    /// Rows that the host writes: residues in `[0, q)`.
    fn upload(&self, window: &Window, rows: Upload) -> Limbs;

    /// Rows that lie in a file, one after the other, as many words as the window has: by default they are uploaded.
    fn map(&self, window: &Window, words: MappedRow) -> Limbs {
        let (first, degree) = (window.range().start, window.degree());
        let row = |limb: usize, out: &mut [u64]| out.copy_from_slice(&words[(limb - first) * degree..][..degree]);
        self.upload(window, Upload::Rows(&row))
    }

    /// Shows the host the row of the prime at position `limb`.
    fn download(&self, a: &Limbs, limb: usize, read: &mut dyn FnMut(&[u64]));

    /// Changes the form of an element over exactly the limbs of `window`.
    fn transform(&self, window: &Window, a: &mut Limbs, direction: Direction);

    /// A new element.
    fn compute(&self, window: &Window, operation: Operation) -> Limbs;

    /// Changes the limbs of `window` of an element; others stay as they are.
    fn update(&self, window: &Window, a: &mut Limbs, change: Change);

    /// Pairs of zeros over `window` for `digits` digits.
    fn key(&self, window: &Window, digits: usize) -> KeyHandle;

    /// Pairs that lie in a file in the order of [`KeyLayout`], as many words as it has. They are not looked at. By default they are
    /// uploaded.
    fn map_key(&self, window: &Window, digits: usize, words: MappedRow) -> KeyHandle {
        let layout = KeyLayout::new(window, digits);
        let mut key = KeyPairs::new(window, digits, self.key(window, digits));
        for digit in 0..digits {
            let pair = [0, 1].map(|half| {
                let row = |limb: usize, row: &mut [u64]| layout.read(&words, (digit, half, limb), row);
                Poly::from_limbs(self.upload(window, Upload::Rows(&row)))
            });
            self.set_key_pair(&mut key, digit, pair.each_ref());
        }
        key.handle().clone()
    }

    /// Sets the pair of a digit of a key to which there is no other handle; the elements are over the limbs of the key or more.
    fn set_key_pair(&self, key: &mut KeyPairs, digit: usize, pair: [&Poly<Eval>; 2]);

    /// Half 0 or 1 of the pair of a digit, over the limbs of `window`.
    fn key_half(&self, window: &Window, key: &KeyPairs, digit: usize, half: usize) -> Poly<Eval>;

    /// All words of a key in the order of [`KeyLayout`], where the device has them so in the memory of the host.
    fn key_words<'a>(&self, key: &'a KeyPairs) -> Option<&'a [u64]> {
        let _ = key;
        None
    }

    /// An operand, written down.
    fn gather(&self, window: &Window, operand: Operand) -> Poly<Eval>;

    /// The verb of [`DivideRound`], for each element.
    fn divide_round(&self, divide: &DivideRound, xs: Vec<Poly<Eval>>) -> Vec<Poly<Eval>>;

    /// The verb of [`KeySwitch`], for the digits of `c`.
    fn switch(&self, decomposer: &Decomposer, ring_q: &Window, c: Operand, switch: &KeySwitch) -> [Poly<Eval>; 2];

    /// The verb of [`KeySwitch`] with each term alone.
    fn switch_each(
        &self,
        decomposer: &Decomposer,
        ring_q: &Window,
        c: &Poly<Eval>,
        switch: &KeySwitch,
    ) -> Vec<[Poly<Eval>; 2]>;

    /// [`Ring::sum_in_steps`](crate::ring::Ring::sum_in_steps).
    fn sum_in_steps(
        &self,
        decomposer: &Decomposer,
        ring_q: &Window,
        c: [&Poly<Eval>; 2],
        steps: &[&[Term]],
        divide: &DivideRound,
    ) -> [Poly<Eval>; 2];

    /// The verb of [`Matrix`].
    fn multiply_matrix(
        &self,
        decomposer: &Decomposer,
        ring_q: &Window,
        c: [&Poly<Eval>; 2],
        matrix: &Matrix,
    ) -> [Poly<Eval>; 2];

    /// The verb of [`ScaledProduct`].
    fn scaled_product(&self, product: &ScaledProduct, factors: &[Pairs]) -> [Poly<Eval>; 3];

    /// The verb of [`SwitchedProduct`].
    fn switched_product(
        &self,
        product: &SwitchedProduct,
        decomposer: &Decomposer,
        key: &KeyPairs,
        factors: &[Pairs],
    ) -> [Poly<Eval>; 2];

    /// [`Ring::raise`](crate::ring::Ring::raise).
    fn raise(&self, window: &Window, c: &Poly<Eval>) -> Poly<Eval>;

    /// [`Ring::raise_and_switch`](crate::ring::Ring::raise_and_switch).
    fn raise_and_switch(&self, divide: &DivideRound, c: [&Poly<Eval>; 2], key: &KeyPairs) -> [Poly<Eval>; 2];

    /// [`Ring::mask`](crate::ring::Ring::mask); the results are secret.
    fn mask(&self, window: &Window, k: [&Poly<Eval>; 2], v: &[i64], e: [&[i64]; 2], m: &Poly<Eval>) -> [Poly<Eval>; 2];

    /// Rows for the words of `count` [`Images`] at each limb.
    fn images(&self, window: &Window, count: usize) -> Limbs;

    /// Sets image `i` of [`Images`].
    fn set_image(&self, images: &mut Images, i: usize, image: [&Poly<Eval>; 2]);

    /// [`Ring::streamed_sums`](crate::ring::Ring::streamed_sums).
    fn streamed_sums(&self, window: &Window, sets: &[&Images], factors: &SmallPolynomials)
    -> Vec<Vec<[Poly<Eval>; 2]>>;
}

/// A function that writes the rows of [`Device::upload`], each by the position of its prime. It may be called for several rows at a time,
/// in any order.
#[derive(Clone, Copy)]
pub enum Upload<'a> {
    /// A whole row at a time.
    Rows(&'a WriteRow<'a>),
    /// Any range of a row at a time: words that do not depend on each other.
    Ranges(&'a WriteRange<'a>),
}

/// Writes the row at a limb.
pub type WriteRow<'a> = dyn Fn(usize, &mut [u64]) + Send + Sync + 'a;

/// Writes a range of the row at a limb.
pub type WriteRange<'a> = dyn Fn(usize, Range<usize>, &mut [u64]) + Send + Sync + 'a;

/// The direction of a number-theoretic transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From coefficients to evaluations.
    Forward,
    /// From evaluations to coefficients.
    Inverse,
}

/// An element that is computed word by word. Integers are given by their residues, one for each limb of the window.
#[derive(Debug, Clone, Copy)]
pub enum Operation<'a> {
    /// `a + b`.
    Add(&'a Limbs, &'a Limbs),
    /// `a - b`.
    Sub(&'a Limbs, &'a Limbs),
    /// `-a`.
    Neg(&'a Limbs),
    /// `a b`, in evaluation form.
    Mul(&'a Limbs, &'a Limbs),
    /// `a w` for an integer w.
    Scale(&'a Limbs, &'a [u64]),
    /// `a(X^k)`, in evaluation form.
    Image(&'a Limbs, &'a Automorphism),
}

/// A change of an element x, word by word. Integers are given by their residues, one for each limb of the window.
#[derive(Debug, Clone, Copy)]
pub enum Change<'a> {
    /// `x += b`.
    Add(&'a Limbs),
    /// `x -= b`.
    Sub(&'a Limbs),
    /// `x = -x`.
    Neg,
    /// `x *= b`, in evaluation form.
    Mul(&'a Limbs),
    /// `x += a b`, in evaluation form.
    AddProduct(&'a Limbs, &'a Limbs),
    /// `x *= w` for an integer w.
    Scale(&'a [u64]),
    /// `x += a w` for an integer w.
    AddScaled(&'a Limbs, &'a [u64]),
    /// `x += w` for an integer w, in evaluation form.
    AddConstant(&'a [u64]),
    /// `x += a(X^k)`, in evaluation form.
    AddImage(&'a Limbs, &'a Automorphism),
}

impl Operation<'_> {
    /// Whether an operand is secret.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        match self {
            Self::Add(a, b) | Self::Sub(a, b) | Self::Mul(a, b) => a.is_secret() || b.is_secret(),
            Self::Neg(a) | Self::Scale(a, _) | Self::Image(a, _) => a.is_secret(),
        }
    }
}

impl Change<'_> {
    /// Whether an operand is secret.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        match self {
            Self::Add(a) | Self::Sub(a) | Self::Mul(a) | Self::AddScaled(a, _) | Self::AddImage(a, _) => a.is_secret(),
            Self::AddProduct(a, b) => a.is_secret() || b.is_secret(),
            Self::Neg | Self::Scale(_) | Self::AddConstant(_) => false,
        }
    }
}
