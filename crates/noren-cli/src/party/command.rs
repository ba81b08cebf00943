//! The verbs of parties.

use clap::{Args, Subcommand};

use crate::console::Console;
use crate::failure::Failure;
use crate::party::combine::Combine;
use crate::party::folder::Init;
use crate::party::join::Join;
use crate::party::open::Open;
use crate::party::session::NewSession;
use crate::party::share::Share;

/// Makes keys of a secret that several parties share, and opens results that only all of them can open
#[derive(Debug, Args)]
#[command(
    after_help = "No party has the secret key, and it is never put together. Messages are files, which may be public: sign them with \
        noren sign, and verify those of others. The round that each call of join is for follows from the messages it takes.\n\n\
        Example for the party north of north and south:\n  \
        noren params choose --depth 0 --sum 2 --modulus 65537 --parties 2 --results 100 -o joint.params\n  \
        noren party session joint.params --names north,south --results 100 -o session\n  \
        noren party init session north --out north\n  \
        noren party join north -o north.1\n  \
        noren party join north south.1 -o north.2\n  \
        noren party join north south.2 -o north.3\n  \
        noren party join north south.3 -o north.4\n  \
        noren party join north south.4\n  \
        noren party combine session north/messages/* --out keys\n  \
        noren party share north total.ct -o north.share\n  \
        noren party open session total.ct north.share south.share -o total.csv"
)]
pub(crate) struct Party {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Session(NewSession),
    Init(Init),
    Join(Join),
    Combine(Combine),
    Share(Share),
    Open(Open),
}

impl Party {
    pub(crate) fn run(&self, console: &Console) -> Result<(), Failure> {
        match &self.verb {
            Verb::Session(session) => session.run(console),
            Verb::Init(init) => init.run(console),
            Verb::Join(join) => join.run(console),
            Verb::Combine(combine) => combine.run(console),
            Verb::Share(share) => share.run(console),
            Verb::Open(open) => open.run(console),
        }
    }
}
