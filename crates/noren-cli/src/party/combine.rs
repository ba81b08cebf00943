//! `noren party combine`: the keys of a joint secret, from the messages of all rounds, without any secret.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use noren::bfv::KeyFile;
use noren::owners::{JointKeys, Transcript};
use serde::Serialize;

use crate::console::Console;
use crate::failure::Failure;
use crate::key_files::{EVALUATION, PUBLIC};
use crate::output_set::OutputSet;
use crate::outputs::Force;
use crate::party::session;
use crate::progress;
use crate::written::FilesReport;

/// Makes public.key and eval.keys from the messages of all parties in all rounds; anybody who has them can
#[derive(Debug, Args)]
pub(super) struct Combine {
    /// The session
    session: PathBuf,
    /// The messages of all rounds, in any order: a folder of a party has them in messages
    #[arg(required = true)]
    messages: Vec<PathBuf>,
    /// The directory for the keys
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    force: Force,
}

/// The keys that were written.
#[derive(Serialize)]
struct KeysReport {
    session: String,
    /// The identity of the joint secret.
    key: String,
    #[serde(flatten)]
    files: FilesReport,
}

impl Combine {
    pub(super) fn run(&self, console: &Console) -> Result<(), Failure> {
        let names = [PUBLIC, EVALUATION];
        let outputs = OutputSet::new(&self.out, &names, &self.force)?;
        let session = session::read(&self.session, console)?;
        let mut transcript = Transcript::new(&session);
        for (_, message) in session::read_messages(&session, &self.messages, console)? {
            transcript.add(&message)?;
        }
        let shown = progress::spinner("combining the shares of keys".to_owned());
        let JointKeys { public, evaluation } = transcript.keys()?;
        drop(shown);
        let (context, key) = (session.context().clone(), public.owner().key);
        let public = KeyFile { context: context.clone(), key: public };
        let evaluation = KeyFile { context, key: Arc::unwrap_or_clone(evaluation) };
        let bytes = vec![outputs.write(PUBLIC, &(), &public)?, outputs.write(EVALUATION, &(), &evaluation)?];
        let files = FilesReport { files: outputs.finish(&names)?, bytes, error_bounds: None };
        console.report(&KeysReport { session: session::digest(&session), key: key.to_string(), files })
    }
}

impl fmt::Display for KeysReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "session {}\nkey {}\n{}", self.session, self.key, self.files)
    }
}
