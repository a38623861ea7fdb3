//! The words of a sweep and the plans that they make.

use super::super::told::words;
use super::*;

fn names(line: &str, kind: PathType) -> Vec<String> {
    let plan = plan(&words(line), kind, vec![]).expect("a plan");
    plan.check().expect("sound");
    plan.phases.iter().map(|phase| phase.name.clone()).collect()
}

#[test]
fn a_row_is_written_and_then_read() {
    let all = names("/mnt", PathType::Folder);
    assert_eq!(all.len(), 1 + 2 * 18);
    assert_eq!(all[..4], ["file", "write-512", "read-512", "write-1k"]);
    assert_eq!(all[36], "read-64m");
    let depths = names("/mnt --over depth=1,8 --action read", PathType::Folder);
    assert_eq!(depths, ["file", "read-q1", "read-q8"]);
}

#[test]
fn two_things_make_a_grid_and_shares_of_reads_are_mixed() {
    let grid = names("/mnt --over bs=4k,1M --over workers=1,2 --action write", PathType::Folder);
    let cells = ["write-4k-w1", "write-4k-w2", "write-1m-w1", "write-1m-w2"];
    assert_eq!((grid[0].as_str(), &grid[1..]), ("file", cells.map(String::from).as_slice()));
    let mixed = names("/mnt --over read=0,70,100", PathType::Folder);
    assert_eq!(mixed, ["file", "write-r0", "mix-r70", "read-r100"]);
}

#[test]
fn files_and_devices_are_only_read_unless_a_device_is_named_twice() {
    for (line, kind, writes) in [
        ("/x --over bs=4k,64k", PathType::File(Bytes::mib(1)), false),
        ("/dev/x --over bs=4k,64k", PathType::Device, false),
        ("/dev/x /dev/x --over bs=4k,64k", PathType::Device, true),
    ] {
        let plan = plan(&words(line), kind, vec![]).expect("a plan");
        plan.check().expect("sound");
        assert_eq!(plan.writes(), writes, "{line}");
    }
}

#[test]
fn the_cells_share_the_time() {
    let pace = |cells| pace(Nanos::secs(180), cells).expect("enough");
    assert_eq!(
        pace(36),
        SweepPacing {
            whole: Nanos::secs(171),
            least: Nanos::millis(1_000),
            most: Nanos::millis(4_400),
            end: Some(Nanos::secs(180)),
        }
    );
    assert_eq!((pace(6).least, pace(6).most), (LONGEST, LONGEST));
    assert!(super::pace(Nanos::secs(10), 36).is_err());
    assert!(super::pace(Nanos::secs(9_999), 501).is_err());
}

#[test]
fn words_against_each_other_are_refused() {
    let file = PathType::File(Bytes::mib(1));
    for (line, kind, says) in [
        ("/x --action write", file, "somebody's file"),
        ("/x --over read=0..100", file, "somebody's file"),
        ("/dev/x --action write", PathType::Device, "name the device a second time"),
        ("/dev/x /dev/y", PathType::Device, "the very same name twice"),
        ("/dev/x /dev/x --action read", PathType::Device, "named twice, and only read"),
        ("/mnt /mnt", PathType::Folder, "one path too many"),
        ("/mnt --size 100", PathType::Folder, "less than one block"),
        ("/x", PathType::File(Bytes(9)), "has only 9 B"),
        ("/mnt --over bs=4k --over bs=8k", PathType::Folder, "bs is varied twice"),
        ("/mnt --over bs=4k --over depth=1 --over read=0", PathType::Folder, "3 things"),
        ("/mnt --over bs=4k --block 4k", PathType::Folder, "leave --block out"),
        ("/mnt --over depth=1..4 --depth 4", PathType::Folder, "leave --depth out"),
        ("/mnt --over read=70 --action read", PathType::Folder, "leave --action out"),
        ("/mnt --time 10", PathType::Folder, "too short for 36 cells"),
        ("/mnt --over depth=1 --block 0", PathType::Folder, "an I/O of 0 bytes"),
    ] {
        let refusal = plan(&words(line), kind, vec![]).expect_err(line);
        assert!(refusal.to_string().contains(says), "{line}: {refusal}");
    }
}

#[test]
fn a_load_is_said_in_the_words_of_other_tools_too() {
    let plan = |line: &str| plan(&words(line), PathType::Folder, vec![]).expect("a plan");
    let line = |depth, workers, block| {
        format!("/mnt --seed 1 --over read=0,100 --{block} 8k --{depth} 2 --{workers} 3")
    };
    let ours = plan(&line("depth", "workers", "block"));
    assert_eq!(ours.phases[1].load(), Some((2, 3)));
    assert_eq!(ours, plan(&line("iodepth", "numjobs", "bs")));
}
