//! The work of a client on each device of the advisor, by its models.

use noren::advisor::{Device, Kernels};
use noren::backends::TorusDraft;
use noren::circuits::recorder::CircuitUsage;
use noren::ckks::Parameters;
use noren::cost::Party;
use noren::cost::{SlotDraft, Slots};

use crate::compare::data::Device as Row;
use crate::failure::Failure;
use crate::measure::Shape;

/// The base-two logarithms of degrees of CKKS: two of the suite `client`, which a quick run has too.
const DEGREES: [u32; 2] = [13, 15];
/// The set of TFHE: bits.
const BITS: &str = "BOOL";

/// Rows of all devices, from the fastest to the slowest.
pub(super) fn rows() -> Result<Vec<Row>, Failure> {
    let shapes = Shape::of_client(&DEGREES)?;
    let rings = shapes.iter().map(Shape::parameters).collect::<Result<Vec<_>, _>>()?;
    let mut rows = Vec::new();
    for device in Device::ALL {
        for ring in &rings {
            let (seconds, memory) = numbers(&device.party(), ring)?;
            let work = format!("CKKS, N = 2^{}: keys, encoding, encryption", ring.spec().log_n);
            rows.push(row(&device, work, seconds, memory));
        }
        let (seconds, memory) = bits(&device.party())?;
        rows.push(row(&device, "TFHE: keys of bits, encryption of one".to_owned(), seconds, memory));
    }
    Ok(rows)
}

fn row(device: &Device, work: String, seconds: f64, memory: u64) -> Row {
    Row {
        device: device.description.to_owned(),
        name: device.name.to_owned(),
        kernels: match device.kernels {
            Kernels::Avx512 => "avx512",
            Kernels::Avx2 => "avx2",
            Kernels::Portable => "portable",
        }
        .to_owned(),
        memory_bytes: Some(device.memory),
        work,
        milliseconds: seconds * 1e3,
        peak_bytes: Some(memory),
        basis: device.basis(),
    }
}

/// A secret and a public key, and a message of all slots under that: the seconds, and the bytes of memory.
fn numbers(client: &Party, ring: &Parameters) -> Result<(f64, u64), Failure> {
    let limbs = ring.rlwe().max_limbs();
    let meter = client.meter(ring.rlwe())?;
    let work = meter.key_pair(limbs) + meter.embed(ring.max_slots(), limbs) + meter.encrypt_public(limbs);
    let draft = SlotDraft {
        slots: Slots::Reals,
        parameters: ring.rlwe().clone(),
        usage: CircuitUsage::default(),
        limbs: vec![limbs],
        key_limbs: Vec::new(),
        width: ring.max_slots(),
        inputs: 1,
        results: 0,
    };
    Ok((client.seconds(&work)?, draft.price(client, &Party::reference())?.client_memory))
}

/// The keys that a server of bits gets, and one bit.
fn bits(client: &Party) -> Result<(f64, u64), Failure> {
    let draft = TorusDraft { set: BITS, rounds: Vec::new(), inputs: 1, results: 0 };
    let price = draft.price(client, &Party::reference())?;
    Ok((price.keys_seconds + price.encrypt_seconds, price.client_memory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_device_has_a_row_for_each_kind_of_work_that_says_what_it_rests_on() {
        let rows = rows().expect("all devices have costs");
        assert_eq!(rows.len(), Device::ALL.len() * (DEGREES.len() + 1));
        for row in &rows {
            let device = Device::named(&row.name).expect("a device");
            assert!(
                row.milliseconds > 0.0 && row.peak_bytes.is_some_and(|bytes| bytes < device.memory),
                "{}",
                row.work
            );
            assert_eq!(row.basis.starts_with("model"), !device.measured, "{}", row.basis);
        }
        for work in rows.chunks(DEGREES.len() + 1).map(|rows| rows[0].milliseconds).collect::<Vec<_>>().windows(2) {
            assert!(work[0] < work[1], "{work:?}");
        }
    }
}
