//! The verbs of [`Host`] over the torus.

use std::sync::Arc;

use noren_math::machine::aligned::AlignedVec;
use noren_math::machine::mapped::{MappedFile, MappedRow};
use noren_math::torus_products::matrix::Precision;

use crate::handle::{DeviceKey, KeyHandle};
use crate::host::Host;
use crate::host::torus::blind_rotation::BlindRotation;
use crate::host::torus::bootstrap::{BLOCK, Bootstrap};
use crate::host::torus::circuit_bootstrap::CircuitBootstrap;
use crate::host::torus::cmux_tree::lookup_each;
use crate::host::torus::glwe_switch::GlweSwitch;
use crate::host::torus::key_switch::LweSwitch;
use crate::host::torus::packing::pack_each;
use crate::host::torus::trace::Trace;
use crate::torus::control_table::ControlTable;
use crate::torus::device::TorusDevice;
use crate::torus::expanded::{BootstrapLayout, BootstrapWords};
use crate::torus::keys::{BootstrapKey, BootstrapRows, CircuitKey, CircuitRows, Controls, GgswRows};
use crate::torus::keys::{GlweSwitchKey, GlweSwitchRows, PackingKey};
use crate::torus::lwe::Lwe;
use crate::torus::packed_tables::PackedTables;
use crate::torus::ring::TorusRing;
use crate::torus::shape::GlweShape;
use crate::torus::table::Table;
use crate::torus::trace::steps;

/// For each digit the words of its GGSW samples, `[bits, (k + 1) l, k + 1, N]`.
#[derive(Debug)]
struct HostControls(Vec<AlignedVec<u64>>);

impl TorusDevice for Host {
    fn name(&self) -> &str {
        "host"
    }

    fn capacity(&self, ring: &TorusRing) -> usize {
        BLOCK * ring.engine().threads()
    }

    fn bootstrap_key(&self, ring: &TorusRing, rows: &BootstrapRows) -> KeyHandle {
        let switch = rows.switch;
        let switch = LweSwitch::from_fn(ring.engine(), (switch.from, switch.to), switch.gadget, switch.write);
        KeyHandle::new(Bootstrap::new(switch, rotation(ring, &rows.rotation)))
    }

    fn map_bootstrap_key(&self, ring: &TorusRing, layout: BootstrapLayout, words: [MappedRow; 2]) -> Option<KeyHandle> {
        let [rotation, switch] = words;
        let rotation = BlindRotation::mapped(ring.product(), layout.rotation, layout.bits, rotation)?;
        let dimensions = (layout.rotation.samples.extracted(), layout.bits);
        Some(KeyHandle::new(Bootstrap::new(LweSwitch::mapped(dimensions, layout.switch, switch), rotation)))
    }

    fn bootstrap_words<'a>(&self, key: &'a BootstrapKey) -> Option<BootstrapWords<'a>> {
        let key: &Bootstrap = own(key.held());
        Some(BootstrapWords { rotation: key.rotation().numbers()?, switch: key.switch().words() })
    }

    fn circuit_key(&self, ring: &TorusRing, rows: &CircuitRows) -> KeyHandle {
        let shape = rows.rotation.shape.samples;
        let squares = (0..shape.dimension).map(|r| glwe_switch(ring, shape, &rows.square, r)).collect();
        let trace = whole_trace(ring, shape, &rows.trace, Precision::Exact);
        KeyHandle::new(CircuitBootstrap::new(rotation(ring, &rows.rotation), trace, squares))
    }

    fn packing_key(&self, ring: &TorusRing, shape: GlweShape, rows: &GlweSwitchRows) -> KeyHandle {
        KeyHandle::new(whole_trace(ring, shape, rows, Precision::Rounded))
    }

    fn glwe_switch_key(&self, ring: &TorusRing, shape: GlweShape, rows: &GlweSwitchRows) -> KeyHandle {
        KeyHandle::new(glwe_switch(ring, shape, rows, 0))
    }

    fn bootstrap(&self, ring: &TorusRing, key: &BootstrapKey, jobs: &[(&Lwe, &Table)]) -> Vec<Vec<Lwe>> {
        own::<Bootstrap>(key.held()).run(ring.engine(), jobs)
    }

    fn circuit_bootstrap(
        &self,
        ring: &TorusRing,
        (key, circuit): (&BootstrapKey, &CircuitKey),
        table: &ControlTable,
        samples: &[&Lwe],
    ) -> KeyHandle {
        let (key, circuit): (&Bootstrap, &CircuitBootstrap) = (own(key.held()), own(circuit.held()));
        KeyHandle::new(HostControls(circuit.run(ring.engine(), key.switch(), table, samples)))
    }

    fn download_controls(&self, controls: &Controls, digit: usize) -> Vec<u64> {
        own::<HostControls>(controls.held()).0[digit].to_vec()
    }

    fn lookup(&self, ring: &TorusRing, tables: &PackedTables, controls: &Controls) -> Vec<Vec<Lwe>> {
        let (shape, bits) = (controls.shape(), controls.bits());
        let words = shape.samples.words();
        let transformed = |digits: &[AlignedVec<u64>]| {
            BlindRotation::from_fn(ring.engine(), ring.product(), shape, tables.bits(), |bit, row, out| {
                let rows = &digits[bit / bits];
                let place = (bit % bits * rows.len() / bits) + row * words;
                out.copy_from_slice(&rows[place..place + words]);
            })
        };
        let digits = &own::<HostControls>(controls.held()).0;
        let controls: Vec<BlindRotation> = digits.chunks(tables.bits() / bits).map(transformed).collect();
        lookup_each(ring.engine(), tables, &controls)
    }

    fn pack(&self, ring: &TorusRing, key: &PackingKey, steps: usize, groups: &[Vec<Option<&Lwe>>]) -> Vec<Vec<u64>> {
        pack_each(ring.engine(), own(key.held()), steps, groups)
    }

    fn glwe_switch(&self, _: &TorusRing, key: &GlweSwitchKey, sample: &[u64]) -> Vec<u64> {
        let (key, mut out) = (own::<GlweSwitch>(key.held()), vec![0; sample.len()]);
        let (mask, body) = sample.split_at(key.shape().extracted());
        out[mask.len()..].copy_from_slice(body);
        key.add(&mut out, &mut mask.to_vec(), &mut key.scratch());
        out
    }
}

impl DeviceKey for Bootstrap {
    fn bytes(&self) -> usize {
        self.rotation().bytes() + self.switch().bytes()
    }

    fn file(&self) -> Option<&Arc<MappedFile>> {
        self.rotation().file().or_else(|| self.switch().file())
    }
}

impl DeviceKey for CircuitBootstrap {
    fn bytes(&self) -> usize {
        Self::bytes(self)
    }
}

impl DeviceKey for Trace {
    fn bytes(&self) -> usize {
        Self::bytes(self)
    }
}

impl DeviceKey for GlweSwitch {
    fn bytes(&self) -> usize {
        Self::bytes(self)
    }
}

impl DeviceKey for HostControls {
    fn bytes(&self) -> usize {
        self.0.iter().map(|rows| size_of_val(&rows[..])).sum()
    }
}

fn rotation(ring: &TorusRing, rows: &GgswRows) -> BlindRotation {
    BlindRotation::from_fn(ring.engine(), ring.product(), rows.shape, rows.bits, rows.write)
}

/// The switch of this number.
fn glwe_switch(ring: &TorusRing, shape: GlweShape, rows: &GlweSwitchRows, number: usize) -> GlweSwitch {
    GlweSwitch::from_fn(ring.product(), (shape, rows.gadget, Precision::Exact), |row, out| {
        (rows.write)(number, row, out)
    })
}

fn whole_trace(ring: &TorusRing, shape: GlweShape, rows: &GlweSwitchRows, precision: Precision) -> Trace {
    Trace::from_fn(ring.engine(), ring.product(), (shape, rows.gadget, steps(shape.degree)), precision, rows.write)
}

/// Keys of the host.
///
/// # Panics
/// If they are another device's.
fn own<K: DeviceKey>(handle: &KeyHandle) -> &K {
    handle.get().expect("keys are used on the device that holds them")
}
