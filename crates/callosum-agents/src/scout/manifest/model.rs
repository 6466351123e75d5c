//! [`Manifest`]: the facts that manifests of every ecosystem have in common.

/// A text and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::scout) struct Placed {
    /// The text.
    pub(in crate::scout) text: String,
    /// Its line, from 1.
    pub(in crate::scout) line: u32,
}

/// Build tool of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::scout) enum Ecosystem {
    /// Cargo.
    Cargo,
    /// npm, pnpm, yarn.
    Node,
    /// pip and its kin.
    Python,
    /// Go modules.
    Go,
    /// Maven.
    Maven,
    /// Gradle.
    Gradle,
    /// CMake.
    CMake,
    /// Meson.
    Meson,
    /// GNU Autotools.
    Autotools,
    /// make.
    Make,
    /// Conan.
    Conan,
    /// vcpkg.
    Vcpkg,
}

impl Ecosystem {
    /// The name that a reader knows it by.
    pub(in crate::scout) fn name(self) -> &'static str {
        match self {
            Self::Cargo => "Cargo",
            Self::Node => "npm",
            Self::Python => "Python",
            Self::Go => "Go modules",
            Self::Maven => "Maven",
            Self::Gradle => "Gradle",
            Self::CMake => "CMake",
            Self::Meson => "Meson",
            Self::Autotools => "Autotools",
            Self::Make => "make",
            Self::Conan => "Conan",
            Self::Vcpkg => "vcpkg",
        }
    }

    /// Whether it builds C and C++.
    pub(in crate::scout) fn is_native(self) -> bool {
        matches!(
            self,
            Self::CMake | Self::Meson | Self::Autotools | Self::Make | Self::Conan | Self::Vcpkg
        )
    }
}

/// Content of one manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::scout) struct Manifest {
    /// Its path from the root of the tree.
    pub(in crate::scout) path: String,
    /// Its build tool.
    pub(in crate::scout) ecosystem: Ecosystem,
    /// The package that it describes, if it describes one.
    pub(in crate::scout) package: Option<Package>,
    /// Its dependencies, in order of appearance.
    pub(in crate::scout) dependencies: Vec<Dependency>,
    /// The dependencies that several packages may inherit (Cargo's workspace, Maven's management).
    pub(in crate::scout) shared: Vec<Dependency>,
    /// The version that packages below it may inherit.
    pub(in crate::scout) shared_version: Option<Placed>,
    /// The line that declares that it holds several packages.
    pub(in crate::scout) workspace: Option<u32>,
    /// The file that other code gets when it imports the package, from the root of the tree, if the
    /// manifest names it.
    pub(in crate::scout) entry: Option<String>,
    /// Further files that others get: those of `exports`, and `types`, from the root of the tree.
    pub(in crate::scout) entries: Vec<String>,
    /// For a `package.json`, the files for imports of the package, or of a subpath: (subpath, file)
    /// pairs in the order to try, both with at most one `*`.
    pub(in crate::scout) exports: Vec<(String, String)>,
    /// Programs that it builds or installs.
    pub(in crate::scout) programs: Vec<Program>,
    /// Commands that it names for people to run.
    pub(in crate::scout) scripts: Vec<Script>,
    /// The reason why it could not be read.
    pub(in crate::scout) unread: Option<String>,
}

impl Manifest {
    /// Creates an empty manifest.
    pub(super) fn new(path: &str, ecosystem: Ecosystem) -> Self {
        Self {
            path: path.to_owned(),
            ecosystem,
            package: None,
            dependencies: Vec::new(),
            shared: Vec::new(),
            shared_version: None,
            workspace: None,
            entry: None,
            entries: Vec::new(),
            exports: Vec::new(),
            programs: Vec::new(),
            scripts: Vec::new(),
            unread: None,
        }
    }

    /// Returns its folder, without a slash at the end; empty for the root.
    pub(in crate::scout) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// A path that the manifest gives, from the root of the tree.
    pub(in crate::scout) fn rooted(&self, path: &str) -> String {
        let path = path.trim_start_matches("./");
        match self.folder() {
            "" => path.to_owned(),
            folder => format!("{folder}/{path}"),
        }
    }
}

/// A package's own name and words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::scout) struct Package {
    /// Its name.
    pub(in crate::scout) name: Placed,
    /// Its version, if there is one.
    pub(in crate::scout) version: Option<Placed>,
    /// Its description of itself.
    pub(in crate::scout) about: Option<Placed>,
}

/// Something that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::scout) struct Dependency {
    /// Its name in its registry.
    pub(in crate::scout) name: String,
    /// The name that code uses for it, if that is another.
    pub(in crate::scout) alias: Option<String>,
    /// The version asked for, as written.
    pub(in crate::scout) requirement: Option<String>,
    /// Its purpose.
    pub(in crate::scout) role: Use,
    /// Whether it can be left out.
    pub(in crate::scout) optional: bool,
    /// Whether it is part of the same tree.
    pub(in crate::scout) local: bool,
    /// Whether version and place are inherited from a workspace.
    pub(in crate::scout) inherited: bool,
    /// Its line.
    pub(in crate::scout) line: u32,
}

impl Dependency {
    /// A dependency of the program itself.
    pub(super) fn new(name: impl Into<String>, requirement: Option<String>, line: u32) -> Self {
        Self {
            name: name.into(),
            alias: None,
            requirement: requirement.filter(|version| !version.is_empty()),
            role: Use::Normal,
            optional: false,
            local: false,
            inherited: false,
            line,
        }
    }

    /// The same, for another use.
    pub(super) fn used_for(mut self, role: Use) -> Self {
        self.role = role;
        self
    }
}

/// Purpose of a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::scout) enum Use {
    /// The program itself.
    Normal,
    /// Building it.
    Build,
    /// Tests, examples, tools.
    Dev,
}

/// A program that a manifest builds or installs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::scout) struct Program {
    /// The name it is started by.
    pub(in crate::scout) name: String,
    /// Its entry point: a path from the root, or `package.module:function`.
    pub(in crate::scout) starts: Option<String>,
    /// The manifest's line.
    pub(in crate::scout) line: u32,
}

/// A command that a manifest gives a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::scout) struct Script {
    /// The name.
    pub(in crate::scout) name: String,
    /// The command.
    pub(in crate::scout) command: String,
    /// Its line.
    pub(in crate::scout) line: u32,
}
