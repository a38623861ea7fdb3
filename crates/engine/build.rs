//! Tells the engine how it is optimised, which packages are not alike in: `assay --version` says it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let level = std::env::var("OPT_LEVEL").unwrap_or_default();
    println!("cargo::rustc-env=ASSAY_ENGINE_OPT_LEVEL={level}");
}
