//! What both halves of an intersection know.

use noren_math::prime::primes_below;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::keys::PublicKey;
use noren_rlwe::security::{SecretDistribution, Security, max_log_qp};
use noren_rlwe::wire::object::Object;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::backends::description::{Description, refused};
use crate::backends::{Intersection, Parcel, PartKind};
use crate::retrieval::intersection::bins::CHECKS;
use crate::retrieval::records::{MOST_BYTES, MOST_ROWS, Sizes};
use crate::retrieval::secret::Secret;
use crate::schemes::bfv::{Bfv, KeyFile, Parameters, ParametersSpec, PlaintextModulus};
use crate::schemes::integers::Flood;
use crate::schemes::integers::growth::{Growth, State};
use crate::schemes::integers::noise::Mode;
use crate::schemes::integers::plaintext::Norms;

/// The plaintext modulus is the largest prime with slots below `2^VALUE_BITS`.
const VALUE_BITS: u32 = 49;
/// The bytes of a row in each number: such a prime is above `2^48`.
pub(super) const NUMBER_BYTES: usize = 6;
/// The degrees of rings that are tried.
const LOG_N: std::ops::RangeInclusive<u32> = 12..=15;
/// The degree without security.
const TEST_LOG_N: u32 = 9;
/// The sizes of the primes that are tried, and how many.
const PRIME_BITS: std::ops::RangeInclusive<u32> = 40..=50;
const MOST_LIMBS: u32 = 8;
/// Bins for each keyword that is asked for: so many fit all but surely.
const BINS_EACH: usize = 2;
/// The most keywords of a request.
const MOST_ASKED: usize = 1 << 20;
/// The most parts of a bin.
const MOST_PARTS: usize = 64;
/// The most rows in a part of a bin.
const MOST_DEGREE: usize = 1 << 12;
/// The statistical distances that can be asked for, as negative logarithms.
const DISTANCES: std::ops::RangeInclusive<u32> = 30..=128;

/// What an intersection must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The most keywords of a request.
    pub asked: usize,
    /// Replies tell of rows that were not asked for at most as much as a statistical distance of `2^-distance` does.
    pub distance: u32,
    /// The security of keys.
    pub security: Security,
}

impl Default for Options {
    /// A thousand keywords, `2^-64`, 128 bits.
    fn default() -> Self {
        Self { asked: 1000, distance: 64, security: Security::default() }
    }
}

/// What both halves of an intersection know: how many rows there are and how long, bins, parameters.
///
/// It is public: it has no row and no keyword. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Plan {
    description: Description<Text>,
    flood: Flood,
}

/// The JSON of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::retrieval) struct Text {
    sizes: Sizes,
    asked: usize,
    distance: u32,
    /// The ciphertexts whose slots are the bins.
    blocks: usize,
    /// The parts into which the rows of a bin fall, each with polynomials of its own.
    parts: usize,
    /// The most rows in a part of a bin.
    degree: usize,
}

impl Text {
    /// The numbers of a row.
    fn numbers(&self) -> usize {
        CHECKS + self.sizes.payload_bytes().div_ceil(NUMBER_BYTES)
    }

    /// The ciphertexts of a reply.
    fn ciphertexts(&self) -> usize {
        self.blocks * self.parts * self.numbers()
    }

    fn check(&self) -> Result<()> {
        let refused = |name, found: usize, most: usize| Error::parameter(name, found, format!("1 to {most}"));
        let counts = [
            ("rows", self.sizes.rows, MOST_ROWS),
            ("asked", self.asked, MOST_ASKED),
            ("blocks", self.blocks, BINS_EACH * MOST_ASKED),
            ("parts", self.parts, MOST_PARTS),
            ("degree", self.degree, MOST_DEGREE),
        ];
        for (name, found, most) in counts {
            if !(1..=most).contains(&found) {
                return Err(refused(name, found, most));
            }
        }
        if self.sizes.longest > MOST_BYTES {
            return Err(Error::parameter(
                "bytes of the longest row",
                self.sizes.longest,
                format!("at most {MOST_BYTES}"),
            ));
        }
        if !DISTANCES.contains(&self.distance) {
            let (low, high) = (DISTANCES.start(), DISTANCES.end());
            return Err(Error::parameter("distance", self.distance, format!("{low} to {high}")));
        }
        Ok(())
    }
}

impl Plan {
    /// The plan for rows of these sizes: `fullest` tells how many rows the fullest of some bins has.
    pub(super) fn new(
        sizes: Sizes,
        options: &Options,
        fullest: &dyn Fn(usize, PlaintextModulus) -> usize,
    ) -> Result<Self> {
        let &Options { asked, distance, security } = options;
        let first = Text { sizes, asked, distance, blocks: 1, parts: 1, degree: 1 };
        first.check()?;
        let degrees = if security == Security::None { TEST_LOG_N..=TEST_LOG_N } else { LOG_N };
        for log_n in degrees {
            let n = 1usize << log_n;
            let blocks = (BINS_EACH * asked).div_ceil(n);
            let rows = fullest(blocks * n, PlaintextModulus::new(modulus(log_n))?).max(1);
            // A power in a request takes about as much as a number in a reply: half of it is a seed, and a reply has half the limbs.
            let parts = (1..=rows.min(MOST_PARTS))
                .min_by_key(|parts| rows.div_ceil(*parts) + parts * first.numbers())
                .unwrap_or(1);
            let text = Text { blocks, parts, degree: rows.div_ceil(parts), ..first };
            if let Some((parameters, flood)) = parameters(&text, log_n, security)? {
                return Ok(Self { description: Description::new(text, parameters), flood });
            }
        }
        let found = format!("{} rows, a distance of 2^-{distance}", sizes.rows);
        Err(Error::parameter("table", found, "fewer rows, or a larger distance: no parameters carry them"))
    }

    const fn text(&self) -> &Text {
        &self.description.text
    }

    /// How many rows the table has.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.text().sizes.rows
    }

    /// The bytes of the longest row.
    #[must_use]
    pub const fn longest(&self) -> usize {
        self.text().sizes.longest
    }

    /// The most keywords of a request.
    #[must_use]
    pub const fn asked(&self) -> usize {
        self.text().asked
    }

    /// What was asked of it: the same table has the same plan again with these.
    #[must_use]
    pub fn options(&self) -> Options {
        let Text { asked, distance, .. } = *self.text();
        Options { asked, distance, security: self.parameters().rlwe().security() }
    }

    /// How many ciphertexts a request and a reply have.
    #[must_use]
    pub fn ciphertexts(&self) -> [usize; 2] {
        [self.text().blocks * self.text().degree, self.text().ciphertexts()]
    }

    /// `log2` of the probability that a keyword that the table does not have is found: a bound.
    #[must_use]
    pub fn log2_false_match(&self) -> f64 {
        let parts = (self.text().asked * self.text().parts) as f64;
        libm::log2(parts) - CHECKS as f64 * self.parameters().modulus().log2()
    }

    /// The parameters of BFV.
    #[must_use]
    pub const fn parameters(&self) -> &Parameters {
        &self.description.parameters
    }

    /// The digest by which messages name the plan.
    #[must_use]
    pub const fn digest(&self) -> [u8; 32] {
        self.description.digest()
    }

    /// The sizes of rows, bins and polynomials, as a description of the table.
    #[must_use]
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self.text()).expect("numbers are JSON")
    }

    pub(super) const fn sizes(&self) -> &Sizes {
        &self.text().sizes
    }

    pub(super) const fn flood(&self) -> &Flood {
        &self.flood
    }

    pub(super) const fn blocks(&self) -> usize {
        self.text().blocks
    }

    pub(super) const fn parts(&self) -> usize {
        self.text().parts
    }

    pub(super) const fn degree(&self) -> usize {
        self.text().degree
    }

    pub(super) fn numbers(&self) -> usize {
        self.text().numbers()
    }

    pub(super) fn bins(&self) -> usize {
        self.text().blocks * self.parameters().degree()
    }

    /// The objects that the secret key consists of.
    #[must_use]
    pub fn secret_parts(&self) -> Vec<PartKind> {
        Secret::parts(self.parameters())
    }

    /// The objects that the keys of the server consist of.
    #[must_use]
    pub fn server_parts(&self) -> Vec<PartKind> {
        vec![PartKind::of::<KeyFile<PublicKey>>(self.parameters().fingerprint())]
    }

    /// The bytes of the plan, for a file or for the other half.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.description.to_bytes::<Intersection>()
    }

    /// The plan of these bytes.
    ///
    /// # Errors
    /// Bytes of no plan; a plan that could not have been made.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::read(&Parcel::from_bytes(&(), bytes)?)
    }

    /// The plan in a container.
    ///
    /// # Errors
    /// As [`Plan::from_bytes`].
    pub fn read(parcel: &Parcel<Intersection>) -> Result<Self> {
        let description: Description<Text> = Description::read(parcel)?;
        let Description { text, parameters, .. } = &description;
        text.check()?;
        let n = parameters.degree();
        let fits = parameters.has_rows()
            && parameters.modulus().value() == modulus(n.ilog2())
            && text.blocks == (BINS_EACH * text.asked).div_ceil(n);
        match flood(text, parameters).filter(|_| fits) {
            Some(flood) => Ok(Self { description, flood }),
            None => Err(refused::<Intersection>("bins or parameters for another table".to_owned())),
        }
    }

    pub(super) const fn description(&self) -> &Description<Text> {
        &self.description
    }
}

impl PartialEq for Plan {
    fn eq(&self, other: &Self) -> bool {
        self.digest() == other.digest()
    }
}

/// The plaintext modulus in a ring of degree `2^log_n`.
fn modulus(log_n: u32) -> u64 {
    primes_below(1 << VALUE_BITS, 2 << log_n).next().expect("there are primes of each residue class")
}

/// The fewest and smallest primes of a ring that carry polynomials of a table and their flood.
fn parameters(text: &Text, log_n: u32, security: Security) -> Result<Option<(Parameters, Flood)>> {
    let secret = SecretDistribution::default();
    let most = match security {
        Security::None => Some(f64::INFINITY),
        _ => max_log_qp(1 << log_n, secret, security),
    };
    let Some(most) = most else { return Ok(None) };
    for limbs in 1..=MOST_LIMBS {
        for bits in PRIME_BITS.filter(|bits| f64::from(bits * limbs) <= most) {
            let spec = ParametersSpec {
                log_n,
                plaintext_modulus: modulus(log_n),
                log_q: vec![bits; limbs as usize],
                secret,
                security,
                ..ParametersSpec::default()
            };
            let parameters = spec.build()?;
            if let Some(flood) = flood(text, &parameters) {
                return Ok(Some((parameters, flood)));
            }
        }
    }
    Ok(None)
}

/// The flood for the replies of a table, whatever its rows are, at the fewest limbs at which they decrypt; `None` if they do at none.
fn flood(text: &Text, parameters: &Parameters) -> Option<Flood> {
    let (laws, growth, most) = (parameters.laws(), Growth::<Bfv>::new(parameters), parameters.max_limbs());
    let fresh = State { limbs: most, factor: 1, noise: laws.fresh(Mode::Symmetric, most) };
    let log2_max = parameters.modulus().log2() - 1.0;
    let largest = Norms { log2_max, log2_norm: log2_max + libm::log2(parameters.degree() as f64) / 2.0 };
    let sum = growth.sum_of_plain_products(&vec![(fresh, largest); text.degree]).ok()?;
    let sum = growth.with_addend(sum);
    (1..=most).find_map(|limbs| {
        let noise = growth.lowered(sum.clone(), limbs).noise;
        let flood = Flood::new(parameters, &noise, limbs, text.ciphertexts(), text.distance).ok()?;
        // A bit for the roundings that follow.
        (laws.budget(&flood.noise(parameters)) >= 1.0).then_some(flood)
    })
}
