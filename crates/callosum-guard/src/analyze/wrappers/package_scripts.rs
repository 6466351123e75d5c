//! The scripts of a `package.json` that were put into it in the same command, with the file or one by one, and which of them
//! a package manager would run.

use serde_json::{Value as Json, json};

use crate::analyze::{
    evaluator::Evaluator,
    value::{Arg, Value},
    wrapper_table::first_operand,
};

/// The file.
pub(super) const PACKAGE: &str = "package.json";

/// Under which name texts are kept that are scripts of a name which is not known.
const ANY: &str = "*";

/// So many scripts are kept that are put in one by one.
const MOST: usize = 64;

impl Evaluator<'_> {
    /// The scripts of `package.json` that a package manager would run.
    pub(super) fn scripts(&mut self, name: &str, words: &[Arg]) {
        const TAKES: &str = "-w --workspace -C --dir --prefix --cwd --filter -F";
        let at = first_operand(words, 1, TAKES);
        let word = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
        let set = match (word(at), word(at + 1)) {
            ("pkg", "set") => set_by(words.get(at + 2..).unwrap_or_default()),
            ("set-script", name) => vec![(name.to_owned(), word(at + 2).to_owned())],
            _ => Vec::new(),
        };
        if !set.is_empty() {
            return self.put_scripts(set);
        }
        let content = self.file_of_tasks(words, None, &[], &[PACKAGE]);
        let Ok(package) = serde_json::from_str::<Json>(&content.text) else {
            return;
        };
        let wanted: Vec<String> = match word(at) {
            "run" | "run-script" | "rum" => {
                vec![word(first_operand(words, at + 1, TAKES)).to_owned()]
            }
            "" | "install" | "i" | "ci" | "add" => {
                ["preinstall", "install", "postinstall", "prepare"]
                    .map(str::to_owned)
                    .to_vec()
            }
            "publish" | "pack" => ["prepublishOnly", "prepack", "prepare", "postpack"]
                .map(str::to_owned)
                .to_vec(),
            "t" | "tst" => vec!["test".to_owned()],
            script => vec![script.to_owned()],
        };
        let any = package["scripts"][ANY].as_array();
        let mut found: Vec<String> = any
            .into_iter()
            .flatten()
            .filter_map(|text| text.as_str().map(str::to_owned))
            .collect();
        for script in &wanted {
            for around in ["pre", "", "post"] {
                let text = package["scripts"][format!("{around}{script}")].as_str();
                found.extend(text.map(str::to_owned));
            }
        }
        self.each_task(name, found);
    }

    /// Keeps scripts, by their names, as if the file in this folder had been written with them.
    pub(super) fn put_scripts(&mut self, scripts: Vec<(String, String)>) {
        let path = self.state.absolute(PACKAGE);
        let content = self.state.files.get(&path);
        let package = content.and_then(|content| serde_json::from_str(&content.text).ok());
        let package = with_scripts(package.unwrap_or_default(), scripts);
        self.write_file(&path, Value::known(package.to_string()), false);
    }

    /// Keeps the scripts that `sed -i` writes into the file.
    pub(super) fn edited_by_sed(&mut self, words: &[Arg]) {
        let mut options = words.iter().skip(1).map(|word| word.text.as_str());
        let is_in_place = options
            .clone()
            .any(|text| text.starts_with("-i") || text.starts_with("--in-place"));
        if is_in_place && options.any(|text| crate::path::name(text) == PACKAGE) {
            let scripts = words.iter().skip(1).flat_map(|word| pairs(&word.text));
            let scripts: Vec<_> = scripts.collect();
            if !scripts.is_empty() {
                self.put_scripts(scripts);
            }
        }
    }
}

/// Returns the output of `jq` that adds scripts, as far as that matters.
pub(super) fn edited_by_jq(words: &[Arg]) -> Option<Value> {
    let scripts = set_by_jq(words);
    (!scripts.is_empty()).then(|| {
        let package = with_scripts(Json::Null, scripts);
        Value::known(package.to_string() + "\n")
    })
}

fn with_scripts(package: Json, scripts: Vec<(String, String)>) -> Json {
    let mut package = if package.is_object() {
        package
    } else {
        json!({})
    };
    if !package["scripts"].is_object() {
        package["scripts"] = json!({});
    }
    for (name, text) in scripts.into_iter().take(MOST) {
        let script = &mut package["scripts"][name.as_str()];
        match script.as_array_mut() {
            Some(texts) => texts.push(json!(text)),
            None if name == ANY => *script = json!([text]),
            None => *script = json!(text),
        }
    }
    package
}

/// Lists the scripts that `npm pkg set scripts.x=TEXT` sets.
fn set_by(words: &[Arg]) -> Vec<(String, String)> {
    let pairs = words.iter().filter_map(|word| word.text.split_once('='));
    pairs
        .flat_map(|(key, text)| match key.strip_prefix("scripts") {
            // `--json scripts='{"x": "…"}'`
            Some("") => pairs_of(text),
            Some(name) => {
                let name = name.trim_matches(['.', '[', ']', '"', '\'']);
                vec![(name.to_owned(), text.to_owned())]
            }
            None => Vec::new(),
        })
        .collect()
}

fn pairs_of(text: &str) -> Vec<(String, String)> {
    let Ok(Json::Object(scripts)) = serde_json::from_str(text) else {
        return Vec::new();
    };
    let scripts = scripts.into_iter();
    scripts
        .filter_map(|(name, text)| Some((name, text.as_str()?.to_owned())))
        .collect()
}

/// Lists the scripts that a filter of `jq` sets. A text without a script's name before it may be
/// any script.
fn set_by_jq(words: &[Arg]) -> Vec<(String, String)> {
    let Some(filter) = words.iter().skip(1).find(|word| {
        let text = word.text.as_str();
        !text.starts_with('-') && text.contains("scripts")
    }) else {
        return Vec::new();
    };
    let filter = filter.text.as_str();
    let behind = filter.split_once("scripts").map_or("", |(_, rest)| rest);
    // `=`, `|=`, `+=` and `*=` change it, `==` and its like only compare.
    let assigns = behind.char_indices().any(|(at, letter)| {
        let before = behind[..at].chars().next_back();
        letter == '='
            && !behind[at + 1..].starts_with('=')
            && !matches!(before, Some('=' | '!' | '<' | '>'))
    });
    let merges = behind.trim_start_matches(['"', ' ']).starts_with(':');
    if !assigns && !merges {
        return Vec::new();
    }
    let name: String = behind
        .trim_start_matches(['.', '[', '"'])
        .chars()
        .take_while(|letter| letter.is_alphanumeric() || "_-:".contains(*letter))
        .collect();
    let is_named = assigns && !name.is_empty() && behind.starts_with(['.', '[']);
    let name = if is_named { name.as_str() } else { ANY };
    let given = words.windows(3).filter(|three| three[0].text == "--arg");
    let given = given.map(|three| three[2].text.clone());
    let texts = quoted(behind).into_iter().chain(given);
    texts.map(|text| (name.to_owned(), text)).collect()
}

/// The names and texts of `"name": "text"`.
fn pairs(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let pieces: Vec<&str> = text.split('"').collect();
    for four in pieces.windows(4) {
        if four[2].trim() == ":" {
            found.push((four[1].to_owned(), four[3].replace("\\&", "&")));
        }
    }
    found
}

/// The texts in double quotes.
fn quoted(text: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once('"') {
        let mut end = 0;
        let bytes = behind.as_bytes();
        while end < bytes.len() && bytes[end] != b'"' {
            end += 1 + usize::from(bytes[end] == b'\\');
        }
        let Some(inner) = behind.get(..end) else {
            break;
        };
        texts.push(inner.replace("\\\"", "\""));
        rest = behind.get(end + 1..).unwrap_or("");
    }
    texts
}
