//! Lists of names of files, and the names that fio makes.

use super::asked::FioJob;

/// Names between colons: one that follows a backslash is part of the name. Empty names are none.
pub fn split(text: &str) -> Vec<String> {
    let (mut names, mut name) = (Vec::new(), String::new());
    for c in text.chars() {
        match c {
            ':' if name.ends_with('\\') => {
                name.pop();
                name.push(':');
            }
            ':' => names.push(std::mem::take(&mut name)),
            c => name.push(c),
        }
    }
    names.push(name);
    names.retain(|name| !name.is_empty());
    names
}

/// The names of the files of a clone, with their folder. `clone` counts from 0.
pub fn files_of(job: &FioJob, clone: u32) -> Vec<String> {
    let target = &job.target;
    let names = match target.filenames.is_empty() {
        false => target.filenames.clone(),
        true => (0..target.nrfiles)
            .map(|file| made(&target.filename_format, &job.name, clone, file))
            .collect(),
    };
    let folders = &target.directories;
    match folders.get(clone as usize % folders.len().max(1)) {
        Some(folder) => names.into_iter().map(|name| format!("{folder}/{name}")).collect(),
        None => names,
    }
}

/// A name by its format; keywords may be in capitals.
fn made(format: &str, job: &str, clone: u32, file: u32) -> String {
    if format.is_empty() {
        return format!("{job}.{clone}.{file}");
    }
    let (clone, file) = (clone.to_string(), file.to_string());
    let words = [("$jobname", job), ("$jobnum", &clone), ("$filenum", &file), ("$clientuid", "")];
    let (mut name, mut rest) = (String::new(), format);
    while let Some(next) = rest.chars().next() {
        let word = words.iter().find(|(word, _)| {
            rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
        });
        let taken = match word {
            Some((word, value)) => {
                name.push_str(value);
                word.len()
            }
            None => {
                name.push(next);
                next.len_utf8()
            }
        };
        rest = &rest[taken..];
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_between_colons_that_nothing_escapes() {
        assert_eq!(split("a:b:c"), ["a", "b", "c"]);
        assert_eq!(split("/dev/a\\:b:c"), ["/dev/a:b", "c"]);
        assert_eq!(split(":a::b:"), ["a", "b"]);
    }

    #[test]
    fn names_are_made_by_their_format() {
        let mut job = FioJob { name: "db".into(), ..FioJob::default() };
        job.target.nrfiles = 2;
        assert_eq!(files_of(&job, 3), ["db.3.0", "db.3.1"]);
        job.target.filename_format = "x-$JobNum.$filenum.ext".into();
        job.target.directories = vec!["/mnt/a".into(), "/mnt/b".into()];
        assert_eq!(files_of(&job, 1), ["/mnt/b/x-1.0.ext", "/mnt/b/x-1.1.ext"]);
        job.target.filenames = vec!["f".into()];
        assert_eq!(files_of(&job, 2), ["/mnt/a/f"]);
    }
}
