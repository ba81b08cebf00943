//! Key switches of GLWE samples, trace, packing and lookups by encrypted bits: phases against the messages, under keys without
//! noise.

use noren_math::random::Seed;
use noren_math::torus::gadget::Gadget;
use noren_math::torus_products::matrix::{Precision, SwitchShape};
use noren_ring::engine::Engine;
use noren_ring::host::torus::blind_rotation::BlindRotation;
use noren_ring::host::torus::bootstrap::extract;
use noren_ring::host::torus::cmux_tree::lookup_each;
use noren_ring::host::torus::glwe_switch::GlweSwitch;
use noren_ring::host::torus::packing::{PackingScratch, pack};
use noren_ring::host::torus::trace::{Trace, divide};
use noren_ring::host::torus::unpacking::unpack;
use noren_ring::parallel::Parallel;
use noren_ring::torus::lwe::Lwe;
use noren_ring::torus::packed_tables::PackedTables;
use noren_ring::torus::polynomial::{automorphism, rotate};
use noren_ring::torus::product::TorusProduct;
use noren_ring::torus::shape::{GlweShape, RotationShape};
use noren_ring::torus::trace::{exponent, steps};

/// Fifteen digits of 4 bits: words lose 4 bits.
const FINE: Gadget = Gadget::new(4, 15);

fn words(label: &str, count: usize) -> Vec<u64> {
    let mut words = vec![0; count];
    Seed::from_bytes([2; 32]).xof(label).fill_u64(&mut words);
    words
}

fn engine() -> Engine {
    Engine::new(Some(1), Parallel::default(), 0).expect("a thread")
}

/// A binary secret of k polynomials.
struct Secret {
    shape: GlweShape,
    bits: Vec<u64>,
}

impl Secret {
    fn new(dimension: usize, degree: usize) -> Self {
        let shape = GlweShape { dimension, degree };
        Self { shape, bits: words("secret", shape.extracted()).iter().map(|word| word & 1).collect() }
    }

    fn polynomial(&self, r: usize) -> &[u64] {
        &self.bits[r * self.shape.degree..][..self.shape.degree]
    }

    /// A sample of this phase without noise, with masks that look random.
    fn encrypt(&self, label: &str, phase: &[u64], out: &mut [u64]) {
        let (masks, body) = out.split_at_mut(self.shape.extracted());
        masks.copy_from_slice(&words(label, masks.len()));
        body.copy_from_slice(phase);
        for (r, mask) in masks.chunks_exact(self.shape.degree).enumerate() {
            add(body, &product(mask, self.polynomial(r)), 1);
        }
    }

    fn phase(&self, sample: &[u64]) -> Vec<u64> {
        let (masks, body) = sample.split_at(self.shape.extracted());
        let mut phase = body.to_vec();
        for (r, mask) in masks.chunks_exact(self.shape.degree).enumerate() {
            add(&mut phase, &product(mask, self.polynomial(r)), u64::MAX);
        }
        phase
    }

    fn lwe_phase(&self, sample: &Lwe) -> u64 {
        let terms = sample.mask().iter().zip(&self.bits).map(|(a, s)| a.wrapping_mul(*s));
        sample.body().wrapping_sub(terms.fold(0, u64::wrapping_add))
    }

    /// Keys of the trace.
    fn trace(&self, product: &TorusProduct) -> Trace {
        self.first_steps(product, steps(self.shape.degree), Precision::Exact)
    }

    /// Keys of the first steps of the trace.
    fn first_steps(&self, product: &TorusProduct, count: usize, precision: Precision) -> Trace {
        Trace::from_fn(&engine(), product, (self.shape, FINE, count), precision, |step, row, out| {
            let (r, j) = (row / FINE.levels(), row % FINE.levels() + 1);
            let mut moved = vec![0; self.shape.degree];
            automorphism(&mut moved, self.polynomial(r), exponent(self.shape.degree, step));
            let mut phase = vec![0; self.shape.degree];
            add(&mut phase, &moved, weight(FINE, j).wrapping_neg());
            self.encrypt(&format!("trace {step} {row}"), &phase, out);
        })
    }

    /// GGSW samples of these bits.
    fn controls(&self, product: &TorusProduct, gadget: Gadget, bits: &[u64]) -> BlindRotation {
        let shape = RotationShape::single(self.shape, gadget);
        BlindRotation::from_fn(&engine(), product, shape, bits.len(), |step, row, out| {
            self.encrypt(&format!("control {step} {row}"), &vec![0; self.shape.degree], out);
            let (i, j) = (row / gadget.levels(), row % gadget.levels() + 1);
            let place = &mut out[i * self.shape.degree];
            *place = place.wrapping_add(bits[step].wrapping_mul(weight(gadget, j)));
        })
    }
}

fn weight(gadget: Gadget, j: usize) -> u64 {
    1 << (64 - gadget.log_base() * j as u32)
}

fn add(out: &mut [u64], a: &[u64], factor: u64) {
    out.iter_mut().zip(a).for_each(|(x, y)| *x = x.wrapping_add(y.wrapping_mul(factor)));
}

/// `a b` modulo `2^64` and `X^N + 1`, term by term.
fn product(a: &[u64], b: &[u64]) -> Vec<u64> {
    let n = a.len();
    let mut out = vec![0u64; n];
    for (i, &x) in a.iter().enumerate() {
        for (j, &y) in b.iter().enumerate().filter(|(_, y)| **y != 0) {
            let (at, term) = ((i + j) % n, x.wrapping_mul(y));
            out[at] = if i + j < n { out[at].wrapping_add(term) } else { out[at].wrapping_sub(term) };
        }
    }
    out
}

fn distance(x: u64, y: u64) -> u64 {
    x.wrapping_sub(y).cast_signed().unsigned_abs()
}

fn products(degree: usize) -> [TorusProduct; 2] {
    [TorusProduct::exact(degree), TorusProduct::new(degree)].map(|product| product.expect("transforms"))
}

#[test]
fn switches_are_sums_of_digits_times_rows_whatever_the_products() {
    for (dimension, degree, gadget) in [
        (1, 32, Gadget::new(2, 23)),
        (3, 64, Gadget::new(9, 5)),
        (2, 256, Gadget::new(11, 4)),
        (1, 128, Gadget::new(1, 44)),
    ] {
        let shape = GlweShape { dimension, degree };
        let row = |row: usize| {
            let mut row = words(&format!("row {row}"), shape.words());
            // The largest halves of both signs.
            row[..4].copy_from_slice(&[1 << 63, (1 << 63) - 1, 0x7fff_ffff_8000_0000, 0x8000_0000_7fff_ffff]);
            row
        };
        let (input, start) = (words("input", shape.extracted()), words("start", shape.words()));
        let mut expected = start.clone();
        for (i, polynomial) in input.chunks_exact(degree).enumerate() {
            for level in 0..gadget.levels() {
                let digit = |word: u64| gadget.digits(word).nth(level).expect("a digit").cast_unsigned();
                // Digits of coefficients of odd powers are those of the negated word, negated.
                let digit = |(place, &word): (usize, &u64)| {
                    if place % 2 == 0 { digit(word) } else { digit(word.wrapping_neg()).wrapping_neg() }
                };
                let digits: Vec<u64> = polynomial.iter().enumerate().map(digit).collect();
                let row = row(i * gadget.levels() + level);
                for (acc, polynomial) in expected.chunks_exact_mut(degree).zip(row.chunks_exact(degree)) {
                    add(acc, &product(polynomial, &digits), 1);
                }
            }
        }
        for products in products(degree) {
            let switch = GlweSwitch::from_fn(&products, (shape, gadget, Precision::Exact), |i, out| {
                out.copy_from_slice(&row(i))
            });
            let mut acc = start.clone();
            switch.add(&mut acc, &mut input.clone(), &mut switch.scratch());
            assert_eq!(acc, expected, "{shape:?}, {gadget:?}, exact: {}", products.is_exact());
        }
    }
}

#[test]
fn automorphisms_substitute_a_power() {
    let n = 16;
    let a = words("a", n);
    for exponent in (1..2 * n).step_by(2) {
        let mut expected = vec![0; n];
        for (j, &word) in a.iter().enumerate() {
            let (mut term, mut moved) = (vec![0; n], vec![0; n]);
            term[0] = word;
            rotate(&mut moved, &term, j * exponent % (2 * n));
            add(&mut expected, &moved, 1);
        }
        let mut found = vec![0; n];
        automorphism(&mut found, &a, exponent);
        assert_eq!(found, expected, "X^{exponent}");
    }
}

/// How far phases are from their messages: division rounds words, by half a word each, and digits, by half of `2^64 / B^l`, for
/// all coefficients of the masks; the trace multiplies both by N at most.
fn tolerance(shape: GlweShape) -> u64 {
    let masks = shape.extracted() as u64;
    shape.degree as u64 * (masks * weight(FINE, FINE.levels()) / 2 + masks.div_ceil(2) + 1)
}

/// How far products in `f64` may move phases besides: 16 deviations of a coefficient of the body and of those of the masks, all of
/// which a binary secret adds, for each automorphism; what the first one adds is doubled by the others.
fn rounding(shape: GlweShape) -> u64 {
    let (inputs, gadget, precision) = (shape.dimension, FINE, Precision::Rounded);
    let deviation = SwitchShape { inputs, columns: inputs + 1, gadget, precision }.error_deviation(shape.degree);
    (16.0 * deviation * ((1 + shape.extracted()) * shape.degree) as f64) as u64
}

#[test]
fn the_trace_keeps_the_constant_coefficient_alone() {
    for (dimension, degree) in [(1, 64), (3, 16)] {
        let secret = Secret::new(dimension, degree);
        let message = words("message", degree);
        let mut fresh = vec![0; secret.shape.words()];
        secret.encrypt("fresh", &message, &mut fresh);
        for products in products(degree) {
            let trace = secret.trace(&products);
            let mut sample = fresh.clone();
            divide(&mut sample, degree);
            trace.run(0..trace.steps(), &mut sample, &mut trace.scratch());
            for (place, &phase) in secret.phase(&sample).iter().enumerate() {
                let expected = if place == 0 { message[0] } else { 0 };
                assert!(distance(phase, expected) <= tolerance(secret.shape), "coefficient {place} of {degree}");
            }
        }
    }
}

#[test]
fn the_first_steps_of_a_trace_keep_multiples_of_a_power_of_two() {
    let (degree, steps) = (32, 3);
    let secret = Secret::new(1, degree);
    let message: Vec<u64> = words("message", degree).iter().map(|word| word >> steps).collect();
    let mut sample = vec![0; secret.shape.words()];
    secret.encrypt("fresh", &message, &mut sample);
    let trace = secret.trace(&products(degree)[1]);
    trace.run(0..steps, &mut sample, &mut trace.scratch());
    for (place, &phase) in secret.phase(&sample).iter().enumerate() {
        let expected = if place % (1 << steps) == 0 { message[place] << steps } else { 0 };
        assert!(distance(phase, expected) <= tolerance(secret.shape), "coefficient {place}");
    }
}

#[test]
fn packed_samples_are_coefficients() {
    for (dimension, degree, precision) in [
        (1, 32, Precision::Exact),
        (2, 16, Precision::Exact),
        (2, 16, Precision::Rounded),
        (1, 128, Precision::Rounded),
    ] {
        let secret = Secret::new(dimension, degree);
        let trace = secret.first_steps(&products(degree)[1], steps(degree), precision);
        let limit = tolerance(secret.shape) + if precision == Precision::Rounded { rounding(secret.shape) } else { 0 };
        // All coefficients, the lower half of them, and the first eight.
        for (steps, count) in [trace.steps(), trace.steps() - 1, 3].map(|t| [1, 2, 8, 1 << t].map(|m| (t, m))).concat()
        {
            let messages = words("messages", count);
            let sample = |(i, &message): (usize, &u64)| {
                let (mut glwe, mut phase) = (vec![0; secret.shape.words()], vec![0; degree]);
                phase[i % degree] = message;
                secret.encrypt(&format!("sample {i}"), &phase, &mut glwe);
                extract(&glwe, degree, i % degree)
            };
            let samples: Vec<Lwe> = messages.iter().enumerate().map(sample).collect();
            // All of them; without the first ones; every second one.
            let chosen: [fn(usize) -> bool; 3] = [|_| true, |i| i > 1, |i| i % 2 == 1];
            for (case, is_there) in chosen.into_iter().enumerate() {
                let group = samples.iter().enumerate().map(|(i, sample)| is_there(i).then_some(sample));
                let packed = pack(&trace, steps, &group.collect::<Vec<_>>(), &mut PackingScratch::new(&trace));
                for (place, &phase) in secret.phase(&packed).iter().enumerate().take(1 << steps) {
                    let (i, rest) = ((place * count) >> steps, place % ((1 << steps) / count));
                    let expected = if rest == 0 && is_there(i) { messages[i] } else { 0 };
                    let found = distance(phase, expected);
                    assert!(found <= limit, "coefficient {place}, {count} samples, {steps} steps, case {case}");
                }
            }
        }
    }
}

#[test]
fn unpacked_coefficients_are_samples() {
    for (dimension, degree) in [(1, 32), (2, 16)] {
        let secret = Secret::new(dimension, degree);
        for (products, steps) in products(degree).iter().zip([2, 4]) {
            let trace = secret.first_steps(products, steps, Precision::Exact);
            for count in [1, 3, 1 << steps] {
                let mut message = words("message", degree);
                message[count..].fill(0);
                let mut samples = vec![0; count * secret.shape.words()];
                secret.encrypt("packed", &message, &mut samples[..secret.shape.words()]);
                unpack(&trace, &mut samples, &mut trace.scratch());
                for (number, sample) in samples.chunks_exact(secret.shape.words()).enumerate() {
                    for (place, &phase) in secret.phase(sample).iter().enumerate() {
                        let expected = if place == 0 { message[number] } else { 0 };
                        let found = distance(phase, expected);
                        assert!(found <= tolerance(secret.shape), "coefficient {place} of sample {number} of {count}");
                    }
                }
            }
        }
    }
}

#[test]
fn encrypted_bits_choose_entries_over_all_indices() {
    let gadget = Gadget::new(8, 4);
    // Several tables in a polynomial, one, and several polynomials; an output more than fits.
    for (dimension, degree, bits, outputs) in [(1, 32, 3, 5), (2, 16, 4, 2), (1, 16, 6, 3)] {
        let secret = Secret::new(dimension, degree);
        let value = |x: usize, output: usize| ((x * 37 + output * 11) % 256) as u16;
        let tables = PackedTables::from_fn(secret.shape, (bits, outputs), 1 << 56, value);
        for products in products(degree) {
            for x in 0..1 << bits {
                let index: Vec<u64> = (0..bits).map(|bit| x as u64 >> bit & 1).collect();
                let controls = secret.controls(&products, gadget, &index);
                let found = lookup_each(&engine(), &tables, &[controls]).remove(0);
                assert_eq!(found.len(), outputs);
                for (output, sample) in found.iter().enumerate() {
                    let expected = u64::from(value(x, output)) << 56;
                    // Digits leave an error of half of 2^64 / B^l for each coefficient, at each bit.
                    let masks = secret.shape.extracted() as u64 + 1;
                    let tolerance = bits as u64 * masks * weight(gadget, gadget.levels());
                    assert!(distance(secret.lwe_phase(sample), expected) <= tolerance, "{x}, output {output}");
                }
            }
        }
    }
}
