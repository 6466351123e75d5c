//! Facts about a project from the files that its build tools read.
//!
//! Start with [`read`], which recognizes a manifest by its name. One file an ecosystem; each reads
//! only what it can without running anything, and gives the line of every fact.
//!
//! Deliberately not here: lock files (they hold the resolved packages, not the requested ones), and
//! evaluating anything: a `setup.py`, a Gradle script or a `CMakeLists.txt` is read for its
//! literals.

mod aliases;
mod c_cpp;
mod cargo;
mod go;
mod java;
mod model;
mod node;
mod place;
mod python;
#[cfg(test)]
mod tests;

pub(super) use aliases::{aliases, gives_aliases};
pub(super) use cargo::inherit;
pub(super) use model::{Dependency, Ecosystem, Manifest, Use};

/// Reads the manifest at `path`; `None` if its name is not that of a known manifest.
///
/// A manifest that cannot be parsed is included all the same, empty, with its complaint in
/// [`Manifest::unread`].
pub(super) fn read(path: &str, text: &str) -> Option<Manifest> {
    let name = path.rsplit('/').next()?;
    let manifest = match name {
        "Cargo.toml" => cargo::read(path, text),
        "package.json" => node::read(path, text),
        "pyproject.toml" => python::read_pyproject(path, text),
        "setup.cfg" => python::read_setup_cfg(path, text),
        "setup.py" => python::read_setup_py(path, text),
        "go.mod" => go::read(path, text),
        "pom.xml" => java::read_pom(path, text),
        "build.gradle" | "build.gradle.kts" => java::read_gradle(path, text),
        "CMakeLists.txt" => c_cpp::read_cmake(path, text),
        "meson.build" => c_cpp::read_meson(path, text),
        "configure.ac" => c_cpp::read_autoconf(path, text),
        "Makefile" | "makefile" | "GNUmakefile" => c_cpp::read_makefile(path, text),
        "conanfile.txt" => c_cpp::read_conan(path, text),
        "vcpkg.json" => c_cpp::read_vcpkg(path, text),
        _ if is_requirements(name) => python::read_requirements(path, text),
        _ => return None,
    };
    Some(manifest)
}

/// Whether [`read`] knows a file of this name.
pub(super) fn is_manifest(name: &str) -> bool {
    matches!(
        name,
        "Cargo.toml"
            | "package.json"
            | "pyproject.toml"
            | "setup.cfg"
            | "setup.py"
            | "go.mod"
            | "pom.xml"
            | "build.gradle"
            | "build.gradle.kts"
            | "CMakeLists.txt"
            | "meson.build"
            | "configure.ac"
            | "Makefile"
            | "makefile"
            | "GNUmakefile"
            | "conanfile.txt"
            | "vcpkg.json"
    ) || is_requirements(name)
}

fn is_requirements(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, ending)| {
        stem.starts_with("requirements") && matches!(ending, "txt" | "in")
    })
}
