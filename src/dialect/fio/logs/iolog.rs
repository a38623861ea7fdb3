//! `write_iolog`: the list of what a clone did, in the third version of fio's form, made of a line for each I/O that
//! the engine has written down.

use crate::dialect::fio::job::FioJob;
use crate::dialect::fio::job::names;
use crate::dialect::fio::outcome::debug::completion;
use crate::dialect::fio::plan::FioClone;

/// The first line of a list.
const HEADING: &str = "fio version 3 iolog";

/// An I/O or a flush that was sent.
struct IssuedIo<'l> {
    /// Which of those that its worker sent.
    number: u64,
    /// When, microseconds since the start.
    at: u64,
    action: &'l str,
    file: usize,
    offset: u64,
    bytes: u64,
}

/// Whether a list of what this job does is written: one that is read goes before.
fn file_of(job: &FioJob) -> Option<&str> {
    job.replay.write.as_deref().filter(|_| job.replay.read.is_none())
}

impl FioJob {
    /// Whether what it does is listed.
    pub(in crate::dialect::fio) fn is_listed(&self) -> bool {
        file_of(self).is_some() || self.replay.printed
    }
}

/// The list of a clone: the file that it goes to the end of, and its lines. `lines` is what was gathered of what it
/// did, `back` what was gathered while that was read back.
pub fn written_list(job: &FioJob, clone: u32, lines: &str, back: &str) -> Option<(String, String)> {
    let name = file_of(job)?;
    let files = names::files_of(job, clone);
    let mut ios = issued(lines);
    let end = ios.last().map_or(0, |io| io.at);
    ios.extend(issued(back).into_iter().map(|io| IssuedIo { at: end + io.at, ..io }));
    let end = ios.last().map_or(0, |io| io.at);
    let mut text = format!("{HEADING}\n");
    for (at, act) in [(0, "add"), (0, "open")] {
        files.iter().for_each(|file| text += &format!("{at} {file} {act}\n"));
    }
    for io in &ios {
        let Some(file) = files.get(io.file) else { continue };
        let IssuedIo { at, action, offset, bytes, .. } = io;
        text += &format!("{at} {file} {action} {offset} {bytes}\n");
    }
    files.iter().for_each(|file| text += &format!("{end} {file} close\n"));
    Some((name.to_string(), text))
}

/// What `--debug=io` prints of what a clone did, in the order in which it was answered.
pub fn completions(job: &FioJob, clone: &FioClone, lines: &str, back: &str, pid: u32) -> String {
    if !job.replay.printed {
        return String::new();
    }
    let files = names::files_of(job, clone.number);
    let ios = lines.lines().chain(back.lines()).filter_map(one);
    let told = ios.filter_map(|io| {
        let kinds = ["read", "write", "trim", "sync", "datasync"];
        let kind = kinds.iter().position(|kind| *kind == io.action)? as u32;
        let place = (io.offset, io.bytes);
        Some(completion(pid + clone.thread, io.number, kind, place, files.get(io.file)?))
    });
    told.collect()
}

/// What was gathered, in the order in which it was sent.
fn issued(lines: &str) -> Vec<IssuedIo<'_>> {
    let mut ios: Vec<IssuedIo> = lines.lines().filter_map(one).collect();
    ios.sort_by_key(|io| io.number);
    ios
}

/// What a gathered line says; nothing of a heading.
fn one(line: &str) -> Option<IssuedIo<'_>> {
    let fields: Vec<&str> = line.split(',').collect();
    let [at, _, action, file, offset, bytes, lat, _, _, lag, number, _] = fields[..] else {
        return None;
    };
    let (at, lat): (u64, u64) = (at.parse().ok()?, lat.parse().ok()?);
    let lag: u64 = lag.parse().ok()?;
    Some(IssuedIo {
        number: number.parse().ok()?,
        at: (at + lag).saturating_sub(lat) / 1000,
        action: match action {
            "fsync" => "sync",
            "fdatasync" => "datasync",
            other => other,
        },
        file: file.parse().ok()?,
        offset: offset.parse().ok()?,
        bytes: bytes.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_in_the_order_of_sending_and_goes_on_while_it_is_read_back() {
        let mut job = FioJob { name: "a".into(), ..FioJob::default() };
        job.target.nrfiles = 2;
        job.replay.write = Some("a.log".into());
        let heading =
            "time_ns,worker,op,file,offset,bytes,lat_ns,answer,slat_ns,lag_ns,number,priority\n";
        let lines = format!(
            "{heading}9000,0,write,1,4096,512,4000,512,0,1000,1,0\n8000,0,write,0,0,512,7000,512,0,0,0,0\n12000,0,fdatasync,1,0,0,2000,0,0,0,2,0\n"
        );
        let back = format!("{heading}5000,0,read,0,0,512,1000,512,0,0,0,0\n");
        let (name, text) = written_list(&job, 0, &lines, &back).unwrap();
        assert_eq!(name, "a.log");
        assert_eq!(
            text,
            "fio version 3 iolog\n\
             0 a.0.0 add\n0 a.0.1 add\n0 a.0.0 open\n0 a.0.1 open\n\
             1 a.0.0 write 0 512\n6 a.0.1 write 4096 512\n10 a.0.1 datasync 0 0\n\
             14 a.0.0 read 0 512\n14 a.0.0 close\n14 a.0.1 close\n"
        );
        // One that is read goes before.
        job.replay.read = Some("b.log".into());
        assert_eq!(written_list(&job, 0, &lines, ""), None);
    }
}
