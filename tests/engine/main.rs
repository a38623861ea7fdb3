//! What is done to files, trees and devices, against models of it and against the real tools: which bytes
//! were touched, how often, by which calls, and what is said when something is wrong or missing. No device
//! is timed here.

mod actions;
mod aside;
mod boards;
mod busybox_twin;
mod console;
mod copies;
mod dd_cures;
mod dd_newest;
mod dd_streams;
mod dd_twin;
mod evidence;
mod fallbacks;
mod files;
mod fio_calls;
mod fio_drawn;
mod fio_faults;
mod fio_files;
mod fio_iolog;
mod fio_lines;
mod fio_memory;
mod fio_pace;
mod fio_pair;
mod fio_readers;
mod fio_safety;
mod fio_status;
mod fio_taken;
mod fio_twin;
mod fio_verify;
mod journal;
mod looks;
mod matrix;
mod methods;
mod named_devices;
mod offsets;
mod overwritten;
mod places;
mod plans;
mod probe;
mod runs;
mod silence;
mod sim;
mod small_machines;
mod stops;
mod trees;
mod twelve;
mod unwritten;
mod verify;
mod workers;

use assay_testing::{kernel, lab};
