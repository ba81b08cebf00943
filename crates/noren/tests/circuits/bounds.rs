//! Error bounds of polynomials on CKKS ciphertexts: they hold for all inputs, and are sharp where inputs are at their
//! worst.

use std::f64::consts::PI;

use noren::Security;
use noren::Seed;
use noren::circuits::approx::Approximation;
use noren::circuits::polynomial::{Basis, Polynomial};
use noren::ckks::{Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, ParametersSpec};

use crate::numbers::numbers;

const LOG_N: u32 = 10;
const SLOTS: usize = 1 << (LOG_N - 1);
const ENCRYPTIONS: u8 = 1;

struct World { context: Context, keys: noren::ckks::Keys, depth: usize }

impl World {
    fn new(depth: usize) -> Self {
        let mut log_q = vec![40; depth + 1];
        log_q[0] = 50;
        let spec = ParametersSpec { log_n: LOG_N, log_q, log_p: vec![50], log_scale: 40, security: Security::None, ..ParametersSpec::default() };
        let context = Context::new(spec.build().unwrap()).unwrap();
        let request = KeyRequest { relinearization: true, ..KeyRequest::default() };
        let keys = context.generate_keys(Seed::from_bytes([1; 32]), &request).unwrap();
        Self { context, keys, depth }
    }
    fn measure(&self, p: &Polynomial, x: &[f64], public: bool) -> (f64, f64, f64) {
        let encoder = Encoder::new(&self.context);
        let ev = Evaluator::new(&self.context, self.keys.evaluation.clone()).unwrap();
        let dec = Decryptor::new(&self.context, &self.keys.secret).unwrap();
        let seed = Seed::from_bytes([7; 32]);
        let enc = if public { Encryptor::public(&self.context, &self.keys.public, seed) } else { Encryptor::symmetric(&self.context, &self.keys.secret, seed) }.unwrap();
        let plain = encoder.encode(x, SLOTS, self.depth).unwrap();
        let mut worst = 0.0_f64; let mut bound = 0.0; let mut sq = 0.0; let mut std=0.0;
        for _ in 0..ENCRYPTIONS {
            let y = p.evaluate(&ev, &enc.encrypt(&plain).unwrap()).unwrap();
            let found = dec.decrypt_complex(&y).unwrap();
            bound = y.error_bound(); std = y.estimate().std(); println!("   bias {:.2e} bound {bound:.2e} std {std:.2e}", y.estimate().bias());
            for (f, x) in found.iter().zip(x) { worst = worst.max((f - p.at(*x)).norm()); sq += (f-p.at(*x)).norm_sqr(); }
        }
        (worst, bound, std / (sq / (f64::from(ENCRYPTIONS) * SLOTS as f64)).sqrt())
    }
}

fn steepest(p: &Polynomial) -> f64 {
    let h = 1e-7;
    (0..=20000).map(|j| (PI * f64::from(j) / 20000.0).cos()).map(|x: f64| (x, (p.at((x + h).min(1.0)) - p.at((x - h).max(-1.0))).abs() / ((x+h).min(1.0)-(x-h).max(-1.0))))
        .fold((0.0, -1.0), |b, v| if v.1 > b.1 { v } else { b }).0
}

#[test]
fn experiment() {
    let fill: Vec<f64> = (0..SLOTS).map(|j| (PI * (j as f64 + 0.5) / SLOTS as f64).cos()).collect();
    let uni: Vec<f64> = (0..SLOTS).map(|j| 2.0*j as f64 / (SLOTS-1) as f64 - 1.0).collect();
    let mut cases = vec![];
    for degree in [7usize] {
        for basis in [Basis::Chebyshev] {
            cases.push((format!("{basis:?} {degree}"), Polynomial::new(basis, numbers(degree + 1, 10)).unwrap()));
        }
    }
    for (w, degree) in [(4.0, 15), (32.0, 127)] {
        cases.push((format!("sigmoid {degree}"), Approximation::sigmoid_of_degree(w, degree).unwrap().polynomial().clone()));
    }
    for (what, p) in cases {
        let world = World::new(p.depth());
        for public in [false] {
            let at = steepest(&p);
            let inputs = [("fill", fill.clone()), ("uniform", uni.clone()), ("steep", vec![at; SLOTS]), ("+1", vec![1.0; SLOTS]), ("-1", vec![-1.0; SLOTS]), ("0", vec![0.0; SLOTS])];
            print!("{what:15} {} steep at {at:7.4}: ", if public {"pub"} else {"sym"});
            for (name, x) in &inputs {
                let (worst, bound, r) = world.measure(&p, x, public);
                println!("  {name} {:.1} ({r:.2}){}  ", bound / worst, if worst > bound {"!!!!"} else {""});
            }
            println!();
        }
    }
}
