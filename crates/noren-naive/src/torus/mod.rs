//! The verbs over the torus, each as its formula says: products term by term, modulo `2^64`.

mod polynomial;
mod samples;

use noren_ring::handle::{DeviceKey, KeyHandle};
use noren_ring::torus::control_table::ControlTable;
use noren_ring::torus::device::TorusDevice;
use noren_ring::torus::keys::{BootstrapKey, BootstrapRows, CircuitKey, CircuitRows, Controls};
use noren_ring::torus::keys::{GlweSwitchKey, GlweSwitchRows, PackingKey};
use noren_ring::torus::lwe::Lwe;
use noren_ring::torus::packed_tables::PackedTables;
use noren_ring::torus::ring::TorusRing;
use noren_ring::torus::shape::GlweShape;
use noren_ring::torus::table::Table;
use noren_ring::torus::trace;

use crate::Naive;
use crate::torus::polynomial::shifted;
use crate::torus::samples::{Ggsw, Glwe, GlweSwitch, LweSwitch, divided, exponents};

#[derive(Debug)]
struct Bootstrap {
    switch: LweSwitch,
    rotation: Ggsw,
}

#[derive(Debug)]
struct Circuit {
    rotation: Ggsw,
    trace: Vec<GlweSwitch>,
    squares: Vec<GlweSwitch>,
}

/// The automorphisms of a trace.
#[derive(Debug)]
struct Trace(Vec<GlweSwitch>);

/// The rows of the GGSW samples of the bits of each digit, the lowest bit first.
#[derive(Debug)]
struct Bits(Vec<Vec<Glwe>>);

impl TorusDevice for Naive {
    fn name(&self) -> &str {
        "naive"
    }

    fn capacity(&self, _: &TorusRing) -> usize {
        1
    }

    fn bootstrap_key(&self, _: &TorusRing, rows: &BootstrapRows) -> KeyHandle {
        KeyHandle::new(Bootstrap { switch: LweSwitch::new(&rows.switch), rotation: Ggsw::new(&rows.rotation) })
    }

    fn circuit_key(&self, _: &TorusRing, rows: &CircuitRows) -> KeyHandle {
        let shape = rows.rotation.shape.samples;
        KeyHandle::new(Circuit {
            rotation: Ggsw::new(&rows.rotation),
            trace: switches(shape, &rows.trace, trace::steps(shape.degree)),
            squares: switches(shape, &rows.square, shape.dimension),
        })
    }

    fn packing_key(&self, _: &TorusRing, shape: GlweShape, rows: &GlweSwitchRows) -> KeyHandle {
        KeyHandle::new(Trace(switches(shape, rows, trace::steps(shape.degree))))
    }

    fn glwe_switch_key(&self, _: &TorusRing, shape: GlweShape, rows: &GlweSwitchRows) -> KeyHandle {
        KeyHandle::new(GlweSwitch::new(shape, rows, 0))
    }

    /// Rotates the table by the phase, modulo 2N, and extracts.
    fn bootstrap(&self, _: &TorusRing, key: &BootstrapKey, jobs: &[(&Lwe, &Table)]) -> Vec<Vec<Lwe>> {
        let keys: &Bootstrap = own(key.held());
        let bootstrap = |(sample, table): &(&Lwe, &Table)| {
            let acc = rotated(&keys.switch, &keys.rotation, &table.polynomial, sample);
            table.outputs.iter().map(|&h| acc.extract(h)).collect()
        };
        jobs.iter().map(bootstrap).collect()
    }

    /// The trace of each box of the rotated table is a sample of `-(-1)^c 2^64 / (2 B^j)` for a control bit c; a
    /// constant makes it one of `c 2^64 / B^j`, which is row (k, j), and products with the secret the others.
    fn circuit_bootstrap(
        &self,
        _: &TorusRing,
        (key, circuit): (&BootstrapKey, &CircuitKey),
        table: &ControlTable,
        samples: &[&Lwe],
    ) -> KeyHandle {
        let (keys, circuit): (&Bootstrap, &Circuit) = (own(key.held()), own(circuit.held()));
        let (k, n) = (key.shape().dimension, key.shape().degree);
        let steps = |acc: Glwe, of: &[GlweSwitch], first: usize| {
            of.iter().zip(first..).fold(acc, |acc, (switch, step)| acc.add(&automorphism(&acc, switch, step)))
        };
        let controls = |sample: &&Lwe| {
            let (shared, rest) = circuit.trace.split_at(table.shared_steps());
            let acc = divided(rotated(&keys.switch, &circuit.rotation, table.polynomial(), sample), n);
            let acc = steps(acc, shared, 0);
            let level_rows = |bit: usize, level: usize| {
                let mut row = steps(acc.shift(2 * n - table.place(bit, level)), rest, shared.len());
                row.0[k][0] = row.0[k][0].wrapping_add(table.half_weight(level));
                let products = circuit.squares.iter().enumerate().map(|(r, square)| {
                    let mut product = square.switch(&row.0[..k]);
                    product.0[r] = polynomial::sum(&product.0[r], &row.0[k]);
                    product
                });
                products.chain([row.clone()]).collect::<Vec<_>>()
            };
            let levels = table.gadget().levels();
            let bits = (0..table.bits() as usize).flat_map(|bit| {
                let rows: Vec<Vec<Glwe>> = (0..levels).map(|level| level_rows(bit, level)).collect();
                (0..=k).flat_map(move |i| rows.iter().map(|rows| rows[i].clone()).collect::<Vec<_>>())
            });
            bits.collect()
        };
        KeyHandle::new(Bits(samples.iter().map(controls).collect()))
    }

    fn download_controls(&self, controls: &Controls, digit: usize) -> Vec<u64> {
        own::<Bits>(controls.held()).0[digit].iter().flat_map(|row| row.0.concat()).collect()
    }

    /// High bits of an index choose a polynomial by a tree of CMUXes, low bits rotate a coefficient to place 0.
    fn lookup(&self, _: &TorusRing, tables: &PackedTables, controls: &Controls) -> Vec<Vec<Lwe>> {
        let shape = controls.shape().samples;
        let low = tables.bits().min(shape.degree.trailing_zeros() as usize);
        let shared = shape.degree >> low;
        let lookup = |digits: &[Vec<Glwe>]| {
            let bits = Ggsw::of_bits(controls.shape(), digits.concat());
            let group = |first: usize| {
                let outputs = shared.min(tables.outputs() - first);
                let word = |place: usize| match place >> tables.bits() {
                    output if output < outputs => tables.word(first + output, place % (1 << tables.bits())),
                    _ => 0,
                };
                let polynomial =
                    |p: usize| Glwe::trivial(shape, (p * shape.degree..(p + 1) * shape.degree).map(word).collect());
                let mut nodes: Vec<Glwe> = (0..1 << (tables.bits() - low)).map(polynomial).collect();
                for bit in low..tables.bits() {
                    let choose = |pair: &[Glwe]| pair[0].add(&bits.product(bit, &pair[1].sub(&pair[0])));
                    nodes = nodes.chunks_exact(2).map(choose).collect();
                }
                let rotate = |acc: Glwe, bit: usize| {
                    acc.add(&bits.product(bit, &acc.shift(2 * shape.degree - (1 << bit)).sub(&acc)))
                };
                let chosen = (0..low).fold(nodes.remove(0), rotate);
                (0..outputs).map(|output| chosen.extract(output << tables.bits())).collect::<Vec<_>>()
            };
            (0..tables.outputs()).step_by(shared).flat_map(group).collect()
        };
        own::<Bits>(controls.held()).0.chunks(tables.bits() / controls.bits()).map(lookup).collect()
    }

    /// Two samples of multiples of `2M` become one of multiples of M, until there is one; the trace clears the rest.
    fn pack(&self, _: &TorusRing, key: &PackingKey, steps: usize, groups: &[Vec<Option<&Lwe>>]) -> Vec<Vec<u64>> {
        let (shape, trace) = (key.shape(), &own::<Trace>(key.held()).0[..steps]);
        let zero = Lwe::trivial(shape.extracted(), 0);
        let embed = |sample: &Option<&Lwe>| divided(Glwe::embed(shape, sample.unwrap_or(&zero)), 1 << steps);
        let pack = |samples: &Vec<Option<&Lwe>>| {
            let mut packed: Vec<Glwe> = samples.iter().map(embed).collect();
            for (step, switch) in trace.iter().enumerate().rev() {
                let half = packed.len() / 2;
                packed = match half {
                    0 => vec![packed[0].add(&automorphism(&packed[0], switch, step))],
                    _ => (0..half)
                        .map(|i| {
                            let moved = packed[half + i].shift(1 << step);
                            packed[i].add(&moved).add(&automorphism(&packed[i].sub(&moved), switch, step))
                        })
                        .collect(),
                };
            }
            packed.remove(0).0.concat()
        };
        groups.iter().map(pack).collect()
    }

    fn glwe_switch(&self, _: &TorusRing, key: &GlweSwitchKey, sample: &[u64]) -> Vec<u64> {
        let (mask, body) = sample.split_at(key.shape().extracted());
        let mask: Vec<Vec<u64>> = mask.chunks_exact(key.shape().degree).map(<[u64]>::to_vec).collect();
        Glwe::trivial(key.shape(), body.to_vec()).add(&own::<GlweSwitch>(key.held()).switch(&mask)).0.concat()
    }
}

/// The first `count` key switches of GLWE samples.
fn switches(shape: GlweShape, rows: &GlweSwitchRows, count: usize) -> Vec<GlweSwitch> {
    (0..count).map(|number| GlweSwitch::new(shape, rows, number)).collect()
}

/// `X^(-phase)` times a polynomial, encrypted: the phase is that of the sample, modulo 2N.
fn rotated(switch: &LweSwitch, rotation: &Ggsw, polynomial: &[u64], sample: &Lwe) -> Glwe {
    let shape = rotation.shape.samples;
    let (mask, body) = exponents(&switch.switch(sample), 2 * shape.degree);
    let acc = Glwe::trivial(shape, shifted(polynomial, 2 * shape.degree - body));
    mask.chunks_exact(rotation.shape.grouping.bits())
        .enumerate()
        .fold(acc, |acc, (step, exponents)| rotation.rotate(step, &acc, exponents))
}

/// `c(X^d)` for the exponent d of a step of the trace.
fn automorphism(c: &Glwe, switch: &GlweSwitch, step: usize) -> Glwe {
    let moved: Vec<Vec<u64>> =
        c.0.iter().map(|a| polynomial::automorphism(a, trace::exponent(a.len(), step))).collect();
    let (mask, body) = moved.split_at(moved.len() - 1);
    let mut image = switch.switch(mask);
    let last = image.0.len() - 1;
    image.0[last] = polynomial::sum(&image.0[last], &body[0]);
    image
}

impl DeviceKey for Bootstrap {
    fn bytes(&self) -> usize {
        self.switch.bytes() + self.rotation.bytes()
    }
}

impl DeviceKey for Circuit {
    fn bytes(&self) -> usize {
        let switches = self.trace.iter().chain(&self.squares);
        self.rotation.bytes() + switches.map(GlweSwitch::bytes).sum::<usize>()
    }
}

impl DeviceKey for Trace {
    fn bytes(&self) -> usize {
        self.0.iter().map(GlweSwitch::bytes).sum()
    }
}

impl DeviceKey for GlweSwitch {
    fn bytes(&self) -> usize {
        Self::bytes(self)
    }
}

impl DeviceKey for Bits {
    fn bytes(&self) -> usize {
        self.0.iter().flatten().map(Glwe::bytes).sum()
    }
}

/// Keys of this device.
///
/// # Panics
/// If they are another device's.
fn own<K: DeviceKey>(handle: &KeyHandle) -> &K {
    handle.get().expect("keys are used on the device that holds them")
}
