//! The suites.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use noren::Parallel;
use noren::advisor::Scheme;
use noren::bootstrapping::Preset;

use crate::bench::beside::Beside;
use crate::bench::bootstrap::{self, Messages};
use crate::bench::chain;
use crate::bench::parallel::{Axes, Figure};
use crate::bench::record::Record;
use crate::bench::reduction::{self, Case, Reduction, Way};
use crate::bench::run::Run;
use crate::bench::shape::{Family, Shape};
use crate::bench::sharing::{self, Sharing};
use crate::bench::tfhe::{self, Workload};
use crate::bench::weak_client::{self, Part};
use crate::bench::{
    advise, ckks, client, cyclotomic, fused, kernels, lookup, matvec, parallel, rns_heaan, switching, trace,
};
use crate::console::Console;
use crate::failure::Failure;

/// The names of the schemes that any suite has.
const SCHEMES: [&str; 4] = ["bfv", "bgv", "ckks", "tfhe"];

/// Measures how fast this machine is
#[derive(Debug, Args)]
#[command(
    after_help = "Every time is the median of at least five samples after a warm-up, with the median of the absolute \
        deviations from it; results are checked before they are timed. NOREN_ISA chooses the instruction set; kernels \
        measures all.\n\n\
        Examples:\n  \
        noren bench ckks --threads 1,2 --log-n 14,15\n  \
        noren bench kernels --json\n  \
        noren bench kernels --beside bench/peers/tfhe-ntt/target/release/bench-tfhe-ntt"
)]
pub(crate) struct Arguments {
    /// What to measure
    #[arg(value_enum)]
    suite: Suite,
    /// The time spent on each operation
    #[arg(long, default_value_t = 1.0, value_parser = parse_seconds)]
    seconds: f64,
    /// kernels, fused, ckks, client, lookup, parallel, rns-heaan: base-two logarithms of the degrees of rings [default: all of the suite;
    /// parallel, rns-heaan: 16, lookup: 15]
    #[arg(long, value_name = "BITS,...", value_delimiter = ',')]
    log_n: Vec<u32>,
    /// fused: numbers of rows, each with a modulus of its own [default: 1 to 15]
    #[arg(long, value_name = "COUNT,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=i64::from(fused::MOST)))]
    limbs: Vec<u32>,
    /// ckks: the family of parameters
    #[arg(long, value_enum, default_value = "hybrid")]
    shape: Family,
    /// trace: numbers of special primes [default: 1,5,10]
    #[arg(long, value_name = "K,...", value_delimiter = ',')]
    special: Vec<usize>,
    /// trace, parallel: levels of the ciphertext [default: 1,4,9; parallel: 1 to 32]
    #[arg(long, value_name = "LEVEL,...", value_delimiter = ',')]
    level: Vec<usize>,
    /// trace: numbers of iterations [default: 7,6,5,4,3,2,1]
    #[arg(long, value_name = "H,...", value_delimiter = ',')]
    unrolled: Vec<usize>,
    /// bootstrap, switching, weak-client: the name of the parameters, such as n16, n15 or toy [default: n16]
    #[arg(long, value_name = "NAME")]
    preset: Option<Preset>,
    /// bootstrap, switching: the base-two logarithm of the number of slots [default: all of the preset]
    #[arg(long, value_name = "BITS")]
    log_slots: Option<u32>,
    /// bootstrap: what messages are like [default: both]
    #[arg(long, value_enum, value_name = "MODE,...", value_delimiter = ',')]
    mode: Vec<Messages>,
    /// bootstrap, rns-heaan: in which ways threads share out loops [default: both, not named in records]
    #[arg(long, value_name = "WAY,...", value_delimiter = ',', value_parser = sharing::parser())]
    parallel: Vec<Parallel>,
    /// chain: how many products follow one another [default: 2,4,6,8,10]
    #[arg(long, value_name = "DEPTH,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=16))]
    depth: Vec<u32>,
    /// chain, product, inner-product: only these schemes [default: all of the suite]
    #[arg(long, value_parser = PossibleValuesParser::new(SCHEMES).try_map(|name| name.parse::<Scheme>()), value_name = "SCHEME,...", value_delimiter = ',')]
    scheme: Vec<Scheme>,
    /// product, inner-product: how many numbers become one [default: 2,20,40,60,80,100]
    #[arg(long, value_name = "COUNT,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(2..=i64::from(reduction::MOST)))]
    count: Vec<u32>,
    /// product, inner-product: in which order [default: both]
    #[arg(long, value_enum, value_name = "WAY,...", value_delimiter = ',')]
    way: Vec<Way>,
    /// product, inner-product: the width of integers of TFHE in bits [default: 16]
    #[arg(long, value_name = "BITS", value_parser = parse_width)]
    bits: Option<usize>,
    /// parallel: only this figure [default: both]
    #[arg(long, value_enum)]
    figure: Option<Figure>,
    /// lookup: which methods [default: fast,linear]
    #[arg(long, value_enum, value_name = "METHOD,...", value_delimiter = ',')]
    method: Vec<lookup::Method>,
    /// tfhe: sets; client-SET for the keys of a client; u8, u16, u32, u64 for integers; u8xu8 for functions of two of them [default:
    /// BOOL,BOOL_128,1_1,2_2,3_3,client-BOOL,client-2_2,u8,u16,u32,u8xu8]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    workload: Vec<Workload>,
    /// tfhe: how many ciphertexts are bootstrapped together [default: 1,8,64,512]
    #[arg(long, value_name = "COUNT,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=65536))]
    batch: Vec<u32>,
    /// cyclotomic: rings with their plaintext moduli, as index:prime:exponent [default: 511:2:1, 2047:2:1, 4095:2:1, 15709:2:1,
    /// 15709:3:1, 24295:2:1, 15709:2:59]
    #[arg(long, value_name = "M:P:R,...", value_delimiter = ',')]
    set: Vec<cyclotomic::Set>,
    /// weak-client: what one device makes; several parts run in a process each [default: all]
    #[arg(long, value_enum, value_name = "PART,...", value_delimiter = ',')]
    part: Vec<Part>,
    /// advise: only the workloads of these numbers, from 0 on [default: all]
    #[arg(long, value_name = "NUMBER,...", value_delimiter = ',')]
    number: Vec<usize>,
    /// advise: only the candidate at this place of the advice, from 0 on, in this process [default: all, each in its own]
    #[arg(long, value_name = "PLACE", requires = "number")]
    place: Option<usize>,
    /// Run this program after each step, with the options of the step, and show its records too (repeatable)
    #[arg(long, value_name = "PROGRAM")]
    beside: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Suite {
    /// Arithmetic and transforms of rows, for each instruction set, and what memory gives
    Kernels,
    /// A product and a sum in one pass and in two, over rows of many moduli, through all caches
    Fused,
    /// Operations on ciphertexts
    Ckks,
    /// Sums over 128 slots by repeated doubling and unrolled in all ways, and field traces
    Trace,
    /// What the owner of the data does: keys, encoding, encryption
    Client,
    /// Bootstrapping: set-up, time of one and of its stages, precision
    Bootstrap,
    /// Operations and bootstrapping as it was first done in RNS, without security by today's tables, to compare with
    RnsHeaan,
    /// Products that follow one another in BFV, BGV and CKKS, for each depth
    Chain,
    /// The product of n numbers, in CKKS and in TFHE, one after the other and as a tree
    Product,
    /// The inner product of two vectors of n numbers, in CKKS and in TFHE
    InnerProduct,
    /// A matrix of 512 x 512 times an encrypted vector of integers, in BGV
    Matvec,
    /// A matrix of all slots times an encrypted vector, in BGV over rings whose index is no power of two
    Cyclotomic,
    /// A function of two encrypted numbers of 15 bits: three methods, each step, and preparation
    Lookup,
    /// Keys, gates and bootstraps of TFHE, one by one and in batches, and integers
    Tfhe,
    /// From CKKS to TFHE and back: both ways, and signs [default: 16 values, and all slots]
    Switching,
    /// Keys, encryption and decryption of a client with little memory, and the keys that a stronger device generates
    WeakClient,
    /// Workloads by each scheme, beside the times that `noren advise` predicts
    Advise,
    /// Three ways to share out loops, against threads [default: up to four for each core] and levels, and a model of more
    Parallel,
}

pub(crate) fn run(arguments: &Arguments, threads: &[usize], console: &Console) -> Result<(), Failure> {
    let asked = threads;
    let threads = if threads.is_empty() { &[1] } else { threads };
    let run = Run { seconds: arguments.seconds, threads, console, wrong: Mutex::default() };
    let mut beside = Beside::new(&arguments.beside);
    arguments.check()?;
    let degrees = &arguments.log_n;
    match arguments.suite {
        Suite::Kernels => {
            let degrees = kernels::degrees(degrees)?;
            console.text(Record::head())?;
            for log_n in degrees {
                kernels::run(&run, log_n)?;
                beside.step(&run, &[("--suite", "kernels"), ("--log-n", &log_n.to_string())])?;
            }
        }
        Suite::Fused => {
            let degrees = fused::degrees(degrees)?;
            console.text(Record::head())?;
            fused::run(&run, &degrees, &arguments.limbs)?;
        }
        Suite::Ckks => {
            let shapes = Shape::of_ckks(arguments.shape, degrees)?;
            let family = arguments.shape.to_possible_value().expect("no family is hidden");
            console.text(Record::head())?;
            for shape in shapes {
                ckks::run(&run, shape)?;
                let log_n = shape.log_n.to_string();
                beside.step(&run, &[("--suite", "ckks"), ("--log-n", &log_n), ("--shape", family.get_name())])?;
            }
        }
        Suite::Trace => {
            let shapes = Shape::of_trace(&arguments.special)?;
            let grid = trace::Grid::new(&arguments.level, &arguments.unrolled)?;
            console.text(Record::head())?;
            for shape in shapes {
                trace::run(&run, shape, &grid)?;
                let special = shape.special.to_string();
                beside.step(&run, &[("--suite", "trace"), ("--special", &special), ("--level", &grid.levels())])?;
            }
        }
        Suite::Client => {
            let shapes = Shape::of_client(degrees)?;
            console.text(Record::head())?;
            for shape in shapes {
                client::run(&run, shape)?;
                beside.step(&run, &[("--suite", "client"), ("--log-n", &shape.log_n.to_string())])?;
            }
        }
        Suite::Bootstrap => {
            let preset = arguments.preset.unwrap_or_default();
            let modes = if arguments.mode.is_empty() { Messages::value_variants() } else { &arguments.mode[..] };
            let parameters = bootstrap::parameters(preset, arguments.log_slots)?;
            console.text(Record::head())?;
            bootstrap::run(&run, preset, &parameters, modes, &Sharing::of(&arguments.parallel))?;
            for mode in modes {
                let options = [("--suite", "bootstrap"), ("--preset", preset.name()), ("--mode", mode.name())];
                beside.step(&run, &options)?;
            }
        }
        Suite::RnsHeaan => {
            let sets = rns_heaan::sets(degrees)?;
            console.text(Record::head())?;
            for spec in sets {
                let log_n = spec.log_n.to_string();
                rns_heaan::run(&run, spec, &Sharing::of(&arguments.parallel))?;
                beside.step(&run, &[("--suite", "rns-heaan"), ("--log-n", &log_n)])?;
            }
        }
        Suite::Chain => {
            let schemes = schemes(&arguments.scheme, &chain::SCHEMES)?;
            let depths: Vec<usize> = arguments.depth.iter().map(|&depth| depth as usize).collect();
            let depths = if depths.is_empty() { &chain::DEPTHS } else { &depths[..] };
            console.text(Record::head())?;
            for scheme in schemes {
                for &depth in depths {
                    chain::run(&run, scheme, depth)?;
                    let (scheme, depth) = (scheme.name(), depth.to_string());
                    beside.step(&run, &[("--suite", "chain"), ("--scheme", scheme), ("--depth", &depth)])?;
                }
            }
        }
        Suite::Product => reductions(arguments, Reduction::Product, &run, &mut beside)?,
        Suite::InnerProduct => reductions(arguments, Reduction::InnerProduct, &run, &mut beside)?,
        Suite::Matvec => {
            console.text(Record::head())?;
            matvec::run(&run)?;
            beside.step(&run, &[("--suite", "matvec")])?;
        }
        Suite::Cyclotomic => {
            let sets = if arguments.set.is_empty() { &cyclotomic::SETS } else { &arguments.set[..] };
            console.text(Record::head())?;
            for &set in sets {
                cyclotomic::run(&run, set)?;
                beside.step(&run, &[("--suite", "cyclotomic"), ("--set", &set.to_string())])?;
            }
        }
        Suite::Lookup => {
            let log_n = lookup::degree(degrees)?;
            console.text(Record::head())?;
            lookup::run(&run, log_n, &arguments.method)?;
            beside.step(&run, &[("--suite", "lookup"), ("--log-n", &log_n.to_string())])?;
        }
        Suite::Tfhe => {
            let workloads = Workload::choose(&arguments.workload)?;
            let batches: Vec<usize> = arguments.batch.iter().map(|&batch| batch as usize).collect();
            let batches = if batches.is_empty() { &tfhe::BATCHES } else { &batches[..] };
            let listed = batches.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
            console.text(Record::head())?;
            for workload in &workloads {
                tfhe::run(&run, workload, batches)?;
                let name = workload.to_string();
                beside.step(&run, &[("--suite", "tfhe"), ("--workload", &name), ("--batch", &listed)])?;
            }
        }
        Suite::Switching => {
            let preset = arguments.preset.unwrap_or_default();
            let all = preset.spec().log_slots;
            let sizes = arguments.log_slots.map_or(vec![switching::FEW.min(all), all], |log_slots| vec![log_slots]);
            console.text(Record::head())?;
            for log_slots in sizes {
                switching::run(&run, preset, &bootstrap::parameters(preset, Some(log_slots))?)?;
                beside.step(&run, &[("--suite", "switching"), ("--log-slots", &log_slots.to_string())])?;
            }
        }
        Suite::WeakClient => {
            let preset = arguments.preset.unwrap_or_default();
            let parts = if arguments.part.is_empty() { Part::value_variants() } else { &arguments.part[..] };
            console.text(Record::head())?;
            weak_client::run(&run, preset, parts)?;
        }
        Suite::Advise => {
            let asked = advise::asked(&run, &arguments.number, arguments.place)?;
            console.text(Record::head())?;
            for asked in &asked {
                advise::run(&run, asked)?;
            }
        }
        Suite::Parallel => {
            let shapes = Shape::of_parallel(degrees)?;
            let axes = Axes::new(arguments.figure, asked, &arguments.level)?;
            console.text(Record::head())?;
            for shape in shapes {
                parallel::run(&run, shape, &axes)?;
            }
        }
    }
    match run.wrong.into_inner().unwrap_or_else(PoisonError::into_inner) {
        wrong if wrong.is_empty() => Ok(()),
        wrong => Err(Failure::WrongResults(wrong)),
    }
}

/// The steps of the suites `product` and `inner-product`.
fn reductions(arguments: &Arguments, reduction: Reduction, run: &Run<'_>, beside: &mut Beside) -> Result<(), Failure> {
    let schemes = schemes(&arguments.scheme, &reduction::SCHEMES)?;
    let ways = if arguments.way.is_empty() { Way::value_variants() } else { &arguments.way[..] };
    let counts: Vec<usize> = arguments.count.iter().map(|&count| count as usize).collect();
    let counts = if counts.is_empty() { &reduction::COUNTS } else { &counts[..] };
    let bits = arguments.bits.unwrap_or(reduction::BITS);
    run.console.text(Record::head())?;
    for &scheme in &schemes {
        for &count in counts {
            for &way in ways {
                reduction::run(run, &Case { reduction, scheme, way, count, bits })?;
                let (scheme, count, bits) = (scheme.name(), count.to_string(), bits.to_string());
                let options = [("--suite", reduction.suite()), ("--scheme", scheme), ("--way", way.name())];
                beside.step(run, &[&options[..], &[("--count", &count), ("--bits", &bits)]].concat())?;
            }
        }
    }
    Ok(())
}

impl Arguments {
    /// Refuses options of other suites.
    fn check(&self) -> Result<(), Failure> {
        use Suite::*;
        // Whether it is absent, and the suites that have it. No other program shares out loops in the ways of the suite parallel, or has
        // light keys beside CKKS.
        let options: [(&str, bool, &[Suite]); 22] = [
            ("--log-n", self.log_n.is_empty(), &[Kernels, Fused, Ckks, Client, Lookup, Suite::Parallel, RnsHeaan]),
            ("--limbs", self.limbs.is_empty(), &[Fused]),
            ("--shape", self.shape == Family::Hybrid, &[Ckks]),
            ("--special", self.special.is_empty(), &[Trace]),
            ("--level", self.level.is_empty(), &[Trace, Suite::Parallel]),
            ("--unrolled", self.unrolled.is_empty(), &[Trace]),
            ("--preset", self.preset.is_none(), &[Bootstrap, Switching, WeakClient]),
            ("--log-slots", self.log_slots.is_none(), &[Bootstrap, Switching]),
            ("--mode", self.mode.is_empty(), &[Bootstrap]),
            ("--parallel", self.parallel.is_empty(), &[Bootstrap, RnsHeaan]),
            ("--depth", self.depth.is_empty(), &[Chain]),
            ("--scheme", self.scheme.is_empty(), &[Chain, Product, InnerProduct]),
            ("--count", self.count.is_empty(), &[Product, InnerProduct]),
            ("--way", self.way.is_empty(), &[Product, InnerProduct]),
            ("--bits", self.bits.is_none(), &[Product, InnerProduct]),
            ("--figure", self.figure.is_none(), &[Suite::Parallel]),
            ("--method", self.method.is_empty(), &[Lookup]),
            ("--workload", self.workload.is_empty(), &[Tfhe]),
            ("--set", self.set.is_empty(), &[Cyclotomic]),
            ("--batch", self.batch.is_empty(), &[Tfhe]),
            ("--part", self.part.is_empty(), &[WeakClient]),
            ("--number", self.number.is_empty(), &[Advise]),
        ];
        let foreign = options.iter().find(|(_, absent, suites)| !absent && !suites.contains(&self.suite));
        let alone = [Advise, Fused, Suite::Parallel, WeakClient].contains(&self.suite);
        let beside = (alone && !self.beside.is_empty()).then_some("--beside");
        match foreign.map(|&(name, ..)| name).or(beside) {
            Some(what) => {
                let suite = self.suite.to_possible_value().expect("no suite is hidden");
                let needed = "a suite that has this option".to_owned();
                Err(Failure::Unsuitable { what, found: suite.get_name().to_owned(), needed })
            }
            None => Ok(()),
        }
    }
}

fn parse_width(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(bits) if (2..=64).contains(&bits) && bits % 2 == 0 => Ok(bits),
        _ => Err("an even number of bits from 2 to 64 is needed".to_owned()),
    }
}

/// The named schemes, or all of a suite; a scheme that the suite lacks is refused.
fn schemes(named: &[Scheme], all: &[Scheme]) -> Result<Vec<Scheme>, Failure> {
    if let Some(found) = named.iter().find(|named| !all.contains(named)) {
        let all: Vec<&str> = all.iter().map(|scheme| scheme.name()).collect();
        let needed = format!("one of {}", all.join(", "));
        return Err(Failure::Unsuitable { what: "--scheme", found: found.name().to_owned(), needed });
    }
    Ok(if named.is_empty() { all } else { named }.to_vec())
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.0..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("a number of seconds from 0 to 3600 is needed".to_owned()),
    }
}
