//! `noren inspect`: what is in a file, as far as it says without any key.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use noren::backends::Content;
use noren::compiler::Summary;
use noren::error::short_fingerprint;
use noren::lookup::LookupOutline;
use noren::wire::{CiphertextSummary, Facts, Form, KeyFacts, Kind, Limits, Reader};
use noren_files::encrypted;
use noren_rlwe::wire::expanded::MappedContainer;
use noren_rlwe::wire::file;
use noren_rlwe::wire::header::Header;
use serde::Serialize;

use crate::console::Console;
use crate::describe::Description;
use crate::describe::words::{self, bytes};
use crate::failure::Failure;
use crate::files;
use crate::scheme::ReadInParts;
use crate::schemes;
use crate::streams::names_standard_input;

/// Shows what is in a file, and checks that it is undamaged
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  noren inspect patients.ct\n  noren inspect keys/eval.keys --json")]
pub(crate) struct Arguments {
    /// Any file that noren writes, or - for standard input
    file: PathBuf,
}

#[derive(Serialize)]
struct InspectionReport {
    path: PathBuf,
    kind: &'static str,
    version: u16,
    bytes: u64,
    /// None where a file is read key by key.
    sections: Option<u32>,
    form: Option<&'static str>,
    fingerprint: String,
    /// The identity of the secret key.
    owner: Option<String>,
    digest: &'static str,
    parameters: Option<Description>,
    /// The parameters of the scheme that is switched to, beside those of the ciphertexts.
    #[serde(rename = "tfhe")]
    switched: Option<Description>,
    #[serde(flatten)]
    facts: Facts,
}

/// A file of which nothing is known without its passphrase.
#[derive(Serialize)]
struct Encrypted {
    path: PathBuf,
    kind: &'static str,
    bytes: u64,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let path = &arguments.file;
    console.inputs().verify_any(path)?;
    // Standard input is read once, and as a whole.
    let is_file = !names_standard_input(path);
    let found = if is_file { file::kind(path)? } else { None };
    let report = match (found.and_then(in_parts), found) {
        (Some(read), _) => {
            read(path).map(|(header, facts)| InspectionReport::of(path, &header, Some(Form::Packed), facts))
        }
        // As large as the memory, perhaps.
        (None, Some(kind)) if is_mapped(kind) => {
            let container = MappedContainer::open(path)?;
            container.reader(kind, &Limits::default()).and_then(|reader| InspectionReport::new(path, reader))
        }
        _ => {
            let content = files::read_bytes(path, console)?;
            if encrypted::is_encrypted(&content) {
                let (path, bytes) = (path.clone(), content.len() as u64);
                return console.report(&Encrypted { path, kind: "file under a passphrase", bytes });
            }
            let kind = Header::parse(&content).ok().map(|header| header.kind);
            if let Some(kind) = kind.filter(|&kind| !is_file && (is_mapped(kind) || in_parts(kind).is_some())) {
                return Err(Failure::input(path, "standard input", kind, "another kind: name the file"));
            }
            // Refuses whatever is damaged: what follows has the right digest.
            Reader::open_any(&content, &Limits::default()).and_then(|reader| InspectionReport::new(path, reader))
        }
    };
    console.report(&report.map_err(Failure::file(path))?)
}

/// How a file is read that is read in parts.
fn in_parts(kind: Kind) -> Option<ReadInParts> {
    schemes::find(|scheme| scheme.in_parts, kind)
}

/// Whether a file is mapped.
fn is_mapped(kind: Kind) -> bool {
    schemes::rows(|scheme| scheme.mapped).any(|&own| own == kind)
}

impl InspectionReport {
    fn new(path: &Path, mut reader: Reader<'_>) -> noren::Result<Self> {
        let facts = Facts::of(&mut reader)?;
        Ok(Self::of(path, reader.header(), reader.form(), facts))
    }

    fn of(path: &Path, header: &Header, form: Option<Form>, mut facts: Facts) -> Self {
        let kind = header.kind;
        let mut parameters = std::mem::take(&mut facts.parameters).into_iter().map(Description::from);
        Self {
            path: path.to_owned(),
            kind: kind.name(),
            version: header.version,
            bytes: header.length,
            sections: in_parts(kind).is_none().then_some(header.sections),
            form: match form {
                _ if kind.is_expanded() => Some("expanded"),
                Some(Form::Raw) => Some("raw"),
                Some(Form::Packed) => Some("packed"),
                None => None,
            },
            fingerprint: short_fingerprint(&header.fingerprint),
            owner: facts.owner.map(|key| key.to_string()),
            digest: "ok",
            parameters: parameters.next(),
            switched: parameters.next(),
            facts,
        }
    }
}

impl fmt::Display for Encrypted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, kind, bytes: size } = self;
        writeln!(f, "{}: {kind}, {}", path.display(), bytes(*size as f64))?;
        write!(f, "in the format of age; nothing else can be told without the passphrase")
    }
}

impl fmt::Display for InspectionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}, {}", self.path.display(), self.kind, bytes(self.bytes as f64))?;
        let form = self.form.map_or_else(String::new, |form| format!(", {form}"));
        let sections = self.sections.map_or_else(String::new, |sections| format!(", {sections} sections"));
        write!(f, "\nformat version {}{sections}{form}, digest {}", self.version, self.digest)?;
        let owner = self.owner.as_ref().map_or_else(String::new, |key| format!(" and key {key}"));
        let of_session = self.facts.layout.as_ref().is_some_and(|layout| layout.get("session").is_some());
        let what = if of_session { "session" } else { "parameters" };
        write!(f, "\nbelongs to {what} {}{owner}", self.fingerprint)?;
        let Facts { ciphertexts, bootstrapping, function, compiled, contents, layout, evaluation_keys, .. } =
            &self.facts;
        if let Some(CiphertextSummary { count, slots, level, log_scale, seeded }) = ciphertexts {
            write!(f, "\n{}", words::count(*count, "ciphertext"))?;
            match slots.zip(*log_scale) {
                Some((slots, log_scale)) => write!(f, " of {slots} slots at level {level}, scale 2^{log_scale:.6}")?,
                None => write!(f, " of {}", words::count(level + 1, "limb"))?,
            }
            write!(f, ", {seeded} with a seed")?;
        }
        if let Some(name) = bootstrapping {
            write!(f, "\nbootstrapping {name}")?;
        }
        if let Some(LookupOutline { domain: [x, y], has_matrix }) = function {
            let form = if *has_matrix { "by a matrix" } else { "without a matrix" };
            write!(f, "\nf(x, y) for x below {x} and y below {y}, {form}")?;
        }
        if let Some(Summary { scheme, parameters, inputs, results }) = compiled {
            write!(f, "\nfunction in {scheme}: {parameters}")?;
            inputs.iter().try_for_each(|(name, shape)| write!(f, "\ninput {name} of shape {shape:?}"))?;
            results.iter().try_for_each(|shape| write!(f, "\nresult of shape {shape:?}"))?;
        }
        for Content { kind, bytes: size, owner } in contents {
            let owner = owner.as_ref().map_or_else(String::new, |key| format!(", of key {key}"));
            write!(f, "\n{kind}, {}{owner}", bytes(*size as f64))?;
        }
        if let Some(layout) = layout {
            write!(f, "\nlayout {layout}")?;
        }
        for KeyFacts { kind, level, bytes: size } in evaluation_keys {
            let size = size.map_or_else(String::new, |size| format!(", {}", bytes(size as f64)));
            write!(f, "\nkey for {kind} up to level {level}{size}")?;
        }
        self.parameters.iter().chain(&self.switched).try_for_each(|parameters| write!(f, "\n{parameters}"))
    }
}
