//! Masks limb by limb are what the verbs on whole elements give.

use noren_math::random::Seed;
use noren_math::sample;

mod oracle;

#[test]
fn a_mask_is_products_and_sums_of_whole_elements() {
    let whole = oracle::ring(1 << 10, &[50, 49, 40, 36]);
    let seed = Seed::from_bytes([6; 32]);
    let [v, e0, e1] = ["v", "e0", "e1"].map(|label| {
        let mut row = vec![0; whole.degree()];
        sample::gaussian(&mut seed.xof(label), &mut row);
        row
    });
    let [k0, k1, m] = ["k0", "k1", "m"].map(|label| whole.uniform(&seed, label));
    for window in [0..4, 1..3, 0..1] {
        let ring = whole.window(window);
        let [first, second] = ring.mask([&k0, &k1], &v, [&e0, &e1], &m);
        let transformed = |row: &[i64]| ring.ntt(ring.from_signed(row));
        let product = |k| ring.mul(k, &transformed(&v));
        let expected = ring.add(&ring.add(&product(&k0), &transformed(&e0)), &ring.restrict(&m));
        assert_eq!(ring.to_words(&first), ring.to_words(&expected));
        assert_eq!(ring.to_words(&second), ring.to_words(&ring.add(&product(&k1), &transformed(&e1))));
    }
}
