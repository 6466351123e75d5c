//! Import lookup of Python: next to the file for relative imports, below the roots for others.

use std::collections::BTreeSet;

use super::{
    names::{Names, below, file_name, folder},
    packages::{Ecosystem, Package, Packages},
    resolver::{Resolver, Target},
};
use crate::outline::Import;

/// Distributions whose module has another name.
const RENAMED: [(&str, &str); 26] = [
    ("Crypto", "pycryptodome"),
    ("MySQLdb", "mysqlclient"),
    ("OpenSSL", "pyopenssl"),
    ("PIL", "pillow"),
    ("attr", "attrs"),
    ("bs4", "beautifulsoup4"),
    ("cv2", "opencv-python"),
    ("dateutil", "python-dateutil"),
    ("docx", "python-docx"),
    ("dotenv", "python-dotenv"),
    ("git", "gitpython"),
    ("jose", "python-jose"),
    ("jwt", "pyjwt"),
    ("magic", "python-magic"),
    ("multipart", "python-multipart"),
    ("nacl", "pynacl"),
    ("pkg_resources", "setuptools"),
    ("psycopg2", "psycopg2-binary"),
    ("rest_framework", "djangorestframework"),
    ("serial", "pyserial"),
    ("skimage", "scikit-image"),
    ("sklearn", "scikit-learn"),
    ("slugify", "python-slugify"),
    ("websocket", "websocket-client"),
    ("yaml", "pyyaml"),
    ("zmq", "pyzmq"),
];

/// The modules of the standard library, without those that begin with an underscore.
const STANDARD: &str = "__future__ __main__ abc aifc antigravity argparse array ast asynchat asyncio asyncore atexit \
    audioop base64 bdb binascii bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd \
    code codecs codeop collections colorsys compileall compression concurrent configparser contextlib contextvars \
    copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal difflib dis distutils \
    doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch \
    fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib \
    heapq hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json \
    keyword lib2to3 linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap \
    modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode \
    operator optparse os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil platform plistlib \
    poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat \
    queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select \
    selectors shelve shlex shutil signal site sitecustomize smtpd smtplib sndhdr socket socketserver \
    spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct \
    subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios test \
    textwrap this threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc \
    tty turtle turtledemo types typing unicodedata unittest urllib uu uuid venv warnings wave \
    weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib \
    zoneinfo";

/// The folders that absolute imports are looked up in.
pub(super) fn roots(names: &Names<'_>, packages: &Packages) -> Vec<String> {
    let mut roots = BTreeSet::from([String::new(), "src".to_owned()]);
    for package in &packages.packages {
        if package.ecosystem == Ecosystem::Python {
            roots.insert(package.folder.clone());
            roots.insert(below(&package.folder, "src"));
        }
    }
    // The parent of an outermost package is a root, at any path.
    for path in names
        .paths()
        .filter(|path| file_name(path) == "__init__.py")
    {
        let package = folder(path);
        let parent = folder(package);
        let is_outermost = names.file(&below(parent, "__init__.py")).is_none();
        if is_outermost && !package.is_empty() {
            roots.insert(parent.to_owned());
        }
    }
    // A package is reached from the folder above it, never from within.
    roots.retain(|root| names.file(&below(root, "__init__.py")).is_none());
    roots.into_iter().collect()
}

/// Whether a folder is looked in before the standard library: where programs are started, and
/// where manifests put packages. Other roots are guesses.
fn is_declared_root(resolver: &Resolver<'_>, root: &str) -> bool {
    let is_of_package =
        |package: &Package| root == package.folder || root == below(&package.folder, "src");
    matches!(root, "" | "src") || resolver.of(Ecosystem::Python).any(is_of_package)
}

pub(super) fn resolve(
    resolver: &Resolver<'_>,
    from: &str,
    import: &Import,
    names: &[String],
) -> Vec<Target> {
    let module = import.target.trim_start_matches('.');
    let level = import.target.len() - module.len();
    let path = module.replace('.', "/");
    if level > 0 {
        let mut base = folder(from);
        for _ in 1..level {
            base = folder(base);
        }
        return found(resolver, base, &path, names).unwrap_or_else(|| vec![Target::Unknown]);
    }
    let first = module.split('.').next().unwrap_or(module);
    let is_standard = STANDARD.split_whitespace().any(|name| name == first)
        || first.starts_with('_') && first != "__main__";
    if first == "__future__" {
        return vec![Target::Standard];
    }
    let is_script = resolver
        .names
        .file(&below(folder(from), "__init__.py"))
        .is_none();
    let beside = is_script.then(|| folder(from).to_owned());
    let near = beside.iter().filter(|_| !is_standard);
    // A root is tried for the whole path first: namespace packages share their first part.
    for root in near.clone().chain(&resolver.python_roots) {
        let shadows_standard = || {
            let package = below(root, &format!("{first}/__init__.py"));
            is_declared_root(resolver, root) && resolver.names.file(&package).is_some()
        };
        if (!is_standard || shadows_standard())
            && let Some(files) = found(resolver, root, &path, names)
        {
            return files;
        }
    }
    for root in near.chain(&resolver.python_roots) {
        if !is_standard && let Some(files) = found(resolver, root, first, &[]) {
            return files;
        }
    }
    vec![if is_standard {
        Target::Standard
    } else {
        Target::Package(distribution(resolver, from, first))
    }]
}

/// Returns the files that a path and the names taken from it mean, if there are any.
fn found(resolver: &Resolver<'_>, root: &str, path: &str, names: &[String]) -> Option<Vec<Target>> {
    let whole = below(root, path);
    let file = |path: &str| {
        resolver.names.first_file([
            format!("{path}.py"),
            below(path, "__init__.py"),
            format!("{path}.pyi"),
            below(path, "__init__.pyi"),
        ])
    };
    let module = file(&whole);
    let mut files = BTreeSet::new();
    let mut takes_from_module = names.is_empty();
    for name in names {
        match file(&below(&whole, name)) {
            Some(submodule) => {
                files.insert(submodule);
            }
            None => takes_from_module = true,
        }
    }
    if takes_from_module {
        files.extend(module);
    }
    (!files.is_empty()).then(|| files.into_iter().map(Target::File).collect())
}

/// The name under which a module is installed.
fn distribution(resolver: &Resolver<'_>, from: &str, module: &str) -> String {
    let renamed = RENAMED
        .iter()
        .find(|(name, _)| *name == module)
        .map(|(_, name)| *name);
    let dependency = resolver.dependency(from, Ecosystem::Python, |dependency| {
        let package = normal(&dependency.package);
        package == normal(module) || renamed.is_some_and(|renamed| package == normal(renamed))
    });
    dependency
        .map_or(renamed.unwrap_or(module), |known| known.package.as_str())
        .to_owned()
}

/// Names of distributions are equal without regard to case and to `-`, `_` and `.`.
fn normal(name: &str) -> String {
    name.to_lowercase().replace(['_', '.'], "-")
}
