//! Plaintexts and ciphertexts as sections.

use noren_math::random::Seed;
use noren_ring::poly::{Eval, Poly};

use crate::ciphertext::{Ciphertext, Plaintext};
use crate::context::Context;
use crate::encrypt::uniform_half;
use crate::error::Result;
use crate::owner::KeyId;
use crate::wire::keys::KEY;
use crate::wire::kind::Kind;
use crate::wire::object::Object;
use crate::wire::reader::Reader;
use crate::wire::section::Section;
use crate::wire::writer::Writer;

/// The polynomial of a plaintext.
const POLY: u16 = 0x0101;
/// The seed of the second part of a fresh symmetric ciphertext, which is then left out.
const SEED: u16 = 0x0101;
/// The first part of a ciphertext; the others have the tags behind it.
const PART: u16 = 0x0110;
/// The most parts of a ciphertext that is written or read.
pub const MAX_PARTS: u16 = 0xf0;

impl Object for Plaintext {
    type Context = Context;
    const KIND: Kind = Kind::PLAINTEXT;

    fn needed_fingerprint(context: &Context) -> Option<[u8; 32]> {
        Some(context.parameters().fingerprint())
    }

    fn fingerprint(&self, context: &Context) -> [u8; 32] {
        context.parameters().fingerprint()
    }

    fn write<'a>(&'a self, context: &'a Context, writer: &mut Writer<'a>) {
        writer.poly(POLY, context.ring_q(self.limbs()), &self.poly);
    }

    fn read(context: &Context, reader: &mut Reader<'_>) -> Result<Self> {
        let section = reader.take(POLY)?;
        let limbs = level_limbs(context, &section)?;
        Ok(Self { poly: section.poly(&context.ring_q(limbs))? })
    }
}

impl Object for Ciphertext {
    type Context = Context;
    const KIND: Kind = Kind::CIPHERTEXT;

    fn needed_fingerprint(context: &Context) -> Option<[u8; 32]> {
        Some(context.parameters().fingerprint())
    }

    fn fingerprint(&self, context: &Context) -> [u8; 32] {
        context.parameters().fingerprint()
    }

    /// # Panics
    /// If the ciphertext was not made with this context, or has more than 240 parts.
    fn write<'a>(&'a self, context: &'a Context, writer: &mut Writer<'a>) {
        let parts = self.parts();
        assert!(parts.len() <= usize::from(MAX_PARTS), "{} parts are more than a file holds", parts.len());
        let ring = context.ring_q(self.limbs());
        let written = match self.seed() {
            Some(seed) => {
                writer.bytes(SEED, seed.as_bytes().as_slice());
                &parts[..1]
            }
            None => parts,
        };
        writer.bytes(KEY, self.key_id().0.to_vec());
        for (tag, part) in (PART..).zip(written) {
            writer.poly(tag, ring.clone(), part);
        }
    }

    fn read(context: &Context, reader: &mut Reader<'_>) -> Result<Self> {
        let seed = match reader.take_if(SEED) {
            Some(section) => Some(Seed::from_bytes(section.array()?)),
            None => None,
        };
        let key = KeyId(reader.take(KEY)?.array()?);
        let first = reader.take(PART)?;
        let ring = context.ring_q(level_limbs(context, &first)?);
        let first = first.poly(&ring)?;
        if let Some(seed) = seed {
            let second = uniform_half(&ring, &seed);
            return Ok(Self::seeded([first, second], seed, key));
        }
        let mut parts: Vec<Poly<Eval>> = vec![first];
        for tag in PART + 1..PART + MAX_PARTS {
            match reader.take_if(tag) {
                Some(section) => parts.push(section.poly(&ring)?),
                None => break,
            }
        }
        Ok(Self::new(parts, key))
    }
}

impl Ciphertext {
    /// The limbs of the ciphertext in the current item, and whether it has a seed in place of its second part. Its sections are
    /// passed over: no context is needed.
    ///
    /// # Errors
    /// [`Error::Wire`](crate::error::Error::Wire) if there is no such ciphertext.
    pub fn skim(reader: &mut Reader<'_>) -> Result<(usize, bool)> {
        let seeded = reader.take_if(SEED).is_some();
        reader.take(KEY)?;
        let limbs = reader.take(PART)?.window()?.len();
        (PART + 1..PART + MAX_PARTS).take_while(|&tag| reader.take_if(tag).is_some()).for_each(drop);
        Ok((limbs, seeded))
    }
}

/// The limbs of a polynomial that must be one of ciphertexts of some level.
fn level_limbs(context: &Context, section: &Section<'_>) -> Result<usize> {
    let window = section.window()?;
    let (first, most) = (context.parameters().first_limb(), context.parameters().max_limbs());
    if window.start == first && window.len() <= most {
        Ok(window.len())
    } else {
        Err(section.value("limbs", format!("{window:?}"), format!("{first}.. and at most {most}")))
    }
}
