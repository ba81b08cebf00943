//! Samples and keys over the torus.

mod noise;
mod samplers;
mod world;
