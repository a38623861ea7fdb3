//! The `assay` program: hands words, surroundings and streams to [`assay::cli`], and ends with its
//! exit status.

use std::io::Write as _;
use std::process::ExitCode;

use assay::cli::{self, Environment, standard_streams};
use assay_engine::sys::start;

fn main() -> ExitCode {
    start::keep_heap();
    let words: Vec<_> = std::env::args_os().collect();
    let code = start::process(words_done, cli::lends_first_thread(&words));
    ExitCode::from(code.unwrap_or_else(|refused| {
        eprintln!("assay: {refused}");
        2
    }))
}

/// Does what the words say.
fn words_done() -> u8 {
    let words: Vec<_> = std::env::args_os().collect();
    let environment = Environment::read();
    let [mut out, mut err] = standard_streams();
    let code = cli::main(&words, &environment, &mut out, &mut err);
    // What cannot be written any more has been told, or there was something worse to tell.
    let _ = out.flush();
    code
}
