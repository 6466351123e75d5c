//! Values that look like a secret and are none.

use super::*;

/// Few false alarms: values of programs and templates in the place of a password.
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
        "password: ****************\n",
        "password: *default_password\n",
        "password: *anchor-of-the-database\n",
        "password: *database2\n",
        "passwd = *passwords1\n",
        "PASSWORD=%Password2Of\n",
        "password = %(db_password_1)s\n",
        "token: *.tokens2024.json\n",
        "secret: */secrets2/*.yaml\n",
        "password: %DB_PASSWORD_1%@db2\n",
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
        "the password is required, and was sha256-hashed 2 times",
        "the password is hashed with argon2id-13 of the crate",
        "the password is user_input_2, as config.password2 says",
        "the password is ${DB_PASSWORD_1}",
        "curl -u user:password1 https://x and curl -u $USER:$PASS1 https://y",
        "docker run mysql -p3306:3306 and mysql -path and mysql -p db",
        "https://x/?a=1&sig=none&b=2, SK-32 and task 0123456789abcdef",
        "X-Api-Key: required-in-each-call and X-Api-Key: ${API_KEY_1}",
        "Cookie: theme=dark2; lang=en and Cookie: <session of 16>",
        "the token is parsed lazily by tokenizer2024",
        "the token is config.token_value_2.of_the_server",
        "the net user count was 2024",
        "docker login -u me -p $TOKEN1 and docker login -p <token1>",
        "redis-cli -a and type it, openssl enc -k and -K, sshpass -p ask",
        "tokens begin with ya29. or glsa_ or lin_api_ or EAAC",
        "Passwort: String\n",
        "jdbc:oracle:thin:@//host:1521/service",
        "\"-----BEGIN PRIVATE KEY-----\" + body + \"-----END PRIVATE KEY-----\"",
    ] {
        check(text, text);
    }
}

/// Few false alarms: typical content of a repository's digest stays as it is.
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

/// A location is not a secret, though its name ends like a password's.
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
