//! The suite `parallel`: three ways to share out loops, against threads and against levels, and a model for more threads.

mod axes;
mod grid;
mod model;
mod op;

pub(super) use axes::{Axes, Figure};
pub(super) use grid::run;
