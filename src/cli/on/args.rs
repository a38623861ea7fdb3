//! The words of `assay on`, and those by which it starts the program on the board.

use std::ffi::OsString;
use std::path::PathBuf;

/// What follows the help of the verb.
const EXAMPLES: &str = "\
Paths in COMMAND are the board's; those of --record and --report are here, and so are the plan of 'run' and fio's
job files, which go along. Nothing stays on the board, also after Ctrl-C or when the link is lost.

  assay on pi@board quick /mnt/sd
  assay on --record r.json pi@board sustain --time 30m /mnt/sd
  assay on root@board dd if=/dev/zero of=/mnt/sd/x bs=1M count=100 conv=fsync
  assay on adb quick /data/local/tmp";

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct OnArgs {
    /// Where it runs: user@host or ssh://user@host:port by the system's ssh, adb or adb:SERIAL by its adb
    #[arg(value_name = "BOARD")]
    pub board: String,
    /// What runs there: any verb of assay, or dd, fio, bonnie, iozone, with its words
    #[arg(
        value_name = "COMMAND",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub words: Vec<OsString>,
    /// Keep the whole record here, in this file or folder; the same as among the words of COMMAND
    #[arg(long, value_name = "PLACE")]
    pub record: Option<PathBuf>,
    /// Folder with the program for other processors: assay-aarch64-linux, assay-armv7-linux,
    /// assay-riscv64-linux, assay-x86_64-linux (default: ASSAY_BINARIES, else where this program lies)
    #[arg(long, value_name = "DIR")]
    pub binaries: Option<PathBuf>,
    /// Folder of the board for the program while it runs (default: the first of $TMPDIR, /tmp, /dev/shm,
    /// /data/local/tmp, /var/tmp, /run and the home that has room and lets programs run)
    #[arg(long, value_name = "DIR")]
    pub folder: Option<String>,
    /// Port of the board's ssh
    #[arg(short, long)]
    pub port: Option<u16>,
    /// Private key for ssh
    #[arg(short, long, value_name = "FILE")]
    pub identity: Option<PathBuf>,
    /// Another configuration of ssh
    #[arg(short = 'F', long, value_name = "FILE")]
    pub ssh_config: Option<PathBuf>,
    /// Host through which ssh connects
    #[arg(short = 'J', long, value_name = "HOST")]
    pub jump: Option<String>,
    /// Any option of ssh, as 'ssh -o' takes it; may be repeated
    #[arg(short = 'o', long, value_name = "OPTION")]
    pub ssh_option: Vec<String>,
}

/// By which words `assay on` starts the program that it has put on a board.
#[derive(Clone, Debug, clap::Args)]
pub struct BoardArgs {
    /// The folder that was made for it there
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}
