//! Data beyond the caches: many limbs in turns, streams, keys.

use std::convert::Infallible;
use std::hint::black_box;

use noren_cli::measure::{self, Failure, Record, Run, Timing};
use noren_math::cyclotomic::Cyclotomic;
use noren_math::kernels::{Kernels, available, by_name};
use noren_math::machine::aligned::AlignedVec;
use noren_math::modulus::Modulus;
use noren_math::roots::ntt::NttTable;
use rayon::prelude::*;

use crate::kernels::rows::{LARGE_PRIME_BITS, PRIME_BITS, largest_primes, row};

/// How much is walked through.
pub(super) struct Amount {
    /// The limbs that are transformed in turns.
    limbs: usize,
    /// The words of each stream.
    stream: usize,
    /// The limbs and digits of a key.
    key: (usize, usize),
}

impl Amount {
    /// Transforms and a key of 2^16 as in 24 limbs, 8 special ones and 3 digits; streams of 128 MiB.
    pub(super) const LARGE: Self = Self { limbs: 24, stream: 1 << 24, key: (32, 3) };
}

/// Measures all of it.
pub(super) fn run(run: &Run<'_>, log_n: u32, amount: &Amount) -> Result<(), Failure> {
    for prime_bits in [PRIME_BITS, LARGE_PRIME_BITS] {
        cold_transforms(run, 1 << log_n, prime_bits, amount.limbs)?;
    }
    for &threads in run.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| Failure::threads(threads, &error))?;
        let read = pool.install(|| streams(run, amount.stream, threads))?;
        pool.install(|| keys(run, 1 << log_n, amount.key, threads, read))?;
    }
    Ok(())
}

/// Transforms of many limbs in turns: rows and roots come from where a walk over a ciphertext finds them.
fn cold_transforms(run: &Run<'_>, n: usize, prime_bits: u32, limbs: usize) -> Result<(), Failure> {
    type Walk = fn(&Kernels, &mut [AlignedVec<u64>], &[NttTable]);
    let walks: [(&'static str, Walk); 2] = [
        ("ntt_forward_cold", |table, rows, transforms| {
            rows.iter_mut().zip(transforms).for_each(|(row, transform)| table.ntt_forward(row, transform));
        }),
        ("ntt_inverse_cold", |table, rows, transforms| {
            rows.iter_mut().zip(transforms).for_each(|(row, transform)| table.ntt_inverse(row, transform));
        }),
    ];
    let ring = Cyclotomic::power_of_two(n).map_err(noren::Error::from)?;
    let primes = largest_primes(prime_bits, n, limbs)?;
    let transforms: Result<Vec<NttTable>, _> = primes.iter().map(|&q| NttTable::new(q, &ring)).collect();
    let transforms = transforms.map_err(noren::Error::from)?;
    let fresh = || -> Vec<AlignedVec<u64>> { primes.iter().map(|q| row(n, q.value())).collect() };
    let log_q = (primes[0].value() as f64).log2();
    for table in available() {
        for (op, walk) in walks {
            let (mut expected, mut rows) = (fresh(), fresh());
            walk(portable()?, &mut expected, &transforms);
            walk(table, &mut rows, &transforms);
            let right = expected.iter().zip(&rows).all(|(a, b)| a[..] == b[..]);
            drop(expected);
            let timing = right.then(|| time(run, limbs, &mut || walk(table, black_box(&mut rows), &transforms)));
            let record = Record { limbs, ..Record::of_kernel(op, n, log_q, table.name(), timing) };
            run.report(&record.with("prime_bits", prime_bits))?;
        }
    }
    Ok(())
}

/// The bandwidth of memory for plain loops: a sum of words, and a sum of rows. Returns the bytes read in a nanosecond.
fn streams(run: &Run<'_>, words: usize, threads: usize) -> Result<f64, Failure> {
    let (a, b) = (row(words, u64::MAX), row(words, u64::MAX));
    let mut out = AlignedVec::<u64>::zeroed(words);
    let share = words.div_ceil(threads);
    let read = || -> u64 { a.par_chunks(share).map(sum).sum() };
    let expected = (0..words as u64).fold(0u64, |total, i| total.wrapping_add(a[i as usize]));
    let report = |op, right: bool, bytes: usize, call: &mut dyn FnMut()| {
        let timing = right.then(|| time(run, 1, call));
        let record = Record { threads, ..Record::of_kernel(op, words, 64.0, "plain", timing) };
        let rate = timing.map(|timing| bytes as f64 / timing.median_ns);
        run.report(&record.with("gb_per_s", rate))?;
        Ok::<_, Failure>(rate.unwrap_or(0.0))
    };
    let bytes = words * size_of::<u64>();
    let rate = report("stream_read", read() == expected, bytes, &mut || {
        black_box(read());
    })?;
    let mut add = || {
        let parts = out.par_chunks_mut(share).zip(a.par_chunks(share)).zip(b.par_chunks(share));
        parts.for_each(|((out, a), b)| {
            out.iter_mut().zip(a.iter().zip(b)).for_each(|(out, (a, b))| *out = a.wrapping_add(*b));
        });
    };
    add();
    report("stream_add", true, 3 * bytes, &mut add)?;
    Ok(rate)
}

/// The sum of all words: eight sums side by side, so that no addition waits for the one before it.
fn sum(words: &[u64]) -> u64 {
    let (chunks, rest) = words.as_chunks::<8>();
    let mut sums = [0u64; 8];
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
    }
    sums.iter().chain(rest).fold(0, |total, word| total.wrapping_add(*word))
}

/// The inner product of a key switch: the digits of a limb lie in a cache, the key comes from memory.
fn keys(run: &Run<'_>, n: usize, (limbs, digits): (usize, usize), threads: usize, read: f64) -> Result<(), Failure> {
    let q = largest_primes(PRIME_BITS, n, 1)?[0];
    let limb_words = 2 * digits * n;
    let key = row(limbs * limb_words, q.value());
    let rows: Vec<AlignedVec<u64>> = (1..=digits as u64).map(|i| row(n, q.value() - i)).collect();
    let rows: Vec<&[u64]> = rows.iter().map(|row| &**row).collect();
    for table in available() {
        let expected = product(portable()?, &rows, &key[(limbs - 1) * limb_words..], &q);
        let right = expected == product(table, &rows, &key[(limbs - 1) * limb_words..], &q);
        let share = limbs.div_ceil(threads) * limb_words;
        let mut outs: Vec<[AlignedVec<u64>; 2]> = (0..threads).map(|_| [0, 1].map(|_| AlignedVec::zeroed(n))).collect();
        let timing = right.then(|| {
            time(run, limbs, &mut || {
                key.par_chunks(share).zip(&mut outs).for_each(|(key, out)| {
                    for limb in key.chunks(limb_words) {
                        let out = black_box(&mut *out).each_mut().map(|out| &mut **out);
                        table.inner_product_pair(out, &rows, limb, &q);
                    }
                });
            })
        });
        let log_q = (q.value() as f64).log2();
        let record = Record::of_kernel("inner_product_keys", n, log_q, table.name(), timing);
        let rate = timing.map(|timing| (limb_words * size_of::<u64>()) as f64 / timing.median_ns);
        let record = record.with("prime_bits", PRIME_BITS).with("gb_per_s", rate);
        let record = record.with("share_of_read", rate.filter(|_| read > 0.0).map(|rate| rate / read));
        run.report(&Record { threads, limbs, dnum: digits, ..record })?;
    }
    Ok(())
}

/// The two rows of one limb.
fn product(table: &Kernels, rows: &[&[u64]], key: &[u64], q: &Modulus) -> [Vec<u64>; 2] {
    let mut out = [0, 1].map(|_| vec![0; rows[0].len()]);
    table.inner_product_pair(out.each_mut().map(|out| &mut out[..]), rows, key, q);
    out
}

fn portable() -> Result<&'static Kernels, Failure> {
    Ok(by_name("portable").map_err(noren::Error::from)?)
}

fn time(run: &Run<'_>, per: usize, call: &mut dyn FnMut()) -> Timing {
    let Ok(timing) = measure::time(run.seconds, per as f64, || {
        call();
        Ok::<_, Infallible>(())
    });
    timing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_all_words() {
        assert_eq!(sum(&(0..100).collect::<Vec<u64>>()), 4950);
    }
}
