//! Noise of circuit bootstrapping against its law, and its keys.
//!
//! As for bootstraps, samples are drawn under many keys: the energy of a key's errors, and of its secret, is fixed within one.

use noren_ring::torus::control_table::ControlTable;
use noren_ring::torus::keys::Controls;
use noren_ring::torus::lwe::Lwe;
use noren_ring::torus::packed_tables::PackedTables;
use noren_ring::torus::product::TorusProduct;
use noren_rlwe::error::Error;
use noren_rlwe::torus::circuit::keys::{CircuitKeys, CompactCircuitKeys};
use noren_rlwe::torus::circuit::spec::CircuitSpec;
use noren_rlwe::torus::digits::Digits;
use noren_rlwe::torus::noise::TorusNoise;
use noren_rlwe::torus::spec::TorusSpec;

use crate::world::{World, cases, centred, engine, glwe_phase, seed, small};

/// How far a measured variance may be from its law.
const TOLERANCE: f64 = 0.1;
const SAMPLES: usize = 2048;
const KEYS: u8 = 32;

/// Bits of a digit.
const BITS: u32 = 2;

/// Small dimensions: digits of two bits at two levels have boxes of 16 coefficients.
fn torus() -> TorusSpec {
    TorusSpec { log_degree: 7, glwe_noise: TorusNoise::Gaussian(1e-13), ..small() }
}

/// Errors of keys dominate everywhere.
const ERRORS: CircuitSpec = CircuitSpec {
    rotation: Digits::new(6, 6),
    trace: Digits::new(3, 15),
    square: Digits::new(6, 7),
    control: Digits::new(8, 2),
};

struct Circuit {
    world: World,
    keys: CircuitKeys,
    table: ControlTable,
}

impl Circuit {
    fn new(torus: &TorusSpec, spec: CircuitSpec, byte: u8) -> Self {
        let world = World::new(torus.clone(), byte);
        let parameters = spec.build(&world.parameters).expect("digits");
        let degree = world.parameters.shape().degree;
        let (engine, product) = (world.server.ring().engine(), world.server.ring().product());
        let compact = CompactCircuitKeys::generate(engine, product, &parameters, &world.secret, &seed(byte));
        let keys = compact.expect("its own secret").expand(&world.server);
        let table = ControlTable::new(degree, BITS, parameters.control());
        Self { world, keys, table }
    }

    /// A digit that counts 1/4 of the circle.
    fn encrypt(&self, label: &str, digit: u64) -> Lwe {
        self.world.secret.encrypt(&seed(50).derive(label), digit << (64 - BITS))
    }

    fn controls(&self, samples: &[Lwe]) -> Controls {
        let keys = (self.world.keys.bootstrap(), self.keys.bootstrap());
        self.world.server.circuit_bootstrap(keys, &self.table, &samples.iter().collect::<Vec<_>>())
    }

    /// `body - sum_r A_r S_r` of a GLWE sample.
    fn phase(&self, sample: &[u64]) -> Vec<u64> {
        glwe_phase(&self.world.secret, self.world.server.ring().product(), sample)
    }
}

#[test]
fn controls_have_the_noise_of_their_law() {
    let quiet_rotation = CircuitSpec { rotation: Digits::new(2, 18), ..ERRORS };
    let coarse_square = CircuitSpec { square: Digits::new(8, 3), ..quiet_rotation };
    for (k, log_degree, spec) in cases([(1, 7, ERRORS), (1, 7, coarse_square), (2, 7, quiet_rotation)]) {
        let (mut row, mut body, mut masks) = (0.0, 0.0, 0.0);
        let mut law = None;
        for byte in 0..KEYS {
            let circuit = Circuit::new(&TorusSpec { k, log_degree, ..torus() }, spec, byte);
            law = Some(circuit.keys.parameters().law());
            let (n, levels) = (1 << log_degree, spec.control.levels);
            let samples: Vec<Lwe> =
                (0..SAMPLES / usize::from(KEYS)).map(|call| circuit.encrypt(&call.to_string(), 0)).collect();
            let controls = circuit.controls(&samples);
            for digit in 0..samples.len() {
                let controls = circuit.world.server.download_controls(&controls, digit);
                // All bits are 0, so phases are noise alone; of one accumulator, one box is a sample.
                let rows: Vec<&[u64]> = controls.chunks_exact((k + 1) * n).collect();
                let energy =
                    |row: usize| circuit.phase(rows[row]).iter().map(|&phase| centred(phase).powi(2)).sum::<f64>();
                row += centred(circuit.phase(rows[k * levels])[0]).powi(2);
                body += energy(k * levels);
                masks += (0..k).map(|r| energy(r * levels)).sum::<f64>();
            }
        }
        let (law, samples) = (law.expect("keys"), SAMPLES as f64);
        assert_near("the constant coefficient of a row", row / samples, law.row());
        assert_near("a row", body / samples, law.rotation + law.trace_energy);
        assert_near("all rows of a level", (body + masks) / samples, law.control_energy);
    }
}

#[test]
fn lookups_add_the_noise_of_their_law() {
    // Roundings under controls dominate, and their noise.
    let fine_controls = CircuitSpec { control: Digits::new(12, 2), ..ERRORS };
    for spec in cases([ERRORS, fine_controls]) {
        let (digits, keys, calls) = (4, 32, 32);
        let (mut squares, mut count, mut law) = (0.0, 0, 0.0);
        for byte in 0..keys {
            let circuit = Circuit::new(&torus(), spec, byte);
            let (shape, bits) = (circuit.world.parameters.shape(), BITS as usize * digits);
            law = circuit.keys.parameters().law().lookup(bits);
            // All polynomials differ, so that the first choice draws masks.
            let value = |x: usize, _: usize| (x * x / 3 % 16) as u16;
            let tables = PackedTables::from_fn(shape, (bits, 1), 1 << 59, value);
            for call in 0..calls {
                // Both control bits of 2 are set.
                let samples: Vec<Lwe> = (0..digits).map(|i| circuit.encrypt(&format!("{call}/{i}"), 2)).collect();
                let result = circuit.world.server.lookup(&tables, &circuit.controls(&samples)).remove(0).remove(0);
                let phase = circuit.world.secret.phase(&result).expect("its own");
                let message = u64::from(value((1 << bits) - 1, 0)) << 59;
                squares += centred(phase.wrapping_sub(message)).powi(2);
                count += 1;
            }
        }
        assert_near("a lookup", squares / f64::from(count), law);
    }
}

#[test]
fn keys_depend_on_secret_and_digits_and_on_nothing_else() {
    let world = World::new(torus(), 1);
    let product = |exact| {
        let degree = world.parameters.shape().degree;
        if exact { TorusProduct::exact(degree) } else { TorusProduct::new(degree) }.expect("transforms")
    };
    let generate = |spec: CircuitSpec, threads, exact| {
        let parameters = spec.build(&world.parameters).expect("digits");
        let (engine, product) = (engine(threads), product(exact));
        CompactCircuitKeys::generate(&engine, &product, &parameters, &world.secret, &seed(1)).expect("its own secret")
    };
    let keys = generate(ERRORS, 1, false);
    assert_eq!(keys.rotation_bodies(), generate(ERRORS, 2, true).rotation_bodies());
    let other = generate(CircuitSpec { control: Digits::new(7, 2), ..ERRORS }, 1, false);
    assert_ne!(keys.seed().as_bytes(), other.seed().as_bytes(), "masks are never used twice");
    let other = World::new(TorusSpec { n: 65, ..torus() }, 1);
    let parameters = ERRORS.build(&world.parameters).expect("digits");
    let refused = CompactCircuitKeys::generate(&engine(1), &product(false), &parameters, &other.secret, &seed(1));
    assert!(matches!(refused, Err(Error::ParameterMismatch { .. })));
}

#[test]
fn digits_that_are_not_exact_are_refused() {
    let parameters = torus().build().expect("parameters");
    let long = CircuitSpec { trace: Digits::new(30, 2), ..ERRORS };
    assert!(matches!(long.build(&parameters), Err(Error::Parameters { name: "trace.log_base", .. })));
    let many = CircuitSpec { control: Digits::new(8, 8), ..ERRORS };
    assert!(matches!(many.build(&parameters), Err(Error::Parameters { name: "control.levels", .. })));
}

fn assert_near(what: &str, measured: f64, law: f64) {
    let ratio = measured / law;
    assert!((ratio - 1.0).abs() < TOLERANCE, "{what}: {measured:e} measured, {law:e} by law: {ratio:.3}");
}
