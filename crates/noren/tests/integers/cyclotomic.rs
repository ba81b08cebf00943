//! BGV and BFV in rings whose index is not a power of two: slots against arithmetic in Galois rings, noise against its law.

use noren::bfv::Bfv;
use noren::bgv::{
    Bgv, Context, Decryptor, Encoder, Entries, IntegerError, KeyRequest, Keys, ParametersSpec, RotationKeys, SlotMatrix,
};
use noren::error::{Error, cause};
use noren::schemes::integers::{Ciphertext, Encryptor, Evaluator, KeyFile, Plaintext, Scheme};
use noren::wire::{Form, Limits, Object};
use noren::{EvaluationKeys, Security, Seed};
use noren_math::kernels::is_fastest;

/// The smallest rings, and rings with one, two and three dimensions, native and not (41, 57), of prime and composite index,
/// even too (20, 63 is `9 7`).
const RINGS: [(u32, u64, u32); 12] = [
    (3, 7, 1),
    (5, 11, 1),
    (31, 2, 1),
    (41, 2, 3),
    (57, 7, 1),
    (63, 2, 2),
    (20, 3, 2),
    (105, 2, 1),
    (127, 2, 20),
    (85, 3, 1),
    (17, 17 * 6 + 1, 2),
    (11, 2, 1),
];

struct World {
    context: Context,
    encoder: Encoder,
    keys: Keys,
    /// G, with its leading 1, and `p^r`.
    modulus: Vec<u64>,
    t: u64,
    slots: usize,
}

fn seed(number: u8) -> Seed {
    Seed::from_bytes([number; 32])
}

fn spec(index: u32, p: u64, r: u32) -> ParametersSpec {
    ParametersSpec {
        index,
        plaintext_modulus: p.pow(r),
        log_q: vec![45; 4],
        log_p: vec![48; 2],
        security: Security::None,
        ..ParametersSpec::default()
    }
}

impl World {
    fn new(index: u32, p: u64, r: u32) -> Self {
        let parameters = spec(index, p, r).build().expect("parameters");
        let context = Context::new(parameters.clone()).expect("a context");
        let dimensions = parameters.hypercube().expect("slots").dimensions().len();
        let mut automorphisms = Vec::new();
        for (i, dimension) in parameters.hypercube().expect("slots").dimensions().iter().enumerate() {
            for steps in 1..dimension.size as isize {
                let mut all = vec![0; dimensions];
                all[i] = steps;
                automorphisms.extend(context.rotation_along(&all).expect("steps"));
            }
        }
        automorphisms.push(context.frobenius_exponent(1).expect("slots"));
        automorphisms.retain(|&k| k != 1);
        let request = KeyRequest { relinearization: true, automorphisms, ..KeyRequest::default() };
        let keys = context.generate_keys(seed(1), &request).expect("keys");
        let modulus = context.galois_ring().expect("slots").modulus();
        let slots = parameters.slots();
        Self { encoder: Encoder::new(&context), context, keys, modulus, t: p.pow(r), slots }
    }

    fn degree(&self) -> usize {
        self.modulus.len() - 1
    }

    fn elements(&self, number: u8) -> Vec<i64> {
        let mut xof = seed(number).xof("test/elements");
        (0..self.slots * self.degree()).map(|_| (xof.next_u64() % self.t) as i64).collect()
    }

    fn encrypt<S: Scheme>(&self, values: &[i64], number: u8) -> Ciphertext<S> {
        let encryptor = Encryptor::<S>::public(&self.context, &self.keys.public, seed(number)).expect("an encryptor");
        encryptor.encrypt(&self.encoder.encode_elements(values).expect("elements")).expect("a ciphertext")
    }

    fn evaluator<S: Scheme>(&self) -> Evaluator<S> {
        Evaluator::new(&self.context, self.keys.evaluation.clone()).expect("an evaluator")
    }

    /// Decrypts, and holds the noise against its prediction: not above it, nor more than 2^8 below.
    fn decrypt<S: Scheme>(&self, a: &Ciphertext<S>) -> Vec<i64> {
        let decryptor = Decryptor::new(&self.context, &self.keys.secret).expect("a decryptor");
        let measured = decryptor.measure_noise(a).expect("a ciphertext");
        let laws = self.context.parameters().laws();
        let predicted = laws.log2_coefficient(a.noise());
        let (index, found) = (self.context.parameters().rlwe().index().index(), measured.std.log2());
        // For each prime of the index coefficients have a part in common, as large as the rest: three standard deviations of
        // it are 1.2 bits. A product with a matrix of zeros has no noise.
        let within = measured.std == 0.0 || (predicted - 8.0..=predicted + 1.5).contains(&found);
        assert!(within, "index {index}: {found}, predicted {predicted}");
        assert!(measured.max.log2() <= -1.0 - a.noise_budget());
        self.encoder.decode_elements(&decryptor.decrypt(a).expect("right")).expect("elements")
    }

    /// The product of elements of all slots, by the definition.
    fn times(&self, a: &[i64], b: &[i64]) -> Vec<i64> {
        let (d, t) = (self.degree(), i128::from(self.t));
        let product = |(a, b): (&[i64], &[i64])| {
            let mut product = vec![0i128; 2 * d - 1];
            for (i, &x) in a.iter().enumerate() {
                for (j, &y) in b.iter().enumerate() {
                    product[i + j] = (product[i + j] + i128::from(x) * i128::from(y)) % t;
                }
            }
            for high in (d..product.len()).rev() {
                let lead = product[high];
                for (i, &g) in self.modulus[..d].iter().enumerate() {
                    product[high - d + i] = (product[high - d + i] - lead * i128::from(g)).rem_euclid(t);
                }
            }
            product[..d].iter().map(|&x| x as i64).collect::<Vec<_>>()
        };
        a.chunks_exact(d).zip(b.chunks_exact(d)).flat_map(product).collect()
    }

    fn plus(&self, a: &[i64], b: &[i64]) -> Vec<i64> {
        a.iter().zip(b).map(|(x, y)| ((i128::from(*x) + i128::from(*y)) % i128::from(self.t)) as i64).collect()
    }
}

fn arithmetic<S: Scheme>(world: &World) {
    let (a, b) = (world.elements(2), world.elements(3));
    let (x, y) = (world.encrypt::<S>(&a, 4), world.encrypt::<S>(&b, 5));
    let ev = world.evaluator::<S>();
    assert_eq!(world.decrypt(&x), a);
    assert_eq!(world.decrypt(&ev.add(&x, &y).expect("a sum")), world.plus(&a, &b));
    let product = ev.mul(&x, &y).expect("a product");
    let expected = world.times(&a, &b);
    assert_eq!(world.decrypt(&product), expected);
    let plain = world.encoder.encode_elements(&b).expect("elements");
    assert_eq!(world.decrypt(&ev.mul_plain(&x, &plain).expect("a product")), expected);
    let scaled = ev.sub(&ev.mul_plain(&x, &plain).expect("a product"), &product).expect("a difference");
    assert!(world.decrypt(&scaled).iter().all(|&x| x == 0));
    let shifted = ev.add_scalar(&ev.neg(&x).expect("a negative"), -1).expect("a sum");
    let minus = world.decrypt(&shifted);
    for (slot, (found, a)) in minus.chunks_exact(world.degree()).zip(a.chunks_exact(world.degree())).enumerate() {
        let of = |x: i64| (-i128::from(x)).rem_euclid(i128::from(world.t)) as i64;
        assert_eq!(found[0], of(a[0] + 1), "slot {slot}");
        assert!(found[1..].iter().zip(&a[1..]).all(|(&found, &a)| found == of(a)));
    }
    if world.t < 1 << 10 {
        let square = ev.square(&product).expect("a second product");
        assert_eq!(world.decrypt(&square), world.times(&expected, &expected));
    }
}

#[test]
fn sums_and_products_are_those_of_elements_in_all_slots() {
    for (m, p, r) in RINGS {
        let world = World::new(m, p, r);
        arithmetic::<Bgv>(&world);
        arithmetic::<Bfv>(&world);
    }
}

/// All rotations along one dimension of the elements `a`, which are encrypted in x.
fn rotations(world: &World, x: &Ciphertext<Bgv>, a: &[i64]) {
    rotations_by(world, &world.evaluator::<Bgv>(), x, a);
}

/// [`rotations`] by an evaluator with some keys.
fn rotations_by(world: &World, ev: &Evaluator<Bgv>, x: &Ciphertext<Bgv>, a: &[i64]) {
    let d = world.degree();
    let (cube, index) = {
        let parameters = world.context.parameters();
        (parameters.hypercube().expect("slots").clone(), parameters.rlwe().index().index())
    };
    let places: Vec<Vec<usize>> = (0..world.slots).map(|slot| cube.coordinates(slot)).collect();
    for (i, dimension) in cube.dimensions().iter().enumerate() {
        for steps in 0..dimension.size {
            let mut all = vec![0; cube.dimensions().len()];
            all[i] = steps as isize - if steps % 2 == 1 { dimension.size as isize } else { 0 };
            let found = world.decrypt(&ev.rotate_along(x, &all).expect("a rotation"));
            for (slot, found) in found.chunks_exact(d).enumerate() {
                let mut place = places[slot].clone();
                place[i] = (place[i] + steps) % dimension.size;
                let from = places.iter().position(|from| *from == place).expect("a slot");
                assert_eq!(found, &a[from * d..][..d], "index {index}, dimension {i}, {steps} steps, slot {slot}");
            }
        }
    }
}

#[test]
fn rotations_of_larger_rings_move_all_slots() {
    // Tests of `noren-math` compare the kernels of all tables bit for bit.
    if !is_fastest() {
        return;
    }
    for m in [2047, 4095] {
        let world = World::new(m, 2, 1);
        // Generators of HElib leave a dimension of 2047 that is not native.
        let cube = world.context.parameters().hypercube().expect("slots");
        assert!(cube.dimensions().iter().all(|dimension| dimension.is_native), "index {m}");
        let a = world.elements(2);
        rotations(&world, &world.encrypt::<Bgv>(&a, 4), &a);
    }
}

#[test]
fn sets_of_keys_rotate_along_each_dimension() {
    for (m, p, r) in [(31, 2, 1), (41, 2, 3), (57, 7, 1), (63, 2, 2), (105, 2, 1)] {
        let world = World::new(m, p, r);
        let a = world.elements(2);
        let x = world.encrypt::<Bgv>(&a, 4);
        let mut counts = Vec::new();
        for set in [RotationKeys::Full, RotationKeys::BabyGiant, RotationKeys::Minimal] {
            let automorphisms = world.context.automorphisms_of_rotations(set).expect("slots");
            counts.push(automorphisms.len());
            let request = KeyRequest { automorphisms, ..KeyRequest::default() };
            let keys = world.context.evaluation_keys(&world.keys.secret, seed(3), &request, None).expect("keys");
            let ev = Evaluator::<Bgv>::new(&world.context, keys.into()).expect("an evaluator");
            rotations_by(&world, &ev, &x, &a);
            let all = world.evaluator::<Bgv>();
            for i in 0..world.degree() {
                let [found, expected] = [&ev, &all].map(|ev| world.decrypt(&ev.frobenius(&x, i).expect("a power")));
                assert_eq!(found, expected, "index {m}, power {i}");
            }
        }
        assert!(counts.is_sorted_by(|more, fewer| more >= fewer), "{counts:?}");
    }
}

#[test]
fn rotations_move_slots_along_each_dimension_and_frobenius_raises_to_the_power_p() {
    for (m, p, r) in RINGS {
        let world = World::new(m, p, r);
        let (ev, a, d) = (world.evaluator::<Bgv>(), world.elements(2), world.degree());
        let x = world.encrypt::<Bgv>(&a, 4);
        rotations(&world, &x, &a);
        // Modulo p the automorphism is the power p; of numbers it is the identity.
        let found = world.decrypt(&ev.frobenius(&x, 1).expect("an automorphism"));
        let mut power = a.clone();
        for _ in 1..p {
            power = world.times(&power, &a);
        }
        let rest = |x: &i64| x % p as i64;
        assert!(found.iter().map(rest).eq(power.iter().map(rest)), "index {m}");
        let numbers: Vec<i64> = (0..world.slots as i64).map(|j| j % world.t as i64).collect();
        let encryptor = Encryptor::<Bgv>::symmetric(&world.context, &world.keys.secret, seed(7)).expect("an encryptor");
        let y = encryptor.encrypt(&world.encoder.encode(&numbers).expect("numbers")).expect("a ciphertext");
        let decryptor = Decryptor::new(&world.context, &world.keys.secret).expect("a decryptor");
        let image = decryptor.decrypt(&ev.frobenius(&y, 1).expect("an automorphism")).expect("right");
        assert_eq!(world.encoder.decode(&image).expect("numbers"), numbers);
        let element = decryptor.decrypt(&x).expect("right");
        if d > 1 {
            let refused = world.encoder.decode(&element);
            assert!(matches!(cause(&refused), Some(IntegerError::NotANumber { .. })));
        }
    }
}

/// The product of a matrix of elements and a vector of them.
fn matrix_times(world: &World, [rows, columns]: [usize; 2], matrix: &[i64], x: &[i64]) -> Vec<i64> {
    let d = world.degree();
    let row = |row: &[i64]| {
        let products = world.times(row, &x[..columns * d]);
        products.chunks_exact(d).fold(vec![0; d], |sum, product| world.plus(&sum, product))
    };
    let mut product: Vec<i64> = matrix.chunks_exact(columns * d).take(rows).flat_map(row).collect();
    product.resize(world.slots * d, 0);
    product
}

#[test]
fn matrices_of_numbers_elements_and_maps_multiply_all_slots() {
    for (m, p, r) in RINGS {
        let world = World::new(m, p, r);
        let (d, slots) = (world.degree(), world.slots);
        let mut xof = seed(9).xof("test/matrix");
        let mut random = |count: usize| (0..count).map(|_| (xof.next_u64() % world.t) as i64).collect::<Vec<_>>();
        for shape in [[slots, slots], [slots.div_ceil(2), slots], [1, slots.div_ceil(3)]] {
            let [rows, columns] = shape;
            let numbers = random(rows * columns);
            let elements = random(rows * columns * d);
            let maps = random(rows * columns * d * d);
            let of_number = |&x: &i64| (0..d).map(move |i| if i == 0 { x } else { 0 });
            let x = random(columns * d);
            let mut of_maps = vec![0; slots * d];
            for row in 0..rows {
                for column in 0..columns {
                    let map = &maps[(row * columns + column) * d * d..][..d * d];
                    for (i, row_of_map) in map.chunks_exact(d).enumerate() {
                        for (j, &entry) in row_of_map.iter().enumerate() {
                            let term = i128::from(entry) * i128::from(x[column * d + j]) % i128::from(world.t);
                            let sum = i128::from(of_maps[row * d + i]) + term;
                            of_maps[row * d + i] = (sum % i128::from(world.t)) as i64;
                        }
                    }
                }
            }
            let number_elements: Vec<i64> = numbers.iter().flat_map(of_number).collect();
            for (entries, expected) in [
                (Entries::Numbers(&numbers), matrix_times(&world, shape, &number_elements, &x)),
                (Entries::Elements(&elements), matrix_times(&world, shape, &elements, &x)),
                (Entries::Maps(&maps), of_maps),
            ] {
                let matrix = SlotMatrix::new(&world.context, shape, entries, 4).expect("a matrix");
                let request = KeyRequest { automorphisms: matrix.automorphisms(), ..KeyRequest::default() };
                let evaluation = world.context.evaluation_keys(&world.keys.secret, seed(2), &request, None);
                let ev = Evaluator::<Bgv>::new(&world.context, evaluation.expect("keys").into()).expect("keys of it");
                let product = ev.multiply_matrix(&matrix, &world.encrypt(&x, 4)).expect("a product");
                assert_eq!(world.decrypt(&product), expected, "index {m}, {rows} times {columns}");
                assert_eq!(product.content().extent().length(), Some(rows));
            }
        }
    }
}

#[test]
fn parameters_keys_and_vectors_come_back_from_bytes() {
    let world = World::new(57, 7, 1);
    let (a, context) = (world.elements(2), &world.context);
    let plain = world.encoder.encode_elements(&a).expect("elements");
    let bytes = plain.to_bytes(context, Form::Packed);
    assert_eq!(Plaintext::from_bytes(context, &bytes).expect("a plaintext").content(), plain.content());
    // A server has what bytes say, alone.
    let file = KeyFile { context: context.clone(), key: (*world.keys.evaluation).clone() };
    let server = KeyFile::<EvaluationKeys>::from_bytes(&(), &file.to_bytes(&(), Form::Packed)).expect("keys");
    assert_eq!(server.context.parameters(), context.parameters());
    assert_eq!(server.context.parameters().spec().index, 57);
    let ev = Evaluator::<Bgv>::new(&server.context, server.key.into()).expect("an evaluator");
    let x = world.encrypt::<Bgv>(&a, 4).to_bytes(context, Form::Packed);
    let x = Ciphertext::<Bgv>::from_bytes(&server.context, &x).expect("a ciphertext");
    assert_eq!(x.content(), plain.content());
    let square = ev.square(&x).expect("a product").to_bytes(&server.context, Form::Raw);
    let square = Ciphertext::<Bgv>::from_bytes(context, &square).expect("a ciphertext");
    assert_eq!(world.decrypt(&square), world.times(&a, &a));
    // Vectors of other slots are refused.
    let other = World::new(63, 2, 2);
    assert!(Ciphertext::<Bgv>::from_bytes(&other.context, &x.to_bytes(context, Form::Packed)).is_err());
    assert!(matches!(other.evaluator::<Bgv>().square(&x), Err(Error::ParameterMismatch { .. })));
}

#[test]
fn matrices_come_back_from_bytes() {
    for (m, p, r) in [(31, 2, 1), (57, 7, 1), (63, 2, 2), (127, 2, 20)] {
        let world = World::new(m, p, r);
        let (context, d) = (&world.context, world.degree());
        let shape = [world.slots, world.slots.div_ceil(2)];
        let mut xof = seed(9).xof("test/matrix");
        let entries: Vec<i64> = (0..shape[0] * shape[1] * d).map(|_| (xof.next_u64() % world.t) as i64).collect();
        let matrix = SlotMatrix::new(context, shape, Entries::Elements(&entries), 3).expect("a matrix");
        let bytes = matrix.to_bytes(context, Form::Raw);
        let again = SlotMatrix::from_bytes(context, &bytes).expect("a matrix");
        assert_eq!((again.shape(), again.limbs(), again.factors()), (shape, 3, matrix.factors()));
        assert_eq!(again.automorphisms(), matrix.automorphisms());
        assert_eq!(again.to_bytes(context, Form::Raw), bytes);
        let request = KeyRequest { automorphisms: matrix.automorphisms(), ..KeyRequest::default() };
        let keys = context.evaluation_keys(&world.keys.secret, seed(2), &request, None).expect("keys");
        let ev = Evaluator::<Bgv>::new(context, keys.into()).expect("an evaluator");
        let x = world.elements(2)[..shape[1] * d].to_vec();
        let cx = ev.mod_switch(&world.encrypt(&x, 4), 3).expect("fewer limbs");
        let product = ev.multiply_matrix(&again, &cx).expect("a product");
        assert_eq!(world.decrypt(&product), matrix_times(&world, shape, &entries, &x));
        // Of another ring, and cut anywhere.
        let other = World::new(20, 3, 2);
        let foreign = ev.multiply_matrix(
            &SlotMatrix::new(&other.context, [1, 1], Entries::Numbers(&[0]), 1).expect("a matrix"),
            &cx,
        );
        assert!(matches!(foreign, Err(Error::ParameterMismatch { .. })));
        assert!(matches!(SlotMatrix::from_bytes(&other.context, &bytes), Err(Error::ParameterMismatch { .. })));
        for end in (0..bytes.len()).step_by(97) {
            assert!(SlotMatrix::from_bytes(context, &bytes[..end]).is_err());
        }
    }
}

#[test]
fn matrices_are_mapped_from_files_of_their_transforms() {
    let path = std::env::temp_dir().join(format!("noren-matrix-{}", std::process::id()));
    for (m, p, r) in [(31, 2, 1), (57, 7, 1), (127, 2, 20)] {
        let world = World::new(m, p, r);
        let (context, d) = (&world.context, world.degree());
        let shape = [world.slots, world.slots];
        let mut xof = seed(10).xof("test/matrix");
        let entries: Vec<i64> = (0..shape[0] * shape[1] * d).map(|_| (xof.next_u64() % world.t) as i64).collect();
        let matrix = SlotMatrix::new(context, shape, Entries::Elements(&entries), 3).expect("a matrix");
        matrix.save_prepared(context, &path).expect("a file");
        let mapped = SlotMatrix::open(context, &path, &Limits::default()).expect("a matrix");
        assert!(mapped.is_mapped() && !matrix.is_mapped());
        assert_eq!((mapped.shape(), mapped.limbs(), mapped.factors()), (shape, 3, matrix.factors()));
        assert_eq!(mapped.to_bytes(context, Form::Raw), matrix.to_bytes(context, Form::Raw));
        let request = KeyRequest { automorphisms: mapped.automorphisms(), ..KeyRequest::default() };
        let keys = context.evaluation_keys(&world.keys.secret, seed(2), &request, None).expect("keys");
        let ev = Evaluator::<Bgv>::new(context, keys.into()).expect("an evaluator");
        let x = world.elements(2);
        for limbs in [2, 3, 4] {
            let cx = ev.mod_switch(&world.encrypt(&x, 4), limbs).expect("fewer limbs");
            let product = ev.multiply_matrix(&mapped, &cx).expect("a product");
            assert_eq!(world.decrypt(&product), matrix_times(&world, shape, &entries, &x), "{limbs} limbs");
        }
        // Of another ring, of another kind, cut anywhere, and changed in any section.
        let other = World::new(20, 3, 2);
        let refused = SlotMatrix::open(&other.context, &path, &Limits::default());
        assert!(matches!(refused, Err(Error::ParameterMismatch { .. })));
        assert!(SlotMatrix::read_file(context, &path, &Limits::default()).is_err());
        let bytes = std::fs::read(&path).expect("it was written");
        let damaged = path.with_extension("damaged");
        let opens = |bytes: &[u8]| {
            std::fs::write(&damaged, bytes).expect("a file");
            SlotMatrix::open(context, &damaged, &Limits::default()).is_ok()
        };
        for end in (0..bytes.len()).step_by(bytes.len() / 40 / 8 * 8) {
            assert!(!opens(&bytes[..end]), "{end} bytes");
        }
        for place in (0..bytes.len()).step_by(bytes.len() / 40) {
            let mut changed = bytes.clone();
            changed[place] ^= 1;
            assert!(!opens(&changed), "byte {place}");
        }
        std::fs::remove_file(&damaged).expect("it is ours");
        // A file that changes while it is in use.
        let cx = ev.mod_switch(&world.encrypt(&x, 4), 3).expect("fewer limbs");
        std::thread::sleep(std::time::Duration::from_millis(20));
        let file = std::fs::File::options().write(true).open(&path).expect("it is ours");
        file.set_len(4096).expect("it is ours");
        let refused = ev.multiply_matrix(&mapped, &cx).map(drop);
        assert!(matches!(refused, Err(Error::FileChanged { .. })), "{refused:?}");
        assert!(matches!(mapped.save_prepared(context, &damaged), Err(Error::FileChanged { .. })) && !damaged.exists());
        std::fs::remove_file(&path).expect("it is ours");
    }
}

#[test]
fn matrices_that_do_not_fit_are_refused() {
    let world = World::new(31, 2, 1);
    let (context, slots, d) = (&world.context, world.slots, world.degree());
    let ones = vec![1; 2 * slots * slots * d];
    for (shape, count, part) in [
        ([0, 1], 0, "1 to 6, the number of slots"),
        ([slots + 1, 1], slots + 1, "1 to 6, the number of slots"),
        ([2, 3], 5, "2 times 3 times 1"),
    ] {
        let refused = SlotMatrix::new(context, shape, Entries::Numbers(&ones[..count]), 4);
        let message = refused.map(|_| ()).expect_err("refused").to_string();
        assert!(message.contains(part), "{message}");
    }
    assert!(SlotMatrix::new(context, [1, 1], Entries::Numbers(&[2]), 4).is_err());
    let zero = SlotMatrix::new(context, [2, slots], Entries::Numbers(&vec![0; 2 * slots]), 4).expect("a matrix");
    let product = world.evaluator::<Bgv>().multiply_matrix(&zero, &world.encrypt(&world.elements(2), 4));
    let decryptor = Decryptor::new(context, &world.keys.secret).expect("a decryptor");
    let nothing = decryptor.decrypt(&product.expect("a product")).expect("right");
    assert!(world.encoder.decode(&nothing).expect("numbers").iter().all(|&x| x == 0));
    let matrix = SlotMatrix::new(context, [2, 3], Entries::Numbers(&ones[..6]), 4).expect("a matrix");
    let x = world.encrypt::<Bgv>(&world.elements(2), 4);
    let message = world.evaluator::<Bgv>().multiply_matrix(&matrix, &x).map(|_| ()).expect_err("refused").to_string();
    assert!(message.contains("3, one a column"), "{message}");
    let bare = context.generate_keys(seed(1), &KeyRequest::default()).expect("keys").evaluation;
    let short = world.encrypt::<Bgv>(&world.elements(2)[..3 * d], 4);
    let refused = Evaluator::<Bgv>::new(context, bare).expect("an evaluator").multiply_matrix(&matrix, &short);
    assert!(matches!(refused, Err(Error::MissingKey { .. })));
}

#[test]
fn what_such_a_ring_lacks_is_refused_by_name() {
    let world = World::new(31, 2, 1);
    let (ev, x) = (world.evaluator::<Bgv>(), world.encrypt::<Bgv>(&world.elements(2), 4));
    let refused = |result: Result<Ciphertext<Bgv>, Error>| result.map(|_| ()).expect_err("refused").to_string();
    for (message, part) in [
        (refused(ev.rotate(&x, 1)), "power of two for rows"),
        (refused(ev.swap_rows(&x)), "power of two for rows"),
        (refused(ev.sum_rotations(&x, &[1])), "power of two for rows"),
        (refused(ev.rotate_along(&x, &[1, 1])), "one for each dimension"),
        (refused(x.clone().with_period(2)), "power of two for rows"),
    ] {
        assert!(message.contains(part), "{message}");
    }
    let few = KeyRequest { rotations: vec![1], ..KeyRequest::default() };
    assert!(world.context.generate_keys(seed(1), &few).is_err());
    let none = world.context.generate_keys(seed(1), &KeyRequest::default()).expect("keys");
    let bare = Evaluator::<Bgv>::new(&world.context, none.evaluation).expect("an evaluator");
    assert!(matches!(bare.rotate_along(&x, &[1]), Err(Error::MissingKey { .. })));
    for (index, log_n, t, part) in [
        (15, 10, 2, "one of both"),
        (16, 0, 2, "log_n for a power of two"),
        (30, 0, 2, "twice an odd number"),
        (65537, 0, 2, "65536"),
        (0, 0, 2, "3 to 17"),
        (31, 0, 1 << 60, "2^60 - 1"),
    ] {
        let spec = ParametersSpec { log_n, index, plaintext_modulus: t, ..spec(31, 2, 1) };
        let message = spec.build().map(|_| ()).expect_err("refused").to_string();
        assert!(message.contains(part), "{message}");
    }
    // Without slots: a modulus that is not a power of a prime, or whose prime divides the index.
    for t in [6, 31] {
        let spec = ParametersSpec { plaintext_modulus: t, ..spec(31, 2, 1) };
        let context = Context::new(spec.build().expect("parameters")).expect("a context");
        assert!(!context.parameters().has_slots());
        let message = Encoder::new(&context).encode(&[1]).map(|_| ()).expect_err("no slots").to_string();
        assert!(message.contains("does not divide 31"), "{message}");
        let plain = Encoder::new(&context).encode_coefficients(&[1, 2, -1]).expect("coefficients");
        let found = Encoder::new(&context).decode_coefficients_signed(&plain).expect("coefficients");
        assert_eq!(found[..4], [1, 2, -1, 0]);
    }
    let secure = ParametersSpec { security: Security::Bits128, ..spec(31, 2, 1) };
    assert!(matches!(secure.build(), Err(Error::Insecure { n: 30, .. })));
}
