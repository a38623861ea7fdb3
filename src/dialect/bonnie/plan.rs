//! The twelve tests as phases of a plan.

use super::options;
use super::{
    BonnieCommand, BonnieComplaint, BonnieOptions, BonnieRun, BonnieVersion, FileTestKind,
    HostFacts, PerChar, StepMode,
};
use assay_plan::error::Refusal;
use assay_plan::name::NameText as _;
use assay_plan::plan::{
    Action, ActionShare, BlockSize, BlockWork, CacheDrop, Caching, DetailLevel, Durability,
    FileOrder, Fill, Job, LayoutMode, Lifetime, Method, Mix, MoreWork, Naming, OffsetOrdering,
    Pattern, Phase, Plan, PlanOrigin, RewriteChange, Size, StopLimit, StopRule, Target,
    ToolProfile, TreeOrder, TreeSize, TreeWork, Verify, Work, WorkerKind,
};
use assay_plan::unit::{Bytes, GIB, MIB, Nanos, Ops};

/// How long the devices are watched before a test on the big file.
const QUIET: Nanos = Nanos::millis(400);
/// The buffer of glibc's streams on a file system with blocks of 4 KiB.
const STREAM: u32 = 4096;
/// Files of `-n` come in such units.
const UNIT: u64 = 1024;
/// Unless told, the big file has so many MiB at the least.
const LEAST: u64 = 300;

impl BonnieOptions {
    /// Checks the words against the machine, and makes the plan. `random` is the content of the file
    /// of `-Z`.
    ///
    /// # Errors
    /// What the tool would refuse, or what makes no sense.
    pub fn settled(
        &self,
        host: &HostFacts,
        random: Option<&[u8]>,
    ) -> Result<BonnieCommand, BonnieComplaint> {
        let ram = self.ram.unwrap_or(host.ram);
        let size = self.size.unwrap_or_else(|| usual_size(ram));
        self.check(size, ram)?;
        let seed = self.seed.unwrap_or(host.seed);
        let (number, said) = match (&self.random, random) {
            (Some(path), Some(random)) => (seed_of(random), path.to_text()),
            _ => (u64::from(seed), seed.to_string()),
        };
        let name = self.name.clone().unwrap_or_else(|| host.name.clone());
        let settled = BonnieRun { asked: self.clone(), name, size, seed: said };
        let tests = TestSelection { asked: self, size, pid: host.pid };
        let plan = Plan {
            title: super::TITLE.into(),
            origin: PlanOrigin {
                sources: self.random.iter().map(|path| path.to_text()).collect(),
                tool: ToolProfile {
                    partners: self.partners(),
                    more: self.more(size),
                    size: Some("-s".into()),
                    letters: options::letters(self.form),
                    ..ToolProfile::default()
                },
                ..PlanOrigin::of(super::NAME, self.words.clone())
            },
            seed: number,
            aim: None,
            phases: tests.phases(),
        };
        plan.check()
            .map_err(|refusal| BonnieComplaint::new(self.form, refusal.why, refusal.instead))?;
        Ok((plan, settled))
    }

    /// The words for larger files, and for more seeks where the form has a word for them.
    fn more(&self, size: u64) -> Vec<MoreWork> {
        let chunk = self.chunk;
        let seeks = (self.form == BonnieVersion::F1_98).then(|| MoreWork {
            phase: Some("seeks".into()),
            done: self.seeks,
            most: u64::from(u32::MAX),
            words: format!(" -s {size}:{chunk}:{{n}}:{}", self.seekers),
        });
        let larger = |phase: &str| MoreWork {
            phase: Some(phase.into()),
            done: size,
            most: u64::MAX >> 21,
            words: format!(" -s {{n}}:{chunk}"),
        };
        let tests = ["put_block", "rewrite", "get_block"].map(larger);
        tests.into_iter().filter(|_| size > 0).chain(seeks.filter(|_| size > 0)).collect()
    }

    /// Programs that come to the same semaphores.
    fn partners(&self) -> Vec<String> {
        let together = self.step == Some(StepMode::Semaphores);
        let names = ["assay", super::NAME, "bonnie++"];
        let mut names: Vec<String> = names.into_iter().map(String::from).collect();
        names.dedup();
        if together { names } else { Vec::new() }
    }

    fn check(&self, size: u64, ram: u64) -> Result<(), BonnieComplaint> {
        let refused =
            |why: String, instead: &str| Err(BonnieComplaint::new(self.form, why, instead));
        if size == 0 && self.files.count == 0 {
            return refused(
                "-s 0 and -n 0 leave nothing to do".into(),
                "give one of them a size or number, or leave it out",
            );
        }
        if self.direct && size > 0 && self.per_char != PerChar::Skipped {
            return refused(
                "-D with the tests of single bytes: direct I/O moves whole sectors".into(),
                "add -f, which leaves those tests out, or leave -D out",
            );
        }
        let whole = size.saturating_mul(u64::from(self.concurrency));
        if size > 0 && whole < ram.saturating_mul(2) {
            let line = format!("File size should be double RAM for good results, RAM is {ram}M.");
            let refusal = Refusal::new(
                format!("-s {size} is less than twice the memory ({ram} MiB)"),
                "give more, or say -r 0: what was written is dropped from memory before it is read, and the verdict tells whether that worked",
            );
            let usage = (!self.form.is_old()).then_some(self.form);
            return Err(BonnieComplaint { said: format!("{line}\n"), usage, refusal });
        }
        Ok(())
    }
}

/// Twice the memory and at least 300 MiB; what is more than half of a GiB above a whole number of
/// them is rounded up.
fn usual_size(ram: u64) -> u64 {
    let size = (2 * ram).max(LEAST);
    if size % 1024 > 512 { size.next_multiple_of(1024) } else { size }
}

/// A seed that follows from every byte of a file (FNV-1a).
fn seed_of(random: &[u8]) -> u64 {
    random.iter().fold(0xcbf2_9ce4_8422_2325, |seed, byte| {
        (seed ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The tests of a run.
struct TestSelection<'a> {
    asked: &'a BonnieOptions,
    /// MiB of the big file.
    size: u64,
    pid: u32,
}

impl TestSelection<'_> {
    fn phases(&self) -> Vec<Phase> {
        let mut phases = Vec::new();
        if self.size > 0 {
            let bytewise = self.asked.per_char != PerChar::Skipped;
            phases.extend(bytewise.then(|| self.bytes_out()));
            phases.push(self.blocks_out());
            phases.push(self.rewrite());
            phases.extend(bytewise.then(|| self.bytes_in()));
            phases.push(self.blocks_in());
            phases.push(self.seeks());
        }
        if self.asked.files.count > 0 {
            let in_order = [TreeOrder::ByName, TreeOrder::AsListed, TreeOrder::AsListed];
            phases.extend(self.file_tests("seq", Naming::Varied, in_order));
            let shuffled = [TreeOrder::ByName, TreeOrder::Shuffled, TreeOrder::Shuffled];
            phases.extend(self.file_tests("ran", Naming::LettersFirst, shuffled));
        }
        phases
    }

    // -------------------------------------------------------------- the big file

    /// Test 1.
    fn bytes_out(&self) -> Phase {
        self.big("putc", |copy| BlockWork {
            method: self.bytewise(),
            durability: self.flushed(),
            ..self.blocks(copy, self.small(), LayoutMode::Truncated, Mix::only(Action::Write))
        })
    }

    /// Test 2.
    fn blocks_out(&self) -> Phase {
        self.big("put_block", |copy| BlockWork {
            caching: self.caching(true),
            durability: self.flushed(),
            ..self.blocks(copy, self.whole(), LayoutMode::Truncated, Mix::only(Action::Write))
        })
    }

    /// Test 3.
    fn rewrite(&self) -> Phase {
        self.cold(self.big("rewrite", |copy| BlockWork {
            caching: self.caching(false),
            durability: self.flushed(),
            ..self.blocks(copy, self.whole(), LayoutMode::AsFound, Mix::only(Action::Rewrite))
        }))
    }

    /// Test 4.
    fn bytes_in(&self) -> Phase {
        self.cold(self.big("getc", |copy| BlockWork {
            method: self.bytewise(),
            ..self.blocks(copy, self.small(), LayoutMode::AsFound, Mix::only(Action::Read))
        }))
    }

    /// Test 5.
    fn blocks_in(&self) -> Phase {
        self.cold(self.big("get_block", |copy| BlockWork {
            caching: self.caching(false),
            ..self.blocks(copy, self.whole(), LayoutMode::AsFound, Mix::only(Action::Read))
        }))
    }

    /// Test 6: a tenth of what is read is written back.
    ///
    /// Each seeker has a part of the file, and comes to no chunk twice while there are as many as seeks:
    /// a second visit would be to memory. The original draws each place anew.
    fn seeks(&self) -> Phase {
        let asked = self.asked;
        let share = |action, weight| ActionShare { action, weight };
        let mix = Mix(vec![share(Action::Read, 90), share(Action::Rewrite, 10)]);
        let durability = match asked.sync {
            true => Durability::FsyncEvery(Ops(1)),
            false => self.flushed(),
        };
        let chunks = self.size * MIB / u64::from(self.pieces()) / asked.chunk;
        let once = !asked.as_original && chunks >= u64::from(asked.seekers);
        let mut phase = self.big("seeks", |copy| {
            let mut blocks = self.blocks(copy, self.whole(), LayoutMode::AsFound, mix.clone());
            (blocks.pattern.order, blocks.pattern.region.divided) = match once {
                true => (OffsetOrdering::Shuffled, true),
                false => (OffsetOrdering::Uniform, false),
            };
            if let Target::Files { order, .. } = &mut blocks.target {
                *order = FileOrder::Random;
            }
            BlockWork { caching: self.caching(false), durability, ..blocks }
        });
        for job in &mut phase.jobs {
            job.workers = asked.seekers;
            job.worker_kind =
                if asked.form.is_old() { WorkerKind::Processes } else { WorkerKind::Threads };
            job.stop = StopRule::until([StopLimit::Ops(Ops(asked.seeks))]);
        }
        self.cold(phase)
    }

    /// A phase with a job for each copy that runs at the same time.
    fn big(&self, name: &str, blocks: impl Fn(u32) -> BlockWork) -> Phase {
        let copies = self.asked.concurrency;
        let job = |copy| {
            let called = if copies == 1 { name.into() } else { format!("copy-{copy}") };
            // Of all latencies the longest is shown.
            let detail = DetailLevel { laps: true, ..DetailLevel::default() };
            Job {
                stop: StopRule::one_pass(),
                detail,
                ..Job::of(called, Work::Blocks(blocks(copy)))
            }
        };
        let jobs = (1..=copies).map(job).collect();
        Phase { name: name.into(), jobs, quiet: QUIET, ..Phase::of(job(1)) }
    }

    /// Before it the pages of its files are dropped, unless it is to be as in the original.
    fn cold(&self, phase: Phase) -> Phase {
        let cold = if self.asked.as_original { CacheDrop::Keep } else { CacheDrop::Target };
        Phase { cold, ..phase }
    }

    /// One chunk after another by `read` and `write`. What is written back differs by a byte, as in the
    /// original, but by one of each sector.
    fn blocks(&self, copy: u32, size: u64, layout: LayoutMode, mix: Mix) -> BlockWork {
        let chunk = BlockSize::Fixed(Bytes(self.asked.chunk));
        let change =
            if mix.has(Action::Rewrite) { RewriteChange::OneByte } else { RewriteChange::All };
        let pattern = Pattern {
            fill: self.fill(),
            change,
            ..Pattern::of(mix, OffsetOrdering::Forward, chunk)
        };
        BlockWork {
            method: Method::Sync,
            ..BlockWork::of(self.target(copy, size, layout), pattern)
        }
    }

    /// Where a copy works: a file without a name, or named ones where there are several.
    fn target(&self, copy: u32, size: u64, layout: LayoutMode) -> Target {
        let (dir, lifetime) = (self.asked.dir.clone(), Lifetime::Remove);
        let pieces = self.pieces();
        if pieces == 1 && self.asked.concurrency == 1 {
            return Target::Scratch { dir, size: Size::Exactly(Bytes(size)), layout, lifetime };
        }
        // All pieces are equally large, and hold whole chunks.
        let chunk = self.asked.chunk;
        let each = size / u64::from(pieces) / chunk * chunk;
        Target::Files {
            dirs: vec![dir],
            stem: format!("Bonnie.{}.{copy}", self.pid),
            named: Vec::new(),
            devices: Vec::new(),
            sizes: Vec::new(),
            count: pieces,
            shared: true,
            size: Size::Exactly(Bytes(each)),
            order: FileOrder::Sequential,
            layout,
            lifetime,
        }
    }

    /// 1.03 has no file of more than a GiB.
    fn pieces(&self) -> u32 {
        match self.asked.form.is_old() {
            true => (self.size * MIB).div_ceil(GIB) as u32,
            false => 1,
        }
    }

    /// Bytes of the whole file.
    fn whole(&self) -> u64 {
        self.size * MIB
    }

    /// Bytes of the per-character tests.
    fn small(&self) -> u64 {
        match self.asked.per_char {
            PerChar::Over(Some(size)) => size.min(self.size) * MIB,
            _ => self.whole(),
        }
    }

    fn bytewise(&self) -> Method {
        match self.asked.form.is_old() {
            true => Method::Stdio { buffer: STREAM, bytewise: true },
            false => Method::Bytewise,
        }
    }

    /// What a test that writes has promised when its clock stops. The original of 1.03 only closes.
    fn flushed(&self) -> Durability {
        let asked = self.asked;
        match asked.form.is_old() && asked.as_original && !asked.sync {
            true => Durability::None,
            false => Durability::FsyncAtEnd,
        }
    }

    /// The original has O_DIRECT only where it makes the file.
    fn caching(&self, makes: bool) -> Caching {
        match self.asked.direct && (makes || !self.asked.as_original) {
            true => Caching::Direct,
            false => Caching::Buffered,
        }
    }

    fn fill(&self) -> Fill {
        if self.asked.as_original { Fill::Zero } else { Fill::Random }
    }

    // -------------------------------------------------------------- many files

    /// Three of the tests 7 to 12.
    /// Those of each name shape are in folders of their own: where a file system puts what is new
    /// depends on what was removed there.
    fn file_tests(&self, which: &str, naming: Naming, orders: [TreeOrder; 3]) -> [Phase; 3] {
        let kind = self.asked.files.kind;
        let looks = match kind {
            FileTestKind::Files { max: 1.., .. } => Action::Read,
            _ => Action::Stat,
        };
        let [create, stat, delete] = orders;
        [
            self.file_test(&format!("{which}_create"), Action::Create, naming, create),
            self.file_test(&format!("{which}_stat"), looks, naming, stat),
            self.file_test(&format!("{which}_del"), Action::Remove, naming, delete),
        ]
    }

    fn file_test(&self, name: &str, action: Action, naming: Naming, order: TreeOrder) -> Phase {
        let (asked, files) = (self.asked, self.asked.files);
        let size = match files.kind {
            FileTestKind::Files { max, min } => {
                TreeSize::Files { least: Bytes(min), most: Bytes(max) }
            }
            FileTestKind::Links => TreeSize::HardLinks,
            FileTestKind::Symlinks => TreeSize::SymbolicLinks,
        };
        let each = asked.sync && action.changes();
        let tree = TreeWork {
            dir: asked.dir.clone(),
            action,
            files: files.count * UNIT,
            folders: if files.dirs == 1 { 0 } else { files.dirs },
            named: Vec::new(),
            stat_call: Default::default(),
            naming,
            shared: false,
            size,
            order,
            block: Some(Bytes(files.chunk)),
            stat_first: action == Action::Read,
            fill: self.fill(),
            verify: Verify::None,
            durability: match action.changes() {
                true if each => Durability::FsyncEvery(Ops(1)),
                true => self.flushed(),
                false => Durability::None,
            },
            sync_folder: each,
            lifetime: Lifetime::Remove,
        };
        let job = Job {
            workers: asked.concurrency,
            stop: StopRule::one_pass(),
            ..Job::of(name, Work::Tree(tree))
        };
        Phase::of(job)
    }
}
