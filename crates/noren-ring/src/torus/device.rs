//! The door for devices that bootstrap.

use std::fmt;

use crate::host::torus::bootstrap::Bootstrap;
use crate::torus::control_table::ControlTable;
use crate::torus::keys::{BootstrapKey, BootstrapRows, CircuitKey, CircuitRows, Controls, Held};
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
    fn bootstrap_key(&self, ring: &TorusRing, rows: &BootstrapRows) -> Held;

    /// Holds keys of a bootstrap that lie in a file as the host has them; `None` where a device has a memory of its
    /// own.
    fn mapped_key(&self, key: Bootstrap) -> Option<Held> {
        let _ = key;
        None
    }

    /// Holds the keys of circuit bootstrapping.
    fn circuit_key(&self, ring: &TorusRing, rows: &CircuitRows) -> Held;

    /// Holds the keys of all steps of a trace.
    fn packing_key(&self, ring: &TorusRing, shape: GlweShape, rows: &GlweSwitchRows) -> Held;

    /// Holds the key of one key switch, the first one of the rows.
    fn glwe_switch_key(&self, ring: &TorusRing, shape: GlweShape, rows: &GlweSwitchRows) -> Held;

    /// [`TorusServer::bootstrap`](crate::torus::server::TorusServer::bootstrap).
    fn bootstrap(&self, ring: &TorusRing, key: &BootstrapKey, jobs: &[(&Lwe, &Table)]) -> Vec<Vec<Lwe>>;

    /// [`TorusServer::circuit_bootstrap`](crate::torus::server::TorusServer::circuit_bootstrap).
    fn circuit_bootstrap(
        &self,
        ring: &TorusRing,
        keys: (&BootstrapKey, &CircuitKey),
        table: &ControlTable,
        samples: &[&Lwe],
    ) -> Held;

    /// [`TorusServer::download_controls`](crate::torus::server::TorusServer::download_controls).
    fn download_controls(&self, controls: &Controls, digit: usize) -> Vec<u64>;

    /// [`TorusServer::lookup`](crate::torus::server::TorusServer::lookup).
    fn lookup(&self, ring: &TorusRing, tables: &PackedTables, controls: &Controls) -> Vec<Vec<Lwe>>;

    /// [`TorusServer::pack`](crate::torus::server::TorusServer::pack).
    fn pack(&self, ring: &TorusRing, key: &PackingKey, steps: usize, groups: &[Vec<Option<&Lwe>>]) -> Vec<Vec<u64>>;

    /// [`TorusServer::glwe_switch`](crate::torus::server::TorusServer::glwe_switch).
    fn glwe_switch(&self, ring: &TorusRing, key: &GlweSwitchKey, sample: &[u64]) -> Vec<u64>;
}
