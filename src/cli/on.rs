//! `assay on`: a verb or a tool on a board, from the desk. The program is put there by the system's own ssh or
//! adb, runs there, and is removed; what it prints is seen here, and the record comes home.

mod agent;
mod args;
mod binaries;
mod desk;
mod frame;
mod link;
mod quote;
mod work;

use std::io::Write;

pub use args::{BoardArgs, OnArgs};

use crate::process::Environment;
use crate::process::stdout::PipeWriter;
use assay_plan::error::Error;

/// Does on a board what the words say; the exit status there.
///
/// # Errors
/// When the words are wrong, the board cannot be reached, or the record cannot be kept here.
pub fn on(
    args: &OnArgs,
    environment: &Environment,
    out: &mut PipeWriter<'_>,
    err: &mut dyn Write,
) -> Result<u8, Error> {
    let work = work::BoardWork::of(args, environment)?;
    desk::serve(args, &work, environment, out, err)
}

/// Serves a desk, on the board.
///
/// # Errors
/// When the folder is none that a desk has made.
pub fn board(args: &BoardArgs) -> Result<(), Error> {
    agent::serve(&args.folder)
}
