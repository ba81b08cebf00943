//! The verbs of a server over the torus, on a device.

use std::sync::Arc;

use noren_math::machine::mapped::MappedRow;

use crate::torus::control_table::ControlTable;
use crate::torus::device::TorusDevice;
use crate::torus::expanded::{BootstrapLayout, BootstrapWords};
use crate::torus::keys::{BootstrapKey, BootstrapRows, CircuitKey, CircuitRows, Controls};
use crate::torus::keys::{GlweSwitchKey, GlweSwitchRows, PackingKey};
use crate::torus::lwe::Lwe;
use crate::torus::packed_tables::PackedTables;
use crate::torus::ring::TorusRing;
use crate::torus::shape::{GlweShape, RotationShape};
use crate::torus::table::Table;
use crate::torus::trace;

/// A device that bootstraps in a ring: the verbs of a server, with checked operands.
#[derive(Debug)]
pub struct TorusServer {
    device: Arc<dyn TorusDevice>,
    ring: TorusRing,
}

impl TorusServer {
    /// The server on a device.
    #[must_use]
    pub fn on(device: Arc<dyn TorusDevice>, ring: TorusRing) -> Self {
        Self { device, ring }
    }

    /// The device.
    #[must_use]
    pub const fn device(&self) -> &Arc<dyn TorusDevice> {
        &self.device
    }

    /// The ring.
    #[must_use]
    pub const fn ring(&self) -> &TorusRing {
        &self.ring
    }

    /// How many samples it takes to keep the whole device at work.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.device.capacity(&self.ring)
    }

    /// Holds the keys of a bootstrap.
    ///
    /// # Panics
    /// If the degree is not that of the products, sums of products are too large for them, the switch does not lead
    /// from the samples that are extracted to those that rotate, or bits are left over.
    #[must_use]
    pub fn bootstrap_key(&self, rows: &BootstrapRows) -> BootstrapKey {
        let shape = rows.rotation.shape.samples;
        assert_eq!(self.ring.product().degree(), shape.degree, "products of the degree of the samples");
        assert_eq!(rows.switch.from, shape.extracted(), "the switch starts where extraction ends");
        assert_eq!(rows.switch.to, rows.rotation.bits, "the switch ends where rotation starts");
        BootstrapKey { shape, held: self.device.bootstrap_key(&self.ring, rows) }
    }

    /// Holds keys that lie in a file: the numbers of the blind rotation and the words of the key switch, two of them in a word of
    /// 64 bits. `None` where the device does not compute with that form.
    ///
    /// They are not looked at: others than those of a key lead to wrong results, and to nothing worse.
    ///
    /// # Panics
    /// If there are not as many as the layout has, or the degree is not that of the products.
    #[must_use]
    pub fn map_bootstrap_key(&self, layout: BootstrapLayout, words: [MappedRow; 2]) -> Option<BootstrapKey> {
        let shape = layout.rotation.samples;
        assert_eq!(self.ring.product().degree(), shape.degree, "products of the degree of the samples");
        let needed = [layout.rotation_numbers(), layout.switch_words().map(|words| words / 2)];
        assert_eq!(words.each_ref().map(|words| Some(words.len())), needed, "as many words as the layout has");
        Some(BootstrapKey { shape, held: self.device.map_bootstrap_key(&self.ring, layout, words)? })
    }

    /// The numbers and words of a key, as files of expanded keys have them. `None` where the device, or the key, has another form.
    #[must_use]
    pub fn bootstrap_words<'a>(&self, key: &'a BootstrapKey) -> Option<BootstrapWords<'a>> {
        self.device.bootstrap_words(key)
    }

    /// Holds the keys of circuit bootstrapping.
    ///
    /// # Panics
    /// As [`TorusServer::bootstrap_key`]; if bits come in pairs.
    #[must_use]
    pub fn circuit_key(&self, rows: &CircuitRows) -> CircuitKey {
        let shape = rows.rotation.shape.samples;
        assert_eq!(self.ring.product().degree(), shape.degree, "products of the degree of the samples");
        assert_eq!(rows.rotation.shape.grouping.bits(), 1, "single bits");
        CircuitKey { shape, held: self.device.circuit_key(&self.ring, rows) }
    }

    /// Holds the keys of a trace, which pack samples: for each step i, all `log2 N` of them, the switch of the secrets `-S_r(X^d)`,
    /// `d = 2^(L-i) + 1`.
    ///
    /// # Panics
    /// If the degree is not that of the products, or sums of products are too large for them.
    #[must_use]
    pub fn packing_key(&self, shape: GlweShape, rows: &GlweSwitchRows) -> PackingKey {
        assert_eq!(self.ring.product().degree(), shape.degree, "products of the degree of the samples");
        PackingKey { shape, held: self.device.packing_key(&self.ring, shape, rows) }
    }

    /// Holds the key of a key switch: the rows of switch 0 alone.
    ///
    /// # Panics
    /// As [`TorusServer::packing_key`].
    #[must_use]
    pub fn glwe_switch_key(&self, shape: GlweShape, rows: &GlweSwitchRows) -> GlweSwitchKey {
        assert_eq!(self.ring.product().degree(), shape.degree, "products of the degree of the samples");
        GlweSwitchKey { shape, held: self.device.glwe_switch_key(&self.ring, shape, rows) }
    }

    /// Key switch, modulus switch, blind rotation of the table and extraction, for each sample with its table: the
    /// outputs of the table, in their order.
    ///
    /// # Panics
    /// If a sample or a polynomial has another length, an output is not a coefficient, or the key is another device's.
    #[must_use]
    pub fn bootstrap(&self, key: &BootstrapKey, jobs: &[(&Lwe, &Table)]) -> Vec<Vec<Lwe>> {
        let shape = key.shape;
        for (sample, table) in jobs {
            assert_eq!(sample.dimension(), shape.extracted(), "a sample of the shape");
            assert_eq!(table.polynomial.len(), shape.degree, "a table of the degree");
            assert!(table.outputs.iter().all(|&h| h < shape.degree), "outputs are coefficients");
        }
        self.device.bootstrap(&self.ring, key, jobs)
    }

    /// The GGSW samples of the control bits of each sample, whose digit counts `1/2^m` of the circle.
    ///
    /// # Panics
    /// If a sample has another dimension, the table is of another degree, or a key is another device's.
    #[must_use]
    pub fn circuit_bootstrap(
        &self,
        (key, circuit): (&BootstrapKey, &CircuitKey),
        table: &ControlTable,
        samples: &[&Lwe],
    ) -> Controls {
        let shape = circuit.shape;
        assert_eq!(key.shape, shape, "keys of one shape");
        assert_eq!(table.polynomial().len(), shape.degree, "a table of the degree");
        assert!(samples.iter().all(|sample| sample.dimension() == shape.extracted()), "samples of the shape");
        Controls {
            shape: RotationShape::single(shape, table.gadget()),
            digits: samples.len(),
            bits: table.bits() as usize,
            held: self.device.circuit_bootstrap(&self.ring, (key, circuit), table, samples),
        }
    }

    /// The words of the GGSW samples of a digit, `[bits, (k + 1) l, k + 1, N]`, the lowest bit first.
    ///
    /// # Panics
    /// If there is no such digit, or the samples are another device's.
    #[must_use]
    pub fn download_controls(&self, controls: &Controls, digit: usize) -> Vec<u64> {
        assert!(digit < controls.digits, "digit {digit} of {}", controls.digits);
        self.device.download_controls(controls, digit)
    }

    /// The entries that the bits of each index choose, for each a sample for each output. The digits of an index lie
    /// one after the other, the lowest first.
    ///
    /// # Panics
    /// If digits are left over, the tables are of another shape, or the samples are another device's.
    #[must_use]
    pub fn lookup(&self, tables: &PackedTables, controls: &Controls) -> Vec<Vec<Lwe>> {
        assert_eq!(tables.shape(), controls.shape.samples, "controls of the shape");
        assert!((controls.digits * controls.bits).is_multiple_of(tables.bits()), "a control for each bit");
        assert!(tables.bits().is_multiple_of(controls.bits), "indices of whole digits");
        self.device.lookup(&self.ring, tables, controls)
    }

    /// For each group of samples a GLWE sample `[k + 1, N]` whose phase has the phase of sample i of m at coefficient `i 2^t / m`, and
    /// nothing but noise at the others below `2^t`; those from `2^t` on, where there are any, hold anything. m is a power of two, and t
    /// the number of steps. Samples that are missing count as 0, and cost less.
    ///
    /// # Panics
    /// If there are no steps, or more than `log2 N`, the number of samples of a group is not a power of two up to `2^t`, a sample has
    /// another dimension, or the key is another device's.
    #[must_use]
    pub fn pack(&self, key: &PackingKey, steps: usize, groups: &[Vec<Option<&Lwe>>]) -> Vec<Vec<u64>> {
        let (shape, most) = (key.shape, trace::steps(key.shape.degree));
        assert!((1..=most).contains(&steps), "{steps} steps of {most}");
        for samples in groups {
            let count = samples.len();
            let fits = count.is_power_of_two() && count <= 1 << steps;
            assert!(fits, "{count} samples: needs a power of two up to 2^{steps}");
            let is_of_shape = |sample: &&Lwe| sample.dimension() == shape.extracted();
            assert!(samples.iter().flatten().all(is_of_shape), "samples of the shape");
        }
        self.device.pack(&self.ring, key, steps, groups)
    }

    /// `(0, ..., 0, b)` plus the key's samples of `sum_i a_i T_i`, for a GLWE sample `(a_0, ..., a_{k-1}, b)`, `[k + 1, N]`. With
    /// `T_i = -S_i` it has the phase of that sample under the secret S, under the secret of the key's rows.
    ///
    /// # Panics
    /// If the sample is not of the shape, or the key is another device's.
    #[must_use]
    pub fn glwe_switch(&self, key: &GlweSwitchKey, sample: &[u64]) -> Vec<u64> {
        assert_eq!(sample.len(), key.shape.words(), "a sample of the shape");
        self.device.glwe_switch(&self.ring, key, sample)
    }
}
