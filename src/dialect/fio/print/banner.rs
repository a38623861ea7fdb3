//! What fio says before it begins: a line for each job, its version, how many processes.

use super::job::FioStyle;
use super::number::{FioQuantity, scaled};
use crate::dialect::fio::FioClone;
use assay_plan::plan::SEED_STREAMS;

/// What stands in the line of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioBanner {
    /// `name=`.
    pub name: String,
    /// Number of its group, from 0.
    pub group: u32,
    /// `rw` as fio calls it: `randread`, `rw`, `trimwrite`...
    pub rw: String,
    /// Smallest and largest block in bytes: read, write, trim. With `bs_is_seq_rand` sequential and random.
    pub blocks: [(u64, u64); 3],
    /// `bs_is_seq_rand`.
    pub sequential_random: bool,
    /// `ioengine`.
    pub engine: String,
    /// `iodepth` as asked for.
    pub depth: u32,
    /// `numjobs`.
    pub clones: u32,
    /// Whether it moves nothing: its clones are shown, and no line of its own.
    pub without_io: bool,
    /// How its numbers are written.
    pub style: FioStyle,
}

impl FioBanner {
    /// The line of the job, and `...` below it if it has clones.
    pub fn lines(&self) -> String {
        let clones = if self.clones > 1 { "...\n" } else { "" };
        if self.without_io {
            return clones.into();
        }
        let shown = if self.sequential_random { 2 } else { 3 };
        let blocks: String = ["R", "W", "T"]
            .iter()
            .zip(self.blocks)
            .take(shown)
            .map(|(direction, (min, max))| {
                format!("({direction}) {}-{}, ", self.size(min), self.size(max))
            })
            .collect();
        let mark = if self.sequential_random { "bs_is_seq_rand, " } else { "" };
        let (name, group, rw) = (&self.name, self.group, &self.rw);
        format!(
            "{name}: (g={group}): rw={rw}, bs={blocks}{mark}ioengine={}, iodepth={}\n{clones}",
            self.engine, self.depth
        )
    }

    fn size(&self, bytes: u64) -> String {
        let binary = self.style.kb_base.is_power_of_two();
        scaled(bytes, self.style.figures, 0, binary, FioQuantity::Bytes)
    }
}

/// What `--debug=random` says of each clone, by the number of its process.
pub fn seed_lines<'c>(clones: impl Iterator<Item = &'c FioClone>, pid: u32) -> String {
    let mut text = String::new();
    for clone in clones {
        let pid = pid + clone.thread;
        text += &format!("random   {pid:<5} FIO_RAND_NR_OFFS={SEED_STREAMS}\n");
        for (stream, seed) in clone.seeds.of(0, |number| number).iter().enumerate() {
            text += &format!("random   {pid:<5} rand_seeds[{stream}]={seed}\n");
        }
    }
    text
}

/// All that is said before the run: the jobs, the version, `Starting 1 thread and 2 processes`.
pub fn opening(banners: &[FioBanner], version: &str, threads: u32, processes: u32) -> String {
    let lines: String = banners.iter().map(FioBanner::lines).collect();
    format!("{lines}{version}\n{}", starting(threads, processes))
}

/// `Starting 1 thread and 2 processes`.
pub fn starting(threads: u32, processes: u32) -> String {
    let mut parts = Vec::new();
    if threads > 0 {
        parts.push(format!("{threads} thread{}", if threads > 1 { "s" } else { "" }));
    }
    if processes > 0 {
        parts.push(format!("{processes} process{}", if processes > 1 { "es" } else { "" }));
    }
    format!("Starting {}\n", parts.join(" and "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_and_processes_are_counted() {
        assert_eq!(starting(1, 0), "Starting 1 thread\n");
        assert_eq!(starting(0, 1), "Starting 1 process\n");
        assert_eq!(starting(2, 3), "Starting 2 threads and 3 processes\n");
    }
}
