//! Words, plans, tables and lines, without a disk.

use std::path::PathBuf;

use super::*;
use assay_plan::plan::{
    Action, CacheDrop, Caching, Durability, Fill, Method, RewriteChange, Target, TreeSize, Work,
    WorkerKind,
};
use assay_plan::unit::{Bytes, Nanos};

fn words(typed: &str) -> Vec<String> {
    typed.split_whitespace().map(|word| word.replace("{empty}", "")).collect()
}

fn host() -> HostFacts {
    HostFacts { name: "tm".into(), ram: 8, pid: 77, seed: 1795213711 }
}

fn understood(typed: &str) -> BonnieCommand {
    let asked = read(&words(typed)).unwrap_or_else(|complaint| panic!("{}", complaint.text()));
    asked.settled(&host(), None).unwrap_or_else(|complaint| panic!("{}", complaint.text()))
}

/// What is said about words that are refused: the tool's own line, then ours without the cure.
fn refused(typed: &str) -> (String, String) {
    let complaint = match read(&words(typed)) {
        Err(complaint) => complaint,
        Ok(asked) => asked.settled(&host(), None).expect_err(typed),
    };
    assert!(complaint.usage.is_some() || !complaint.said.is_empty(), "{typed}");
    assert!(!complaint.refusal.instead.is_empty(), "{typed}");
    (complaint.said, complaint.refusal.why)
}

#[test]
fn options_are_read_as_getopt_does() {
    let asked =
        read(&words("-fbq -s100:64k -n 4:2k:1k:3 -m box -d /mnt -Z noise -d sub -x2")).unwrap();
    assert_eq!(asked.per_char, PerChar::Skipped);
    assert!(asked.sync && asked.quiet && !asked.direct);
    assert_eq!((asked.size, asked.chunk), (Some(100), 65536));
    let kind = FileTestKind::Files { max: 2048, min: 1024 };
    assert_eq!(asked.files, FileTestArgs { count: 4, kind, dirs: 3, chunk: 8192 });
    assert_eq!(asked.random, Some("/mnt/noise".into()));
    assert_eq!(asked.dir, PathBuf::from("/mnt/sub"));
    assert_eq!((asked.name.as_deref(), asked.times), (Some("box"), Some(2)));
    assert_eq!(read(&words("-qf")).unwrap().per_char, PerChar::Skipped);
    assert_eq!(read(&words("-f0")).unwrap().per_char, PerChar::Skipped);
    assert_eq!(read(&words("-f10")).unwrap().per_char, PerChar::Over(Some(10)));
    let seeks = read(&words("-s 1g:8k:2k:7")).unwrap();
    assert_eq!((seeks.size, seeks.seeks, seeks.seekers), (Some(1024), 2048, 7));
    assert_eq!(read(&words("-n 1:-1")).unwrap().files.kind, FileTestKind::Links);
    assert_eq!(read(&words("-n 1:-2::4")).unwrap().files.dirs, 4);
    let old = read(&words("--format 1.03 -y -u root:adm")).unwrap();
    assert_eq!((old.step, old.seekers), (Some(StepMode::Semaphores), 3));
    assert_eq!((old.user.as_deref(), old.group.as_deref()), (Some("root"), Some("adm")));
}

#[test]
fn what_makes_no_sense_is_refused_with_the_words_of_the_tool_where_it_has_any() {
    for (typed, said, why) in [
        ("-Q", "bonnie++: invalid option -- 'Q'\n", "unknown option '-Q'"),
        ("--size 4", "bonnie++: invalid option -- '-'\n", "unknown option '--size'"),
        ("-q -s", "bonnie++: option requires an argument -- 's'\n", "-s has no value"),
        ("-f 10", "", "'10' belongs to no option"),
        ("-s 0 -n 0", "", "-s 0 and -n 0 leave nothing to do"),
        ("-s 64:1000", "", "-s: a chunk of '1000' is no power of two from 256 to 1048576"),
        ("-s 64:2m", "", "-s: a chunk of '2m' is no power of two from 256 to 1048576"),
        ("-s -5", "", "-s: invalid value '-5'"),
        ("-s much", "", "-s: invalid value 'much'"),
        ("-n 1:10:20", "", "-n '1:10:20': the largest file has 10 bytes, the smallest 20"),
        ("-n 1:::100000", "", "-n: invalid value '100000'"),
        ("-m a,b", "", "-m: a comma or an end of line would end the field of CSV"),
        ("-x 0", "", "-x: invalid value '0'"),
        ("-c 201", "", "-c: invalid value '201'"),
        ("-y", "bonnie++: option requires an argument -- 'y'\n", "-y has no value"),
        ("-y z", "", "-y: invalid value 'z'"),
        (
            "-d {empty}",
            "Can't change to directory \"\".\n",
            "-d names no folder; is a variable of the shell not set?",
        ),
        ("-p 2 -y s", "", "-p makes semaphores and ends, -y joins them"),
        ("-u a -u b", "", "-u was given twice"),
        ("-u a:b -g c", "", "the group was given twice"),
        ("-z 1 -Z f", "", "-z and -Z both say what is random"),
        ("--format 1.99", "", "--format '1.99' is none that is known"),
        ("--format 1.03 -c 2", "bonnie++: invalid option -- 'c'\n", "unknown option '-c'"),
        ("--format 1.97 -s 64:8k:5", "", "-s '64:8k:5' has 3 parts"),
        ("-D -s 64 -n 0", "", "-D with the tests of single bytes: direct I/O moves whole sectors"),
        (
            "-s 15",
            "File size should be double RAM for good results, RAM is 8M.\n",
            "-s 15 is less than twice the memory (8 MiB)",
        ),
    ] {
        assert_eq!(refused(typed), (said.to_string(), why.to_string()), "{typed}");
    }
    let old = read(&words("--format 1.03 more")).unwrap_err().text();
    let usage =
        "usage: bonnie++ [-d scratch-dir] [-s size(MiB)[:chunk-size(b)]]\n                [-n";
    assert!(old.starts_with(usage), "{old}");
    let asked = read(&words("--format 1.03 -s 15")).unwrap();
    assert_eq!(asked.settled(&host(), None).unwrap_err().usage, None, "1.03 says that line alone");
    let text = read(&words("-Q")).unwrap_err().text();
    assert!(text.starts_with("bonnie++: invalid option -- 'Q'\nusage:\nbonnie++ [-d"), "{text}");
    let end = "\nVersion: 2.00a\nassay: bonnie++: unknown option '-Q'; 'assay bonnie --help' lists \
               the options; of our own are --format, --as-original and --plan\n";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn the_usual_size_is_twice_the_memory_in_whole_gib_where_that_is_near() {
    let size = |ram| {
        let asked = read(&[]).unwrap();
        asked.settled(&HostFacts { ram, ..host() }, None).unwrap().1.size
    };
    assert_eq!([size(8), size(1000), size(16_000), size(3900)], [300, 2048, 32_000, 8192]);
    // Without a check of sizes there is still a size.
    assert_eq!(understood("-r 0").1.size, 300);
}

#[test]
fn twelve_tests_are_twelve_phases() {
    let (plan, _) = understood("-s 16");
    assert_eq!(plan.phases.iter().map(|phase| phase.name.as_str()).collect::<Vec<_>>(), TESTS);
    let cold: Vec<bool> = plan.phases.iter().map(|phase| phase.cold == CacheDrop::Target).collect();
    let (t, f) = (true, false);
    assert_eq!(cold, [f, f, t, t, t, t, f, f, f, f, f, f]);
    let (plan, _) = understood("-s 16 -f -n 0");
    let names: Vec<_> = plan.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["put_block", "rewrite", "get_block", "seeks"]);
    let changes = ["put_block", "rewrite", "get_block", "seeks"]
        .map(|name| blocks(&plan, name)[0].pattern.change);
    assert_eq!(
        changes,
        [RewriteChange::All, RewriteChange::OneByte, RewriteChange::All, RewriteChange::OneByte]
    );
    let (plan, _) = understood("-s 0 -n 2:300:1");
    assert_eq!(plan.phases.len(), 6);
}

/// What one job of a test does to blocks.
fn blocks<'p>(plan: &'p Plan, name: &str) -> Vec<&'p assay_plan::plan::BlockWork> {
    let phase = plan.phases.iter().find(|phase| phase.name == name).expect(name);
    let blocks = phase.jobs.iter().filter_map(|job| match &job.work {
        Work::Blocks(blocks) => Some(blocks),
        _ => None,
    });
    blocks.collect()
}

#[test]
fn each_form_writes_its_bytes_its_own_way() {
    let (new, _) = understood("-s 16");
    let putc = blocks(&new, "putc")[0];
    assert_eq!((putc.method, putc.durability), (Method::Bytewise, Durability::FsyncAtEnd));
    let Target::Scratch { size, .. } = &putc.target else { panic!("{putc:?}") };
    assert_eq!(*size, assay_plan::plan::Size::Exactly(Bytes::mib(3)));
    let (old, _) = understood("--format 1.03 -s 2500");
    let putc = blocks(&old, "putc")[0];
    assert_eq!(putc.method, Method::Stdio { buffer: 4096, bytewise: true });
    let Target::Files { count: 3, size, stem, .. } = &putc.target else { panic!("{putc:?}") };
    // A third of it in whole chunks.
    assert_eq!(*size, assay_plan::plan::Size::Exactly(Bytes(2500 * 1024 * 1024 / 3 / 8192 * 8192)));
    assert_eq!(stem, "Bonnie.77.1");
    let seeks = &old.phases[5].jobs[0];
    assert_eq!((seeks.workers, seeks.worker_kind), (3, WorkerKind::Processes));
}

#[test]
fn direct_is_direct_in_all_tests_and_as_original_in_one() {
    let caching = |typed: &str| {
        let (plan, _) = understood(typed);
        ["put_block", "rewrite", "get_block", "seeks"].map(|name| blocks(&plan, name)[0].caching)
    };
    assert_eq!(caching("-D -f -s 16"), [Caching::Direct; 4]);
    let mut original = [Caching::Buffered; 4];
    original[0] = Caching::Direct;
    assert_eq!(caching("-D -f -s 16 --as-original"), original);
    let (plan, _) = understood("-s 16 --as-original --format 1.03");
    assert!(plan.phases.iter().all(|phase| phase.cold == CacheDrop::Keep));
    let put = blocks(&plan, "put_block")[0];
    assert_eq!((&put.pattern.fill, put.durability), (&Fill::Zero, Durability::None));
}

#[test]
fn a_concurrency_is_as_many_copies() {
    let (plan, settled) = understood("-c 3 -s 16 -n 1");
    let jobs = blocks(&plan, "rewrite");
    let stems = jobs.iter().map(|blocks| match &blocks.target {
        Target::Files { stem, .. } => stem.as_str(),
        _ => "",
    });
    assert_eq!(stems.collect::<Vec<_>>(), ["Bonnie.77.1", "Bonnie.77.2", "Bonnie.77.3"]);
    assert_eq!(plan.phases[6].jobs[0].workers, 3);
    assert_eq!(settled.asked.concurrency, 3);
}

#[test]
fn files_have_sizes_links_and_flushes_as_asked() {
    let tree = |typed: &str, phase: usize| {
        let (plan, _) = understood(typed);
        let Work::Tree(tree) = plan.phases[phase].jobs[0].work.clone() else { panic!() };
        tree
    };
    let made = tree("-s 0 -b -n 2:2000:100:4:4096", 0);
    let size = TreeSize::Files { least: Bytes(100), most: Bytes(2000) };
    assert_eq!((made.files, made.folders, made.size), (2048, 4, size));
    assert_eq!((made.block, made.sync_folder), (Some(Bytes(4096)), true));
    assert_eq!(made.durability.every(), Some(1));
    let read = tree("-s 0 -n 1:2000:100", 1);
    assert!(read.action == Action::Read && read.stat_first);
    assert_eq!(tree("-s 0 -n 1", 1).action, Action::Stat);
    assert_eq!(tree("-s 0 -n 1", 2).durability, Durability::FsyncAtEnd);
    assert_eq!(tree("-s 0 -n 1:-2", 3).size, TreeSize::SymbolicLinks);
}

#[test]
fn a_file_of_random_numbers_makes_the_seed() {
    let asked = read(&words("-s 16 -Z noise")).unwrap();
    let seed = |random: &[u8]| asked.settled(&host(), Some(random)).unwrap();
    assert_eq!(seed(b"abcd").0.seed, seed(b"abcd").0.seed);
    assert_ne!(seed(b"abcd").0.seed, seed(b"abce").0.seed);
    assert_eq!(seed(b"abcd").1.seed, "noise");
    assert_eq!(understood("-s 16 -z 5").1.seed, "5");
    assert_eq!(understood("-s 16").1.seed, "1795213711");
}

// ------------------------------------------------------------------ tables and lines

fn measure(rate: f64, cpu: u64, elapsed: Nanos, latency: Nanos) -> Option<TestResult> {
    Some(TestResult { rate, cpu, elapsed, latency: Some(latency) })
}

/// A run whose per-character and rewrite figures took long enough to be printed.
fn figures() -> [Option<TestResult>; 12] {
    let (long, short) = (Nanos::secs(2), Nanos::millis(499));
    let crossed = |micros| measure(1e6, 50, short, Nanos::micros(micros));
    [
        measure(560.7, 75, long, Nanos::micros(35_573)),
        crossed(4061),
        measure(489_882.3, 44, long, Nanos::micros(8080)),
        measure(558.2, 63, long, Nanos::micros(33_775)),
        crossed(8162),
        measure(549.94, 7, long, Nanos::millis(148)),
        measure(1723.9, 15, long, Nanos::micros(4109)),
        crossed(56),
        measure(5059.0, 40, long, Nanos::micros(4591)),
        measure(48_217.0, 137, long, Nanos::secs(200)),
        crossed(13),
        measure(653.0, 5, long, Nanos::micros(4426)),
    ]
}

fn printed(typed: &str, figures: &[Option<TestResult>; 12]) -> String {
    let (_, settled) = understood(typed);
    table(&settled, figures) + &csv(&settled, figures) + "\n"
}

#[test]
fn the_tables_and_the_line_of_2_00() {
    let page = "\
Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
tm             256M  560k  75 +++++ +++  478m  44  558k  63 +++++ +++ 549.9   7
Latency             35573us    4061us    8080us   33775us    8162us     148ms
Version 2.00a       ------Sequential Create------ --------Random Create--------
tm                  -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
                 16  1723  15 +++++ +++  5059  40 48217 137 +++++ +++   653   5
Latency              4109us      56us    4591us      200s      13us    4426us
1.98,2.00a,tm,1,1795213711,256M,,8192,5,560,75,+++++,+++,489882,44,558,63,+++++,+++,549.9,7,16,,,,,1723,15,+++++,+++,5059,40,48217,137,+++++,+++,653,5,35573us,4061us,8080us,33775us,8162us,148ms,4109us,56us,4591us,200s,13us,4426us
";
    assert_eq!(printed("-s 256", &figures()), page);
}

#[test]
fn the_tables_and_the_line_of_1_03() {
    let page = "\
Version 1.03e       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine   Size:chnk K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
tm           8G:64k   560  75 +++++ +++ 489882  44   558  63 +++++ +++ 549.9   7
                    ------Sequential Create------ --------Random Create--------
                    -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
files:max            /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
          20:1024:0  1723  15 +++++ +++  5059  40 48217 137 +++++ +++   653   5
tm,8G:64k,560,75,+++++,+++,489882,44,558,63,+++++,+++,549.9,7,20:1024:0,1723,15,+++++,+++,5059,40,48217,137,+++++,+++,653,5
";
    assert_eq!(printed("--format 1.03 -s 8g:64k -n 20:1024", &figures()), page);
}

#[test]
fn the_tables_and_the_line_of_1_97() {
    let page = "\
Version  1.97       ------Sequential Output------ --Sequential Input- --Random-
Concurrency   1     -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
tm              16M           +++++ +++ 489882  44           +++++ +++ 549.9   7
Latency                        4061us    8080us              8162us     148ms

1.97,1.97,tm,1,5,16M,,,,+++++,+++,489882,44,,,+++++,+++,549.9,7,,,,,,,,,,,,,,,,,,,4061us,8080us,,8162us,148ms,,,,,,
";
    let mut figures = figures();
    (figures[0], figures[3]) = (None, None);
    figures[6..].fill(None);
    assert_eq!(printed("--format 1.97 -f -s 16 -n 0 -z 5", &figures), page);
}

#[test]
fn tests_of_files_alone() {
    let mut figures = figures();
    figures[..6].fill(None);
    let page = "\
Version 2.00a       ------Sequential Create------ --------Random Create--------
averyveryverylongna -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
files:max:min        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
       1:2000:100/4  1723  15 +++++ +++  5059  40 48217 137 +++++ +++   653   5
Latency              4109us      56us    4591us      200s      13us    4426us
1.98,2.00a,averyveryverylongname,1,5,,,,,,,,,,,,,,,,,1,2000,100,4,4096,1723,15,+++++,+++,5059,40,48217,137,+++++,+++,653,5,,,,,,,4109us,56us,4591us,200s,13us,4426us
";
    let typed = "-m averyveryverylongname -z 5 -s 0 -n 1:2000:100:4:4096";
    assert_eq!(printed(typed, &figures), page);
    let old = printed("--format 1.03 -s 0 -n 16:-1:0:4", &figures);
    assert!(old.starts_with("Version 1.03e       ------Sequential Create"), "{old}");
    assert!(old.contains("\ntm                  -Create-- "), "{old}");
    assert!(old.contains("\n          16:link/4 "), "{old}");
    assert!(old.ends_with(
        "\ntm,,,,,,,,,,,,,,16:link/4,1723,15,+++++,+++,5059,40,48217,137,+++++,+++,653,5\n"
    ));
}

#[test]
fn every_form_has_its_number_of_fields_whatever_was_left_out() {
    for (form, fields) in [("1.03", 27), ("1.96", 48), ("1.97", 48), ("1.98", 50)] {
        for typed in ["-s 16", "-s 16 -n 0", "-s 0 -n 1:-1", "-f -s 1g:64k -n 2:9:1:2"] {
            let (_, settled) = understood(&format!("--format {form} {typed}"));
            for figures in [figures(), [None; 12]] {
                let line = csv(&settled, &figures);
                assert_eq!(line.split(',').count(), fields, "{form} {typed}: {line}");
            }
        }
        let form = BonnieVersion::ALL.into_iter().find(|known| known.name() == form).unwrap();
        assert_eq!(header(form).split(',').count(), fields);
    }
    assert!(header(BonnieVersion::F1_03).starts_with("name,file_size,putc,putc_cpu,put_block,"));
}

#[test]
fn a_size_says_what_is_not_usual_and_no_more() {
    let size = |typed: &str| {
        let (_, settled) = understood(typed);
        let text = table(&settled, &[None; 12]);
        text.lines().nth(3).unwrap().split_whitespace().nth(1).unwrap().to_string()
    };
    assert_eq!(size("-n 0 -s 16"), "16M");
    assert_eq!(size("-n 0 -s 16:512:100:2"), "16M:512::100:2");
    assert_eq!(size("-n 0 -s 1024 -c 3"), "1G::3");
    assert_eq!(size("-n 0 -s 16:8192:100"), "16M:::100");
    assert_eq!(size("-n 0 -s 16:8192:8192:2"), "16M::::2");
}
