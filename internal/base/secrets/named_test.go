package secrets

import (
	"encoding/json"
	"html"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// spanned returns a text with « and » around the secrets that are found in it. Those that are in it are removed before.
func spanned(form string) string {
	text := strings.NewReplacer("«", "", "»", "").Replace(form)
	spans := Find(text)
	for i := len(spans) - 1; i >= 0; i-- {
		s := spans[i]
		text = text[:s.Start] + "«" + text[s.Start:s.End] + "»" + text[s.End:]
	}
	return text
}

// named are texts with secrets, between « and », beside names, by the grammar in which the names stand.
var named = map[string][]string{
	"SQL": {
		"Executed DbCommand (4ms) [Parameters=[@__password_1='«Hk8vBn41x»' (Size = 256), @__id_0='7'], CommandType='Text']", "[Parameters=[@p1='x', @secret='«Hk8vBn41x»']]",
		"UPDATE u SET `password` = '«Hk8vBn41x»' WHERE id = 7", "UPDATE u SET [Password] = N'«Hk8vBn41x»'", `UPDATE u SET "api_key"='«Hk8vBn41x»'`,
		"INSERT INTO u (name,password) VALUES('bob','«Hk8vBn41x»')", "insert into `u` (`name`, `password`, `at`) values ('b, (ob', '«it''s 41x»', NOW(1, 2)), (NULL, '«Zz9»', now())",
		"INSERT INTO [u] ([Name], [ApiKey]) VALUES (N'bob', N'«Hk8vBn41x»');", `{"sql":"INSERT INTO u (password)\nVALUES ('«Hk8vBn41x»')"}`,
	},
	"short names": {
		`{"smtp":{"host":"a","pass":"«Hk8vBn41x»"}}`, `{\"user\":\"a\",\"pass\":\"«Hk8vBn41x»\"}`, "https://h/login?user=a&pass=«Hk8vBn41x»&b=c", "/login?pass=«Hk8vBn41x»", "smtp:\n  user: a\n  pass: «Hk8vBn41x»\n",
		"pass: '«Hk8vBn41x»'", "NPM_TOKEN: «Hk8vBn41x»", "env:\n  NPM_TOKEN: \"«Hk8vBn41x»\"", "NPM_TOKEN=«hunter»", "DB_PASS=«hunter»", "ansible_become_pass=«Hk8vBn41x»", "smtpPass = '«Hk8vBn41x»'",
		`{"token":"«a83bd02c77f14e5b9d20c6f3e81a4b7d90c1ee42»"}`, `{\"token\":\"«Hk8vBn41xQ72mZp09rTy»\"}`, "  token: «Hk8vBn41xQ72mZp09rTy»", "ldap_bind_pw: «tiger»",
	},
	"settings of Jwt": {
		`{"Jwt":{"Issuer":"a","Key":"«Hk8vBn41xQ72mZp09rTy»","Audience":"b"}}`, "Jwt:Key=«Hk8vBn41xQ72mZp09rTy»", "JwtSettings__SecurityKey=«Hk8vBn41xQ72mZp09rTy»", `"Jwt:Key": "«Hk8vBn41xQ72mZp09rTy»"`,
		`{\"JwtOptions\":{\"Key\":\"«Hk8vBn41xQ72mZp09rTy»\"}}`,
	},
	"lists in YAML": {"api_keys:\n  - «Hk8vBn41x»\n  - \"«Zz9 x»\"\nname: a\n", "passwords:\n- «hunter»\n- «tiger»\n"},
	"multipart": {
		"Content-Disposition: form-data; name=\"password\"\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n«Hk8vBn41x»\r\n--x", "form-data; name=password\r\n\r\n«x»\r\n--x",
		`form-data; name=\"password\"\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\n«Hk8vBn41x»\r\n--x`,
	},
	"HTML":  {`<meta name="csrf-token" content="«Hk8vBn41xQ72mZp09rTy»">`, `<meta content="«Hk8vBn41x»" name="csrf-token" />`, `{"csrfToken":"«Hk8vBn41x»"}`},
	"PuTTY": {"PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPublic-Lines: 1\nAAAA\nPrivate-Lines: 2\n«AAAAIHk8vBn41xQ72mZp09rTy\nHk8vBn41xQ72mZp09rTy==\n»Private-MAC: 00", `Private-Lines: 1\r\n«AAAA\r\n»Private-MAC`},
	"WireGuard": {
		"[Peer]\nPublicKey = xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=\nPresharedKey = «Hk8vBn41xQ72mZp09rTyHk8vBn41xQ72mZp09rTyHk8=»\n", "PrivateKey = «Hk8vBn41xQ72mZp09rTyHk8vBn41xQ72mZp09rTyHk8=»\n",
		"pre_shared_key: «Hk8vBn41x»",
	},
	"headers": {
		"DD-APPLICATION-KEY: «a83bd02c77f14e5b»", "DD-API-KEY: «x1»", "X-Auth-Key: «a83bd02c77f14e5b»", "Circle-Token: «a83bd02c77f14e5b»", "JOB-TOKEN: «64_Hk8vBn41x»", "X-Session-Id: «a83bd02c77f14e5b»",
		`{"Circle-Token":["«a83bd02c77f14e5b»"],"X-Session-Id":"«a83bd02c»"}`,
	},
	"command lines": {
		"app.exe /User bob /Password «hunter»", `"C:\a b\app.exe" /pass:«hunter»`, "cmdkey /add:h /user:u /pass:«hunter»", "tool /user:bob /pass:«Hk8vBn41x»", "az login --service-principal -u a -p «Hk8vBn41x» --tenant t",
		"dotnet nuget push a.nupkg -k «Hk8vBn41x» -s nuget.org", "dotnet nuget push a.nupkg --api-key «Hk8vBn41x»", "mongosh -u a -p «Hk8vBn41x» db", "mongodump --uri x -p '«a b»'", "7z a -p«Hk8vBn41x» a.7z",
		"ldapsearch -x -D cn=a -w «Hk8vBn41x» -b dc=b", "curl -s --oauth2-bearer «Hk8vBn41x» https://h/", "mysql -u shop -p«x» db", "sqlcmd -S db -P «x»", "sshpass -p«x» ssh h", "bcp t out f -U a -P «x»", "redis-cli -a «x»",
		"docker login -p «x» h",
	},
	"escapes": {
		"user%5Bname%5D=a&user%5Bpassword%5D=«Hk8vBn41x»&b=c", "https://h/?to=https%3A%2F%2Fg%2F%3Faccess_token%3D«Hk8vBn41xQ72mZp09rTy»%26b%3Dc", "redirect=%252F%253Fpassword%253D«Hk8vBn41x»%2526a",
		"&lt;password&gt;«Hk8vBn41x»&lt;/password&gt;", "&amp;lt;db:Password a=&amp;quot;b&amp;quot;&amp;gt;«Hk8vBn41x»&amp;lt;/db:Password&amp;gt;", "{&quot;password&quot;:&quot;«Hk8vBn41x»&quot;}",
		`{"body":"{\u0022password\u0022:\u0022«Hk8vBn41x»\u0022,\u0022a\u0022:1}"}`, "url=https%3A%2F%2Fa.blob.core.windows.net%2Fc%3Fsv%3D2024%26sig%3D«Hk8vBn41x»%26se%3D1",
	},
}

// TestNamed finds the secrets beside names in each grammar.
func TestNamed(t *testing.T) {
	for grammar, forms := range named {
		for _, form := range forms {
			assert.Equal(t, form, spanned(form), grammar)
		}
	}
}

// TestWhiteSpace: any white space separates the words of a form.
func TestWhiteSpace(t *testing.T) {
	for _, form := range []string{
		"run --client-secret  «Ks83mdk0w2x9» -abcd", "run --client-secret\n«Ks83mdk0w2x9»", "--password\t«Ks83mdk0w2x9» x", "--password  \"«Ks83mdk0w2x9»\"", "--api-key =  «Ks83mdk0w2x9»",
		"Bearer\t«Ks83mdk0w2x9Lq44Zz»", "a Bearer\n «Ks83mdk0w2x9Lq44Zz»", "IDENTIFIED  BY '«Ks83mdk0w2x9»'", "create user x IDENTIFIED\nBY '«Ks83mdk0w2x9»'",
		"insert\n into u (name, password) values ('a','«Ks83mdk0w2x9»')", "sqlplus\tscott/«Ks83mdk0w2x9»@db", "machine\th login u password «Ks83mdk0w2x9»",
		"alter role x with password  '«Ks83mdk0w2x9»'", "--password  -x", "use --password\n\nThe next sentence.",
	} {
		assert.Equal(t, form, spanned(form))
	}
}

// TestNotNamed has texts of the same grammars without secrets.
func TestNotNamed(t *testing.T) {
	for _, text := range []string{
		"[Parameters=[@__password_1='?' (Size = 256)]]", "INSERT INTO u (name, password) VALUES (@p0, @p1)", "INSERT INTO u (password) SELECT x", "INSERT INTO u (name, password) VALUES ('bob', NULL)",
		"INSERT INTO u (password_hash) VALUES ('abc')", "UPDATE u SET `password` = @p0", "--- PASS: TestCheckout (0.42s)", "pass: 12 of 13", "bypass=a1b2c3", `{"pass":true}`, `{"pass":"yes"}`, "first_pass = 3", "FirstPass: done",
		"?pass=2", "NPM_TOKEN: ${{ secrets.X }}", "MAX_TOKEN: 4096", `{"token":"Identifier"}`, `{"token":"0x6000001"}`, "token: none", `"publicKeyToken":"92742159e12e44c8"`, `{"Jwt":{"KeySize":256,"Issuer":"https://a1b2c3d4e5f6"}}`,
		"secrets:\n  - db_password1\n", "api_keys:\n  - name: a\n", "api_keys: []\n", "GET /password 200", "POST /account/password HTTP/1.1", "endpoint /password 12ms", "route /reset-password?x=1",
		"az login -t x", "see mongo and p", "mysql -p db", "7z x -y a.7z", "tool --password --verbose", "tool --password -v", "<meta name=\"csrf-param\" content=\"authenticity_token\">", "Circle-Token", "continuation-token: none",
		"design-token: 4px", "?q=pass%20rate%3D7", "&lt;label for=&quot;password&quot;&gt;Password&lt;/label&gt;", "Private-Lines: many", "form-data; name=\"password\"; filename=\"a\"\r\n\r\nx",
	} {
		assert.Equal(t, text, spanned(text))
	}
}

// TestNamedInDocuments: a document with escaped texts stays one.
func TestNamedInDocuments(t *testing.T) {
	for _, text := range []string{"<a password=\"Hk8vBn41x\">", "{\"password\":\"Hk8vBn41x\"}", "a=1&password=Hk8vBn41x", "<password>", "password=\"", "&quot;password&quot;:&quot;"} {
		for _, write := range []func(string) string{html.EscapeString, url.QueryEscape, func(s string) string { return s }} {
			document, _ := json.Marshal([]string{write(text), "your password: ", write(text), "x"})
			for _, got := range []string{NewMasker().Text(string(document)), NewMasker().Document()(string(document))} {
				assert.True(t, json.Valid([]byte(got)), "%s: %s", document, got)
				assert.NotContains(t, got, "Hk8vBn41x")
			}
		}
	}
}
