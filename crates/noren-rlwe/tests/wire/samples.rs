//! One object of each kind, and ways to spoil their bytes.

use noren_math::prime::primes_below;
use noren_math::random::Seed;
use noren_math::torus_products::product::Grouping;
use noren_ring::engine::Engine;
use noren_ring::parallel::Parallel;
use noren_ring::torus::product::TorusProduct;
use noren_ring::torus::ring::TorusRing;
use noren_rlwe::ciphertext::{Ciphertext, Plaintext};
use noren_rlwe::context::Context;
use noren_rlwe::encrypt::Encryptor;
use noren_rlwe::error::Error;
use noren_rlwe::key_request::KeyRequest;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::{EvaluationKeys, KeySwitchKey, PublicKey, SecretKey};
use noren_rlwe::multiply::tensor;
use noren_rlwe::parameters::{Parameters, ParametersSpec};
use noren_rlwe::security::{SecretDistribution, Security};
use noren_rlwe::torus::digits::Digits;
use noren_rlwe::torus::keygen::TorusKeyGenerator;
use noren_rlwe::torus::noise::TorusNoise;
use noren_rlwe::torus::parameters::TorusParameters;
use noren_rlwe::torus::scheme_switch::keys::CompactSwitchKeys;
use noren_rlwe::torus::scheme_switch::spec::SwitchSpec;
use noren_rlwe::torus::spec::TorusSpec;
use noren_rlwe::wire::header::{ENTRY_BYTES, HEADER_BYTES, Header};
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::{Limits, Reader};
use noren_rlwe::wire::reason::Reason;
use noren_rlwe::wire::writer::Form;

pub const FORMS: [Form; 2] = [Form::Raw, Form::Packed];
pub const UNCHECKED: Limits = Limits { max_bytes: 1 << 30, check_digest: false };

/// Where fields stand in the header.
pub const VERSION_AT: usize = 8;
pub const KIND_AT: usize = 10;
pub const FLAGS_AT: usize = 12;
pub const LENGTH_AT: usize = 16;
pub const SECTIONS_AT: usize = 24;
pub const RESERVED_AT: usize = 28;
pub const FINGERPRINT_AT: usize = 32;
pub const DIGEST_AT: usize = 64;
/// Where fields stand in an entry of the table of contents.
pub const ITEM: usize = 0;
pub const TAG: usize = 4;
pub const ENCODING: usize = 6;
pub const OFFSET: usize = 8;
pub const LENGTH: usize = 16;
pub const DETAIL: usize = 24;

/// One object of each kind, of the smallest ring that has two digits.
pub struct Objects {
    pub context: Context,
    pub secret: SecretKey,
    pub public: PublicKey,
    pub switching: KeySwitchKey,
    pub evaluation: EvaluationKeys,
    pub plaintext: Plaintext,
    /// Fresh under the secret key: with a seed.
    pub seeded: Ciphertext,
    /// Fresh under the public key.
    pub fresh: Ciphertext,
    /// Of degree 2, at a lower level.
    pub product: Ciphertext,
    /// Between the ring and samples over the torus of the same degree.
    pub switch: (TorusParameters, CompactSwitchKeys),
}

pub fn parameters(secret: SecretDistribution) -> Parameters {
    let (q, p) = (primes_below(1 << 30, 32).take(2).collect(), primes_below(1 << 31, 32).take(1).collect());
    let spec = ParametersSpec { index: 32, q, p, secret, security: Security::None, ..ParametersSpec::default() };
    spec.build().expect("a tiny ring without security")
}

pub fn objects(distribution: SecretDistribution) -> Objects {
    let context = Context::with_threads(parameters(distribution), Some(1)).expect("a tiny ring");
    let generator = KeyGenerator::new(&context, Seed::from_bytes([1; 32]));
    let secret = generator.secret();
    let public = generator.public(&secret).expect("no security");
    let other = generator.ephemeral_secret("other", SecretDistribution::SparseTernary(4)).expect("4 of 16");
    let switching = generator.switching(&other, &secret, Some(1)).expect("no security");
    let request = KeyRequest { relinearization: Some(2), galois: vec![(5, 1), (31, 2)] };
    let evaluation = generator.evaluation_keys(&secret, &request, None).expect("no security");
    let coefficients: Vec<i64> = (0..16).map(|i| (i - 8) << 20).collect();
    let encode = |limbs| {
        let ring = context.ring_q(limbs);
        Plaintext { poly: ring.ntt(ring.from_signed(&coefficients)) }
    };
    let encrypt = |encryptor: Result<Encryptor<'_>, Error>, limbs| {
        encryptor.and_then(|encryptor| encryptor.encrypt(&encode(limbs))).expect("no security")
    };
    let seeded = encrypt(Encryptor::symmetric(&context, &secret, Seed::from_bytes([2; 32])), 2);
    let fresh = encrypt(Encryptor::public(&context, &public, Seed::from_bytes([3; 32])), 2);
    let low = encrypt(Encryptor::public(&context, &public, Seed::from_bytes([4; 32])), 1);
    let product = tensor(&context, &low, &low).expect("same level");
    let plaintext = encode(2);
    let switch = switch_keys(&context, &secret);
    Objects { context, secret, public, switching, evaluation, plaintext, seeded, fresh, product, switch }
}

/// Keys that switch to samples over the torus of the smallest degree, and back.
fn switch_keys(context: &Context, secret: &SecretKey) -> (TorusParameters, CompactSwitchKeys) {
    let spec = TorusSpec {
        n: 2,
        k: 1,
        log_degree: 4,
        lwe_noise: TorusNoise::Gaussian(1e-7),
        glwe_noise: TorusNoise::Gaussian(1e-12),
        log_base: 8,
        levels: 1,
        grouping: Grouping::Single,
        switch_log_base: 4,
        switch_levels: 1,
        light: None,
        security: Security::None,
    };
    let parameters = spec.build().expect("no security");
    let seed = Seed::from_bytes([5; 32]);
    let torus_secret = TorusKeyGenerator::new(&parameters, &seed).secret();
    let engine = Engine::new(Some(1), Parallel::default(), 0).expect("one thread");
    let ring = TorusRing::new(engine, TorusProduct::exact(context.parameters().degree()).expect("transforms"));
    let spec = SwitchSpec { down: Digits::new(8, 1), packing: Digits::new(6, 1) };
    let switch = spec.build(&parameters, context.parameters()).expect("digits");
    let secrets = (secret, &torus_secret);
    let keys = CompactSwitchKeys::generate(context, (&ring, &ring), &switch, secrets, &seed).expect("no security");
    (parameters, keys)
}

/// A way to read bytes as one kind of object, and to write it again in the form that it had.
pub type Rewrite = Box<dyn Fn(&[u8], &Limits) -> Result<Vec<u8>, Error>>;

/// The bytes of one object, and how to read them.
pub struct Sample {
    pub name: &'static str,
    pub kind: Kind,
    pub bytes: Vec<u8>,
    pub rewrite: Rewrite,
}

pub fn sample<T: Object>(name: &'static str, context: T::Context, object: &T, form: Form) -> Sample
where
    T::Context: 'static,
{
    let bytes = object.to_bytes(&context, form);
    let rewrite: Rewrite = Box::new(move |bytes, limits| {
        let object = T::from_bytes_within(&context, bytes, limits)?;
        let form = Reader::open(bytes, T::KIND, limits)?.form().unwrap_or_default();
        Ok(object.to_bytes(&context, form))
    });
    Sample { name, kind: T::KIND, bytes, rewrite }
}

pub fn samples(objects: &Objects, form: Form) -> Vec<Sample> {
    let context = || objects.context.clone();
    vec![
        sample("parameters", (), objects.context.parameters(), form),
        sample("secret_key", context(), &objects.secret, form),
        sample("public_key", context(), &objects.public, form),
        sample("key_switch_key", context(), &objects.switching, form),
        sample("evaluation_keys", context(), &objects.evaluation, form),
        sample("plaintext", context(), &objects.plaintext, form),
        sample("ciphertext_seeded", context(), &objects.seeded, form),
        sample("ciphertext_fresh", context(), &objects.fresh, form),
        sample("ciphertext_product", context(), &objects.product, form),
        sample("switch_keys", (context(), objects.switch.0.clone()), &objects.switch.1, form),
    ]
}

/// The bytes with some of them replaced and the digest made right again.
pub fn patched(bytes: &[u8], at: usize, new: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + new.len()].copy_from_slice(new);
    sealed(bytes)
}

pub fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&bytes[..DIGEST_AT]).update(&bytes[HEADER_BYTES..]);
    bytes[DIGEST_AT..HEADER_BYTES].copy_from_slice(hasher.finalize().as_bytes());
    bytes
}

pub fn without_digest(bytes: &[u8]) -> Vec<u8> {
    [&bytes[..DIGEST_AT], &bytes[HEADER_BYTES..]].concat()
}

/// Why a sample with replaced bytes is refused.
pub fn reason(sample: &Sample, at: usize, new: &[u8]) -> Reason {
    reason_of(sample, &patched(&sample.bytes, at, new))
}

pub fn reason_of(sample: &Sample, bytes: &[u8]) -> Reason {
    match (sample.rewrite)(bytes, &Limits::default()) {
        Err(Error::Wire { reason, .. }) => reason,
        Err(other) => panic!("{}: {other}", sample.name),
        Ok(_) => panic!("{}: accepted", sample.name),
    }
}

/// Where a field of the n-th entry of the table of contents stands.
pub fn entry(n: usize, field: usize) -> usize {
    HEADER_BYTES + n * ENTRY_BYTES + field
}

/// Where the n-th section begins.
pub fn section(bytes: &[u8], n: usize) -> usize {
    let at = entry(n, OFFSET);
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes")) as usize
}

/// The bytes of a section, without padding.
pub fn section_bytes(bytes: &[u8], n: usize) -> usize {
    let at = entry(n, LENGTH);
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes")) as usize
}

pub fn find<'a>(samples: &'a [Sample], name: &str) -> &'a Sample {
    samples.iter().find(|sample| sample.name == name).expect("a known name")
}

/// How many sections there are.
pub fn section_count(bytes: &[u8]) -> u32 {
    Header::parse(bytes).expect("a sample").sections
}
