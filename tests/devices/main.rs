//! Assay typed at devices of known speed and known faults: the figures, the verdicts, and nothing left
//! behind.
//!
//! `cargo test --test devices -- sweep` keeps to one subject. What times something beside others that would
//! disturb it holds [`lab::alone`]; what only burns processor time belongs into `tests/engine`.

mod accounts;
mod bonnie;
mod card;
mod changes;
mod data;
mod dd;
mod demo;
mod documents;
mod explain;
mod faults;
mod fio;
mod firsts;
mod honest;
mod iozone;
mod lab_itself;
mod lasting;
mod modes;
mod quick;
mod ramp;
mod sustain;
mod sweep;
mod watch;

use assay_testing::{kernel, lab};
