//! Files that a program writes with what it fetches from the network: `curl`, `wget`, `aria2c`.

use crate::analyze::{value::Arg, wrapper_table::takes_next};

/// Options by which one of them names the files that it writes.
struct Fetcher {
    names: &'static [&'static str],
    /// Options that take the next word.
    takes: &'static str,
    /// Of these, the ones that name a file of what was fetched.
    file: &'static [&'static str],
    /// Those that name the folder.
    folder: &'static [&'static str],
    /// Those that name a file for something else: heads, cookies, a log.
    beside: &'static [&'static str],
    /// Options by which a file takes the name of its address; empty if it always does.
    named: &'static [&'static str],
}

const FETCHERS: [Fetcher; 4] = [
    Fetcher {
        names: &["curl"],
        takes: "-o -H -d -X -u -A -e -T -F -b -c -D -E -K -m -w -x -r -Y -y -z -C -P -Q -t -U --output --header --data --data-raw --data-binary --data-urlencode --request --user --user-agent --referer --upload-file --form --cookie --cookie-jar --dump-header --cert --key --cacert --config --max-time --connect-timeout --retry --retry-delay --retry-max-time --write-out --proxy --range --url --output-dir --resolve --limit-rate --oauth2-bearer --etag-save --etag-compare --trace --trace-ascii --stderr --json --interface --unix-socket",
        file: &["-o", "--output"],
        folder: &["--output-dir"],
        beside: &[
            "-D",
            "--dump-header",
            "-c",
            "--cookie-jar",
            "--etag-save",
            "--trace",
            "--trace-ascii",
            "--stderr",
        ],
        named: &["-O", "--remote-name", "--remote-name-all"],
    },
    Fetcher {
        names: &["wget", "wget2"],
        takes: "-O -o -a -P -e -i -B -t -T -w -Q -U -l -A -R -D -I -X --output-document --output-file --append-output --directory-prefix --execute --input-file --base --tries --timeout --wait --user-agent --header --post-data --post-file --user --password --level --save-cookies --load-cookies --accept --reject --cut-dirs --method --body-data --limit-rate",
        file: &["-O", "--output-document"],
        folder: &["-P", "--directory-prefix"],
        beside: &[
            "-o",
            "--output-file",
            "-a",
            "--append-output",
            "--save-cookies",
        ],
        named: &[],
    },
    Fetcher {
        names: &["aria2c"],
        takes: "-o -d -i -l -x -s -j -k --out --dir --input-file --log --max-connection-per-server --split --header",
        file: &["-o", "--out"],
        folder: &["-d", "--dir"],
        beside: &["-l", "--log"],
        named: &[],
    },
    Fetcher {
        names: &["http", "https", "xh", "xhs"],
        takes: "-o -a --output --auth --auth-type --session --timeout --proxy",
        file: &["-o", "--output"],
        folder: &[],
        beside: &[],
        named: &["-d", "--download"],
    },
];

/// The files that such a program writes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Fetched {
    /// Those that hold what came from the network.
    pub(crate) files: Vec<String>,
    /// The others.
    pub(crate) beside: Vec<String>,
}

/// Returns the files that a command writes by fetching; `None` if it does not fetch.
pub(crate) fn fetched(name: &str, words: &[Arg]) -> Option<Fetched> {
    let fetcher = FETCHERS
        .iter()
        .find(|fetcher| fetcher.names.contains(&name))?;
    let mut found = Fetched::default();
    let mut folder = "";
    let mut addresses = Vec::new();
    let mut by_address = fetcher.named.is_empty();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        let text = word.text.as_str();
        if !text.starts_with('-') || text == "-" {
            addresses.push(text);
            continue;
        }
        let (option, value) = option(text, fetcher.takes);
        let value = match value {
            None if takes_next(text, fetcher.takes) => {
                at += 1;
                words.get(at - 1).map(|word| word.text.as_str())
            }
            value => value,
        };
        let is = |options: &[&str]| options.contains(&option.as_str());
        match value.filter(|value| !matches!(*value, "-" | "")) {
            Some(value) if is(fetcher.file) => found.files.push(value.to_owned()),
            Some(value) if is(fetcher.folder) => folder = value,
            Some(value) if is(fetcher.beside) => found.beside.push(value.to_owned()),
            Some(value) if option == "--url" => addresses.push(value),
            _ => {}
        }
        by_address |= fetcher.named.iter().any(|named| {
            *named == text
                || !text.starts_with("--") && named.len() == 2 && text.contains(&named[1..])
        });
    }
    let to_stdout = words
        .windows(2)
        .any(|pair| pair[0].text.ends_with('O') && pair[1].text == "-")
        || words
            .iter()
            .any(|word| word.text.starts_with('-') && word.text.ends_with("O-"));
    if found.files.is_empty() && by_address && !to_stdout {
        let names = addresses.iter().filter_map(|address| {
            let path = address.split(['?', '#']).next()?;
            let path = path.split_once("://").map_or(path, |(_, path)| path);
            let (_, last) = path.rsplit_once('/')?;
            Some(last.to_owned()).filter(|last| !last.is_empty())
        });
        found.files = names.collect();
    }
    if !folder.is_empty() {
        let folder = folder.trim_end_matches('/');
        let within = |file: &String| {
            let is_bare = !file.starts_with('/') && !file.starts_with("./");
            if is_bare {
                format!("{folder}/{file}")
            } else {
                file.clone()
            }
        };
        found.files = found.files.iter().map(within).collect();
        if found.files.is_empty() && !addresses.is_empty() {
            found.files.push(format!("{folder}/"));
        }
    }
    Some(found)
}

/// Returns an option's name and the value in the same word.
fn option<'a>(text: &'a str, takes: &str) -> (String, Option<&'a str>) {
    if text.starts_with("--") {
        return match text.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value)),
            None => (text.to_owned(), None),
        };
    }
    let letters = text.char_indices().skip(1);
    for (at, letter) in letters {
        let short = format!("-{letter}");
        if takes.split(' ').any(|one| one == short) {
            let behind = &text[at + letter.len_utf8()..];
            return (short, Some(behind).filter(|behind| !behind.is_empty()));
        }
    }
    (text.to_owned(), None)
}

#[cfg(test)]
mod tests {
    use super::fetched;
    use crate::analyze::value::Arg;

    /// CAKE-SHIM-1: the destination of a download is read as the program reads it.
    #[test]
    fn downloads_are_found_where_they_are_put() {
        for (line, files, beside) in [
            ("curl -O http://x.io/a.sh", "a.sh", ""),
            ("curl -fsSLO http://x.io/a.sh?x=1", "a.sh", ""),
            ("curl -Lo a http://x.io/b", "a", ""),
            ("curl --output-dir d -O http://x.io/b", "d/b", ""),
            ("curl --output-dir d -o a http://x.io/b", "d/a", ""),
            ("curl -s http://x.io/b", "", ""),
            ("curl -D h -c=j http://x.io/b", "", "h =j"),
            ("curl -o a -o b http://x.io/{1,2}", "a b", ""),
            ("wget http://x.io/a.sh", "a.sh", ""),
            ("wget -P d http://x.io/a", "d/a", ""),
            ("wget -qO- http://x.io/a", "", ""),
            ("wget -qO - http://x.io/a", "", ""),
            ("wget -O a http://x.io/b", "a", ""),
            ("wget --directory-prefix=d x.io", "d/", ""),
            ("wget -o log http://x.io/b", "b", "log"),
            ("aria2c -d d -o a http://x.io/b", "d/a", ""),
            ("http --download -o a x.io/b", "a", ""),
            ("http x.io/b", "", ""),
        ] {
            let words: Vec<Arg> = line.split(' ').map(Arg::plain).collect();
            let found = fetched(&words[0].text, &words[1..]).unwrap();
            assert_eq!(
                (found.files.join(" "), found.beside.join(" ")),
                (files.to_owned(), beside.to_owned()),
                "{line}"
            );
        }
        assert_eq!(fetched("cat", &[]), None);
    }
}
