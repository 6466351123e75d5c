//! [`Value`]: value of a setting, and [`Takes`], which reads one and keeps it in range.

use std::{
    ffi::OsStr,
    fmt,
    ops::RangeInclusive,
    os::unix::ffi::OsStrExt as _,
    path::{Component, Path, PathBuf},
};

use serde_json::Value as Json;

/// A value that is in range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A whole number.
    Count(u64),
    /// A number in ten-thousandths.
    Decimal(u64),
    /// On or off.
    Switch(bool),
    /// One of a few words.
    Choice(&'static str),
    /// A place, as it was written: usually seen from the root.
    Path(PathBuf),
}

impl Value {
    /// The value as `.calrc` holds it. A path that is not UTF-8 has no such form.
    pub fn to_json(&self) -> Option<Json> {
        Some(match self {
            Self::Count(count) => (*count).into(),
            Self::Decimal(parts) => (*parts as f64 / PARTS).into(),
            Self::Switch(on) => (*on).into(),
            Self::Choice(word) => (*word).into(),
            Self::Path(path) => path.to_str()?.into(),
        })
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::Decimal(parts) => (*parts as f64 / PARTS).fmt(f),
            Self::Switch(on) => on.fmt(f),
            Self::Choice(word) => word.fmt(f),
            Self::Path(path) => path.display().fmt(f),
        }
    }
}

/// Values that a setting takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A whole number within a range.
    Count(RangeInclusive<u64>),
    /// A number within a range that is given in ten-thousandths.
    Decimal(RangeInclusive<u64>),
    /// `true` or `false`.
    Switch,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A path of a file.
    File,
    /// A path of a folder.
    Folder,
}

impl Takes {
    /// Reads a value in its JSON form in `.calrc`; `None` if it is not allowed.
    pub fn read_json(&self, value: &Json) -> Option<Value> {
        match (self, value) {
            (Self::Count(range), Json::Number(number)) => {
                counted(number.as_u64().filter(|count| range.contains(count)))
            }
            (Self::Decimal(range), Json::Number(number)) => {
                decimal(number.as_f64()?, range).map(Value::Decimal)
            }
            (Self::Switch, Json::Bool(on)) => Some(Value::Switch(*on)),
            (Self::Choice(words), Json::String(text)) => chosen(words, text),
            (Self::File | Self::Folder, Json::String(text)) => self.place(Path::new(text)),
            _ => None,
        }
    }

    /// Reads a value as it is typed, or given in the environment; `None` where it is not allowed.
    pub fn read_text(&self, text: &OsStr) -> Option<Value> {
        match self {
            Self::Count(range) => counted(
                text.to_str()
                    // `parse` would take a sign.
                    .filter(|digits| digits.bytes().all(|byte: u8| byte.is_ascii_digit()))
                    .and_then(|digits| digits.parse().ok())
                    .filter(|count| range.contains(count)),
            ),
            Self::Decimal(range) => text
                .to_str()
                .filter(|digits| digits.bytes().all(|byte| b"0123456789.".contains(&byte)))
                .and_then(|digits| digits.parse().ok())
                .and_then(|number| decimal(number, range))
                .map(Value::Decimal),
            Self::Switch => match text.to_str() {
                Some("true") => Some(Value::Switch(true)),
                Some("false") => Some(Value::Switch(false)),
                _ => None,
            },
            Self::Choice(words) => chosen(words, text.to_str()?),
            Self::File | Self::Folder => self.place(Path::new(text)),
        }
    }

    /// Takes a path that ends in a name, and that no part of leads into a `.git`.
    fn place(&self, path: &Path) -> Option<Value> {
        let bytes = path.as_os_str().as_bytes();
        let is_folder_for_file = *self == Self::File && bytes.ends_with(b"/");
        let ends_in_name = matches!(path.components().next_back(), Some(Component::Normal(_)));
        let is_gits = path.iter().any(|part| part.eq_ignore_ascii_case(".git"));
        // `''`, quoted once more than the shell takes away, means nothing and names a file.
        let is_empty = path.iter().any(|part| {
            let quotes_and_blanks = |byte: &u8| b"'\"\t ".contains(byte);
            part.as_bytes().iter().all(quotes_and_blanks)
        });
        if bytes.contains(&0) || is_folder_for_file || !ends_in_name || is_gits || is_empty {
            return None;
        }
        // Seed CAL §14.2 writes `/cal_audit/` for what §14.3 shows in the project's folder.
        Some(Value::Path(if path == Path::new("/cal_audit") {
            PathBuf::from("cal_audit")
        } else {
            path.to_owned()
        }))
    }
}

/// Parts of one in a decimal number.
const PARTS: f64 = 10_000.0;

/// A number in ten-thousandths, where it is one and in the range.
fn decimal(number: f64, range: &RangeInclusive<u64>) -> Option<u64> {
    let parts = (number * PARTS).round();
    let fits = parts >= 0.0 && parts <= *range.end() as f64;
    fits.then_some(parts as u64)
        .filter(|parts| range.contains(parts))
}

fn chosen(words: &[&'static str], text: &str) -> Option<Value> {
    words
        .iter()
        .find(|word| **word == text)
        .map(|word| Value::Choice(word))
}

fn counted(count: Option<u64>) -> Option<Value> {
    count.map(Value::Count)
}

impl fmt::Display for Takes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(range) => {
                write!(
                    f,
                    "a whole number from {} to {}",
                    range.start(),
                    range.end()
                )
            }
            Self::Decimal(range) => write!(
                f,
                "a number from {} to {}",
                Value::Decimal(*range.start()),
                Value::Decimal(*range.end())
            ),
            Self::Switch => f.write_str("true or false"),
            Self::Choice(words) => f.write_str(&words.join(" or ")),
            Self::File => f.write_str("the path of a file, not in .git"),
            Self::Folder => f.write_str("the path of a folder, not in .git"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(takes: &Takes, json: Json, text: &str, read: Option<Value>) {
        assert_eq!(takes.read_json(&json), read, "{json}");
        assert_eq!(takes.read_text(OsStr::new(text)), read, "{text}");
    }

    /// CAL-CFG-1
    #[test]
    fn a_number_is_whole_and_within_its_range() {
        let takes = Takes::Count(3..=12);
        check(&takes, json!(3), "3", Some(Value::Count(3)));
        check(&takes, json!(12), "12", Some(Value::Count(12)));
        check(&takes, json!(2), "2", None);
        check(&takes, json!(13), "13", None);
        check(&takes, json!(-5), "-5", None);
        check(&takes, json!(5.0), "5.0", None);
        check(&takes, json!("5"), "+5", None);
        check(&takes, json!(1e300), "99999999999999999999999", None);
        check(&takes, json!(null), "", None);
    }

    #[test]
    fn a_decimal_is_read_to_the_ten_thousandth() {
        let takes = Takes::Decimal(0..=10_000);
        check(&takes, json!(0.95), "0.95", Some(Value::Decimal(9_500)));
        check(&takes, json!(1), "1", Some(Value::Decimal(10_000)));
        check(&takes, json!(1.1), "1.1", None);
        check(&takes, json!(-0.1), "-0.1", None);
        check(&takes, json!("1"), "1e0", None);
        check(&takes, json!(null), "NaN", None);
        assert_eq!(Value::Decimal(9_500).to_string(), "0.95");
    }

    #[test]
    fn a_switch_is_true_or_false_and_nothing_like_it() {
        check(
            &Takes::Switch,
            json!(true),
            "true",
            Some(Value::Switch(true)),
        );
        check(&Takes::Switch, json!(1), "1", None);
        check(&Takes::Switch, json!("yes"), "yes", None);
    }

    #[test]
    fn a_choice_is_one_of_its_words() {
        let takes = Takes::Choice(&["none", "gzip"]);
        check(&takes, json!("gzip"), "gzip", Some(Value::Choice("gzip")));
        check(&takes, json!("GZIP"), "GZIP", None);
        check(&takes, json!(true), "", None);
    }

    /// CAL-CFG-1: the seed's leading slash means the project's folder; other absolute paths are
    /// what they say.
    #[test]
    fn the_seeds_audit_folder_is_one_of_the_project() {
        let is = |path: &str| Some(Value::Path(PathBuf::from(path)));
        check(
            &Takes::Folder,
            json!("/cal_audit/"),
            "/cal_audit",
            is("cal_audit"),
        );
        check(
            &Takes::Folder,
            json!("/var/cal/"),
            "/var/cal/",
            is("/var/cal/"),
        );
        check(
            &Takes::File,
            json!("sub/l.json"),
            "sub/l.json",
            is("sub/l.json"),
        );
    }

    #[test]
    fn a_path_names_something_outside_of_git() {
        for path in [
            "",
            "/",
            ".",
            "..",
            "a/..",
            "a\0b",
            ".git/config",
            "sub/.GIT/hooks/x",
            "''",
            "\"\"",
            "sub/' '",
        ] {
            check(&Takes::Folder, json!(path), path, None);
        }
        check(&Takes::File, json!("folder/"), "folder/", None);
    }
}
