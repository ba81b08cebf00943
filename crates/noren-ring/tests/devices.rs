//! Every device gives the same words as the one that computes each verb as its formula says.

mod oracle;
mod verbs;

use std::sync::Arc;

use noren_math::cyclotomic::Cyclotomic;
use noren_naive::Naive;
use noren_ring::device::Device;
use noren_ring::host::Host;
use noren_ring::parallel::Parallel;
use noren_ring::poly::{Coeff, Eval, Poly};
use noren_ring::ring::Ring;
use noren_ring::window::Window;

fn ring(device: Arc<dyn Device>, index: u32) -> Ring {
    let index = Cyclotomic::new(index).expect("a supported index");
    let moduli = oracle::moduli(&index, &verbs::BITS);
    Ring::on(device, Window::new(index, &moduli, Some(1), Parallel::default()).expect("a ring")).expect("transforms")
}

#[test]
fn host_and_naive_device_give_the_same_words() {
    for index in [32, 128, 21, 28, 77, 129] {
        let [host, naive] = [Arc::new(Host) as Arc<dyn Device>, Arc::new(Naive)].map(|device| ring(device, index));
        assert_eq!((host.device().name(), naive.device().name()), ("host", "naive"));
        let (found, expected) = (verbs::everything(&host), verbs::everything(&naive));
        assert_eq!(found.0.len(), expected.0.len());
        for ((verb, found), (_, expected)) in found.0.iter().zip(&expected.0) {
            assert!(found == expected, "{verb}, index {index}");
        }
    }
}

#[test]
fn secrets_stay_secret_on_every_device() {
    for device in [Arc::new(Host) as Arc<dyn Device>, Arc::new(Naive)] {
        let ring = ring(device, 32);
        let secret: Poly<Eval> = ring.ntt(ring.from_signed(&[1; 16])).into_secret();
        let public = ring.zero();
        assert!(ring.add(&public, &secret).is_secret() && ring.mul(&secret, &public).is_secret());
        assert!(ring.intt(secret.clone()).is_secret() && ring.window(0..2).restrict(&secret).is_secret());
        let mut sum = ring.zero();
        ring.mul_add_assign(&mut sum, &secret, &public);
        assert!(sum.is_secret() && !ring.add(&public, &public).is_secret());
        assert!(!secret.into_public().is_secret());
    }
}

#[test]
#[should_panic(expected = "device")]
fn elements_of_two_devices_do_not_mix() {
    let [host, naive] = [Arc::new(Host) as Arc<dyn Device>, Arc::new(Naive)].map(|device| ring(device, 32));
    let (a, b): (Poly<Coeff>, Poly<Coeff>) = (host.zero(), naive.zero());
    let _ = host.add(&a, &b);
}
