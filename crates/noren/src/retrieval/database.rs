//! The half of a retrieval that has the table.

use std::sync::Arc;

use noren_math::machine::memory;
use noren_rlwe::error::Result;
use noren_rlwe::keys::EvaluationKeys;
use noren_rlwe::security::Security;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;

use crate::backends::{Parcel, Replies, Requests, ServerKeys};
use crate::retrieval::plan::Plan;
use crate::retrieval::records::{Digest, Rows, Sizes, to_coefficients};
use crate::schemes::bfv::{Bfv, Ciphertext, Context, Encoder, Evaluator, KeyFile, Plaintext};
use crate::schemes::integers::Ciphertexts;

/// A table in clear, and its answers to encrypted requests: it has no secret of the client.
///
/// Its plaintexts are transformed once, and take about `limbs * 8 / b + 8 / b` bytes for each byte of rows, for b bytes in each
/// coefficient. For an example see [`Client`](crate::retrieval::Client).
pub struct Database {
    plan: Plan,
    context: Context,
    /// The plaintexts of the first pieces of all buckets, of the second, and so on.
    pieces: Vec<Vec<Plaintext>>,
}

impl Database {
    /// Takes a table, and chooses parameters for it.
    ///
    /// # Errors
    /// No rows, too many or too long ones; keywords that stand twice; more memory than there is.
    pub fn new(rows: Rows<'_>, security: Security) -> Result<Self> {
        rows.check_names()?;
        let (sizes, digests) = (rows.sizes(), rows.digests());
        let fullest = |buckets: usize| counts(&digests, buckets).into_iter().max().unwrap_or(0);
        let plan = Plan::new(sizes, security, &fullest)?;
        let context = Context::new(plan.parameters().clone())?;
        let (matrix, piece, limbs) = (plan.matrix(), plan.piece_bytes(), plan.parameters().max_limbs());
        let words = (limbs + 1).saturating_mul(plan.parameters().degree());
        memory::ask_for::<u64>(words.saturating_mul(matrix.buckets).saturating_mul(matrix.pieces))?;
        let encoder = Encoder::new(&context);
        let plaintext = |bytes: &[u8]| {
            let coefficients = to_coefficients(bytes, plan.coefficient_bytes());
            encoder.prepare(encoder.encode_coefficients(&coefficients)?, limbs)
        };
        let in_bucket = in_buckets(&sizes, &digests, matrix.buckets, plan.capacity());
        let buckets = in_bucket.iter().enumerate().map(|(bucket, of_bucket)| {
            let mut bytes = Vec::with_capacity(matrix.pieces * piece);
            bytes.extend((bucket as u64).to_le_bytes());
            for &row in of_bucket {
                sizes.write(digests.get(row), rows.row(row), &mut bytes);
            }
            bytes.resize(matrix.pieces * piece, 0);
            bytes.chunks(piece).map(plaintext).collect::<Result<Vec<_>>>()
        });
        let mut pieces = vec![Vec::with_capacity(matrix.buckets); matrix.pieces];
        for bucket in buckets {
            bucket?.into_iter().zip(&mut pieces).for_each(|(plaintext, pieces)| pieces.push(plaintext));
        }
        Ok(Self { plan, context, pieces })
    }

    /// The plan, which clients need: it is public.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Answers requests of [`Client::encrypt`](crate::retrieval::Client::encrypt).
    ///
    /// # Errors
    /// Keys of other parameters, [`Error::MissingKey`](noren_rlwe::error::Error::MissingKey) for keys that are missing; requests for another table, or of another key.
    pub fn answer(&self, requests: &[u8], keys: &ServerKeys) -> Result<Vec<u8>> {
        Ok(self.answer_parcel(&Parcel::from_bytes(&(), requests)?, keys)?.to_bytes(&(), Form::Packed))
    }

    /// Answers requests in a container.
    ///
    /// # Errors
    /// As [`Database::answer`].
    pub fn answer_parcel(&self, requests: &Parcel<Requests>, keys: &ServerKeys) -> Result<Parcel<Replies>> {
        keys.check(&self.plan.server_parts())?;
        let keys = &keys.get::<KeyFile<EvaluationKeys>>(0)?.key;
        keys.check_request(&self.context.automorphisms_of(&self.plan.key_request(&self.context)?)?)?;
        self.plan.description().check_message(requests, "table")?;
        let evaluator = Evaluator::new(&self.context, Arc::new(keys.clone()))?;
        let answer = |request: &Vec<u8>| {
            let reply = self.reply(&evaluator, &Ciphertext::from_bytes(&self.context, request)?)?;
            Ok(Ciphertexts::<Bfv>(reply).to_bytes(&self.context, Form::Packed))
        };
        Ok(Parcel::new(self.plan.digest(), requests.items.iter().map(answer).collect::<Result<_>>()?))
    }

    /// The pieces of the bucket that a request selects.
    fn reply(&self, evaluator: &Evaluator, request: &Ciphertext) -> Result<Vec<Ciphertext>> {
        let matrix = self.plan.matrix();
        let selectors = evaluator.expand(request, matrix.selectors())?;
        let (of_rows, of_columns) = selectors.split_at(matrix.rows());
        let engine = self.context.rlwe().ring().engine();
        let piece = |plaintexts: &Vec<Plaintext>| {
            let column = |column: usize| {
                let buckets = plaintexts.iter().skip(column).step_by(matrix.columns);
                let terms: Vec<_> = of_rows.iter().zip(buckets).collect();
                evaluator.dot_plain(&terms)
            };
            let columns = engine.map((0..matrix.columns).collect(), column);
            let columns = columns.into_iter().collect::<Result<Vec<_>>>()?;
            let reply = evaluator.dot(&of_columns.iter().zip(&columns).collect::<Vec<_>>())?;
            // As few limbs as decrypt.
            evaluator.at_level(&reply, 0)
        };
        self.pieces.iter().map(piece).collect()
    }
}

/// How many digests fall into each of some buckets.
fn counts(digests: &[Digest], buckets: usize) -> Vec<usize> {
    let mut counts = vec![0; buckets];
    digests.iter().for_each(|digest| counts[digest.bucket(buckets)] += 1);
    counts
}

/// The rows of each bucket.
fn in_buckets(sizes: &Sizes, digests: &[Digest], buckets: usize, capacity: usize) -> Vec<Vec<usize>> {
    let mut rows = vec![Vec::new(); buckets];
    for row in 0..sizes.rows {
        let bucket = digests.get(row).map_or(row / capacity, |digest| digest.bucket(buckets));
        rows[bucket].push(row);
    }
    rows
}
