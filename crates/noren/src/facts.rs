//! Facts about containers that are read without a key: one table of all kinds.

use noren_rlwe::error::Result;
use noren_rlwe::keys::{KeyOutline, SecretKey};
use noren_rlwe::owner::KeyId;
use noren_rlwe::wire::key_file::{FileContext, KeyFile};
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::owners as identities;
use noren_rlwe::wire::reader::Reader;
use serde::Serialize;
use serde_json::Value;

use crate::backends::backend::Record;
use crate::backends::parcel::{Content, JointMessage, JointOpening, JointParty, Parcel, Purpose};
use crate::bootstrapping::{self, BootstrapKeyFile, Contents};
use crate::compiler::{Program, Summary};
use crate::lookup::{Lookup, LookupKeyFile, LookupOutline};
use crate::owners::{self, Session};
use crate::programs::{IntegerLayout, Layout, columns, wire};
use crate::retrieval;
use crate::schemes::summary::CiphertextSummary;
use crate::schemes::{bfv, bgv, ckks, tfhe};
use crate::switching;
use SchemeParameters::{Ckks, Integers, Tfhe};

/// The facts about the object of a container that are read without a key, and without parameters that are not in it. As JSON all but parameters
/// and owner.
///
/// # Examples
/// ```
/// use noren::ckks::ParametersSpec;
/// use noren::wire::{Facts, Form, Limits, Object, Reader, SchemeParameters};
///
/// let parameters = ParametersSpec { log_n: 14, log_q: vec![50, 40], log_scale: 40, ..ParametersSpec::default() }.build()?;
/// let bytes = parameters.to_bytes(&(), Form::Packed);
/// let facts = Facts::of(&mut Reader::open_any(&bytes, &Limits::default())?)?;
/// assert!(matches!(&facts.parameters[..], [SchemeParameters::Ckks(found)] if *found == parameters));
/// # Ok::<(), noren::Error>(())
/// ```
#[derive(Debug, Clone, Default, Serialize)]
pub struct Facts {
    /// The identity of the secret key that it belongs to, or that it is.
    #[serde(skip)]
    pub owner: Option<KeyId>,
    /// The parameters of each scheme that are in it.
    #[serde(skip)]
    pub parameters: Vec<SchemeParameters>,
    /// The keys of key switching.
    pub evaluation_keys: Vec<KeyFacts>,
    /// The ciphertexts of slots.
    pub ciphertexts: Option<CiphertextSummary>,
    /// The layout of a table.
    pub layout: Option<Value>,
    /// The parameters of bootstrapping, by name.
    pub bootstrapping: Option<String>,
    /// A prepared function.
    pub function: Option<LookupOutline>,
    /// A compiled function.
    pub compiled: Option<Summary>,
    /// The objects in keys, inputs and results of compiled functions.
    pub contents: Vec<Content>,
}

/// Parameters of a scheme.
#[derive(Debug, Clone)]
pub enum SchemeParameters {
    /// Of CKKS.
    Ckks(ckks::Parameters),
    /// Of BGV and BFV.
    Integers(bfv::Parameters),
    /// Of TFHE.
    Tfhe(tfhe::Parameters),
}

/// A key of key switching in a container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyFacts {
    /// Its use.
    pub kind: String,
    /// The highest level that it serves.
    pub level: usize,
    /// Its bytes; none for bootstrapping keys, which are read one by one.
    pub bytes: Option<u64>,
}

/// Takes the facts from a container of one kind.
type Describe = fn(&mut Reader<'_>) -> Result<Facts>;

/// The facts of each kind. Headers of other kinds say what there is to say without parameters.
const DESCRIPTIONS: [(Kind, Describe); 52] = [
    (Kind::CKKS_PARAMETERS, |reader| parameters(reader, Ckks)),
    (Kind::CKKS_SECRET_KEY, |reader| Ok(secret(ckks::KeyFile::read(&(), reader)?, Ckks))),
    (Kind::CKKS_PUBLIC_KEY, |reader| parameters(reader, Ckks)),
    (Kind::CKKS_EVALUATION_KEYS, |reader| Ok(keys(ckks::KeyFile::skim(reader)?, Ckks))),
    (Kind::EXPANDED_CKKS_EVALUATION_KEYS, |reader| Ok(keys(ckks::KeyFile::skim(reader)?, Ckks))),
    (Kind::CKKS_REENCRYPTION_KEY, |reader| Ok(reencryption(ckks::KeyFile::outline(reader)?, Ckks))),
    (Kind::CKKS_RECEIVER_KEY, |reader| parameters(reader, Ckks)),
    (Kind::CKKS_CIPHERTEXT, |reader| ciphertexts(reader, ckks::Ciphertext::skim)),
    (Kind::CKKS_CIPHERTEXTS, |reader| ciphertexts(reader, ckks::Ciphertext::skim)),
    (Kind::TABLE, |reader| {
        wire::skim(reader, Layout::from_json, Layout::to_json, Some(ckks::Ciphertext::skim)).map(table)
    }),
    (Kind::BOOTSTRAP_PARAMETERS, |reader| bootstrapping(&bootstrapping::Parameters::read(&(), reader)?)),
    (Kind::BOOTSTRAP_KEYS, |reader| Facts::of_bootstrap_keys(&BootstrapKeyFile::skim(reader)?)),
    (Kind::EXPANDED_BOOTSTRAP_KEYS, |reader| Facts::of_bootstrap_keys(&BootstrapKeyFile::skim(reader)?)),
    (Kind::INTEGER_PARAMETERS, |reader| parameters(reader, Integers)),
    (Kind::INTEGER_SECRET_KEY, |reader| Ok(secret(bfv::KeyFile::read(&(), reader)?, Integers))),
    (Kind::INTEGER_PUBLIC_KEY, |reader| parameters(reader, Integers)),
    (Kind::INTEGER_EVALUATION_KEYS, |reader| Ok(keys(bfv::KeyFile::skim(reader)?, Integers))),
    (Kind::EXPANDED_INTEGER_EVALUATION_KEYS, |reader| Ok(keys(bfv::KeyFile::skim(reader)?, Integers))),
    (Kind::INTEGER_REENCRYPTION_KEY, |reader| Ok(reencryption(bfv::KeyFile::outline(reader)?, Integers))),
    (Kind::INTEGER_RECEIVER_KEY, |reader| parameters(reader, Integers)),
    (Kind::BGV_CIPHERTEXT, |reader| ciphertexts(reader, bgv::Ciphertext::skim)),
    (Kind::BFV_CIPHERTEXT, |reader| ciphertexts(reader, bfv::Ciphertext::skim)),
    (Kind::BGV_CIPHERTEXTS, |reader| ciphertexts(reader, bgv::Ciphertext::skim)),
    (Kind::BFV_CIPHERTEXTS, |reader| ciphertexts(reader, bfv::Ciphertext::skim)),
    (Kind::INTEGER_TABLE, |reader| {
        wire::skim(reader, IntegerLayout::from_json, IntegerLayout::to_json, Some(bfv::Ciphertext::skim)).map(table)
    }),
    (Kind::LOOKUP_KEYS, |reader| Ok(keys(LookupKeyFile::skim(reader)?, Integers))),
    (Kind::EXPANDED_LOOKUP_KEYS, |reader| Ok(keys(LookupKeyFile::skim(reader)?, Integers))),
    (Kind::PREPARED_LOOKUP, |reader| Ok(Facts { function: Some(Lookup::skim(reader)?), ..Facts::default() })),
    (Kind::TFHE_PARAMETERS, |reader| parameters(reader, Tfhe)),
    (Kind::TFHE_SECRET_KEY, |reader| parameters(reader, Tfhe)),
    (Kind::TFHE_KEYS, |reader| parameters(reader, Tfhe)),
    (Kind::TFHE_CIRCUIT_KEYS, |reader| parameters(reader, Tfhe)),
    (Kind::TFHE_COLUMNS, |reader| {
        wire::skim(reader, columns::Layout::from_json, columns::Layout::to_json, None).map(table)
    }),
    (Kind::TFHE_SERVER_KEYS, |reader| parameters(reader, Tfhe)),
    (Kind::TFHE_LIGHT_KEYS, |reader| parameters(reader, Tfhe)),
    (Kind::SWITCHING_KEYS, switching_keys),
    (Kind::FUNCTION, function),
    (Kind::FUNCTION_INPUTS, contents),
    (Kind::FUNCTION_OUTPUTS, contents),
    (Kind::FUNCTION_SERVER_KEYS, contents),
    (Kind::FUNCTION_SECRET_KEYS, contents),
    (Kind::RETRIEVAL, retrieval),
    (Kind::RETRIEVAL_REQUESTS, contents),
    (Kind::RETRIEVAL_REPLIES, contents),
    (Kind::INTERSECTION, intersection),
    (Kind::INTERSECTION_REQUESTS, contents),
    (Kind::INTERSECTION_REPLIES, contents),
    (Kind::JOINT_SESSION, session),
    (Kind::JOINT_MESSAGE, of_party::<JointMessage>),
    (Kind::JOINT_OPENING, of_party::<JointOpening>),
    (Kind::JOINT_PARTY, of_party::<JointParty>),
    (Kind::JOINT_REQUEST, request),
];

impl Facts {
    /// Those of the object in a container of any kind, whose first section the reader stands at.
    ///
    /// # Errors
    /// [`Error::Wire`](crate::Error::Wire) with the reason why a section is refused, and what the parameters refuse. Sections that
    /// tell nothing without a key are not looked at.
    pub fn of(reader: &mut Reader<'_>) -> Result<Self> {
        let kind = reader.header().kind;
        let owner = identities::of_sections(kind, reader.sections());
        let describe = DESCRIPTIONS.iter().find(|(of, _)| *of == kind);
        let facts = describe.map_or_else(|| Ok(Self::default()), |(_, describe)| describe(reader))?;
        Ok(Self { owner: facts.owner.or(owner), ..facts })
    }

    /// Those of bootstrapping keys, which [`BootstrapKeyFile::contents`] reads from a file one by one.
    ///
    /// # Errors
    /// The refusal of the parameters.
    pub fn of_bootstrap_keys(contents: &Contents) -> Result<Self> {
        let key = |(kind, limbs): (String, usize)| KeyFacts { kind, level: limbs - 1, bytes: None };
        let evaluation_keys = contents.keys().map(key).collect();
        Ok(Self { owner: contents.owner, evaluation_keys, ..bootstrapping(&contents.parameters)? })
    }
}

/// The parameters that a container begins with.
fn parameters<P: Object<Context = ()>>(reader: &mut Reader<'_>, of: fn(P) -> SchemeParameters) -> Result<Facts> {
    Ok(Facts { parameters: vec![of(P::read(&(), reader)?)], ..Facts::default() })
}

fn bootstrapping(parameters: &bootstrapping::Parameters) -> Result<Facts> {
    let (name, parameters) = (parameters.name(), vec![Ckks(parameters.ckks()?)]);
    Ok(Facts { bootstrapping: Some(name), parameters, ..Facts::default() })
}

fn switching_keys(reader: &mut Reader<'_>) -> Result<Facts> {
    let (of_bootstrapping, tfhe) = switching::KeyFile::skim(reader)?;
    let mut facts = bootstrapping(&of_bootstrapping)?;
    facts.parameters.push(Tfhe(tfhe));
    Ok(facts)
}

fn secret<C: FileContext<Parameters: Clone>>(
    KeyFile { context, key }: KeyFile<C, SecretKey>,
    of: fn(C::Parameters) -> SchemeParameters,
) -> Facts {
    let parameters = vec![of(context.parameters().clone())];
    Facts { owner: Some(key.owner().key), parameters, ..Facts::default() }
}

fn keys<C: FileContext<Parameters: Clone>, K: ToString>(
    (context, keys): (C, Vec<(K, KeyOutline)>),
    of: fn(C::Parameters) -> SchemeParameters,
) -> Facts {
    let key = |(kind, outline): (K, KeyOutline)| KeyFacts {
        kind: kind.to_string(),
        level: outline.limbs - 1,
        bytes: Some(outline.bytes),
    };
    let evaluation_keys = keys.into_iter().map(key).collect();
    Facts { parameters: vec![of(context.parameters().clone())], evaluation_keys, ..Facts::default() }
}

fn reencryption<C: FileContext<Parameters: Clone>>(
    (context, outline): (C, KeyOutline),
    of: fn(C::Parameters) -> SchemeParameters,
) -> Facts {
    let key = (format!("re-encryption of key {}", outline.from), outline);
    let facts = keys((context, vec![key]), of);
    Facts { owner: Some(outline.owner.key), ..facts }
}

/// The numbers of one ciphertext.
type Skim = fn(&mut Reader<'_>) -> Result<CiphertextSummary>;

fn ciphertexts(reader: &mut Reader<'_>, skim: Skim) -> Result<Facts> {
    Ok(Facts { ciphertexts: Some(CiphertextSummary::of_all(reader, skim)?), ..Facts::default() })
}

fn table((layout, ciphertexts): (Option<Value>, Option<CiphertextSummary>)) -> Facts {
    Facts { layout, ciphertexts, ..Facts::default() }
}

fn function(reader: &mut Reader<'_>) -> Result<Facts> {
    Ok(Facts { compiled: Some(Program::of(&Parcel::read(&(), reader)?)?.summary()), ..Facts::default() })
}

fn retrieval(reader: &mut Reader<'_>) -> Result<Facts> {
    let plan = retrieval::Plan::read(&Parcel::read(&(), reader)?)?;
    let (parameters, layout) = (vec![Integers(plan.parameters().clone())], Some(plan.to_json()));
    Ok(Facts { parameters, layout, ..Facts::default() })
}

fn intersection(reader: &mut Reader<'_>) -> Result<Facts> {
    let plan = retrieval::intersection::Plan::read(&Parcel::read(&(), reader)?)?;
    let (parameters, layout) = (vec![Integers(plan.parameters().clone())], Some(plan.to_json()));
    Ok(Facts { parameters, layout, ..Facts::default() })
}

fn session(reader: &mut Reader<'_>) -> Result<Facts> {
    let session = Session::read(&Parcel::read(&(), reader)?)?;
    let mut layout = session.to_json();
    layout["session"] = Record::hexadecimal(&session.digest()).into();
    let (parameters, layout) = (vec![Integers(session.parameters().clone())], Some(layout));
    Ok(Facts { parameters, layout, ..Facts::default() })
}

fn of_party<P: Purpose>(reader: &mut Reader<'_>) -> Result<Facts> {
    let layout = owners::outline(&Parcel::<P>::read(&(), reader)?);
    Ok(Facts { layout: Some(layout), ..Facts::default() })
}

fn request(reader: &mut Reader<'_>) -> Result<Facts> {
    let layout = owners::Request::outline(&Parcel::read(&(), reader)?);
    Ok(Facts { layout: Some(layout), ..Facts::default() })
}

fn contents(reader: &mut Reader<'_>) -> Result<Facts> {
    Ok(Facts { contents: Content::all(reader)?, ..Facts::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kinds without a description: parts of other objects and what needs parameters to be told of. A new kind is one of
    /// these by a decision.
    const HEADER_SAYS_ALL: [Kind; 24] = [
        Kind::PARAMETERS,
        Kind::SECRET_KEY,
        Kind::PUBLIC_KEY,
        Kind::EVALUATION_KEYS,
        Kind::PLAINTEXT,
        Kind::CIPHERTEXT,
        Kind::KEY_SWITCH_KEY,
        Kind::JOINT_KEY_SHARE,
        Kind::REENCRYPTION_KEY,
        Kind::RECEIVER_KEY,
        Kind::TORUS_PARAMETERS,
        Kind::TORUS_SECRET,
        Kind::TORUS_KEYS,
        Kind::CIRCUIT_KEYS,
        Kind::TORUS_LIGHT_KEYS,
        Kind::SWITCH_KEYS,
        Kind::CKKS_PLAINTEXT,
        Kind::INTEGER_PLAINTEXT,
        Kind::SLOT_MATRIX,
        Kind::PREPARED_SLOT_MATRIX,
        Kind::TFHE_CIPHERTEXTS,
        Kind::TFHE_BITS,
        Kind::TFHE_INTEGERS,
        Kind::TFHE_SEEDED_CIPHERTEXTS,
    ];

    #[test]
    fn every_kind_has_one_description_or_a_header_that_says_all() {
        for kind in Kind::ALL {
            let described = DESCRIPTIONS.iter().filter(|(of, _)| *of == kind).count();
            let listed = HEADER_SAYS_ALL.iter().filter(|of| **of == kind).count();
            assert_eq!(described + listed, 1, "{kind}");
        }
        assert_eq!(DESCRIPTIONS.len() + HEADER_SAYS_ALL.len(), Kind::ALL.len());
    }
}
