//! What clones and runs came to, in fio's terms.

pub mod debug;
pub mod errno;
pub mod in_run;
pub mod job_fault;
pub mod live;
pub mod measure;
pub mod run_report;
pub mod run_so_far;
