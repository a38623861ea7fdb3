//! Assay typed at devices of known speed and known faults: the figures, the verdicts, and nothing left
//! behind.
//!
//! `cargo test --test devices -- sweep` keeps to one subject. What times something holds [`lab::alone`].

mod aside;
mod bonnie;
mod card;
mod copies;
mod data;
mod dd;
mod dd_twin;
mod demo;
mod evidence;
mod explain;
mod fallbacks;
mod faults;
mod firsts;
mod honest;
#[path = "../kernel/mod.rs"]
mod kernel;
#[path = "../lab/mod.rs"]
mod lab;
mod lab_itself;
mod modes;
mod probe;
mod quick;
mod ramp;
mod sim;
mod stops;
mod sustain;
mod sweep;
mod watch;
