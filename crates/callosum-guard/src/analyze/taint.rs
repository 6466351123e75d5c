//! Secrets on their way: the programs that print the contents of secret files, those that put them
//! into other files, and those that take one value out of them.

use super::{
    call::Call,
    evaluator::Evaluator,
    line_filters::picks_out,
    secret_managers::kept_by,
    value::{Arg, Source, Value},
    wrapper_table::{first_operand, operands},
};
use crate::{
    protect,
    secret_files::{keeps_secrets, sent_file},
};

/// Programs that print the files that they are given, as they are or in another form.
const READERS: [&str; 60] = [
    "cat", "tac", "head", "tail", "sort", "uniq", "nl", "less", "more", "bat", "batcat", "base64",
    "base32", "gbase64", "basenc", "openssl", "xxd", "od", "hexdump", "uuencode", "gzip", "pigz",
    "xz", "zstd", "bzip2", "lz4", "brotli", "gpg", "age", "tar", "gtar", "bsdtar", "zip", "7z",
    "grep", "egrep", "fgrep", "rg", "ag", "ack", "awk", "gawk", "mawk", "sed", "gsed", "jq", "yq",
    "cut", "strings", "fold", "paste", "rev", "pv", "dd", "fmt", "column", "iconv", "diff",
    "dos2unix", "look",
];

/// Programs that put what they read into another file.
const PACKERS: [&str; 10] = [
    "tar", "gtar", "bsdtar", "zip", "7z", "7za", "dd", "openssl", "rsync", "ditto",
];

/// Programs that put a file into one next to it, and the ending of that one's name.
const COMPRESSORS: [(&str, &str); 5] = [
    ("gzip", ".gz"),
    ("pigz", ".gz"),
    ("xz", ".xz"),
    ("zstd", ".zst"),
    ("bzip2", ".bz2"),
];

/// Programs that say of what they read no more than how much it is, or a sum of it.
const MEASURES: [&str; 9] = [
    "wc",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "shasum",
    "cksum",
    "b2sum",
    "md5",
];

impl Evaluator<'_> {
    /// Returns the secrets that a program prints: from its files, or from its own store.
    pub(super) fn secrets_printed(&self, name: &str, words: &[Arg]) -> Source {
        if READERS.contains(&name) {
            self.secrets_read(name, words).join(kept_by(name, words))
        } else {
            kept_by(name, words)
        }
    }

    fn secrets_read(&self, name: &str, words: &[Arg]) -> Source {
        if encrypts(name, words) {
            return Source::default();
        }
        let files = files_read(name, words);
        let secrets = files.into_iter().filter_map(|file| self.secret_in(file));
        let read = secrets.fold(Source::default(), |all, content| all.join(content.source));
        Source {
            secret: read.secret,
            entire: read.entire && !picks_a_value(name, words),
            ..Source::default()
        }
    }

    /// Returns the contents of a file that holds secrets, by its name or because they were put into
    /// it.
    pub(super) fn secret_in(&self, file: &str) -> Option<Value> {
        if file.is_empty() || file.contains("://") {
            return None;
        }
        let has_links = !self.found.links.is_empty() || !self.facts.links.is_empty();
        let path = if has_links {
            self.led_to(file)
        } else {
            self.state.absolute(file)
        };
        let put = self.state.files.get(&path);
        if let Some(content) = put.filter(|content| content.source.secret) {
            return Some(content.clone());
        }
        (keeps_secrets(file) || keeps_secrets(&path)).then(|| {
            Value::from(Source {
                secret: true,
                entire: true,
                file: true,
                ..Source::default()
            })
        })
    }

    /// Remembers the files that a program puts secrets into.
    pub(super) fn pack_secrets(&mut self, name: &str, words: &[Arg], input: Option<&Value>) {
        let compresses = COMPRESSORS.iter().any(|(one, _)| *one == name);
        if !PACKERS.contains(&name) && !compresses || self.elsewhere {
            return;
        }
        let fed = input.map(|input| input.source).unwrap_or_default();
        let fed = source_after(name, words, fed);
        let read = self.secrets_read(name, words);
        if !read.secret && !fed.secret {
            return;
        }
        let content = Value::from(Source {
            secret: true,
            entire: read.entire || fed.entire,
            file: true,
            ..Source::default()
        });
        let call = Call {
            name: name.to_owned(),
            words: words.to_vec(),
            cwd: self.state.cwd.clone(),
            ..Call::default()
        };
        let mut paths: Vec<String> = protect::writes(&call, self.facts)
            .into_iter()
            .map(|(path, _)| path)
            .collect();
        if name.starts_with("7z") {
            let archive = operands(words, "").nth(2);
            paths.extend(archive.map(|word| word.text.clone()));
        }
        if let Some((_, ending)) = COMPRESSORS.iter().find(|(one, _)| *one == name) {
            let files = files_read(name, words).into_iter();
            let secret = files.filter(|file| self.secret_in(file).is_some());
            paths.extend(secret.map(|file| format!("{file}{ending}")));
        }
        for path in paths {
            let path = self.state.absolute(&path);
            self.write_file(&path, content.clone(), false);
        }
    }

    /// Returns the words of a command, marked if they name a file into which secrets were put.
    pub(super) fn with_held(&self, words: &[Arg]) -> Vec<Arg> {
        let mut words = words.to_vec();
        let mut files = self.state.files.values();
        let has_links = !self.found.links.is_empty() || !self.facts.links.is_empty();
        let folder = self.state.cwd.as_deref().unwrap_or("");
        let is_put = files.any(|content| content.source.secret);
        if is_put || has_links || keeps_secrets(folder) {
            for word in words.iter_mut().skip(1) {
                word.source.holds = self.secret_in(sent_file(&word.text)).is_some();
            }
        }
        words
    }

    /// Whether a path is that of a folder, as far as its text shows.
    pub(super) fn is_folder(&self, path: &str) -> bool {
        path.ends_with('/') || matches!(path, "." | ".." | "/tmp") || self.is_tree(path)
    }
}

/// Returns the source of a text once a program has taken something out of it.
pub(super) fn source_after(name: &str, words: &[Arg], source: Source) -> Source {
    let verb = words.get(1).map_or("", |word| word.text.as_str());
    let measures =
        MEASURES.contains(&name) || name == "openssl" && verb == "dgst" || encrypts(name, words);
    Source {
        secret: source.secret && !measures,
        entire: source.entire && !measures && !picks_a_value(name, words),
        ..source
    }
}

/// Whether what a program gives can be read by none but those who have a key to it.
fn encrypts(name: &str, words: &[Arg]) -> bool {
    let all = words.get(1..).unwrap_or_default();
    let mut given = all.iter().map(|word| word.text.as_str());
    let has = |options: &[&str]| all.iter().any(|word| options.contains(&word.text.as_str()));
    match name {
        "gpg" | "gpg2" => {
            // Letters behind one that takes a value are that value.
            let joined = |word: &str| {
                let letters = word.strip_prefix('-').unwrap_or("");
                let letters = letters.split(['r', 'R', 'o', 'u']).next().unwrap_or("");
                !letters.starts_with('-') && letters.contains(['c', 'e'])
            };
            !has(&["-d", "--decrypt"]) && (has(&["--symmetric", "--encrypt"]) || given.any(joined))
        }
        "age" | "rage" => !has(&["-d", "--decrypt"]),
        "openssl" => {
            const CIPHERS: [&str; 8] = [
                "aes", "aria", "camellia", "chacha20", "des", "bf", "cast", "sm4",
            ];
            let verb = all.first().map_or("", |word| word.text.as_str());
            let is_cipher = |word: &str| CIPHERS.iter().any(|one| word.starts_with(one));
            let mut options = given.filter_map(|word| word.strip_prefix('-'));
            match verb {
                "enc" => !has(&["-d", "-none"]) && options.any(is_cipher),
                "smime" | "cms" | "pkeyutl" | "rsautl" => has(&["-encrypt"]),
                _ => is_cipher(verb) && !has(&["-d"]),
            }
        }
        _ => false,
    }
}

/// Whether a program takes one value out of what it reads.
fn picks_a_value(name: &str, words: &[Arg]) -> bool {
    let all = words.get(1..).unwrap_or_default();
    // In such a file one value is below the other, and an edit of each line picks none.
    let reads_settings = || {
        let mut names = all.iter().map(|word| crate::path::name(&word.text));
        names.any(|name| name == ".env" || name.starts_with(".env."))
    };
    match name {
        "jq" | "yq" => {
            let filter = words.get(first_operand(words, 1, ""));
            filter.is_some_and(|filter| !matches!(filter.text.as_str(), "." | ""))
        }
        // One line.
        "head" | "tail" => {
            let mut pairs = all.array_windows();
            pairs.any(|[option, count]| option.text == "-n" && count.text == "1")
                || all
                    .iter()
                    .any(|word| matches!(word.text.as_str(), "-1" | "-n1" | "--lines=1"))
        }
        // `s/KEY=//` leaves what the key is set to.
        "sed" | "gsed" => {
            let program = operands(all, "").next().filter(|_| !reads_settings());
            picks_out(name, words) || program.is_some_and(|program| takes_name_away(&program.text))
        }
        // `{print $6}` of a file whose lines have a name before the value.
        "awk" | "gawk" | "mawk" => {
            let program = operands(all, "").next().filter(|_| !reads_settings());
            picks_out(name, words) || program.is_some_and(|program| prints_field(&program.text))
        }
        _ => picks_out(name, words),
    }
}

/// Whether a program for `sed` removes the name before a value.
fn takes_name_away(program: &str) -> bool {
    let Some(rest) = program.trim().strip_prefix('s') else {
        return false;
    };
    let Some(sign) = rest.chars().next() else {
        return false;
    };
    let mut parts = rest[sign.len_utf8()..].split(sign);
    let (Some(wanted), Some(put)) = (parts.next(), parts.next()) else {
        return false;
    };
    let wanted = wanted.trim_start_matches('^').strip_suffix('=');
    let is_name = |name: &str| {
        let mut letters = name.chars();
        name.len() > 1 && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
    };
    put.is_empty() && wanted.is_some_and(is_name)
}

/// Whether a program for `awk` prints one field of each line, which is not the first.
fn prints_field(program: &str) -> bool {
    let print = program.trim().strip_prefix('{');
    let print = print.and_then(|print| print.strip_suffix('}'));
    let field = print.and_then(|print| print.trim().strip_prefix("print"));
    let field = field.and_then(|field| field.trim().strip_prefix('$'));
    field.is_some_and(|field| field.parse::<u8>().is_ok_and(|number| number > 1))
}

/// The files that a program is given to read, by its words.
fn files_read<'w>(name: &str, words: &'w [Arg]) -> Vec<&'w str> {
    let all = words.get(1..).unwrap_or_default();
    let has = |options: &[&str]| {
        let mut given = all.iter().map(|word| word.text.as_str());
        given.any(|word| options.contains(&word))
    };
    let given = |takes: &'w str| operands(all, takes).map(|word| word.text.as_str());
    match name {
        "openssl" => {
            const KEYS: [&str; 9] = [
                "enc", "base64", "rsa", "pkey", "ec", "pkcs8", "pkcs12", "smime", "cms",
            ];
            let verb = all.first().map_or("", |word| word.text.as_str());
            let tells = KEYS.contains(&verb) && !has(&["-pubout", "-noout"]);
            let pairs = all.array_windows();
            let pairs = pairs.filter(|[option, _]| tells && option.text == "-in");
            pairs.map(|[_, file]| file.text.as_str()).collect()
        }
        "dd" => {
            let words = all.iter();
            words
                .filter_map(|word| word.text.strip_prefix("if="))
                .collect()
        }
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" => {
            const TAKES: &str = "-e -f -m -A -B -C -g -t -T --regexp --file --max-count --include --exclude --exclude-dir --glob --type";
            let only_tells = all.iter().any(|word| {
                let letters = word.text.strip_prefix('-').unwrap_or("");
                !letters.starts_with('-') && letters.contains(['q', 'c', 'l', 'L'])
            });
            if only_tells || has(&["--quiet", "--count", "--files-with-matches"]) {
                return Vec::new();
            }
            given(TAKES)
                .skip(usize::from(!has(&["-e", "-f", "--regexp", "--file"])))
                .collect()
        }
        // Their program comes before the files.
        "awk" | "gawk" | "mawk" => given("-F -v -f -E")
            .skip(usize::from(!has(&["-f", "--file"])))
            .collect(),
        "sed" | "gsed" => given("-e -f -l --expression --file")
            .skip(usize::from(!has(&["-e", "-f", "--expression", "--file"])))
            .collect(),
        "jq" | "yq" => given("--arg --argjson --slurpfile --rawfile -f --indent")
            .skip(1)
            .collect(),
        "tar" | "gtar" | "bsdtar" => {
            let first = all.first().map_or("", |word| word.text.as_str());
            let letters = first.split('f').next().unwrap_or(first);
            let packs = has(&["--create", "--append", "--update"])
                || !first.starts_with("--") && letters.contains(['c', 'r', 'u']);
            let files = given("-f --file --exclude -X --exclude-from -T --files-from");
            files.filter(|_| packs).collect()
        }
        "zip" => {
            let left_out = |word: &&str| matches!(*word, "-x" | "--exclude");
            let words = all.iter().map(|word| word.text.as_str());
            words.take_while(|word| !left_out(word)).collect()
        }
        "rsync" => {
            let files = given(
                "-e --rsh --exclude --include --exclude-from --include-from -f --filter --password-file --files-from",
            );
            let mut files: Vec<&str> = files.collect();
            files.pop();
            files
        }
        "head" | "tail" => given("-n -c --lines --bytes").collect(),
        "sort" => given("-k -t -S -T -o --key --field-separator --output").collect(),
        "cut" => given("-d -f -c -b --delimiter --fields").collect(),
        "gpg" | "age" => given("-r -R -i -o -u --recipient --output --identity").collect(),
        _ => given("").collect(),
    }
}
