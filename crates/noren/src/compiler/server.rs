//! The half of a compiled function that computes.

use noren_rlwe::error::Result;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;

use crate::backends::backend::Running;
use crate::backends::keys::ServerKeys;
use crate::backends::parcel::{Inputs, Outputs, Parcel};
use crate::compiler::client::check_program;
use crate::compiler::program::Program;

/// The half of a compiled function that computes: it has no secret. For an example see [`Client`](crate::compiler::Client).
pub struct Server {
    program: Program,
    running: Box<dyn Running>,
}

impl Server {
    /// The server with these keys, made ready for use.
    ///
    /// # Errors
    /// Keys of other parameters, or of other kinds; [`Error::MissingKey`](noren_rlwe::error::Error::MissingKey) names keys of the
    /// function that are missing.
    pub fn new(program: &Program, keys: &ServerKeys) -> Result<Self> {
        keys.check(&program.plan().server_parts())?;
        Ok(Self { running: program.plan().clone().server(keys)?, program: program.clone() })
    }

    /// Evaluates the function on encrypted inputs of [`Client::encrypt`](crate::compiler::Client::encrypt).
    ///
    /// # Errors
    /// Inputs of another function, or of another key; what the evaluator refuses.
    pub fn run(&self, request: &[u8]) -> Result<Vec<u8>> {
        Ok(self.run_parcel(&Parcel::from_bytes(&(), request)?)?.to_bytes(&(), Form::Packed))
    }

    /// Evaluates the function on inputs that several requests have, each in one of them.
    ///
    /// # Errors
    /// As [`Server::run`]; an input that no request has, or two.
    pub fn run_joined(&self, requests: &[&[u8]]) -> Result<Vec<u8>> {
        let requests = requests.iter().map(|request| Parcel::from_bytes(&(), request)).collect::<Result<Vec<_>>>()?;
        Ok(self.run_parcel(&Parcel::joined(&requests)?)?.to_bytes(&(), Form::Packed))
    }

    /// Evaluates the function on inputs in a container.
    ///
    /// # Errors
    /// As [`Server::run`].
    pub fn run_parcel(&self, request: &Parcel<Inputs>) -> Result<Parcel<Outputs>> {
        check_program(&self.program, &request.fingerprint)?;
        let items = self.running.run(&request.items)?;
        Ok(Parcel::new(self.program.digest(), items))
    }
}
