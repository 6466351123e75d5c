//! The oldest glibc that a program runs with, read from its ELF file.
//!
//! The dynamic linker refuses a program if its glibc lacks one of the symbol versions in the section `.gnu.version_r`. The
//! newest of them is the floor. [`FLOOR`] is the newest floor that a release may have.

use std::{fmt, path::Path};

use object::{
    Endianness, FileKind,
    elf::{DT_NEEDED, FileHeader64},
    read::elf::{Dyn as _, FileHeader as _},
};

use super::read;

/// Every release of a distribution of the last five years has this glibc or a later one: Debian 11 and Ubuntu 20.04 have
/// 2.31, RHEL 8 and its relatives 2.28.
pub(super) const FLOOR: Glibc = Glibc(2, 28);

/// A version of glibc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Glibc(u32, u32);

impl fmt::Display for Glibc {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.0, self.1)
    }
}

impl Glibc {
    /// Reads `GLIBC_2.31`; `None` for the versions of other libraries, and for private symbols.
    fn from_symbol_version(name: &str) -> Option<Self> {
        let mut numbers = name.strip_prefix("GLIBC_")?.split('.');
        let major = numbers.next()?.parse().ok()?;
        let minor = numbers.next()?.parse().ok()?;
        Some(Self(major, minor))
    }
}

/// The shared libraries that a program is linked with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// The oldest glibc that has all symbols; `None` if the program needs none of glibc.
    pub(super) glibc: Option<Glibc>,
    /// The names of the libraries, such as `libc.so.6`.
    pub(super) libraries: Vec<String>,
    /// The symbol versions that are newer than [`FLOOR`].
    newer: Vec<String>,
}

/// Reads a program's file. A file of another format than ELF needs nothing.
pub(super) fn needs_of(program: &Path) -> Result<Needs, String> {
    let bytes = read(program)?;
    needs(&bytes).map_err(|error| format!("{}: {error}", program.display()))
}

fn needs(bytes: &[u8]) -> Result<Needs, object::Error> {
    if FileKind::parse(bytes)? != FileKind::Elf64 {
        return Ok(Needs::default());
    }
    let header = FileHeader64::<Endianness>::parse(bytes)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, bytes)?;
    let mut needs = Needs::default();
    if let Some((entries, link)) = sections.dynamic(endian, bytes)? {
        let strings = sections.strings(endian, bytes, link)?;
        for entry in entries {
            if entry.d_tag(endian) == DT_NEEDED {
                let name = entry.string(endian, strings)?;
                let name = String::from_utf8_lossy(name).into_owned();
                needs.libraries.push(name);
            }
        }
    }
    let Some((mut libraries, link)) = sections.gnu_verneed(endian, bytes)? else {
        return Ok(needs);
    };
    let strings = sections.strings(endian, bytes, link)?;
    while let Some((library, mut versions)) = libraries.next()? {
        let library = library.file(endian, strings)?;
        while let Some(version) = versions.next()? {
            let name = String::from_utf8_lossy(version.name(endian, strings)?);
            let Some(glibc) = Glibc::from_symbol_version(&name) else {
                continue;
            };
            needs.glibc = needs.glibc.max(Some(glibc));
            if glibc > FLOOR {
                let library = String::from_utf8_lossy(library);
                needs.newer.push(format!("{name} of {library}"));
            }
        }
    }
    Ok(needs)
}

/// Fails if a program needs a newer glibc than [`FLOOR`].
pub(super) fn check(needs: &Needs) -> Result<(), String> {
    if needs.newer.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the program needs a newer glibc than {FLOOR}: {}",
        needs.newer.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbol_versions_are_compared_by_number() {
        let read = Glibc::from_symbol_version;
        assert!(read("GLIBC_2.9") < read("GLIBC_2.17"));
        assert_eq!(read("GLIBC_2.2.5"), Some(Glibc(2, 2)));
        for other in ["GLIBC_PRIVATE", "GCC_3.0", "GLIBC_2"] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    /// A test is linked with the libraries of this machine. Its floor is what the machine's own tools find.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_floor_of_a_real_program_is_the_newest_version_that_readelf_finds() {
        let program = std::env::current_exe().unwrap();
        let needs = needs_of(&program).unwrap();
        let readelf = crate::command_of_the_developer("readelf")
            .args(["--version-info", "--wide"])
            .arg(&program)
            .output()
            .expect("readelf comes with the linker that built this test");
        let output = String::from_utf8_lossy(&readelf.stdout);
        let (_, output) = output
            .split_once("Version needs section")
            .expect("a test needs glibc");
        let names = output.split_whitespace();
        let newest = names.filter_map(Glibc::from_symbol_version).max();
        assert_eq!(needs.glibc, newest);
        assert!(newest.is_some());
        assert!(
            needs.libraries.iter().any(|name| name == "libc.so.6"),
            "{needs:?}"
        );
    }

    #[test]
    fn a_program_above_the_floor_is_refused_with_its_symbols() {
        let needs = Needs {
            glibc: Some(Glibc(2, 34)),
            newer: vec!["GLIBC_2.34 of libc.so.6".to_owned()],
            ..Needs::default()
        };
        let refusal = check(&needs).unwrap_err();
        assert!(refusal.contains("GLIBC_2.34 of libc.so.6"), "{refusal}");
        assert_eq!(check(&Needs::default()), Ok(()));
    }

    #[test]
    fn a_file_that_is_no_program_is_an_error() {
        assert!(needs(b"#!/bin/sh\nexit 0\n").is_err());
    }
}
