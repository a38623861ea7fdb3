//! Other tools' words in, those tools' words out: a folder for each, and the list of them.

pub mod atto;
pub mod bonnie;
pub mod dd;
pub mod fio;
pub mod iozone;
mod near;
pub mod option;
pub mod session;
pub mod verdict_place;

use session::KnownTool;

/// All tools whose words are understood, in the order of the help. Who adds one adds it here, and has its verb, its
/// help, its completions and its links.
pub const DIALECTS: &[KnownTool] = &[dd::TOOL, bonnie::TOOL, iozone::TOOL, fio::TOOL];

/// Tools whose words may become dialects.
pub const TO_COME: &[&str] = &["ioping", "hdparm"];

pub fn named(name: &str) -> Option<&'static KnownTool> {
    DIALECTS.iter().find(|tool| tool.names.contains(&name))
}
