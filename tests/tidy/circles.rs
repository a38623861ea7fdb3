//! No circles between files: who uses whom, read from paths and `use` lines.
//!
//! A file depends on the file that defines a name, not on a `mod.rs` that only lists it: re-exports are
//! followed. To declare a child module, or to hand on what is in it (`pub use`), is no dependency; to use it is
//! one. Tests do not count.

use std::collections::{BTreeMap, BTreeSet};

use super::{Source, code, settle};

/// What a line of code is made of, as far as paths go.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    /// `::`
    Of,
    /// Anything else.
    Sign(char),
}

/// The words and signs of a text, without comments, strings and characters.
fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let chars: Vec<char> = text.chars().collect();
    let at = |index: usize| chars.get(index).copied().unwrap_or('\0');
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut here = 0;
    while here < chars.len() {
        let c = at(here);
        if c == '/' && at(here + 1) == '/' {
            while here < chars.len() && at(here) != '\n' {
                here += 1;
            }
        } else if c == '/' && at(here + 1) == '*' {
            while here < chars.len() && !(at(here) == '*' && at(here + 1) == '/') {
                here += 1;
            }
            here += 2;
        } else if c == '"' {
            here += 1;
            while here < chars.len() && at(here) != '"' {
                here += if at(here) == '\\' { 2 } else { 1 };
            }
            here += 1;
        } else if c == 'r' && (at(here + 1) == '"' || at(here + 1) == '#' && at(here + 2) == '"') {
            let guarded = at(here + 1) == '#';
            here += if guarded { 3 } else { 2 };
            while here < chars.len() && !(at(here) == '"' && (!guarded || at(here + 1) == '#')) {
                here += 1;
            }
            here += if guarded { 2 } else { 1 };
        } else if c == '\'' && (at(here + 1) == '\\' || at(here + 2) == '\'') {
            here += if at(here + 1) == '\\' { 3 } else { 2 };
            while here < chars.len() && at(here) != '\'' {
                here += 1;
            }
            here += 1;
        } else if word(c) {
            let start = here;
            while word(at(here)) {
                here += 1;
            }
            found.push(Token::Word(chars[start..here].iter().collect()));
        } else if c == ':' && at(here + 1) == ':' {
            found.push(Token::Of);
            here += 2;
        } else {
            if !c.is_whitespace() {
                found.push(Token::Sign(c));
            }
            here += 1;
        }
    }
    found
}

fn is(token: Option<&Token>, text: &str) -> bool {
    match token {
        Some(Token::Word(word)) => word == text,
        Some(Token::Sign(sign)) => text.chars().eq([*sign]),
        Some(Token::Of) => text == "::",
        None => false,
    }
}

/// Takes out what is compiled for tests only, and tells which child modules are.
fn without_tests(all: Vec<Token>) -> (Vec<Token>, Vec<String>) {
    let mut kept = Vec::new();
    let mut only_tests = Vec::new();
    let mut here = 0;
    let mark = ["#", "[", "cfg", "(", "test", ")", "]"];
    while here < all.len() {
        if !mark.iter().enumerate().all(|(index, text)| is(all.get(here + index), text)) {
            kept.push(all[here].clone());
            here += 1;
            continue;
        }
        here += mark.len();
        let mut depth = 0;
        while here < all.len() {
            if is(all.get(here), "mod")
                && let Some(Token::Word(name)) = all.get(here + 1)
            {
                only_tests.push(name.clone());
            }
            match all[here] {
                Token::Sign('{') => depth += 1,
                Token::Sign('}') => depth -= 1,
                _ => {}
            }
            here += 1;
            let ended = matches!(all[here - 1], Token::Sign('}' | ';'));
            if ended && depth == 0 {
                break;
            }
        }
    }
    (kept, only_tests)
}

/// What one file says.
#[derive(Debug, Default)]
struct Said {
    /// Names that it defines.
    defines: BTreeSet<String>,
    /// Child modules.
    children: BTreeSet<String>,
    /// Names that it imports, and from where.
    imports: BTreeMap<String, Vec<String>>,
    /// Those of them that it hands on: a list, unless it uses them too.
    handed_on: BTreeSet<String>,
    /// All words of its code but those of `use` lines.
    words: BTreeSet<String>,
    /// Paths in its code.
    paths: BTreeSet<Vec<String>>,
}

/// Names before a brace in what a macro is called with, which are those of types that it makes: of
/// `made! { Rw { Read = "read" } }` it is `Rw`.
fn names_given(called_with: &[Token]) -> BTreeSet<String> {
    let (mut depth, mut found) = (0, BTreeSet::new());
    for pair in called_with.windows(2) {
        match (&pair[0], &pair[1]) {
            (Token::Word(name), Token::Sign('{')) if depth == 1 => drop(found.insert(name.clone())),
            (Token::Sign('{'), _) => depth += 1,
            (Token::Sign('}'), _) if depth == 1 => break,
            (Token::Sign('}'), _) => depth -= 1,
            _ => {}
        }
    }
    found
}

/// Reads the tree of a `use` line, from after `use` to its `;`.
fn read_use(tokens: &[Token], here: &mut usize, before: &[String], said: &mut Said) {
    let mut path = before.to_vec();
    while *here < tokens.len() {
        match &tokens[*here] {
            Token::Of => {}
            Token::Word(word) if word == "as" => {
                if let Some(Token::Word(name)) = tokens.get(*here + 1) {
                    said.imports.insert(name.clone(), path.clone());
                }
                *here += 2;
                return;
            }
            Token::Word(word) => path.push(word.clone()),
            Token::Sign('{') => {
                *here += 1;
                while *here < tokens.len() && tokens[*here] != Token::Sign('}') {
                    read_use(tokens, here, &path, said);
                    if tokens.get(*here) == Some(&Token::Sign(',')) {
                        *here += 1;
                    }
                }
                *here += 1;
                return;
            }
            _ => break,
        }
        *here += 1;
    }
    if path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    if let Some(name) = path.last() {
        said.imports.insert(name.clone(), path.clone());
    }
}

/// Words after which a name is defined.
const DEFINES: [&str; 8] = ["struct", "enum", "fn", "trait", "const", "static", "type", "union"];

fn read(tokens: &[Token]) -> Said {
    let mut said = Said::default();
    let (mut here, mut depth) = (0, 0);
    while here < tokens.len() {
        let next = tokens.get(here + 1);
        if let Token::Word(word) = &tokens[here]
            && !(here > 0 && is(tokens.get(here - 1), "mod"))
        {
            said.words.insert(word.clone());
        }
        match &tokens[here] {
            Token::Sign('{') => depth += 1,
            Token::Sign('}') => depth -= 1,
            Token::Word(word) if word == "use" => {
                let public =
                    here > 0 && matches!(&tokens[here - 1], Token::Sign(')') | Token::Word(_));
                here += 1;
                let mut lines = Said::default();
                read_use(tokens, &mut here, &[], &mut lines);
                if public {
                    said.handed_on.extend(lines.imports.keys().cloned());
                }
                said.imports.append(&mut lines.imports);
                continue;
            }
            Token::Word(word) if word == "mod" && depth == 0 => {
                if let Some(Token::Word(name)) = next {
                    said.children.insert(name.clone());
                }
            }
            Token::Word(word) if DEFINES.contains(&word.as_str()) && depth == 0 => {
                if let Some(Token::Word(name)) = next {
                    said.defines.insert(name.clone());
                }
            }
            Token::Word(word) if word == "macro_rules" => {
                if let Some(Token::Word(name)) = tokens.get(here + 2) {
                    said.defines.insert(name.clone());
                }
            }
            Token::Word(_) if depth == 0 && next == Some(&Token::Sign('!')) => {
                said.defines.append(&mut names_given(&tokens[here + 2..]));
            }
            Token::Word(first) if next == Some(&Token::Of) => {
                let mut path = vec![first.clone()];
                while tokens.get(here + 1) == Some(&Token::Of)
                    && let Some(Token::Word(word)) = tokens.get(here + 2)
                {
                    path.push(word.clone());
                    here += 2;
                }
                said.paths.insert(path);
            }
            _ => {}
        }
        here += 1;
    }
    said
}

/// All files by their modules: `crate`, `crate::plan`, `crate::plan::aim`.
struct Files {
    said: BTreeMap<String, Said>,
    path: BTreeMap<String, String>,
}

/// `crate::plan::aim` of `plan/aim.rs`, `crate::plan` of `plan/mod.rs`.
fn module(inside: &str) -> String {
    let inside = inside.trim_end_matches(".rs").trim_end_matches("/mod");
    match inside {
        "lib" => "crate".into(),
        _ => format!("crate::{}", inside.replace('/', "::")),
    }
}

impl Files {
    fn read(all: &[Source]) -> Self {
        let mut files = Self { said: BTreeMap::new(), path: BTreeMap::new() };
        let mut only_tests = Vec::new();
        for source in all.iter().filter(|source| source.path != "src/main.rs") {
            let module = module(&source.inside());
            let (code, tests) = without_tests(tokens(&source.as_one()));
            only_tests.extend(tests.into_iter().map(|name| format!("{module}::{name}")));
            // Rooms of all crates are children of one root.
            let children = files.said.remove(&module).map(|said| said.children);
            let mut said = read(&code);
            said.children.extend(children.unwrap_or_default());
            files.said.insert(module.clone(), said);
            files.path.insert(module, source.path.clone());
        }
        for module in only_tests {
            let below = format!("{module}::");
            files.said.retain(|name, _| *name != module && !name.starts_with(&below));
        }
        files
    }

    /// The module of the file that defines what a path leads to, seen from a module. `None`: it leads
    /// out of this crate, or to a module and nothing in it.
    fn definer(&self, from: &str, path: &[String], depth: u32) -> Option<String> {
        assert!(depth < 50, "{from}: {path:?} leads round and round");
        let (first, rest) = path.split_first()?;
        let said = self.said.get(from)?;
        let parent = || from.rsplit_once("::").map(|(parent, _)| parent);
        match first.as_str() {
            "crate" => self.definer("crate", rest, depth + 1),
            "self" => self.definer(from, rest, depth + 1),
            "super" => self.definer(parent()?, rest, depth + 1),
            name if said.defines.contains(name) => Some(from.into()),
            name if said.children.contains(name) => {
                self.definer(&format!("{from}::{name}"), rest, depth + 1)
            }
            name => {
                let import = said.imports.get(name)?;
                // `use serde::Serialize` of a crate, not of a module of that name here.
                let outside = !matches!(import[0].as_str(), "crate" | "self" | "super")
                    && (import[0] == name || !said.imports.contains_key(&import[0]))
                    && !said.children.contains(&import[0])
                    && !said.defines.contains(&import[0]);
                if outside {
                    return None;
                }
                let whole: Vec<String> = import.iter().chain(rest).cloned().collect();
                self.definer(from, &whole, depth + 1)
            }
        }
    }

    /// Who depends on whom, and for which names.
    fn uses(&self) -> BTreeMap<String, BTreeMap<String, BTreeSet<String>>> {
        let mut uses: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        for (module, said) in &self.said {
            let found = uses.entry(module.clone()).or_default();
            let used = |name: &String| !said.handed_on.contains(name) || said.words.contains(name);
            let imports = said.imports.iter().filter(|(name, _)| used(name)).map(|(_, path)| path);
            for path in imports.chain(&said.paths) {
                if let Some(definer) = self.definer(module, path, 0)
                    && definer != *module
                {
                    found.entry(definer).or_default().insert(path.join("::"));
                }
            }
        }
        uses
    }
}

/// The circles of a graph, each as all that can be reached from and reach each other.
fn circles(uses: &BTreeMap<String, BTreeMap<String, BTreeSet<String>>>) -> Vec<BTreeSet<String>> {
    let reach = |start: &String| {
        let mut found: BTreeSet<&String> = BTreeSet::new();
        let mut open: Vec<&String> = uses.get(start).into_iter().flat_map(BTreeMap::keys).collect();
        while let Some(next) = open.pop() {
            if found.insert(next) {
                open.extend(uses.get(next).into_iter().flat_map(BTreeMap::keys));
            }
        }
        found
    };
    let all: BTreeMap<&String, BTreeSet<&String>> =
        uses.keys().map(|start| (start, reach(start))).collect();
    let mut circles: Vec<BTreeSet<String>> = Vec::new();
    for (start, reached) in all.iter().filter(|(start, reached)| reached.contains(*start)) {
        let circle: BTreeSet<String> = reached
            .iter()
            .filter(|other| all.get(**other).is_some_and(|back| back.contains(*start)))
            .map(|other| (*other).clone())
            .collect();
        if !circles.contains(&circle) {
            circles.push(circle);
        }
    }
    circles
}

#[test]
fn files_do_not_use_each_other_in_circles() {
    let files = Files::read(&code());
    let uses = files.uses();
    let name = |module: &String| files.path[module].clone();
    let mut complaints = Vec::new();
    for circle in circles(&uses) {
        complaints.push(format!("a circle: {:?}", circle.iter().map(name).collect::<Vec<_>>()));
        for module in &circle {
            for (other, paths) in uses[module].iter().filter(|(other, _)| circle.contains(*other)) {
                let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
                let line = format!("{} -> {}: {}", name(module), name(other), paths.join(", "));
                complaints.push(format!("    {line}"));
            }
        }
    }
    settle(&complaints);
}

/// The circles of made-up files.
fn circles_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let sources: Vec<Source> = files
        .iter()
        .map(|(path, text)| Source { path: format!("src/{path}"), text: text.to_string() })
        .collect();
    let found = circles(&Files::read(&sources).uses());
    found.into_iter().map(|circle| circle.into_iter().collect()).collect()
}

#[test]
fn circles_are_found_and_lists_are_none() {
    let list = "pub mod b;\npub mod c;\npub use b::One;\npub use c::{Two, Three as Four};";
    let none: [&[(&str, &str)]; 4] = [
        // By the list of the names: no circle.
        &[
            ("lib.rs", "pub mod a;"),
            ("a/mod.rs", list),
            ("a/b.rs", "use super::Two;\npub struct One(Two);"),
            ("a/c.rs", "pub struct Two;\npub struct Three;"),
        ],
        // Only in a comment, a text, a test.
        &[
            ("lib.rs", "mod a;\nmod b;"),
            ("a.rs", "use crate::b::B;\n// crate::b\npub struct A(B);"),
            (
                "b.rs",
                "/// See crate::a::A.\npub struct B;\nconst C: &str = \"crate::a::A\";\n#[cfg(test)]\nuse crate::a::A;\n#[cfg(test)]\nmod tests { use crate::a::A; }",
            ),
        ],
        // Another crate's name that a module has too.
        &[
            ("lib.rs", "mod a;\nmod io;"),
            ("a.rs", "use std::io;\nuse io::Read;\npub struct A(io::Error);"),
            ("io.rs", "use crate::a::A;\npub struct B(A);"),
        ],
        // A child that uses nothing of its parent.
        &[("lib.rs", "mod a;"), ("a.rs", "mod b;\nfn f() { b::g() }"), ("a/b.rs", "pub fn g() {}")],
    ];
    for files in none {
        assert_eq!(circles_of(files), Vec::<Vec<String>>::new(), "{files:?}");
    }
    let some: [&[(&str, &str)]; 5] = [
        // By a type that a macro makes.
        &[
            ("lib.rs", "mod a;\nmod b;\nmod c;"),
            (
                "a.rs",
                "macro_rules! made { ($($name:ident { $($v:ident)* })*) => { $(pub enum $name { $($v,)* })* } }",
            ),
            ("b.rs", "use crate::c::C;\nmade! { B { One Two } }\nfn f(_: C) {}"),
            ("c.rs", "use crate::b::B;\npub struct C(B);"),
        ],
        // Through the list.
        &[
            ("lib.rs", "pub mod a;"),
            ("a/mod.rs", list),
            ("a/b.rs", "use super::Two;\npub struct One(Two);"),
            ("a/c.rs", "pub struct Two(super::One);\npub struct Three;"),
        ],
        &[
            ("lib.rs", "pub mod a;"),
            ("a/mod.rs", list),
            ("a/b.rs", "use crate::a;\npub struct One(a::Four);"),
            (
                "a/c.rs",
                "use super::b;\npub struct Two;\npub struct Three;\nimpl Three { fn f() -> b::One { g(b'\"') } }",
            ),
        ],
        // A parent with code, and its child.
        &[
            ("lib.rs", "mod a;"),
            ("a.rs", "mod b;\npub struct A;\nfn f() { b::g() }"),
            ("a/b.rs", "use super::A;\npub fn g(_: A) {}"),
        ],
        // By what the parent imports for itself.
        &[
            ("lib.rs", "mod a;\nmod c;"),
            ("a.rs", "mod b;\nuse crate::c::C;\nfn f(_: C) {}"),
            ("a/b.rs", "use super::C;\npub fn g(_: C) {}"),
            ("c.rs", "pub struct C;\nfn g() { crate::a::b::g(C) }"),
        ],
    ];
    for files in some {
        assert_eq!(circles_of(files).len(), 1, "{files:?}");
    }
}
