//! The safe methods of [`Kernels`](crate::kernels::Kernels): each checks its lengths and calls a function of the table.

mod call;
mod multiples;
mod panels;
mod rows;
mod streams;
mod torus;
