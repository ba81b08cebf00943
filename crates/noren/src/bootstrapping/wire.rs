//! Bytes of the parameters of bootstrapping, and of the names of its keys.
//!
//! The container and the sections of a key are those of [`noren_rlwe::wire`]; here are the sections that bootstrapping
//! adds. `docs/wire.md` describes them byte by byte.

use noren_rlwe::context::Context as RlweContext;
use noren_rlwe::error::{Error, Result, short_fingerprint};
use noren_rlwe::parameters::MAX_PRIMES;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::Reader;
use noren_rlwe::wire::reason::Reason;
use noren_rlwe::wire::section::Section;
use noren_rlwe::wire::writer::Writer;

use crate::bootstrapping::group::{GiantOrder, Group};
use crate::bootstrapping::key_list::{KeyName, KeySet};
use crate::bootstrapping::parameters::{EvalMod, Parameters, ParametersSpec, Primes, Transform};
use crate::schemes::ckks::parameters as ckks;

/// Parameters: the base-two logarithm of the slots, the weight of the ephemeral secret, the iterations.
const NUMBERS: u16 = 0x01;
/// Parameters: the size of each prime in bits, the order of giant steps, then layers and baby steps of each matrix.
const SLOT_TO_COEFF: u16 = 0x02;
const COEFF_TO_SLOT: u16 = 0x03;
/// Parameters: how many primes the application has, and the size of each in bits.
const APPLICATION: u16 = 0x04;
/// Parameters: the size of each prime in bits, `log2 rho` as the bits of an `f64`, B, r, and the degree.
const EVAL_MOD: u16 = 0x05;
/// A key: its set, and the exponent of its automorphism, 0 where it has none.
const NAME: u16 = 0x01;

/// The words of a name.
const NAME_WORDS: usize = 2;

/// The codes of separate giant steps, and of those in Horner's order.
const SEPARATE: u64 = 0;
const HORNER: u64 = 1;

impl Parameters {
    /// The BLAKE3 digest of the text `noren-bootstrapping-parameters-v1`, the fingerprint of [`Parameters::ckks`], and for
    /// each section of its own in a file the number of its words and the words, in little-endian order.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"noren-bootstrapping-parameters-v1").update(&self.chosen().fingerprint());
        for (_, words) in own_sections(self.spec()) {
            let length = words.len() as u64;
            std::iter::once(length).chain(words).for_each(|word| _ = hasher.update(&word.to_le_bytes()));
        }
        *hasher.finalize().as_bytes()
    }

    /// The name of these parameters if they are a preset, and their fingerprint.
    #[must_use]
    pub fn name(&self) -> String {
        let fingerprint = short_fingerprint(&self.fingerprint());
        match crate::bootstrapping::preset::Preset::of(self) {
            Some(preset) => format!("{preset} for {} slots ({fingerprint})", self.slots()),
            None => fingerprint,
        }
    }
}

impl PartialEq for Parameters {
    fn eq(&self, other: &Self) -> bool {
        self.spec() == other.spec()
    }
}

impl Object for Parameters {
    type Context = ();
    const KIND: Kind = Kind::BOOTSTRAP_PARAMETERS;

    fn needed_fingerprint((): &()) -> Option<[u8; 32]> {
        None
    }

    fn fingerprint(&self, (): &()) -> [u8; 32] {
        Parameters::fingerprint(self)
    }

    /// The parameters of the ciphertexts, and in an item of its own what each prime is for.
    fn write<'a>(&'a self, (): &'a (), writer: &mut Writer<'a>) {
        self.chosen().write(&(), writer);
        writer.next_item();
        for (tag, words) in own_sections(self.spec()) {
            writer.words(tag, words);
        }
    }

    /// Checks everything again, and that the parameters of the ciphertexts follow from the rest. Whether their security is
    /// enough is for the caller to say.
    fn read((): &(), reader: &mut Reader<'_>) -> Result<Self> {
        let ckks = ckks::Parameters::read(&(), reader)?;
        reader.next_item()?;
        let section = reader.take(NUMBERS)?;
        let [log_slots, ephemeral_weight, iterations] = section.word_array()?;
        let log_slots = small(&section, log_slots)?;
        let (ephemeral_weight, iterations) = (small(&section, ephemeral_weight)?, count(&section, iterations)?);
        let slot_to_coeff = transform(&reader.take(SLOT_TO_COEFF)?)?;
        let coeff_to_slot = transform(&reader.take(COEFF_TO_SLOT)?)?;
        let section = reader.take(APPLICATION)?;
        let [primes, bits] = section.word_array()?;
        let application = Primes { count: count(&section, primes)?, bits: small(&section, bits)? };
        let section = reader.take(EVAL_MOD)?;
        let [bits, log_ratio, interval, doublings, degree] = section.word_array()?;
        let eval_mod = EvalMod {
            bits: small(&section, bits)?,
            log_ratio: f64::from_bits(log_ratio),
            interval: small(&section, interval)?,
            doublings: small(&section, doublings)?,
            degree: count(&section, degree)?,
        };
        let known = ckks.spec();
        let special = known.log_p.first().map_or(0, |&bits| bits);
        let spec = ParametersSpec {
            log_n: known.log_n,
            log_slots,
            log_base: known.log_q.first().map_or(0, |&bits| bits),
            slot_to_coeff,
            application,
            eval_mod,
            coeff_to_slot,
            special: Primes { count: known.log_p.len(), bits: special },
            dnum: known.dnum,
            ephemeral_weight,
            iterations,
            secret: known.secret,
            security: known.security,
        };
        let parameters = spec.build()?;
        if *parameters.chosen() == ckks {
            Ok(parameters)
        } else {
            Err(Error::Wire { what: Self::KIND.name(), reason: Reason::Fingerprint })
        }
    }
}

/// The sections of the item that is not of the ciphertexts' parameters.
fn own_sections(spec: &ParametersSpec) -> [(u16, Vec<u64>); 5] {
    let EvalMod { bits, log_ratio, interval, doublings, degree } = spec.eval_mod;
    let transform = |transform: &Transform| {
        let order = match transform.giants {
            GiantOrder::Separate => SEPARATE,
            GiantOrder::Horner => HORNER,
        };
        let groups = transform.groups.iter().flat_map(|group| [u64::from(group.layers), group.baby_steps as u64]);
        [u64::from(transform.bits), order].into_iter().chain(groups).collect()
    };
    let reduction = [bits.into(), log_ratio.to_bits(), interval.into(), doublings.into(), degree as u64];
    [
        (NUMBERS, vec![spec.log_slots.into(), spec.ephemeral_weight.into(), spec.iterations as u64]),
        (SLOT_TO_COEFF, transform(&spec.slot_to_coeff)),
        (COEFF_TO_SLOT, transform(&spec.coeff_to_slot)),
        (APPLICATION, vec![spec.application.count as u64, spec.application.bits.into()]),
        (EVAL_MOD, reduction.to_vec()),
    ]
}

fn transform(section: &Section<'_>) -> Result<Transform> {
    let words = section.words()?;
    let most = 2 + 2 * MAX_PRIMES;
    if words.len() < 2 || words.len() % 2 == 1 || words.len() > most {
        let needed = format!("2, and 2 for each matrix, at most {most}");
        return Err(section.value("the words of a transform", words.len(), needed));
    }
    let words: Vec<u64> = words.iter().collect();
    let giants = match words[1] {
        SEPARATE => GiantOrder::Separate,
        HORNER => GiantOrder::Horner,
        other => return Err(section.value("the order of giant steps", other, "0 or 1")),
    };
    let group = |&[layers, baby_steps]: &[u64; 2]| {
        Ok(Group { layers: small(section, layers)?, baby_steps: count(section, baby_steps)? })
    };
    let groups = words[2..].as_chunks().0.iter().map(group).collect::<Result<_>>()?;
    Ok(Transform { bits: small(section, words[0])?, groups, giants })
}

fn small(section: &Section<'_>, word: u64) -> Result<u32> {
    u32::try_from(word).map_err(|_| section.value("a number", word, "below 2^32"))
}

fn count(section: &Section<'_>, word: u64) -> Result<usize> {
    small(section, word).map(|word| word as usize)
}

/// Adds the section of the name of a key to the current item. The sections of the key follow.
pub(super) fn write_name(name: KeyName, writer: &mut Writer<'_>) {
    writer.words(NAME, vec![name.set as u64, u64::from(name.element)]);
}

/// Announces the section of a name.
pub(super) fn announce_name(writer: &mut Writer<'_>) {
    writer.announce_words(NAME, NAME_WORDS);
}

/// Takes the section of the name of the key in the current item; names ascend. The sections of the key follow.
///
/// # Errors
/// [`Error::Wire`] with the [`Reason`] why a section is refused.
pub(super) fn read_name(context: &RlweContext, previous: Option<KeyName>, reader: &mut Reader<'_>) -> Result<KeyName> {
    let section = reader.take(NAME)?;
    let [set, element] = section.word_array::<NAME_WORDS>()?;
    let Some(set) = KeySet::ALL.into_iter().find(|&known| known as u64 == set) else {
        return Err(section.value("the set of the key", set, "0 to 3"));
    };
    let known = |element: u32| match set {
        KeySet::ToEphemeral | KeySet::FromEphemeral => element == 0,
        KeySet::Evaluation => element == 0 || context.check_automorphism(element).is_ok(),
        KeySet::SlotToCoeff => context.check_automorphism(element).is_ok(),
    };
    let element = match u32::try_from(element) {
        Ok(element) if known(element) => element,
        _ => return Err(section.value("the automorphism", element, "one that its set has: 0, or odd and below 2n")),
    };
    let name = KeyName { set, element };
    if previous.is_some_and(|previous| name <= previous) {
        return Err(section.value("the name of the key", name, "in ascending order"));
    }
    Ok(name)
}
