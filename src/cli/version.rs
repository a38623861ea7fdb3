//! What `assay --version` says: which commit it is, for which machines it was built, and what is in it.

use std::sync::LazyLock;

use crate::dialect::DIALECTS;

/// Methods of I/O that are in it. Whether the kernel has them is asked when one is wanted (`assay probe`).
const METHODS: [&str; 9] =
    ["psync", "sync", "vectored", "io_uring", "libaio", "posixaio", "mmap", "splice", "stdio"];

/// The number, and below it commit, target and features.
static LONG: LazyLock<String> = LazyLock::new(|| {
    let linked = if cfg!(target_feature = "crt-static") { "static" } else { "dynamic" };
    let dialects: Vec<_> = DIALECTS.iter().filter_map(|tool| tool.names.first().copied()).collect();
    let lines = [
        env!("CARGO_PKG_VERSION").to_string(),
        format!("commit    {}", env!("ASSAY_COMMIT")),
        format!(
            "target    {}, {linked}, engine opt-level {}",
            env!("ASSAY_TARGET"),
            assay_engine::engine::OPT_LEVEL
        ),
        format!("features  {}", METHODS.join(" ")),
        format!("dialects  {}", dialects.join(" ")),
    ];
    lines.join("\n")
});

/// What stands behind the name of the program.
pub(super) fn long() -> &'static str {
    &LONG
}

#[cfg(test)]
mod tests {
    use assay_plan::plan::Method;

    #[test]
    fn each_method_is_one_that_a_plan_can_have() {
        for name in super::METHODS {
            let document = match name {
                "vectored" | "io_uring" | "libaio" | "mmap" => format!("{{\"{name}\":{{}}}}"),
                "stdio" => "{\"stdio\":{\"buffer\":4096}}".into(),
                _ => format!("\"{name}\""),
            };
            let method: Method = serde_json::from_str(&document).expect(name);
            assert_eq!(method.name(), name);
        }
    }
}
