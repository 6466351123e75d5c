//! [`Manifest`]: the facts that manifests of every ecosystem have in common.

/// A text and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    /// The text.
    pub(crate) text: String,
    /// Its line, from 1.
    pub(crate) line: u32,
}

/// Build tool of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ecosystem {
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
    pub(crate) fn name(self) -> &'static str {
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
    pub(crate) fn is_native(self) -> bool {
        matches!(
            self,
            Self::CMake | Self::Meson | Self::Autotools | Self::Make | Self::Conan | Self::Vcpkg
        )
    }
}

/// Content of one manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// Its path from the root of the tree.
    pub(crate) path: String,
    /// Its build tool.
    pub(crate) ecosystem: Ecosystem,
    /// The package that it describes, if it describes one.
    pub(crate) package: Option<Package>,
    /// Its dependencies, in order of appearance.
    pub(crate) dependencies: Vec<Dependency>,
    /// The dependencies that several packages may inherit (Cargo's workspace, Maven's management).
    pub(crate) shared: Vec<Dependency>,
    /// The version that packages below it may inherit.
    pub(crate) shared_version: Option<Placed>,
    /// The line that declares that it holds several packages.
    pub(crate) workspace: Option<u32>,
    /// The file that other code gets when it imports the package, from the root of the tree, if the
    /// manifest names it.
    pub(crate) entry: Option<String>,
    /// Further files that others get: those of `exports`, and `types`, from the root of the tree.
    pub(crate) entries: Vec<String>,
    /// For a `package.json`, the files for imports of the package, or of a subpath: (subpath, file)
    /// pairs in the order to try, both with at most one `*`.
    pub(crate) exports: Vec<(String, String)>,
    /// Programs that it builds or installs.
    pub(crate) programs: Vec<Program>,
    /// Commands that it names for people to run.
    pub(crate) scripts: Vec<Script>,
    /// The reason why it could not be read.
    pub(crate) unread: Option<String>,
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
    pub(crate) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// A path that the manifest gives, from the root of the tree.
    pub(crate) fn rooted(&self, path: &str) -> String {
        let path = path.trim_start_matches("./");
        match self.folder() {
            "" => path.to_owned(),
            folder => format!("{folder}/{path}"),
        }
    }
}

/// A package's own name and words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    /// Its name.
    pub(crate) name: Placed,
    /// Its version, if there is one.
    pub(crate) version: Option<Placed>,
    /// Its description of itself.
    pub(crate) about: Option<Placed>,
}

/// Something that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// Its name in its registry.
    pub(crate) name: String,
    /// The name that code uses for it, if that is another.
    pub(crate) alias: Option<String>,
    /// The version asked for, as written.
    pub(crate) requirement: Option<String>,
    /// Its purpose.
    pub(crate) role: Use,
    /// Whether it can be left out.
    pub(crate) optional: bool,
    /// Whether it is part of the same tree.
    pub(crate) local: bool,
    /// Whether version and place are inherited from a workspace.
    pub(crate) inherited: bool,
    /// Its line.
    pub(crate) line: u32,
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
pub(crate) enum Use {
    /// The program itself.
    Normal,
    /// Building it.
    Build,
    /// Tests, examples, tools.
    Dev,
}

/// A program that a manifest builds or installs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// The name it is started by.
    pub(crate) name: String,
    /// Its entry point: a path from the root, or `package.module:function`.
    pub(crate) starts: Option<String>,
    /// The manifest's line.
    pub(crate) line: u32,
}

/// A command that a manifest gives a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Script {
    /// The name.
    pub(crate) name: String,
    /// The command.
    pub(crate) command: String,
    /// Its line.
    pub(crate) line: u32,
}
