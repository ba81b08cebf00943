//! The arguments of both verbs.

use clap::{Args, Subcommand};
use noren::retrieval::{self, intersection};

use crate::console::Console;
use crate::failure::Failure;
use crate::retrieval::asker::{Decrypt, Encrypt, Keygen};
use crate::retrieval::holder::{Answer, DescribeIntersection, DescribeRetrieval};

/// Gets rows of a table of another, without telling which: private information retrieval
#[derive(Debug, Args)]
#[command(
    after_help = "Rows are asked for by their numbers, from 0, or by the cells of the column that --by names. Requests are hidden, \
        the table is not: a reply holds other rows too.\n\n\
        Example; describe and answer are for the holder of the table:\n  \
        noren retrieval describe cities.csv --by city -o cities.description\n  \
        noren retrieval keygen cities.description --out keys\n  \
        noren retrieval encrypt cities.description --key keys/secret.key --ask Chur --ask Olten -o request\n  \
        noren retrieval answer cities.description cities.csv --by city --keys keys/server.keys request -o reply\n  \
        noren retrieval decrypt cities.description --key keys/secret.key --ask Chur --ask Olten reply -o found.csv"
)]
pub(crate) struct Retrieval {
    #[command(subcommand)]
    verb: RetrievalVerb,
}

/// Finds which keywords stand in a table of another, with their rows: private set intersection
#[derive(Debug, Args)]
#[command(after_help = "The holder learns nothing of the keywords, and the client nothing of other rows.\n\n\
        Example; describe and answer are for the holder of the table:\n  \
        noren intersection describe customers.csv --by email --asked 1000 -o customers.description\n  \
        noren intersection keygen customers.description --out keys\n  \
        noren intersection encrypt customers.description --key keys/secret.key --ask-from ours.csv -o request\n  \
        noren intersection answer customers.description customers.csv --by email --keys keys/server.keys request -o reply\n  \
        noren intersection decrypt customers.description --key keys/secret.key --ask-from ours.csv reply -o common.csv")]
pub(crate) struct Intersection {
    #[command(subcommand)]
    verb: IntersectionVerb,
}

#[derive(Debug, Subcommand)]
enum RetrievalVerb {
    Describe(DescribeRetrieval),
    Keygen(Keygen),
    Encrypt(Encrypt),
    Answer(Answer),
    Decrypt(Decrypt),
}

#[derive(Debug, Subcommand)]
enum IntersectionVerb {
    #[command(mut_arg("by", |by| by.required(true).help(KEYWORDS)))]
    Describe(DescribeIntersection),
    Keygen(Keygen),
    Encrypt(Encrypt),
    #[command(mut_arg("by", |by| by.required(true).help(KEYWORDS)))]
    Answer(Answer),
    Decrypt(Decrypt),
}

/// The help of `--by` where rows have no numbers.
const KEYWORDS: &str = "The column with the keywords, by name or position from 0";

impl Retrieval {
    pub(crate) fn run(&self, console: &Console) -> Result<(), Failure> {
        type Plan = retrieval::Plan;
        match &self.verb {
            RetrievalVerb::Describe(describe) => describe.run(console),
            RetrievalVerb::Keygen(keygen) => keygen.run::<Plan>(console),
            RetrievalVerb::Encrypt(encrypt) => encrypt.run::<Plan>(console),
            RetrievalVerb::Answer(answer) => answer.run::<Plan>(console),
            RetrievalVerb::Decrypt(decrypt) => decrypt.run::<Plan>(console),
        }
    }
}

impl Intersection {
    pub(crate) fn run(&self, console: &Console) -> Result<(), Failure> {
        type Plan = intersection::Plan;
        match &self.verb {
            IntersectionVerb::Describe(describe) => describe.run(console),
            IntersectionVerb::Keygen(keygen) => keygen.run::<Plan>(console),
            IntersectionVerb::Encrypt(encrypt) => encrypt.run::<Plan>(console),
            IntersectionVerb::Answer(answer) => answer.run::<Plan>(console),
            IntersectionVerb::Decrypt(decrypt) => decrypt.run::<Plan>(console),
        }
    }
}
