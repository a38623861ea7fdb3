//! What people read: the words they type and the pages that come back, compared whole with files.
//!
//! Records are made by hand and machines of files; no device is measured. `ASSAY_BLESS=1 cargo test --test
//! pages` writes the pages anew; a word after `--` (`report`, `explain`) keeps to one subject.

mod cli;
mod common;
mod compare;
mod demo;
mod explain;
mod figures;
mod fio_fuzz;
mod fio_share;
mod io;
mod machines;
mod modes;
mod options;
mod pictures;
mod probe;
mod report;
mod tools;
mod traps;
mod watch;
mod width;

use assay_testing::lab;
