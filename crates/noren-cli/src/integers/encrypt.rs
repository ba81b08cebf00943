//! `noren encrypt` with a key of exact integers: a table of whole numbers to ciphertexts of BFV.

use std::fmt;
use std::path::PathBuf;

use noren::bfv::{Context, Encoder, Encryptor};
use noren::lookup::Layout;
use noren::programs::{IntegerLayout, IntegerTable};
use noren::wire::Kind;
use noren::{PublicKey, SecretKey};
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::{bytes, count};
use crate::failure::Failure;
use crate::files;
use crate::integers::whole::{residues, whole};
use crate::jobs::Encryption;
use crate::progress;
use crate::seeds::random;
use crate::tables::numbers::Numbers;
use crate::takes;

#[derive(Serialize)]
struct EncryptionReport {
    path: PathBuf,
    rows: usize,
    columns: usize,
    ciphertexts: usize,
    numbers_per_ciphertext: usize,
    plaintext_modulus: u64,
    /// The exclusive bound of the numbers of each column, where it was given: everybody can read it.
    sizes: Vec<usize>,
    limbs: usize,
    noise_budget: f64,
    bytes: u64,
}

pub(super) fn run(job: Encryption<'_>, console: &Console) -> Result<(), Failure> {
    job.refuse_types()?;
    if job.bounds.is_some() {
        return Err(Failure::of_integers("--bounds", "none: --domain says how large whole numbers can be"));
    }
    let (context, table) = if job.kind == Kind::INTEGER_SECRET_KEY {
        let file = files::read_key::<Context, SecretKey>(job.key, &takes::ENCRYPT_KEY, console)?;
        let encryptor = Encryptor::symmetric(&file.context, &file.key, random()?)?;
        let table = encrypt(&job, &file.context, &encryptor)?;
        (file.context, table)
    } else {
        let file = files::read_key::<Context, PublicKey>(job.key, &takes::ENCRYPT_KEY, console)?;
        let encryptor = Encryptor::public(&file.context, &file.key, random()?)?;
        let table = encrypt(&job, &file.context, &encryptor)?;
        (file.context, table)
    };
    let size = job.output.write(&context, &table)?;
    let (layout, first) = (table.layout(), &table.ciphertexts()[0]);
    console.report(&EncryptionReport {
        path: job.output.path().to_owned(),
        rows: layout.rows(),
        columns: layout.columns(),
        ciphertexts: layout.ciphertexts(),
        numbers_per_ciphertext: layout.per_ciphertext(),
        plaintext_modulus: context.parameters().modulus().value(),
        sizes: layout.sizes().to_vec(),
        limbs: first.limbs(),
        noise_budget: first.noise_budget(),
        bytes: size,
    })
}

fn encrypt(job: &Encryption<'_>, context: &Context, encryptor: &Encryptor<'_>) -> Result<IntegerTable, Failure> {
    let layout = layout(job, context)?;
    let entries = entries(job, &layout, context.parameters().modulus().value())?;
    let _shown = progress::spinner(format!("encrypting {}", count(layout.ciphertexts(), "ciphertext")));
    IntegerTable::encrypt(&Encoder::new(context), encryptor, layout, &entries).map_err(Failure::file(job.input))
}

fn layout(job: &Encryption<'_>, context: &Context) -> Result<IntegerLayout, Failure> {
    let Numbers { rows, columns, names, .. } = &job.numbers;
    let (slots, t) = (context.parameters().slots(), context.parameters().modulus().value());
    let sizes = match *job.domain {
        [size] => vec![size; *columns],
        _ => job.domain.to_vec(),
    };
    if !sizes.is_empty() && sizes.len() != *columns {
        let needed = format!("one size, or one for each of {}", count(*columns, "column"));
        return Err(Failure::Unsuitable { what: "--domain", found: count(sizes.len(), "size"), needed });
    }
    let stretch = match sizes.iter().max().max(job.beside.as_ref()) {
        None => 1,
        // The column with the largest numbers says how much room those of all columns take, in other tables too.
        Some(&largest) => Layout::new(slots, t, [largest; 2])?.stretch(),
    };
    let layout = IntegerLayout::new(*rows, *columns, slots, stretch)?.with_column_names(names.clone())?;
    Ok(layout.with_sizes(sizes)?)
}

/// The numbers, which must be whole and within their bounds.
fn entries(job: &Encryption<'_>, layout: &IntegerLayout, t: u64) -> Result<Vec<i64>, Failure> {
    let (columns, sizes) = (layout.columns(), layout.sizes());
    let bounds = |index: usize| match sizes.get(index % columns) {
        Some(&size) => (0, size as i64 - 1, "the domain of its column"),
        None => residues(t),
    };
    whole(&job.numbers, job.input, bounds)
}

impl fmt::Display for EncryptionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, columns) = (count(self.rows, "row"), count(self.columns, "column"));
        let (ciphertexts, numbers) =
            (count(self.ciphertexts, "ciphertext"), count(self.numbers_per_ciphertext, "number"));
        let t = self.plaintext_modulus;
        writeln!(f, "{rows}, {columns} of integers modulo {t} in {ciphertexts} of up to {numbers}")?;
        if !self.sizes.is_empty() {
            let sizes: Vec<String> = self.sizes.iter().map(ToString::to_string).collect();
            writeln!(f, "to be looked up; everybody can read that numbers are below {}", sizes.join(", "))?;
        }
        write!(f, "wrote {}, {}", self.path.display(), bytes(self.bytes as f64))
    }
}
