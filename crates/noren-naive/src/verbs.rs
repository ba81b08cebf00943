//! The verbs, each as its formula says.

use noren_ring::automorphism::Automorphism;
use noren_ring::decompose::Decomposer;
use noren_ring::device::{Change, Device, Direction, Operation, Upload};
use noren_ring::divide::DivideRound;
use noren_ring::handle::KeyHandle;
use noren_ring::images::Images;
use noren_ring::key::KeyPairs;
use noren_ring::matrix::{Matrix, Order};
use noren_ring::memory::Limbs;
use noren_ring::operand::Operand;
use noren_ring::poly::{Eval, Poly};
use noren_ring::product::{Pairs, ScaledProduct};
use noren_ring::product_switch::SwitchedProduct;
use noren_ring::small::SmallPolynomials;
use noren_ring::switch::{KeySwitch, Term};
use noren_ring::window::Window;
use num_bigint::BigInt;

use crate::element::{Element, NaiveKey};
use crate::numbers::{centred, coefficients, element, product, residue};
use crate::rows::NaiveRows;

/// The device.
#[derive(Debug, Clone, Copy, Default)]
pub struct Naive;

/// Two elements.
type Pair = [Element; 2];

impl Naive {
    /// The digits of an element modulo `Q_l`: `c` in `(-D_j/2, D_j/2)` modulo the product D_j of each digit's primes.
    fn digits(decomposer: &Decomposer, ring_q: &Window, c: &Element) -> Vec<Element> {
        let (ring_qp, first) = (decomposer.ring_qp(ring_q), decomposer.gadget().special());
        let digit = |digit: std::ops::Range<usize>| {
            let limbs: Vec<usize> = digit.map(|i| first + i).collect();
            element(&ring_qp, &coefficients(ring_q, c, &limbs), c.is_secret())
        };
        decomposer.gadget().digits_at(ring_q.limbs()).into_iter().map(digit).collect()
    }

    /// `(sum_j d_j k_j0, sum_j d_j k_j1)`.
    fn sums(window: &Window, digits: &[Element], key: &KeyPairs) -> Pair {
        [0, 1].map(|half| {
            let term =
                |(j, digit): (usize, &Element)| digit.over(window).mul(&Element::of_key(key, j, half, window), window);
            digits.iter().enumerate().map(term).fold(Element::zero(window), |sum, term| sum.add(&term, window))
        })
    }

    /// `sum_k psi_k(m + sum_j d_j k_j0, sum_j d_j k_j1)`.
    fn moved_sums(window: &Window, digits: &[Element], terms: &[Term], m: &Element) -> Pair {
        terms.iter().fold([Element::zero(window), Element::zero(window)], |[s0, s1], term| {
            let [u0, u1] = Self::sums(window, digits, term.key);
            [
                s0.add(&u0.add(m, window).image(window, term.automorphism), window),
                s1.add(&u1.image(window, term.automorphism), window),
            ]
        })
    }

    /// `P c` over the limbs of a window, for the product P of the special primes that keys use.
    fn times_special(decomposer: &Decomposer, window: &Window, c: &Element) -> Element {
        let gadget = decomposer.gadget();
        let p = product(window, gadget.skipped()..gadget.special());
        c.over(window).scale(window, |limb| residue(&p, window.basis().modulus(limb).value()))
    }

    /// `round(w x / D)`: with `t = w x mod D` in `(-D/2, D/2)`, the difference `w x - t` is a multiple of D.
    fn divide(divide: &DivideRound, x: &Element) -> Element {
        let (kept, whole) = (divide.kept(), divide.kept().whole());
        let is_needed = |limb: &usize| divide.dropped().contains(limb) || kept.range().contains(limb);
        let scaled = x.scale(&whole, |limb| if is_needed(&limb) { divide.multiplier(limb) } else { 0 });
        let t = element(kept, &coefficients(&whole, &scaled, divide.dropped()), x.is_secret());
        let d = product(&whole, divide.dropped().iter().copied());
        let inverse = |limb: usize| {
            let q = kept.basis().modulus(limb);
            q.inv(residue(&d, q.value()))
        };
        scaled.over(kept).sub(&t, kept).scale(kept, inverse)
    }

    fn operand(window: &Window, operand: &Operand) -> Element {
        let at = |poly: &Poly<Eval>| Element::at(poly.as_limbs(), window);
        let products = |pairs: &[(&Poly<Eval>, &Poly<Eval>)]| {
            let product = |(a, b): &(&Poly<Eval>, &Poly<Eval>)| at(a).mul(&at(b), window);
            pairs.iter().map(product).fold(Element::zero(window), |sum, product| sum.add(&product, window))
        };
        match operand {
            Operand::Element(a) => at(a),
            Operand::Products(pairs) => products(pairs),
            Operand::Sum(sum) => {
                let scaled = |(x, w): &(&Poly<Eval>, Vec<u64>)| at(x).scale(window, |limb| w[limb - sum.first]);
                let total = sum.multiples.iter().map(scaled).fold(products(&sum.products), |a, b| a.add(&b, window));
                let Some(constant) = &sum.constant else { return total };
                let row = |limb: usize| vec![constant[limb - sum.first]; window.degree()];
                total.add(&Element::build(window.range(), false, row), window)
            }
        }
    }

    /// `round((P a_i + s_i) / D)` for the sums of a switch with these terms.
    fn switched(
        decomposer: &Decomposer,
        ring_q: &Window,
        digits: &[Element],
        terms: &[Term],
        switch: &KeySwitch,
    ) -> [Poly<Eval>; 2] {
        let window = decomposer.ring_qp(ring_q);
        let times_p = |c: Element| Self::times_special(decomposer, &window, &c);
        let m = switch.moved.map_or(Element::zero(&window), |m| times_p(Element::at(m.as_limbs(), ring_q)));
        let sums = Self::moved_sums(&window, digits, terms, &m);
        let mut added = switch.added.iter().map(|a| a.as_ref().map(|a| times_p(Self::operand(ring_q, a))));
        sums.map(|sum| match added.next().flatten() {
            Some(added) => Self::divide(switch.divide, &sum.add(&added, &window)).into_poly(),
            None => Self::divide(switch.divide, &sum).into_poly(),
        })
    }

    /// `psi(m + sum_j d_j k_j0, sum_j d_j k_j1)` for the digits of `round(second / P)`.
    fn rotate(
        decomposer: &Decomposer,
        ring_q: &Window,
        [m, second]: Pair,
        (key, automorphism): (&KeyPairs, &Automorphism),
        mod_down: &DivideRound,
    ) -> Pair {
        let digits = Self::digits(decomposer, ring_q, &Self::divide(mod_down, &second).over(ring_q));
        let term = Term { key, automorphism: Some(automorphism) };
        Self::moved_sums(&decomposer.ring_qp(ring_q), &digits, &[term], &m)
    }

    /// The three parts of `sum_k a_k b'_k` modulo `Q B`, for `b' = round(b B / Q)`.
    fn tensor(product_of: &ScaledProduct, factors: &[Pairs]) -> [Element; 3] {
        let (ring_q, b_limbs) = (product_of.ring(), product_of.auxiliary());
        let window = ring_q.whole().window(b_limbs.start..ring_q.range().end);
        let q_limbs: Vec<usize> = ring_q.range().collect();
        let (q, b) = (product(ring_q, q_limbs.iter().copied()), product(ring_q, b_limbs));
        let integers = |a: &Poly<Eval>| coefficients(ring_q, &Element::at(a.as_limbs(), ring_q), &q_limbs);
        let extended = |a: &&Poly<Eval>| element(&window, &integers(a), a.is_secret());
        let scaled = |a: &&Poly<Eval>| {
            let round = |x: BigInt| {
                let x = x * &b;
                (&x - centred(&x, &q)) / &q
            };
            element(&window, &integers(a).into_iter().map(round).collect::<Vec<_>>(), a.is_secret())
        };
        let mut sums = [(); 3].map(|()| Element::zero(&window));
        for [a, b] in factors {
            let ([a0, a1], [b0, b1]) = (a.each_ref().map(extended), b.each_ref().map(scaled));
            let cross = a0.mul(&b1, &window).add(&a1.mul(&b0, &window), &window);
            let parts = [a0.mul(&b0, &window), cross, a1.mul(&b1, &window)];
            sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum = sum.add(&part, &window));
        }
        sums
    }
}

impl Device for Naive {
    fn name(&self) -> &str {
        "naive"
    }

    fn zero(&self, window: &Window) -> Limbs {
        Element::zero(window).into_limbs()
    }

    fn upload(&self, window: &Window, rows: Upload) -> Limbs {
        let row = |limb| {
            let mut row = vec![0; window.degree()];
            match rows {
                Upload::Rows(write) => write(limb, &mut row),
                Upload::Ranges(write) => write(limb, 0..window.degree(), &mut row),
            }
            row
        };
        Element::build(window.range(), false, row).into_limbs()
    }

    fn download(&self, a: &Limbs, limb: usize, read: &mut dyn FnMut(&[u64])) {
        read(&NaiveRows::of(a).rows()[limb - a.window().start]);
    }

    fn transform(&self, window: &Window, a: &mut Limbs, direction: Direction) {
        let element = Element::of(a);
        let transformed = match direction {
            Direction::Forward => element.forward(window),
            Direction::Inverse => element.inverse(window),
        };
        *a = transformed.into_limbs();
    }

    fn compute(&self, window: &Window, operation: Operation) -> Limbs {
        let (at, start) = (|a: &Limbs| Element::at(a, window), window.range().start);
        let result = match operation {
            Operation::Add(a, b) => at(a).add(&at(b), window),
            Operation::Sub(a, b) => at(a).sub(&at(b), window),
            Operation::Neg(a) => Element::zero(window).sub(&at(a), window),
            Operation::Mul(a, b) => at(a).mul(&at(b), window),
            Operation::Scale(a, residues) => at(a).scale(window, |limb| residues[limb - start]),
            Operation::Image(a, automorphism) => at(a).image(window, Some(automorphism)),
        };
        result.into_limbs()
    }

    fn update(&self, window: &Window, a: &mut Limbs, change: Change) {
        let (at, start) = (|a: &Limbs| Element::at(a, window), window.range().start);
        let x = at(a);
        let changed = match change {
            Change::Add(b) => x.add(&at(b), window),
            Change::Sub(b) => x.sub(&at(b), window),
            Change::Neg => Element::zero(window).sub(&x, window),
            Change::Mul(b) => x.mul(&at(b), window),
            Change::AddProduct(b, c) => x.add(&at(b).mul(&at(c), window), window),
            Change::Scale(residues) => x.scale(window, |limb| residues[limb - start]),
            Change::AddScaled(b, residues) => x.add(&at(b).scale(window, |limb| residues[limb - start]), window),
            Change::AddConstant(residues) => {
                let constant = |limb: usize| vec![residues[limb - start]; window.degree()];
                x.add(&Element::build(window.range(), false, constant), window)
            }
            Change::AddImage(b, automorphism) => x.add(&at(b).image(window, Some(automorphism)), window),
        };
        let mut all = Element::of(a);
        window.range().for_each(|limb| all.row_mut(limb).copy_from_slice(changed.row(limb)));
        let secret = changed.is_secret();
        *a = all.into_limbs();
        a.mark(secret);
    }

    fn key(&self, window: &Window, digits: usize) -> KeyHandle {
        let zero = || [Element::zero(window), Element::zero(window)];
        KeyHandle::new(NaiveKey((0..digits).map(|_| zero()).collect()))
    }

    fn set_key_pair(&self, key: &mut KeyPairs, digit: usize, pair: [&Poly<Eval>; 2]) {
        let pair = pair.map(|half| Element::at(half.as_limbs(), key.ring()));
        let NaiveKey(pairs) = key.handle_mut().get_mut().expect("a key of this device, of which there is one handle");
        pairs[digit] = pair;
    }

    fn key_half(&self, window: &Window, key: &KeyPairs, digit: usize, half: usize) -> Poly<Eval> {
        Element::of_key(key, digit, half, window).into_poly()
    }

    fn gather(&self, window: &Window, operand: Operand) -> Poly<Eval> {
        Self::operand(window, &operand).into_poly()
    }

    fn divide_round(&self, divide: &DivideRound, xs: Vec<Poly<Eval>>) -> Vec<Poly<Eval>> {
        xs.iter().map(|x| Self::divide(divide, &Element::of(x.as_limbs())).into_poly()).collect()
    }

    fn switch(&self, decomposer: &Decomposer, ring_q: &Window, c: Operand, switch: &KeySwitch) -> [Poly<Eval>; 2] {
        let digits = Self::digits(decomposer, ring_q, &Self::operand(ring_q, &c));
        Self::switched(decomposer, ring_q, &digits, switch.terms, switch)
    }

    fn switch_each(
        &self,
        decomposer: &Decomposer,
        ring_q: &Window,
        c: &Poly<Eval>,
        switch: &KeySwitch,
    ) -> Vec<[Poly<Eval>; 2]> {
        let digits = Self::digits(decomposer, ring_q, &Element::at(c.as_limbs(), ring_q));
        let image = |term| Self::switched(decomposer, ring_q, &digits, &[term], switch);
        switch.terms.iter().copied().map(image).collect()
    }

    fn sum_in_steps(
        &self,
        decomposer: &Decomposer,
        ring_q: &Window,
        [c0, c1]: [&Poly<Eval>; 2],
        steps: &[&[Term]],
        divide: &DivideRound,
    ) -> [Poly<Eval>; 2] {
        let window = decomposer.ring_qp(ring_q);
        let mut first = Self::times_special(decomposer, &window, &Element::at(c0.as_limbs(), ring_q));
        let mut second = Element::at(c1.as_limbs(), ring_q);
        for terms in steps {
            let digits = Self::digits(decomposer, ring_q, &second);
            let [s0, s1] = Self::moved_sums(&window, &digits, terms, &first);
            first = first.add(&s0, &window);
            second = second.add(&Self::divide(divide, &s1), ring_q);
        }
        [Self::divide(divide, &first), second].map(Element::into_poly)
    }

    fn multiply_matrix(
        &self,
        decomposer: &Decomposer,
        ring_q: &Window,
        [c0, c1]: [&Poly<Eval>; 2],
        matrix: &Matrix,
    ) -> [Poly<Eval>; 2] {
        let window = &decomposer.ring_qp(ring_q);
        let [c0, c1] = [c0, c1].map(|c| Element::at(c.as_limbs(), ring_q));
        let [p0, p1] = [&c0, &c1].map(|c| Self::times_special(decomposer, window, c));
        let digits = Self::digits(decomposer, ring_q, &c1);
        let image = |image: &Option<Term>| match image {
            Some(term) => Self::moved_sums(window, &digits, &[*term], &p0),
            None => [p0.clone(), p1.clone()],
        };
        let images: Vec<Pair> = matrix.images.iter().map(image).collect();
        let add = |a: Pair, b: &Pair| [a[0].add(&b[0], window), a[1].add(&b[1], window)];
        let zero = || [Element::zero(window), Element::zero(window)];
        let sums: Vec<Pair> = matrix
            .giants
            .iter()
            .map(|giant| {
                giant.terms.iter().fold(zero(), |sum, &(i, factor)| {
                    let factor = stretched(factor, window);
                    let product = images[i].each_ref().map(|part| part.mul(&factor, window));
                    add(sum, &product)
                })
            })
            .collect();
        let rotations = matrix.giants.iter().map(|giant| giant.rotation);
        let rotate = |sum: Pair, rotation: Option<(&KeyPairs, &Automorphism)>| match rotation {
            Some(rotation) => Self::rotate(decomposer, ring_q, sum, rotation, matrix.mod_down),
            None => sum,
        };
        let total = match matrix.order {
            Order::Separate => sums.into_iter().zip(rotations).fold(zero(), |total, (sum, rotation)| {
                let moved = rotate(sum, rotation);
                add(total, &moved)
            }),
            Order::InTurn => sums.into_iter().zip(rotations).rev().fold(zero(), |inner, (sum, rotation)| {
                let sum = add(sum, &inner);
                rotate(sum, rotation)
            }),
        };
        total.map(|part| Self::divide(matrix.divide, &part).into_poly())
    }

    fn scaled_product(&self, product: &ScaledProduct, factors: &[Pairs]) -> [Poly<Eval>; 3] {
        let divide = times_over(product, product.t());
        Self::tensor(product, factors).map(|part| Self::divide(&divide, &part).into_poly())
    }

    fn switched_product(
        &self,
        product_of: &SwitchedProduct,
        decomposer: &Decomposer,
        key: &KeyPairs,
        factors: &[Pairs],
    ) -> [Poly<Eval>; 2] {
        let scaled = product_of.product();
        let (ring_q, t) = (scaled.ring(), scaled.t());
        let [s0, s1, s2] = Self::tensor(scaled, factors);
        let window = ring_q.whole().window(s0.window());
        let third = Self::divide(&times_over(scaled, t), &s2);
        let sums = Self::sums(&decomposer.ring_qp(ring_q), &Self::digits(decomposer, ring_q, &third), key);
        // E = B/P.
        let e = product(ring_q, scaled.auxiliary().start..decomposer.gadget().skipped());
        let kept = product_of.kept().range();
        let dropped: Vec<usize> = scaled.auxiliary().chain(kept.end..ring_q.range().end).collect();
        let divide = DivideRound::new(&ring_q.whole(), &dropped, kept);
        let [u0, u1] =
            sums.map(|sum| sum.over(&window).scale(&window, |limb| residue(&e, window.basis().modulus(limb).value())));
        [(s0, u0), (s1, u1)].map(|(s, u)| {
            let s = s.scale(&window, |limb| window.basis().modulus(limb).reduce(t));
            Self::divide(&divide, &s.add(&u, &window)).into_poly()
        })
    }

    fn raise(&self, window: &Window, c: &Poly<Eval>) -> Poly<Eval> {
        let limbs: Vec<usize> = c.window().collect();
        element(window, &coefficients(window, &Element::of(c.as_limbs()), &limbs), c.is_secret()).into_poly()
    }

    fn raise_and_switch(&self, divide: &DivideRound, c: [&Poly<Eval>; 2], key: &KeyPairs) -> [Poly<Eval>; 2] {
        let (kept, whole) = (divide.kept(), divide.kept().whole());
        let limbs = divide.dropped().iter().copied().chain(kept.range());
        let window = whole.window(limbs.clone().min().unwrap_or(0)..limbs.max().unwrap_or(0) + 1);
        let [c0, c1] = c.map(|c| Element::of(self.raise(&window, c).as_limbs()));
        // c_1 serves as every digit.
        let sums = Self::sums(&window, &vec![c1; key.digits()], key);
        let [s0, s1] = sums.map(|sum| Self::divide(divide, &sum));
        [c0.over(kept).add(&s0, kept), s1].map(Element::into_poly)
    }

    fn mask(&self, window: &Window, k: [&Poly<Eval>; 2], v: &[i64], e: [&[i64]; 2], m: &Poly<Eval>) -> [Poly<Eval>; 2] {
        let small = |coefficients: &[i64]| {
            element(window, &coefficients.iter().map(|&x| BigInt::from(x)).collect::<Vec<_>>(), true)
        };
        let masked = |i: usize| Element::at(k[i].as_limbs(), window).mul(&small(v), window).add(&small(e[i]), window);
        [masked(0).add(&Element::at(m.as_limbs(), window), window), masked(1)].map(Element::into_poly)
    }

    fn images(&self, window: &Window, count: usize) -> Limbs {
        let words = 2 * count * window.degree();
        Limbs::new(NaiveRows::new(vec![vec![0; words]; window.limbs()], words, false), window.range().start)
    }

    fn set_image(&self, images: &mut Images, i: usize, image: [&Poly<Eval>; 2]) {
        let (window, degree) = (images.ring().clone(), images.ring().degree());
        let secret = image.iter().any(|part| part.is_secret());
        let image = image.map(|part| Element::at(part.as_limbs(), &window));
        images.words_mut().mark(secret);
        let rows: &mut NaiveRows = images.words_mut().rows_mut().expect("images of this device");
        for (limb, row) in window.range().zip(rows.rows_mut()) {
            for (half, part) in image.iter().enumerate() {
                row[(2 * i + half) * degree..][..degree].copy_from_slice(part.row(limb));
            }
        }
    }

    fn streamed_sums(
        &self,
        window: &Window,
        sets: &[&Images],
        factors: &SmallPolynomials,
    ) -> Vec<Vec<[Poly<Eval>; 2]>> {
        let count = sets[0].count();
        let factor = |i| element(window, &factors.coefficients(i).map(BigInt::from).collect::<Vec<_>>(), false);
        let sum = |set: &Images, b: usize| {
            [0, 1].map(|half| {
                let words = Element::of(set.words());
                let image = |a: usize| {
                    let row = |limb| words.row(limb)[(2 * a + half) * window.degree()..][..window.degree()].to_vec();
                    Element::build(window.range(), words.is_secret(), row)
                };
                let terms = (0..count).map(|a| image(a).mul(&factor(b * count + a), window));
                terms.fold(Element::zero(window), |sum, term| sum.add(&term, window)).into_poly()
            })
        };
        sets.iter().map(|set| (0..factors.count() / count).map(|b| sum(set, b)).collect()).collect()
    }
}

/// `x -> round(w x / B)` modulo Q.
fn times_over(product: &ScaledProduct, w: u64) -> DivideRound {
    let whole = product.ring().whole();
    let dropped: Vec<usize> = product.auxiliary().collect();
    DivideRound::of_multiple(&whole, &dropped, product.ring().range(), |limb| whole.basis().modulus(limb).reduce(w))
}

/// A factor of a matrix over the limbs of a window; each word of an element of a subring stands for words that follow each
/// other.
fn stretched(factor: &Poly<Eval>, window: &Window) -> Element {
    let (short, stretch) = (Element::at(factor.as_limbs(), window), window.degree() / factor.degree());
    Element::build(window.range(), short.is_secret(), |limb| {
        short.row(limb).iter().flat_map(|&word| std::iter::repeat_n(word, stretch)).collect()
    })
}
