//! Samples and keys over the torus.

mod circuit;
mod light;
mod noise;
mod samplers;
mod scheme_switch;
mod world;
mod zero;
