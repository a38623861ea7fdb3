//! Which program a board is given: by what its kernel calls the processor.

use std::path::{Path, PathBuf};

use assay_plan::error::Refusal;
use assay_plan::name::NameText as _;

/// Kinds of processors: as binaries are called after them, and what kernels and Android say for each.
const KINDS: [(&str, &[&str]); 4] = [
    ("x86_64", &["x86_64", "amd64"]),
    ("aarch64", &["aarch64", "arm64", "arm64-v8a"]),
    ("armv7", &["armv7l", "armv7", "armv8l", "armeabi-v7a"]),
    ("riscv64", &["riscv64"]),
];

/// The kind of processor that a kernel calls so.
///
/// # Errors
/// When there is no program for it.
pub fn kind(machine: &str) -> Result<&'static str, Refusal> {
    let known = KINDS.iter().find(|(_, names)| names.contains(&machine));
    known.map(|(kind, _)| *kind).ok_or_else(|| {
        let kinds: Vec<&str> = KINDS.iter().map(|(kind, _)| *kind).collect();
        Refusal::new(
            format!("the board's processor is '{machine}', for which there is no assay"),
            format!("there is one for {}", kinds.join(", ")),
        )
    })
}

/// What this program itself is for.
fn own_kind() -> &'static str {
    match std::env::consts::ARCH {
        "arm" => "armv7",
        other => other,
    }
}

/// The program for a kind of processor: in the folder that was named, else beside this one, else this one itself
/// where that is of the same kind.
///
/// # Errors
/// When there is none.
pub fn find(kind: &str, named: Option<&Path>, own: Option<&Path>) -> Result<PathBuf, Refusal> {
    let name = format!("assay-{kind}-linux");
    let beside = own.and_then(Path::parent);
    let folders = named.into_iter().chain(beside);
    let found = folders.map(|folder| folder.join(&name)).find(|path| path.is_file());
    let itself = own.filter(|_| own_kind() == kind).map(Path::to_path_buf);
    found.or(itself).ok_or_else(|| {
        let looked = named.into_iter().chain(beside).map(|path| path.to_text());
        let looked = looked.collect::<Vec<_>>().join(" or ");
        Refusal::new(
            format!("there is no {name} in {looked}, and the board needs one"),
            "put it there, or name its folder with --binaries or ASSAY_BINARIES; 'make dist' builds it",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_word_decides() {
        for (said, expected) in [
            ("aarch64", "aarch64"),
            ("armv7l", "armv7"),
            ("armv8l", "armv7"),
            ("arm64-v8a", "aarch64"),
            ("riscv64", "riscv64"),
            ("x86_64", "x86_64"),
        ] {
            assert_eq!(kind(said), Ok(expected), "{said}");
        }
        // A processor before that one knows fewer instructions.
        for said in ["armv6l", "mips", "i686", ""] {
            let refused = kind(said).expect_err(said).to_string();
            assert!(
                refused.contains("there is one for x86_64, aarch64, armv7, riscv64"),
                "{refused}"
            );
        }
    }

    #[test]
    fn a_binary_is_looked_for_in_the_folder_then_beside_then_it_is_this_one() {
        let desk = tempfile::tempdir().expect("a desk");
        let [named, beside] = ["named", "beside"].map(|name| desk.path().join(name));
        for folder in [&named, &beside] {
            std::fs::create_dir(folder).expect("made");
        }
        let own = beside.join("assay");
        let of = |kind: &str| find(kind, Some(&named), Some(&own));
        assert_eq!(of(own_kind()), Ok(own.clone()));
        let refused = of("none").expect_err("none").to_string();
        assert!(refused.starts_with("there is no assay-none-linux in "), "{refused}");
        assert!(refused.contains("--binaries or ASSAY_BINARIES"), "{refused}");
        let name = format!("assay-{}-linux", own_kind());
        std::fs::write(beside.join(&name), "").expect("written");
        assert_eq!(of(own_kind()), Ok(beside.join(&name)));
        std::fs::write(named.join(&name), "").expect("written");
        assert_eq!(of(own_kind()), Ok(named.join(&name)));
    }
}
