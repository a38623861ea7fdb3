//! What assay writes beside what it measures: where links lead, what stands there already, what others have put in the way,
//! and what is called like something of ours.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use assay_record::record;

use crate::lab::{self, Ran};

/// A load of a moment; `more` stands behind it.
fn load(desk: &Path, more: &[&str]) -> Ran {
    let words = ["io", ".", "--size", "1M", "--time", "100ms", "--seed", "1"];
    lab::assay(words).words(more).cwd(desk).run()
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata().expect("it stands there").is_symlink()
}

#[test]
fn a_link_stays_and_what_it_leads_to_is_written() {
    let desk = tempfile::tempdir().expect("a desk");
    let at = |name: &str| desk.path().join(name);
    fs::create_dir(at("kept")).expect("made");
    for name in ["record.json", "page.html"] {
        symlink(Path::new("kept").join(name), at(name)).expect("linked");
        // One that leads nowhere is a slip, or a trap.
        let word = if name == "record.json" { "--record" } else { "--report" };
        let ran = load(desk.path(), &[word, name]).expect(2);
        assert!(ran.stderr.contains("which is not there"), "{ran}");
        fs::write(at("kept").join(name), "").expect("written");
    }
    let words = ["--record", "record.json", "--report", "page.html"];
    for turn in 0..2 {
        let ran = load(desk.path(), &words);
        assert!([0, 3].contains(&ran.code()), "{turn}: {ran}");
        assert!(is_link(&at("record.json")) && is_link(&at("page.html")), "{turn}: {ran}");
    }
    record::load(&at("kept/record.json")).expect("a record");
    let page = fs::read_to_string(at("kept/page.html")).expect("a page");
    assert!(page.starts_with("<!DOCTYPE html>"));
    let mut names: Vec<_> = fs::read_dir(at("kept")).expect("there").flatten().collect();
    names.retain(|entry| !["record.json", "page.html"].iter().any(|it| entry.file_name() == *it));
    assert!(names.is_empty(), "{names:?}");
}

#[test]
fn what_the_machine_has_open_is_written_to_and_never_replaced() {
    let desk = tempfile::tempdir().expect("a desk");
    let at = |name: &str| desk.path().join(name);
    // By a link of our own, for a program that replaces it would take /dev/stdout away from this machine.
    for (link, to) in [("out", "/dev/stdout"), ("fd", "/dev/fd/1"), ("self", "/proc/self/fd/1")] {
        symlink(to, at(link)).expect("linked");
        let ran = load(desk.path(), &["--record", link, "--report", "page.txt"]);
        assert!([0, 3].contains(&ran.code()), "{to}: {ran}");
        assert!(is_link(&at(link)), "{to}: {ran}");
        let begins = ran.stdout.find("{\n").or_else(|| ran.stdout.find("{\"")).expect("a record");
        assert!(ran.stdout[begins..].contains("assay.record/"), "{to}: {ran}");
    }
    let ran = load(desk.path(), &["--record", "/dev/null"]);
    assert!([0, 3].contains(&ran.code()), "{ran}");
    assert!(fs::metadata("/dev/null").expect("there").file_type().is_char_device());
    // Nothing else below these is a place for a file.
    for place in ["/dev/zero", "/dev/mem", "/dev/assay.json", "/proc/assay.json", "/sys/assay.json"]
    {
        for word in ["--record", "--report"] {
            let ran = load(desk.path(), &[word, place]);
            let said = ran.stderr.lines().count();
            assert!(ran.code() == 2 && ran.stderr.starts_with("assay: ") && said <= 2, "{ran}");
            assert!(ran.stderr.contains(place), "{ran}");
        }
    }
    assert!(!Path::new("/dev/assay.json").exists());
}

#[test]
fn what_somebody_else_has_put_there_stays() {
    let desk = tempfile::tempdir().expect("a desk");
    let at = |name: &str| desk.path().join(name);
    for name in ["notes.md", "table.csv", "page.html", "thesis.txt", "mine.json", "picture.svg"] {
        fs::write(at(name), "years of work\n").expect("written");
        let ran = load(desk.path(), &["--report", name]).expect(2);
        assert!(ran.stderr.contains(name) && ran.stderr.lines().count() == 1, "{ran}");
        let ran = load(desk.path(), &["--record", name]).expect(2);
        assert!(ran.stderr.contains(name) && ran.stderr.lines().count() == 1, "{ran}");
        assert_eq!(fs::read_to_string(at(name)).expect("text"), "years of work\n");
    }
    fs::create_dir(at("folder.html")).expect("made");
    load(desk.path(), &["--report", "folder.html"]).expect(2);
    let ran = load(desk.path(), &["--report", "nowhere/page.html"]).expect(2);
    assert!(ran.stderr.contains("nowhere"), "{ran}");
}

/// Another user's link, file or pipe in a folder of everybody, and root that writes there.
#[test]
fn the_link_of_another_user_sends_nothing_into_a_file_of_root() {
    lab::need!(lab::need_root());
    const NOBODY: u32 = 65534;
    let desk = tempfile::tempdir().expect("a desk");
    let shared = desk.path().join("tmp");
    fs::create_dir(&shared).expect("made");
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).expect("set");
    let secret = desk.path().join("secret");
    fs::write(&secret, "of root\n").expect("written");
    let own = |name: &str| {
        let path = shared.join(name);
        std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).expect("given away");
    };
    for name in ["r.json", "r.html", "out", "l_bw.log", "sheet.xlsx", "log.csv"] {
        symlink(&secret, shared.join(name)).expect("linked");
        own(name);
    }
    let lines = [
        "io . --size 1M --time 100ms --record r.json",
        "io . --size 1M --time 100ms --report r.html",
        "fio --name=a --rw=write --size=64k --filename=f --output=out",
        "fio --name=a --rw=write --size=64k --filename=f --write_bw_log=l --per_job_logs=0",
        "iozone -i 0 -s 64k -r 4k -f f -R -b sheet.xlsx",
    ];
    for line in lines {
        let ran = lab::assay(line.split(' ')).cwd(&shared).run();
        assert!([1, 2].contains(&ran.code()), "{ran}");
        assert!(ran.stderr.contains("is a link of somebody else"), "{ran}");
        assert_eq!(fs::read_to_string(&secret).expect("text"), "of root\n", "{ran}");
    }
    // Its owner may write there, and root where the link is root's own.
    symlink(&secret, shared.join("own.json")).expect("linked");
    let ran = lab::assay("io . --size 1M --time 100ms --record own.json".split(' '));
    let ran = ran.cwd(&shared).run().expect(2);
    assert!(ran.stderr.contains("own.json"), "{ran}");
    fs::write(&secret, "").expect("emptied");
    let ran = lab::assay("io . --size 1M --time 100ms --record own.json".split(' '));
    let ran = ran.cwd(&shared).run();
    assert!([0, 3].contains(&ran.code()), "{ran}");
    record::load(&secret).expect("a record");
    assert_eq!(fs::metadata(&secret).expect("there").uid(), 0);
}

#[test]
fn what_is_only_called_like_something_of_ours_stays() {
    let desk = tempfile::tempdir().expect("a desk");
    let at = |name: &str| desk.path().join(name);
    let run = "01m8jxnkzdcemj96bg0q3gqw6b";
    let files = [
        ".assay-notes.tmp".to_string(),
        format!(".assay-{run}.tmp"),
        format!(".assay-{run}.tmp.bak"),
        ".assay-probe-notes".to_string(),
        "assay-notes.journal".to_string(),
    ];
    let folders = [".assay-backup.tree".to_string(), format!(".assay-{run}.tree")];
    for name in &files {
        fs::write(at(name), "mine\n").expect("written");
    }
    for name in &folders {
        fs::create_dir(at(name)).expect("made");
        fs::write(at(name).join("thesis"), "mine\n").expect("written");
    }
    for line in [
        "io . --size 1M --time 100ms",
        "quick . --quick --size 1M",
        "bonnie -d . -s 1:64k -n 1:10:10:1 -r 0 -u 0 -b -q",
        "demo flush .",
        "fio --name=a --rw=write --size=64k --directory=. --unlink=1",
        "iozone -i 0 -s 64k -r 4k -f i",
        "atto . --sizes 64k --length 1M",
        "probe .",
    ] {
        let ran = lab::assay(line.split(' ')).cwd(desk.path()).run();
        assert!([0, 3].contains(&ran.code()), "{ran}");
        for name in &files {
            assert_eq!(fs::read_to_string(at(name)).expect("text"), "mine\n", "{name}: {ran}");
        }
        for name in &folders {
            let thesis = fs::read_to_string(at(name).join("thesis"));
            assert_eq!(thesis.expect("text"), "mine\n", "{name}: {ran}");
        }
    }
    assert_eq!(fs::read_dir(desk.path()).expect("there").count(), files.len() + folders.len());
}
