//! The suite `weak-client`: what a device of little memory makes that has its numbers compared by a server, beside the keys that
//! a stronger device of the same owner makes.

use std::path::Path;
use std::time::Instant;

use clap::{Args, ValueEnum};
use noren::Complex64;
use noren::bootstrapping::{self, BootstrapKeyFile, Preset};
use noren::ckks::{self, Ciphertext, Decryptor, Encoder, Encryptor, KeyRequest};
use noren::switching;
use noren::tfhe;
use noren::wire::{Form, Object};
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::SecretKey;

use crate::failure::Failure;
use crate::measure::apart::apart;
use crate::measure::judge::{Judge, drop_result, seed};
use crate::measure::record::Record;
use crate::measure::run::Run;
use crate::measure::timing::{Timing, nanoseconds, time, with_scratch_file};

/// The set of light keys, and that of keys which travel whole.
const LIGHT: &str = "2_2_LIGHT";
const FULL: &str = "2_2";
/// The set of rings without security, whose degree its samples fit.
const TOY: &str = "TOY_SWITCH";
/// The integers that are looked up to see whether light keys are right.
const LOOKED_UP: u64 = 4;

/// The work of one device. Each part is measured in a process of its own, whose peak RSS is that of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Secrets, light keys of TFHE, encryption with the secret key, decryption: all that the client has to do
    Own,
    /// Secret and public key of CKKS, and encryption with that
    Public,
    /// Keys of TFHE as they travel whole
    Full,
    /// Keys of bootstrapping, of switching and of TFHE: what the stronger device makes
    All,
}

/// A device with its number of threads.
struct Device<'a> {
    run: &'a Run<'a>,
    preset: Preset,
    part: Part,
    threads: usize,
    bootstrapping: bootstrapping::Parameters,
    ckks: ckks::Parameters,
}

/// The options of the suite.
#[derive(Debug, Args)]
pub struct Options {
    /// The name of the parameters, such as n16, n15 or toy
    #[arg(long, value_name = "NAME", default_value_t)]
    preset: Preset,
    /// The work of one device; several parts run in a process each [default: all]
    #[arg(long, value_enum, value_name = "PART,...", value_delimiter = ',')]
    part: Vec<Part>,
}

impl Options {
    /// Measures the parts: one with one number of threads in this process, and else each in a process of its own.
    pub(in crate::measure) fn run(&self, run: &Run<'_>) -> Result<(), Failure> {
        let preset = self.preset;
        let parts = if self.part.is_empty() { Part::value_variants() } else { &self.part[..] };
        if let (&[part], &[threads]) = (parts, run.threads) {
            let bootstrapping = preset.parameters()?;
            let ckks = bootstrapping.ckks()?;
            return Device { run, preset, part, threads, bootstrapping, ckks }.measure();
        }
        for part in parts {
            for &threads in run.threads {
                apart(run, threads, &["weak-client", "--preset", preset.name(), "--part", part.name()])?;
            }
        }
        Ok(())
    }
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Public => "public",
            Self::Full => "full",
            Self::All => "all",
        }
    }
}

impl Device<'_> {
    fn measure(&self) -> Result<(), Failure> {
        match self.part {
            Part::Own => self.own(),
            Part::Public => self.public(),
            Part::Full => self.full(),
            Part::All => self.all(),
        }
    }

    /// All that the client has to do. What it hands to the stronger device are two seeds.
    fn own(&self) -> Result<(), Failure> {
        let (context, secret) = self.context_and_secret()?;
        let (light, keys, record) = self.light_keys()?;
        self.run.report(&record)?;
        let encryptor = Encryptor::symmetric(&context, &secret, seed(2))?;
        self.encrypt(&context, &secret, &encryptor, "encrypt_secret")?;
        self.decrypt(&context, &secret, &encryptor)?;
        // Last, as it takes the memory of a server.
        self.check_light_keys(&light, keys)
    }

    /// Key generation of a client for which others encrypt: its public key, and encryption with that.
    fn public(&self) -> Result<(), Failure> {
        let (context, secret) = self.context_and_secret()?;
        let (public, timing) = once(|| KeyGenerator::new(context.rlwe(), seed(0)).public(&secret))?;
        let file = ckks::KeyFile { context: context.clone(), key: public };
        let record = self.record("keygen_public", Some(timing), "public key of CKKS");
        self.run.report(&record.with("file_bytes", file.writer(&(), Form::Packed).encoded_len()))?;
        self.encrypt(&context, &secret, &Encryptor::public(&context, &file.key, seed(2))?, "encrypt")
    }

    /// The keys of TFHE, written while they are made.
    fn full(&self) -> Result<(), Failure> {
        let context = tfhe::Context::with_threads(self.tfhe(FULL)?, Some(self.threads))?;
        self.full_keys(&context).map(drop)
    }

    /// The keys that no client of little memory makes.
    fn all(&self) -> Result<(), Failure> {
        let (context, secret) = self.context_and_secret()?;
        let set = self.tfhe(FULL)?;
        let torus = tfhe::Context::with_threads(set.clone(), Some(self.threads))?;
        let samples = self.full_keys(&torus)?;
        let parameters = switching::Parameters::new(&self.bootstrapping, &set)?;
        let both = switching::Context::new(&parameters, &context, &torus)?;
        let (keys, timing) = once(|| switching::KeyFile::generate(&both, &secret, &samples, &seed(4)))?;
        let record = self.record("switch_keys", Some(timing), "keys between the secrets");
        self.run.report(&record.with("file_bytes", keys.writer(&(), Form::Packed).encoded_len()))?;
        drop(keys);
        let request = KeyRequest::default();
        let generate = |path: &Path| {
            BootstrapKeyFile::generate(path, &context, &self.bootstrapping, &secret, seed(1), &request, &mut |_| ())
        };
        let (file_bytes, timing) = with_scratch_file(|path| once(|| generate(path)))?;
        let record = self.record("bootstrap_keys", Some(timing), "written while they are made");
        self.run.report(&record.with("file_bytes", file_bytes))
    }

    fn context_and_secret(&self) -> Result<(ckks::Context, SecretKey), Failure> {
        let (context, timing) = once(|| ckks::Context::with_threads(self.ckks.clone(), Some(self.threads)))?;
        self.run.report(&self.record(
            "context",
            Some(timing),
            "of CKKS; its transforms are made at their first use",
        ))?;
        let (secret, timing) = once(|| noren::Result::Ok(KeyGenerator::new(context.rlwe(), seed(0)).secret()))?;
        self.run.report(&self.record("keygen_secret", Some(timing), "secret of CKKS, of one seed"))?;
        Ok((context, secret))
    }

    /// Light keys from their seed, with their secret.
    fn light_keys(&self) -> Result<(tfhe::Context, tfhe::KeyFile<tfhe::LightKeys>, Record), Failure> {
        let parameters = self.tfhe(LIGHT)?;
        let make = || {
            let context = tfhe::Context::with_threads(parameters.clone(), Some(self.threads))?;
            let key = context.light_keys(&seed(3), &context.secret_key(&seed(3)))?;
            noren::Result::Ok((context, tfhe::KeyFile { parameters: parameters.clone(), key }))
        };
        let ((context, file), timing) = once(make)?;
        let record = self.record("light_keys", Some(timing), "secret and light keys of TFHE, of one seed");
        let record = record.with("file_bytes", file.writer(&(), Form::Packed).encoded_len());
        Ok((context, file, record))
    }

    /// Whether a server that expands light keys looks up what it should.
    fn check_light_keys(&self, context: &tfhe::Context, file: tfhe::KeyFile<tfhe::LightKeys>) -> Result<(), Failure> {
        let secret = context.secret_key(&seed(3));
        let evaluator = tfhe::Evaluator::new(context, context.expand_light(&file.key)?.into())?;
        let encryptor = tfhe::Encryptor::new(context, &secret, seed(5))?;
        let decryptor = tfhe::Decryptor::new(context, &secret)?;
        let square = tfhe::Lookup::new(context, |x| x * x % LOOKED_UP)?;
        for x in 0..LOOKED_UP {
            let found = decryptor.decrypt(&evaluator.lookup(&encryptor.encrypt(x)?, &square)?)?;
            if found != x * x % LOOKED_UP {
                return Err(Failure::WrongResults(vec![format!("light keys of {LIGHT}: {found} for {x}")]));
            }
        }
        Ok(())
    }

    /// Whole keys of TFHE in a file, and their secret.
    fn full_keys(&self, context: &tfhe::Context) -> Result<tfhe::SecretKey, Failure> {
        let secret = context.secret_key(&seed(3));
        let write = |path: &Path| context.write_compact_keys(&seed(3), &secret, path);
        let (file_bytes, timing) = with_scratch_file(|path| once(|| write(path)))?;
        let record = self.record("tfhe_keys", Some(timing), "written while they are made");
        self.run.report(&record.with("file_bytes", file_bytes))?;
        Ok(secret)
    }

    /// A message of all slots, at the level that the way to samples takes.
    fn encrypt(
        &self,
        context: &ckks::Context,
        secret: &SecretKey,
        encryptor: &Encryptor<'_>,
        op: &'static str,
    ) -> Result<(), Failure> {
        let (values, level) = (self.values(), self.bootstrapping.input_level());
        let encoder = Encoder::new(context);
        let encode = || encoder.encode(&values, values.len(), level);
        // The first one makes the transforms, and the secret modulo the primes of the level.
        let (ciphertext, first) = once(|| encryptor.encrypt(&encode()?))?;
        let right = self.is_right(context, secret, op, &ciphertext)?;
        let encoding = right.then(|| time(self.run.seconds, 1.0, || encode().map(drop_result))).transpose()?;
        self.run.report(&self.record("encode", encoding, "reals in all slots").with("level", level))?;
        let plaintext = encode()?;
        let encryption = right
            .then(|| time(self.run.seconds, 1.0, || encryptor.encrypt(&plaintext).map(drop_result)))
            .transpose()?;
        let file_bytes = ciphertext.writer(context, Form::Packed).encoded_len();
        let record = self.record(op, encryption, "").with("level", level);
        self.run.report(&record.with("first_ns", first.median_ns).with("file_bytes", file_bytes))
    }

    /// Decryption of a result, that a server dropped to the lowest level which holds it.
    fn decrypt(&self, context: &ckks::Context, secret: &SecretKey, encryptor: &Encryptor<'_>) -> Result<(), Failure> {
        let (values, encoder) = (self.values(), Encoder::new(context));
        let scale = self.ckks.scale_at(self.bootstrapping.output_level());
        let at = |level| encryptor.encrypt(&encoder.encode_real(&values, values.len(), level, scale)?);
        let mut level = 0;
        let ciphertext = loop {
            match at(level) {
                Ok(found) if found.error_bound().is_finite() => break found,
                Err(error) if level == self.ckks.max_level() => return Err(error.into()),
                _ => level += 1,
            }
        };
        let decryptor = Decryptor::new(context, secret)?;
        let right = self.is_right(context, secret, "decrypt", &ciphertext)?;
        let call = || decryptor.decrypt_real(&ciphertext).map(drop_result);
        let timing = right.then(|| time(self.run.seconds, 1.0, call)).transpose()?;
        let record = self.record("decrypt", timing, "with decoding, of a result that was dropped to this level");
        // A server has no seed for what it sends.
        let unseeded = self.ckks.rlwe().log_q(level + 1) * 2.0 * self.ckks.degree() as f64 / 8.0;
        self.run.report(&record.with("level", level).with("result_bytes", unseeded.ceil() as u64))
    }

    fn is_right(
        &self,
        context: &ckks::Context,
        secret: &SecretKey,
        op: &str,
        ciphertext: &Ciphertext,
    ) -> Result<bool, Failure> {
        let (decryptor, values) = (Decryptor::new(context, secret)?, self.values());
        let judge = Judge { run: self.run, decryptor: &decryptor };
        judge.is_right(op, ciphertext, |j| Complex64::from(values[j]))
    }

    /// Numbers in [-1, 1] for all slots.
    fn values(&self) -> Vec<f64> {
        (0..self.bootstrapping.slots()).map(|j| (j as f64).sin()).collect()
    }

    fn tfhe(&self, name: &str) -> noren::Result<tfhe::Parameters> {
        let name = if self.preset == Preset::Toy && name == FULL { TOY } else { name };
        tfhe::Preset::named(name)?.parameters()
    }

    /// A record of this part.
    fn record(&self, op: &'static str, timing: Option<Timing>, note: &'static str) -> Record {
        let record = Record::of_scheme("weak-client", op, &self.ckks, self.threads, timing, note);
        record.with("set", self.preset.name()).with("part", self.part.name())
    }
}

/// A result that is computed once, and the time of the computation.
fn once<T, E>(make: impl FnOnce() -> Result<T, E>) -> Result<(T, Timing), E> {
    let start = Instant::now();
    let made = make()?;
    Ok((made, Timing::of(&mut [nanoseconds(start.elapsed())])))
}
