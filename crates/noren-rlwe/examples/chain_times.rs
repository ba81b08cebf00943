//! How long chains of squarings of integers modulo t take, scaled (BFV) and switched (BGV): `cargo run --release -p
//! noren-rlwe --example chain_times -- [scaled|switched] [bits] [limbs] [special] [dnum] [depth] [threads]`.

use std::env;
use std::error::Error;
use std::time::{Duration, Instant};

use noren_math::prime::primes_below;
use noren_math::random::Seed;
use noren_rlwe::ciphertext::{Ciphertext, Plaintext};
use noren_rlwe::context::Context;
use noren_rlwe::decrypt::decrypt;
use noren_rlwe::encrypt::Encryptor;
use noren_rlwe::keygen::{KeyGenerator, KeyRequest};
use noren_rlwe::linear::rescale;
use noren_rlwe::parameters::ParametersSpec;
use noren_rlwe::product::{multiply_scaled, multiply_switched};

const LOG_N: u32 = 15;
const T: u64 = 65537;
/// Bits of noise: of a fresh encryption with the public key, of a product, of a modulus switch, and between the last and what
/// it is added to.
const FRESH: f64 = 25.4;
const PRODUCT: f64 = 30.5;
const SWITCH: f64 = 21.4;
const MARGIN: f64 = 4.0;
const PATIENCE: Duration = Duration::from_millis(3000);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let number = |i: usize, usual: usize| arguments.get(i).map_or(Ok(usual), |text| text.parse());
    let scaled = arguments.first().is_none_or(|scheme| scheme == "scaled");
    let (bits, limbs, special) = (number(1, 48)?, number(2, 7)?, number(3, 3)?);
    let (dnum, depth, threads) = (number(4, 0)?, number(5, 10)?, number(6, 1)?);
    let step = 2 << LOG_N;
    let q: Vec<u64> = primes_below(1 << bits, step).take(limbs).collect();
    let mut wide = primes_below(1 << bits.max(48), step).filter(|prime| !q.contains(prime));
    let p: Vec<u64> = wide.by_ref().take(special).collect();
    let auxiliary = if scaled { wide.take(limbs).collect() } else { Vec::new() };
    let parameters = ParametersSpec { log_n: LOG_N, q, p, auxiliary, dnum, ..ParametersSpec::default() }.build()?;
    println!("log Q {:.1}, log QP {:.1}, {} digits", parameters.log_q(limbs), parameters.log_qp(), parameters.dnum());
    let context = Context::with_threads(parameters, Some(threads))?;
    let generator = KeyGenerator::new(&context, Seed::from_bytes([1; 32]));
    let secret = generator.secret();
    let request = KeyRequest { relinearization: Some(limbs), ..KeyRequest::default() };
    let keys = generator.evaluation_keys(&secret, &request, None)?;
    let public = generator.public(&secret)?;

    let ring = context.ring_q(limbs);
    // 3 in every slot: t times it is -[3 Q]_t.
    let modulus = |limbs| context.ring_q(limbs).moduli().fold(1, |product, q| product * (q.value() % T) % T);
    let factor = |limbs| T - modulus(limbs);
    let inverse: Vec<u64> = ring.moduli().map(|q| q.inv(q.reduce(T))).collect();
    let mut coefficients = vec![0; ring.degree()];
    coefficients[0] = (3 * factor(limbs) % T) as i64;
    let poly = ring.mul_scalar(&ring.ntt(ring.from_signed(&coefficients)), &inverse);
    let fresh = Encryptor::public(&context, &public, Seed::from_bytes([2; 32]))?.encrypt(&Plaintext { poly })?;

    let decode = |ciphertext: &Ciphertext| -> Result<(u64, f64), Box<dyn Error>> {
        let ring = context.ring_q(ciphertext.limbs());
        let phase = decrypt(&context, &secret, ciphertext)?.poly;
        let numbers = ring.to_centered_i128(&ring.intt(ring.mul_integer(&phase, T as i64))).ok_or("noise")?;
        let largest = numbers.iter().map(|x| x.unsigned_abs()).max().unwrap_or(0) as f64;
        let inverse = (0..T - 2).fold(1, |power, _| power * factor(ciphertext.limbs()) % T);
        let m = numbers[0].rem_euclid(T.into()) as u64 * inverse % T;
        Ok((m, context.parameters().log_q(ciphertext.limbs()) - 1.0 - largest.log2()))
    };
    let budget = |done: usize| context.parameters().log_q(limbs) - FRESH - PRODUCT * done as f64;
    let kept = |left: usize, done: usize| {
        if !scaled {
            return left - 1;
        }
        let enough = |&kept: &usize| context.parameters().log_q(kept) >= budget(done) + SWITCH + MARGIN;
        (1..=left).find(enough).unwrap_or(left)
    };
    let (mut all, mut verified, start) = (Vec::new(), false, Instant::now());
    while start.elapsed() < PATIENCE {
        let one = Instant::now();
        let (mut x, mut times) = (fresh.clone(), Vec::new());
        if !scaled {
            // The noise of a fresh encryption is not the least one.
            x = rescale(&context, x)?;
        }
        let mut expected = 3;
        for done in 1..=depth {
            let single = Instant::now();
            let kept = kept(x.limbs(), done);
            let factors = [[&x, &x]];
            expected = expected * expected % T;
            if !scaled {
                expected = expected * factor(x.limbs()) % T;
            }
            x = if scaled {
                multiply_scaled(&context, &factors, T, kept, &keys)?
            } else {
                multiply_switched(&context, &factors, T, kept, &keys)?
            };
            times.push((x.limbs(), single.elapsed().as_secs_f64() * 1e3));
        }
        all.push((one.elapsed(), times));
        if !verified {
            let (found, left) = decode(&x)?;
            assert_eq!(found, expected, "noise");
            println!("budget left {left:.1} bits");
            verified = true;
        }
    }
    all.sort_by_key(|(time, _)| *time);
    let (median, times) = &all[all.len() / 2];
    let line: Vec<String> = times.iter().map(|(limbs, ms)| format!("{limbs}:{ms:.2}")).collect();
    println!("{}", line.join(" "));
    println!("chain of depth {depth}: {:.2} ms, best {:.2}", median.as_secs_f64() * 1e3, all[0].0.as_secs_f64() * 1e3);
    Ok(())
}
