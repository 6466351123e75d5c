//! [`Packages`]: facts from the manifests of a tree, as far as imports need them.

/// The packages that a tree holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packages {
    /// One for each manifest.
    pub packages: Vec<Package>,
    /// Short names for folders: the `paths` of a `tsconfig.json`, the `imports` of a
    /// `package.json`.
    pub aliases: Vec<Alias>,
}

/// A package of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// The ecosystem whose rules it follows.
    pub ecosystem: Ecosystem,
    /// Its name as its manifest knows it; in Go the module path.
    pub name: String,
    /// The folder of its manifest, "/"-separated; empty for the root.
    pub folder: String,
    /// The file that others get when they import it by its name, from the root of the tree; `None`
    /// if the manifest names none and the ecosystem's default holds.
    pub entry: Option<String>,
    /// Of a `package.json`: its `exports`, `main` and other entries as (subpath, file) pairs in the
    /// order to try, both with at most one `*`. The subpath of the package itself is `.`.
    pub exports: Vec<(String, String)>,
    /// Its dependencies, those of tests and builds included.
    pub dependencies: Vec<Dependency>,
}

/// A package that a package depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The name in the manifest's registry.
    pub package: String,
    /// The name in source code, if the manifest gives another
    /// (`json = { package = "serde_json" }`).
    pub alias: Option<String>,
}

/// The ecosystem whose rules a package follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ecosystem {
    /// Rust: `Cargo.toml`.
    Cargo,
    /// Python: `pyproject.toml`, `setup.py`, `requirements.txt`.
    Python,
    /// JavaScript and TypeScript: `package.json`.
    Npm,
    /// Go: `go.mod`.
    Go,
    /// Java: `pom.xml`, `build.gradle`.
    Jvm,
    /// C and C++: `conanfile.txt`, `vcpkg.json`.
    Native,
}

/// A short name for a folder or file in imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The folder in whose files it holds, "/"-separated; empty for the whole tree.
    pub folder: String,
    /// The written path, with at most one `*`: `@/*`.
    pub pattern: String,
    /// The real path, from the root of the tree, with at most one `*`: `src/*`.
    pub target: String,
}
