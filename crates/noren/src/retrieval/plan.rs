//! What both halves of a retrieval know.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use noren_rlwe::error::{Error, Result};
use noren_rlwe::keys::EvaluationKeys;
use noren_rlwe::security::Security;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::Limits;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::backends::description::{Description, refused};
use crate::backends::{Parcel, PartKind, Retrieval, part};
use crate::retrieval::records::{BUCKET_BYTES, MOST_BYTES, MOST_ROWS, Sizes};
use crate::retrieval::secret::Secret;
use crate::schemes::bfv::{Bfv, Context, KeyFile, KeyRequest, Parameters, Requirements};
use crate::schemes::integers::expansion_steps;
use crate::schemes::integers::growth::{Growth, State};
use crate::schemes::integers::noise::Mode;
use crate::schemes::integers::plaintext::Norms;

/// The bytes in each coefficient that are tried: of modulus t = `2^(8 bytes) + 1`.
const COEFFICIENT_BYTES: std::ops::RangeInclusive<usize> = 2..=6;
/// Buckets of keywords have room for this many rows, where rows are long: fuller ones would be many times the usual.
const LEAST_CAPACITY: usize = 48;

/// What both halves of a retrieval know: how many rows there are, where they lie, parameters.
///
/// It is public: it has no row and no keyword. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Plan(Description<Text>);

/// The JSON of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Text {
    sizes: Sizes,
    matrix: Matrix,
    /// The bytes in each coefficient.
    coefficient_bytes: usize,
}

/// A matrix of buckets, each of some plaintexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Matrix {
    /// How many buckets there are; those of a row of the matrix follow one another.
    pub buckets: usize,
    /// How many plaintexts a bucket has.
    pub pieces: usize,
    /// How many columns the matrix has.
    pub columns: usize,
}

impl Matrix {
    /// Of these buckets the matrix whose sums take the least, in a ring of degree n; `None` if there are too many buckets.
    fn new(buckets: usize, pieces: usize, degree: usize) -> Option<Self> {
        /// What a product of ciphertexts takes, where a step of an expansion takes 1.
        const PRODUCT: usize = 3;
        let of_steps = |steps: u32| {
            let selectors = 1usize << steps;
            let columns = (1..=selectors / 2).find(|columns| (selectors - columns) * columns >= buckets)?;
            Some((selectors + PRODUCT * pieces * columns, columns))
        };
        let (_, columns) = (1..=degree.ilog2()).filter_map(of_steps).min()?;
        Some(Self { buckets, pieces, columns })
    }

    /// How many rows the matrix has.
    pub(super) const fn rows(&self) -> usize {
        self.buckets.div_ceil(self.columns)
    }

    /// How many selectors there are: of rows, then of columns.
    pub(super) const fn selectors(&self) -> usize {
        self.rows() + self.columns
    }
}

impl Plan {
    /// The plan for rows of these sizes: `fullest` tells how many rows the fullest of some buckets of keywords has.
    ///
    /// # Errors
    /// No rows, too many or too long ones; too many buckets for every ring.
    pub(super) fn new(sizes: Sizes, security: Security, fullest: &dyn Fn(usize) -> usize) -> Result<Self> {
        check_sizes(&sizes)?;
        let known = RefCell::new(BTreeMap::new());
        let buckets =
            |capacity: usize| *known.borrow_mut().entry(capacity).or_insert_with(|| buckets(&sizes, capacity, fullest));
        let of_bytes = |bytes: usize| {
            let matrix = |degree: usize| {
                let (pieces, capacity) = bucket(&sizes, degree * bytes);
                Matrix::new(buckets(capacity), pieces, degree)
            };
            let requirements = Requirements {
                plaintext_modulus: modulus(bytes),
                plain_products: 1,
                security,
                ..Requirements::default()
            };
            let fits = |parameters: &Parameters| {
                Ok(matrix(parameters.degree()).is_some_and(|matrix| leaves_budget(parameters, &matrix)))
            };
            let parameters = requirements.choose_where::<Bfv>(&fits)?;
            let matrix = matrix(parameters.degree()).expect("the parameters were chosen for one");
            Ok::<_, Error>((price(&parameters, &matrix), bytes, matrix, parameters))
        };
        let (mut best, mut refused) = (None::<(f64, usize, Matrix, Parameters)>, None);
        for bytes in COEFFICIENT_BYTES {
            match of_bytes(bytes) {
                Ok(found) if best.as_ref().is_none_or(|(price, ..)| found.0 < *price) => best = Some(found),
                Ok(_) => {}
                Err(error) => refused = Some(error),
            }
        }
        match (best, refused) {
            (Some((_, coefficient_bytes, matrix, parameters)), _) => {
                Ok(Self(Description::new(Text { sizes, matrix, coefficient_bytes }, parameters)))
            }
            (None, Some(error)) => Err(error),
            (None, None) => unreachable!("some bytes are tried"),
        }
    }

    fn text(&self) -> &Text {
        &self.0.text
    }

    /// How many rows the table has.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.text().sizes.rows
    }

    /// Whether rows are asked for by keywords, not by numbers.
    #[must_use]
    pub fn by_keyword(&self) -> bool {
        self.text().sizes.keywords
    }

    /// The bytes of the longest row.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.text().sizes.longest
    }

    /// How many plaintexts hold the table, as a matrix of this many rows and columns, for each piece of a bucket.
    #[must_use]
    pub fn shape(&self) -> [usize; 3] {
        [self.text().matrix.rows(), self.text().matrix.columns, self.text().matrix.pieces]
    }

    /// How many rows a reply may hold: those of a bucket.
    #[must_use]
    pub fn capacity(&self) -> usize {
        bucket(self.sizes(), self.piece_bytes()).1
    }

    /// The parameters of BFV.
    #[must_use]
    pub const fn parameters(&self) -> &Parameters {
        &self.0.parameters
    }

    /// The sizes of rows, and the matrix of buckets, as a description of the table.
    #[must_use]
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self.text()).expect("numbers are JSON")
    }

    /// The digest by which messages name the plan.
    #[must_use]
    pub const fn digest(&self) -> [u8; 32] {
        self.0.digest()
    }

    pub(super) fn sizes(&self) -> &Sizes {
        &self.text().sizes
    }

    pub(super) fn matrix(&self) -> &Matrix {
        &self.text().matrix
    }

    pub(super) fn coefficient_bytes(&self) -> usize {
        self.text().coefficient_bytes
    }

    /// The bytes of a plaintext.
    pub(super) fn piece_bytes(&self) -> usize {
        self.text().coefficient_bytes * self.parameters().degree()
    }

    /// The keys that the server needs.
    ///
    /// # Errors
    /// None of plans that were made here.
    pub(super) fn key_request(&self, context: &Context) -> Result<KeyRequest> {
        let automorphisms = context.expansion_exponents(self.text().matrix.selectors())?;
        Ok(KeyRequest { relinearization: true, automorphisms, ..KeyRequest::default() })
    }

    /// The objects that the secret key consists of.
    #[must_use]
    pub fn secret_parts(&self) -> Vec<PartKind> {
        Secret::parts(self.parameters())
    }

    /// The objects that the keys of the server consist of.
    #[must_use]
    pub fn server_parts(&self) -> Vec<PartKind> {
        let open = |path: &Path| Ok(part(KeyFile::<EvaluationKeys>::open(path, &Limits::default())?));
        vec![PartKind::of::<KeyFile<EvaluationKeys>>(self.parameters().fingerprint()).opened_by(open)]
    }

    /// The bytes of the plan, for a file or for the other half.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.to_bytes::<Retrieval>()
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
    pub fn read(parcel: &Parcel<Retrieval>) -> Result<Self> {
        let description: Description<Text> = Description::read(parcel)?;
        let Description { text, parameters, .. } = &description;
        check_sizes(&text.sizes)?;
        let Matrix { buckets, pieces, columns } = text.matrix;
        let in_range = COEFFICIENT_BYTES.contains(&text.coefficient_bytes)
            && (1..=MOST_ROWS).contains(&buckets)
            && (1..=MOST_BYTES).contains(&pieces)
            && (1..=buckets).contains(&columns);
        if !in_range {
            return Err(refused::<Retrieval>("numbers outside of their ranges".to_owned()));
        }
        let (needed, capacity) = bucket(&text.sizes, parameters.degree() * text.coefficient_bytes);
        let fits = parameters.has_rows()
            && parameters.modulus().value() == modulus(text.coefficient_bytes)
            && needed == pieces
            && buckets.checked_mul(capacity).is_some_and(|places| places >= text.sizes.rows)
            && text.matrix.selectors() <= parameters.degree()
            && leaves_budget(parameters, &text.matrix);
        if !fits {
            return Err(refused::<Retrieval>("places for other rows, or parameters for another table".to_owned()));
        }
        Ok(Self(description))
    }

    pub(super) const fn description(&self) -> &Description<Text> {
        &self.0
    }
}

impl PartialEq for Plan {
    fn eq(&self, other: &Self) -> bool {
        self.digest() == other.digest()
    }
}

/// t for this many bytes in a coefficient: odd, as expansions need.
const fn modulus(bytes: usize) -> u64 {
    (1 << (bytes as u32 * u8::BITS)) + 1
}

fn check_sizes(sizes: &Sizes) -> Result<()> {
    if !(1..=MOST_ROWS).contains(&sizes.rows) {
        return Err(Error::Length { what: "rows", found: sizes.rows, needed: format!("1 to {MOST_ROWS}") });
    }
    // Of rows without bytes keywords alone are told.
    let least = if sizes.keywords { 0 } else { 1 };
    if !(least..=MOST_BYTES).contains(&sizes.longest) {
        return Err(Error::Length {
            what: "bytes of the longest row",
            found: sizes.longest,
            needed: format!("{least} to {MOST_BYTES}"),
        });
    }
    Ok(())
}

/// The plaintexts of a bucket, and how many rows it has room for, where a plaintext holds this many bytes.
fn bucket(sizes: &Sizes, piece_bytes: usize) -> (usize, usize) {
    let rows = if sizes.keywords { LEAST_CAPACITY } else { 1 };
    let pieces = (BUCKET_BYTES + rows * sizes.record_bytes()).div_ceil(piece_bytes);
    (pieces, (pieces * piece_bytes - BUCKET_BYTES) / sizes.record_bytes())
}

/// How many buckets the rows need.
fn buckets(sizes: &Sizes, capacity: usize, fullest: &dyn Fn(usize) -> usize) -> usize {
    /// How many more buckets are tried than did not do, as a part of them.
    const STEP: usize = 16;
    let mut buckets = sizes.rows.div_ceil(capacity);
    while sizes.keywords && fullest(buckets) > capacity {
        buckets += buckets.div_ceil(STEP);
    }
    buckets
}

/// Whether a reply decrypts, whatever the rows are.
fn leaves_budget(parameters: &Parameters, matrix: &Matrix) -> bool {
    reply_noise(parameters, matrix).is_ok_and(|state| parameters.laws().budget(&state.noise) >= 1.0)
}

/// The noise of a reply to a fresh request.
fn reply_noise(parameters: &Parameters, matrix: &Matrix) -> Result<State> {
    let (laws, growth, limbs) = (parameters.laws(), Growth::<Bfv>::new(parameters), parameters.max_limbs());
    let fresh = State { limbs, factor: 1, noise: laws.fresh(Mode::Symmetric, limbs) };
    let steps = std::iter::repeat_n((1, 1), expansion_steps(matrix.selectors()) as usize);
    let selector = growth.sums_of_images(fresh, steps)?;
    let log2_max = parameters.modulus().log2() - 1.0;
    let largest = Norms { log2_max, log2_norm: log2_max + libm::log2(parameters.degree() as f64) / 2.0 };
    let column = growth.sum_of_plain_products(&vec![(selector.clone(), largest); matrix.rows()])?;
    growth.relinearized(&growth.products((0..matrix.columns).map(|_| [selector.clone(), column.clone()])))
}

/// The time of an answer, in products of words: of plaintexts with selectors, of the expansion, and of columns with theirs.
fn price(parameters: &Parameters, matrix: &Matrix) -> f64 {
    /// The products of words in a butterfly of a transform, and of its share of what surrounds transforms.
    const BUTTERFLY: f64 = 1.5;
    /// The transforms of a product of ciphertexts, for each limb, and its key switch.
    const TRANSFORMS: f64 = 20.0;
    let [n, limbs, special] =
        [parameters.degree(), parameters.max_limbs(), parameters.rlwe().p().len()].map(|x| x as f64);
    let transform = BUTTERFLY * n * libm::log2(n) / 2.0;
    let digits = parameters.rlwe().dnum() as f64;
    let pieces = matrix.pieces as f64;
    let sums = 2.0 * limbs * n * pieces * matrix.buckets as f64;
    let expansion =
        f64::from(1 << expansion_steps(matrix.selectors())) * (digits + 2.0) * (limbs + special) * transform;
    sums + expansion + pieces * matrix.columns as f64 * TRANSFORMS * limbs * transform
}
