//! CKKS on random small rings.

use noren::ckks::{Ciphertext, Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, Keys, ParametersSpec};
use noren::error::Result;
use noren::wire::{Form, Object};
use noren::{Security, Seed};

use crate::draw::Draw;
use crate::program::World;

/// A ring, two secrets with the same keys, and a ring beside it.
pub struct Reals {
    here: Home,
    keys: Keys,
    ev: Evaluator,
    foreign_keys: Keys,
    foreign: Evaluator,
    elsewhere: Home,
    elsewhere_keys: Keys,
    slots: usize,
    rotations: Vec<isize>,
    /// The size of numbers.
    size: f64,
}

struct Home {
    context: Context,
    encoder: Encoder,
}

impl Home {
    fn new(spec: ParametersSpec) -> Result<Self> {
        let context = Context::new(spec.build()?)?;
        Ok(Self { encoder: Encoder::new(&context), context })
    }

    fn keys(&self, request: &KeyRequest, seed: Seed) -> Result<Keys> {
        self.context.generate_keys(seed, request)
    }

    fn encrypt(&self, keys: &Keys, values: &[f64], slots: usize, seed: Seed, secret: bool) -> Result<Ciphertext> {
        let plaintext = self.encoder.encode(values, slots, self.context.parameters().max_level())?;
        if secret {
            return Encryptor::symmetric(&self.context, &keys.secret, seed)?.encrypt(&plaintext);
        }
        Encryptor::public(&self.context, &keys.public, seed)?.encrypt(&plaintext)
    }
}

impl World for Reals {
    type Number = f64;
    type Ev = Evaluator;

    fn new(draw: &mut Draw) -> (Self, String) {
        loop {
            let bits = draw.one(&[30, 36, 40, 40, 45, 50]);
            let levels = draw.below(6);
            let mut log_q = vec![bits; levels + 1];
            log_q[0] = (bits + draw.below(12) as u32).min(50);
            let spec = ParametersSpec {
                log_n: 5 + draw.below(5) as u32,
                log_q,
                log_p: (0..=draw.below(3)).map(|_| 40 + draw.below(11) as u32).collect(),
                log_scale: bits,
                dnum: draw.below(levels + 2),
                security: Security::None,
                ..ParametersSpec::default()
            };
            let text = format!("{spec:?}");
            let slots = 1 << draw.below(spec.log_n as usize);
            let mut rotations: Vec<isize> = (0..draw.below(5)).map(|_| draw.from(-9, 9) as isize).collect();
            rotations.extend([1, 2]);
            let request =
                KeyRequest { relinearization: !draw.chance(8), rotations: rotations.clone(), ..Default::default() };
            let other = ParametersSpec {
                log_n: 5,
                log_q: vec![45, 35],
                log_p: vec![50],
                log_scale: 35,
                security: Security::None,
                ..Default::default()
            };
            let size = draw.one(&[1.0, 1.0, 1.0, 0.01, 30.0]);
            let make = || -> Result<Self> {
                let (here, elsewhere) = (Home::new(spec)?, Home::new(other)?);
                let (keys, foreign_keys) = (here.keys(&request, draw.seed())?, here.keys(&request, draw.seed())?);
                let elsewhere_keys = elsewhere.keys(&KeyRequest::default(), draw.seed())?;
                let ev = Evaluator::new(&here.context, keys.evaluation.clone())?;
                let foreign = Evaluator::new(&here.context, foreign_keys.evaluation.clone())?;
                Ok(Self { here, keys, ev, foreign_keys, foreign, elsewhere, elsewhere_keys, slots, rotations, size })
            };
            if let Ok(world) = make() {
                return (world, format!("{text}, {slots} slots"));
            }
        }
    }

    fn ev(&self) -> &Evaluator {
        &self.ev
    }

    fn foreign(&self) -> &Evaluator {
        &self.foreign
    }

    fn slots(&self) -> usize {
        self.slots
    }

    fn rotations(&self) -> &[isize] {
        &self.rotations
    }

    fn number(&self, draw: &mut Draw) -> f64 {
        match draw.below(12) {
            0 => 0.0,
            1 => draw.from(-3, 3) as f64,
            _ => draw.unit() * self.size,
        }
    }

    fn wrong_number(&self, draw: &mut Draw) -> f64 {
        draw.one(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY])
    }

    fn large_number(&self, draw: &mut Draw) -> f64 {
        draw.one(&[1e6, -12_345_678.0, 1e-12, 1e300, f64::MAX, f64::NAN, f64::INFINITY, f64::NEG_INFINITY])
    }

    fn encrypt(&self, values: &[f64], draw: &mut Draw) -> Result<Ciphertext> {
        self.here.encrypt(&self.keys, values, self.slots, draw.seed(), draw.chance(2))
    }

    fn encrypt_foreign(&self, values: &[f64], draw: &mut Draw) -> Result<Ciphertext> {
        self.here.encrypt(&self.foreign_keys, values, self.slots, draw.seed(), draw.chance(2))
    }

    fn encrypt_elsewhere(&self, draw: &mut Draw) -> Result<Ciphertext> {
        self.elsewhere.encrypt(&self.elsewhere_keys, &[1.0], self.slots.min(16), draw.seed(), true)
    }

    fn check(&self, x: &Ciphertext, truth: &[f64]) -> std::result::Result<f64, String> {
        let bound = x.error_bound();
        if !bound.is_finite() {
            return Ok(0.0);
        }
        let decryptor = Decryptor::new(&self.here.context, &self.keys.secret).map_err(|error| error.to_string())?;
        let found = decryptor.decrypt_complex(x).map_err(|error| format!("decrypt: {error}"))?;
        // The oracle rounds to f64 as well.
        let most = truth.iter().map(|x| x.abs()).fold(0.0, f64::max);
        let rounding = 2.0_f64.powi(-44) * most;
        if most > x.magnitude() * (1.0 + 1e-12) + bound {
            return Err(format!("values up to {most:e} beside a magnitude of {:e}", x.magnitude()));
        }
        let errors = found.iter().zip(truth).map(|(found, &truth)| (found - truth).norm());
        let worst = errors
            .fold(0.0, |worst: f64, error| if worst.is_nan() || error.is_nan() { f64::NAN } else { worst.max(error) });
        if found.len() != truth.len() || worst.is_nan() || worst > bound + rounding {
            return Err(format!("an error of {worst:e} beyond the stated bound {bound:e}"));
        }
        Ok(if bound > rounding { worst / bound } else { 0.0 })
    }

    fn foreign_decrypts(&self, x: &Ciphertext) -> bool {
        let decryptor = Decryptor::new(&self.here.context, &self.foreign_keys.secret);
        decryptor.is_ok_and(|decryptor| decryptor.decrypt_complex(x).is_ok())
    }

    fn plus(&self, x: f64, y: f64) -> f64 {
        x + y
    }

    fn times(&self, x: f64, y: f64) -> f64 {
        x * y
    }

    fn bytes_round_trip(&self, x: &Ciphertext) -> Result<Ciphertext> {
        Ciphertext::from_bytes(&self.here.context, &x.to_bytes(&self.here.context, Form::Packed))
    }
}
