//! Time that scout takes for a repository of 1,200 files, survey and each digest separately.
//!
//! The aim (Seed CAL §9.4, test case 1): all of it under a second on a quiet machine.

use std::path::Path;

use callosum_host::Disk;
use callosum_scout::{Kind, Limits, Survey, digest};
use callosum_source::walk::Scope;

fn main() {
    divan::main();
}

/// Files in the generated tree.
const FILES: usize = 1_200;

/// A tree of Rust, Python and TypeScript modules that import and test one another.
fn generated_tree() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for at in 0..FILES {
        let next = (at * 7 + 1) % FILES;
        let (path, text) = match at % 3 {
            0 => (format!("src/part{}/m{at}.rs", at % 20), rust(at, next)),
            1 => (format!("py/part{}/m{at}.py", at % 20), python(at, next)),
            _ => (
                format!("web/part{}/m{at}.ts", at % 20),
                typescript(at, next),
            ),
        };
        write(&folder.path().join(path), &text);
    }
    folder
}

fn rust(at: usize, next: usize) -> String {
    let head = format!(
        "//! Part {at}.\n\nuse crate::part{}::m{next}::Thing{next};\n",
        next % 20
    );
    let items = twenty(|item| {
        format!(
            "\n/// Does {item} of {at}.\npub fn f{at}_{item}(thing: &Thing{next}) -> usize {{\n    \
             let sum = thing.len() + {item};\n    if sum > 3 {{ sum * 2 }} else {{ helper(sum) }}\n}}\n"
        )
    });
    format!("{head}{items}\npub struct Thing{at};\n")
}

fn python(at: usize, next: usize) -> String {
    let head = format!(
        "\"\"\"Part {at}.\"\"\"\nfrom py.part{}.m{next} import Thing{next}\n",
        next % 20
    );
    let items = twenty(|item| {
        format!(
            "\n\ndef f{at}_{item}(thing):\n    \"\"\"Does {item} of {at}.\"\"\"\n    \
             total = Thing{next}(thing).size() + {item}\n    return total if total > 3 else 0\n"
        )
    });
    format!("{head}{items}\n\nclass Thing{at}:\n    pass\n")
}

fn typescript(at: usize, next: usize) -> String {
    let head = format!(
        "import {{ Thing{next} }} from \"../part{}/m{next}\";\n",
        next % 20
    );
    let items = twenty(|item| {
        format!(
            "\n/** Does {item} of {at}. */\nexport function f{at}_{item}(thing: Thing{next}): number {{\n  \
             const total = thing.size() + {item};\n  return total > 3 ? total : 0;\n}}\n"
        )
    });
    format!("{head}{items}\nexport class Thing{at} {{}}\n")
}

/// Twenty declarations, each with its number.
fn twenty(item: impl Fn(usize) -> String) -> String {
    (0..20).map(item).collect::<Vec<_>>().concat()
}

fn write(path: &Path, text: &str) {
    let disk = Disk::real();
    let folder = path.parent().expect("every file has a folder");
    disk.create_dir_all(folder).expect("a folder");
    disk.replace(path, text.as_bytes(), 0o644).expect("a file");
}

fn read(root: &Path) -> Survey {
    Survey::read(&Disk::real(), root, &Scope::WHOLE, &mut |_| {}).expect("a survey")
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn survey_of_1200_files(bencher: divan::Bencher<'_, '_>) {
    let folder = generated_tree();
    bencher.bench_local(|| read(folder.path()));
}

#[divan::bench(args = Kind::ALL, sample_count = 10, sample_size = 1)]
fn digest_of_1200_files(bencher: divan::Bencher<'_, '_>, kind: Kind) {
    let folder = generated_tree();
    let survey = read(folder.path());
    bencher.bench_local(|| digest(kind, &survey, Limits::SUMMARY));
}
