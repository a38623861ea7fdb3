//! What the program is built with beside its sources: the commit, and the schemas.
//!
//! Which commit is built, for `assay --version`: `ASSAY_COMMIT`, else what git says of this folder, else that of
//! a package from a registry; or `unknown`.
//!
//! It is asked when the crate is compiled anyway, and never makes cargo compile it again: a commit that
//! changes no source leaves the program as it is. Only the environment of a packager may (`ASSAY_COMMIT`).

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// What is compiled; git is asked about these only.
const SOURCES: [&str; 6] = ["src", "crates", SCHEMAS, "build.rs", "Cargo.toml", "Cargo.lock"];
/// Signs of a commit that are shown.
const SHOWN: usize = 12;
/// The schemas of our documents.
const SCHEMAS: &str = "docs/schema.txt";

fn main() {
    println!("cargo::rerun-if-env-changed=ASSAY_COMMIT");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
    }
    pack_schemas().expect("docs/schema.txt is packed");
    let given = std::env::var("ASSAY_COMMIT").ok().filter(|commit| !commit.trim().is_empty());
    let commit = given.or_else(of_checkout).or_else(of_package);
    let commit = commit.unwrap_or_else(|| "unknown".into());
    println!("cargo::rustc-env=ASSAY_COMMIT={}", commit.trim());
    println!("cargo::rustc-env=ASSAY_TARGET={}", std::env::var("TARGET").unwrap_or_default());
}

/// Compresses the schemas into a file of what is built; `src/cli/schema.rs` says how they are written down.
fn pack_schemas() -> std::io::Result<()> {
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&std::fs::read(SCHEMAS)?)?;
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    std::fs::write(folder.join("schemas.deflate"), packed.finish()?)
}

/// What git prints, without the last line's end; `None` when it fails or is not there.
fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim_end().to_string())
}

/// The commit of this checkout, and whether what is compiled differs from it. A checkout of something else in
/// which this folder lies says nothing.
fn of_checkout() -> Option<String> {
    let top = git(&["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != Path::new(".").canonicalize().ok()? {
        return None;
    }
    let commit = git(&["rev-parse", "HEAD"])?;
    let mut words = vec!["status", "--porcelain", "--"];
    words.extend(SOURCES);
    let changed = git(&words).is_none_or(|list| !list.is_empty());
    Some(format!("{}{}", commit.get(..SHOWN)?, if changed { ", changed since" } else { "" }))
}

/// The commit that a package from a registry was made from: `.cargo_vcs_info.json` of cargo.
fn of_package() -> Option<String> {
    let text = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let after = text.split("\"sha1\"").nth(1)?;
    after.split('"').nth(1)?.get(..SHOWN).map(String::from)
}
