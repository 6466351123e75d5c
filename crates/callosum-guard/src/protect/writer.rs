//! Files that each program writes, by the words of its command line: a table.
//!
//! It only has the ways in which a word names a file. Programs whose words need more than that to
//! be read, such as editors and `tar`, are in `writes`.

use crate::analyze::{Subject, value::is_known};

/// Extent of the objections to a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Every protected file, and every file outside the project.
    Anywhere,
    /// Every protected file.
    Protected,
    /// Every protected file except the system's: nothing in the file itself is changed.
    Guarded,
    /// Every protected file except the settings of clients and programs that start by themselves:
    /// only who may use it changes, and its owner still may.
    Rights,
    /// Every protected file, and every folder with such a file in it: all of it goes, or is another
    /// one afterwards.
    Whole,
}

/// A path that is written, and how much may be held against that.
pub(super) type Written = (String, Reach);

/// The operands that name a path, or could.
pub(super) fn operands<'a>(subject: &Subject<'a>) -> impl DoubleEndedIterator<Item = &'a str> {
    let texts = subject.operands.iter().map(|(word, _)| word.text.as_str());
    let texts: Vec<&str> = texts
        .filter(|text| is_known(text) || text.contains('/'))
        .collect();
    texts.into_iter()
}

/// The words that name what is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// Values of these options.
    Value(&'static str),
    /// Operands from this one on.
    From(usize),
    /// The operand at this place.
    At(usize),
    /// The last operand, if there are so many.
    Last(usize),
    /// Operands from this one on but the last.
    Sources(usize),
    /// Operands from this one on, without the ending that goes as they are unpacked.
    Unpacked(&'static str),
}

/// A program and what it writes.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) names: &'static str,
    /// First operands, one of them required; empty if it has no verbs.
    pub(super) verbs: &'static str,
    /// Options that take the next word.
    pub(super) takes: &'static str,
    pub(super) parts: &'static [Part],
    /// Options, one of them required; empty if it always writes.
    pub(super) with: &'static str,
    /// Options under which it writes nothing.
    pub(super) without: &'static str,
    pub(super) reach: Reach,
}

use Part::{At, From, Last, Sources, Unpacked, Value};
use Reach::{Anywhere, Guarded, Protected, Whole};

const fn writer(
    names: &'static str,
    takes: &'static str,
    parts: &'static [Part],
    reach: Reach,
) -> Writer {
    Writer {
        names,
        verbs: "",
        takes,
        parts,
        with: "",
        without: "",
        reach,
    }
}

impl Writer {
    const fn with(self, with: &'static str) -> Writer {
        Writer { with, ..self }
    }

    const fn for_verbs(self, verbs: &'static str) -> Writer {
        Writer { verbs, ..self }
    }

    const fn without(self, without: &'static str) -> Writer {
        Writer { without, ..self }
    }
}

/// Options by which programs of all sorts take the file to write.
pub(super) const OUTPUT: &str = "--output --output-file --outfile --out-file --result-file";

/// The table. A program may have several rows, and each of them counts.
pub(super) const WRITERS: &[Writer] = &[
    writer("tee sponge", "--output-error", &[From(0)], Anywhere),
    writer("truncate", "-s --size -r --reference -o", &[From(0)], Anywhere),
    writer("fallocate", "-l --length -o --offset", &[From(0)], Anywhere),
    writer("mkfifo mknod", "-m --mode -Z", &[From(0)], Protected),
    writer("touch", "-d -t -r --date --reference --time", &[From(0)], Guarded),
    writer("mkdir", "-m --mode", &[From(0)], Guarded),
    writer("rm unlink rmdir shred", "-n --iterations -s --size", &[From(0)], Whole),
    writer("trash trash-put rmtrash gomi rip", "", &[From(0)], Whole),
    writer("grm srm rimraf del-cli rmrf", "", &[From(0)], Whole),
    writer("del rd erase ri Remove-Item remove-item", "", &[From(0)], Whole),
    writer("gio", "", &[From(1)], Whole).for_verbs("trash remove"),
    writer("gio", "", &[At(1)], Whole).for_verbs("move rename"),
    writer("gio", "", &[From(1)], Protected).for_verbs("move"),
    writer("chattr", "", &[From(0)], Whole),
    writer("chown chgrp", "--reference --from", &[From(1)], Whole),
    writer("setfacl", "-m -x -M -X --modify --remove --restore", &[From(0)], Whole),
    writer("dos2unix unix2dos mac2unix unix2mac", "-n --newfile -c --convmode", &[From(0)], Protected),
    writer("gzip pigz bzip2 pbzip2 xz lzma lzip compress lz4", "-S --suffix -T --threads -p", &[From(0)], Protected)
        .without("-c --stdout --to-stdout -k --keep -l --list -t --test"),
    writer("gunzip", "-S --suffix", &[Unpacked(".gz")], Protected).without("-c --stdout -l -t"),
    writer("bunzip2", "", &[Unpacked(".bz2")], Protected).without("-c --stdout -t"),
    writer("unxz", "-T", &[Unpacked(".xz")], Protected).without("-c --stdout -l -t"),
    writer("unzstd", "-o", &[Unpacked(".zst"), Value("-o")], Protected).without("-c --stdout -l -t"),
    writer("gzip", "-S --suffix", &[Unpacked(".gz")], Protected).with("-d --decompress").without("-c --stdout"),
    writer("xz", "-T", &[Unpacked(".xz")], Protected).with("-d --decompress").without("-c --stdout"),
    writer("zstd", "-o -T -D", &[Value("-o")], Protected),
    writer("rename prename file-rename", "-e", &[From(0)], Whole).without("-n --no-act"),
    writer("rename.ul", "", &[From(2)], Whole).without("-n --no-act"),
    writer("mmv", "", &[Last(2)], Protected),
    writer("sort", "-o --output -k --key -t --field-separator -T -S --parallel", &[Value("-o --output")], Anywhere),
    writer("shuf", "-o --output -n --head-count -i --input-range --random-source", &[Value("-o --output")], Anywhere),
    writer("uniq", "-f --skip-fields -s --skip-chars -w --check-chars", &[From(1)], Anywhere),
    writer("split", "-a -b -C -l -n -t --suffix-length --bytes --line-bytes --lines --number --filter --additional-suffix", &[At(1)], Anywhere)
        .without("--filter"),
    writer("csplit", "-b -f -n --suffix-format --prefix --digits", &[Value("-f --prefix")], Anywhere),
    writer("yq", "-o -p -I --output-format --input-format --indent --arg --argjson", &[From(1)], Anywhere)
        .with("-i --inplace --in-place"),
    writer("dasel", "-f --file -v --value -t --type -s --selector -r -w -o --out", &[Value("-f --file -o --out")], Protected)
        .with("-v --value"),
    writer("crudini", "--format", &[At(0)], Protected).with("--set --del --merge"),
    writer("json", "-e -f", &[Value("-f")], Protected).with("-I --in-place"),
    writer("sops", "--set", &[From(0)], Protected).with("-i --in-place --set"),
    writer("xmlstarlet", "-u -v -d -s -n -t -i -a -r", &[Last(2)], Protected).with("-L --inplace"),
    writer("prettier", "--config --parser --ignore-path --plugin --log-level", &[From(0)], Protected).with("-w --write"),
    writer("rustfmt", "--edition --style-edition --config --config-path --emit --color --print-config", &[From(0)], Protected)
        .without("--check"),
    writer("black isort", "-l --line-length -t --target-version -c --code --config --profile", &[From(0)], Protected)
        .without("--check --diff -c --code"),
    writer("gofmt goimports shfmt gofumpt", "-r -d -i -ln -local", &[From(0)], Protected).with("-w"),
    writer("clang-format autopep8 yamlfmt", "", &[From(0)], Protected).with("-i --in-place"),
    writer("eslint stylelint", "-o --output-file -c --config --ext -f --format", &[Value("-o --output-file")], Protected),
    writer("xxd", "-c -g -l -o -s -cols -len -seek", &[At(1)], Anywhere),
    writer("uudecode iconv", "-o --output-file -f -t --output", &[Value("-o --output-file --output")], Protected),
    writer("openssl", "-out -in -inkey -keyout -config -subj -days -CA -CAkey", &[Value("-out -keyout")], Protected),
    writer("gpg gpg2 age", "-o --output -r -R -i -u --recipient --local-user --homedir", &[Value("-o --output")], Protected),
    writer("pandoc", "-o --output -f -t --from --to --template", &[Value("-o --output")], Protected),
    writer("dot", "-o -T -K", &[Value("-o")], Protected),
    writer("gcc cc g++ c++ clang clang++ ld", "-o -x -I -L -l -D -include -isystem -T -z", &[Value("-o")], Anywhere),
    writer("rustc", "-o --out-dir -L -l -C -A -W -D --crate-name --crate-type --edition --emit --target --cfg", &[Value("-o --out-dir")], Protected),
    writer("go", "-o -ldflags -tags -gcflags -run -C -coverprofile -cpuprofile -memprofile", &[Value("-o -coverprofile -cpuprofile -memprofile")], Protected),
    writer("tsc esbuild", "-p --project --outFile --outDir --outfile --outdir", &[Value("--outFile --outDir --outfile --outdir")], Protected),
    writer("objcopy", "-O -I -B -j -R --only-section", &[Last(1)], Protected),
    writer("strip", "-o -R -K", &[Value("-o")], Protected),
    writer("strip", "-o -R -K", &[From(0)], Protected).without("-o"),
    writer("strace ltrace", "-o -e -p -s -u --output", &[Value("-o --output")], Protected),
    writer("time gtime", "-o -f --output --format", &[Value("-o --output")], Protected),
    writer("perf", "-o -e --output", &[Value("-o --output")], Protected),
    writer("magick convert", "-i -c -f -t -ss", &[Last(2)], Protected),
    writer("ffmpeg", "-i -f -c -c:v -c:a -b:v -t -ss -vf -r", &[Last(1)], Protected),
    writer("yt-dlp youtube-dl", "-o -P -f --output --paths --format", &[Value("-o --output -P --paths")], Protected),
    writer("tcpdump tshark dumpcap", "-w -i -c -f -s -r", &[Value("-w")], Protected),
    writer("mysqldump mariadb-dump", "-r --result-file -u -h -P -p --user --host", &[Value("-r --result-file")], Protected),
    writer("pg_dump pg_dumpall pg_restore", "-f --file -d -h -p -U -F -t -n -j --dbname --format", &[Value("-f --file")], Protected)
        .without("-l --list"),
    writer("psql", "-o --output -c -f -d -h -p -U -L --log-file", &[Value("-o --output -L --log-file")], Protected),
    writer("mongoexport mongodump", "-o --out --db --collection -d -c", &[Value("-o --out")], Protected),
    writer("terraform tofu", "-out -var -var-file -target", &[Value("-out")], Protected),
    writer("docker podman nerdctl kubectl oc", "-c --container -n --namespace --context", &[Last(3)], Protected).for_verbs("cp"),
    writer("aws", "--profile --region --endpoint-url", &[Last(4)], Protected).for_verbs("s3"),
    writer("gsutil rclone", "-P", &[Last(3)], Protected).for_verbs("cp mv rsync copy copyto sync move moveto"),
    writer("sftp", "-P -i -o -b", &[Last(2)], Protected),
    writer("mktemp", "-p --suffix", &[Value("-p"), From(0)], Guarded).without("-u --dry-run -t"),
    writer("7z 7za 7zz", "-o", &[Value("-o")], Protected),
    writer("zip", "-x -i -b -P --exclude", &[At(0)], Protected).without("-T -sf"),
    writer("unzip", "-d -x -P", &[Value("-d")], Protected).without("-l -p -t -v -Z"),
    writer("cpio", "-D -F -O --directory --file", &[From(0), Value("-D --directory")], Protected).without("-t"),
    writer("git", "--prefix", &[Value("--prefix")], Protected).for_verbs("checkout-index"),
    writer("git", "--directory -p -C", &[Value("--directory")], Protected).for_verbs("apply"),
    writer("valgrind", "--log-file", &[Value("--log-file")], Protected),
    writer("git", "--output", &[Value("--output")], Protected).for_verbs("diff"),
    writer("git", "--output", &[Value("--output")], Protected).for_verbs("log"),
    writer("git", "--output", &[Value("--output")], Protected).for_verbs("show"),
    writer("git", "-o --output --format --prefix --remote", &[Value("-o --output")], Protected).for_verbs("archive"),
    writer("git", "-o --output-directory", &[Value("-o --output-directory")], Protected).for_verbs("format-patch"),
    writer("git", "", &[At(2)], Protected).for_verbs("bundle"),
    writer("gh glab", "", &[At(3)], Whole).for_verbs("repo"),
    writer("git", "-b -B", &[From(1)], Whole).for_verbs("checkout"),
    writer("git", "-s --source", &[From(1)], Whole).for_verbs("restore"),
    writer("git", "", &[From(1)], Whole).for_verbs("rm").without("--cached"),
    writer("git", "", &[From(1)], Protected).for_verbs("rm").with("--cached"),
    writer("git", "", &[Last(2)], Protected).for_verbs("mv"),
    writer("git", "", &[Sources(1)], Whole).for_verbs("mv"),
];
