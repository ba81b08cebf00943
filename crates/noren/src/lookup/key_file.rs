//! All that a server needs for lookups, as one file: the parameters, what the keys were planned for, and the keys.

use std::path::Path;
use std::sync::Arc;

use noren_math::cyclotomic::Cyclotomic;
use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::key_use::KeyUse;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::{EvaluationKeys, KeyOutline, KeySwitchKey, SecretKey};
use noren_rlwe::owner::Owner;
use noren_rlwe::shape::KeyShape;
use noren_rlwe::wire::expanded::{MappedContainer, write_to_map};
use noren_rlwe::wire::file;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::publish::Destination;
use noren_rlwe::wire::reader::{Limits, Reader};
use noren_rlwe::wire::section::Section;
use noren_rlwe::wire::writer::{Form, Writer};

use crate::lookup::keys::LookupKeys;
use crate::lookup::layout::Layout;
use crate::lookup::plan::{LookupPlan, Method};
use crate::schemes::bfv::{Context, KeyRequest, Parameters};

/// The domain of x and of y, and the baby steps.
const DOMAIN: u16 = 0x01;
/// A key: its set, and the exponent of its automorphism, 0 where it has none.
const NAME: u16 = 0x01;

/// The sets of keys, in their order in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Set {
    /// From the usual secret to the sparse one.
    ToSparse,
    /// From the sparse secret to the usual one.
    FromSparse,
    /// Of the usual shape: the relinearisation key of the evaluator.
    Usual,
    /// Under the sparse secret.
    Sparse,
}

/// The name of a key: its set and the exponent of its automorphism, 0 where it has none.
type Name = (Set, u32);

/// The keys of lookups with what they were made for: all that a server needs, and nothing that decrypts.
pub struct LookupKeyFile {
    /// The context of the ciphertexts.
    pub context: Context,
    /// The lookup that the keys were made for.
    pub plan: LookupPlan,
    /// The keys of the evaluator: relinearisation.
    pub evaluation: Arc<EvaluationKeys>,
    /// The keys of lookups.
    pub keys: LookupKeys,
}

impl LookupKeyFile {
    /// Makes all keys for a secret. The seed is as secret as the keys, and is used for nothing else; `progress` hears how many
    /// rotations are done, of how many.
    ///
    /// # Errors
    /// As [`LookupKeys::generate`], and [`Error::Parameters`] for a plan by [`Method::Linear`].
    pub fn generate(
        context: &Context,
        plan: &LookupPlan,
        secret: &SecretKey,
        seed: Seed,
        progress: Option<&dyn Fn(usize, usize)>,
    ) -> Result<Self> {
        if plan.method() != Method::Fast {
            return Err(Error::parameter("method", "Linear", "Fast: the other one is there to compare with"));
        }
        let request = KeyRequest { relinearization: true, ..KeyRequest::default() };
        let request = context.automorphisms_of(&request)?;
        let usual = KeyGenerator::new(context.rlwe(), seed.derive("evaluator"));
        let evaluation = Arc::new(usual.evaluation_keys(secret, &request, None)?);
        let keys = LookupKeys::generate(context, seed.derive("lookup"), secret, plan, progress)?;
        Ok(Self { context: context.clone(), plan: plan.clone(), evaluation, keys })
    }

    /// The parameters, and the secret key whose numbers are looked up.
    #[must_use]
    pub fn owner(&self) -> Owner {
        self.evaluation.owner()
    }

    /// Refuses functions of another plan than these keys serve: with another shape of keys, or rotations that are not there.
    ///
    /// # Errors
    /// [`Error::KeyShape`] and [`Error::MissingKey`], which names what is missing.
    pub fn check(&self, plan: &LookupPlan) -> Result<()> {
        for (found, needed) in [(self.plan.entry_shape(), plan.entry_shape()), (self.plan.shape(), plan.shape())] {
            if found != needed {
                return Err(Error::KeyShape { what: "the lookup keys", found, needed });
            }
        }
        let exponents = plan.rotations().into_iter().map(|steps| plan.layout().rotation_exponent(steps));
        let needed = exponents.chain([plan.layout().swap_exponent()]).map(|k| (k, plan.limbs()));
        // The plan makes these keys, and not the context.
        self.keys.sparse.check(Some(plan.limbs()), needed).map_err(|error| match error {
            Error::MissingKey { kind, available, .. } => Error::MissingKey { kind, available, keys: Vec::new() },
            Error::KeyLevel { kind, found, needed, .. } => Error::KeyLevel { kind, found, needed, key: None },
            error => error,
        })
    }

    /// Writes the keys as they lie in memory to a file that can be mapped, as a whole or not at all; gives its bytes.
    ///
    /// # Errors
    /// As [`write_to_map`], and [`Error::FileChanged`] for mapped keys whose file has changed.
    pub fn write_expanded<'p>(&self, to: impl Into<Destination<'p>>) -> Result<u64> {
        let mut writer = Writer::new(Kind::EXPANDED_LOOKUP_KEYS, self.fingerprint(&()), Form::Raw);
        self.write_items(&mut writer, |key, writer| key.write_expanded(self.context.rlwe(), writer));
        write_to_map(to.into(), &writer, "disk for expanded lookup keys", || self.check_files())
    }

    /// The keys in a file of [`LookupKeyFile::write_expanded`], used where they lie: nothing is copied, and processes that map the
    /// same file share one copy. `limits.check_digest` says whether the whole file is read and checked now; if not, only its
    /// frame, its parameters and the names of its keys are, and its pages come from the disk when they are first used.
    ///
    /// An expanded file serves the machine that it was made on. Whoever can write to it must be trusted: see
    /// [`MappedFile`](noren_math::machine::mapped::MappedFile).
    ///
    /// # Errors
    /// [`Error::Io`] with the path, [`Error::WrongKind`], [`Error::Wire`] if the file was damaged, and what the parameters refuse.
    pub fn map(path: &Path, limits: &Limits) -> Result<Self> {
        let container = MappedContainer::open(path)?;
        let mut reader = container.reader(Kind::EXPANDED_LOOKUP_KEYS, limits)?;
        let file = Self::read_items(&mut reader, |context, reader| {
            KeySwitchKey::map_expanded(context.rlwe(), reader, &container, limits.check_digest)
        })?;
        reader.check_fingerprint(&file.fingerprint(&()))?;
        reader.finish()?;
        Ok(file)
    }

    /// The keys in a file of either kind: read, or mapped.
    ///
    /// # Errors
    /// As [`Object::read_file`] and [`LookupKeyFile::map`].
    pub fn open(path: &Path, limits: &Limits) -> Result<Self> {
        match file::kind(path)? {
            Some(Kind::EXPANDED_LOOKUP_KEYS) => Self::map(path, limits),
            _ => Self::read_file(&(), path, limits),
        }
    }

    /// The context, and the use and the outline of each key, in a container of either kind. Nothing is expanded.
    pub(crate) fn skim(reader: &mut Reader<'_>) -> Result<(Context, Vec<(String, KeyOutline)>)> {
        let context = Context::new(Parameters::read(&(), reader)?)?;
        reader.next_item()?;
        let (first, others) = needed(&context, &read_plan(context.parameters(), reader)?);
        let ring = context.parameters().rlwe().index();
        let key = |(name, ..): Needed| {
            reader.next_item()?;
            check_name(&reader.take(NAME)?, name)?;
            Ok((usage(name, ring), KeySwitchKey::skim(context.rlwe(), reader)?))
        };
        let keys = first.into_iter().chain(others).map(key).collect::<Result<_>>()?;
        Ok((context, keys))
    }

    /// The keys with their names, in the order of the names.
    fn named(&self) -> impl Iterator<Item = (Name, &KeySwitchKey)> {
        let switches =
            self.keys.switches.iter().flat_map(|[enter, exit]| [(Set::ToSparse, enter), (Set::FromSparse, exit)]);
        let switches = switches.map(|(set, key)| ((set, 0), key));
        let of_set = |set: Set, keys| {
            let keys: &EvaluationKeys = keys;
            let relinearization = keys.relinearization(1).ok().map(|key| ((set, 0), &**key));
            relinearization.into_iter().chain(keys.automorphisms().map(move |(k, key)| ((set, k), &**key)))
        };
        switches.chain(of_set(Set::Usual, &self.evaluation)).chain(of_set(Set::Sparse, &self.keys.sparse))
    }
}

/// The use of a key.
fn usage((set, exponent): Name, ring: &Cyclotomic) -> String {
    match set {
        Set::ToSparse => "the switch to the sparse secret".to_owned(),
        Set::FromSparse => "the switch from the sparse secret".to_owned(),
        Set::Usual => format!("{} of one-hot vectors", KeyUse::of_element(exponent, ring)),
        Set::Sparse => format!("{} of the matrix", KeyUse::of_element(exponent, ring)),
    }
}

/// The name of a key, its shape and its limbs.
type Needed = (Name, KeyShape, usize);

/// All keys of a plan, in order: to the sparse secret, from it, of the usual shape; then those under the sparse secret.
fn needed(context: &Context, plan: &LookupPlan) -> ([Needed; 3], Vec<Needed>) {
    let (parameters, sparse) = (context.parameters(), plan.shape());
    let mut exponents: Vec<u32> =
        plan.rotations().iter().map(|&steps| plan.layout().rotation_exponent(steps)).collect();
    exponents.extend([0, plan.layout().swap_exponent()]);
    exponents.sort_unstable();
    exponents.dedup();
    let usual = parameters.rlwe().shape();
    let switches = [
        ((Set::ToSparse, 0), plan.entry_shape(), plan.entry_limbs()),
        ((Set::FromSparse, 0), sparse, plan.limbs()),
        ((Set::Usual, 0), usual, parameters.max_limbs()),
    ];
    (switches, exponents.into_iter().map(|k| ((Set::Sparse, k), sparse, plan.limbs())).collect())
}

impl Object for LookupKeyFile {
    type Context = ();
    const KIND: Kind = Kind::LOOKUP_KEYS;

    fn needed_fingerprint((): &()) -> Option<[u8; 32]> {
        None
    }

    fn fingerprint(&self, (): &()) -> [u8; 32] {
        self.context.parameters().fingerprint()
    }

    fn check_files(&self) -> Result<()> {
        self.evaluation.check_files()?;
        self.keys.check_files()
    }

    fn write<'a>(&'a self, (): &'a (), writer: &mut Writer<'a>) {
        self.write_items(writer, |key, writer| key.write(self.context.rlwe(), writer));
    }

    /// Reads the parameters, plans again, and takes exactly the keys of the plan. Whether the security of the parameters is
    /// enough is for the caller to say.
    fn read((): &(), reader: &mut Reader<'_>) -> Result<Self> {
        Self::read_items(reader, |context, reader| KeySwitchKey::read(context.rlwe(), reader))
    }
}

impl LookupKeyFile {
    /// Adds the parameters, the plan, and an item for each key, its sections by `write`.
    fn write_items<'a>(&'a self, writer: &mut Writer<'a>, write: impl Fn(&'a KeySwitchKey, &mut Writer<'a>)) {
        self.context.parameters().write(&(), writer);
        writer.next_item();
        let layout = self.plan.layout();
        let [x, y] = layout.domain();
        writer.words(DOMAIN, [x, y, layout.babies()].map(|count| count as u64).to_vec());
        for ((set, exponent), key) in self.named() {
            writer.next_item();
            writer.words(NAME, vec![set as u64, u64::from(exponent)]);
            write(key, writer);
        }
    }

    /// Takes what [`LookupKeyFile::write_items`] wrote, the sections of a key by `read`.
    fn read_items<'r>(
        reader: &mut Reader<'r>,
        read: impl Fn(&Context, &mut Reader<'r>) -> Result<KeySwitchKey>,
    ) -> Result<Self> {
        let context = Context::new(Parameters::read(&(), reader)?)?;
        reader.next_item()?;
        let plan = read_plan(context.parameters(), reader)?;
        let ([to_sparse, from_sparse, usual], others) = needed(&context, &plan);
        let mut next = |needed| read_key(reader, needed, |reader| read(&context, reader));
        let (enter, exit) = (next(to_sparse)?, next(from_sparse)?);
        enter.owner().key.check(exit.from(), "the sparse secret of the key from it")?;
        enter.from().check(exit.owner().key, "the key from the sparse secret")?;
        let parameters = context.parameters().rlwe();
        let mut evaluation = EvaluationKeys::new(parameters, enter.from());
        evaluation.insert_relinearization(Arc::new(next(usual)?))?;
        let mut sparse = EvaluationKeys::shaped(parameters, plan.shape(), enter.owner().key);
        for needed in others {
            let key = Arc::new(next(needed)?);
            match needed.0 {
                (_, 0) => sparse.insert_relinearization(key)?,
                (_, k) => sparse.insert_galois(k, key)?,
            }
        }
        let keys = LookupKeys { switches: Some([enter, exit]), sparse };
        Ok(Self { context, plan, evaluation: Arc::new(evaluation), keys })
    }
}

/// The key in the next item, which must be this one, its sections by `read`.
fn read_key<'r>(
    reader: &mut Reader<'r>,
    (name, shape, limbs): Needed,
    read: impl Fn(&mut Reader<'r>) -> Result<KeySwitchKey>,
) -> Result<KeySwitchKey> {
    reader.next_item()?;
    let section = reader.take(NAME)?;
    check_name(&section, name)?;
    let key = read(reader)?;
    if key.shape() != shape {
        return Err(Error::KeyShape { what: "a key of lookups", found: key.shape(), needed: shape });
    }
    if key.limbs() != limbs {
        return Err(section.value("the limbs of a key", key.limbs(), limbs));
    }
    Ok(key)
}

/// The plan that the words of a domain give.
fn read_plan(parameters: &Parameters, reader: &mut Reader<'_>) -> Result<LookupPlan> {
    let section = reader.take(DOMAIN)?;
    let [x, y, babies] = section.word_array()?.map(|word: u64| usize::try_from(word).unwrap_or(usize::MAX));
    let layout = Layout::new(parameters.degree(), parameters.modulus().value(), [x, y])?;
    LookupPlan::with_layout(parameters, layout.with_baby_steps(babies)?)
}

fn check_name(section: &Section<'_>, (set, exponent): Name) -> Result<()> {
    let found: [_; 2] = section.word_array()?;
    let needed = [set as u64, u64::from(exponent)];
    if found == needed {
        Ok(())
    } else {
        Err(section.value("the name of a key", format!("{found:?}"), format!("{needed:?}")))
    }
}
