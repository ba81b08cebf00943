//! The figures of Tsuji and Oguchi's comparison, tables 1 to 5. Its figures 1 to 3 are plots without numbers.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

/// All tables.
#[derive(Deserialize)]
pub(super) struct Published {
    pub(super) source: String,
    /// Table 1.
    pub(super) chain: Chains,
    /// Table 3, the first half.
    pub(super) product: Vec<Parameters>,
    /// Table 3, the second half.
    pub(super) inner_product: Vec<Parameters>,
    /// Tables 2 and 4.
    pub(super) bits: Vec<Bits>,
    /// Table 5.
    pub(super) clients: Vec<Client>,
}

/// The moduli of chains of products, for each depth.
#[derive(Deserialize)]
pub(super) struct Chains {
    pub(super) depths: Vec<usize>,
    pub(super) log_q: Vec<Moduli>,
}

/// The bits of the modulus of one library, at each depth.
#[derive(Deserialize)]
pub(super) struct Moduli {
    pub(super) scheme: String,
    pub(super) library: String,
    pub(super) n: usize,
    pub(super) bits: Vec<f64>,
}

/// Parameters of CKKS for so many values.
#[derive(Deserialize)]
pub(super) struct Parameters {
    pub(super) count: usize,
    pub(super) n: usize,
    pub(super) log_q: f64,
    pub(super) depth: usize,
}

/// Times of TFHE with bits.
#[derive(Deserialize)]
pub(super) struct Bits {
    pub(super) library: String,
    pub(super) parameters: String,
    /// By the names of operations of the suite `tfhe`.
    pub(super) milliseconds: BTreeMap<String, f64>,
}

/// The time of keys, encoding and encryption together on a server, a Raspberry Pi 4 and a Raspberry Pi Zero 2 W.
#[derive(Deserialize)]
pub(super) struct Client {
    pub(super) scheme: String,
    pub(super) library: String,
    pub(super) milliseconds: [f64; 3],
}

/// The tables.
///
/// # Panics
/// Never: the file is a part of the program, and tested.
pub(super) fn published() -> &'static Published {
    static PUBLISHED: OnceLock<Published> = OnceLock::new();
    PUBLISHED.get_or_init(|| serde_json::from_str(include_str!("published.json")).expect("the file is well formed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_tables_are_whole() {
        let Published { chain, product, inner_product, bits, clients, .. } = published();
        assert!(chain.log_q.len() == 6 && chain.log_q.iter().all(|row| row.bits.len() == chain.depths.len()));
        for parameters in [product, inner_product] {
            let counts: Vec<usize> = parameters.iter().map(|row| row.count).collect();
            assert_eq!(counts, [2, 20, 40, 60, 80, 100]);
            assert!(parameters.iter().all(|row| row.n.is_power_of_two()));
        }
        assert!(bits.len() == 2 && bits.iter().all(|row| row.milliseconds.len() == 5));
        assert_eq!(clients.len(), 3);
    }
}
