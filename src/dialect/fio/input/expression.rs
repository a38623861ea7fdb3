//! Arithmetic in a value: `(2*8k)`. fio has it in some builds only; the rules are those of its grammar.

/// What a number without a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Implied {
    /// Bytes, or anything that is counted; `m` is mega.
    Bytes,
    /// Seconds; `m` is minutes, and the result is in microseconds.
    Seconds,
    /// Microseconds; `m` is minutes.
    Microseconds,
}

/// How deep brackets may be nested.
const DEEPEST: u32 = 64;

/// A number, whole as long as nothing with a fraction came near it.
#[derive(Clone, Copy, Debug)]
struct Arithmetic {
    whole: i64,
    real: f64,
    fraction: bool,
}

impl Arithmetic {
    fn whole(whole: i64) -> Self {
        Self { whole, real: whole as f64, fraction: false }
    }

    fn real(real: f64) -> Self {
        Self { whole: real as i64, real, fraction: true }
    }

    /// Both, by the rule for whole numbers where both are whole.
    fn with(
        self,
        other: Self,
        whole: fn(i64, i64) -> Option<i64>,
        real: fn(f64, f64) -> f64,
    ) -> Option<Self> {
        match self.fraction || other.fraction {
            true => Some(Self::real(real(self.real, other.real))),
            false => whole(self.whole, other.whole).map(Self::whole),
        }
    }
}

/// What an expression in brackets comes to; none where the text is none.
pub fn of(text: &str, implied: Implied) -> Option<i64> {
    if !text.starts_with('(') {
        return None;
    }
    // What follows a colon, a comma or a hash is not part of it.
    let end = text.find([':', ',', '#']).unwrap_or(text.len());
    let mut reader = Expression { rest: &text[..end], implied, units: false, depth: 0 };
    let result = reader.sum(0)?;
    reader.blanks();
    if !reader.rest.is_empty() || !result.real.is_finite() {
        return None;
    }
    match implied {
        Implied::Seconds if !reader.units => Arithmetic::whole(1_000_000)
            .with(result, i64::checked_mul, |a, b| a * b)
            .map(|result| result.whole),
        _ => Some(result.whole),
    }
}

/// What plain arithmetic of whole numbers comes to, as `bc` computes it for a value with a keyword in it.
pub fn plain(text: &str) -> Option<i64> {
    of(&format!("({text})"), Implied::Bytes)
}

/// A text that is being read.
struct Expression<'t> {
    rest: &'t str,
    implied: Implied,
    units: bool,
    depth: u32,
}

impl Expression<'_> {
    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    /// Everything that binds more tightly than `least`: 1 sums, 2 suffixes, 3 products, 4 powers, 5 rests.
    fn sum(&mut self, least: u32) -> Option<Arithmetic> {
        let mut left = self.operand()?;
        loop {
            self.blanks();
            let Some(sign) = self.rest.chars().next() else { return Some(left) };
            let binds = match sign {
                '+' | '-' => 1,
                '*' | '/' => 3,
                '^' => 4,
                '%' => 5,
                _ if sign.is_ascii_alphabetic() => 2,
                _ => return Some(left),
            };
            if binds <= least {
                return Some(left);
            }
            if binds == 2 {
                let unit = self.unit()?;
                left = left.with(unit, i64::checked_mul, |a, b| a * b)?;
                continue;
            }
            self.rest = &self.rest[1..];
            // Powers are taken from the right.
            let right = self.sum(if binds == 4 { 3 } else { binds })?;
            left = match sign {
                '+' => left.with(right, i64::checked_add, |a, b| a + b),
                '-' => left.with(right, i64::checked_sub, |a, b| a - b),
                '*' => left.with(right, i64::checked_mul, |a, b| a * b),
                '/' => left.with(right, i64::checked_div, |a, b| a / b),
                '%' => left.with(right, i64::checked_rem, |a, b| a % b),
                _ => left.with(right, power, f64::powf),
            }?;
        }
    }

    /// A number, something in brackets, or the negative of one.
    fn operand(&mut self) -> Option<Arithmetic> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        self.blanks();
        let operand = match self.rest.chars().next()? {
            '-' => {
                self.rest = &self.rest[1..];
                let minus = self.operand()?;
                Arithmetic::whole(0).with(minus, i64::checked_sub, |a, b| a - b)
            }
            '(' => {
                self.rest = &self.rest[1..];
                let inner = self.sum(0)?;
                self.blanks();
                self.rest = self.rest.strip_prefix(')')?;
                Some(inner)
            }
            _ => self.number(),
        };
        self.depth -= 1;
        operand
    }

    fn number(&mut self) -> Option<Arithmetic> {
        if let Some(hexadecimal) = self.rest.strip_prefix("0x") {
            let end =
                hexadecimal.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hexadecimal.len());
            let value = i64::from_str_radix(&hexadecimal[..end], 16).ok()?;
            self.rest = &hexadecimal[end..];
            return Some(Arithmetic::whole(value));
        }
        let end =
            self.rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        match digits.contains('.') {
            true => digits.parse().ok().map(Arithmetic::real),
            false => digits.parse().ok().map(Arithmetic::whole),
        }
    }

    /// A unit, as what it multiplies by.
    fn unit(&mut self) -> Option<Arithmetic> {
        let end = self.rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        let minutes = self.implied != Implied::Bytes;
        let times = match word.to_ascii_lowercase().as_str() {
            "k" | "kb" => 1 << 10,
            "m" if minutes => 60_000_000,
            "m" | "mb" => 1 << 20,
            "g" | "gb" => 1 << 30,
            "t" | "tb" => 1 << 40,
            "p" | "pb" => 1 << 50,
            "kib" => 1000,
            "mib" => 1_000_000,
            "gib" => 1_000_000_000,
            "tib" => 1_000_000_000_000,
            "pib" => 1_000_000_000_000_000,
            "us" => 1,
            "ms" => 1000,
            "s" => 1_000_000,
            "h" => 3_600_000_000,
            "d" => 86_400_000_000,
            _ => return None,
        };
        self.units = true;
        self.rest = rest;
        Some(Arithmetic::whole(times))
    }
}

/// A power of whole numbers; one that is below 1 has no whole part.
fn power(base: i64, exponent: i64) -> Option<i64> {
    match u32::try_from(exponent) {
        Ok(exponent) => base.checked_pow(exponent),
        Err(_) => Some((base as f64).powf(exponent as f64) as i64),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn arithmetic_is_done_by_the_grammar_of_fio() {
        let table: &[(&str, Implied, i64)] = &[
            ("(2*8k)", Implied::Bytes, 16384),
            ("(8k + 4k)", Implied::Bytes, 12288),
            ("(1+2*3)", Implied::Bytes, 7),
            ("((1+2)*3)", Implied::Bytes, 9),
            ("(2^3^2)", Implied::Bytes, 512),
            ("(7%4)", Implied::Bytes, 3),
            ("(7/2)", Implied::Bytes, 3),
            ("(7.0/2*2)", Implied::Bytes, 7),
            ("(-4+6)", Implied::Bytes, 2),
            ("(0x10*2)", Implied::Bytes, 32),
            ("(1m)", Implied::Bytes, 1 << 20),
            ("(1m)", Implied::Seconds, 60_000_000),
            ("(2*30)", Implied::Seconds, 60_000_000),
            ("(1m + 500ms)", Implied::Seconds, 60_500_000),
            ("(100)", Implied::Microseconds, 100),
            ("(1.5s)", Implied::Seconds, 1_500_000),
        ];
        for (text, implied, expected) in table {
            assert_eq!(of(text, *implied), Some(*expected), "{text}");
        }
        for text in ["8k", "(8k", "(1/0)", "(1%0)", "()", "(2*8q)", "(9999999999p)", "(1))"] {
            assert_eq!(of(text, Implied::Bytes), None, "{text}");
        }
        assert_eq!(plain("2*4096"), Some(8192));
        assert_eq!(plain("2*"), None);
        assert_eq!(of(&"(".repeat(100_000), Implied::Bytes), None);
    }

    proptest! {
        #[test]
        fn no_text_is_too_much(text in "[-0-9a-z()+*/%^. ]{0,60}") {
            let _ = (of(&format!("({text})"), Implied::Bytes), plain(&text));
        }
    }
}
