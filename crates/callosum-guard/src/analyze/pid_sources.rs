//! Numbers of processes: which programs print those of everybody, or all of one kind, and what picks some out of them.

use super::{
    line_filters::{picks_out, wanted_by_awk},
    value::{Arg, Source},
    wrapper_table::{first_operand, operands, takes_next},
};
use crate::process_names::is_of_many;

/// Whether a program prints the processes of everybody, or of a user.
pub(super) fn tells_all(name: &str, words: &[Arg]) -> bool {
    let words = words.get(1..).unwrap_or_default();
    let is_picked = |word: &Arg| {
        ["-p", "--pid", "-C", "--ppid", "-t", "--tty", "-q"]
            .iter()
            .any(|option| word.text.starts_with(option))
            || word.text.bytes().all(|b| b.is_ascii_digit())
    };
    match name {
        "ps" => !words.iter().any(is_picked),
        "lsof" => !picked_by_lsof(words),
        "Get-Process" => words.is_empty(),
        "tasklist" | "top" => true,
        _ => false,
    }
}

/// Whether `lsof` has a file, a port or something else by which it picks processes. `-i` or the
/// name of a protocol picks all that listen or have any connection, and selecting by user picks all
/// of that user's.
fn picked_by_lsof(words: &[Arg]) -> bool {
    /// Letters by which it only prints otherwise.
    const PRINTS: &str = "nPwblOVRNUt";
    /// The same with a value, and those by which it prints a connection's state.
    const TAKES: [char; 5] = ['F', 'T', 'r', 'S', 's'];
    let says_protocol = |text: &str| {
        let text = text.trim_start_matches(['4', '6']);
        matches!(
            text.to_ascii_lowercase().as_str(),
            "" | "tcp" | "udp" | "4" | "6"
        )
    };
    let mut rest = words.iter().map(|word| word.text.as_str()).peekable();
    while let Some(word) = rest.next() {
        let Some(letters) = word.strip_prefix('-') else {
            return true;
        };
        for (at, letter) in letters.char_indices() {
            let value = &letters[at + letter.len_utf8()..];
            if letter == 'i' {
                if !says_protocol(value) {
                    return true;
                }
                rest.next_if(|next| value.is_empty() && says_protocol(next));
                break;
            }
            if letter == 'u' {
                rest.next_if(|_| value.is_empty());
                break;
            }
            if TAKES.contains(&letter) {
                break;
            }
            if !PRINTS.contains(letter) {
                return true;
            }
        }
    }
    false
}

/// Whether what a program prints are the processes of a kind that much else runs as, all of them.
pub(super) fn of_kind(name: &str, words: &[Arg], flowing: Source) -> bool {
    let all = words.get(1..).unwrap_or_default();
    match name {
        "pgrep" => found_by_pgrep(all),
        "pidof" => operands(all, "-o -S -d").any(|word| is_of_many(&word.text)),
        "ps" => values(all, "-C").any(is_of_many),
        // Without `-a` one of what is asked for is enough.
        "lsof" => {
            let joins = all.iter().any(|word| word.text == "-a");
            !joins && values(all, "-c").any(|value| is_of_many(value.trim_matches('/')))
        }
        "Get-Process" => operands(all, "").any(|word| is_of_many(&word.text)),
        "jps" => all.iter().all(|word| word.text.starts_with('-')),
        _ if picks_out(name, words) => {
            (flowing.of_kind || flowing.of_user) && picks_a_kind(name, words)
        }
        _ => flowing.of_kind,
    }
}

/// Whether `pgrep` looks for nothing but such a name. Those of one parent and the newest were picked; those of a user are
/// all that this user may end.
fn found_by_pgrep(words: &[Arg]) -> bool {
    const TAKES: &str = "-u -U -g -G -P -s -t -d -F -r -A --euid --uid --group --pgroup --parent --session --terminal --delimiter --pidfile --ns --nslist --signal --runstates --cgroup --env";
    const PICKS: [&str; 4] = ["--parent", "--pidfile", "--newest", "--inverse"];
    let picks = words.iter().any(|word| {
        let text = word.text.as_str();
        match text.strip_prefix('-') {
            Some(long) if long.starts_with('-') => {
                PICKS.contains(&text.split('=').next().unwrap_or(text))
            }
            Some(letters) => letters.contains(['P', 'F', 'n', 'v']),
            None => false,
        }
    });
    !picks && operands(words, TAKES).any(|word| is_of_many(&word.text))
}

/// Whether all that a filter asks of a line is such a name.
fn picks_a_kind(name: &str, words: &[Arg]) -> bool {
    match name {
        "awk" | "gawk" | "mawk" => {
            let program = words.get(first_operand(words, 1, "-F -v -f -E"));
            let program = program.map_or("", |word| word.text.as_str());
            let condition = program.split('{').next().unwrap_or(program);
            let wanted = wanted_by_awk(condition);
            if condition.contains("||") {
                wanted.iter().any(|text| is_of_many(text))
            } else {
                !wanted.is_empty() && wanted.iter().all(|text| is_of_many(text))
            }
        }
        "sed" | "gsed" => {
            let program = words.get(first_operand(words, 1, "-E"));
            let program = program.map_or("", |word| word.text.as_str());
            program.split('/').nth(1).is_some_and(is_of_many)
        }
        _ => {
            const TAKES: &str = "-e -f -m -A -B -C --regexp --file --max-count";
            let mut given = values(words, "-e")
                .chain(values(words, "--regexp"))
                .peekable();
            if given.peek().is_some() {
                return given.any(is_of_many);
            }
            let pattern = words.get(first_operand(words, 1, TAKES));
            pattern.is_some_and(|pattern| is_of_many(&pattern.text))
        }
    }
}

/// Lists the values of an option: as their own word, joined to it, or behind other letters.
pub(super) fn values<'w>(words: &'w [Arg], option: &'w str) -> impl Iterator<Item = &'w str> {
    words.iter().enumerate().filter_map(move |(at, word)| {
        let text = word.text.as_str();
        if let Some(joined) = text.strip_prefix(option)
            && !joined.is_empty()
        {
            return Some(joined.trim_start_matches('='));
        }
        let is_it = text.starts_with('-') && takes_next(text, option);
        let next = words.get(at + 1).filter(|_| is_it);
        next.map(|next| next.text.as_str())
    })
}
