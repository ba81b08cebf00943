//! Several owners of one secret.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use noren::backends::Record;
use noren::bfv::{Encoder, KeyRequest, Opening};
use noren::owners::{Folder, JointKeys, Party, Request, Round, Session, Transcript};
use noren::schemes::integers::{Ciphertext, Plaintext, Scheme};
use noren_files::encrypted;
use noren_files::error::Result as FileResult;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use zeroize::Zeroizing;

use crate::admission::{USUAL, admit, warn};
use crate::array::detached;
use crate::errors::{raise, raise_of_files};
use crate::files::checked;
use crate::integers::classes::PyEncrypted;
use crate::integers::either::{Either, other_class};
use crate::integers::keys::{PyIntegerEvaluationKeys, PyIntegerPublicKey};
use crate::integers::parameters::PyIntegerParameters;
use crate::integers::plaintext::{Layout, check_read, read};
use crate::key_classes::KeyClass;
use crate::seeds::seed_of;
use crate::vectors::head;
use crate::whole::{Integers, whole};

/// What the parties of a joint secret agree on.
#[pyclass(frozen, name = "Session", module = "noren._noren.owners")]
pub(crate) struct PySession(Session);

/// The messages of all rounds of a session, and the keys that follow from them.
#[pyclass(frozen, name = "Transcript", module = "noren._noren.owners")]
pub(crate) struct PyTranscript(Mutex<Transcript>);

/// A party of a session, whose state is a folder.
#[pyclass(frozen, name = "Party", module = "noren._noren.owners")]
pub(crate) struct PyParty(Mutex<Folder>);

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn owned(messages: &[PyBackedBytes]) -> Vec<Vec<u8>> {
    messages.iter().map(|message| message.to_vec()).collect()
}

/// Calls with the ciphertexts, which are all of one scheme.
fn of_one_scheme<T>(
    ciphertexts: &[Bound<'_, PyEncrypted>],
    bgv: impl FnOnce(&[&noren::bgv::Ciphertext]) -> PyResult<T>,
    bfv: impl FnOnce(&[&noren::bfv::Ciphertext]) -> PyResult<T>,
) -> PyResult<T> {
    match ciphertexts.first().map(|first| &first.get().inner) {
        Some(Either::Bgv(_)) => bgv(&ciphertexts.iter().map(|x| x.get().bgv()).collect::<PyResult<Vec<_>>>()?),
        Some(Either::Bfv(_)) => bfv(&ciphertexts.iter().map(|x| x.get().bfv()).collect::<PyResult<Vec<_>>>()?),
        None => Err(other_class("Ciphertext")),
    }
}

#[pymethods]
impl PySession {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
    #[pyo3(
        signature = (parameters, names, *, results, distance = 64, relinearization = false,
            rotations = Integers::default(), swap = false, threshold = None, seed = None),
        text_signature = "(parameters, names, *, results, distance=64, relinearization=False, rotations=(), swap=False, threshold=None, seed=None)"
    )]
    fn new(
        py: Python<'_>,
        parameters: &PyIntegerParameters,
        names: Vec<String>,
        #[pyo3(from_py_with = whole)] results: u64,
        #[pyo3(from_py_with = whole)] distance: u32,
        relinearization: bool,
        rotations: Integers,
        swap: bool,
        #[pyo3(from_py_with = whole)] threshold: Option<usize>,
        seed: Option<&[u8]>,
    ) -> PyResult<Self> {
        warn(py, "a session", parameters.0.rlwe().security())?;
        let request = KeyRequest { relinearization, rotations: rotations.0, swap, ..KeyRequest::default() };
        let opening = Opening { parties: names.len(), results, distance };
        let (names, seed): (Vec<&str>, _) = (names.iter().map(String::as_str).collect(), seed_of(seed)?);
        detached(py, || {
            let session = Session::new(&parameters.0, &names, &request, opening, &seed)?;
            threshold.map_or(Ok(session.clone()), |threshold| session.with_threshold(threshold))
        })
        .map(Self)
    }

    /// The session that ``bytes(session)`` gave.
    ///
    /// Raises Error for other bytes, and InsecureError for parameters that promise fewer than `min_security` bits.
    #[staticmethod]
    #[pyo3(signature = (data, *, min_security = USUAL), text_signature = "(data, *, min_security=128)")]
    fn from_bytes(py: Python<'_>, data: &[u8], #[pyo3(from_py_with = whole)] min_security: u32) -> PyResult<Self> {
        let session = detached(py, || Session::from_bytes(data))?;
        admit(py, "the session", session.parameters().rlwe().security(), min_security)?;
        Ok(Self(session))
    }

    /// The names of the parties.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.names().to_vec()
    }

    /// The parameters.
    #[getter]
    fn parameters(&self) -> PyIntegerParameters {
        PyIntegerParameters(self.0.parameters().clone())
    }

    /// The most ciphertexts that are opened.
    #[getter]
    fn results(&self) -> u64 {
        self.0.opening().results
    }

    /// The bits of the statistical distance.
    #[getter]
    fn distance(&self) -> u32 {
        self.0.opening().distance
    }

    /// How many parties open a result; None: all.
    #[getter]
    fn threshold(&self) -> Option<usize> {
        self.0.threshold()
    }

    /// The digest by which messages name the session, in hexadecimal.
    #[getter]
    fn digest(&self) -> String {
        Record::hexadecimal(&self.0.digest())
    }

    /// The numbers in ciphertexts, from the shares of all parties.
    ///
    /// Raises Error that names parties whose shares are missing, for shares of others, and for two of one party.
    #[pyo3(signature = (ciphertexts, shares, *, signed = false, coefficients = false))]
    fn opened<'py>(
        &self,
        py: Python<'py>,
        ciphertexts: Vec<Bound<'py, PyEncrypted>>,
        shares: Vec<PyBackedBytes>,
        signed: bool,
        coefficients: bool,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let form = Layout::of(coefficients, false, false)?;
        ciphertexts.iter().try_for_each(|x| check_read(x.get().inner.content(), form))?;
        let shares = owned(&shares);
        let plaintexts = of_one_scheme(
            &ciphertexts,
            |all| self.plaintexts(py, all, &shares),
            |all| self.plaintexts(py, all, &shares),
        )?;
        let encoder = Encoder::new(self.0.context());
        let array = |plaintext: &Plaintext| {
            let (values, _) = read(&encoder, plaintext, form, signed).map_err(raise)?;
            head(values.into_pyarray(py).into_any(), plaintext.content().extent().values())
        };
        plaintexts.iter().map(array).collect()
    }

    /// The bytes of a request to open ciphertexts: their second parts, which are all that shares depend on.
    ///
    /// Raises Error for products that were not relinearised.
    fn request<'py>(
        &self,
        py: Python<'py>,
        ciphertexts: Vec<Bound<'py, PyEncrypted>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let request = self.asked(py, &ciphertexts)?;
        Ok(PyBytes::new(py, &detached(py, || Ok(request.to_bytes(&self.0)))?))
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }
}

impl PySession {
    fn asked(&self, py: Python<'_>, ciphertexts: &[Bound<'_, PyEncrypted>]) -> PyResult<Request> {
        let session = &self.0;
        of_one_scheme(
            ciphertexts,
            |all| detached(py, || Request::new(session, all)),
            |all| detached(py, || Request::new(session, all)),
        )
    }

    fn plaintexts<S: Scheme>(
        &self,
        py: Python<'_>,
        ciphertexts: &[&Ciphertext<S>],
        shares: &[Vec<u8>],
    ) -> PyResult<Vec<Plaintext>> {
        detached(py, || self.0.opened(ciphertexts, shares))
    }
}

#[pymethods]
impl PyTranscript {
    #[new]
    fn new(session: &PySession) -> Self {
        Self(Mutex::new(Transcript::new(&session.0)))
    }

    /// Takes messages of parties. Raises Error for those of another session, and for those that break the protocol.
    fn add(&self, py: Python<'_>, messages: Vec<PyBackedBytes>) -> PyResult<()> {
        let messages = owned(&messages);
        detached(py, || messages.iter().try_for_each(|message| lock(&self.0).add(message).map(drop)))
    }

    /// The rounds, in their order, each with the names of the parties whose messages are missing.
    fn missing(&self) -> Vec<(&'static str, Vec<String>)> {
        let transcript = lock(&self.0);
        let missing = |&round: &Round| {
            let names = transcript.missing(round).into_iter().map(str::to_owned).collect();
            (round.name(), names)
        };
        transcript.rounds().iter().map(missing).collect()
    }

    /// The public key and the evaluation keys. Raises Error that names parties whose messages are missing.
    fn keys(&self, py: Python<'_>) -> PyResult<(Py<PyIntegerPublicKey>, Py<PyIntegerEvaluationKeys>)> {
        keys_of(py, &lock(&self.0))
    }
}

fn keys_of(py: Python<'_>, transcript: &Transcript) -> PyResult<(Py<PyIntegerPublicKey>, Py<PyIntegerEvaluationKeys>)> {
    let JointKeys { public, evaluation } = detached(py, || transcript.keys())?;
    let context = transcript.session().context();
    let public = PyIntegerPublicKey::new(py, context, public)?;
    let evaluation = std::sync::Arc::unwrap_or_clone(evaluation);
    Ok((public, PyIntegerEvaluationKeys::new(py, context, evaluation)?))
}

#[pymethods]
impl PyParty {
    /// Makes a folder for a party, with a secret of its own.
    ///
    /// Raises FileExistsError for a folder that has one already, Error for a name that the session does not have.
    #[staticmethod]
    #[pyo3(signature = (path, session, name, *, passphrase = None, seed = None))]
    fn create(
        py: Python<'_>,
        path: PathBuf,
        session: &PySession,
        name: &str,
        passphrase: Option<String>,
        seed: Option<&[u8]>,
    ) -> PyResult<Self> {
        let (passphrase, seed) = (passphrase.map(checked).transpose()?, seed_of(seed)?);
        let create = || -> FileResult<Folder> {
            let party = Party::new(&session.0, name, &seed)?;
            Folder::create(&path, party, |party, to| {
                encrypted::write_secret(&Zeroizing::new(party.to_bytes()), to, passphrase.as_ref())
            })
        };
        let folder = detached(py, || Ok(create()))?.map_err(raise_of_files)?;
        Ok(Self(Mutex::new(folder)))
    }

    /// The party of a folder.
    ///
    /// Raises Error for a folder that another process has open, and for files that are damaged.
    #[staticmethod]
    #[pyo3(signature = (path, *, passphrase = None, min_security = USUAL),
        text_signature = "(path, *, passphrase=None, min_security=128)")]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        passphrase: Option<String>,
        #[pyo3(from_py_with = whole)] min_security: u32,
    ) -> PyResult<Self> {
        let passphrase = passphrase.map(checked).transpose()?;
        let open = || -> FileResult<Folder> {
            Folder::open(&path, |session, secret| {
                Ok(Party::from_bytes(session, &encrypted::read_secret(secret, passphrase.as_ref())?)?)
            })
        };
        let folder = detached(py, || Ok(open()))?.map_err(raise_of_files)?;
        admit(py, "the session", folder.party().session().parameters().rlwe().security(), min_security)?;
        Ok(Self(Mutex::new(folder)))
    }

    /// The session.
    #[getter]
    fn session(&self) -> PySession {
        PySession(lock(&self.0).party().session().clone())
    }

    /// Its name.
    #[getter]
    fn name(&self) -> String {
        lock(&self.0).party().name().to_owned()
    }

    /// How many ciphertexts it may still open.
    #[getter]
    fn results_left(&self) -> u64 {
        lock(&self.0).party().results_left()
    }

    /// Takes messages of the parties in one round, and gives the own one of the next; None after the last.
    fn next<'py>(&self, py: Python<'py>, messages: Vec<PyBackedBytes>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let messages = owned(&messages);
        let sent = detached(py, || lock(&self.0).next(&messages))?;
        Ok(sent.map(|sent| PyBytes::new(py, &sent)))
    }

    /// The messages that it has sent, with the names of their rounds.
    fn sent<'py>(&self, py: Python<'py>) -> Vec<(&'static str, Bound<'py, PyBytes>)> {
        let folder = lock(&self.0);
        let sent = |&round: &Round| Some((round.name(), PyBytes::new(py, folder.sent(round)?)));
        folder.party().transcript().rounds().iter().filter_map(sent).collect()
    }

    /// The public key and the evaluation keys. Raises Error that names parties whose messages are missing.
    fn keys(&self, py: Python<'_>) -> PyResult<(Py<PyIntegerPublicKey>, Py<PyIntegerEvaluationKeys>)> {
        keys_of(py, lock(&self.0).party().transcript())
    }

    /// Its shares in the decryption of ciphertexts, opened together by the parties with these names.
    ///
    /// Raises Error beyond the results that the session is for, and for ciphertexts with too much noise or of another key.
    #[pyo3(signature = (ciphertexts, among = None))]
    fn open<'py>(
        &self,
        py: Python<'py>,
        ciphertexts: Vec<Bound<'py, PyEncrypted>>,
        among: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let request = self.session().asked(py, &ciphertexts)?;
        self.shares(py, &request, among)
    }

    /// Its shares for what ``Session.request`` gave.
    ///
    /// Raises Error as ``open``, and for bytes of no request in this session.
    #[pyo3(signature = (request, among = None))]
    fn open_request<'py>(
        &self,
        py: Python<'py>,
        request: &[u8],
        among: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let PySession(session) = self.session();
        let request = detached(py, || Request::from_bytes(&session, request))?;
        self.shares(py, &request, among)
    }
}

impl PyParty {
    fn shares<'py>(
        &self,
        py: Python<'py>,
        request: &Request,
        among: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let among: Option<Vec<&str>> = among.as_ref().map(|names| names.iter().map(String::as_str).collect());
        let shares = detached(py, || lock(&self.0).open_results(request, among.as_deref()))?;
        Ok(PyBytes::new(py, &shares))
    }
}
