//! The session of a joint secret: what its parties agree on.

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::key_request::KeyRequest as RlweRequest;
use noren_rlwe::keys::{EvaluationKeys, PublicKey};
use noren_rlwe::wire::object::Object;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use crate::backends::backend::Record;
use crate::backends::description::{Description, refused};
use crate::backends::parcel::{JointSession, Parcel, Purpose};
use crate::schemes::integers::{Context, KeyRequest, Opening, Parameters};

/// What the parties agree on before any has a key: parameters, names, keys, and what they will open. Public.
///
/// # Examples
/// ```
/// use noren::bfv::{Context, Encoder, Encryptor, Evaluator, KeyRequest, Opening, ParametersSpec};
/// use noren::owners::{Party, Request, Session};
/// use noren::{Security, Seed};
///
/// // A small ring for the example: `Requirements::choose` finds parameters of 128 bits that leave room for the floods.
/// let opening = Opening { parties: 2, results: 1, distance: 64 };
/// let spec = ParametersSpec {
///     log_n: 10,
///     plaintext_modulus: 12289,
///     log_q: vec![40; 3],
///     log_p: vec![40],
///     secret: opening.secret(),
///     security: Security::None,
///     ..ParametersSpec::default()
/// };
/// let context = Context::new(spec.build()?)?;
/// let session = Session::new(context.parameters(), &["north", "south"], &KeyRequest::default(), opening, &Seed::random()?)?;
///
/// // Each party with a secret of its own; the messages travel as files.
/// let mut parties = ["north", "south"].map(|name| Party::new(&session, name, &Seed::random().expect("a seed")).expect("named"));
/// let mut messages = vec![];
/// loop {
///     let sent = parties.iter_mut().map(|party| party.next(&messages)).collect::<noren::Result<Vec<_>>>()?;
///     messages = sent.into_iter().flatten().collect();
///     if messages.is_empty() {
///         break;
///     }
/// }
/// let keys = parties[0].transcript().keys()?;
///
/// let plaintext = Encoder::new(&context).encode(&[1, 2, 3])?;
/// let x = Encryptor::public(&context, &keys.public, Seed::random()?)?.encrypt(&plaintext)?;
/// let sum = Evaluator::new(&context, keys.evaluation)?.add(&x, &x)?;
///
/// let request = Request::new(&session, &[&sum])?;
/// let shares = parties.iter_mut().map(|party| party.open(&request, None)).collect::<noren::Result<Vec<_>>>()?;
/// let opened = session.opened(&[&sum], &shares)?;
/// assert_eq!(Encoder::new(&context).decode(&opened[0])?[..3], [2, 4, 6]);
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Clone)]
pub struct Session(Arc<Inner>);

struct Inner {
    description: Description<Text>,
    context: Context,
    request: RlweRequest,
}

/// The keys that follow from the messages of all parties.
pub struct JointKeys {
    /// Encrypts. It gives the joint secret its identity.
    pub public: PublicKey,
    /// Evaluates; nothing in it decrypts.
    pub evaluation: Arc<EvaluationKeys>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    names: Vec<String>,
    results: u64,
    distance: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    threshold: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    relinearization: Option<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    automorphisms: Vec<(u32, usize)>,
    /// Tells apart sessions that agree on the same.
    nonce: String,
}

/// The bytes of a name.
const NAME_BYTES: std::ops::RangeInclusive<usize> = 1..=64;

impl Session {
    /// The session of parties with these names, in this order. The seed tells sessions apart that agree on the same; it is no secret.
    ///
    /// # Errors
    /// Parameters of other parties than the [`Opening`] is for, or without room for its floods; names that are empty, too long or twice
    /// there; what [`Context::automorphisms_of`] refuses.
    pub fn new(
        parameters: &Parameters,
        names: &[&str],
        request: &KeyRequest,
        opening: Opening,
        seed: &Seed,
    ) -> Result<Self> {
        let context = Context::new(parameters.clone())?;
        let RlweRequest { relinearization, mut galois } = context.automorphisms_of(request)?;
        // In one order, so that the same request is the same session.
        galois.sort_unstable();
        galois.dedup();
        let nonce = Record::hexadecimal(seed.derive("noren joint session").as_bytes());
        let names = names.iter().map(|&name| name.to_owned()).collect();
        let Opening { results, distance, .. } = opening;
        let text = Text { names, results, distance, threshold: None, relinearization, automorphisms: galois, nonce };
        let session = Self::of(Description::new(text, parameters.clone()), context)?;
        if session.opening() == opening {
            return Ok(session);
        }
        Err(Error::parameter("names", session.names().len(), format!("one for each of {} parties", opening.parties)))
    }

    /// The same in which any `threshold` of the parties open results, without the others. All of them make the keys.
    ///
    /// # Errors
    /// [`Error::Parameters`] for fewer than two, or for all.
    pub fn with_threshold(&self, threshold: usize) -> Result<Self> {
        let text = Text { threshold: Some(threshold), ..self.0.description.text.clone() };
        Self::of(Description::new(text, self.parameters().clone()), self.0.context.clone())
    }

    fn of(description: Description<Text>, context: Context) -> Result<Self> {
        let Text { names, relinearization, automorphisms, threshold, .. } = &description.text;
        if let Some(threshold) = threshold.filter(|threshold| !(2..names.len()).contains(threshold)) {
            let needed = format!("2 to {}, or none: all parties", names.len().saturating_sub(1));
            return Err(Error::parameter("threshold", threshold, needed));
        }
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::parameter("names", format!("{:?} twice", twice[0]), "a different name for each party"));
        }
        let is_long = |name: &&String| !NAME_BYTES.contains(&name.len()) || name.chars().any(char::is_control);
        if let Some(name) = names.iter().find(is_long) {
            let needed = format!("{} to {} bytes, none of them controls", NAME_BYTES.start(), NAME_BYTES.end());
            return Err(Error::parameter("name of a party", format!("{name:?}"), needed));
        }
        let request = RlweRequest { relinearization: *relinearization, galois: automorphisms.clone() };
        automorphisms.iter().try_for_each(|&(k, _)| context.rlwe().check_automorphism(k))?;
        let session = Self(Arc::new(Inner { description, context, request }));
        session.opening().check()?;
        session.opening().check_parameters(session.parameters())?;
        Ok(session)
    }

    /// The session in these bytes.
    ///
    /// # Errors
    /// Bytes of no session, or of one that could not have been made.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::read(&Parcel::from_bytes(&(), bytes)?)
    }

    pub(crate) fn read(parcel: &Parcel<JointSession>) -> Result<Self> {
        let description = Description::read(parcel)?;
        let context = Context::new(description.parameters.clone())?;
        Self::of(description, context).map_err(|error| refused::<JointSession>(error.to_string()))
    }

    /// Its bytes, which every party has.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.description.to_bytes::<JointSession>()
    }

    /// The session as JSON, without its parameters.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(&self.0.description.text).expect("numbers and texts are JSON")
    }

    /// The digest by which messages name the session.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        self.0.description.digest()
    }

    /// The names of the parties, in their order.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.0.description.text.names
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        self.0.context.parameters()
    }

    /// What is opened.
    #[must_use]
    pub fn opening(&self) -> Opening {
        let Text { names, results, distance, .. } = &self.0.description.text;
        Opening { parties: names.len(), results: *results, distance: *distance }
    }

    /// How many parties open a result, if not all do.
    #[must_use]
    pub fn threshold(&self) -> Option<usize> {
        self.0.description.text.threshold
    }

    /// The keys that the parties make.
    #[must_use]
    pub fn request(&self) -> &RlweRequest {
        &self.0.request
    }

    /// The context of its parameters.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// The number of a party.
    ///
    /// # Errors
    /// [`Error::Parameters`] names all parties.
    pub fn party(&self, name: &str) -> Result<usize> {
        let found = self.names().iter().position(|known| known == name);
        found.ok_or_else(|| {
            Error::parameter("name of a party", format!("{name:?}"), format!("one of {}", self.names().join(", ")))
        })
    }

    /// The numbers of the parties that open a result, ascending: all of them, or these.
    ///
    /// # Errors
    /// [`Error::Parameters`] for names that the session does not have or that stand twice, and for more or fewer than open results.
    pub(super) fn openers(&self, among: Option<&[&str]>) -> Result<Vec<usize>> {
        let all = || (0..self.names().len()).collect();
        let members = among.map(|names| names.iter().map(|name| self.party(name)).collect::<Result<Vec<_>>>());
        self.checked_openers(members.transpose()?.unwrap_or_else(all))
    }

    /// Refuses parties that do not open a result together.
    pub(super) fn checked_openers(&self, mut members: Vec<usize>) -> Result<Vec<usize>> {
        members.sort_unstable();
        members.dedup();
        let count = self.threshold().unwrap_or(self.names().len());
        if members.len() == count && members.iter().all(|&party| party < self.names().len()) {
            return Ok(members);
        }
        let needed = match self.threshold() {
            Some(count) => format!("the names of {count} of {}", self.names().join(", ")),
            None => format!("all of them: {}", self.names().join(", ")),
        };
        Err(Error::parameter("parties that open a result", members.len(), needed))
    }

    /// Refuses a message, or shares, of another session.
    pub(super) fn check_message<P: Purpose>(&self, parcel: &Parcel<P>) -> Result<()> {
        self.check_fingerprint::<P>(&parcel.fingerprint)
    }

    /// The same for the fingerprint of a message.
    pub(super) fn check_fingerprint<P: Purpose>(&self, fingerprint: &[u8; 32]) -> Result<()> {
        self.0.description.check_fingerprint::<P>(fingerprint, "session")
    }

    /// The names of the parties of which something holds.
    pub(super) fn names_of(&self, holds: impl Fn(usize) -> bool) -> String {
        let names = self.names().iter().enumerate().filter(|&(party, _)| holds(party));
        names.map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(", ")
    }
}
