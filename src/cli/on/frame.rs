//! What the desk and a board say to each other: a line for each piece of news, a mark and JSON, so that it
//! passes any shell, terminal and `adb`, between whatever else is said there.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use assay_plan::unit::Nanos;
use assay_record::record::read_json;

/// What a line with news begins with.
const MARK: &[u8] = b"assay-on:{";

/// Bytes in a line at the most.
pub const CHUNK: usize = 32 << 10;
/// How often each side says that it is there.
pub const PULSE: Nanos = Nanos::secs(5);
/// After this time without a word the link is lost.
pub const SILENCE: Nanos = Nanos::secs(30);

/// A piece of news.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoardFrame {
    /// Both ways, every few seconds: the link is there.
    Alive {},
    /// To the board: more of a file that goes along.
    File {
        name: String,
        /// What follows in it.
        bytes: FrameBytes,
    },
    Run(BoardCommand),
    /// To the board: more of its standard input; none at its end.
    Input(FrameBytes),
    /// To the board: a signal for what runs.
    Signal(i32),
    /// From the board: it is there, in this version.
    Hello {
        /// The version of the program there.
        version: String,
    },
    /// From the board: there is room for standard input.
    InputWanted {},
    /// From the board: more of standard output.
    Output(FrameBytes),
    /// From the board: more of standard error.
    Errors(FrameBytes),
    /// From the board: more of the record.
    Record {
        name: String,
        /// Where in it they stand; at 0 it begins anew.
        from: u64,
        /// What follows in it.
        bytes: FrameBytes,
    },
    /// From the board: it could not be done.
    Failed {
        /// What went wrong.
        why: String,
    },
    /// From the board: it ran to its end, and nothing is left there.
    Ended {
        /// The exit status; 128 and the number of the signal that ended it.
        status: u8,
    },
}

/// What is to run on a board.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardCommand {
    /// The words behind the name of the program.
    pub words: Vec<BoardWord>,
    /// Variables.
    pub variables: Vec<(String, String)>,
    /// The variable that names the folder for the record, where it is wanted.
    pub record: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoardWord {
    Text(String),
    /// The path there of the file of that name that went along.
    File(String),
}

/// Bytes, which stand in JSON as base64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameBytes(pub Vec<u8>);

impl Serialize for FrameBytes {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for FrameBytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        STANDARD.decode(text).map(Self).map_err(serde::de::Error::custom)
    }
}

impl BoardFrame {
    /// Writes its line.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut line = MARK[..MARK.len() - 1].to_vec();
        serde_json::to_writer(&mut line, self)?;
        line.push(b'\n');
        out.write_all(&line)?;
        out.flush()
    }

    /// The news of a line; `None` when it is none of ours, or is damaged.
    pub fn of_line(line: &[u8]) -> Option<Self> {
        let at = line.windows(MARK.len()).position(|found| found == MARK)?;
        read_json(std::str::from_utf8(&line[at + MARK.len() - 1..]).ok()?).ok()
    }

    /// A file in frames, each of which `frame` makes of a part; one for an empty file.
    pub fn parts(
        bytes: &[u8],
        mut frame: impl FnMut(FrameBytes) -> Self,
    ) -> impl Iterator<Item = Self> {
        let whole = bytes.is_empty().then_some(bytes);
        let parts = bytes.chunks(CHUNK).chain(whole);
        parts.map(move |part| frame(FrameBytes(part.to_vec())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_plan::name;

    #[test]
    fn news_pass_a_terminal_and_whatever_else_is_said() {
        let news = [
            BoardFrame::Alive {},
            BoardFrame::Output(FrameBytes((0..=255).collect())),
            BoardFrame::Ended { status: 130 },
            BoardFrame::Run(BoardCommand {
                words: vec![
                    BoardWord::Text(name::word(b"it's \"\xff\n$(x)")),
                    BoardWord::File("plan.json".into()),
                ],
                variables: vec![("TERM".into(), "dumb".into())],
                record: Some("ASSAY_RECORD".into()),
            }),
        ];
        for frame in news {
            let mut line = Vec::new();
            frame.write(&mut line).expect("written");
            assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
            assert_eq!(BoardFrame::of_line(&line).as_ref(), Some(&frame));
            // A terminal ends lines with both signs, and a prompt may stand before.
            let through: Vec<u8> = [b"board$ ", &line[..line.len() - 1], b"\r\n"].concat();
            assert_eq!(BoardFrame::of_line(&through), Some(frame));
            assert_eq!(BoardFrame::of_line(&line[..line.len() - 2]), None);
        }
        assert_eq!(BoardFrame::of_line(b"Welcome to assay-on: a board\n"), None);
    }

    #[test]
    fn a_file_goes_in_parts() {
        let bytes = vec![7; CHUNK * 2 + 1];
        let parts = BoardFrame::parts(&bytes, BoardFrame::Input);
        assert_eq!(parts.count(), 3);
        assert_eq!(
            BoardFrame::parts(&[], BoardFrame::Input).collect::<Vec<_>>(),
            [BoardFrame::Input(FrameBytes::default())]
        );
    }
}
