//! Comparisons and choices of an evaluator with a switch to TFHE.

use noren::ckks::Ciphertext;
use noren::error::Result;
use noren::switching::{Decision, SchemeSwitch};
use pyo3::prelude::*;

use crate::array::detached;
use crate::ckks::classes::{PyCiphertext, PyEvaluator};
use crate::ckks::operand::Operand;
use crate::errors::MissingKeyError;

impl PyEvaluator {
    /// What switches to TFHE.
    fn switch(&self) -> PyResult<&SchemeSwitch> {
        self.switch.as_deref().ok_or_else(|| {
            MissingKeyError::new_err(
                "the evaluator has no keys for comparisons, which switch to TFHE and back: make them with \
                 `noren.switching.SwitchingKeys.generate(parameters, secret, tfhe_secret)`, and use \
                 `evaluator.with_switching(noren.switching.Switch(bootstrapper, tfhe_keys, switching_keys))`",
            )
        })
    }

    /// Runs what decides, on a ciphertext at a level that bootstrapping takes.
    fn decided(
        &self,
        py: Python<'_>,
        x: &Ciphertext,
        decide: impl FnOnce(&SchemeSwitch, &Ciphertext) -> Result<Decision> + Send,
    ) -> PyResult<Decision> {
        let switch = self.switch()?;
        detached(py, || decide(switch, &*self.ready(x, 0)?))
    }

    /// 1 or -1.
    pub(crate) fn sign_of(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<Decision> {
        self.decided(py, &x.inner, SchemeSwitch::sign)
    }

    /// 1 where x < y, 0 elsewhere.
    pub(crate) fn less_than(&self, py: Python<'_>, x: &PyCiphertext, y: &Operand<'_>) -> PyResult<Decision> {
        self.switch()?;
        let difference = self.difference_with(py, x, y)?;
        let difference = self.neg(py, &difference)?;
        self.decided(py, &difference.inner, SchemeSwitch::is_positive)
    }

    /// 1 where x > y, 0 elsewhere.
    pub(crate) fn greater_than(&self, py: Python<'_>, x: &PyCiphertext, y: &Operand<'_>) -> PyResult<Decision> {
        self.switch()?;
        let difference = self.difference_with(py, x, y)?;
        self.decided(py, &difference.inner, SchemeSwitch::is_positive)
    }

    /// The larger of two numbers.
    pub(crate) fn larger(&self, py: Python<'_>, x: &PyCiphertext, y: &Operand<'_>) -> PyResult<PyCiphertext> {
        self.switch()?;
        if let Operand::Ciphertext(other) = y {
            return self.of_two(py, x, (y, other), SchemeSwitch::maximum);
        }
        let above = self.difference_with(py, x, y)?;
        self.sum_with(py, &self.rectified(py, &above)?, y)
    }

    /// The smaller of two numbers.
    pub(crate) fn smaller(&self, py: Python<'_>, x: &PyCiphertext, y: &Operand<'_>) -> PyResult<PyCiphertext> {
        self.switch()?;
        if let Operand::Ciphertext(other) = y {
            return self.of_two(py, x, (y, other), SchemeSwitch::minimum);
        }
        let above = self.difference_with(py, x, y)?;
        let above = self.rectified(py, &above)?;
        self.difference_with(py, x, &Operand::Ciphertext(&above.inner))
    }

    /// max(x, 0).
    pub(crate) fn rectified(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<PyCiphertext> {
        let switch = self.switch()?;
        self.run(py, |_| switch.relu(&*self.ready(&x.inner, 1)?))
    }

    /// `y + condition (x - y)`.
    pub(crate) fn chosen(
        &self,
        py: Python<'_>,
        condition: &PyCiphertext,
        x: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
    ) -> PyResult<PyCiphertext> {
        if let Ok(x) = x.cast::<PyCiphertext>() {
            let y = Operand::of(y)?;
            let difference = self.difference_with(py, x.get(), &y)?;
            let added = self.product_with(py, condition, &Operand::Ciphertext(&difference.inner))?;
            return self.sum_with(py, &added, &y);
        }
        if let Ok(y) = y.cast::<PyCiphertext>() {
            let difference = self.difference_with(py, y.get(), &Operand::of(x)?)?;
            let taken = self.product_with(py, condition, &Operand::Ciphertext(&difference.inner))?;
            return self.difference_with(py, y.get(), &Operand::Ciphertext(&taken.inner));
        }
        let numpy = py.import("numpy")?;
        // As floats, which do not wrap around.
        let [x, y] = [x, y].map(|z| numpy.call_method1("multiply", (z, 1.0)));
        let (x, y) = (x?, y?);
        let difference = numpy.call_method1("subtract", (x, &y))?;
        let added = self.product_with(py, condition, &Operand::of(&difference)?)?;
        self.sum_with(py, &added, &Operand::of(&y)?)
    }

    /// A function of two ciphertexts of one shape, which uses a level.
    fn of_two(
        &self,
        py: Python<'_>,
        x: &PyCiphertext,
        (operand, y): (&Operand<'_>, &Ciphertext),
        work: fn(&SchemeSwitch, &Ciphertext, &Ciphertext) -> Result<Ciphertext>,
    ) -> PyResult<PyCiphertext> {
        operand.check_beside(x.inner.extent(), x.inner.slots())?;
        let switch = self.switch()?;
        self.run(py, |_| work(switch, &*self.ready(&x.inner, 1)?, &*self.ready(y, 1)?))
    }
}
