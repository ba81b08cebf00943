//! `noren compare`: the comparison of schemes and libraries of Tsuji and Oguchi, measured here and now.
//!
//! | room | what it holds |
//! |---|---|
//! | `command` | the verb: what it reads, measures and writes |
//! | `plan` | the steps of a quick and of a whole run |
//! | `peers` | other libraries: where their drivers are, and what they measure |
//! | `session` | running the steps, each in a process of its own |
//! | `data` | what was measured, as JSON |
//! | `devices` | the work of a client on devices, by the models of the advisor |
//! | `published` | the figures of the comparison |
//! | `select` | questions to records |
//! | `report` | the model of a report: sections of text, tables and plots |
//! | `sections` | from data to the report |
//! | `html`, `plot`, `axis`, `markup` | the report as one page, and plots as SVG |

mod axis;
mod command;
mod data;
mod devices;
mod html;
mod markup;
mod peers;
mod plan;
mod plot;
mod published;
mod report;
mod sections;
mod select;
mod session;

pub(crate) use command::{Arguments, run};
