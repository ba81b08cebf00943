//! Samples and keys over the torus.

mod circuit;
mod light;
mod noise;
mod samplers;
mod world;
mod zero;
