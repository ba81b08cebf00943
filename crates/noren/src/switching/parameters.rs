//! Parameters of both schemes that suit each other.

use std::sync::Arc;

use noren_rlwe::error::Result;
use noren_rlwe::torus::scheme_switch::parameters::SwitchParameters;
use noren_rlwe::torus::scheme_switch::spec::SwitchSpec;

use crate::bootstrapping;
use crate::bootstrapping::Mode;
use crate::schemes::{ckks, tfhe};
use crate::switching::law::SwitchingLaw;
use crate::switching::layout::Layout;

/// Parameters of bootstrapping and of TFHE, and of the keys between their secrets. Immutable, and cheap to clone.
#[derive(Debug, Clone)]
pub struct Parameters(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    bootstrapping: bootstrapping::Parameters,
    tfhe: tfhe::Parameters,
    ckks: ckks::Parameters,
    switch: SwitchParameters,
}

impl Parameters {
    /// The parameters of both schemes, with the digits that serve most of them.
    ///
    /// # Errors
    /// As [`Parameters::with_digits`].
    pub fn new(bootstrapping: &bootstrapping::Parameters, tfhe: &tfhe::Parameters) -> Result<Self> {
        let digits = SwitchSpec::choose(tfhe.torus(), bootstrapping.ckks()?.rlwe())?;
        Self::with_digits(bootstrapping, tfhe, digits)
    }

    /// The parameters of both schemes, and the digits of the keys between their secrets.
    ///
    /// # Errors
    /// [`Error::Parameters`](noren_rlwe::error::Error::Parameters) names what does not suit: the mask of TFHE's samples must be one polynomial, of at most the degree
    /// of the ring of CKKS; [`Error::WeakNoise`](noren_rlwe::error::Error::WeakNoise) if samples of the subring's secret have too little noise for the security of
    /// CKKS.
    pub fn with_digits(
        bootstrapping: &bootstrapping::Parameters,
        tfhe: &tfhe::Parameters,
        digits: SwitchSpec,
    ) -> Result<Self> {
        let ckks = bootstrapping.ckks()?;
        let switch = digits.build(tfhe.torus(), ckks.rlwe())?;
        let (bootstrapping, tfhe) = (bootstrapping.clone(), tfhe.clone());
        Ok(Self(Arc::new(Inner { bootstrapping, tfhe, ckks, switch })))
    }

    /// The parameters of bootstrapping.
    #[must_use]
    pub fn bootstrapping(&self) -> &bootstrapping::Parameters {
        &self.0.bootstrapping
    }

    /// The parameters of TFHE.
    #[must_use]
    pub fn tfhe(&self) -> &tfhe::Parameters {
        &self.0.tfhe
    }

    /// The parameters of CKKS, which are those of bootstrapping.
    #[must_use]
    pub fn ckks(&self) -> &ckks::Parameters {
        &self.0.ckks
    }

    /// The keys between the secrets.
    #[must_use]
    pub fn switch(&self) -> &SwitchParameters {
        &self.0.switch
    }

    /// g: how many slices of the degree of TFHE a polynomial of CKKS has.
    #[must_use]
    pub fn slices(&self) -> usize {
        self.0.switch.slices()
    }

    /// How much noise a switch adds.
    #[must_use]
    pub fn law(&self, mode: Mode) -> SwitchingLaw {
        let (torus, switch) = (self.tfhe().torus().law(), self.switch().law());
        SwitchingLaw::new(&torus, &switch, self.layout(mode).steps())
    }

    /// Where values are.
    pub(super) fn layout(&self, mode: Mode) -> Layout {
        let (degree, slots) = (self.bootstrapping().degree(), self.bootstrapping().slots());
        Layout { degree, slices: self.slices(), slots, complex: mode != Mode::Real }
    }
}
