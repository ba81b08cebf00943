//! Samples and keys over the torus.

mod circuit;
mod noise;
mod samplers;
mod world;
