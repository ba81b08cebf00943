//! Every device that bootstraps gives the same words as the one that computes each verb as its formula says, where products are
//! exact, and nearly so where they are made in `f64`.

use std::sync::Arc;

use noren_math::random::Seed;
use noren_math::torus::gadget::Gadget;
use noren_math::torus_products::matrix::{Precision, SwitchShape};
use noren_math::torus_products::product::Grouping;
use noren_naive::Naive;
use noren_ring::engine::Engine;
use noren_ring::host::Host;
use noren_ring::parallel::Parallel;
use noren_ring::torus::control_table::ControlTable;
use noren_ring::torus::device::TorusDevice;
use noren_ring::torus::keys::{BootstrapKey, BootstrapRows, CircuitKey, CircuitRows};
use noren_ring::torus::keys::{GgswRows, GlweSwitchRows, LweSwitchRows};
use noren_ring::torus::lwe::Lwe;
use noren_ring::torus::packed_tables::PackedTables;
use noren_ring::torus::product::TorusProduct;
use noren_ring::torus::ring::TorusRing;
use noren_ring::torus::server::TorusServer;
use noren_ring::torus::shape::{GlweShape, RotationShape};
use noren_ring::torus::table::Table;
use noren_ring::torus::trace;

/// The bits of the short secret.
const BITS: usize = 6;

fn words(label: &str, count: usize) -> Vec<u64> {
    let mut words = vec![0; count];
    Seed::from_bytes([4; 32]).xof(label).fill_u64(&mut words);
    words
}

/// A device, on several threads, with exact products.
fn server(device: Arc<dyn TorusDevice>, degree: usize) -> TorusServer {
    let engine = Engine::new(Some(2), Parallel::default(), 0).expect("threads");
    TorusServer::on(device, TorusRing::new(engine, TorusProduct::exact(degree).expect("transforms")))
}

fn servers(degree: usize) -> [TorusServer; 2] {
    [Arc::new(Host) as Arc<dyn TorusDevice>, Arc::new(Naive)].map(|device| server(device, degree))
}

fn write(label: &str) -> impl Fn(usize, usize, &mut [u64]) + Send + Sync + use<'_> {
    move |i, row, out: &mut [u64]| out.copy_from_slice(&words(&format!("{label}/{i}/{row}"), out.len()))
}

/// Keys whose rows are any words: verbs are arithmetic, whatever the words encrypt.
fn bootstrap_key(server: &TorusServer, shape: RotationShape) -> BootstrapKey {
    server.bootstrap_key(&BootstrapRows {
        switch: LweSwitchRows {
            from: shape.samples.extracted(),
            to: BITS,
            gadget: Gadget::new(3, 4),
            write: &|i, rows: &mut [&mut [u32]]| {
                for (j, row) in rows.iter_mut().enumerate() {
                    let drawn = words(&format!("switch/{i}/{j}"), row.len());
                    row.iter_mut().zip(drawn).for_each(|(x, word)| *x = word as u32);
                }
            },
        },
        rotation: GgswRows { shape, bits: BITS, write: &write("rotation") },
    })
}

fn circuit_key(server: &TorusServer, samples: GlweShape) -> CircuitKey {
    server.circuit_key(&CircuitRows {
        rotation: GgswRows {
            shape: RotationShape::single(samples, Gadget::new(5, 4)),
            bits: BITS,
            write: &write("circuit"),
        },
        trace: GlweSwitchRows { gadget: Gadget::new(4, 9), write: &write("trace") },
        square: GlweSwitchRows { gadget: Gadget::new(7, 3), write: &write("square") },
    })
}

fn samples(shape: GlweShape, count: usize) -> Vec<Lwe> {
    (0..count).map(|i| Lwe::from_words(words(&format!("sample {i}"), shape.extracted() + 1))).collect()
}

#[test]
fn bootstraps_have_the_same_words_on_every_device() {
    for (dimension, degree, grouping) in
        [(1, 32, Grouping::Single), (3, 16, Grouping::Single), (1, 64, Grouping::Pair), (2, 16, Grouping::Pair)]
    {
        let samples_shape = GlweShape { dimension, degree };
        let shape = RotationShape { samples: samples_shape, gadget: Gadget::new(6, 3), grouping };
        let samples = samples(samples_shape, 19);
        let tables = [[0].as_slice(), &[3, 0, degree - 1]].map(|outputs| {
            let polynomial = words("table", degree);
            Table::from_fn(degree, |place| polynomial[place], outputs)
        });
        let jobs: Vec<(&Lwe, &Table)> = samples.iter().zip(tables.iter().cycle()).collect();
        let [host, naive] = servers(degree).map(|server| server.bootstrap(&bootstrap_key(&server, shape), &jobs));
        assert_eq!((host.len(), host[0].len(), host[1].len()), (19, 1, 3));
        assert!(host == naive, "{dimension} masks of degree {degree}, {grouping:?}");
    }
}

#[test]
fn circuit_bootstraps_and_lookups_have_the_same_words_on_every_device() {
    // Several outputs in a polynomial, and several polynomials for an output.
    for (dimension, degree, bits, outputs) in [(1, 64, 4, 6), (2, 32, 6, 2)] {
        let samples_shape = GlweShape { dimension, degree };
        let shape = RotationShape::single(samples_shape, Gadget::new(6, 3));
        let table = ControlTable::new(degree, 2, Gadget::new(9, 2));
        let samples = samples(samples_shape, bits);
        let samples: Vec<&Lwe> = samples.iter().collect();
        let tables =
            PackedTables::from_fn(samples_shape, (bits, outputs), 1 << 57, |x, output| ((7 * x + output) % 64) as u16);
        let [host, naive] = servers(degree).map(|server| {
            let keys = (&bootstrap_key(&server, shape), &circuit_key(&server, samples_shape));
            let controls = server.circuit_bootstrap(keys, &table, &samples);
            let rows: Vec<_> = (0..samples.len()).map(|digit| server.download_controls(&controls, digit)).collect();
            (rows, server.lookup(&tables, &controls))
        });
        assert_eq!((host.0.len(), host.1.len(), host.1[0].len()), (bits, 2, outputs));
        assert!(host.0 == naive.0, "controls, {dimension} masks of degree {degree}");
        assert!(host.1 == naive.1, "lookups, {dimension} masks of degree {degree}");
    }
}

#[test]
fn packed_samples_have_the_same_words_on_every_device() {
    for (dimension, degree) in [(1, 32), (2, 16)] {
        let shape = GlweShape { dimension, degree };
        let (all, rows) = (trace::steps(degree), GlweSwitchRows { gadget: Gadget::new(4, 9), write: &write("trace") });
        let samples = samples(shape, degree);
        // All samples; the first, some, or the last ones alone; none.
        let chosen: [fn(usize) -> bool; 5] = [|_| true, |i| i == 0, |i| i % 3 == 1, |i| i % 4 == 3, |_| false];
        for steps in [all, all - 1, 2] {
            for count in [1, 2, 1 << steps] {
                let group = |is_there: fn(usize) -> bool| {
                    let sample = |(i, sample)| if is_there(i) { Some(sample) } else { None };
                    samples.iter().take(count).enumerate().map(sample).collect()
                };
                let groups: Vec<Vec<Option<&Lwe>>> = chosen.map(group).into();
                let [host, naive] =
                    servers(degree).map(|server| server.pack(&server.packing_key(shape, &rows), steps, &groups));
                assert!(host == naive, "{count} samples, {steps} steps, {dimension} masks of degree {degree}");
                assert!(host[4].iter().all(|&word| word == 0), "nothing is 0");
            }
        }
    }
}

#[test]
fn one_step_of_packing_in_f64_is_as_near_as_its_law_says() {
    // Words of the next step would have other digits: its phases are near, but not its words.
    for (dimension, degree, gadget) in [
        (1, 32, Gadget::new(4, 9)),
        (2, 64, Gadget::new(20, 3)),
        (1, 256, Gadget::new(12, 3)),
        (1, 512, Gadget::new(31, 2)),
    ] {
        let shape = GlweShape { dimension, degree };
        let rows = GlweSwitchRows { gadget, write: &write("trace") };
        let samples = samples(shape, 2);
        let groups =
            [vec![Some(&samples[0]), Some(&samples[1])], vec![None, Some(&samples[0])], vec![Some(&samples[1])]];
        let [fast, exact] = [TorusProduct::new(degree), TorusProduct::exact(degree)].map(|product| {
            let engine = Engine::new(Some(2), Parallel::default(), 0).expect("threads");
            let server = TorusServer::on(Arc::new(Host), TorusRing::new(engine, product.expect("transforms")));
            server.pack(&server.packing_key(shape, &rows), 1, &groups).concat()
        });
        let (inputs, precision) = (dimension, Precision::Rounded);
        let law = SwitchShape { inputs, columns: inputs + 1, gadget, precision }.error_deviation(degree);
        let errors = fast.iter().zip(&exact).map(|(x, y)| x.wrapping_sub(*y).cast_signed() as f64);
        let (largest, squares) =
            errors.fold((0.0, 0.0), |(largest, sum): (f64, f64), e| (largest.max(e.abs()), sum + e * e));
        let measured = (squares / fast.len() as f64).sqrt();
        assert!(largest < 16.0 * law + 1.0, "{largest} for {law}, degree {degree}");
        assert!(measured < 1.1 * law + 1.0 && measured > 0.5 * law, "{measured} for {law}, degree {degree}");
    }
}

#[test]
fn packed_samples_have_the_same_words_on_any_number_of_threads() {
    let shape = GlweShape { dimension: 1, degree: 256 };
    let rows = GlweSwitchRows { gadget: Gadget::new(12, 3), write: &write("trace") };
    let samples = samples(shape, 256);
    let all: Vec<Option<&Lwe>> = samples.iter().map(Some).collect();
    let some = all.iter().enumerate().map(|(i, sample)| sample.filter(|_| i % 3 == 0)).collect();
    let groups = [all.clone(), some, vec![None; 256], all[..1].to_vec()];
    let [one, three] = [1, 3].map(|threads| {
        let engine = Engine::new(Some(threads), Parallel::default(), 0).expect("threads");
        let ring = TorusRing::new(engine, TorusProduct::new(256).expect("transforms"));
        let server = TorusServer::on(Arc::new(Host), ring);
        let key = server.packing_key(shape, &rows);
        [server.pack(&key, 8, &groups), server.pack(&key, 8, &groups[1..2])]
    });
    assert!(one == three && one[0][1] == one[1][0]);
}

#[test]
fn switched_samples_have_the_same_words_on_every_device() {
    for (dimension, degree) in [(1, 32), (2, 16)] {
        let shape = GlweShape { dimension, degree };
        let rows = GlweSwitchRows { gadget: Gadget::new(7, 4), write: &write("down") };
        let sample = words("sample", shape.words());
        let [host, naive] =
            servers(degree).map(|server| server.glwe_switch(&server.glwe_switch_key(shape, &rows), &sample));
        assert!(host == naive, "{dimension} masks of degree {degree}");
    }
}

#[test]
#[should_panic(expected = "keys are used on the device that holds them")]
fn keys_of_two_devices_do_not_mix() {
    let [host, naive] = servers(16);
    let shape = RotationShape::single(GlweShape { dimension: 1, degree: 16 }, Gadget::new(6, 3));
    let sample = Lwe::trivial(16, 0);
    let table = Table::from_fn(16, |_| 0, &[0]);
    let _ = naive.bootstrap(&bootstrap_key(&host, shape), &[(&sample, &table)]);
}
