//! `noren inspect`: what is in a file, as far as it says without any key.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use noren::backends::{Content, Parcel};
use noren::bootstrapping::{self, BootstrapKeyFile};
use noren::ckks::Scale;
use noren::compiler::{Program, Summary};
use noren::error::short_fingerprint;
use noren::lookup::LookupKeyFile;
use noren::programs::IntegerLayout;
use noren::programs::Layout;
use noren::programs::columns;
use noren::wire::{FileContext, Form, Kind, Limits, Object, Reader};
use noren::{SecretKey, bfv, ckks, tfhe};
use noren_files::encrypted;
use noren_rlwe::key_use::KeyUse;
use noren_rlwe::parameters::Parameters;
use noren_rlwe::wire::expanded::MappedContainer;
use noren_rlwe::wire::file;
use noren_rlwe::wire::header::{Encoding, Header};
use noren_rlwe::wire::owners;
use noren_rlwe::wire::section::Section;
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::{self, bytes};
use crate::describe::{Describe, Description, Tfhe};
use crate::failure::Failure;
use crate::files;
use crate::jobs::of_kind;
use crate::outputs;
use crate::streams::names_standard_input;

/// Shows what is in a file, and checks that it is undamaged
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  noren inspect patients.ct\n  noren inspect keys/eval.keys --json")]
pub(crate) struct Arguments {
    /// Any file that noren writes, or - for standard input
    file: PathBuf,
}

/// Tags of sections, from `docs/wire.md`.
mod tags {
    /// Of an encrypted table: the layout as JSON.
    pub(super) const LAYOUT: u16 = 0x0001;
    /// Of a prepared function: its form, 0 for a matrix, the domain of x and of y, and more.
    pub(super) const NUMBERS: u16 = 0x0001;
    /// Of a key of lookups: its set, and the exponent of its automorphism.
    pub(super) const NAME: u16 = 0x0001;
    /// Of a ciphertext of CKKS: slots, scale in two parts, and more.
    pub(super) const MEANING: u16 = 0x0001;
    /// Of a ciphertext: the seed of its second half.
    pub(super) const CIPHERTEXT_SEED: u16 = 0x0101;
    /// Of a ciphertext: its first half.
    pub(super) const CIPHERTEXT_FIRST: u16 = 0x0110;
    /// Of an evaluation key: the exponent of its automorphism, 0 for relinearisation.
    pub(super) const ELEMENT: u16 = 0x0101;
    /// Of an evaluation key: its first digit.
    pub(super) const DIGIT: u16 = 0x0120;
    /// Of an expanded evaluation key: its limbs, and more.
    pub(super) const KEY_LAYOUT: u16 = 0x0130;
}

#[derive(Serialize)]
struct Report {
    path: PathBuf,
    kind: &'static str,
    version: u16,
    bytes: u64,
    /// None where a file is read key by key.
    sections: Option<usize>,
    form: Option<&'static str>,
    fingerprint: String,
    /// The identity of the secret key.
    owner: Option<String>,
    digest: &'static str,
    parameters: Option<Description>,
    /// The parameters of TFHE beside those of the ciphertexts.
    tfhe: Option<Description>,
    evaluation_keys: Vec<Key>,
    ciphertexts: Option<Samples>,
    layout: Option<serde_json::Value>,
    /// The parameters of bootstrapping, by name.
    bootstrapping: Option<String>,
    function: Option<Function>,
    /// A compiled function.
    compiled: Option<Summary>,
    /// The objects in keys, inputs and results of compiled functions.
    contents: Vec<Content>,
}

/// A prepared function.
#[derive(Serialize)]
struct Function {
    /// The exclusive bounds of x and y.
    domain: [u64; 2],
    has_matrix: bool,
}

#[derive(Serialize)]
struct Key {
    kind: String,
    /// The highest level that it serves.
    level: usize,
    /// None where a file is read key by key.
    bytes: Option<usize>,
}

/// The summary of the ciphertexts of a file: the lowest of each.
#[derive(Serialize)]
struct Samples {
    count: usize,
    /// None for exact integers, which have no scale either.
    slots: Option<u64>,
    level: usize,
    log_scale: Option<f64>,
    /// How many of them have a seed in place of their second half.
    seeded: usize,
}

/// A file of which nothing is known without its passphrase.
#[derive(Serialize)]
struct Encrypted {
    path: PathBuf,
    kind: &'static str,
    bytes: u64,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    console.inputs().verify_any(&arguments.file)?;
    if names_standard_input(&arguments.file) {
        return inspect_standard_input(&arguments.file, console);
    }
    if encrypted::is_encrypted_file(&arguments.file)? {
        let (path, bytes) = (arguments.file.clone(), outputs::size(&arguments.file)?);
        return console.report(&Encrypted { path, kind: "file under a passphrase", bytes });
    }
    let report = match file::kind(&arguments.file)? {
        Some(Kind::BOOTSTRAP_KEYS | Kind::EXPANDED_BOOTSTRAP_KEYS) => Report::bootstrap_keys(&arguments.file),
        // As large as the memory, perhaps.
        Some(kind) if MAPPED.contains(&kind) => {
            let container = MappedContainer::open(&arguments.file)?;
            let size = outputs::size(&arguments.file)?;
            let reader = container.reader(kind, &Limits::default());
            reader.and_then(|reader| Report::new(&arguments.file, size, reader))
        }
        _ => {
            let content = files::read_bytes(&arguments.file, console)?;
            // Refuses whatever is damaged: what follows has the right digest.
            let reader = Reader::open_any(&content, &Limits::default());
            reader.and_then(|reader| Report::new(&arguments.file, content.len() as u64, reader))
        }
    };
    console.report(&report.map_err(Failure::file(&arguments.file))?)
}

/// Standard input is read once, and as a whole: files that are mapped, or read part by part, are refused.
fn inspect_standard_input(path: &Path, console: &Console) -> Result<(), Failure> {
    let content = files::read_bytes(path, console)?;
    let bytes = content.len() as u64;
    if encrypted::is_encrypted(&content) {
        return console.report(&Encrypted { path: path.to_owned(), kind: "file under a passphrase", bytes });
    }
    let in_parts =
        |kind: &Kind| MAPPED.contains(kind) || matches!(*kind, Kind::BOOTSTRAP_KEYS | Kind::EXPANDED_BOOTSTRAP_KEYS);
    if let Some(kind) = Header::parse(&content).ok().map(|header| header.kind).filter(in_parts) {
        return Err(Failure::input(path, "standard input", kind, "another kind: name the file"));
    }
    let reader = Reader::open_any(&content, &Limits::default());
    let report = reader.and_then(|reader| Report::new(path, bytes, reader));
    console.report(&report.map_err(Failure::file(path))?)
}

/// Evaluation keys as they lie in memory.
const EXPANDED: [Kind; 3] =
    [Kind::EXPANDED_CKKS_EVALUATION_KEYS, Kind::EXPANDED_INTEGER_EVALUATION_KEYS, Kind::EXPANDED_LOOKUP_KEYS];

/// The kinds of files that are mapped.
const MAPPED: [Kind; 5] = {
    let [ckks, integers, lookup] = EXPANDED;
    [ckks, integers, lookup, Kind::PREPARED_LOOKUP, Kind::PREPARED_SLOT_MATRIX]
};

/// Adds the contents of a file, behind its header, to a report.
type Show = fn(&mut Report, &mut Reader<'_>) -> noren::Result<()>;

/// What is shown of the files of each kind. Headers of other kinds say what there is to say without parameters.
const CONTENTS: [(Kind, Show); 33] = [
    (Kind::BOOTSTRAP_PARAMETERS, show_bootstrapping),
    (Kind::CKKS_PARAMETERS, show_parameters::<ckks::Parameters>),
    (Kind::CKKS_SECRET_KEY, show_secret::<ckks::Context>),
    (Kind::CKKS_PUBLIC_KEY, show_parameters::<ckks::Parameters>),
    (Kind::CKKS_EVALUATION_KEYS, show_keys::<ckks::Parameters>),
    (Kind::EXPANDED_CKKS_EVALUATION_KEYS, show_keys::<ckks::Parameters>),
    (Kind::CKKS_CIPHERTEXT, show_ciphertexts),
    (Kind::CKKS_CIPHERTEXTS, show_ciphertexts),
    (Kind::TABLE, show_table),
    (Kind::INTEGER_PARAMETERS, show_parameters::<bfv::Parameters>),
    (Kind::INTEGER_SECRET_KEY, show_secret::<bfv::Context>),
    (Kind::INTEGER_PUBLIC_KEY, show_parameters::<bfv::Parameters>),
    (Kind::INTEGER_EVALUATION_KEYS, show_keys::<bfv::Parameters>),
    (Kind::EXPANDED_INTEGER_EVALUATION_KEYS, show_keys::<bfv::Parameters>),
    (Kind::BGV_CIPHERTEXT, show_ciphertexts),
    (Kind::BFV_CIPHERTEXT, show_ciphertexts),
    (Kind::INTEGER_TABLE, show_integer_table),
    (Kind::LOOKUP_KEYS, show_keys::<bfv::Parameters>),
    (Kind::EXPANDED_LOOKUP_KEYS, show_keys::<bfv::Parameters>),
    (Kind::PREPARED_LOOKUP, show_function),
    (Kind::TFHE_PARAMETERS, show_tfhe),
    (Kind::TFHE_SECRET_KEY, show_tfhe),
    (Kind::TFHE_KEYS, show_tfhe),
    (Kind::TFHE_LIGHT_KEYS, show_tfhe),
    (Kind::TFHE_SERVER_KEYS, show_tfhe),
    (Kind::TFHE_CIRCUIT_KEYS, show_tfhe),
    (Kind::TFHE_COLUMNS, show_columns),
    (Kind::SWITCHING_KEYS, show_switching),
    (Kind::FUNCTION, show_compiled),
    (Kind::FUNCTION_INPUTS, show_contents),
    (Kind::FUNCTION_OUTPUTS, show_contents),
    (Kind::FUNCTION_SERVER_KEYS, show_contents),
    (Kind::FUNCTION_SECRET_KEYS, show_contents),
];

impl Report {
    fn new(path: &Path, bytes: u64, mut reader: Reader<'_>) -> noren::Result<Self> {
        let kind = reader.header().kind;
        let form = reader.form().map(|form| match form {
            Form::Raw => "raw",
            Form::Packed => "packed",
        });
        let mut report = Self {
            path: path.to_owned(),
            kind: kind.name(),
            version: reader.header().version,
            bytes,
            sections: Some(reader.sections().len()),
            form: if EXPANDED.contains(&kind) { Some("expanded") } else { form },
            fingerprint: short_fingerprint(&reader.header().fingerprint),
            owner: owners::of_sections(kind, reader.sections()).map(|key| key.to_string()),
            digest: "ok",
            parameters: None,
            tfhe: None,
            evaluation_keys: Vec::new(),
            ciphertexts: None,
            layout: None,
            bootstrapping: None,
            function: None,
            compiled: None,
            contents: Vec::new(),
        };
        if let Some(show) = of_kind(&CONTENTS, kind) {
            show(&mut report, &mut reader)?;
        }
        Ok(report)
    }

    /// Reads a file of bootstrapping keys, which may be larger than the memory, key by key.
    fn bootstrap_keys(path: &Path) -> noren::Result<Self> {
        let contents = BootstrapKeyFile::contents(path, &Limits::default())?;
        let key = |(kind, limbs): (String, usize)| Key { kind, level: limbs - 1, bytes: None };
        let kind = if contents.expanded { Kind::EXPANDED_BOOTSTRAP_KEYS } else { Kind::BOOTSTRAP_KEYS };
        Ok(Self {
            path: path.to_owned(),
            kind: kind.name(),
            version: contents.version,
            bytes: contents.bytes,
            sections: None,
            form: Some(if contents.expanded { "expanded" } else { "packed" }),
            fingerprint: short_fingerprint(&contents.parameters.fingerprint()),
            owner: contents.owner.map(|key| key.to_string()),
            digest: "ok",
            parameters: Some(contents.parameters.ckks()?.describe()),
            tfhe: None,
            evaluation_keys: contents.keys().map(key).collect(),
            ciphertexts: None,
            layout: None,
            bootstrapping: Some(contents.parameters.name()),
            function: None,
            compiled: None,
            contents: Vec::new(),
        })
    }
}

fn show_bootstrapping(report: &mut Report, reader: &mut Reader<'_>) -> noren::Result<()> {
    let parameters = bootstrapping::Parameters::read(&(), reader)?;
    report.bootstrapping = Some(parameters.name());
    report.parameters = Some(parameters.ckks()?.describe());
    Ok(())
}

/// The parameters of bootstrapping, and those of TFHE behind them.
fn show_switching(report: &mut Report, reader: &mut Reader<'_>) -> noren::Result<()> {
    show_bootstrapping(report, reader)?;
    reader.next_item()?;
    report.tfhe = Some(Description::Tfhe(Tfhe::new(&tfhe::Parameters::read(&(), reader)?)));
    Ok(())
}

fn show_parameters<P: Object<Context = ()> + Describe>(
    report: &mut Report,
    reader: &mut Reader<'_>,
) -> noren::Result<()> {
    report.parameters = Some(P::read(&(), reader)?.describe());
    Ok(())
}

/// The parameters, and the identity of the secret key behind them.
fn show_secret<C: FileContext<Parameters: Describe>>(
    report: &mut Report,
    reader: &mut Reader<'_>,
) -> noren::Result<()> {
    let context = C::of(C::Parameters::read(&(), reader)?)?;
    reader.next_item()?;
    report.owner = Some(SecretKey::read(context.rlwe(), reader)?.owner().key.to_string());
    report.parameters = Some(context.parameters().describe());
    Ok(())
}

/// The parameters, and the evaluation keys behind the first two items.
fn show_keys<P: Object<Context = ()> + Describe>(report: &mut Report, reader: &mut Reader<'_>) -> noren::Result<()> {
    let parameters = P::read(&(), reader)?;
    report.evaluation_keys = keys(reader.sections(), 2, parameters.rlwe())?;
    report.parameters = Some(parameters.describe());
    Ok(())
}

fn show_ciphertexts(report: &mut Report, reader: &mut Reader<'_>) -> noren::Result<()> {
    report.ciphertexts = samples(reader.sections(), 0, reader.header().kind)?;
    Ok(())
}

fn show_table(report: &mut Report, reader: &mut Reader<'_>) -> noren::Result<()> {
    report.layout = layout(reader, |text| Ok(Layout::from_json(text)?.to_json()))?;
    report.ciphertexts = samples(reader.sections(), 1, reader.header().kind)?;
    Ok(())
}

fn show_integer_table(report: &mut Report, reader: &mut Reader<'_>) -> noren::Result<()> {
    report.layout = layout(reader, |text| Ok(IntegerLayout::from_json(text)?.to_json()))?;
    report.ciphertexts = samples(reader.sections(), 1, reader.header().kind)?;
    Ok(())
}

fn show_columns(report: &mut Report, reader: &mut Reader<'_>) -> noren::Result<()> {
    report.layout = layout(reader, |text| Ok(columns::Layout::from_json(text)?.to_json()))?;
    Ok(())
}

fn show_function(report: &mut Report, reader: &mut Reader<'_>) -> noren::Result<()> {
    let [form, x, y, ..] = reader.take(tags::NUMBERS)?.word_array::<6>()?;
    report.function = Some(Function { domain: [x, y], has_matrix: form == 0 });
    Ok(())
}

fn show_tfhe(report: &mut Report, reader: &mut Reader<'_>) -> noren::Result<()> {
    report.parameters = Some(Description::Tfhe(Tfhe::new(&tfhe::Parameters::read(&(), reader)?)));
    Ok(())
}

fn show_compiled(report: &mut Report, reader: &mut Reader<'_>) -> noren::Result<()> {
    report.compiled = Some(Program::of(&Parcel::read(&(), reader)?)?.summary());
    Ok(())
}

fn show_contents(report: &mut Report, reader: &mut Reader<'_>) -> noren::Result<()> {
    report.contents = Content::all(reader)?;
    Ok(())
}

/// The layout of a table, as its type reads and writes it.
fn layout(
    reader: &mut Reader<'_>,
    checked: fn(&str) -> noren::Result<String>,
) -> noren::Result<Option<serde_json::Value>> {
    let section = reader.take(tags::LAYOUT)?;
    let text = std::str::from_utf8(section.bytes()?).map_err(|error| section.value("the layout", error, "UTF-8"))?;
    Ok(serde_json::from_str(&checked(text)?).ok())
}

/// The evaluation keys, with `before` items before them.
fn keys(sections: &[Section<'_>], before: usize, parameters: &Parameters) -> noren::Result<Vec<Key>> {
    let items = sections.chunk_by(|a, b| a.place().item == b.place().item).skip(before);
    let automorphism = |section: &Section<'_>, exponent: u64| match u32::try_from(exponent) {
        Ok(0) => Ok("relinearisation".to_owned()),
        Ok(k) => Ok(KeyUse::of_automorphism(k, parameters.index()).to_string()),
        Err(_) => Err(section.value("the automorphism", exponent, "below 2n")),
    };
    let key = |item: &[Section<'_>]| {
        let mut key = Key { kind: String::new(), level: 0, bytes: Some(item.iter().map(|s| s.as_bytes().len()).sum()) };
        for section in item {
            match section.place().tag {
                tags::ELEMENT => {
                    let [exponent] = section.word_array()?;
                    key.kind = automorphism(section, exponent)?;
                }
                tags::NAME => {
                    let [set, exponent] = section.word_array()?;
                    key.kind = match LookupKeyFile::describe_set(set) {
                        Some((name, false)) => name.to_owned(),
                        Some((name, true)) => format!("{} {name}", automorphism(section, exponent)?),
                        None => return Err(section.value("the set of the key", set, "0 to 3")),
                    };
                }
                // Of an expanded key; that of the seventeenth digit is a polynomial.
                tags::KEY_LAYOUT if section.encoding() == Encoding::Words => {
                    let [limbs, _] = section.word_array()?;
                    key.level = usize::try_from(limbs).unwrap_or(usize::MAX).saturating_sub(1);
                }
                tags::DIGIT => key.level = section.window()?.end.saturating_sub(parameters.first_limb() + 1),
                _ => {}
            }
        }
        Ok(key)
    };
    items.map(key).collect()
}

/// The ciphertexts in the items from `first` on of a file of this kind.
fn samples(sections: &[Section<'_>], first: u32, kind: Kind) -> noren::Result<Option<Samples>> {
    let is_ckks = matches!(kind, Kind::TABLE | Kind::CKKS_CIPHERTEXT | Kind::CKKS_CIPHERTEXTS);
    let mut samples: Option<Samples> = None;
    let items = sections.chunk_by(|a, b| a.place().item == b.place().item);
    for item in items.filter(|item| item.iter().all(|section| section.place().item >= first)) {
        let mut found = Samples { count: 1, slots: None, level: usize::MAX, log_scale: None, seeded: 0 };
        for section in item {
            match section.place().tag {
                tags::MEANING if is_ckks => {
                    let words: Vec<u64> = section.words()?.iter().collect();
                    let [slots, high, low, ..] = words[..] else {
                        return Err(section.value("the words of a vector", words.len(), "at least 3"));
                    };
                    let scale = Scale::from_parts(f64::from_bits(high), f64::from_bits(low))
                        .ok_or_else(|| section.value("the scale", high, "a positive number"))?;
                    (found.slots, found.log_scale) = (Some(slots), Some(scale.log2()));
                }
                tags::CIPHERTEXT_SEED => found.seeded = 1,
                tags::CIPHERTEXT_FIRST => found.level = section.window()?.len() - 1,
                _ => {}
            }
        }
        samples = Some(match samples {
            None => found,
            Some(all) => Samples {
                count: all.count + 1,
                slots: all.slots.min(found.slots),
                level: all.level.min(found.level),
                log_scale: all.log_scale.zip(found.log_scale).map(|(a, b)| a.min(b)),
                seeded: all.seeded + found.seeded,
            },
        });
    }
    Ok(samples)
}

impl fmt::Display for Encrypted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, kind, bytes: size } = self;
        writeln!(f, "{}: {kind}, {}", path.display(), bytes(*size as f64))?;
        write!(f, "in the format of age; nothing else can be told without the passphrase")
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}, {}", self.path.display(), self.kind, bytes(self.bytes as f64))?;
        let form = self.form.map_or_else(String::new, |form| format!(", {form}"));
        let sections = self.sections.map_or_else(String::new, |sections| format!(", {sections} sections"));
        write!(f, "\nformat version {}{sections}{form}, digest {}", self.version, self.digest)?;
        let owner = self.owner.as_ref().map_or_else(String::new, |key| format!(" and key {key}"));
        write!(f, "\nbelongs to parameters {}{owner}", self.fingerprint)?;
        if let Some(Samples { count, slots, level, log_scale, seeded }) = &self.ciphertexts {
            write!(f, "\n{}", words::count(*count, "ciphertext"))?;
            match slots.zip(*log_scale) {
                Some((slots, log_scale)) => write!(f, " of {slots} slots at level {level}, scale 2^{log_scale:.6}")?,
                None => write!(f, " of {}", words::count(level + 1, "limb"))?,
            }
            write!(f, ", {seeded} with a seed")?;
        }
        if let Some(name) = &self.bootstrapping {
            write!(f, "\nbootstrapping {name}")?;
        }
        if let Some(Function { domain: [x, y], has_matrix }) = &self.function {
            let form = if *has_matrix { "by a matrix" } else { "without a matrix" };
            write!(f, "\nf(x, y) for x below {x} and y below {y}, {form}")?;
        }
        if let Some(Summary { scheme, parameters, inputs, results }) = &self.compiled {
            write!(f, "\nfunction in {scheme}: {parameters}")?;
            inputs.iter().try_for_each(|(name, shape)| write!(f, "\ninput {name} of shape {shape:?}"))?;
            results.iter().try_for_each(|shape| write!(f, "\nresult of shape {shape:?}"))?;
        }
        for Content { kind, bytes: size, owner } in &self.contents {
            let owner = owner.as_ref().map_or_else(String::new, |key| format!(", of key {key}"));
            write!(f, "\n{kind}, {}{owner}", bytes(*size as f64))?;
        }
        if let Some(layout) = &self.layout {
            write!(f, "\nlayout {layout}")?;
        }
        for Key { kind, level, bytes: size } in &self.evaluation_keys {
            let size = size.map_or_else(String::new, |size| format!(", {}", bytes(size as f64)));
            write!(f, "\nkey for {kind} up to level {level}{size}")?;
        }
        self.parameters.iter().chain(&self.tfhe).try_for_each(|parameters| write!(f, "\n{parameters}"))
    }
}
