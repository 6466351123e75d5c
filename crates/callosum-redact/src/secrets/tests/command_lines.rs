//! Secrets that only the words before them give away, in commands.

use super::*;

/// Forms in which a command has a secret, which is at `@`.
pub(super) const COMMANDS: [&str; 105] = [
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

pub(super) fn with(form: &str, secret: &str) -> String {
    // Of two marks the second is an address's own.
    form.replacen('@', secret, 1)
}

/// CAL-SEC-1: values that only the words before them identify are masked in commands, and the
/// command itself is not.
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

/// CAL-SEC-1: the effect of a command stays readable.
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
