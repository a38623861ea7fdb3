//! Words in: command lines, job files, the values of options and what they mean together.

pub mod answers;
pub mod byte_pattern;
pub mod command_line;
pub mod complete;
pub mod conflicts;
pub mod corrected;
pub mod cpus;
pub mod expression;
pub mod job_file;
pub mod keywords;
pub mod meanings;
pub mod number;
pub mod read;
pub mod reader;
pub mod section;
pub mod shares;
pub mod surprises;
pub mod together;
pub mod value;
