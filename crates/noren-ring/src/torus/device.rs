//! The door for devices that bootstrap.

use std::fmt;

use noren_math::machine::mapped::MappedRow;

use crate::handle::KeyHandle;
use crate::torus::control_table::ControlTable;
use crate::torus::expanded::{BootstrapLayout, BootstrapWords};
use crate::torus::keys::{BootstrapKey, BootstrapRows, CircuitKey, CircuitRows, Controls};
use crate::torus::keys::{GlweSwitchKey, GlweSwitchRows, PackingKey};
use crate::torus::lwe::Lwe;
use crate::torus::packed_tables::PackedTables;
use crate::torus::ring::TorusRing;
use crate::torus::shape::GlweShape;
use crate::torus::table::Table;

/// Holds keys in a memory of its own, and bootstraps with them.
///
/// [`TorusServer`](crate::torus::server::TorusServer) is the face of every device: it checks operands, and hands each
/// verb on. LWE samples come and go as words: a bootstrap takes far longer than moving its sample. What a verb computes
/// is exact, so devices give the same words, but for one freedom: external products, and key switches of packing, may go through
/// floating-point transforms, with an error far below the noise of samples. [`Host`](crate::host::Host) is the device of the CPU; the
/// crate `noren-naive` holds the shortest one.
///
/// A verb gets keys that were made by the same device.
pub trait TorusDevice: fmt::Debug + Send + Sync {
    /// The name of the device, for messages.
    fn name(&self) -> &str;

    /// How many samples it takes to keep the whole device at work.
    fn capacity(&self, ring: &TorusRing) -> usize;

    /// Holds the keys of a bootstrap, whose rows the host writes, in any order and several at a time.
    fn bootstrap_key(&self, ring: &TorusRing, rows: &BootstrapRows) -> KeyHandle;

    /// Holds keys of a bootstrap that lie in a file: the numbers of the blind rotation and the words of the key switch, as many as
    /// the layout has. `None` where a device does not compute with that form.
    fn map_bootstrap_key(&self, ring: &TorusRing, layout: BootstrapLayout, words: [MappedRow; 2]) -> Option<KeyHandle> {
        let _ = (ring, layout, words);
        None
    }

    /// The numbers and words of keys of a bootstrap, as files of expanded keys have them. `None` where a device, or a key, has
    /// another form.
    fn bootstrap_words<'a>(&self, key: &'a BootstrapKey) -> Option<BootstrapWords<'a>> {
        let _ = key;
        None
    }

    /// Holds the keys of circuit bootstrapping.
    fn circuit_key(&self, ring: &TorusRing, rows: &CircuitRows) -> KeyHandle;

    /// Holds the keys of all steps of a trace.
    fn packing_key(&self, ring: &TorusRing, shape: GlweShape, rows: &GlweSwitchRows) -> KeyHandle;

    /// Holds the key of one key switch, the first one of the rows.
    fn glwe_switch_key(&self, ring: &TorusRing, shape: GlweShape, rows: &GlweSwitchRows) -> KeyHandle;

    /// [`TorusServer::bootstrap`](crate::torus::server::TorusServer::bootstrap).
    fn bootstrap(&self, ring: &TorusRing, key: &BootstrapKey, jobs: &[(&Lwe, &Table)]) -> Vec<Vec<Lwe>>;

    /// [`TorusServer::circuit_bootstrap`](crate::torus::server::TorusServer::circuit_bootstrap).
    fn circuit_bootstrap(
        &self,
        ring: &TorusRing,
        keys: (&BootstrapKey, &CircuitKey),
        table: &ControlTable,
        samples: &[&Lwe],
    ) -> KeyHandle;

    /// [`TorusServer::download_controls`](crate::torus::server::TorusServer::download_controls).
    fn download_controls(&self, controls: &Controls, digit: usize) -> Vec<u64>;

    /// [`TorusServer::lookup`](crate::torus::server::TorusServer::lookup).
    fn lookup(&self, ring: &TorusRing, tables: &PackedTables, controls: &Controls) -> Vec<Vec<Lwe>>;

    /// [`TorusServer::pack`](crate::torus::server::TorusServer::pack).
    fn pack(&self, ring: &TorusRing, key: &PackingKey, steps: usize, groups: &[Vec<Option<&Lwe>>]) -> Vec<Vec<u64>>;

    /// [`TorusServer::glwe_switch`](crate::torus::server::TorusServer::glwe_switch).
    fn glwe_switch(&self, ring: &TorusRing, key: &GlweSwitchKey, sample: &[u64]) -> Vec<u64>;
}
