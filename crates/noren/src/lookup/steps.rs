//! Tests: the noise after each step of each method, measured with the secret, against its prediction.

use noren_math::random::Seed;
use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::error::Result;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::SecretKey;

use crate::lookup::function::Function;
use crate::lookup::keys::LookupKeys;
use crate::lookup::matrix::Matrix;
use crate::lookup::one_hot::one_hot;
use crate::lookup::plan::{LookupPlan, Method};
#[cfg(feature = "papers")]
use crate::lookup::polynomial::PolynomialLookup;
use crate::lookup::sparse::{Entries, leave};
#[cfg(feature = "papers")]
use crate::lookup::step::Step;
use crate::schemes::bfv::{
    Ciphertext, Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, Keys, Noise, ParametersSpec,
};
use crate::schemes::integers::content::Content;
use crate::security::Security;

/// The bits by which a measured standard deviation may differ from the predicted one, which is that of the average secret and
/// message. After a chain of products it may be much smaller: that average is mostly of the rare secrets with large values.
const CLOSE_BITS: f64 = 1.5;

struct World {
    context: Context,
    keys: Keys,
    evaluator: Evaluator,
}

impl World {
    fn new(spec: ParametersSpec, request: KeyRequest) -> Result<Self> {
        let context = Context::new(spec.build()?)?;
        let keys = context.generate_keys(Seed::from_bytes([1; 32]), &request)?;
        let evaluator = Evaluator::new(&context, keys.evaluation.clone())?;
        Ok(Self { context, keys, evaluator })
    }

    fn small(log_n: u32, t: u64, limbs: usize, request: KeyRequest) -> Result<Self> {
        let spec = ParametersSpec { log_n, plaintext_modulus: t, log_q: vec![40; limbs], ..ParametersSpec::default() };
        Self::new(ParametersSpec { log_p: vec![40; 2], security: Security::None, ..spec }, request)
    }

    fn encrypt(&self, numbers: [i64; 2]) -> Result<[Ciphertext; 2]> {
        let encryptor = Encryptor::public(&self.context, &self.keys.public, Seed::from_bytes([2; 32]))?;
        let (encoder, n) = (Encoder::new(&self.context), self.context.parameters().degree());
        let spread = |number: i64| encoder.encode(&vec![number; n])?.with_stretch(n);
        let encrypt = |number: i64| encryptor.encrypt(&spread(number)?);
        Ok([encrypt(numbers[0])?, encrypt(numbers[1])?])
    }

    /// Compares the noise of a ciphertext under a secret with its prediction, and with the bound of all coefficients; gives
    /// by how many bits it was smaller than predicted.
    fn check(&self, step: &str, secret: &SecretKey, ciphertext: &Ciphertext) -> Result<f64> {
        let measured = Decryptor::new(&self.context, secret)?.measure_noise(ciphertext)?;
        let (std, max, noise) = (measured.std.log2(), measured.max.log2(), ciphertext.noise());
        let bound = -1.0 - noise.budget(self.context.parameters().degree());
        let predicted = noise.log2_std();
        println!("{step}: 2^{std:.1} measured, 2^{predicted:.1} predicted; at most 2^{max:.1}, bound 2^{bound:.1}");
        assert!(max < bound, "{step}: a coefficient of 2^{max}, and a bound of 2^{bound}");
        assert!(std < predicted + CLOSE_BITS, "{step}: 2^{std} measured, 2^{predicted} predicted");
        Ok(predicted - std)
    }

    fn wrap(&self, inner: &rlwe::Ciphertext, noise: Noise) -> Ciphertext {
        let parameters = self.context.parameters().clone();
        let content = Content::slots(parameters.degree());
        Ciphertext::new(inner.clone(), 1, noise, content, parameters)
    }

    /// Every step of a lookup with a matrix. After the rounding to few limbs, which leaves nothing of what was before, noise
    /// is close to its prediction.
    fn check_matrix(&self, plan: &LookupPlan, numbers: [i64; 2]) -> Result<()> {
        let (context, evaluator, usual) = (&self.context, &self.evaluator, &self.keys.secret);
        let seed = || Seed::from_bytes([9; 32]);
        let keys = LookupKeys::generate(context, seed(), usual, plan, None)?;
        let sparse = KeyGenerator::new(context.rlwe(), seed()).ephemeral_secret("lookup", plan.secret())?;
        let secret = if plan.method() == Method::Linear { usual } else { &sparse };
        let t = context.parameters().modulus().value();
        let function = Function::rule(plan.layout().domain(), move |x, y| Some(scrambled(x, y) % t));
        let matrix = Matrix::build(context, plan, &function, None)?;

        let encrypted = self.encrypt(numbers)?;
        self.check("one-hot vector", usual, &one_hot(evaluator, plan.layout(), &encrypted[0], 0)?)?;
        let blocks = plan.layout().blocks();
        let [x, y] = [0, 1].map(|i| Entries::of(evaluator, (plan, &keys), &encrypted[i], blocks[i]));
        let (x, y) = (x?, y?);
        let [x_noise, y_noise] = [&x, &y].map(|entries| plan.predict_entry(&entries.noise));
        let mut spare = Vec::new();
        for block in &x.blocks {
            spare.push(self.check("one-hot vector, few limbs", secret, &self.wrap(block, x_noise.clone()))?);
        }
        let rows = matrix.rows(context, (plan, &keys), &[&x], &|_| {})?.remove(0);
        let row_noise = plan.predict_row(&x_noise, matrix.log2_norm);
        for row in &rows {
            spare.push(self.check("matrix", secret, &self.wrap(row, row_noise.clone()))?);
        }
        let product = matrix.product(context, (plan, &keys), [&x, &y], &rows)?;
        let noise = plan.predict_product(&row_noise, &y_noise);
        spare.push(self.check("product", secret, &self.wrap(&product, noise.clone()))?);
        let noise = plan.predict_sum(&noise);
        // A sum over all slots has one coefficient alone: no standard deviation can be told from it.
        self.check("sum", usual, &leave(context, (plan, &keys), &product, 1, noise)?)?;
        let rounded = plan.method() == Method::Fast;
        assert!(!rounded || spare.iter().all(|&bits| bits < CLOSE_BITS), "smaller than predicted: {spare:?}");
        Ok(())
    }
}

/// Numbers that follow no rule.
fn scrambled(x: u64, y: u64) -> u64 {
    let mixed = x.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (y + 77).wrapping_mul(0xd1b5_4a32_d192_ed03);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 8
}

fn products() -> KeyRequest {
    KeyRequest { relinearization: true, ..KeyRequest::default() }
}

#[test]
fn noise_is_as_predicted_after_each_step_of_a_matrix() -> Result<()> {
    let world = World::small(8, 7681, 12, products())?;
    let parameters = world.context.parameters();
    for plan in [
        LookupPlan::new(parameters, [256, 256])?,
        LookupPlan::linear(parameters, [256, 256])?,
        LookupPlan::new(parameters, [64, 50])?,
    ] {
        world.check_matrix(&plan, [17, 43])?;
    }
    let world = World::small(7, 257, 12, products())?;
    world.check_matrix(&LookupPlan::new(world.context.parameters(), [257, 257])?, [17, 243])
}

#[cfg(feature = "papers")]
#[test]
fn noise_is_as_predicted_after_each_step_of_a_polynomial() -> Result<()> {
    let world = World::small(8, 7681, 16, products())?;
    let function = Function::rule([256, 256], move |x, y| Some(scrambled(x, y) % 7681));
    let lookup = PolynomialLookup::prepare(&world.context, &function)?;
    let world = World::small(8, 7681, 16, lookup.keys())?;
    let [x, y] = world.encrypt([17, 243])?;
    let watch = |step: Step, ciphertexts: &[Ciphertext]| {
        ciphertexts.iter().try_for_each(|x| world.check(&format!("{step:?}"), &world.keys.secret, x).map(drop))
    };
    lookup.evaluate_steps(&world.evaluator, &x, &y, &watch).map(drop)
}

#[test]
#[ignore = "128-bit parameters: half a minute and 5 GB"]
fn noise_is_as_predicted_after_each_step_at_128_bits() -> Result<()> {
    let spec = ParametersSpec { log_n: 15, plaintext_modulus: 65537, ..ParametersSpec::default() };
    let spec = ParametersSpec { log_q: vec![50; 13], log_p: vec![50; 4], dnum: 4, ..spec };
    let world = World::new(spec, products())?;
    world.check_matrix(&LookupPlan::new(world.context.parameters(), [1 << 15; 2])?, [31_415, 27_182])
}
