//! The loops that do the work, without opinions: nobody here knows that anyone is watching.

pub mod copy;
