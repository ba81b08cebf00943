//! The negacyclic transform in `f64` by the kernels in use.

use crate::kernels::kernels;
use crate::roots::torus::TorusFft;
use crate::torus::word::Torus;

impl TorusFft {
    /// The spectrum of words as signed integers: digits, or a small secret.
    ///
    /// # Panics
    /// If a length is not the degree.
    pub fn forward<T: Torus>(&self, spectrum: &mut [f64], a: &[T]) {
        kernels().torus_forward(spectrum, a, 1.0, self);
    }

    /// The torus spectrum of words.
    ///
    /// # Panics
    /// If a length is not the degree.
    pub fn forward_torus<T: Torus>(&self, spectrum: &mut [f64], a: &[T]) {
        kernels().torus_forward(spectrum, a, 1.0 / self.points() as f64, self);
    }

    /// Adds the words nearest to what a torus spectrum stands for: `out += a`. The spectrum is used up.
    ///
    /// # Panics
    /// If a length is not the degree.
    pub fn inverse_add<T: Torus>(&self, out: &mut [T], spectrum: &mut [f64]) {
        kernels().torus_inverse_add(out, spectrum, self);
    }
}
