//! What is masked, and what is not.

use proptest::prelude::*;

use super::*;

/// Keys are put together here, so that no scanner takes this file for a leak.
fn key(parts: &[&str]) -> String {
    parts.concat()
}

fn check(text: &str, masked: &str) {
    assert_eq!(mask(text).text, masked);
}

/// LOA-SEC-1: the forms that are known are masked, and what stands around them is not.
#[test]
fn keys_of_known_forms_are_masked() {
    let letters = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5";
    for (secret, kind) in [
        (key(&["AKIA", "QWERTYUIOPASDFGH"]), Kind::Aws),
        (key(&["ghp", "_", letters]), Kind::GitHub),
        (
            key(&["github", "_pat_", letters, "_", letters]),
            Kind::GitHub,
        ),
        (key(&["glpat", "-", &letters[..20]]), Kind::GitLab),
        (key(&["xoxb", "-123456789012-", letters]), Kind::Slack),
        (
            key(&["https://hooks.slack", ".com/services/T000/B000/", letters]),
            Kind::Slack,
        ),
        (key(&["sk", "_live_", letters]), Kind::Stripe),
        (key(&["AIza", &letters[..35]]), Kind::Google),
        (key(&["sk", "-proj-", letters]), Kind::ModelProvider),
        (key(&["sk", "-ant-api03-", letters]), Kind::ModelProvider),
        (key(&["npm", "_", letters]), Kind::Npm),
        (
            key(&["pypi", "-AgEIcHlwaS5vcmcCJ", letters, letters]),
            Kind::PyPi,
        ),
        (
            key(&["eyJ", "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.", letters]),
            Kind::Jwt,
        ),
        (
            key(&[
                "sk",
                "-or-v1-",
                "0123456789abcdef0123456789abcdef0123456789abcdef",
            ]),
            Kind::ModelProvider,
        ),
        (key(&["hf", "_", letters]), Kind::ModelProvider),
        (key(&["gsk", "_", letters, letters]), Kind::ModelProvider),
        (
            key(&["SG", ".", &letters[..22], ".", letters]),
            Kind::AccessToken,
        ),
        (
            key(&[
                "dop",
                "_v1_",
                "0123456789abcdef0123456789abcdef0123456789abcdef",
            ]),
            Kind::AccessToken,
        ),
        (
            key(&["shp", "at_", "0123456789abcdef0123456789abcdef"]),
            Kind::AccessToken,
        ),
        (key(&["hv", "s.", letters]), Kind::AccessToken),
        (key(&["123456789", ":AA", letters]), Kind::AccessToken),
        (
            key(&[
                "AGE-SECRET",
                "-KEY-1",
                "QWERTYUIOPASDFGHJKLZXCVBNM0123456789QWERTYUIOPASDF",
            ]),
            Kind::PrivateKey,
        ),
    ] {
        let masked = mask(&format!("key `{secret}`, then"));
        assert_eq!(masked.text, format!("key `[secret: {kind}]`, then"));
        assert_eq!(masked.found, [kind]);
    }
}

/// LOA-SEC-1: what speaks of a key's first line is no key, and nothing behind a key is taken with it.
#[test]
fn words_around_a_private_key_stay() {
    let begin = key(&["-----BEGIN ", "PRIVATE KEY-----"]);
    let end = key(&["-----END ", "PRIVATE KEY-----"]);
    for text in [
        format!(
            "It looks for a line {begin} and reads on.\nThen main starts the server\nwhich listens"
        ),
        format!("between {begin} and {end} stand the lines of the key, each of sixty-four letters"),
    ] {
        check(&text, &text);
    }
    let line = "MIIEowIBAAKCAQEA0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4";
    check(
        &format!("{begin}\n{line}\n{line}\n{end}\nafter line ok\n"),
        "[secret: private key]\nafter line ok\n",
    );
    check(
        &format!("{begin}\n{line}\n{line}\n\nafter line ok\n"),
        "[secret: private key]\n\nafter line ok\n",
    );
    let encrypted = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0123456789ABCDEF";
    check(
        &format!("{begin}\n{encrypted}\n\n{line}\n{line}\n"),
        "[secret: private key]\n",
    );
}

/// LOA-SEC-1: a password among the settings of an address goes, the rest of it stays.
#[test]
fn passwords_in_the_settings_of_an_address_are_masked() {
    let secret = key(&["hunter2", "Xy9"]);
    check(
        &format!("jdbc:postgresql://db/app?user=ana&password={secret}&ssl=true"),
        "jdbc:postgresql://db/app?user=ana&password=[secret: password in address]&ssl=true",
    );
    let account = key(&[
        "AccountKey=",
        "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5aB3dE5gH7jK9mN==",
    ]);
    check(
        &format!("AccountName=x;{account};Endpoint"),
        "AccountName=x;AccountKey=[secret: access token];Endpoint",
    );
}

/// Forms in which a command brings a secret, which stands at `@`.
const COMMANDS: [&str; 105] = [
    "PGPASSWORD=@ psql -h db app",
    "export DB_PASS=@",
    "env MYSQL_PWD='@' mysql",
    "AWS_SECRET_ACCESS_KEY=@ aws s3 ls",
    "AWS_ACCESS_KEY_ID=@ aws s3 ls",
    "docker run -e POSTGRES_PASSWORD=@ postgres",
    "docker run -e \"API_KEY=@\" app",
    "GITHUB_TOKEN=@ gh pr list",
    "SECRET_KEY_BASE=@ rails s",
    "ENCRYPTION_KEY=@ ./run",
    "curl -u user:@ https://example.org",
    "curl -sSu user:@ https://example.org",
    "curl -s -u 'user:@' https://example.org",
    "curl https://example.org --user user:@",
    "curl --user=user:@ https://example.org",
    "curl -U proxy:@ -x http://proxy https://example.org",
    "http -a user:@ example.org",
    "docker login -u user -p @ registry.example.org",
    "docker login registry.example.org --password @",
    "podman login --password=@ quay.io",
    "az login --service-principal -u app -p @ --tenant t",
    "mysql -uroot -p@ app",
    "mysqldump -h db -u root -p'@' app",
    "mysql --password=@ -e 'select 1'",
    "mongosh -u root -p @ host",
    "redis-cli -a @ flushall",
    "sshpass -p @ ssh host",
    "sshpass -p'@' ssh host",
    "sshpass -p \"@\" ssh host 'rm -rf x'",
    "ldapsearch -x -D cn=admin -w @ -b dc=x",
    "zip -P @ out.zip in",
    "7z x -p@ archive.7z",
    "sqlcmd -S db -U sa -P @",
    "smbclient //host/share -U user%@",
    "lftp -u user,@ ftp.example.org",
    "htpasswd -cb .htpasswd user @",
    "htpasswd -nb user @",
    "openssl enc -aes-256-cbc -k @ -in a",
    "openssl rsa -passin pass:@ -in key",
    "keytool -list -storepass @",
    "gpg --batch --passphrase @ -d x",
    "vault login --token=@",
    "npm publish --auth-token @",
    "terraform apply -var db_password=@",
    "kubectl create secret generic x --from-literal=password=@",
    "helm install x --set auth.password=@",
    "curl -H \"Authorization: Bearer @\" https://example.org",
    "curl -H 'authorization: @' https://example.org",
    "curl -H 'X-Api-Key: @' https://example.org",
    "curl -H \"PRIVATE-TOKEN:@\" https://example.org",
    "curl -d '{\"user\": \"a\", \"password\": \"@\"}' https://example.org",
    "curl -d \"{\\\"client_secret\\\": \\\"@\\\"}\" https://example.org",
    "git clone https://user:@@example.org/x.git",
    "psql postgres://app:@@db/app",
    "curl 'https://example.org/?access_token=@&x=1'",
    "echo @ | sudo -S apt update",
    "psql -c \"ALTER USER app WITH PASSWORD '@'\"",
    "mysql -e \"CREATE USER a IDENTIFIED BY '@'\"",
    "npm config set //registry.npmjs.org/:_authToken=@",
    "npm config set //registry.npmjs.org/:_authToken @",
    "npm set _authToken @",
    "echo '//registry.npmjs.org/:_authToken=@' >> ~/.npmrc",
    "aws configure set aws_secret_access_key @",
    "aws configure set aws_secret_access_key '@' --profile x",
    "git config --global github.token @",
    "vault login @",
    "vault login -address=https://v '@'",
    "vault kv put secret/app key=@ other=b",
    "echo @ | gh auth login --with-token",
    "gh auth login --with-token <<< '@'",
    "echo '@' | docker login -u user --password-stdin registry.example.org",
    "printf '%s' @ | tr -d x | podman login --password-stdin quay.io",
    "docker login -u user --password-stdin <<EOF\n@\nEOF",
    "echo user:@ | sudo chpasswd",
    "git clone https://@@github.com/a/b.git",
    "git clone https://@:x-oauth-basic@github.com/a/b.git",
    "git push https://@:@github.com/a/b.git",
    "ssh-keygen -t ed25519 -N @ -f key",
    "ssh-keygen -p -P '@' -N '' -f key",
    "mysql -psecret@ app",
    "mysql -uroot -ppassword=@ app",
    "7z a -psecret@ a.7z src",
    "curl --user=name:secret@ https://example.org",
    "curl -uname:token@ https://example.org",
    "psql postgres://app:secret/@@db/app",
    "psql 'postgresql://app:@@db:5432/app?sslmode=require'",
    "kubectl create secret generic x --from-literal=k=@",
    "kubectl -n app create secret generic x --from-literal k=@ --from-literal=b='@'",
    "gh secret set NAME -b @",
    "gh secret set NAME -b@",
    "gh secret set NAME --body=\"@\" --repo a/b",
    "gh secret set NAME <<< @",
    "echo -n @ | gh secret set NAME",
    "heroku config:set K=@ -a app",
    "heroku config:set A=b 'K=@'",
    "fly secrets set A=b K=\"@\"",
    "echo @ | docker secret create name -",
    "az keyvault secret set --vault-name v -n a --value @",
    "echo @ > .env",
    "echo K=@ >> app/.env.local",
    "echo \"K=@\" | tee -a .env",
    "printf 'K=%s\\n' @ > .env",
    "cat > .env <<EOF\nA=1\nK=@\nEOF",
    "cat <<'EOF' > .netrc\nmachine x login y password @\nEOF",
    "echo @ > token.txt",
];

fn with(form: &str, secret: &str) -> String {
    // Of two marks the second is an address's own.
    form.replacen('@', secret, 1)
}

/// CAL-SEC-1: what only the words before it give away is masked in commands, and what runs is not.
#[test]
fn secrets_on_command_lines_are_masked() {
    for form in COMMANDS {
        for secret in ["hunter2", "x", "correct-horse-battery", "pa$$w0rd!"] {
            for wrapped in [
                with(form, secret),
                format!("cd app && {} && ls", with(form, secret)),
                format!("bash -c '{}'", with(form, secret).replace('\'', "\"")),
            ] {
                let masked = mask_command(&wrapped).text;
                let bare = with(form, "");
                let is_gone = secret.len() == 1 || !masked.contains(secret);
                assert!(is_gone && masked.contains("[secret"), "{wrapped}\n{masked}");
                let program = bare.split([' ', '=']).next().unwrap();
                assert!(masked.contains(program), "{masked}");
            }
        }
    }
    let masked = mask_command("PGPASSWORD=x psql -c 'drop table t'; mysql -pabc x").text;
    let expected =
        "PGPASSWORD=[secret: argument] psql -c 'drop table t'; mysql -p[secret: argument] x";
    assert_eq!(masked, expected);
}

/// CAL-SEC-1: what a command does stays to be read.
#[test]
fn commands_without_secrets_stay_as_they_are() {
    for command in [
        "mkdir -p src/a && cp -u a:b c",
        "ssh -p 2222 host ls",
        "docker run -p 80:80 -u 1000:1000 nginx",
        "git commit -m 'read the password from a file'",
        "psql --no-password app",
        "docker login --username a --password-stdin",
        "ansible-playbook --ask-pass site.yml",
        "jest --passWithNoTests src/",
        "codex exec --dangerously-bypass-hook-trust 'ls'",
        "curl -o out.json https://example.org:8080/a@b",
        "curl -u $USER:$PASS https://example.org",
        "PGPASSWORD=$PW psql",
        "PGPASSWORD=\"$(cat pw)\" psql",
        "mysql -p app",
        "mysql -hprod -uroot app",
        "echo $PWD; PWD=/tmp ls; OLDPWD=/x cd -",
        "MAX_TOKEN=4096 ./run --max-tokens 200",
        "git clone git@github.com:a/b.git",
        "curl -H 'Content-Type: application/json' https://example.org",
        "curl -H \"Authorization: Bearer $TOKEN\" https://example.org",
        "kubectl get secret app -o yaml",
        "grep -rn token src | head",
        "cargo test secret::tests",
        "unzip -p a.zip",
        "openssl x509 -in cert.pem -noout",
        "echo y | sudo apt install x",
        "sort -k 2 a; gpg --passphrase-file f -d x",
        "psql -f reset_password.sql",
        "rm -rf / --no-preserve-root",
        "echo done > notes.txt; echo secret > secret_test.rs",
        "echo PORT=3000 >> .env && echo K=$V >> .env",
        "cp .env.example .env && cat .env",
        "git clone https://git@github.com/a/b.git ssh://me@host/x",
        "kubectl get secrets -o name | head",
        "vault login; vault status; vault kv get secret/app",
        "gh secret list && gh secret set NAME < file",
        "openssl req -new -key server.key -keyout x",
        "npm config get registry; git config user.name me",
        "ssh-keygen -t ed25519 -N '' -f key",
        "cat > src/a.rs <<EOF\nlet a = b;\nEOF",
        "echo hello | gh issue create --body-file -",
    ] {
        assert_eq!(mask_command(command).text, command);
    }
}

#[test]
fn a_private_key_goes_with_its_body() {
    let begin = key(&["-----BEGIN RSA ", "PRIVATE KEY-----"]);
    let end = key(&["-----END RSA ", "PRIVATE KEY-----"]);
    let body = "MIIEowIBAAKCAQEA0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4";
    check(
        &format!("a\n{begin}\n{body}\n{body}\n{end}\n\"b\""),
        "a\n[secret: private key]\n\"b\"",
    );
    check(
        &format!("\"{begin}\\n{body}\\n{end}\\n\", b"),
        "\"[secret: private key]\\n\", b",
    );
    // A key that was cut off is still a key.
    check(&format!("{begin}\n{body}"), "[secret: private key]");
    let code = format!("if line == \"{begin}\" {{ return Err(Found) }}");
    check(&code, &code);
}

#[test]
fn passwords_in_addresses_are_masked_alone() {
    check(
        "postgres://app:hunter22@db.internal:5432/app",
        "postgres://app:[secret: password in address]@db.internal:5432/app",
    );
    check(
        "redis://:p4ss:w0rd@10.0.0.1/0",
        "redis://:[secret: password in address]@10.0.0.1/0",
    );
    for text in [
        "postgres://user:password@localhost/db",
        "postgres://$USER:$PASS@localhost/db",
        "https://user:{token}@host/",
        "https://example.org:8080/@scope/name",
        "git@github.com:owner/name",
        "http://localhost:3000/a:b@c",
    ] {
        check(text, text);
    }
}

#[test]
fn values_given_to_telling_names_are_masked() {
    check(
        "DB_PASSWORD='s3cr3t-Pa55w0rd' # prod",
        "DB_PASSWORD='[secret: assigned value]' # prod",
    );
    check(
        "password = \"correct-horse-battery\"",
        "password = \"[secret: assigned value]\"",
    );
    check(
        "{\"api_key\": \"9f8e7d6c5b4a39281706f5e4d3c2b1a0\"}",
        "{\"api_key\": \"[secret: assigned value]\"}",
    );
    check(
        "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzKEYkeyQ1",
        "AWS_SECRET_ACCESS_KEY=[secret: assigned value]",
    );
    check(
        "Authorization: Bearer 0a1b2c3d4e5f6g7h8i9j",
        "Authorization: Bearer [secret: authorization header]",
    );
}

/// LOA-SEC-1: passwords as settings, environments and connection strings have them.
#[test]
fn passwords_without_quotes_are_masked() {
    let short = key(&["kd83", "hfKq92"]);
    let words = key(&["hunter2", "hunter9"]);
    for (before, secret, after) in [
        ("password: ", &words, ""),
        ("  password: ", &words, "  # of the test system\nuser: ana"),
        ("password = ", &words, "\nuser = ana"),
        ("the password: ", &short, " is old"),
        ("db.password=", &short, ""),
        ("spring.datasource.password=", &words, "\r\n"),
        ("DB_PASSWORD=", &"correcthorsebattery9".to_owned(), "\n"),
        ("export PGPASSWORD=", &short, " PGUSER=me"),
        ("DB_PASS=", &short, "\n"),
        ("Passwd: ", &"p4ss!w0rd-x".to_owned(), "\n"),
    ] {
        check(
            &format!("{before}{secret}{after}"),
            &format!("{before}[secret: assigned value]{after}"),
        );
    }
    for (before, after) in [
        ("Server=tcp:x.example.net;User ID=sa;Password=", ";"),
        ("\"Data Source=x;Initial Catalog=y;Encrypt=True;pwd=", "\""),
        ("Password=", ";Server=x;"),
        ("host=db user=app password=", " dbname=x"),
        ("Driver={SQL Server};Server=x;Uid=sa;Pwd=", ";"),
    ] {
        check(
            &format!("{before}{short}{after}"),
            &format!("{before}[secret: password in address]{after}"),
        );
    }
    let documented = key(&["wJalrXUtnFEMI/K7MDENG/bPxRfiCY", "EXAMPLEKEY"]);
    check(
        &format!("AWS_SECRET_ACCESS_KEY={documented}"),
        "AWS_SECRET_ACCESS_KEY=[secret: assigned value]",
    );
}

/// Few false alarms: what programs and templates have where settings have a password.
#[test]
fn types_variables_and_templates_are_not_passwords() {
    for text in [
        "pub password: String\n",
        "password: Utf8String\n",
        "password: bytes32\n",
        "password: Option<String>,",
        "password: hash256\n",
        "password = get_password()",
        "password = get_password2()\n",
        "password = config.password2\n",
        "password = settings.db1.x2\n",
        "login(host=host, user=user, password=password, netloc=netloc)",
        "port=None, user=None, password=None,",
        "password = user_input_2\n",
        "password = base64_text_9x\n",
        "password = sha256digest\n",
        "password = oldHash2Password\n",
        "password = os.environ['DB_PASSWORD_1']",
        "password: <your password 1>",
        "password: ${DB_PASSWORD_1}\n",
        "PASSWORD=$1\n",
        "PASSWORD=$(cat /run/secrets/db1)\n",
        "PASSWORD=\"$1\"",
        "DB_PASSWORD=changeme123\n",
        "PASSWORD=%PASSWORD1%\n",
        "if password == hunter2x9y2 {",
        "password => hunter2x9y2",
        "password::hash2of3x4\n",
        "  password: password123\n",
        "LDAP_OPT_PASSWORD=LDAP_OPT_X509_2\n",
        "password: /run/secrets/db_1x2\n",
        "password: user1@example2.com\n",
        "password: login-field-2large\n",
        "Server=x;Password=<password1>;",
        "Server=x;User ID={0};Password={1};",
        "host=db user=app password=$PASSWORD dbname=x",
        "OLDPWD=/home/me/work2/x1\n",
    ] {
        check(text, text);
    }
}

/// LOA-SEC-1: a secret of several lines keeps what follows in its line, and its kind can be told from
/// what was written.
#[test]
fn masks_in_place_move_no_line() {
    let begin = key(&["-----BEGIN ", "PRIVATE KEY-----"]);
    let line = "MIIEowIBAAKCAQEA0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4";
    let text = format!("a\n{begin}\n{line}\n{line}\n\nb\n");
    let masked = mask_in_place(&text);
    assert_eq!(masked.text, "a\n[secret: private key]\n\n\n\nb\n");
    assert_eq!(masks_in(&masked.text), masked.found);
    assert_eq!(masks_in("[secret: none of ours] [secret: aws"), []);
}

/// Few false alarms: what a digest of a repository is full of stays as it is.
#[test]
fn hashes_ids_and_code_are_not_secrets() {
    for text in [
        "commit 9b3f5c0e7a1d2b4c6d8e0f1a2b3c4d5e6f708192",
        "\"checksum\": \"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"",
        "id = \"67e55044-10b1-426f-9247-bb680e5fe0c8\"",
        "integrity: sha512-Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA==",
        "let token = self.tokens2.next_token(input_2);",
        "token: Token::Int32, secret: Option<String>",
        "password = get_password_v2()",
        "password: \"your-password-1\"",
        "password=${DB_PASSWORD_1}",
        "\"tokens_used\": 1234, \"token_method\": \"estimate:bytes-per-token/1\"",
        "class=\"sk-fading-circle-container-12\"",
        "const MAX_TOKEN: usize = 1024 * 1024;",
        "token = parse_header_field_value(line1)",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
        "sk_sp = 1; risk-2 task-12345678901234567890",
        "password=\"password123\", secret: 'secret_1234'",
        "\"hashed_password\": \"fakehashedsecret2\"",
        "ChangePassword: MSV1_0_PROTOCOL_MESSAGE_TYPE = 5",
        "pub credentials: MI_UserCredentials_0,",
        "\"password\": \"must-not-be-a-password\", password: \"login-field-large\"",
        "password: 'config.users.default', pwd=\"some_snake_case_name\"",
        "token: \"access-token-of-user\"",
    ] {
        check(text, text);
    }
}

/// What says where something is gives nothing away, though its name ends like a password's.
#[test]
fn places_are_not_secrets() {
    for text in [
        "\"PWD\": \"/tmp/callosum-test-A1b2C3/project\"",
        "OLDPWD=/x7Qp2/k9Zt4LmW8vB3/c5",
        "\"PWD\": \"/x7Qp2/k9Zt4LmW8vB3/c5\"",
        "password: \"/run/secrets/db_1\"",
        "credentials=~/.aws/credentials-2024.json",
        "private_key: '../keys/id_ed25519.pem'",
        "api_key = \"C:\\Users\\ana\\key1.txt\"",
        "token: \"https://login.example.net/oauth2/token\"",
    ] {
        check(text, text);
    }
    check(
        "secret_key = \"/K7MDENG9bPxRfiCYzzKEYkeyQ1/wJalrXU2tnFEMI\"",
        "secret_key = \"[secret: assigned value]\"",
    );
    check(
        "secret: \"https://hooks.acme.net/T0a1b2c3d4/9f8e7d6c5b4a3928\"",
        "secret: \"[secret: assigned value]\"",
    );
    // The name of a working folder, and the value of a password.
    check("PWD='s3cr3t-Pa55w0rd'", "PWD='[secret: assigned value]'");
}

/// Whether chance has put letters together that a reader takes for a word about passwords.
fn reads_as_words(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    ["key", "pwd", "md5", "xxx", "fake"]
        .iter()
        .any(|word| lower.contains(word))
}

proptest! {
    /// Whatever a random folder is called, a process may say that it works in it.
    #[test]
    fn a_working_folder_is_never_masked(folders in "(/[A-Za-z0-9._-]{1,24}){1,5}", old in "(OLD)?") {
        let text = format!("\"{old}PWD\": \"{folders}\"");
        prop_assert_eq!(mask(&text).text, text);
    }

    /// Whatever is random enough and given to a telling name goes, and nothing else does.
    #[test]
    fn a_random_value_of_a_telling_name_is_masked(
        name in "(DB_|my|)(password|api_key|SECRET)",
        value in "[a-f][0-9][A-Za-z0-9]{22,40}",
    ) {
        prop_assume!(value.bytes().collect::<std::collections::BTreeSet<_>>().len() > 10);
        prop_assume!(!["your", "fake", "xxx"].iter().any(|word| value.to_lowercase().contains(word)));
        let text = format!("{name} = \"{value}\";");
        prop_assert_eq!(mask(&text).text, format!("{name} = \"[secret: assigned value]\";"));
    }

    /// CAL-SEC-1: no secret of a known form is left on a command line, whatever it is.
    #[test]
    fn no_secret_on_a_command_line_is_left(
        form in 0..COMMANDS.len(),
        secret in "(secret|password|token|key|user)?[A-Za-z0-9][A-Za-z0-9!#%+.~^_-]{7,40}",
        before in "(ls; |cd x && |env A=b |sudo |time )?",
    ) {
        let command = format!("{before}{}", with(COMMANDS[form], &secret));
        let masked = mask_command(&command).text;
        prop_assert!(!masked.contains(&secret), "{}\n{}", command, masked);
        prop_assert_eq!(&mask_command(&masked).text, &masked);
    }

    #[test]
    fn no_command_makes_masking_panic(text in "(?s)(mysql -p|curl -u|--token|password|sudo -S|echo |://|Authorization:|pass:|[a-z@:='\"|;&\\\\$é \n-]{0,8}){0,16}") {
        let once = mask_command(&text).text;
        prop_assert!(once.len() + text.len() < 1 << 20);
    }

    /// LOA-SEC-1: what is random goes wherever settings give it to a password, and a line stays a line.
    #[test]
    fn a_random_password_of_a_setting_is_masked(
        name in "(DB_|my|spring\\.)?(password|passwd|PASSWORD)", mark in "(: |=| = )",
        value in "[b-df-h][0-9][A-Z][a-z][0-9][b-dm-z]{2}[0-9][A-Z0-9]{0,9}", before in "(a: b\n|\n)?",
    ) {
        prop_assume!(!reads_as_words(&value));
        let text = format!("{before}{name}{mark}{value}\nnext: line\n");
        let masked = mask_in_place(&text).text;
        prop_assert_eq!(&masked, &format!("{before}{name}{mark}[secret: assigned value]\nnext: line\n"));
    }

    #[test]
    fn masking_in_place_keeps_the_lines(text in "(?s)(password=|Pwd=|;Server=|-----BEGIN PRIVATE KEY-----|[a-zA-Z0-9+/]{30}|[a-zA-Z0-9'\" \n:=-]{0,12}){0,12}") {
        let masked = mask_in_place(&text).text;
        prop_assert_eq!(masked.matches('\n').count(), text.matches('\n').count());
    }

    #[test]
    fn masking_twice_is_masking_once(text in "(?s)(password=|ghp_|://a:|@b|-----BEGIN PRIVATE KEY-----|[a-zA-Z0-9'\" \n:=-]{0,12}){0,12}") {
        let once = mask(&text).text;
        prop_assert_eq!(&mask(&once).text, &once);
    }
}
