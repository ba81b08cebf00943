//! More limbs, alone and through a sparse secret: exact, with the noise that the formula says, and refused where unsafe.

use noren_math::prime::primes_below;
use noren_rlwe::ciphertext::{Ciphertext, Plaintext};
use noren_rlwe::context::Context;
use noren_rlwe::decrypt::decrypt;
use noren_rlwe::encrypt::Encryptor;
use noren_rlwe::error::Error;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::SecretKey;
use noren_rlwe::keyswitch::{switch_key, switch_secret};
use noren_rlwe::noise;
use noren_rlwe::parameters::ParametersSpec;
use noren_rlwe::raise::{mod_raise, mod_raise_switch};
use noren_rlwe::security::{SecretDistribution, Security};
use noren_rlwe::shape::KeyShape;

use crate::small::{Setup, assert_std, ciphertext_words, coefficients, seed, spec};

const WEIGHT: usize = 32;

fn sparse(setup: &Setup) -> SecretKey {
    let weight = SecretDistribution::SparseTernary(WEIGHT);
    setup.generator.ephemeral_secret("raise", weight).expect("supported")
}

/// The coefficients of what a ciphertext of two or more limbs decrypts to; they must be below 2^126.
fn decrypted(setup: &Setup, secret: &SecretKey, ciphertext: &Ciphertext) -> Vec<i128> {
    let plaintext = decrypt(&setup.context, secret, ciphertext).expect("one context");
    numbers(setup, &plaintext)
}

fn numbers(setup: &Setup, plaintext: &Plaintext) -> Vec<i128> {
    let ring = setup.context.ring_q(plaintext.limbs());
    ring.to_centered_i128(&coefficients(&setup.context, &plaintext.poly)).expect("they are small")
}

/// The plaintext of a raised encryption of zero modulo q_0 under a sparse secret, in units of q_0.
fn multiples(setup: &Setup, raised: &[i128]) -> Vec<f64> {
    let q_0 = setup.parameters().q()[0] as f64;
    raised.iter().map(|&x| x as f64 / q_0).collect()
}

#[test]
fn raising_adds_multiples_of_the_modulus_and_no_noise() {
    let setup = Setup::new(spec(6, 5, 1, 0));
    for (limbs, degree) in [(1, 1), (1, 0), (1, 2), (2, 1)] {
        let secret = sparse(&setup);
        let ciphertext = setup.arbitrary_under(&secret, limbs, degree, "few limbs");
        let low = decrypted(&setup, &secret, &ciphertext);
        let modulus: i128 = setup.parameters().q()[..limbs].iter().map(|&q| i128::from(q)).product();
        for to in limbs + 1..=5 {
            let raised = mod_raise(&setup.context, &ciphertext, to).expect("more limbs");
            assert_eq!((raised.limbs(), raised.degree()), (to, degree));
            let high = decrypted(&setup, &secret, &raised);
            assert!(high.iter().zip(&low).all(|(high, low)| (high - low) % modulus == 0), "{limbs} to {to}");
            // The same numbers modulo the primes that were there.
            let back = noren_rlwe::linear::drop_limbs(&setup.context, raised, limbs).expect("fewer limbs");
            assert_eq!(ciphertext_words(&setup.context, &back), ciphertext_words(&setup.context, &ciphertext));
        }
    }
}

#[test]
fn multiples_of_the_modulus_are_as_small_as_the_sparse_secret_makes_them() {
    // The second part is every digit: the same for a key of one digit and for one of several.
    for (dnum, special) in [(1, 4), (3, 3)] {
        let setup = Setup::new(spec(14, 4, special, dnum));
        let (context, secret) = (&setup.context, sparse(&setup));
        let there = setup.generator.switching(&setup.secret, &secret, Some(1)).expect("no security asked");
        let back = setup.generator.switching(&secret, &setup.secret, None).expect("no security asked");
        let zero = Plaintext { poly: context.ring_q(1).zero() };
        let encryptor = Encryptor::symmetric(context, &setup.secret, seed(8)).expect("one context");
        let fresh = encryptor.encrypt(&zero).expect("no security asked");

        let encapsulated = switch_secret(context, &fresh, &there).expect("one limb");
        let raised = mod_raise_switch(context, &encapsulated, &back).expect("longer");
        assert_eq!(raised.limbs(), 4);
        let multiples = multiples(&setup, &decrypted(&setup, &setup.secret, &raised));
        // 2^-30: the noise is some hundreds, 2^10 at most, next to q_0 of 49 bits.
        assert!(multiples.iter().all(|x| (x - x.round()).abs() <= (-30f64).exp2()), "multiples of q_0, and noise");
        let bound = (WEIGHT + 1) as f64 / 2.0;
        assert!(multiples.iter().all(|x| x.abs() < bound));
        let square: f64 = multiples.iter().map(|x| x.round().powi(2)).sum::<f64>();
        let measured = (square / multiples.len() as f64).sqrt();
        assert_std(measured, ((WEIGHT + 1) as f64 / 12.0).sqrt(), multiples.len(), "multiples of q_0");
    }
}

#[test]
fn noise_of_a_raise_with_a_switch_is_as_predicted() {
    // The last sets have a digit of the size of P and several: there the key's errors are most of the noise.
    for (limbs, special, dnum, from) in [(4, 2, 2, 1), (4, 1, 1, 1), (5, 1, 3, 1), (4, 2, 2, 2)] {
        let setup = Setup::new(spec(12, limbs, special, dnum));
        let secret = sparse(&setup);
        let usual = setup.parameters().shape();
        // As the encapsulation takes it: all limbs in one digit, whatever they are, and one special prime for each limb there.
        let one_digit = KeyShape { limbs, special: from, digits: 1 };
        for (to, shape) in (from + 1..=limbs).flat_map(|to| [(to, usual), (to, one_digit)]) {
            let generator = setup.generator.shaped(shape).expect("supported");
            let key = generator.switching(&secret, &setup.secret, Some(to)).expect("no security asked");
            let ciphertext = setup.arbitrary_under(&secret, from, 1, "few limbs");
            let alone = mod_raise(&setup.context, &ciphertext, to).expect("more limbs");
            let expected = decrypt(&setup.context, &secret, &alone).expect("one context");
            let raised = mod_raise_switch(&setup.context, &ciphertext, &key).expect("longer");
            let predicted = noise::raise_switch(setup.parameters(), from, to, key.shape()).expect("the key has it");
            let what = format!("{from} limbs to {to}, {shape}");
            setup.assert_noise(&raised, &expected, predicted, &what);
        }
    }
}

#[test]
fn a_raise_with_a_switch_costs_no_more_noise_than_one_after_the_other() {
    let setup = Setup::new(spec(12, 4, 2, 2));
    let (context, secret) = (&setup.context, sparse(&setup));
    let key = setup.generator.switching(&secret, &setup.secret, None).expect("no security asked");
    let ciphertext = setup.arbitrary_under(&secret, 1, 1, "few limbs");
    let alone = mod_raise(context, &ciphertext, 4).expect("more limbs");
    let expected = decrypt(context, &secret, &alone).expect("one context");
    let [mut first, second] = switch_key(context, &alone.parts()[1], &key).expect("long enough");
    context.ring_q(4).add_assign(&mut first, &alone.parts()[0]);
    let steps = Ciphertext::new(vec![first, second], setup.key());
    let one_by_one = switch_secret(context, &alone, &key).expect("long enough");
    assert_eq!(ciphertext_words(context, &one_by_one), ciphertext_words(context, &steps));
    let at_once = mod_raise_switch(context, &ciphertext, &key).expect("longer");
    let noise = |ciphertext| noise::measure(context, &setup.secret, ciphertext, &expected).expect("one context").std;
    // Digits of 80 bits below P of 100: rounding is the noise of both.
    assert_std(noise(&at_once), noise(&steps), setup.parameters().degree(), "at once");
}

#[test]
fn a_ciphertext_without_a_second_part_needs_no_key() {
    let setup = Setup::new(spec(6, 3, 1, 0));
    let (context, secret) = (&setup.context, sparse(&setup));
    let key = setup.generator.switching(&secret, &setup.secret, None).expect("no security asked");
    let plain = setup.arbitrary_under(&secret, 1, 0, "one part");
    let low = decrypted(&setup, &secret, &plain);
    let raised = mod_raise_switch(context, &plain, &key).expect("longer");
    assert_eq!(decrypted(&setup, &setup.secret, &raised), low);
    let switched = switch_secret(context, &plain, &key).expect("long enough");
    assert_eq!(decrypted(&setup, &setup.secret, &switched), low);
    assert_eq!((raised.degree(), switched.degree()), (1, 1));
}

#[test]
fn wrong_levels_keys_and_parameters_are_refused() {
    let (setup, other) = (Setup::new(spec(6, 3, 1, 0)), Setup::new(spec(6, 3, 2, 0)));
    let (context, secret) = (&setup.context, sparse(&setup));
    let arbitrary = |limbs, degree, label| setup.arbitrary_under(&secret, limbs, degree, label);
    let (low, high) = (arbitrary(1, 1, "low"), arbitrary(3, 1, "high"));
    for (ciphertext, limbs) in [(&low, 0), (&low, 1), (&low, 4), (&high, 3), (&high, 2)] {
        let refused = mod_raise(context, ciphertext, limbs);
        let Err(error @ Error::Parameters { name: "limbs", .. }) = refused else { panic!("{limbs}: {refused:?}") };
        assert!(error.to_string().contains(&format!("above the {} of", ciphertext.limbs())), "{error}");
    }
    let key = |limbs| setup.generator.switching(&secret, &setup.secret, limbs).expect("no security asked");
    for (ciphertext, limbs, needed) in [(&low, 1, 2), (&high, 3, 4)] {
        let refused = mod_raise_switch(context, ciphertext, &key(Some(limbs)));
        assert!(matches!(refused, Err(Error::KeyLevel { found, needed: n, .. }) if (found, n) == (limbs, needed)));
    }
    let refused = switch_secret(context, &high, &key(Some(1)));
    assert!(matches!(refused, Err(Error::KeyLevel { found: 1, needed: 3, .. })));
    let product = arbitrary(1, 2, "product");
    for refused in [mod_raise_switch(context, &product, &key(None)), switch_secret(context, &product, &key(None))] {
        assert!(matches!(refused, Err(Error::DegreeTooHigh { found: 2, needed: 1 })));
    }
    let foreign = other.generator.switching(&sparse(&other), &other.secret, None).expect("no security asked");
    for refused in [mod_raise_switch(context, &low, &foreign), switch_secret(context, &low, &foreign)] {
        assert!(matches!(refused, Err(Error::ParameterMismatch { .. })));
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let raised = |threads| {
        // Large enough that the work is shared between threads.
        let parameters = spec(13, 4, 2, 2).build().expect("supported");
        let context = Context::with_threads(parameters, threads).expect("supported");
        let generator = KeyGenerator::new(&context, seed(1));
        let secret = generator.secret();
        let weight = SecretDistribution::SparseTernary(WEIGHT);
        let sparse = generator.ephemeral_secret("raise", weight).expect("supported");
        let key = generator.switching(&sparse, &secret, None).expect("no security asked");
        let parts = ["c0", "c1"].map(|label| context.ring_q(1).uniform(&seed(2), label));
        let ciphertext = Ciphertext::new(parts.into(), sparse.owner().key);
        let [alone, switched] = [
            mod_raise(&context, &ciphertext, 4).expect("more limbs"),
            mod_raise_switch(&context, &ciphertext, &key).expect("longer"),
        ];
        [ciphertext_words(&context, &alone), ciphertext_words(&context, &switched)]
    };
    let expected = raised(Some(1));
    for threads in [None, Some(2), Some(3)] {
        assert!(raised(threads) == expected, "{threads:?}");
    }
}

#[test]
fn an_ephemeral_secret_is_its_label_and_seed() {
    let setup = Setup::new(spec(10, 2, 1, 0));
    let draw = |label, weight| {
        let distribution = SecretDistribution::SparseTernary(weight);
        setup.generator.ephemeral_secret(label, distribution).expect("supported")
    };
    // Decrypting (0, 1) shows the secret.
    let ring = setup.context.ring_q(2);
    let show = |secret: &SecretKey| {
        let one = ring.constant(&[1, 1]);
        decrypted(&setup, secret, &Ciphertext::new(vec![ring.zero(), one], secret.owner().key))
    };
    for weight in [1, WEIGHT, 1 << 10] {
        let secret = draw("a", weight);
        let shown = show(&secret);
        assert_eq!(shown.iter().map(|x| x.unsigned_abs()).sum::<u128>(), weight as u128);
        assert!(shown.iter().all(|x| x.unsigned_abs() <= 1));
        assert_eq!(secret.distribution(), SecretDistribution::SparseTernary(weight));
        assert_eq!(shown, show(&draw("a", weight)), "the same seed and label");
        assert_ne!(shown, show(&draw("b", weight)), "another label");
    }
    assert_ne!(show(&draw("secret", WEIGHT)), show(&setup.secret), "not the main secret");
    // Its plaintexts are marked to be wiped.
    let plaintext = {
        let secret = draw("a", 1);
        decrypt(&setup.context, &secret, &setup.arbitrary_under(&secret, 2, 1, "c")).expect("one context")
    };
    assert!(plaintext.poly.is_secret());
}

#[test]
fn a_sparse_secret_carries_only_what_its_table_says() {
    // A dense secret of degree 2^13 carries 214 bits, one of weight 64 carries 113, and none of weight 32 carries 99.
    let step = 2 << 13;
    let setup = |special| {
        Setup::new(ParametersSpec {
            q: primes_below(1 << 49, step).take(1).chain(primes_below(1 << 40, step).take(1)).collect(),
            p: primes_below(1 << 50, step).take(special).collect(),
            security: Security::Bits128,
            ..spec(13, 1, 1, 0)
        })
    };
    let (one, two) = (setup(1), setup(2));
    let draw = |setup: &Setup, weight| {
        let distribution = SecretDistribution::SparseTernary(weight);
        setup.generator.ephemeral_secret("raise", distribution).expect("supported")
    };
    let there =
        |setup: &Setup, weight, limbs| setup.generator.switching(&setup.secret, &draw(setup, weight), Some(limbs));
    // One limb and one special prime: 99 bits.
    assert!(there(&one, 64, 1).is_ok());
    assert!(matches!(there(&one, 64, 2), Err(Error::Insecure { bound: 113.0, .. })), "139 bits");
    assert!(matches!(there(&one, 32, 1), Err(Error::Insecure { bound: 37.0, .. })));
    assert!(matches!(there(&one, 31, 1), Err(Error::Insecure { bound: 0.0, .. })));
    assert!(matches!(there(&two, 64, 1), Err(Error::Insecure { bound: 113.0, .. })), "149 bits");
    // One of the two special primes is enough for one limb: 99 bits, and 99 are too many for a lighter secret.
    let there = |weight| {
        let generator = two.generator.shaped(KeyShape { limbs: 1, special: 1, digits: 1 }).expect("supported");
        generator.switching(&two.secret, &draw(&two, weight), None)
    };
    assert!(there(64).is_ok());
    assert!(matches!(there(32), Err(Error::Insecure { bound: 37.0, .. })));
    // The way back is under the dense secret.
    assert!(two.generator.switching(&draw(&two, 64), &two.secret, None).is_ok());
    let refused = two.generator.public(&draw(&two, 32));
    assert!(matches!(refused, Err(Error::Insecure { bound: 37.0, .. })), "no public key under it");
}
