//! The messages that one party sends.

use std::collections::BTreeSet;
use std::path::Path;

use noren_math::random::Seed;
use noren_ring::poly::{Eval, Poly};
use noren_rlwe::ciphertext::Plaintext as Row;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::joint::generator::ShareGenerator;
use noren_rlwe::joint::opening::Opener;
use noren_rlwe::joint::share::Extent;
use noren_rlwe::joint::threshold::weighted;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::SecretKey;
use noren_rlwe::owner::KeyId;
use noren_rlwe::security::SecretDistribution;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::publish::Destination;
use noren_rlwe::wire::reader::Limits;
use noren_rlwe::wire::writer::Form;

use crate::backends::backend::Record;
use crate::backends::parcel::{JointParty, Parcel};
use crate::owners::channel::Mailbox;
use crate::owners::message::{Message, Round, Shares};
use crate::owners::parts::{Given, Pairs};
use crate::owners::request::{Part, Request, digest};
use crate::owners::session::Session;
use crate::owners::transcript::{Transcript, commitment};

/// A party: its part of the secret, what it has sent and received, and what it has opened.
///
/// All that it sends follows from one seed, the session and the messages of the others: after a restart with the same seed and
/// messages it sends the same bytes. A share of a decryption follows from the ciphertext too, so that nobody gets two for one.
pub struct Party {
    number: usize,
    seed: Seed,
    secret: SecretKey,
    transcript: Transcript,
    /// The share that it has committed to and not sent, unless it was restarted in between.
    promised: Option<Vec<u8>>,
    /// What it needs to open results, once all shares are there.
    ready: Option<Ready>,
    /// The digests of the ciphertexts that were opened.
    opened: BTreeSet<[u8; 32]>,
}

/// What a party opens results with.
struct Ready {
    /// The identity of the joint secret.
    key: KeyId,
    pairs: Pairs,
    /// Its part of the joint secret, if some parties open results.
    part: Option<Poly<Eval>>,
}

impl Party {
    /// The party of this name. The seed is as secret as its part of the secret.
    ///
    /// # Errors
    /// A name that the session does not have.
    pub fn new(session: &Session, name: &str, seed: &Seed) -> Result<Self> {
        Self::of(session, session.party(name)?, seed.derive("noren joint party"))
    }

    fn of(session: &Session, number: usize, seed: Seed) -> Result<Self> {
        let bound = seed.derive(&Record::hexadecimal(&session.digest())).derive(&number.to_string());
        let generator = KeyGenerator::new(session.context().rlwe(), bound.derive("secret"));
        let secret = generator.ephemeral_secret("party", SecretDistribution::Ternary)?;
        let transcript = Transcript::new(session);
        Ok(Self { number, seed, secret, transcript, promised: None, ready: None, opened: BTreeSet::new() })
    }

    /// The party that [`Party::to_bytes`] wrote, as it was before any message.
    ///
    /// # Errors
    /// Bytes of a party of another session.
    pub fn from_bytes(session: &Session, bytes: &[u8]) -> Result<Self> {
        Self::read(session, &Parcel::from_bytes(&(), bytes)?)
    }

    /// The party whose secret [`Party::write_secret`] wrote, as it was before any message.
    ///
    /// # Errors
    /// As [`Party::from_bytes`], and [`Error::Io`] with the path.
    pub fn read_secret(session: &Session, path: &Path) -> Result<Self> {
        Self::read(session, &Parcel::read_file(&(), path, &Limits::default())?)
    }

    fn read(session: &Session, parcel: &Parcel<JointParty>) -> Result<Self> {
        let refused = |found: &str| Error::parameter("secret of a party", found, "that of a party of this session");
        if parcel.fingerprint != session.digest() {
            return Err(refused("one of another session"));
        }
        let [head, seed] = &parcel.items[..] else { return Err(refused("damaged")) };
        let number = <[u8; 8]>::try_from(&head[..]).map(u64::from_le_bytes).ok();
        let number = number.and_then(|number| usize::try_from(number).ok());
        let number = number.filter(|&number| number < session.names().len()).ok_or_else(|| refused("damaged"))?;
        let seed = <[u8; 32]>::try_from(&seed[..]).map_err(|_| refused("damaged"))?;
        Self::of(session, number, Seed::from_bytes(seed))
    }

    /// The secret of the party, as bytes that belong into a file that only it can read.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.parcel().to_bytes(&(), Form::Packed)
    }

    fn parcel(&self) -> Parcel<JointParty> {
        let items = vec![(self.number as u64).to_le_bytes().to_vec(), self.seed.as_bytes().to_vec()];
        Parcel::new(self.session().digest(), items)
    }

    /// Writes the secret of the party to a file of mode 0600.
    ///
    /// # Errors
    /// As [`Object::write_file`].
    pub fn write_secret(&self, to: Destination<'_>) -> Result<()> {
        self.parcel().write_file(&(), Form::Packed, to)
    }

    /// The session.
    #[must_use]
    pub const fn session(&self) -> &Session {
        self.transcript.session()
    }

    /// Its number among the parties.
    #[must_use]
    pub const fn number(&self) -> usize {
        self.number
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.session().names()[self.number]
    }

    /// The messages that it knows.
    #[must_use]
    pub const fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Takes messages of the parties in one round, and gives the own one of the next: without messages that of the first round, and none
    /// after the last. It is the same whenever it is asked for.
    ///
    /// # Errors
    /// As [`Transcript::add`]; [`Error::Length`] names parties whose messages of this round or of one before are missing.
    pub fn next(&mut self, messages: &[Vec<u8>]) -> Result<Option<Vec<u8>>> {
        let mut next = 0;
        for message in messages {
            next = next.max(self.transcript.add(message)?.number() + 1);
        }
        let rounds = self.transcript.rounds();
        rounds[..next].iter().try_for_each(|&round| self.transcript.complete(round))?;
        let Some(&round) = rounds.get(next) else { return Ok(None) };
        if !self.transcript.has(self.number, round) {
            let body = self.body(round)?;
            self.transcript.insert(Message::new(self.session(), self.number, round, body))?;
        }
        Ok(self.transcript.message(self.number, round).map(<[u8]>::to_vec))
    }

    /// Takes messages, its own from before a restart too, without an answer.
    ///
    /// # Errors
    /// As [`Transcript::add`].
    pub fn take(&mut self, messages: &[Vec<u8>]) -> Result<()> {
        messages.iter().try_for_each(|message| self.transcript.add(message).map(drop))
    }

    /// The body of its message in a round; those before are complete.
    fn body(&mut self, round: Round) -> Result<Vec<u8>> {
        let string = || [&self.bound().derive("string").as_bytes()[..], &self.mailbox().key()].concat();
        let committed = |body: &[u8]| commitment(self.session(), self.number, round, body).to_vec();
        match round {
            Round::Commit => Ok(committed(&string())),
            Round::Reveal => Ok(string()),
            Round::Promise => {
                let share = self.share(Round::Share)?;
                let body = [committed(&share), self.given()?.promise(self.session(), &self.secret)?].concat();
                self.promised = Some(share);
                Ok(body)
            }
            Round::Share => self.promised.take().map_or_else(|| self.share(round), Ok),
            Round::Relinearize => self.share(round),
        }
    }

    /// Its share of keys in a round of shares.
    fn share(&self, round: Round) -> Result<Vec<u8>> {
        let (session, rlwe) = (self.session(), self.session().context().rlwe());
        let (seed, common) = (self.bound().derive("shares"), self.transcript.common()?);
        let generator = ShareGenerator::new(rlwe, &self.secret, &seed, &common)?;
        let share = match round {
            Round::Relinearize => {
                generator.second(session.request(), &self.transcript.sum(Round::Share, Extent::Relinearization)?)?
            }
            _ => generator.first(session.request())?,
        };
        Ok(share.to_bytes(rlwe, Form::Packed))
    }

    /// The seeds that it gives to the others.
    fn given(&self) -> Result<Given> {
        let common = Record::hexadecimal(self.transcript.common()?.as_bytes());
        let seed = self.bound().derive("pairs").derive(&common);
        Given::new(self.session(), self.number, &seed, &self.transcript.mailboxes()?)
    }

    fn mailbox(&self) -> Mailbox {
        Mailbox::new(&self.bound().derive("mailbox"))
    }

    /// What it opens results with.
    ///
    /// # Errors
    /// [`Error::Length`] names the parties whose shares of the keys are missing; promises that are damaged.
    fn ready(&mut self) -> Result<&Ready> {
        if self.ready.is_none() {
            self.ready = Some(self.made_ready()?);
        }
        Ok(self.ready.as_ref().expect("it is"))
    }

    fn made_ready(&self) -> Result<Ready> {
        let key = self.transcript.public_key()?.owner().key;
        let (session, promises) = (self.session(), self.transcript.bodies(Round::Promise)?);
        let pairs = Pairs::read(session, &self.mailbox(), self.given()?, &promises)?;
        let part = session.threshold().map(|_| pairs.part(session, &self.secret, &promises)).transpose()?;
        Ok(Ready { key, pairs, part })
    }

    /// The identity of the joint secret, which is that of its public key.
    ///
    /// # Errors
    /// [`Error::Length`] names the parties whose shares of the keys are missing; promises that are damaged.
    pub fn key_id(&mut self) -> Result<KeyId> {
        Ok(self.ready()?.key)
    }

    /// How many ciphertexts it may still open.
    #[must_use]
    pub fn results_left(&self) -> u64 {
        self.session().opening().results.saturating_sub(self.opened.len() as u64)
    }

    /// How many of the results that are left it takes to open what is requested together with the parties of these names: those that were
    /// opened before take none.
    ///
    /// # Errors
    /// [`Error::Parameters`] beyond the results that the session is for, and for parties that do not open results.
    pub fn results_for(&self, request: &Request, among: Option<&[&str]>) -> Result<u64> {
        Ok(self.unopened(request, &self.openers(among)?)?.len() as u64)
    }

    /// The numbers of the parties that open a result together, of which it is one.
    fn openers(&self, among: Option<&[&str]>) -> Result<Vec<usize>> {
        let among = self.session().openers(among)?;
        if among.contains(&self.number) {
            return Ok(among);
        }
        let found = format!("none of them is {:?}", self.name());
        Err(Error::parameter("parties that open a result", found, "those that send shares"))
    }

    /// The digests of the ciphertexts that these parties did not open before, if there are results left for them.
    fn unopened(&self, request: &Request, among: &[usize]) -> Result<BTreeSet<[u8; 32]>> {
        let (session, results) = (self.session(), self.session().opening().results);
        let digests = request.parts().iter().map(|part| digest(session, among, &[part.hash]));
        let new: BTreeSet<[u8; 32]> = digests.filter(|digest| !self.opened.contains(digest)).collect();
        let all = (self.opened.len() + new.len()) as u64;
        if all > results {
            let found = format!("{all} with those that were opened before");
            let needed = format!("at most {results}, as the session was planned for: begin a new one");
            return Err(Error::parameter("results", found, needed));
        }
        Ok(new)
    }

    /// Counts a ciphertext as opened, as a log says.
    pub(super) fn count_opened(&mut self, digest: [u8; 32]) {
        self.opened.insert(digest);
    }

    /// The shares of the party in the decryption of what is requested, for [`Session::opened`]. Whoever has those of all parties learns the
    /// messages: a party that keeps its own is the only one to learn them.
    ///
    /// `among` are the names of the parties that open them together, where the session says that not all do. The same ciphertext opened
    /// by others counts as another result.
    ///
    /// # Errors
    /// [`Error::Parameters`] beyond the results that the session is for; [`Error::Length`] before all shares of keys are there; ciphertexts of
    /// another secret, and [`IntegerError::NoiseExhausted`](crate::bfv::IntegerError::NoiseExhausted) for those whose noise its flood does
    /// not hide.
    pub fn open(&mut self, request: &Request, among: Option<&[&str]>) -> Result<Vec<u8>> {
        self.open_logged(request, among, |_| Ok(()))
    }

    /// As [`Party::open`]. `log` gets the digests of ciphertexts that are opened for the first time; without it nothing is opened.
    pub(super) fn open_logged(
        &mut self,
        request: &Request,
        among: Option<&[&str]>,
        log: impl FnOnce(&BTreeSet<[u8; 32]>) -> Result<()>,
    ) -> Result<Vec<u8>> {
        self.ready()?;
        let Some(Ready { key, pairs, part }) = &self.ready else { unreachable!("it is") };
        let (session, opening) = (self.session(), self.session().opening());
        let among = self.openers(among)?;
        let new = self.unopened(request, &among)?;
        let seed = self.bound().derive("openings");
        let of_session = Seed::from_bytes(digest(session, &among, &[]));
        let part = part.as_ref().map(|part| weighted(session.context().rlwe(), part, &among, self.number));
        let masks = pairs.masks(&among);
        let opener = Opener { secret: &self.secret, part: part.as_ref(), seed: &seed, masks: &masks };
        let share = |part: &Part| {
            let (second, of_session) = ((&part.second, part.noise_budget), (*key, &of_session));
            Ok(Row { poly: opening.share(session.context(), &opener, of_session, second)? })
        };
        let shares = request.parts().iter().map(share).collect::<Result<Vec<_>>>()?;
        let message = Shares { party: self.number, among, shares }.to_bytes(session, &request.digest(session));
        log(&new)?;
        self.opened.extend(new);
        Ok(message)
    }

    /// The seed of this party in this session: another session has another, whatever is given twice.
    fn bound(&self) -> Seed {
        self.seed.derive(&Record::hexadecimal(&self.session().digest())).derive(&self.number.to_string())
    }
}
