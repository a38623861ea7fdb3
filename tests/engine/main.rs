//! What the engine does to files, trees and devices, against models of it: which bytes were touched, how
//! often, and what is said when they are wrong. No speed is judged here.

mod actions;
mod files;
#[path = "../lab/mod.rs"]
mod lab;
mod matrix;
mod methods;
mod offsets;
#[path = "../places/mod.rs"]
mod places;
mod plans;
#[path = "../common/runs.rs"]
mod runs;
mod trees;
mod twelve;
mod unwritten;
mod verify;
