//! Results of reading manifests, each in the form that people write it.

use super::{Manifest, Use, aliases, inherit, read};

/// One line for each fact: what it is, its words, its line.
fn facts(manifest: &Manifest) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(package) = &manifest.package {
        facts.push(format!(
            "package {} :{}",
            package.name.text, package.name.line
        ));
        for (what, placed) in [("version", &package.version), ("about", &package.about)] {
            if let Some(placed) = placed {
                facts.push(format!("{what} {} :{}", placed.text.trim(), placed.line));
            }
        }
    }
    for dependency in &manifest.dependencies {
        let role = match dependency.role {
            Use::Normal => "needs",
            Use::Build => "build needs",
            Use::Dev => "dev needs",
        };
        let mut fact = format!("{role} {}", dependency.name);
        for (set, word) in [(dependency.optional, "?"), (dependency.local, " (local)")] {
            if set {
                fact.push_str(word);
            }
        }
        if let Some(alias) = &dependency.alias {
            fact = format!("{fact} as {alias}");
        }
        let version = dependency.requirement.as_deref().unwrap_or("-");
        facts.push(format!("{fact} {version} :{}", dependency.line));
    }
    for program in &manifest.programs {
        let starts = program.starts.as_deref().unwrap_or("-");
        facts.push(format!(
            "program {} at {starts} :{}",
            program.name, program.line
        ));
    }
    for script in &manifest.scripts {
        facts.push(format!(
            "script {}: {} :{}",
            script.name, script.command, script.line
        ));
    }
    facts.extend(manifest.unread.iter().map(|_| "unread".to_owned()));
    facts
}

#[track_caller]
fn check(path: &str, text: &str, expected: &[&str]) {
    assert_eq!(facts(&read(path, text).unwrap()), expected);
}

#[test]
fn cargo_manifests_give_packages_programs_and_every_kind_of_dependency() {
    check(
        "crates/x/Cargo.toml",
        "[package]\nname = \"x\"\nversion = \"1.2.3\"\ndescription = \"\"\"\nDoes x.\n\"\"\"\n\n\
         [[bin]]\nname = \"xx\"\npath = \"src/xx.rs\"\n\n[dependencies]\nserde = \"1\"\n\
         json = { package = \"serde_json\", version = \"2\", optional = true }\n\
         near = { path = \"../near\" }\n[target.'cfg(unix)'.dependencies]\nlibc = \"0.2\"\n\
         [dev-dependencies.insta]\nversion = \"1\"\n",
        &[
            "package x :2",
            "version 1.2.3 :3",
            "about Does x. :5",
            "needs serde 1 :13",
            "needs serde_json? as json 2 :14",
            "needs near (local) - :15",
            "needs libc 0.2 :17",
            "dev needs insta 1 :18",
            "program xx at crates/x/src/xx.rs :9",
        ],
    );
}

#[test]
fn cargo_members_inherit_versions_and_places_from_their_workspace() {
    let mut manifests = vec![
        read(
            "Cargo.toml",
            "[workspace]\nmembers = [\"a\"]\n[workspace.dependencies]\nserde = \"1.5\"\n\
             b = { path = \"b\" }\n",
        )
        .unwrap(),
        read(
            "a/Cargo.toml",
            "[package]\nname = \"a\"\n[dependencies]\nserde.workspace = true\nb.workspace = true\n",
        )
        .unwrap(),
    ];
    inherit(&mut manifests);
    assert_eq!(
        facts(&manifests[1]),
        ["package a :2", "needs serde 1.5 :4", "needs b (local) - :5"]
    );
}

#[test]
fn package_json_gives_scripts_and_programs() {
    check(
        "package.json",
        "{\n  \"name\": \"@x/y\",\n  \"version\": \"1.0.0\",\n  \"bin\": { \"y\": \"./cli.js\" },\n  \
         \"scripts\": {\n    \"test\": \"vitest\"\n  },\n  \"dependencies\": {\n    \
         \"express\": \"^4\",\n    \"near\": \"workspace:*\"\n  },\n  \"devDependencies\": {\n    \
         \"vitest\": \"^1\"\n  }\n}\n",
        &[
            "package @x/y :2",
            "version 1.0.0 :3",
            "needs express ^4 :9",
            "needs near (local) workspace:* :10",
            "dev needs vitest ^1 :13",
            "program y at cli.js :4",
            "script test: vitest :6",
        ],
    );
}

#[test]
fn python_projects_are_read_in_their_four_forms() {
    check(
        "pyproject.toml",
        "[build-system]\nrequires = [\"flit\"]\n[project]\nname = \"x\"\n\
         dependencies = [\n  \"click>=8\",\n  \"tomli[fast] >= 2; python_version < '3.11'\",\n]\n\
         [project.scripts]\nx = \"x.cli:main\"\n[dependency-groups]\ntests = [\"pytest\"]\n",
        &[
            "package x :4",
            "build needs flit - :2",
            "needs click >=8 :6",
            "needs tomli >= 2 :7",
            "dev needs pytest - :12",
            "program x at x.cli:main :10",
        ],
    );
    check(
        "setup.cfg",
        "[metadata]\nname = x\n[options]\ninstall_requires =\n    click>=8\n    # no\n\
         [options.entry_points]\nconsole_scripts =\n    x = x.cli:main\n",
        &[
            "package x :2",
            "needs click >=8 :5",
            "program x at x.cli:main :9",
        ],
    );
    check(
        "setup.py",
        "setup(\n    name='x',\n    install_requires=[\n        'click>=8',  # 'no'\n    ],\n)\n",
        &["package x :2", "needs click >=8 :4"],
    );
    check(
        "requirements-dev.txt",
        "-r base.txt\npytest==8.0  # runner\nhttps://x/y.whl\n",
        &["dev needs pytest ==8.0 :2"],
    );
}

#[test]
fn what_setup_cfg_takes_from_elsewhere_is_no_value() {
    let text = "[metadata]\nname = x\nversion = attr: x.__version__\ndescription = file: README\n";
    let package = read("setup.cfg", text).unwrap().package.unwrap();
    assert_eq!(package.name.text, "x");
    assert!(package.version.is_none() && package.about.is_none());
}

#[test]
fn go_modules_leave_out_what_only_others_need() {
    check(
        "go.mod",
        "module example.org/x\n\nrequire (\n\ta.org/b v1.2.3\n\tc.org/d v2.0.0 // indirect\n)\n\
         require e.org/f v0.1.0\n",
        &[
            "package example.org/x :1",
            "needs a.org/b v1.2.3 :4",
            "needs e.org/f v0.1.0 :7",
        ],
    );
}

#[test]
fn java_builds_fill_in_their_own_properties() {
    check(
        "pom.xml",
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\">\n<artifactId>x</artifactId>\n\
         <version>1</version>\n<properties><junit.version>5</junit.version></properties>\n\
         <dependencies><dependency>\n<groupId>org.junit</groupId>\n<artifactId>junit</artifactId>\n\
         <version>${junit.version}</version><scope>test</scope>\n</dependency></dependencies>\n\
         </project>\n",
        &[
            "package x :2",
            "version 1 :3",
            "dev needs org.junit:junit 5 :7",
        ],
    );
    check(
        "app/build.gradle.kts",
        "dependencies {\n    implementation(\"com.x:y:1.0\")\n    api(project(\":core\"))\n    \
         testImplementation('org.junit:junit:4')\n}\n",
        &[
            "needs com.x:y 1.0 :2",
            "needs core (local) - :3",
            "dev needs org.junit:junit 4 :4",
        ],
    );
}

#[test]
fn native_builds_are_read_for_their_literals() {
    check(
        "CMakeLists.txt",
        "project(x VERSION 1.2\n  LANGUAGES C)\nfind_package(ZLIB 1.2 REQUIRED)\n\
         find_package(${NAME})\npkg_check_modules(DEPS glib-2.0>=2.50)\nadd_executable(tool a.c)\n",
        &[
            "package x :1",
            "version 1.2 :1",
            "needs ZLIB 1.2 :3",
            "needs glib-2.0 >=2.50 :5",
            "program tool at - :6",
        ],
    );
    check(
        "meson.build",
        "project('x', 'c', version: '3')\nzlib = dependency('zlib', version: '>=1.2')\n",
        &["package x :1", "version 3 :1", "needs zlib >=1.2 :2"],
    );
    check(
        "configure.ac",
        "AC_INIT([x],[1.0])\nPKG_CHECK_MODULES([Z], [zlib >= 1.2])\nAC_CHECK_LIB([m],[pow])\n",
        &[
            "package x :1",
            "version 1.0 :1",
            "needs zlib >= 1.2 :2",
            "needs m? - :3",
        ],
    );
    check(
        "Makefile",
        "test: all\n\t./run\nall:\n\tcc\nX:=1\n",
        &["script all: make all :3", "script test: make test :1"],
    );
    check(
        "conanfile.txt",
        "[requires]\nzlib/1.2.11@x/y\n[generators]\ncmake/1\n",
        &["needs zlib 1.2.11 :2"],
    );
    check(
        "vcpkg.json",
        "{\n  \"dependencies\": [\n    \"zlib\",\n    { \"name\": \"fmt\", \"version>=\": \"9\" }\n  ]\n}\n",
        &["needs zlib - :3", "needs fmt >=9 :4"],
    );
}

#[test]
fn a_manifest_that_cannot_be_parsed_says_so_and_nothing_else() {
    for path in [
        "Cargo.toml",
        "package.json",
        "pyproject.toml",
        "pom.xml",
        "vcpkg.json",
    ] {
        check(path, "<<<<<<< ours {[", &["unread"]);
    }
}

#[test]
fn typescript_path_aliases_are_read_past_comments() {
    let text = "{\n  // where\n  \"compilerOptions\": { \"baseUrl\": \"./src\", \"paths\": { \"@/*\": [\"./*\"], } } /* end */\n}\n";
    let found = aliases(&[("web/tsconfig.json", text)].into());
    let pairs: Vec<(&str, &str)> = found
        .iter()
        .map(|alias| (alias.pattern.as_str(), alias.target.as_str()))
        .collect();
    assert_eq!(pairs, [("@/*", "web/src/*"), ("*", "web/src/*")]);
}

#[test]
fn other_files_are_no_manifests() {
    assert_eq!(read("src/main.rs", ""), None);
    assert_eq!(read("docs/requirements.md", ""), None);
}
