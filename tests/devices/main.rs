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
#[path = "../kernel/mod.rs"]
mod kernel;
#[path = "../lab/mod.rs"]
mod lab;
mod lab_itself;
mod modes;
mod quick;
mod ramp;
mod sustain;
mod sweep;
mod watch;
