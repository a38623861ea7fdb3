//! The `assay` program.
fn main() {}
