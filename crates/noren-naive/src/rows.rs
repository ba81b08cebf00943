//! Rows of residues in the memory of the device.

use noren_ring::memory::{DeviceRows, Limbs};
use zeroize::Zeroize;

/// Rows of residues, each a vector of its own.
#[derive(Clone)]
pub struct NaiveRows {
    rows: Vec<Vec<u64>>,
    degree: usize,
    secret: bool,
}

impl NaiveRows {
    pub(crate) fn new(rows: Vec<Vec<u64>>, degree: usize, secret: bool) -> Self {
        Self { rows, degree, secret }
    }

    /// The rows of an element of this device.
    ///
    /// # Panics
    /// If another device holds them.
    pub(crate) fn of(limbs: &Limbs) -> &Self {
        limbs.rows().expect("elements of one device do not mix with those of another")
    }

    pub(crate) fn rows(&self) -> &[Vec<u64>] {
        &self.rows
    }

    pub(crate) fn rows_mut(&mut self) -> &mut [Vec<u64>] {
        &mut self.rows
    }
}

impl DeviceRows for NaiveRows {
    fn limbs(&self) -> usize {
        self.rows.len()
    }

    fn degree(&self) -> usize {
        self.degree
    }

    fn is_secret(&self) -> bool {
        self.secret
    }

    fn set_secret(&mut self, secret: bool) {
        self.secret = secret;
    }

    fn guard(&mut self) {
        self.secret = true;
    }

    fn keep(&mut self, first: usize, limbs: usize) {
        *self = Self::new(self.rows[first..first + limbs].to_vec(), self.degree, self.secret);
    }

    fn copy(&self, first: usize, limbs: usize) -> Box<dyn DeviceRows> {
        Box::new(Self::new(self.rows[first..first + limbs].to_vec(), self.degree, self.secret))
    }
}

impl Drop for NaiveRows {
    fn drop(&mut self) {
        if self.secret {
            self.rows.zeroize();
        }
    }
}
