//! Matrices of slots with their transformed factors in a file that is mapped, so that all processes share them.

use std::path::Path;

use noren_rlwe::error::Result;
use noren_rlwe::mapped::check_unchanged;
use noren_rlwe::wire::expanded::{MappedContainer, write_to_map};
use noren_rlwe::wire::file;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::publish::Destination;
use noren_rlwe::wire::reader::Limits;
use noren_rlwe::wire::writer::{Form, Writer};

use crate::schemes::integers::context::Context;
use crate::schemes::integers::plaintext::Plaintext;
use crate::schemes::integers::slot_matrix::SlotMatrix;

/// An item for each factor: its polynomial modulo all primes, word by word.
const POLYNOMIAL: u16 = 0x01;

impl SlotMatrix {
    /// Writes the matrix with its transformed factors to a file, as a whole or not at all: what takes [`SlotMatrix::open`] no
    /// time takes `8 (l + k) n` bytes for each factor.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`](noren_rlwe::error::Error::ParameterMismatch) for a context of other parameters, and as
    /// [`write_to_map`].
    pub fn save_prepared<'p>(&self, context: &Context, to: impl Into<Destination<'p>>) -> Result<()> {
        context.check(&self.parameters, "the matrix")?;
        let (to, ring) = (to.into(), context.rlwe().ring_qp(self.limbs));
        let mut writer = Writer::new(Kind::PREPARED_SLOT_MATRIX, self.parameters.fingerprint(), Form::Raw);
        self.write_coefficients(&mut writer);
        for factor in self.plaintexts() {
            let polynomial = factor.prepared.as_ref().expect("factors of a matrix are transformed");
            writer.next_item();
            writer.poly(POLYNOMIAL, ring.clone(), polynomial);
        }
        write_to_map(to, &writer, "disk for a prepared matrix", || self.check_file()).map(drop)
    }

    /// Reads a matrix from a file, or maps one of [`SlotMatrix::save_prepared`]: its transformed factors stay there until they
    /// are needed. Their residues are not looked at: whoever makes the file must be trusted as whoever runs the program.
    /// Where `limits` ask for the digest, the whole file is read.
    ///
    /// # Errors
    /// [`Error::Io`](noren_rlwe::error::Error::Io) with the path, [`Error::WrongKind`](noren_rlwe::error::Error::WrongKind) and
    /// [`Error::Wire`](noren_rlwe::error::Error::Wire) for another file or a damaged one,
    /// [`Error::ParameterMismatch`](noren_rlwe::error::Error::ParameterMismatch) for one of other parameters.
    pub fn open(context: &Context, path: &Path, limits: &Limits) -> Result<Self> {
        if file::kind(path)? != Some(Kind::PREPARED_SLOT_MATRIX) {
            return Self::read_file(context, path, limits);
        }
        let container = MappedContainer::open(path)?;
        let mut reader = container.reader(Kind::PREPARED_SLOT_MATRIX, limits)?;
        reader.check_fingerprint(&context.parameters().fingerprint())?;
        let mut matrix = Self::read_coefficients(context, &mut reader)?;
        let ring = context.rlwe().ring_qp(matrix.limbs);
        for (_, factor) in matrix.giants.iter_mut().flat_map(|giant| &mut giant.terms) {
            reader.next_item()?;
            factor.prepared = Some(container.poly(&reader.take(POLYNOMIAL)?, &ring)?);
        }
        reader.finish()?;
        Ok(matrix)
    }

    /// Whether its transformed factors lie in a mapped file.
    #[must_use]
    pub fn is_mapped(&self) -> bool {
        self.plaintexts().any(|factor| factor.prepared.as_ref().is_some_and(|poly| poly.file().is_some()))
    }

    /// Refuses results of factors that lie in a file that has changed.
    pub(super) fn check_file(&self) -> Result<()> {
        let file = self.plaintexts().next().and_then(|factor| factor.prepared.as_ref()?.file());
        check_unchanged(file, "a prepared matrix")
    }

    fn plaintexts(&self) -> impl Iterator<Item = &Plaintext> {
        self.giants.iter().flat_map(|giant| &giant.terms).map(|(_, factor)| factor)
    }
}
