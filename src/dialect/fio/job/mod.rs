//! What jobs are, as values: what is asked for, and the words that options choose among.

pub mod asked;
pub mod choices;
pub mod complaint;
pub mod data;
pub mod debug_list;
pub mod direction;
pub mod engine;
pub mod names;
pub mod reported;
pub mod target;
pub mod work;
