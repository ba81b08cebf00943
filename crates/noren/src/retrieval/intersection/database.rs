//! The half of an intersection that has the table.

use std::sync::Arc;

use noren_math::machine::memory;
use noren_math::random::{Seed, Xof};
use noren_rlwe::error::{Error, Result};
use noren_rlwe::keys::{EvaluationKeys, PublicKey};
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;

use crate::backends::{IntersectionReplies, IntersectionRequests, Parcel, ServerKeys};
use crate::retrieval::intersection::bins::{CHOICES, Item};
use crate::retrieval::intersection::plan::{NUMBER_BYTES, Options, Plan};
use crate::retrieval::intersection::polynomials::Polynomials;
use crate::retrieval::records::{Rows, to_coefficients};
use crate::schemes::bfv::{Bfv, Ciphertext, Context, Encoder, Evaluator, KeyFile, PlaintextModulus};
use crate::schemes::integers::Ciphertexts;

/// A table in clear, and its answers to encrypted keywords: it has no secret of the client.
///
/// For an example see [`Client`](crate::retrieval::intersection::Client).
pub struct Database {
    plan: Plan,
    context: Context,
    /// The polynomials of each part of each bin, bin after bin.
    polynomials: Vec<Polynomials>,
}

/// A row: what stands for its keyword, and its numbers.
struct Record {
    item: Item,
    numbers: Vec<u64>,
}

impl Database {
    /// Takes a table whose rows have keywords, and chooses parameters for it. The seed spreads rows over the parts of bins, so that the
    /// part where a row is found tells nothing of others.
    ///
    /// # Errors
    /// Rows without keywords, or none; keywords that stand twice; options outside of their ranges; too many rows for all parameters; more
    /// memory than there is.
    pub fn new(rows: Rows<'_>, options: &Options, seed: &Seed) -> Result<Self> {
        let Rows::Named(pairs) = rows else {
            return Err(Error::parameter("rows", "numbers", "keywords, each with its row"));
        };
        rows.check_names()?;
        let sizes = rows.sizes();
        let plan = Plan::new(sizes, options, &|bins, modulus| {
            let mut counts = vec![0usize; bins];
            for (keyword, _) in pairs {
                Item::of(keyword, bins, modulus).places().for_each(|bin| counts[bin] += 1);
            }
            counts.into_iter().max().unwrap_or(0)
        })?;
        let modulus = plan.parameters().modulus();
        let words = (pairs.len() * CHOICES).saturating_add(plan.bins()).saturating_mul(plan.numbers() + 1);
        memory::ask_for::<u64>(words)?;
        let record = |(keyword, row): &(&[u8], &[u8])| {
            let item = Item::of(keyword, plan.bins(), modulus);
            let mut bytes = Vec::new();
            sizes.write(None, row, &mut bytes);
            let payload = to_coefficients(&bytes, NUMBER_BYTES).into_iter().map(i64::cast_unsigned);
            Record { item, numbers: item.checks.into_iter().chain(payload).collect() }
        };
        let records: Vec<Record> = pairs.iter().map(record).collect();
        let parts = in_parts(&plan, &records, &mut seed.xof("noren intersection parts"))?;
        let polynomials = |part: Vec<usize>| {
            let values: Vec<(u64, &[u64])> =
                part.iter().map(|&at| (records[at].item.value, &records[at].numbers[..])).collect();
            Polynomials::new(&values, plan.numbers(), modulus)
        };
        let context = Context::new(plan.parameters().clone())?;
        let polynomials = context.rlwe().ring().engine().map(parts, polynomials);
        Ok(Self { plan, context, polynomials })
    }

    /// The plan, which clients need: it is public.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Answers a request of [`Client::encrypt`](crate::retrieval::intersection::Client::encrypt). The seed is for this answer alone: two
    /// answers with one seed to different requests tell of rows that were not asked for.
    ///
    /// # Errors
    /// Keys of other parameters; requests for another table, or of another key.
    pub fn answer(&self, request: &[u8], keys: &ServerKeys, seed: &Seed) -> Result<Vec<u8>> {
        Ok(self.answer_parcel(&Parcel::from_bytes(&(), request)?, keys, seed)?.to_bytes(&(), Form::Packed))
    }

    /// Answers a request in a container.
    ///
    /// # Errors
    /// As [`Database::answer`].
    pub fn answer_parcel(
        &self,
        request: &Parcel<IntersectionRequests>,
        keys: &ServerKeys,
        seed: &Seed,
    ) -> Result<Parcel<IntersectionReplies>> {
        keys.check(&self.plan.server_parts())?;
        let key = &keys.get::<KeyFile<PublicKey>>(0)?.key;
        self.plan.description().check_message(request, "table")?;
        let Ciphertexts::<Bfv>(powers) = Ciphertexts::from_bytes(&self.context, request.single()?)?;
        let [needed, _] = self.plan.ciphertexts();
        if powers.len() != needed {
            return Err(Error::Length { what: "powers of a request", found: powers.len(), needed: needed.to_string() });
        }
        let none = EvaluationKeys::new(self.context.rlwe().parameters(), key.owner().key);
        let evaluator = Evaluator::new(&self.context, Arc::new(none))?;
        // Other requests, other numbers, also where a seed is used twice by mistake.
        let seed = seed.derive(&blake3::hash(&request.items[0]).to_hex());
        let (parts, numbers) = (self.plan.parts(), self.plan.numbers());
        let places = (0..self.plan.blocks())
            .flat_map(|block| (0..parts).flat_map(move |part| (0..numbers).map(move |number| [block, part, number])));
        let reply = |(at, place): (usize, [usize; 3])| {
            let seed = seed.derive_for("noren intersection reply", &[&[at as u64]]);
            self.reply(&evaluator, &powers, place, key, &seed)
        };
        let engine = self.context.rlwe().ring().engine();
        let replies = engine.map(places.enumerate().collect(), reply).into_iter().collect::<Result<Vec<_>>>()?;
        let bytes = Ciphertexts::<Bfv>(replies).to_bytes(&self.context, Form::Packed);
        Ok(Parcel::new(self.plan.digest(), vec![bytes]))
    }

    /// `r P(x) + Q(x)` for a number of the rows in one part of the bins of a block, for random r.
    fn reply(
        &self,
        evaluator: &Evaluator,
        powers: &[Ciphertext],
        [block, part, number]: [usize; 3],
        key: &PublicKey,
        seed: &Seed,
    ) -> Result<Ciphertext> {
        let (slots, degree, modulus) =
            (self.plan.parameters().degree(), self.plan.degree(), self.plan.parameters().modulus());
        let of_slot = |slot: usize| &self.polynomials[(block * slots + slot) * self.plan.parts() + part];
        let mut stream = seed.xof("factors");
        let factors: Vec<u64> = (0..slots).map(|_| residue(&mut stream, modulus)).collect();
        let encoder = Encoder::new(&self.context);
        let coefficient = |power: usize| {
            let of_slot = |slot: usize| {
                let Polynomials { zero, numbers } = of_slot(slot);
                let masked = modulus.mul(factors[slot], zero.get(power).copied().unwrap_or(0));
                modulus.add(masked, numbers[number].get(power).copied().unwrap_or(0)).cast_signed()
            };
            encoder.encode(&(0..slots).map(of_slot).collect::<Vec<_>>())
        };
        let coefficients = (1..=degree).map(coefficient).collect::<Result<Vec<_>>>()?;
        let powers = &powers[block * degree..][..degree];
        let sum = evaluator.sum_of_plain_products(&powers.iter().zip(&coefficients).collect::<Vec<_>>())?;
        let sum = evaluator.add_plain(&sum, &coefficient(0)?)?;
        let flooded = evaluator.flood(&sum, self.plan.flood(), key, seed)?;
        // As few limbs as decrypt.
        evaluator.at_level(&flooded, 0)
    }
}

/// A uniform residue modulo t.
fn residue(stream: &mut Xof, modulus: PlaintextModulus) -> u64 {
    let mask = modulus.value().next_power_of_two() - 1;
    loop {
        let number = stream.next_u64() & mask;
        if number < modulus.value() {
            return number;
        }
    }
}

/// The rows in each part of each bin, bin after bin: those of a bin in random places of its parts, so that no part has two of one value.
///
/// # Errors
/// Rows of one value that fill all parts: their keywords are others, but nothing tells them apart there.
fn in_parts(plan: &Plan, records: &[Record], stream: &mut Xof) -> Result<Vec<Vec<usize>>> {
    let (count, degree) = (plan.parts(), plan.degree());
    let mut parts = vec![Vec::new(); plan.bins() * count];
    let mut of_bin = vec![Vec::new(); plan.bins()];
    for (at, record) in records.iter().enumerate() {
        record.item.places().for_each(|bin| of_bin[bin].push(at));
    }
    let mut places: Vec<usize> = Vec::new();
    for (bin, rows) in of_bin.into_iter().enumerate() {
        places.clear();
        places.extend(0..count * degree);
        for row in rows {
            let is_free = |place: usize| {
                let part: &Vec<usize> = &parts[bin * count + place / degree];
                part.iter().all(|&other| records[other].item.value != records[row].item.value)
            };
            let start = ((u128::from(stream.next_u64()) * places.len() as u128) >> u64::BITS) as usize;
            let free = (start..places.len()).chain(0..start).find(|&at| is_free(places[at]));
            let place = places.swap_remove(free.ok_or_else(|| {
                let needed = "another number of keywords that are asked for at most: two keywords have one value";
                Error::parameter("keywords", records.len(), needed)
            })?);
            parts[bin * count + place / degree].push(row);
        }
    }
    Ok(parts)
}
