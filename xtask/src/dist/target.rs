//! [`Target`]: the machine that packages are for, by the names that each kind of package has for it.

use crate::said_by_rustc;

/// A target triple whose packages can be made.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// As rustc names it, such as `x86_64-unknown-linux-gnu`.
    pub(super) triple: String,
}

impl Target {
    /// Returns the target of the compiler, which is the machine that it runs on.
    pub(super) fn of_host() -> Result<Self, String> {
        let version = said_by_rustc(&["-vV"]).ok_or("rustc does not print its version")?;
        let host = version
            .lines()
            .find_map(|line| line.strip_prefix("host: "))
            .ok_or("rustc does not print its host")?;
        Self::from_triple(host)
    }

    /// Accepts Linux with glibc and macOS, each on x86_64 and aarch64.
    fn from_triple(triple: &str) -> Result<Self, String> {
        let target = Self {
            triple: triple.to_owned(),
        };
        let is_known_system = target.is_linux() || triple.ends_with("-apple-darwin");
        let is_known_processor = ["x86_64-", "aarch64-"]
            .iter()
            .any(|name| triple.starts_with(name));
        if is_known_system && is_known_processor {
            Ok(target)
        } else {
            Err(format!("no packages are made for {triple}"))
        }
    }

    /// Whether it is Linux with glibc.
    pub(super) fn is_linux(&self) -> bool {
        self.triple.ends_with("-linux-gnu")
    }

    fn is_x86_64(&self) -> bool {
        self.triple.starts_with("x86_64-")
    }

    /// Returns the architecture as Debian names it.
    pub(super) fn debian_architecture(&self) -> &'static str {
        if self.is_x86_64() { "amd64" } else { "arm64" }
    }

    /// Returns the system as npm names it.
    pub(super) fn npm_system(&self) -> &'static str {
        if self.is_linux() { "linux" } else { "darwin" }
    }

    /// Returns the processor as npm names it.
    pub(super) fn npm_processor(&self) -> &'static str {
        if self.is_x86_64() { "x64" } else { "arm64" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_package_has_its_own_name_for_a_machine() {
        let target = Target::from_triple("aarch64-unknown-linux-gnu").unwrap();
        assert_eq!(target.debian_architecture(), "arm64");
        assert_eq!(
            (target.npm_system(), target.npm_processor()),
            ("linux", "arm64")
        );
        let target = Target::from_triple("x86_64-apple-darwin").unwrap();
        assert_eq!(
            (target.npm_system(), target.npm_processor()),
            ("darwin", "x64")
        );
    }

    #[test]
    fn a_machine_without_packages_is_refused() {
        for triple in [
            "x86_64-unknown-linux-musl",
            "riscv64gc-unknown-linux-gnu",
            "x86_64-pc-windows-msvc",
        ] {
            assert!(Target::from_triple(triple).is_err(), "{triple}");
        }
    }
}
