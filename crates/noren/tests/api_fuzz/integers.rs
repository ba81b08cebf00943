//! BGV and BFV on random small rings.

use noren::bgv::{Context, Decryptor, Encoder, KeyRequest, Keys, ParametersSpec};
use noren::error::Result;
use noren::schemes::integers::{Ciphertext, Encryptor, Evaluator, Scheme};
use noren::wire::{Form, Object};
use noren::{Security, Seed};

use crate::draw::Draw;
use crate::program::World;

/// A ring and a modulus, two secrets with the same keys, and a ring beside it.
pub struct Exact<S> {
    context: Context,
    t: i64,
    slots: usize,
    keys: Keys,
    ev: Evaluator<S>,
    foreign_keys: Keys,
    foreign: Evaluator<S>,
    elsewhere: Context,
    elsewhere_keys: Keys,
    rotations: Vec<isize>,
}

fn encrypt<S: Scheme>(context: &Context, keys: &Keys, row: &[i64], seed: Seed, secret: bool) -> Result<Ciphertext<S>> {
    let plaintext = Encoder::new(context).encode_row(row)?;
    if secret {
        return Encryptor::symmetric(context, &keys.secret, seed)?.encrypt(&plaintext);
    }
    Encryptor::public(context, &keys.public, seed)?.encrypt(&plaintext)
}

impl<S: Scheme> World for Exact<S> {
    type Number = i64;
    type Ev = Evaluator<S>;

    fn new(draw: &mut Draw) -> (Self, String) {
        loop {
            let log_n = 4 + draw.below(5) as u32;
            let t = draw.one(&[65537_u64, 65537, 12289, 40961, 786_433, 7681, 0x7f_fe00_0001, 2_013_265_921]);
            let bits = 30 + draw.below(21) as u32;
            let limbs = 1 + draw.below(7);
            let spec = ParametersSpec {
                log_n,
                plaintext_modulus: t,
                log_q: vec![bits; limbs],
                log_p: (0..=draw.below(3)).map(|_| 40 + draw.below(11) as u32).collect(),
                dnum: draw.below(limbs + 1),
                security: Security::None,
                ..ParametersSpec::default()
            };
            let other = ParametersSpec {
                log_n: 4,
                plaintext_modulus: 193,
                log_q: vec![40; 3],
                log_p: vec![45],
                security: Security::None,
                ..ParametersSpec::default()
            };
            let text = format!("{spec:?}");
            let mut rotations: Vec<isize> = (0..draw.below(5)).map(|_| draw.from(-9, 9) as isize).collect();
            rotations.extend([1, 2]);
            let request =
                KeyRequest { relinearization: !draw.chance(8), rotations: rotations.clone(), ..Default::default() };
            let make = || -> Result<Self> {
                let (context, elsewhere) = (Context::new(spec.build()?)?, Context::new(other.build()?)?);
                let keys = context.generate_keys(draw.seed(), &request)?;
                let foreign_keys = context.generate_keys(draw.seed(), &request)?;
                let elsewhere_keys = elsewhere.generate_keys(draw.seed(), &KeyRequest::default())?;
                let ev = Evaluator::new(&context, keys.evaluation.clone())?;
                let foreign = Evaluator::new(&context, foreign_keys.evaluation.clone())?;
                // Without slots, encoding is refused.
                Encoder::new(&context).encode_row(&[0])?;
                let (t, slots) = (t.cast_signed(), 1 << (log_n - 1));
                Ok(Self { context, t, slots, keys, ev, foreign_keys, foreign, elsewhere, elsewhere_keys, rotations })
            };
            if let Ok(world) = make() {
                return (world, text);
            }
        }
    }

    fn ev(&self) -> &Evaluator<S> {
        &self.ev
    }

    fn foreign(&self) -> &Evaluator<S> {
        &self.foreign
    }

    fn slots(&self) -> usize {
        self.slots
    }

    fn rotations(&self) -> &[isize] {
        &self.rotations
    }

    fn number(&self, draw: &mut Draw) -> i64 {
        match draw.below(8) {
            0 => draw.from(-2, 2),
            1 => self.t - 1,
            2 => -(self.t / 2),
            _ => draw.from(-(self.t / 2), self.t - 1),
        }
    }

    fn wrong_number(&self, draw: &mut Draw) -> i64 {
        draw.one(&[self.t, -(self.t / 2) - 1, i64::MAX, i64::MIN, 2 * self.t])
    }

    /// Modulo t.
    fn large_number(&self, draw: &mut Draw) -> i64 {
        self.wrong_number(draw)
    }

    fn encrypt(&self, values: &[i64], draw: &mut Draw) -> Result<Ciphertext<S>> {
        encrypt(&self.context, &self.keys, values, draw.seed(), draw.chance(2))
    }

    fn encrypt_foreign(&self, values: &[i64], draw: &mut Draw) -> Result<Ciphertext<S>> {
        encrypt(&self.context, &self.foreign_keys, values, draw.seed(), draw.chance(2))
    }

    fn encrypt_elsewhere(&self, draw: &mut Draw) -> Result<Ciphertext<S>> {
        encrypt(&self.elsewhere, &self.elsewhere_keys, &[1], draw.seed(), true)
    }

    fn check(&self, x: &Ciphertext<S>, truth: &[i64]) -> std::result::Result<f64, String> {
        if x.noise_budget() <= 0.0 {
            return Ok(0.0);
        }
        let decryptor = Decryptor::new(&self.context, &self.keys.secret).map_err(|error| error.to_string())?;
        let plaintext = decryptor.decrypt(x).map_err(|error| format!("decrypt: {error}"))?;
        let found = Encoder::new(&self.context).decode(&plaintext).map_err(|error| error.to_string())?;
        for (row, values) in found.chunks(self.slots).enumerate() {
            let differs = |(found, &truth): (&i64, &i64)| *found != truth.rem_euclid(self.t);
            if let Some(slot) = values.iter().zip(truth).position(differs) {
                let (found, truth) = (values[slot], truth[slot].rem_euclid(self.t));
                return Err(format!("slot {slot} of row {row} is {found}, true {truth} (mod {})", self.t));
            }
        }
        Ok(0.0)
    }

    fn foreign_decrypts(&self, x: &Ciphertext<S>) -> bool {
        let decryptor = Decryptor::new(&self.context, &self.foreign_keys.secret);
        decryptor.is_ok_and(|decryptor| decryptor.decrypt(x).is_ok())
    }

    fn plus(&self, x: i64, y: i64) -> i64 {
        (i128::from(x) + i128::from(y)).rem_euclid(self.t.into()) as i64
    }

    fn times(&self, x: i64, y: i64) -> i64 {
        (i128::from(x) * i128::from(y)).rem_euclid(self.t.into()) as i64
    }

    fn bytes_round_trip(&self, x: &Ciphertext<S>) -> Result<Ciphertext<S>> {
        Ciphertext::from_bytes(&self.context, &x.to_bytes(&self.context, Form::Packed))
    }
}
