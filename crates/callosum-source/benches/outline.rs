//! Times the outlines of a whole repository, listing and resolution apart.
//!
//! `cargo bench -p callosum-source -- [FOLDER]` prints files, megabytes and the best of three runs
//! in seconds; without a folder it reads 1,200 generated files of Rust, Python and TypeScript.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement tells its result, and makes its own fixture"
)]

use std::{fmt::Write as _, fs, path::Path, time::Instant};

use callosum_host::Disk;
use callosum_source::{
    outline::outline_all,
    walk::{Scope, SourceTree},
};

/// Files in the generated tree.
const FILES: usize = 1_200;

/// Declarations in each of them.
const DECLARATIONS: usize = 60;

fn main() {
    // Cargo's own arguments begin with a dash.
    let folder = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    if let Some(folder) = folder {
        measure(Path::new(&folder));
    } else {
        let folder = tempfile::tempdir().expect("a temporary folder");
        generate(folder.path());
        measure(folder.path());
    }
}

fn measure(root: &Path) {
    let disk = Disk::real();
    let begun = Instant::now();
    let tree = SourceTree::read(&disk, root, &Scope::WHOLE).expect("a readable folder");
    let listing = begun.elapsed().as_secs_f64();
    let runs = (0..3).map(|_| {
        let begun = Instant::now();
        let outlines = outline_all(&disk, &tree);
        let read = outlines.iter().filter(|one| matches!(one, Ok(Some(_))));
        (begun.elapsed().as_secs_f64(), read.count())
    });
    let (seconds, read) = runs
        .min_by(|(a, _), (b, _)| a.total_cmp(b))
        .expect("three runs");
    let source = tree.files.iter().filter(|file| file.language.is_some());
    let megabytes = source.map(|file| file.bytes).sum::<u64>() as f64 / 1e6;
    println!("listed    {:>8} files in {listing:.3} s", tree.files.len());
    println!("outlined  {read:>8} files, {megabytes:.1} MB in {seconds:.3} s");
}

fn generate(root: &Path) {
    for at in 0..FILES {
        let language: Written = [rust, python, typescript][at % 3];
        let mut text = String::new();
        for of in 0..DECLARATIONS {
            language(&mut text, at, of).expect("a string takes every text");
        }
        let extension = ["rs", "py", "ts"][at % 3];
        let folder = root.join(format!("part{}", at % 20));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(format!("m{at}.{extension}")), text).expect("a file");
    }
}

/// Writes one declaration of a file.
type Written = fn(&mut String, usize, usize) -> std::fmt::Result;

fn rust(text: &mut String, at: usize, of: usize) -> std::fmt::Result {
    write!(
        text,
        "/// Adds the parts of {at}.\npub fn sum{of}(parts: &[u64]) -> Option<u64> {{\n    \
         let total = parts.iter().map(|part| part.wrapping_mul({of})).sum::<u64>();\n    \
         crate::part{}::check(total).then_some(total)\n}}\n\n",
        of % 20
    )
}

fn python(text: &mut String, at: usize, of: usize) -> std::fmt::Result {
    write!(
        text,
        "class Order{of}(Base):\n    \"\"\"An order of {at}.\"\"\"\n\n    \
         def total(self, rate: float = 0.{of}) -> float:\n        \
         return sum(line.price * rate for line in self.lines if line.open)\n\n"
    )
}

fn typescript(text: &mut String, at: usize, of: usize) -> std::fmt::Result {
    write!(
        text,
        "/** Loads page {of}. */\nexport async function load{of}(id: string): Promise<Page> {{\n  \
         const found = await fetch(`/pages/{at}/${{id}}`);\n  \
         return found.ok ? parse(await found.json()) : {{ lines: [] }};\n}}\n\n"
    )
}
