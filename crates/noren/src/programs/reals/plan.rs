//! Which parameters of CKKS and keys programs need, before any key exists.

use noren_rlwe::error::{Error, Result};

use crate::circuits::recorder::CircuitUsage;
use crate::programs::error::ProgramError;
use crate::programs::layout::TableLayout;
use crate::programs::masks::SumFactor;
use crate::programs::program::Program;
use crate::programs::shape::Shape;
use crate::programs::table::{EncryptedTable, Layout};
use crate::schemes::ckks::estimate::{Estimate, Nature};
use crate::schemes::ckks::keys::KeyRequest;
use crate::schemes::ckks::model::NoiseModel;
use crate::schemes::ckks::parameters::Parameters;
use crate::schemes::ckks::requirements::{LOG_N, Requirements};
use crate::schemes::ckks::search::{Trial, smaller};
use crate::schemes::range::Range;

/// Parameters and keys for programs on tables of one shape.
///
/// # Examples
/// ```
/// use noren::Seed;
/// use noren::ckks::Context;
/// use noren::programs::{ProgramPlan, Program, Shape};
///
/// let programs = [Program::parse("mean", None)?, Program::parse("variance", None)?];
/// let shape = Shape { rows: 100, columns: 3, ..Shape::default() };
/// let plan = ProgramPlan::for_precision(&programs, &shape, 16.0)?;
/// assert_eq!(plan.parameters.max_level(), 2);
///
/// let context = Context::new(plan.parameters.clone())?;
/// let keys = context.generate_keys(Seed::random()?, &plan.key_request()?)?;
/// # Ok::<(), noren::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ProgramPlan {
    /// The parameters.
    pub parameters: Parameters,
    /// Where the entries of a table lie.
    pub layout: TableLayout,
    /// The keys and levels of all programs together.
    pub usage: CircuitUsage,
}

impl ProgramPlan {
    /// The plan with the smallest parameters whose [predicted error](Self::predicted_error) is at most
    /// `2^-precision_bits`, at 128-bit security.
    ///
    /// # Errors
    /// A shape that cannot be, a model that does not suit it,
    /// [`ProgramError::UnprovenInterval`](crate::programs::ProgramError::UnprovenInterval), a precision that no
    /// parameters reach.
    pub fn for_precision(programs: &[Program], shape: &Shape, precision_bits: f64) -> Result<Self> {
        let mut needed = Requirements { depth: 0, precision_bits, ..Requirements::default() };
        needed.check()?;
        let most = libm::exp2(-precision_bits);
        let mut closest = None;
        for log_n in LOG_N {
            let layout = shape.layout(1 << (log_n - 1))?;
            // Programs are walked through only in rings that are large enough for the depth that they had before.
            let scales = needed.scales(log_n, 1.0);
            let Some((_, largest)) = needed.largest(log_n, 1.0, &scales)? else { continue };
            let least = predicted_error(&largest, &layout, needed.depth);
            if least > most {
                closest = smaller(closest, Some(least));
                continue;
            }
            let usage = shape.usage_of(programs, &layout)?;
            if usage.depth > needed.depth {
                (needed.depth, closest) = (usage.depth, None);
            }
            let trial = |parameters: &Parameters| Ok(Trial::Bounded(predicted_error(parameters, &layout, usage.depth)));
            let confirm = |parameters: &Parameters| match check_results(programs, &layout, parameters) {
                Err(error) if matches!(error.downcast_ref(), Some(ProgramError::ResultTooLarge { .. })) => {
                    Ok(Trial::Left(None))
                }
                checked => checked.and_then(|()| trial(parameters)),
            };
            match needed.in_ring(log_n, 1.0, most, trial, Some(&confirm))? {
                Ok(parameters) => return Ok(Self { parameters, layout, usage }),
                Err(found) => closest = smaller(closest, found),
            }
        }
        Err(needed.refusal(closest))
    }

    /// The plan with these parameters.
    ///
    /// # Errors
    /// A shape that cannot be, a model that does not suit it,
    /// [`ProgramError::UnprovenInterval`](crate::programs::ProgramError::UnprovenInterval), parameters with too few
    /// levels, or with a first prime that does not hold the results.
    pub fn with_parameters(programs: &[Program], shape: &Shape, parameters: Parameters) -> Result<Self> {
        let layout = shape.layout(parameters.max_slots())?;
        let usage = shape.usage_of(programs, &layout)?;
        let (found, needed) = (parameters.max_level(), usage.depth);
        if found < needed {
            let needed =
                format!("at least {needed}, for the deepest of the programs: choose parameters with more primes");
            return Err(Error::parameter("max_level", found, needed));
        }
        check_results(programs, &layout, &parameters)?;
        Ok(Self { parameters, layout, usage })
    }

    /// The keys for tables that are encrypted at the highest level.
    ///
    /// # Errors
    /// As [`CircuitUsage::key_request`], where parameters were put in the place of those that were planned.
    pub fn key_request(&self) -> Result<KeyRequest> {
        self.usage.key_request(self.parameters.max_level())
    }

    /// The error of results, in units of the encoded numbers, which are at most 1: what as many multiplications as the
    /// deepest program has make of the error of an encryption, and what the sums over rows add, whose masks are rounded.
    /// See [`Parameters::predicted_error`].
    ///
    /// It holds for sums and means of any number of rows, and for products of columns of more than a few rows, relative
    /// to what the bounds of their columns allow: a covariance to the product of two bounds, not to itself. A polynomial
    /// that is steep somewhere adds to it, and so do hundreds of products in one table. The error bound of a result is
    /// in the result.
    #[must_use]
    pub fn predicted_error(&self) -> f64 {
        predicted_error(&self.parameters, &self.layout, self.usage.depth)
    }
}

/// [`ProgramPlan::predicted_error`] for programs of a depth.
fn predicted_error(parameters: &Parameters, layout: &TableLayout, depth: usize) -> f64 {
    /// Coefficients of masks are rounded to integers: uniform in an interval of length 1.
    const VARIANCE: f64 = 1.0 / 12.0;
    let scale = parameters.scale_at(parameters.max_level()).to_f64();
    let variance = parameters.degree() as f64 * VARIANCE / (scale * scale);
    let mask = Estimate::exact(Range::symmetric(1.0), 0).with_source(Nature::Plain, variance, 0);
    let mask = mask.bound(layout.slots(), parameters.max_slots());
    // A mean; a sum is divided by the next power of two, for a result that is at most 1 as well.
    let mean = SumFactor::new(layout, 1.0 / layout.rows() as f64);
    parameters.predicted_error(depth, 1.0, layout.slots()) + mean.rounding_error(layout, mask, 0.5 / scale)
}

/// Refuses results that are not known to fit the modulus.
fn check_results(programs: &[Program], layout: &TableLayout, parameters: &Parameters) -> Result<()> {
    let level = parameters.max_level();
    programs.iter().try_for_each(|program| program.check_result(layout, parameters, level))
}

impl Program {
    /// Refuses parameters under which the result is not known to fit the modulus that is left, for a table of this layout at
    /// this level: it could not be decrypted.
    ///
    /// The program itself runs on a [`NoiseModel`], without numbers.
    ///
    /// # Errors
    /// As [`Program::run`]; [`ProgramError::ResultTooLarge`].
    pub fn check_result(&self, layout: &TableLayout, parameters: &Parameters, level: usize) -> Result<()> {
        let model = NoiseModel::new(parameters.clone(), None);
        let unknown = (0..layout.ciphertexts()).map(|_| model.unknown(layout.slots(), level));
        let table = EncryptedTable::new(Layout::Table(layout.clone()), unknown.collect::<Result<_>>()?)?;
        let result = self.run(&model, &table)?;
        if result.ciphertexts().iter().all(|x| model.error_bound(x).is_finite()) {
            return Ok(());
        }
        let first_bits = parameters.spec().log_q.first().copied().unwrap_or(0);
        Err(ProgramError::ResultTooLarge { program: self.name(), first_bits }.into())
    }
}

impl CircuitUsage {
    /// The keys for tables that are encrypted at this level: each for the highest level at which it is used.
    ///
    /// # Errors
    /// A level below the depth.
    pub fn key_request(&self, level: usize) -> Result<KeyRequest> {
        if level < self.depth {
            return Err(Error::LevelExhausted { needed: self.depth, left: level });
        }
        Ok(KeyRequest {
            relinearization: self.relinearization.is_some(),
            rotations_at: self.rotations.iter().map(|(&steps, &depth)| (steps, level - depth)).collect(),
            level: self.relinearization.map(|depth| level - depth),
            ..KeyRequest::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use noren_math::random::{Seed, Xof};

    use super::*;
    use crate::programs::bounds::Bounds;
    use crate::schemes::ckks::parameters::ParametersSpec;
    use noren_rlwe::error::cause;
    use noren_rlwe::security::Security;

    fn program(name: &str) -> Program {
        Program::parse(name, None).expect("no model is needed")
    }

    fn shape(rows: usize, columns: usize) -> Shape {
        Shape { rows, columns, ..Shape::default() }
    }

    #[test]
    fn chosen_parameters_reach_the_precision_with_the_slots_they_have() {
        for (name, rows, columns, bits) in [
            ("mean", 20, 3, 20.0),
            ("mean", 5000, 30, 20.0),
            ("covariance", 300, 12, 16.0),
            ("sum", 9, 1, 30.0),
            ("mean", 1_000_000, 2, 24.0),
            ("sum", 1_000_000, 1, 20.0),
            ("variance", 1_000_000, 1, 20.0),
            ("sum", 1000, 1, 27.0),
        ] {
            let plan = ProgramPlan::for_precision(&[program(name)], &shape(rows, columns), bits).expect("can be met");
            assert!(plan.predicted_error() <= f64::exp2(-bits), "{name}: {}", plan.predicted_error());
            assert_eq!(plan.parameters.max_level(), plan.usage.depth, "{name}");
        }
    }

    /// The largest error bound of a program on a table of ones and minus ones, in units of the encoded numbers.
    fn error_bound(program: &Program, plan: &ProgramPlan) -> f64 {
        let (layout, level) = (plan.layout.clone(), plan.parameters.max_level());
        let model = NoiseModel::new(plan.parameters.clone(), None);
        let entry = |index: usize| {
            libm::ldexp(if index.is_multiple_of(3) { -1.0 } else { 1.0 }, layout.exponents()[index % layout.columns()])
        };
        let entries: Vec<f64> = (0..layout.rows() * layout.columns()).map(entry).collect();
        let packed = layout.pack(&entries).expect("a number for each entry");
        let encrypt = |slots: &Vec<f64>| model.encrypt(slots, [-1.0, 1.0], level).expect("slots of the parameters");
        let ciphertexts = packed.iter().map(encrypt).collect();
        let table = EncryptedTable::new(Layout::Table(layout), ciphertexts).expect("as many as in the layout");
        let result = program.run(&model, &table).expect("planned");
        result.ciphertexts().iter().map(|x| model.error_bound(x)).fold(0.0, f64::max)
    }

    #[test]
    fn parameters_hold_what_programs_compute_for_any_number_of_rows() {
        let spread = |name, ddof: usize| Program::parse(name, Some(&format!("{{\"ddof\": {ddof}}}"))).expect("a model");
        for rows in (2..20).chain([63, 64, 65, 100, 127, 129, 300, 1000, 1023, 1024, 1025, 2000, 4097, 5000]) {
            let few = 9.min(rows - 1);
            for (program, ddof) in [
                (program("sum"), 0),
                (program("mean"), 0),
                (program("inner-product"), 0),
                (program("covariance"), 1),
                (program("variance"), 1),
                (spread("variance", 0), 0),
                (spread("covariance", few), few),
            ] {
                let programs = [program];
                let plan = ProgramPlan::for_precision(&programs, &shape(rows, 2), 16.0).expect("can be met");
                let bound = error_bound(&programs[0], &plan);
                // What sums hold beside the rows of a column, over the divisor.
                let largest = 2.0 * rows as f64 / (rows - ddof) as f64;
                assert!(bound <= 4.0 * largest * f64::exp2(-16.0), "{:?} of {rows} rows: {bound}", programs[0]);
            }
        }
    }

    /// Numbers of a fixed stream in `[-1, 1)`.
    fn draw(stream: &mut Xof) -> f64 {
        (stream.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// A model of any program for so many columns: dense, sparse, of any size and degree.
    fn any_model(stream: &mut Xof, name: &str, rows: usize, columns: usize) -> Option<String> {
        let size = f64::exp2(17.0 * draw(stream));
        let sparse = draw(stream) > 0.0;
        let below = |stream: &mut Xof, most: usize| stream.next_u64() as usize % most;
        let outputs = 1 + below(stream, 4);
        let (terms, powers) = (1 + below(stream, 9), draw(stream) > 0.0);
        let mut list = |count: usize| -> Vec<f64> {
            let number = |_| if sparse && draw(stream) < 0.6 { 0.0 } else { size * draw(stream) };
            (0..count).map(number).collect()
        };
        let linear = |list: &mut dyn FnMut(usize) -> Vec<f64>| {
            let weights: Vec<Vec<f64>> = (0..outputs).map(|_| list(columns)).collect();
            format!("\"weights\": {weights:?}, \"bias\": {:?}", list(outputs))
        };
        match name {
            "sum" | "mean" => None,
            "variance" | "covariance" => Some(format!("{{\"ddof\": {}}}", below(stream, rows))),
            "inner-product" => {
                let pairs: Vec<[usize; 2]> =
                    (0..outputs).map(|_| [below(stream, columns), below(stream, columns)]).collect();
                Some(format!("{{\"pairs\": {pairs:?}}}"))
            }
            "linear" => Some(format!("{{{}}}", linear(&mut list))),
            "logistic" => Some(format!("{{{}, \"interval\": {}, \"degree\": 15}}", linear(&mut list), 4.0 * size)),
            "polynomial" if powers => Some(format!("{{\"coefficients\": {:?}}}", list(terms))),
            _ => Some(format!(
                "{{\"coefficients\": {:?}, \"basis\": \"chebyshev\", \"interval\": [-3, 5]}}",
                list(terms)
            )),
        }
    }

    #[test]
    fn plans_of_any_model_give_results_that_decrypt() {
        let mut stream = Seed::from_bytes([46; 32]).xof("models");
        for case in 0..240 {
            let (rows, columns) = (2 + stream.next_u64() as usize % 60, 1 + stream.next_u64() as usize % 33);
            let name = Program::NAMES[case % Program::NAMES.len()];
            let json = any_model(&mut stream, name, rows, columns);
            let programs = [Program::parse(name, json.as_deref()).expect("a model")];
            let bits = 11.0 + 5.0 * draw(&mut stream);
            let plan = ProgramPlan::for_precision(&programs, &shape(rows, columns), bits)
                .unwrap_or_else(|error| panic!("{name} {json:?} on {rows} rows, {columns} columns: {error}"));
            // Arguments that columns of other sizes take far beyond their interval come with errors that are as large.
            if matches!(name, "logistic" | "polynomial") {
                continue;
            }
            // Columns of other sizes than the plan takes them to have.
            for exponents in
                [plan.layout.exponents().to_vec(), vec![0; columns], (0..columns).map(|c| 3 * (c % 5) as i32).collect()]
            {
                let layout = plan.layout.clone().with_exponents(exponents).expect("small");
                let checked = programs[0].check_result(&layout, &plan.parameters, plan.parameters.max_level());
                checked.unwrap_or_else(|error| panic!("{name} {json:?} on {rows} rows, {columns} columns: {error}"));
            }
        }
    }

    #[test]
    fn parameters_that_do_not_hold_results_are_refused() {
        let variance = [Program::parse("variance", Some("{\"ddof\": 15}")).expect("a model")];
        let spec = |first| ParametersSpec {
            log_n: 11,
            log_q: vec![first, 40, 40],
            log_p: vec![50],
            log_scale: 40,
            security: Security::None,
            ..ParametersSpec::default()
        };
        let plan = |first| {
            ProgramPlan::with_parameters(&variance, &shape(16, 2), spec(first).build().expect("supported")).map(|_| ())
        };
        // Variances are up to 16, with two bits for the sign and the error.
        assert!(plan(47).is_ok());
        let refused = plan(42);
        assert!(matches!(cause(&refused), Some(ProgramError::ResultTooLarge { program: "variance", first_bits: 42 })));
    }

    #[test]
    fn the_plan_of_several_programs_covers_each() {
        let plan = |names: &[&str]| {
            let programs: Vec<Program> = names.iter().map(|name| program(name)).collect();
            ProgramPlan::for_precision(&programs, &shape(50, 6), 16.0).expect("can be met").usage
        };
        let (mean, variance, both) = (plan(&["mean"]), plan(&["variance"]), plan(&["mean", "variance"]));
        assert_eq!(both.depth, mean.depth.max(variance.depth));
        assert!(mean.rotations.keys().chain(variance.rotations.keys()).all(|k| both.rotations.contains_key(k)));
        assert!(mean.relinearization.is_none() && both.relinearization.is_some());
    }

    #[test]
    fn scaling_that_is_not_known_counts_as_the_worst() {
        let cubic = r#"{"coefficients": [0, 1, 0, 1], "interval": [-1, 1]}"#;
        let cubic = [Program::parse("polynomial", Some(cubic)).expect("a model")];
        let depth = |bounds| {
            let shape = Shape { bounds, ..shape(8, 2) };
            ProgramPlan::for_precision(&cubic, &shape, 16.0).expect("can be met").usage.depth
        };
        assert_eq!(depth(None), depth(Some(Bounds::All(1.0))) + 1);
    }

    #[test]
    fn intervals_that_bounds_do_not_prove_are_refused_unless_asked_for() {
        let plan = |name: &str, json: &str, bounds: Option<Bounds>, unproven_interval| {
            let programs = [Program::parse(name, Some(json)).expect("a model")];
            ProgramPlan::for_precision(&programs, &Shape { bounds, unproven_interval, ..shape(8, 2) }, 12.0)
        };
        let each = |most: [f64; 2]| Some(Bounds::Each(most.to_vec()));
        // |0.5 x - y + 1| is at most 2 + 8 + 1 for columns up to 4 and 8.
        let score = r#"{"weights": [0.5, -1], "bias": 1, "interval": 10.5, "degree": 7, "outputs": ["risk"]}"#;
        let Err(error) = plan("logistic", score, each([3.0, 8.0]), false) else { panic!("11 is beyond 10.5") };
        let Some(ProgramError::UnprovenInterval { low, high, interval, .. }) = error.downcast_ref() else {
            panic!("{error}")
        };
        assert_eq!((*low, *high, *interval), (-9.0, 11.0, [-10.5, 10.5]));
        let text = error.to_string();
        for part in ["logistic", "risk", "from -9 to 11", "[-10.5, 10.5]", "widen", "smaller bounds", "not proven"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let depth = |bounds, unproven| plan("logistic", score, bounds, unproven).expect("planned").usage.depth;
        assert_eq!([depth(each([3.0, 8.0]), true), depth(each([2.0, 8.0]), false), depth(None, false)], [4, 4, 4]);
        let cubic = r#"{"coefficients": [0, 1, 0, 1], "interval": [-1, 4]}"#;
        for (json, bounds, refused) in [
            (cubic, each([1.0, 1.0]), false),
            (cubic, each([1.0, 4.0]), true),
            (r#"{"coefficients": [0, 1, 0, 1]}"#, each([1.0, 4.0]), false),
            (r#"{"coefficients": [0, 1], "basis": "chebyshev"}"#, each([1.0, 2.0]), true),
        ] {
            let planned = plan("polynomial", json, bounds.clone(), false);
            assert_eq!(matches!(cause(&planned), Some(ProgramError::UnprovenInterval { .. })), refused, "{json}");
            assert!(plan("polynomial", json, bounds, true).is_ok(), "{json}");
        }
    }

    #[test]
    fn refusals_name_a_precision_that_is_reached() {
        let plan = |bits| ProgramPlan::for_precision(&[program("variance")], &shape(5000, 3), bits);
        let text = plan(28.0).expect_err("too precise").to_string();
        let (_, needed) = text.split_once("at most ").expect("a precision");
        let (bits, depth) = needed.split_once(" bits, or at depth ").expect("a depth");
        let bits: f64 = bits.parse().expect("a number");
        assert!(plan(bits).is_ok() && plan(bits + 0.2).is_err(), "{text}");
        assert_eq!(depth, "2 or less");
    }

    #[test]
    fn parameters_that_are_too_shallow_are_refused() {
        let spec = ParametersSpec {
            log_n: 10,
            log_q: vec![50, 40],
            log_p: vec![50],
            log_scale: 40,
            security: Security::None,
            ..ParametersSpec::default()
        };
        let parameters = spec.build().expect("supported");
        let plan = |name| ProgramPlan::with_parameters(&[program(name)], &shape(12, 3), parameters.clone());
        let request = plan("mean").and_then(|plan| plan.key_request()).expect("one level");
        assert!(!request.relinearization && request.rotations_at.iter().all(|&(_, level)| level <= 1));
        assert!(matches!(plan("covariance"), Err(Error::Parameters { name: "max_level", .. })));
    }
}
