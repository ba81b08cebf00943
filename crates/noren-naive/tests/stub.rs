//! A device of which no verb is written yet: where work on another device begins.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use noren_math::cyclotomic::Cyclotomic;
use noren_naive::{Counting, Trace};
use noren_ring::decompose::Decomposer;
use noren_ring::device::{Change, Device, Direction, Operation, Upload};
use noren_ring::divide::DivideRound;
use noren_ring::handle::KeyHandle;
use noren_ring::images::Images;
use noren_ring::key::KeyPairs;
use noren_ring::matrix::Matrix;
use noren_ring::memory::Limbs;
use noren_ring::operand::Operand;
use noren_ring::parallel::Parallel;
use noren_ring::poly::{Eval, Poly};
use noren_ring::product::{Pairs, ScaledProduct};
use noren_ring::product_switch::SwitchedProduct;
use noren_ring::ring::Ring;
use noren_ring::small::SmallPolynomials;
use noren_ring::switch::{KeySwitch, Term};
use noren_ring::torus::control_table::ControlTable;
use noren_ring::torus::device::TorusDevice;
use noren_ring::torus::keys::{BootstrapKey, BootstrapRows, CircuitKey, CircuitRows, Controls};
use noren_ring::torus::keys::{GlweSwitchKey, GlweSwitchRows, PackingKey};
use noren_ring::torus::lwe::Lwe;
use noren_ring::torus::packed_tables::PackedTables;
use noren_ring::torus::ring::TorusRing;
use noren_ring::torus::shape::GlweShape;
use noren_ring::torus::table::Table;
use noren_ring::window::Window;

#[derive(Debug)]
struct Stub;

/// Verbs that panic with their names.
macro_rules! unwritten {
    ($(fn $verb:ident(&self $(, $operand:ty)*) $(-> $result:ty)?;)*) => {$(
        fn $verb(&self $(, _: $operand)*) $(-> $result)? {
            unimplemented!("{}", stringify!($verb))
        }
    )*};
}

impl Device for Stub {
    fn name(&self) -> &str {
        "stub"
    }

    unwritten! {
        fn zero(&self, &Window) -> Limbs;
        fn upload(&self, &Window, Upload) -> Limbs;
        fn download(&self, &Limbs, usize, &mut dyn FnMut(&[u64]));
        fn transform(&self, &Window, &mut Limbs, Direction);
        fn compute(&self, &Window, Operation) -> Limbs;
        fn update(&self, &Window, &mut Limbs, Change);
        fn key(&self, &Window, usize) -> KeyHandle;
        fn set_key_pair(&self, &mut KeyPairs, usize, [&Poly<Eval>; 2]);
        fn key_half(&self, &Window, &KeyPairs, usize, usize) -> Poly<Eval>;
        fn gather(&self, &Window, Operand) -> Poly<Eval>;
        fn divide_round(&self, &DivideRound, Vec<Poly<Eval>>) -> Vec<Poly<Eval>>;
        fn switch(&self, &Decomposer, &Window, Operand, &KeySwitch) -> [Poly<Eval>; 2];
        fn switch_each(&self, &Decomposer, &Window, &Poly<Eval>, &KeySwitch) -> Vec<[Poly<Eval>; 2]>;
        fn sum_in_steps(&self, &Decomposer, &Window, [&Poly<Eval>; 2], &[&[Term]], &DivideRound) -> [Poly<Eval>; 2];
        fn multiply_matrix(&self, &Decomposer, &Window, [&Poly<Eval>; 2], &Matrix) -> [Poly<Eval>; 2];
        fn scaled_product(&self, &ScaledProduct, &[Pairs]) -> [Poly<Eval>; 3];
        fn switched_product(&self, &SwitchedProduct, &Decomposer, &KeyPairs, &[Pairs]) -> [Poly<Eval>; 2];
        fn raise(&self, &Window, &Poly<Eval>) -> Poly<Eval>;
        fn raise_and_switch(&self, &DivideRound, [&Poly<Eval>; 2], &KeyPairs) -> [Poly<Eval>; 2];
        fn mask(&self, &Window, [&Poly<Eval>; 2], &[i64], [&[i64]; 2], &Poly<Eval>) -> [Poly<Eval>; 2];
        fn images(&self, &Window, usize) -> Limbs;
        fn set_image(&self, &mut Images, usize, [&Poly<Eval>; 2]);
        fn streamed_sums(&self, &Window, &[&Images], &SmallPolynomials) -> Vec<Vec<[Poly<Eval>; 2]>>;
    }
}

impl TorusDevice for Stub {
    fn name(&self) -> &str {
        "stub"
    }

    unwritten! {
        fn capacity(&self, &TorusRing) -> usize;
        fn bootstrap_key(&self, &TorusRing, &BootstrapRows) -> KeyHandle;
        fn circuit_key(&self, &TorusRing, &CircuitRows) -> KeyHandle;
        fn packing_key(&self, &TorusRing, GlweShape, &GlweSwitchRows) -> KeyHandle;
        fn glwe_switch_key(&self, &TorusRing, GlweShape, &GlweSwitchRows) -> KeyHandle;
        fn bootstrap(&self, &TorusRing, &BootstrapKey, &[(&Lwe, &Table)]) -> Vec<Vec<Lwe>>;
        fn circuit_bootstrap(&self, &TorusRing, (&BootstrapKey, &CircuitKey), &ControlTable, &[&Lwe]) -> KeyHandle;
        fn download_controls(&self, &Controls, usize) -> Vec<u64>;
        fn lookup(&self, &TorusRing, &PackedTables, &Controls) -> Vec<Vec<Lwe>>;
        fn pack(&self, &TorusRing, &PackingKey, usize, &[Vec<Option<&Lwe>>]) -> Vec<Vec<u64>>;
        fn glwe_switch(&self, &TorusRing, &GlweSwitchKey, &[u64]) -> Vec<u64>;
    }
}

#[test]
fn a_ring_asks_its_device_for_nothing_before_elements_are_made() {
    let stub = Arc::new(Counting::new(Stub));
    let window = Window::new(Cyclotomic::power_of_two(16).expect("a degree"), &[97], Some(1), Parallel::default());
    let ring = Ring::on(stub.clone(), window.expect("a prime that is 1 modulo 32")).expect("a device that takes it");
    assert_eq!(stub.take(), Trace::default());
    let missing = catch_unwind(AssertUnwindSafe(|| ring.from_signed(&[1; 16])));
    let message = *missing.expect_err("no verb is written").downcast::<&str>().expect("a message");
    assert_eq!(message, "not implemented: upload");
    assert_eq!(stub.take(), Trace { uploads: vec!["upload"], ..Trace::default() });
}
