//! fio: its reports, documents, terse lines and logs.

pub mod print;
