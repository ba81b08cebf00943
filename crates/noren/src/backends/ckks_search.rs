//! Parameters of CKKS for a graph: approximations, ring and scale that fit each other.

use noren_rlwe::error::Result;
use noren_rlwe::security::Security;

use crate::backends::modelled::{HELPS, MARGIN, SHARE_OF_APPROXIMATIONS, is_approximation, predicted};
use crate::backends::options::Options;
use crate::graph::dag::Graph;
use crate::lowering::error::CompileError;
use crate::lowering::kept::Maps;
use crate::lowering::nodes::Approximations;
use crate::lowering::recording::Recording;
use crate::schemes::ckks::model::NoiseModel;
use crate::schemes::ckks::requirements::{LOG_N, MOST_SLOTS};
use crate::schemes::ckks::search::{MOST_GROWTHS, Searched, Trial, larger, smaller};
use crate::schemes::ckks::{self, CkksError};
use crate::schemes::error::readable;

/// The part of the precision that approximations may take together, so that noise has some too.
const APPROXIMATED: f64 = 0.75;

/// How often approximations are made better, and by how much at most.
const MOST_ROUNDS: usize = 8;
const MOST_FINER: f64 = 64.0;

/// How often in a row better approximations need not help: those that are far off are all alike.
const MOST_IDLE: usize = 2;

/// How often the modulus is made larger for results that leave it before approximations are made better instead: errors that are
/// too large for what follows lead out of any.
const GROWTHS_FIRST: usize = 3;

/// Parameters that reach a precision.
pub(super) struct Found {
    pub(super) parameters: ckks::Parameters,
    pub(super) approximations: Approximations,
    pub(super) recording: Recording,
}

/// Why there are no parameters.
pub(super) struct Refused {
    /// The levels that the graph takes.
    pub(super) levels: usize,
    /// The smallest bound on the error that parameters have, if any have the levels.
    pub(super) nearest: Option<f64>,
    pub(super) reason: String,
}

/// A search for the smallest ring, and there the smallest scale, with which the bounds on errors are within a precision.
pub(super) struct Search<'a> {
    graph: &'a Graph,
    security: Security,
    /// The largest bound that does.
    most: f64,
    /// The slots for the elements along each axis.
    wanted: usize,
    approximations: Approximations,
    /// The largest value that the last modulus must hold.
    room: f64,
    maps: Maps<f64>,
}

impl<'a> Search<'a> {
    /// A search for parameters with `wanted` slots, or the most of their ring.
    pub(super) fn new(graph: &'a Graph, options: &Options, precision: f64, wanted: usize) -> Self {
        let room = graph.outputs().iter().map(|&at| graph.node(at).range.magnitude()).fold(1.0, f64::max);
        let approximations = Approximations::of_reals(precision * SHARE_OF_APPROXIMATIONS, options.dead_zone);
        let (security, most) = (options.security, precision * MARGIN);
        Self { graph, security, most, wanted, approximations, room, maps: Maps::default() }
    }

    /// The smallest parameters.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] for operations that slots do not have.
    pub(super) fn run(mut self) -> Result<std::result::Result<Found, Refused>> {
        let levels = match self.refine()? {
            Ok(levels) => levels,
            Err(refused) => return Ok(Err(refused)),
        };
        let mut refused = self.refused(levels);
        for log_n in LOG_N {
            if self.needed(levels, 1).scales(log_n, 1.0).is_empty() {
                continue;
            }
            let slots = self.wanted.min(1 << (log_n - 1));
            let Some(recording) = self.recorded(slots)? else { continue };
            for levels_left in 0..=usize::from(self.room > 1.0) {
                match self.of_ring(log_n, levels_left, &recording)? {
                    Ok(parameters) => {
                        let approximations = self.approximations;
                        return Ok(Ok(Found { parameters, approximations, recording }));
                    }
                    Err(bound) => refused.heard(bound),
                }
            }
        }
        Ok(Err(refused))
    }

    /// Makes approximations as good as the precision asks for where scales are so large that noise hardly counts, and finds how
    /// many levels the graph takes then.
    fn refine(&mut self) -> Result<std::result::Result<usize, Refused>> {
        let slots = self.wanted.min(MOST_SLOTS);
        let log_n = (slots.ilog2() + 1).max(*LOG_N.start());
        let (room, mut refused) = (self.room, self.refused(0));
        let (mut rounds, mut idle, mut growths, mut last) = (0, 0, 0, f64::INFINITY);
        // The error of approximations and the levels that the smallest bound was found with.
        let mut nearest = (self.approximations.error, 0);
        while rounds < MOST_ROUNDS && idle < MOST_IDLE && growths < MOST_GROWTHS {
            let recording = match self.recording(slots) {
                Err(error) if rounds + growths > 0 && is_approximation(&error) => break,
                recording => recording?,
            };
            refused.levels = recording.usage.depth;
            let needed = ckks::Requirements { security: Security::None, ..self.needed(refused.levels, 1) };
            let parameters = match needed.scales(log_n, self.room).last() {
                Some(&largest) => needed.of_scale(log_n, largest, self.room)?,
                None => None,
            };
            let Some(parameters) = parameters else {
                return Ok(Err(Refused { reason: self.too_many(refused.levels), ..refused }));
            };
            match self.tried(&parameters, &recording)? {
                Trial::Bounded(bound) if bound <= self.most * APPROXIMATED => return Ok(Ok(refused.levels)),
                Trial::Bounded(bound) => {
                    if refused.nearest.is_none_or(|least| bound < least) {
                        nearest = (self.approximations.error, refused.levels);
                    }
                    refused.heard(Some(bound));
                    self.approximations.error /= (bound / (self.most * APPROXIMATED)).clamp(1.5, MOST_FINER);
                    idle = if bound > last * HELPS { idle + 1 } else { 0 };
                    last = bound;
                    rounds += 1;
                }
                Trial::Left(value) => {
                    refused.reason = format!("intermediate results of up to {} leave the modulus", readable(self.room));
                    growths += 1;
                    if growths % GROWTHS_FIRST == 0 && value.is_none() {
                        self.room = room;
                        self.approximations.error /= MOST_FINER;
                    } else {
                        self.room = larger(self.room, value);
                    }
                }
            }
        }
        // Noise alone may be what is left of the error, and may fit.
        let (error, levels) = nearest;
        self.approximations.error = error;
        Ok(if refused.nearest.is_some_and(|bound| bound <= self.most) { Ok(levels) } else { Err(refused) })
    }

    /// The parameters of the smallest scale in a ring whose bounds are within the precision, or the bound that the largest scale
    /// has, if there is one.
    fn of_ring(&self, log_n: u32, levels_left: usize, recording: &Recording) -> Result<Searched> {
        let trial = |parameters: &ckks::Parameters| self.tried(parameters, recording);
        self.needed(recording.usage.depth, levels_left).in_ring(log_n, self.room, self.most, trial, None)
    }

    fn needed(&self, depth: usize, levels_left: usize) -> ckks::Requirements {
        // The model knows where values are larger than 1, and what their products do to errors.
        let (security, max_abs) = (self.security, 1.0);
        ckks::Requirements { depth, levels_left, max_abs, slots: 1, security, ..ckks::Requirements::default() }
    }

    fn recording(&self, slots: usize) -> Result<Recording> {
        Recording::with_maps(self.graph, slots, self.approximations, Some(&self.maps))
    }

    /// The recording in ciphertexts of `slots` slots; none if an operation needs larger ones.
    fn recorded(&self, slots: usize) -> Result<Option<Recording>> {
        match self.recording(slots) {
            Err(error)
                if matches!(error.downcast_ref(), Some(CompileError::Unsupported { .. }))
                    && slots < self.wanted.min(MOST_SLOTS) =>
            {
                Ok(None)
            }
            recording => recording.map(Some),
        }
    }

    fn tried(&self, parameters: &ckks::Parameters, recording: &Recording) -> Result<Trial> {
        let model = NoiseModel::new(parameters.clone(), None);
        match predicted(self.graph, &model, recording, self.approximations, Some(&self.maps)) {
            Ok(bounds) if bounds.beside(self.most).is_finite() => Ok(Trial::Bounded(bounds.beside(self.most))),
            Ok(_) => Ok(Trial::Left(None)),
            Err(error) => match error.downcast_ref() {
                Some(CkksError::Overflow { value, .. }) => Ok(Trial::Left(Some(value.abs()))),
                _ => Err(error),
            },
        }
    }

    fn refused(&self, levels: usize) -> Refused {
        Refused { levels, nearest: None, reason: self.too_many(levels) }
    }

    fn too_many(&self, levels: usize) -> String {
        let (room, security) = (readable(self.room), self.security);
        format!("no parameters have {levels} levels and results of up to {room} at {security} security")
    }
}

impl Refused {
    /// Notes a bound that is too large.
    fn heard(&mut self, bound: Option<f64>) {
        let Some(bound) = bound else { return };
        self.nearest = smaller(self.nearest, Some(bound));
        self.reason = "no parameters have smaller errors".to_owned();
    }
}
