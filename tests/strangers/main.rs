//! What others wrote: documents that are none, words that act upon a terminal, boards that never stop. Each is answered
//! in a line, and nothing of it reaches a terminal as it is.

mod boards;
mod documents;
mod mutants;
mod outputs;
mod words;

use assay_testing::lab;
