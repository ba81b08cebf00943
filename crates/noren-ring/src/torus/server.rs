//! The verbs of a server over the torus, on a device.

use std::sync::Arc;

use crate::host::torus::bootstrap::Bootstrap;
use crate::torus::control_table::ControlTable;
use crate::torus::device::TorusDevice;
use crate::torus::keys::{BootstrapKey, BootstrapRows, CircuitKey, CircuitRows, Controls};
use crate::torus::lwe::Lwe;
use crate::torus::packed_tables::PackedTables;
use crate::torus::ring::TorusRing;
use crate::torus::shape::RotationShape;
use crate::torus::table::Table;

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

    /// Holds keys that lie in a file as the host has them; `None` where the device has a memory of its own.
    ///
    /// # Panics
    /// If the degree is not that of the products.
    #[must_use]
    pub fn mapped_key(&self, key: Bootstrap) -> Option<BootstrapKey> {
        let shape = key.rotation().shape();
        assert_eq!(self.ring.product().degree(), shape.degree, "products of the degree of the samples");
        Some(BootstrapKey { shape, held: self.device.mapped_key(key)? })
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

    /// A GLWE sample `[k + 1, N]` whose phase has the phase of sample i of m at coefficient `i N/m`, and nothing but
    /// noise elsewhere. m is a power of two.
    ///
    /// # Panics
    /// If the number of samples is not a power of two up to N, a sample has another dimension, or the key is another
    /// device's.
    #[must_use]
    pub fn pack(&self, key: &CircuitKey, samples: &[&Lwe]) -> Vec<u64> {
        let (shape, count) = (key.shape, samples.len());
        let most = shape.degree;
        assert!(count.is_power_of_two() && count <= most, "{count} samples: needs a power of two up to {most}");
        assert!(samples.iter().all(|sample| sample.dimension() == shape.extracted()), "samples of the shape");
        self.device.pack(&self.ring, key, samples)
    }
}
