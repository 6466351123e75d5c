//! Import lookup of C and C++: next to the file, then anywhere the tree has a header of that name.

use std::cmp::Reverse;

use super::{
    names::{folder, join, nearness, stem},
    resolver::{Resolver, Target},
};
use crate::outline::{Import, ImportKind};

/// Headers of C, C++ and POSIX, without `.h`.
const STANDARD: &str = "assert complex ctype errno fenv float inttypes iso646 limits locale math \
    setjmp signal stdalign stdarg stdatomic stdbit stdbool stdckdint stddef stdint stdio stdlib stdnoreturn \
    string tgmath threads time uchar wchar wctype aio cpio dirent dlfcn fcntl fmtmsg fnmatch ftw glob \
    grp iconv langinfo libgen monetary mqueue ndbm netdb nl_types poll pthread pwd regex sched search \
    semaphore spawn strings stropts syslog tar termios trace ulimit unistd utime utmpx wordexp malloc alloca \
    getopt endian byteswap err execinfo features ifaddrs link memory obstack paths pty utmp windows winsock2 io direct process \
    algorithm any array atomic barrier bit bitset cassert ccomplex cctype cerrno cfenv cfloat charconv \
    chrono cinttypes climits clocale cmath codecvt compare complex concepts condition_variable coroutine \
    csetjmp csignal cstdarg cstdbool cstddef cstdint cstdio cstdlib cstring ctgmath ctime cuchar cwchar \
    cwctype deque exception execution expected filesystem format forward_list fstream functional future \
    generator initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map \
    mdspan memory memory_resource mutex new numbers numeric optional ostream print queue random ranges \
    ratio regex scoped_allocator semaphore set shared_mutex source_location span spanstream sstream stack \
    stacktrace stdexcept stop_token streambuf string string_view strstream syncstream system_error thread \
    tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector version";

/// Folders of headers that come with the system.
const STANDARD_FOLDERS: [&str; 9] = [
    "sys", "netinet", "arpa", "net", "linux", "asm", "mach", "machine", "bits",
];

pub(super) fn resolve(resolver: &Resolver<'_>, from: &str, import: &Import) -> Target {
    let target = import.target.as_str();
    let names = &resolver.names;
    if import.kind == ImportKind::IncludeLocal
        && let Some(file) = join(folder(from), target).and_then(|path| names.file(&path))
    {
        return Target::File(file);
    }
    let is_standard = is_standard(target);
    if import.kind == ImportKind::IncludeSystem && is_standard {
        return Target::Standard;
    }
    let suffix = target.trim_start_matches("./").trim_start_matches("../");
    let best = names.ending_with(suffix).max_by_key(|path| {
        let is_offered = path.split('/').any(|part| part == "include");
        (
            nearness(path, from),
            is_offered,
            Reverse(path.len()),
            Reverse(*path),
        )
    });
    if let Some(file) = best.and_then(|path| names.file(path)) {
        return Target::File(file);
    }
    if is_standard {
        return Target::Standard;
    }
    match (target.split_once('/'), import.kind) {
        // A folder of the tree with that name: the header is made by the build.
        (Some((library, _)), _) if is_folder(resolver, library) => Target::Unknown,
        (Some((library, _)), _) if !library.starts_with('.') => Target::Package(library.to_owned()),
        (None, ImportKind::IncludeSystem) => Target::Package(stem(target).to_owned()),
        _ => Target::Unknown,
    }
}

fn is_folder(resolver: &Resolver<'_>, name: &str) -> bool {
    let mut paths = resolver.names.paths();
    paths.any(|path| folder(path).split('/').any(|part| part == name))
}

fn is_standard(target: &str) -> bool {
    if let Some((folder, _)) = target.split_once('/') {
        return STANDARD_FOLDERS.contains(&folder);
    }
    let name = target.strip_suffix(".h").unwrap_or(target);
    STANDARD.split_whitespace().any(|known| known == name)
}
