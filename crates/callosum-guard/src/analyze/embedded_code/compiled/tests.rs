//! Programs in compiled languages as agents write them, and what they would do.

use super::*;

fn effects_of(source: &str) -> Vec<Effect> {
    crate::analyze::embedded_code::effects(
        COMPILED,
        source,
        "/home/u",
        KnownPrograms::new(&["git", "rm"]),
    )
}

/// CAKE-SHIM-1: what a program in a compiled language runs or deletes is found by its strings.
#[test]
fn what_a_compiled_program_would_do_is_found() {
    for (source, expected) in [
        (
            "int main(void) { char c = '\\''; system(\"rm -rf /\"); }",
            Effect::Shell("rm -rf /".to_owned()),
        ),
        (
            "execl(\"/bin/rm\", \"rm\", \"-rf\", \"/\", NULL);",
            words(&["rm", "-rf", "/"]),
        ),
        (
            "fn f<'a>(x: &'a str) { Command::new(\"git\").arg(\"reset\").args([\"--hard\"]).status(); }",
            words(&["git", "reset", "--hard"]),
        ),
        (
            "let mut c = Command::new(\"rm\"); c.arg(\"-rf\"); c.arg(\"/\");",
            words(&["rm", "-rf", "/"]),
        ),
        (
            "const P: &str = \"/home/u\"; fs::remove_dir_all(P)?;",
            words(&["rm", "-rf", "/home/u"]),
        ),
        (
            "std::fs::remove_dir_all(dirs::home_dir().unwrap().join(\"work\"))",
            words(&["rm", "-rf", "/home/u/work"]),
        ),
        (
            "h, err := os.UserHomeDir()\nos.RemoveAll(filepath.Join(h, \"work\"))",
            words(&["rm", "-rf", "/home/u/work"]),
        ),
        (
            "let h = env::var(\"HOME\")?; let p = format!(\"{}/work\", h); fs::remove_dir_all(&p)",
            words(&["rm", "-rf", "/home/u/work"]),
        ),
        (
            "let p = Path::new(&env::var(\"HOME\").unwrap()).join(name); fs::remove_dir_all(p)",
            words(&["rm", "-rf", "/home/u/\u{f8f1}"]),
        ),
        (
            "dir := \"/data\"\nos.RemoveAll(dir)",
            words(&["rm", "-rf", "/data"]),
        ),
        (
            "exec.Command(\"git\", \"clean\", \"-fdx\").Run()",
            words(&["git", "clean", "-fdx"]),
        ),
        (
            "new ProcessBuilder(\"rm\", \"-rf\", \"/\").start();",
            words(&["rm", "-rf", "/"]),
        ),
        (
            "Runtime.getRuntime().exec(\"git reset --hard\");",
            Effect::Shell("git reset --hard".to_owned()),
        ),
        (
            "File(\"/srv/x\").deleteRecursively()",
            words(&["rm", "-rf", "/srv/x"]),
        ),
        (
            "Directory.Delete(\"/srv/x\", true);",
            words(&["rm", "-rf", "/srv/x"]),
        ),
        (
            "Process.Start(\"rm\", \"-rf /\");",
            Effect::Shell("rm -rf /".to_owned()),
        ),
        (
            "try FileManager.default.removeItem(atPath: \"/srv/x\")",
            words(&["rm", "-rf", "/srv/x"]),
        ),
        ("os.RemoveAll(os.Args[1])", words(&[UNKNOWN])),
        (
            "nftw(\"/srv\", gone, 64, FTW_DEPTH); remove(path);",
            Effect::Perhaps("rm -rf '/srv'".to_owned()),
        ),
        (
            "var c = std.process.Child.init(&.{ \"rm\", \"-rf\", \"/\" }, a);",
            Effect::Perhaps("'rm' '-rf' '/'".to_owned()),
        ),
        ("for (;;) { fork(); }", words(&["fork-bomb"])),
        ("while (1) fork();", words(&["fork-bomb"])),
    ] {
        let found = effects_of(source);
        assert!(found.contains(&expected), "{source}: {found:?}");
    }
}

/// CAKE-SHIM-1: what only computes, or tidies up after itself, does nothing that matters.
#[test]
fn what_only_computes_does_nothing() {
    for source in [
        "int main(void) { for (int i = 0; i < 3; i++) fork(); printf(\"rm -rf /\\n\"); }",
        "let dir = std::env::temp_dir().join(name); fs::remove_dir_all(&dir).ok();",
        "d, _ := os.MkdirTemp(\"\", \"x\")\ndefer os.RemoveAll(d)",
        "println(\"x\" toString)",
        "items.remove(\"a\"); run(\"fast\"); list.Remove(x);",
        "// os.RemoveAll(\"/\")\nfmt.Println(\"/etc\")",
        "template<typename T> T twice(T x) { return x + x; }",
    ] {
        let found = effects_of(source);
        let harmless = |effect: &Effect| match effect {
            Effect::Words(words) => {
                words[0] == "rm" && (!words[2].starts_with('/') || words[2].starts_with("/tmp/"))
            }
            _ => false,
        };
        assert!(found.iter().all(harmless), "{source}: {found:?}");
    }
}
