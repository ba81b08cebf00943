//! `Parameters` of switching: those of bootstrapping and of TFHE, which suit each other.

use noren::bootstrapping::{self, Mode};
use noren::switching::{Parameters, SwitchingLaw};
use noren::tfhe;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use crate::bootstrapping::keys::PyBootstrapParameters;
use crate::errors::{Error, raise};
use crate::parameters::hexadecimal;
use crate::pickle::hash_of;
use crate::tfhe::parameters::PyTfheParameters;
use crate::whole::whole;

/// Parameters of bootstrapping, or the name of a preset.
#[derive(FromPyObject)]
enum BootstrapSide<'py> {
    #[pyo3(annotation = "str")]
    Name(String),
    #[pyo3(annotation = "bootstrapping.Parameters")]
    Parameters(Bound<'py, PyBootstrapParameters>),
}

/// Parameters of TFHE, or the name of a set.
#[derive(FromPyObject)]
enum TfheSide<'py> {
    #[pyo3(annotation = "str")]
    Name(String),
    #[pyo3(annotation = "tfhe.Parameters")]
    Parameters(Bound<'py, PyTfheParameters>),
}

/// Parameters of both schemes, and of the keys between their secrets.
///
/// bootstrapping: parameters, or the name of a preset: "n16", or "toy" for tests.
/// tfhe: parameters, or the name of a set: "2_2", or "TOY_SWITCH" for tests.
/// log_slots: base-two logarithm of the number of slots that are bootstrapped, beside the name of a preset; None for as many as
///     it has. Fewer slots take as many bootstraps of TFHE fewer.
///
/// Raises Error for names that there are not, and for sets that do not suit each other: the mask of TFHE's samples must be one
/// polynomial, of at most the degree of the ring of CKKS. Equal parameters compare equal, and can be hashed.
///
/// >>> from noren import switching
/// >>> params = switching.Parameters("n16", "2_2")
/// >>> params.slots, params.slices, params.law()["decision"] < 2 ** -9
/// (32768, 32, True)
#[pyclass(frozen, name = "Parameters", module = "noren.switching")]
pub(crate) struct PySwitchingParameters(pub(crate) Parameters);

#[pymethods]
impl PySwitchingParameters {
    #[new]
    #[pyo3(
        signature = (bootstrapping = BootstrapSide::Name("n16".to_owned()), tfhe = TfheSide::Name("2_2".to_owned()), *,
            log_slots = None),
        text_signature = "(bootstrapping='n16', tfhe='2_2', *, log_slots=None)"
    )]
    fn new(
        bootstrapping: BootstrapSide<'_>,
        tfhe: TfheSide<'_>,
        #[pyo3(from_py_with = whole)] log_slots: Option<u32>,
    ) -> PyResult<Self> {
        let bootstrapping = match (bootstrapping, log_slots) {
            (BootstrapSide::Parameters(parameters), None) => parameters.get().0.clone(),
            (BootstrapSide::Parameters(_), Some(found)) => {
                return Err(Error::new_err(format!(
                    "log_slots is {found} beside parameters, which say it themselves: leave it out, or give the name of a preset"
                )));
            }
            (BootstrapSide::Name(name), log_slots) => {
                let preset: bootstrapping::Preset = name.parse().map_err(raise)?;
                let spec = log_slots.map_or_else(|| Ok(preset.spec()), |log_slots| preset.spec_for(log_slots));
                spec.and_then(|spec| spec.build()).map_err(raise)?
            }
        };
        let tfhe = match tfhe {
            TfheSide::Parameters(parameters) => parameters.get().0.clone(),
            TfheSide::Name(name) => tfhe::Preset::named(&name).and_then(tfhe::Preset::parameters).map_err(raise)?,
        };
        Parameters::new(&bootstrapping, &tfhe).map(Self).map_err(raise)
    }

    /// The parameters of bootstrapping, which have those of the ciphertexts.
    #[getter]
    fn bootstrapping(&self) -> PyBootstrapParameters {
        PyBootstrapParameters(self.0.bootstrapping().clone())
    }

    /// The parameters of TFHE.
    #[getter]
    fn tfhe(&self) -> PyTfheParameters {
        PyTfheParameters(self.0.tfhe().clone())
    }

    /// The largest number of slots that switch at once.
    #[getter]
    fn slots(&self) -> usize {
        self.0.bootstrapping().slots()
    }

    /// How many polynomials of TFHE's degree a polynomial of a ciphertext falls into.
    #[getter]
    fn slices(&self) -> usize {
        self.0.slices()
    }

    /// The fingerprint that keys of these parameters carry: 64 hexadecimal digits.
    #[getter]
    fn fingerprint(&self) -> String {
        hexadecimal(&self.0.fingerprint())
    }

    /// The standard deviations of the noise, in units of the circle: down, decision, bootstrap, up, and result.
    ///
    /// mode: "real" or "complex", as of ``bootstrapping.Bootstrapper``.
    ///
    /// A value decided by one bootstrap may be either nearer to where the result changes than some deviations of "decision".
    /// Raises Error for another mode.
    #[pyo3(signature = (mode = "real"))]
    fn law<'py>(&self, py: Python<'py>, mode: &str) -> PyResult<Bound<'py, PyDict>> {
        let mode: Mode = mode.parse().map_err(raise)?;
        let law = self.0.law(mode);
        let SwitchingLaw { down, decision, bootstrap, up } = law;
        let rows = [("down", down), ("decision", decision), ("bootstrap", bootstrap), ("up", up)];
        rows.into_iter().chain([("result", law.result())]).collect::<Vec<_>>().into_py_dict(py)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self.0.fingerprint() == other.get().0.fingerprint())
    }

    fn __hash__(&self) -> u64 {
        hash_of(&self.0.fingerprint())
    }

    pub(crate) fn __repr__(&self) -> String {
        format!("Parameters({:?}, {})", self.0.bootstrapping().name(), self.tfhe().__repr__())
    }
}
