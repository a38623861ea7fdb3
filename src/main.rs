//! The `assay` program: hands words, surroundings and streams to [`assay::cli`], and ends with its
//! exit status.

use std::process::ExitCode;

fn main() -> ExitCode {
    assay::sys::start::keep_heap();
    if let Err(refused) = assay::sys::start::grow_stack() {
        eprintln!("assay: {refused}");
        return ExitCode::from(2);
    }
    let words: Vec<_> = std::env::args_os().collect();
    let environment = assay::cli::Environment::read();
    let [mut out, mut err] = assay::cli::standard_streams();
    ExitCode::from(assay::cli::main(&words, &environment, &mut out, &mut err))
}
