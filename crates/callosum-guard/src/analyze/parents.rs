//! Numbers of parent processes: which programs print them, and what picks them out of a table.
//!
//! A server that was started with `exec` has the agent's client as its parent. `kill $(ps -o ppid= -p …)` then ends the
//! session. Start with [`printed`].

use super::{
    pid_sources::values,
    value::{Arg, Source},
    wrapper_table::first_operand,
};

/// Returns the source of a command's output, from the sources of its words and its input.
pub(super) fn printed(name: &str, words: &[Arg], mut source: Source) -> Source {
    let all = words.get(1..).unwrap_or_default();
    let column = source.parent_column;
    match name {
        "ps" => {
            source.parent = false;
            match parent_column(all) {
                Some((1, 1)) => source.parent = true,
                Some((column, _)) => source.parent_column = column,
                None => {}
            }
        }
        "awk" | "gawk" | "mawk" => {
            let program = words.get(first_operand(words, 1, "-F -v -f -E"));
            let program = program.map_or("", |word| word.text.as_str());
            let column = if reads_stat(all) { 4 } else { column };
            source.parent |= says_parent(all) || column > 0 && prints(program, column);
            if program.contains("print") {
                source.parent_column = 0;
            }
        }
        "cut" => {
            let mut fields = values(all, "-f").chain(values(all, "--fields"));
            source.parent |= reads_stat(all) && fields.any(|field| field == "4");
        }
        "grep" | "egrep" | "sed" => source.parent |= says_parent(all),
        _ => {}
    }
    source
}

/// Returns the column of `ps` that holds the numbers of parents, counted from 1, and the number of columns if it is given.
fn parent_column(words: &[Arg]) -> Option<(u8, usize)> {
    const FORMATS: [&str; 2] = ["-o", "--format"];
    let given = FORMATS.iter().flat_map(|option| values(words, option));
    // `ps o ppid= 4242`
    let bare = words
        .array_windows()
        .filter(|[option, _]| matches!(option.text.as_str(), "o" | "ho"));
    let given = given.chain(bare.map(|[_, format]| format.text.as_str()));
    let columns: Vec<&str> = given
        .flat_map(|format| format.split([',', ' ']))
        .filter(|column| !column.is_empty())
        .collect();
    if !columns.is_empty() {
        let at = columns
            .iter()
            .position(|column| column.split(['=', ':']).next() == Some("ppid"))?;
        return Some((u8::try_from(at + 1).ok()?, columns.len()));
    }
    // The formats that are named by a letter: `-f`, `-l`, `j`.
    let letters = |word: &Arg| word.text.trim_start_matches('-').to_owned();
    let is_unix = words.iter().any(|word| word.text.starts_with('-'));
    let has = |letter: char| {
        let is_short = |text: &str| text.starts_with('-') && !text.starts_with("--");
        let mut options = words.iter().enumerate();
        options.any(|(at, word)| {
            let is_option = is_short(&word.text) || !is_unix && at == 0;
            is_option && letters(word).contains(letter)
        })
    };
    match () {
        () if has('j') && !is_unix => Some((1, 9)),
        () if has('l') && is_unix => Some((5, 14)),
        () if has('f') && is_unix => Some((3, 8)),
        () => None,
    }
}

/// Returns whether a program of awk prints a column.
fn prints(program: &str, column: u8) -> bool {
    let wanted = format!("${column}");
    program.split("print").skip(1).any(|printed| {
        let printed = printed.split(['}', ';']).next().unwrap_or(printed);
        let mut marks = printed.match_indices(&wanted);
        marks.any(|(at, _)| {
            let behind = printed[at + wanted.len()..].bytes().next();
            !behind.is_some_and(|byte| byte.is_ascii_digit())
        })
    })
}

/// Returns whether the words name the field of `/proc/PID/status` that holds the parent.
fn says_parent(words: &[Arg]) -> bool {
    words.iter().any(|word| word.text.contains("PPid"))
}

/// Returns whether the words name `/proc/PID/stat`, whose fourth field is the parent.
fn reads_stat(words: &[Arg]) -> bool {
    let is_stat = |text: &str| text.starts_with("/proc/") && text.ends_with("/stat");
    words.iter().any(|word| is_stat(&word.text))
}

#[cfg(test)]
mod tests {
    use super::{Arg, Source, printed};

    /// CAKE-SHIM-1: the column that holds the parent is known in each format of `ps`.
    #[test]
    fn the_column_of_the_parent_is_known() {
        for (line, alone, column) in [
            ("ps -o ppid= -p 42", true, 0),
            ("ps -p 42 -oppid", true, 0),
            ("ps o ppid= 42", true, 0),
            ("ps --format=ppid 42", true, 0),
            ("ps -o pid=,ppid= -p 42", false, 2),
            ("ps -o pid= -o comm= -o ppid=", false, 3),
            ("ps -ef", false, 3),
            ("ps -el", false, 5),
            ("ps axj", false, 1),
            ("ps aux", false, 0),
            ("ps -o pid= --ppid 42", false, 0),
            ("ps -o pgid= -p 42", false, 0),
        ] {
            let words: Vec<Arg> = line.split(' ').map(Arg::plain).collect();
            let source = printed("ps", &words, Source::default());
            assert_eq!(
                (source.parent, source.parent_column),
                (alone, column),
                "{line}"
            );
        }
    }
}
