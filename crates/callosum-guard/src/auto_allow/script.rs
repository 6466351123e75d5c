//! Scripts of `sed`, `awk` and `jq`, and expressions of `find`, that only read.

use super::{AllowRefusal, refused_word};

/// Returns whether a script of `sed` prints, deletes, replaces or ends, and does nothing else: no `w`, `r` or `e`.
pub(super) fn sed_is_plain(script: &str) -> bool {
    let mut rest = script.trim_start_matches([' ', '\n', ';']);
    while !rest.is_empty() {
        let Some(next) = sed_command(rest) else {
            return false;
        };
        rest = next.trim_start_matches([' ', '\n', ';', '}']);
    }
    true
}

/// Passes over one command of `sed`. `None` if it is not a plain one.
fn sed_command(text: &str) -> Option<&str> {
    let rest = address(text)?;
    let rest = match rest.trim_start().strip_prefix(',') {
        Some(second) => address(second.trim_start().trim_start_matches(['+', '~']))?,
        None => rest,
    };
    let rest = rest.trim_start().trim_start_matches('!').trim_start();
    let mut letters = rest.chars();
    let command = letters.next()?;
    let rest = letters.as_str();
    let rest = match command {
        '{' => return Some(rest),
        'p' | 'd' | 'P' | 'D' | 'n' | 'N' | 'h' | 'H' | 'g' | 'G' | 'x' | '=' => rest,
        'q' | 'Q' => {
            rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ' ')
        }
        's' => {
            let delimiter = rest.chars().next()?;
            if delimiter.is_alphanumeric()
                || matches!(delimiter, '\\' | '\n' | ' ' | '[' | ';' | '}')
            {
                return None;
            }
            let rest = part(&rest[delimiter.len_utf8()..], delimiter, true)?;
            let rest = part(rest, delimiter, false)?;
            rest.trim_start_matches(|letter: char| {
                letter.is_ascii_digit() || "gpiI".contains(letter)
            })
        }
        _ => return None,
    };
    let rest = rest.trim_start_matches(' ');
    (rest.is_empty() || rest.starts_with([';', '\n', '}'])).then_some(rest)
}

/// Passes over an address, if there is one.
fn address(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix('$') {
        return Some(rest);
    }
    if let Some(rest) = text.strip_prefix('/') {
        let rest = part(rest, '/', true)?;
        return Some(rest.trim_start_matches(['I', 'M']));
    }
    let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    Some(rest.strip_prefix('~').map_or(rest, |step| {
        step.trim_start_matches(|letter: char| letter.is_ascii_digit())
    }))
}

/// Passes over text up to a delimiter. `None` if it has no end, or if versions of `sed` may see the end elsewhere, as
/// with a delimiter within brackets.
fn part(text: &str, delimiter: char, is_pattern: bool) -> Option<&str> {
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => {
                letters.next()?;
            }
            '[' if is_pattern => {
                // A bracket right at the beginning is a member.
                let inner = &text[at + 1..];
                let first = inner.trim_start_matches('^');
                let skipped = inner.len() - first.len() + usize::from(first.starts_with(']'));
                let end = inner.get(skipped..)?.find(']')? + skipped;
                let inner = &inner[..end];
                if inner.contains(delimiter) || inner.contains(['[', '\\', '\n']) {
                    return None;
                }
                for _ in inner.chars() {
                    letters.next();
                }
                letters.next();
            }
            letter if letter == delimiter => return Some(&text[at + letter.len_utf8()..]),
            _ => {}
        }
    }
    None
}

/// Returns whether a program of `awk` starts no other, writes no file, and reads none but its operands.
pub(super) fn awk_is_plain(program: &str) -> bool {
    const NOT_PLAIN: [&str; 12] = [
        "system", "getline", "|", ">", "<(", "@", "ENVIRON", "ARG", "PROCINFO", "SYMTAB",
        "FUNCTAB", "\\\n",
    ];
    !NOT_PLAIN.iter().any(|word| program.contains(word))
}

/// Returns whether a filter of `jq` reads neither the environment nor other files.
pub(super) fn jq_is_plain(filter: &str) -> bool {
    const NOT_PLAIN: [&str; 5] = ["$ENV", "import", "include", "input_filename", "$__prog"];
    if NOT_PLAIN.iter().any(|word| filter.contains(word)) {
        return false;
    }
    // `.env` is a field, `env` all variables.
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    filter.match_indices("env").all(|(at, _)| {
        let before = filter[..at].chars().next_back();
        let after = filter[at + 3..].chars().next();
        before.is_some_and(|letter| letter == '.' || is_letter(letter))
            || after.is_some_and(is_letter)
    })
}

/// Tests and actions of `find` without a value.
const FIND_FLAGS: [&str; 27] = [
    "!",
    "(",
    ")",
    "-a",
    "-and",
    "-daystart",
    "-depth",
    "-empty",
    "-executable",
    "-false",
    "-ls",
    "-mount",
    "-not",
    "-nouser",
    "-nogroup",
    "-noleaf",
    "-o",
    "-or",
    "-print",
    "-print0",
    "-prune",
    "-quit",
    "-readable",
    "-true",
    "-writable",
    "-xdev",
    ",",
];

/// Tests and actions of `find` with a value that names no file to read or write.
const FIND_VALUES: [&str; 30] = [
    "-amin",
    "-atime",
    "-cmin",
    "-ctime",
    "-gid",
    "-group",
    "-iname",
    "-inum",
    "-ipath",
    "-iregex",
    "-iwholename",
    "-links",
    "-maxdepth",
    "-mindepth",
    "-mmin",
    "-mtime",
    "-name",
    "-newermt",
    "-path",
    "-perm",
    "-printf",
    "-regex",
    "-regextype",
    "-size",
    "-type",
    "-uid",
    "-used",
    "-user",
    "-wholename",
    "-xtype",
];

/// Returns the folders that a `find` starts in, if all it does is list.
pub(super) fn find_is_plain(words: &[String]) -> Result<Vec<&str>, AllowRefusal> {
    let mut rest = words.iter().skip(1).peekable();
    let mut starts = Vec::new();
    while let Some(word) = rest.next_if(|word| !word.starts_with(['-', '(', '!', ','])) {
        starts.push(word.as_str());
    }
    while let Some(word) = rest.next() {
        let is_flag = FIND_FLAGS.contains(&word.as_str());
        let is_value = FIND_VALUES.contains(&word.as_str()) && rest.next().is_some();
        if !is_flag && !is_value {
            return Err(refused_word(words, Some(word)));
        }
    }
    Ok(starts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_of_sed_that_only_print_are_plain() {
        for script in [
            "1,20p",
            "$p",
            "/^fn/,/^}/p",
            "s/a/b/g",
            "s|a/b|c|; 5q",
            "/x/!d",
            "1!G;h;$!d",
            "/a/{p;q}",
            "s/[^/]*x//;p",
            "10,+5p",
            "0~2p",
        ] {
            // A delimiter within brackets is read in more than one way.
            assert_eq!(sed_is_plain(script), script != "s/[^/]*x//;p", "{script}");
        }
        for script in [
            "w x",
            "1w x",
            "s/a/b/w x",
            "s/a/b/e",
            "e",
            "1e id",
            "r /etc/shadow",
            "p;w x",
            "p\nw x",
            "s/a/b/ge",
            "s/[/]/e;p/",
            "s,a,b,;e id",
            "y/a/b/",
            "R x",
            "W x",
            "a x",
            "/a/{e id\n}",
            "s/a",
        ] {
            assert!(!sed_is_plain(script), "{script}");
        }
    }

    #[test]
    fn programs_of_awk_and_filters_of_jq_that_reach_further_are_not_plain() {
        assert!(awk_is_plain("{print $1, $NF}") && awk_is_plain("NR==5 {print; exit}"));
        for program in [
            "{system(\"id\")}",
            "{print > \"x\"}",
            "{print | \"sh\"}",
            "{while ((getline x < \"/etc/shadow\")) print x}",
            "BEGIN{ARGV[1]=\"/etc/shadow\"}",
            "BEGIN{print ENVIRON[\"KEY\"]}",
            "@load \"x\"",
        ] {
            assert!(!awk_is_plain(program), "{program}");
        }
        assert!(jq_is_plain(".a.env | keys") && jq_is_plain(".environment"));
        for filter in ["env", "$ENV", "[env]", ".a|env.KEY", "import \"a\" as a; ."] {
            assert!(!jq_is_plain(filter), "{filter}");
        }
    }

    #[test]
    fn a_find_that_runs_or_writes_is_not_plain() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for line in [
            "find . -name *.rs -type f",
            "find src ( -name a -o -name b ) -print",
        ] {
            assert!(find_is_plain(&words(line)).is_ok(), "{line}");
        }
        for line in [
            "find . -delete",
            "find . -exec rm {} ;",
            "find . -fprint x",
            "find . -fls x",
            "find . -ok rm {} ;",
            "find -L . -name x",
            "find . -files0-from x",
            "find . -newer /etc/shadow",
        ] {
            assert!(find_is_plain(&words(line)).is_err(), "{line}");
        }
    }
}
