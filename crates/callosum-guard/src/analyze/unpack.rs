//! [`Unpacked`]: the files that a command unpacks from an archive. The contents of the archive are not known here.

use super::{call::Call, subject::Subject, value::is_known};
use crate::{facts::Facts, path};

/// An archive that is taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unpacked {
    /// The folders that its files go to, or the files, if they are named.
    pub(crate) within: Vec<String>,
    /// Whether what is there is written over.
    pub(crate) overwrites: bool,
}

fn has(subject: &Subject<'_>, options: &[&str]) -> bool {
    options.iter().any(|option| subject.has(option))
}

impl Unpacked {
    /// Returns what a command unpacks; `None` if it is no such command.
    pub(crate) fn from_call(call: &Call, facts: &Facts) -> Option<Self> {
        let words = || call.words.iter().skip(1).map(|word| word.text.as_str());
        // Some ask before they write over a file, and take silence for a no.
        let says_yes =
            |options: &[&str]| call.input.is_some() || words().any(|word| options.contains(&word));
        let takes = match call.name.as_str() {
            "tar" | "gtar" | "bsdtar" => {
                "-f -C --file --directory --exclude -T -X -b -H --transform --xform"
            }
            "unzip" => "-d -x -P",
            "cpio" | "bsdcpio" => "-D -F -O -E -H -M -I -C --directory --file",
            "pax" => "-f -s -b -x -o -p",
            _ => "",
        };
        let subject = Subject::new(call, takes, facts);
        let first = subject.operand(0);
        let (takes_out, overwrites, folder) = match call.name.as_str() {
            "tar" | "gtar" | "bsdtar" => return untarred(&subject),
            "unzip" => (
                !has(&subject, &["-l", "-t", "-v", "-p", "-Z"]),
                (subject.has("-o") || call.input.is_some()) && !subject.has("-n"),
                subject.value("-d"),
            ),
            "7z" | "7za" | "7zz" | "7zr" => (
                matches!(first, "x" | "e"),
                says_yes(&["-y", "-aoa"]),
                words().find_map(|word| word.strip_prefix("-o")),
            ),
            "unrar" | "rar" => (
                matches!(first, "x" | "e"),
                says_yes(&["-y", "-o+"]),
                words().rfind(|word| word.ends_with('/')),
            ),
            "cpio" | "bsdcpio" => {
                let passes = has(&subject, &["-p", "--pass-through"]);
                let takes_out = has(&subject, &["-i", "--extract"]);
                let to = ["-D", "--directory"];
                let to = to.iter().find_map(|option| subject.value(option));
                (
                    passes || takes_out && !has(&subject, &["-t", "--list"]),
                    true,
                    to.or(Some(first).filter(|_| passes)),
                )
            }
            "pax" => (subject.has("-r"), !subject.has("-k"), None),
            "jar" => (
                first.starts_with('x') || has(&subject, &["-x", "--extract"]),
                true,
                None,
            ),
            "ar" => {
                let letters = words().next().unwrap_or("");
                let takes_out = letters.trim_start_matches('-').starts_with('x');
                (takes_out, true, None)
            }
            "unar" => {
                let mut pairs = call.words.windows(2);
                let to = pairs.find(|pair| matches!(&*pair[0].text, "-o" | "-output-directory"));
                (
                    true,
                    says_yes(&["-f", "-force-overwrite"]),
                    to.map(|pair| pair[1].text.as_str()),
                )
            }
            "ditto" => (subject.has("-x"), true, words().next_back()),
            // Modules of Python's.
            "tarfile" | "zipfile" => {
                let given: Vec<&str> = words().collect();
                match given[..] {
                    ["-e" | "--extract", _, ref rest @ ..] => (true, true, rest.first().copied()),
                    _ => return None,
                }
            }
            _ => return None,
        };
        let folder = folder.map_or(".", |folder| match folder.trim_end_matches('/') {
            "" => "/",
            folder => folder,
        });
        let members = subject.operands.iter().skip(1);
        let members: Vec<&str> = members.map(|(word, _)| word.text.as_str()).collect();
        if call.name == "unzip" && takes_out && !members.is_empty() {
            let within = members.iter();
            return Some(Self {
                within: within
                    .map(|member| path::absolute(member, Some(folder)))
                    .collect(),
                overwrites,
            });
        }
        takes_out.then(|| Self {
            within: vec![folder.to_owned()],
            overwrites,
        })
    }
}

/// Returns the folder of `tar x`, or the names in the archive if the command gives them.
fn untarred(subject: &Subject<'_>) -> Option<Unpacked> {
    // `tar xzf FILE`: the letters may stand without a dash.
    let bare = subject.call.words.get(1)?.text.as_str();
    let bare = Some(bare).filter(|word| !word.starts_with('-'));
    let does = |letter: char| bare.is_some_and(|letters| letters.contains(letter));
    let shows = ["-O", "--to-stdout", "--to-command"];
    let spares = ["-k", "--keep-old-files", "--skip-old-files"];
    let takes_out = does('x') || has(subject, &["-x", "--extract", "--get"]);
    if !takes_out || does('O') || has(subject, &shows) {
        return None;
    }
    let folders = ["-C", "--directory", "--cd"];
    let folders = folders.iter().flat_map(|option| subject.values(option));
    let folder = folders.fold(".".to_owned(), |at, folder| {
        path::absolute(folder, Some(&at))
    });
    let others = if bare.is_some() {
        1 + usize::from(does('f'))
    } else {
        0
    };
    let members = subject.operands.iter().skip(others);
    let members: Vec<&str> = members.map(|(word, _)| word.text.as_str()).collect();
    let renames = [
        "--strip-components",
        "--transform",
        "--xform",
        "--wildcards",
    ];
    let is_said =
        !members.is_empty() && !has(subject, &renames) && members.iter().all(|name| is_known(name));
    Some(Unpacked {
        within: if is_said {
            let members = members.iter();
            members.map(|name| format!("{folder}/{name}")).collect()
        } else {
            vec![folder]
        },
        overwrites: !does('k') && !has(subject, &spares),
    })
}
