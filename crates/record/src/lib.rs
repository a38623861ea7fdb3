//! What the kernel says while a run goes on, and the record of what was asked, what happened and what was seen.
#![deny(unsafe_code)]

// What the kernel says.
pub mod evidence;

// What is claimed of a figure, and the sentences for it.
pub mod claim;
pub mod words;

// What was asked, what happened, what was seen.
pub mod record;
