//! The half of a compiled function that has the secret key.

use std::sync::Arc;

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::publish::Destination;
use noren_rlwe::wire::writer::Form;

use crate::backends::backend::Outcome;
use crate::backends::keys::{SecretKey, ServerKeys};
use crate::backends::parcel::{Inputs, Outputs, Parcel};
use crate::compiler::program::{Flagged, Program};

/// The half of a compiled function that has the secret key: encrypts inputs, and decrypts results.
///
/// # Examples
/// ```
/// use noren::compiler::{Client, Options, Program, Server};
/// use noren::graph::{Binary, Element, Graph, Interval, Operation};
/// use noren::{Security, Seed};
///
/// let mut graph = Graph::default();
/// let range = Interval::new(0.0, 9.0);
/// let x = graph.push(Operation::Input { name: "x".into(), shape: vec![3], element: Element::Integer, range }, "")?;
/// let square = graph.push(Operation::Binary(Binary::Mul, x, x), "")?;
/// graph.finish(vec![square])?;
/// let program = Program::compile(graph, &Options { security: Security::None, ..Options::default() })?;
///
/// let client = Client::generate(program.clone(), &Seed::random()?)?;
/// let keys = client.server_keys(&Seed::random()?)?;
/// let server = Server::new(&program, &keys)?;
/// let reply = server.run(&client.encrypt(&[vec![1.0, 2.0, 9.0]], Seed::random()?)?)?;
/// assert_eq!(client.decrypt(&reply)?.values, [[1.0, 4.0, 81.0]]);
/// # Ok::<(), noren::error::Error>(())
/// ```
pub struct Client {
    program: Program,
    secret: Arc<SecretKey>,
}

impl Client {
    /// A client with a secret key of its own. The seed is as secret as the key; that of [`Client::server_keys`] may be the same.
    ///
    /// # Errors
    /// As [`Plan::make_secret`](crate::backends::Plan::make_secret).
    pub fn generate(program: Program, seed: &Seed) -> Result<Self> {
        let secret = program.plan().make_secret(&seed.derive("noren compiled secret"))?;
        Ok(Self { program, secret: Arc::new(secret) })
    }

    /// The client of this secret key.
    ///
    /// # Errors
    /// A key of other parameters.
    pub fn new(program: Program, secret: Arc<SecretKey>) -> Result<Self> {
        secret.check(&program.plan().secret_parts())?;
        Ok(Self { program, secret })
    }

    /// The client of the secret key in these bytes.
    ///
    /// # Errors
    /// As [`Key::from_bytes`](crate::backends::Key::from_bytes).
    pub fn from_bytes(program: Program, secret: &[u8]) -> Result<Self> {
        let secret = SecretKey::from_bytes(&program.plan().secret_parts(), secret)?;
        Ok(Self { program, secret: Arc::new(secret) })
    }

    /// The function.
    #[must_use]
    pub const fn program(&self) -> &Program {
        &self.program
    }

    /// The secret key.
    #[must_use]
    pub const fn secret(&self) -> &Arc<SecretKey> {
        &self.secret
    }

    /// Makes the keys of the server; nothing in them decrypts.
    ///
    /// # Errors
    /// As [`Plan::make_server_keys`](crate::backends::Plan::make_server_keys).
    pub fn server_keys(&self, seed: &Seed) -> Result<ServerKeys> {
        self.program.plan().make_server_keys(&self.secret, &Self::of_server(seed))
    }

    /// Makes the keys of the server straight into a file; `progress` hears how many are done, of how many.
    ///
    /// # Errors
    /// As [`Plan::write_server_keys`](crate::backends::Plan::write_server_keys).
    pub fn write_server_keys(
        &self,
        seed: &Seed,
        to: Destination<'_>,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<()> {
        self.program.plan().write_server_keys(&self.secret, &Self::of_server(seed), to, progress)
    }

    fn of_server(seed: &Seed) -> Seed {
        seed.derive("noren compiled server keys")
    }

    /// Encrypts the inputs of the function, each in row-major order.
    ///
    /// # Errors
    /// [`CompileError::OutsideRange`](crate::compiler::CompileError::OutsideRange); other counts of inputs or elements.
    pub fn encrypt(&self, inputs: &[Vec<f64>], seed: Seed) -> Result<Vec<u8>> {
        self.encrypt_some(&inputs.iter().map(|values| Some(&values[..])).collect::<Vec<_>>(), seed)
    }

    /// As [`Client::encrypt`], without the inputs that are not given: other requests have them, such as one that serves many runs.
    ///
    /// # Errors
    /// As [`Client::encrypt`]; no input at all; inputs that are not given to a plan that encrypts all together.
    pub fn encrypt_some(&self, inputs: &[Option<&[f64]>], seed: Seed) -> Result<Vec<u8>> {
        self.program.check_inputs(inputs.iter().copied())?;
        if inputs.iter().all(Option::is_none) {
            return Err(Error::Length { what: "inputs that are given", found: 0, needed: "at least 1".to_owned() });
        }
        let items = self.program.plan().encrypt(&self.secret, inputs, seed)?;
        Ok(Parcel::<Inputs>::new(self.program.digest(), items).to_bytes(&(), Form::Packed))
    }

    /// Decrypts results of [`Server::run`](crate::compiler::Server::run), with bounds on their errors.
    ///
    /// # Errors
    /// Results of another function; what the decryptor refuses; [`CompileError::LeftRange`](crate::compiler::CompileError::LeftRange)
    /// for results that may be anything, of a function whose ranges follow from examples.
    pub fn decrypt(&self, reply: &[u8]) -> Result<Outcome> {
        self.decrypt_parcel(&Parcel::from_bytes(&(), reply)?)
    }

    /// Decrypts results in a container.
    ///
    /// # Errors
    /// As [`Client::decrypt`].
    pub fn decrypt_parcel(&self, reply: &Parcel<Outputs>) -> Result<Outcome> {
        self.flagged(reply)?.all_inside()
    }

    /// As [`Client::decrypt`], with a flag for each row whose results may be anything in place of a refusal.
    ///
    /// # Errors
    /// Results of another function; what the decryptor refuses.
    pub fn decrypt_flagged(&self, reply: &[u8]) -> Result<Flagged> {
        self.flagged(&Parcel::from_bytes(&(), reply)?)
    }

    fn flagged(&self, reply: &Parcel<Outputs>) -> Result<Flagged> {
        check_program(&self.program, &reply.fingerprint)?;
        self.program.results(self.program.plan().decrypt(&self.secret, &reply.items))
    }
}

/// Refuses a message of another function.
pub(super) fn check_program(program: &Program, found: &[u8; 32]) -> Result<()> {
    if *found == program.digest() {
        return Ok(());
    }
    let (found, needed) = ("ciphertexts of another compiled function", "those of this one: load the same program file");
    Err(Error::WrongKind { found: found.to_owned(), needed: needed.to_owned() })
}
