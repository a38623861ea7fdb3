//! A line of CSV that somebody pasted, field by field: 27 of 1.03, 48 of 1.96 and 1.97, 50 of 1.98 and 2.00.

use super::csv::header;
use super::{BonnieVersion, TESTS};
use crate::dialect::session::PrintedResult;
use assay_plan::name::quoted;
use assay_record::record::{BetterCommand, WordMeaning};

/// What a test does, and what its figure counts.
const DOES: [&str; 12] = [
    "KiB/s written byte by byte",
    "KiB/s written in blocks",
    "KiB/s read, changed and written again",
    "KiB/s read byte by byte",
    "KiB/s read in blocks",
    "seeks per second",
    "files per second created in order",
    "files per second looked at in order",
    "files per second removed in order",
    "files per second created at random",
    "files per second looked at at random",
    "files per second removed at random",
];

/// The fields of a line, by their names.
struct CsvFields<'l> {
    names: Vec<String>,
    values: Vec<&'l str>,
}

impl<'l> CsvFields<'l> {
    fn of(form: BonnieVersion, line: &'l str) -> Option<Self> {
        let names: Vec<String> = header(form).split(',').map(String::from).collect();
        let values: Vec<&str> = line.split(',').map(str::trim).collect();
        let versioned = form.is_old() || values.first() == Some(&form.name());
        (versioned && names.len() == values.len()).then_some(Self { names, values })
    }

    /// The value of a field; empty: there is none.
    fn at(&self, name: &str) -> &'l str {
        let place = self.names.iter().position(|known| known == name);
        place.map_or("", |place| self.values[place])
    }
}

/// Takes a line apart; `None`: it is none.
pub fn read_csv(line: &str) -> Option<PrintedResult> {
    let line = line.trim().trim_end_matches(',');
    let padded = |form: BonnieVersion| {
        // Fields at the end that are empty may be cut off.
        let missing = header(form).matches(',').count().checked_sub(line.matches(',').count())?;
        (missing <= 12).then(|| format!("{line}{}", ",".repeat(missing)))
    };
    let form = BonnieVersion::ALL.into_iter().rev().find(|form| {
        let whole = padded(*form);
        whole.is_some_and(|whole| {
            CsvFields::of(*form, &whole).is_some_and(|fields| is_told(&fields))
        })
    })?;
    let whole = padded(form)?;
    let fields = CsvFields::of(form, &whole)?;
    let told = |word: &str, means: String| WordMeaning { word: word.into(), means };
    let version = match fields.at("bonnie_version") {
        "" => "1.03",
        version => version,
    };
    let size = fields.at("file_size");
    let mut about = vec![told(
        fields.at("name"),
        format!("the machine of which this line of Bonnie++ {version} tells"),
    )];
    if !size.is_empty() {
        let flush = match form.is_old() {
            true => "; what it wrote was not flushed when its clocks stopped",
            false => "",
        };
        about.push(told(
            size,
            format!("the size of its file: what of it had room in the memory of that machine was read from there, and the line does not tell how much that is{flush}"),
        ));
    }
    let figures = TESTS.iter().zip(DOES).filter_map(|(test, does)| {
        let (rate, cpu) = (fields.at(test), fields.at(&format!("{test}_cpu")));
        let latency = match fields.at(&format!("{test}_latency")) {
            "" => String::new(),
            latency => format!(", the longest wait {latency}"),
        };
        let means = match rate {
            "" => return None,
            "+++++" => format!("no rate ({does}): it was over in less than half a second{latency}"),
            rate => format!("{rate} {does}, {cpu} % of a CPU{latency}"),
        };
        Some(told(test, means))
    });
    let again = BetterCommand {
        line: format!("assay bonnie -d .{}", words(form, &fields)),
        why: "the same tests in a folder here, cold and flushed, each with a verdict".into(),
    };
    Some(PrintedResult { about, figures: figures.collect(), again })
}

/// Whether the figures are some.
fn is_told(fields: &CsvFields<'_>) -> bool {
    let figure = |value: &str| value.is_empty() || value == "+++++" || value.parse::<f64>().is_ok();
    let some = TESTS.iter().any(|test| !fields.at(test).is_empty());
    some && TESTS.iter().all(|test| figure(fields.at(test)))
}

/// The words for the same tests.
fn words(form: BonnieVersion, fields: &CsvFields<'_>) -> String {
    let joined = |names: &[&str]| {
        let values: Vec<&str> = names.iter().map(|name| fields.at(name)).collect();
        values.join(":").trim_end_matches(':').to_string()
    };
    let mut words = match form == BonnieVersion::default() {
        true => String::new(),
        false => format!(" --format {}", form.name()),
    };
    let size = match fields.at("file_size") {
        "" => "0".into(),
        _ => joined(&["file_size", "io_chunk_size", "seeks_count", "seekers"]),
    };
    let files = match fields.at("num_files") {
        "" => "0".into(),
        _ => joined(&["num_files", "max_size", "min_size", "num_dirs", "file_chunk_size"]),
    };
    words += &format!(" -s {size} -n {files}");
    if fields.at("putc").is_empty() && size != "0" {
        words += " -f";
    }
    if !matches!(fields.at("concurrency"), "" | "1") {
        words += &format!(" -c {}", fields.at("concurrency"));
    }
    words + &format!(" -m {}", quoted(fields.at("name")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_versions_are_told() {
        let old = "box,8G,41521,97,62410,14,31283,8,48022,98,94810,9,301.2,1,16,3245,12,+++++,+++,2411,9,3198,12,+++++,+++,1989,8";
        let told = read_csv(old).expect("1.03");
        assert_eq!(told.about[0].means, "the machine of which this line of Bonnie++ 1.03 tells");
        assert_eq!(told.figures[1].means, "62410 KiB/s written in blocks, 14 % of a CPU");
        assert_eq!(told.again.line, "assay bonnie -d . --format 1.03 -s 8G -n 16 -m box");
        let new = "1.97,1.97,box,1,1414141414,8G,,512,98,62410,14,31283,8,1022,98,94810,9,301.2,1,16,,,,,3245,12,+++++,+++,2411,9,3198,12,+++++,+++,1989,8,20ms,8082us,4572us,41ms,8070us,44ms,122us,39us,16ms,8088us,9us,9307us";
        let told = read_csv(new).expect("1.97");
        assert_eq!(
            told.figures[7].means,
            "no rate (files per second looked at in order): it was over in less than half a second, the longest wait 39us"
        );
        assert_eq!(told.again.line, "assay bonnie -d . --format 1.97 -s 8G -n 16 -m box");
        assert_eq!(
            read_csv(&new.replace("1.97", "1.96")).expect("1.96").again.line,
            "assay bonnie -d . --format 1.96 -s 8G -n 16 -m box"
        );
        let newest = "1.98,2.00a,box,1,1795921145,64M,,8192,5,,,+++++,+++,+++++,+++,,,+++++,+++,+++++,+++,,,,,,,,,,,,,,,,,,,8082us,4572us,,8070us,44443us,,,,,,";
        let told = read_csv(newest).expect("2.00");
        assert_eq!(told.again.line, "assay bonnie -d . -s 64M::8192:5 -n 0 -f -m box");
        assert_eq!(told.figures.len(), 4);
        for none in [
            "1,2,3",
            "",
            "dd if=a of=b",
            &old.replace("62410", "many"),
            &new.replace("1.97,1.97", "1.99,1.99"),
        ] {
            assert_eq!(read_csv(none), None, "{none}");
        }
    }
}
