//! The `assay` program: hands words, surroundings and streams to [`assay::cli`], and ends with its
//! exit status.

use std::process::ExitCode;

use assay::cli::{self, Environment, standard_streams};
use assay::sys::start;

fn main() -> ExitCode {
    start::keep_heap();
    let words: Vec<_> = std::env::args_os().collect();
    ExitCode::from(start::process(words_done, cli::lends_first_thread(&words)))
}

/// Does what the words say.
fn words_done() -> u8 {
    let words: Vec<_> = std::env::args_os().collect();
    let environment = Environment::read();
    let [mut out, mut err] = standard_streams();
    cli::main(&words, &environment, &mut out, &mut err)
}
