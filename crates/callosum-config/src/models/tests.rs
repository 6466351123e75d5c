//! Tests of [`ModelSettings`]: every kind is read, and every fault names file, key, value and what is allowed.

use super::*;
use crate::test_dir::TestDir;

fn load(text: &str) -> Result<ModelSettings, String> {
    let ground = TestDir::new();
    let path = ground.write("config.toml", text);
    let loaded = ModelSettings::load(&ground.disk, &path);
    loaded.map_err(|error| {
        let shown = error.to_string();
        shown.replace(&ground.top.display().to_string(), "FOLDER")
    })
}

/// CCOS-MOD-1: the registry of models is the user's configuration.
#[test]
fn each_kind_of_model_is_read() {
    let ground = TestDir::new();
    let text = r#"
        [models.script]
        kind = "stub"
        script = "answers.jsonl"
        trust_tier = 1

        [models.lab]
        kind = "remote-arbiter"
        url = "https://lab.example.org:8443/callosum"
        model = "qwen"
        token_env = "LAB_TOKEN"

        [models."llama-3.1"]
        kind = "local"
        url = "http://127.0.0.1:8080"
        context_tokens = 32768

        [arbiter]
        planner = "llama-3.1"
        reviewers = ["lab", "claude"]
        serve_models = ["llama-3.1", "echo"]
        serve_token_file = "/etc/token"
    "#;
    let path = ground.write("config.toml", text);
    let settings = ModelSettings::load(&ground.disk, &path).unwrap();
    let names: Vec<_> = settings.models.iter().map(|model| &*model.name).collect();
    assert_eq!(names, ["lab", "llama-3.1", "script"]);
    assert_eq!(
        settings.get("script").unwrap(),
        &ModelSetting {
            name: "script".to_owned(),
            kind: ModelKind::Stub {
                script: ground.path("answers.jsonl")
            },
            trust_tier: Some(1),
        }
    );
    let ModelKind::RemoteArbiter { token, model, .. } = &settings.get("lab").unwrap().kind else {
        panic!("{settings:?}");
    };
    assert_eq!(
        (token, &**model),
        (&TokenPlace::Variable("LAB_TOKEN".to_owned()), "qwen")
    );
    assert_eq!(settings.planner.as_deref(), Some("llama-3.1"));
    assert_eq!(settings.reviewers, ["lab", "claude"]);
    let served = settings.served.unwrap();
    assert_eq!(served.names, ["llama-3.1", "echo"]);
    assert_eq!(served.token, TokenPlace::File("/etc/token".into()));
    assert_eq!(load("").unwrap(), ModelSettings::default());
}

/// CCOS-MOD-1: a prompt and a token go over https, or stay on this machine.
#[test]
fn a_plain_address_must_be_loopback() {
    for (url, is_allowed) in [
        ("https://a.example.org", true),
        ("http://localhost:1/v1", true),
        ("http://[::1]:8080", true),
        ("http://127.9.9.9", true),
        ("http://10.0.0.1:8080", false),
        ("http://127.0.0.1.example.org", false),
        ("http://127.0.0.1@example.org", false),
        ("http://example.org:80", false),
        ("ftp://127.0.0.1", false),
        ("127.0.0.1:8080", false),
        ("https://", false),
        ("https://a.example.org/?key=1", false),
        ("http://127.0.0.1 /", false),
    ] {
        let text = format!("[models.a]\nkind = \"local\"\nurl = \"{url}\"\n");
        let loaded = load(&text);
        assert_eq!(loaded.is_ok(), is_allowed, "{url}: {loaded:?}");
    }
}

/// CCOS-MOD-1: a fault names the file, the key, the value and what is allowed.
#[test]
fn a_fault_names_file_key_value_and_what_is_allowed() {
    for (text, parts) in [
        (
            "[models.a]\n",
            &["FOLDER/config.toml", "`models.a.kind` is missing", "stub"][..],
        ),
        (
            "[models.a]\nkind = \"gpt\"\n",
            &["`models.a.kind` is \"gpt\"", "remote-arbiter"],
        ),
        (
            "[models.a]\nkind = \"stub\"\n",
            &["`models.a.script` is missing"],
        ),
        (
            "[models.a]\nkind = \"stub\"\nscript = \"a\"\nurl = \"b\"\n",
            &["`models.a.url` is unknown (allowed: kind, trust_tier, script)"],
        ),
        (
            "[models.echo]\nkind = \"stub\"\nscript = \"a\"\n",
            &["`models` is \"echo\""],
        ),
        (
            "[models.\"../a\"]\nkind = \"stub\"\nscript = \"a\"\n",
            &["`models` is \"../a\""],
        ),
        ("models = 1\n", &["`models` is 1"]),
        (
            "[models.a]\nkind = \"local\"\nurl = \"http://h.example\"\ntrust_tier = 3\n",
            &["`models.a.url` is \"http://h.example\"", "from 0 to 2"],
        ),
        (
            "[models.a]\nkind = \"remote-arbiter\"\nurl = \"https://h.example\"\n",
            &[
                "`models.a.token_file` is missing",
                "`token_env`",
                "`models.a.model` is missing",
            ],
        ),
        (
            "[arbiter]\nserve_models = [\"b\"]\nserve_token_env = \"T\"\n",
            &["`arbiter.serve_models` is \"b\""],
        ),
        (
            "[arbiter]\nserve_models = [\"echo\"]\n",
            &["`arbiter.serve_token_file` is missing"],
        ),
        (
            "[arbiter]\nplanner = 5\nreviewer = []\n",
            &["`arbiter.planner` is 5", "`arbiter.reviewer` is unknown"],
        ),
        (
            "[arbiter]\nreviewers = \"a\"\n",
            &["`arbiter.reviewers` is \"a\""],
        ),
        (
            "[models\n",
            &["FOLDER/config.toml is not valid TOML: line 1"],
        ),
    ] {
        let shown = load(text).unwrap_err();
        for part in parts {
            assert!(shown.contains(part), "{text}: {shown}");
        }
    }
}

/// CCOS-MOD-1: an address or a token that is in the wrong place is not repeated.
#[test]
fn a_misplaced_secret_is_not_shown() {
    for text in [
        "[models.a]\nkind = \"remote-arbiter\"\nmodel = \"m\"\nurl = \"https://me:hunter2@h.example\"\ntoken_env = \"T\"\n",
        "[models.a]\nkind = \"remote-arbiter\"\nmodel = \"m\"\nurl = \"https://h.example\"\ntoken_env = \"hunter2-is-it\"\n",
        "[models.a]\nkey = \"hunter2\n",
    ] {
        let shown = load(text).unwrap_err();
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
