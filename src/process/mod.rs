//! What the program was started with, and what it gives back: variables, terminals, streams, words as people type
//! them, the exit status.

mod environment;
pub mod stdout;
pub mod typing;

pub use environment::{Environment, standard_streams};

/// Exit status of a number that may be believed.
pub const SOUND: u8 = 0;
/// Exit status when the world said no.
pub const FAULT: u8 = 1;
/// Exit status when the words are wrong.
pub const REFUSAL: u8 = 2;
/// Exit status when it ran, and the number is not sound, or not what was demanded.
pub const NOT_SOUND: u8 = 3;
