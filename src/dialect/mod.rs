//! Other tools' words in, those tools' words out.

pub mod atto;
pub mod bonnie;
pub mod dd;
pub mod fio;
pub mod iozone;
mod near;
pub mod option;
