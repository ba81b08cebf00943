//! Shares of joint keys as sections.

use std::collections::BTreeMap;

use crate::context::Context;
use crate::error::Result;
use crate::joint::share::{Extent, KeyShare, RELINEARIZATION, Round, Rows};
use crate::wire::keys::key_ring;
use crate::wire::kind::Kind;
use crate::wire::object::Object;
use crate::wire::reader::{Limits, Reader};
use crate::wire::writer::Writer;

/// One word: the round, from 1 on.
const ROUND: u16 = 0x0101;
/// The half b of the public key, in the first round.
const PUBLIC: u16 = 0x0102;

/// Two words: the exponent of an automorphism, 0 for relinearisation, and the limbs of ciphertexts that its key serves.
const ELEMENT: u16 = 0x0101;
/// The first row of a key; the others have the tags behind it.
const ROW: u16 = 0x0120;

impl Object for KeyShare {
    type Context = Context;
    const KIND: Kind = Kind::JOINT_KEY_SHARE;

    fn needed_fingerprint(context: &Context) -> Option<[u8; 32]> {
        Some(context.parameters().fingerprint())
    }

    fn fingerprint(&self, context: &Context) -> [u8; 32] {
        context.parameters().fingerprint()
    }

    /// Adds the round and the row of the public key, then one item for each switching key.
    fn write<'a>(&'a self, context: &'a Context, writer: &mut Writer<'a>) {
        writer.words(ROUND, vec![if self.round == Round::First { 1 } else { 2 }]);
        if let Some(public) = &self.public {
            writer.poly(PUBLIC, context.ring_q(context.parameters().max_limbs()), public);
        }
        for (&element, rows) in &self.switches {
            writer.next_item();
            writer.words(ELEMENT, vec![element.into(), rows.limbs as u64]);
            for (tag, row) in (ROW..).zip(&rows.rows) {
                writer.poly(tag, context.ring_qp(rows.limbs), row);
            }
        }
    }

    /// Takes all items that are left.
    fn read(context: &Context, reader: &mut Reader<'_>) -> Result<Self> {
        Self::read_extent(context, reader, Extent::Whole)
    }
}

impl KeyShare {
    /// The share in these bytes, as far as it is wanted: the rows of other keys are not unpacked.
    ///
    /// # Errors
    /// As [`Object::from_bytes`].
    pub fn extent_from_bytes(context: &Context, bytes: &[u8], extent: Extent) -> Result<Self> {
        let mut reader = Reader::open(bytes, Self::KIND, &Limits::default())?;
        reader.check_fingerprint(&context.parameters().fingerprint())?;
        let share = Self::read_extent(context, &mut reader, extent)?;
        reader.finish()?;
        Ok(share)
    }

    fn read_extent(context: &Context, reader: &mut Reader<'_>, extent: Extent) -> Result<Self> {
        let section = reader.take(ROUND)?;
        let round = match section.word_array()? {
            [1] => Round::First,
            [2] => Round::Second,
            [other] => return Err(section.value("the round", other, "1 or 2")),
        };
        let ring = context.ring_q(context.parameters().max_limbs());
        let public = match round {
            Round::First => Some(reader.take(PUBLIC)?.poly(&ring)?),
            Round::Second => None,
        };
        let (mut switches, mut previous) = (BTreeMap::new(), None);
        while reader.next_item()? {
            let section = reader.take(ELEMENT)?;
            let [element, limbs] = section.word_array()?;
            let known =
                |k: u32| k == RELINEARIZATION || (round == Round::First && context.check_automorphism(k).is_ok());
            let fits = u32::try_from(element).ok().filter(|&k| known(k) && previous < Some(k));
            let needed = "0 or an automorphism, in ascending order";
            let element = fits.ok_or_else(|| section.value("the automorphism", element, needed))?;
            previous = Some(element);
            let shape = context.parameters().shape();
            let limbs = usize::try_from(limbs).unwrap_or(usize::MAX);
            if shape.digits == 0 || !(1..=shape.limbs).contains(&limbs) {
                return Err(section.value("limbs", limbs, format!("1 to {}, of keys", shape.limbs)));
            }
            let (ring, digits) = key_ring(context, shape, limbs)?;
            let halves = if element == RELINEARIZATION && round == Round::First { 2 } else { 1 };
            // Each row was there in full before the next is looked for: a count that is only claimed allocates nothing.
            let (tags, mut rows) = ((ROW..).take(halves * digits), Vec::new());
            let is_wanted = match extent {
                Extent::Whole => true,
                Extent::Public => false,
                Extent::Relinearization => element == RELINEARIZATION,
            };
            for tag in tags {
                let row = reader.take(tag)?;
                if is_wanted {
                    rows.push(row.poly(&ring)?);
                }
            }
            switches.insert(element, Rows { limbs, count: halves * digits, rows });
        }
        Ok(Self { round, public, switches })
    }
}
