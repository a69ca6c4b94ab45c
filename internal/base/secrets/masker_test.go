package secrets_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/secrets"
)

// jwt is a token without a valid signature.
const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMTIzNDU2"

// TestFind finds each form in running text, and nothing else.
func TestFind(t *testing.T) {
	for text, want := range map[string]string{
		"Server=db;User Id=sa;Password=hunter22;Max Pool Size=4":     "hunter22",
		`x "password": "hun\"ter" y`:                                 `hun\"ter`,
		`{\"password\":\"hunter22\",\"a\":1}`:                        "hunter22",
		"DefaultEndpointsProtocol=https;AccountKey=abc+/def==;X=1":   "abc+/def==",
		"amqp://guest:s3cret@mq:5672/":                               "s3cret",
		"see https://u:p%40ss@host/x?y":                              "p%40ss",
		"got " + jwt + ", went":                                      jwt,
		"Authorization: Bearer abc.def-ghi_123":                      "abc.def-ghi_123",
		"authorization: Basic dXNlcjpwYXNz":                          "dXNlcjpwYXNz",
		"Cookie: sid=31d4d96e407aad42; theme=dark":                   "sid=31d4d96e407aad42; theme=dark",
		"X-Api-Key: 7f3a9c":                                          "7f3a9c",
		"id AKIAIOSFODNN7EXAMPLE.":                                   "AKIAIOSFODNN7EXAMPLE",
		"ghp_" + strings.Repeat("a1", 18):                            "ghp_" + strings.Repeat("a1", 18),
		"run --password hunter22 --verbose":                          "hunter22",
		"run --api-key=k-123 -v":                                     "k-123",
		`["--client-secret","abc123"]`:                               "abc123",
		"https://a.blob.core.windows.net/c?sv=2020&sig=aB%2Bc%3D&x=": "aB%2Bc%3D",
		"https://hooks.slack.com/services/T000/B000/XXXXXXXX":        "T000/B000/XXXXXXXX",
		"<Password>hunter22</Password>":                              "hunter22",
		"UID=sa;PWD=/hunter22":                                       "/hunter22",
		"PWD=/hunter22;UID=sa":                                       "/hunter22",
		"DB_PWD=/hunter22":                                           "/hunter22",
		"Credentials=Credentials1":                                   "Credentials1",
	} {
		spans := secrets.Find(text)
		if assert.Len(t, spans, 1, text) {
			assert.Equal(t, want, text[spans[0].Start:spans[0].End], text)
		}
	}
	pem := "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE KEY-----"
	assert.Equal(t, []secrets.Span{{Start: 2, End: 2 + len(pem), Kind: secrets.KindPEM}}, secrets.Find("a "+pem+" b"))
}

// repeat returns n characters of a word that is repeated.
func repeat(word string, n int) string { return strings.Repeat(word, n/len(word)+1)[:n] }

// TestFindPublished finds the keys with published prefixes, the arguments of common programs, the forms of configuration files, and names in other
// languages. The secret stands between « and ».
func TestFindPublished(t *testing.T) {
	hex, mixed := func(n int) string { return repeat("0f3a9c7b", n) }, func(n int) string { return repeat("aB3xZ9", n) }
	for _, form := range []string{
		"«dapi" + hex(32) + "-2»", "bot «1234567890:AA" + mixed(33) + "»", "«glsa_" + mixed(32) + "_" + hex(8) + "»", "«glc_" + mixed(60) + "»",
		"«" + mixed(14) + ".atlasv1." + mixed(64) + "»", "«ATATT3xFfGF0" + mixed(40) + "=1A2B»", "«ATBB" + mixed(32) + "»", "«figd_" + mixed(40) + "»",
		"«PMAK-" + hex(24) + "-" + hex(34) + "»", "«lin_api_" + mixed(40) + "»", "«secret_" + mixed(43) + "»", "«ntn_" + mixed(46) + "»", "«key-" + hex(32) + "»",
		"«SK" + hex(32) + "»", "«xkeysib-" + hex(64) + "-" + mixed(16) + "»", "«dp.pt." + mixed(43) + "»", "«sntrys_" + mixed(60) + "»", "«pscale_pw_" + mixed(43) + "»",
		"«dt0c01." + repeat("A2", 24) + "." + repeat("B3", 64) + "»", "«rubygems_" + hex(48) + "»", "«pul-" + hex(40) + "»", "«AGE-SECRET-KEY-1" + repeat("Q2", 58) + "»",
		"«gldt-" + mixed(20) + "»", "«CfDJ8" + mixed(150) + "»", // of ASP.NET Core's data protection
		"curl -sS -u shop:«hunter22» https://h/", `curl --user "shop:«hunter22»" h`, "mysql -u shop -p«hunter22» db", "mysqldump.exe -p'«hun ter»' db", "mariadb -p«hunter22»",
		"sshpass -p «hunter22» ssh h", "docker login -u shop -p «hunter22» h", "sqlcmd -S db -U sa -P «hunter22» -Q x", "redis-cli -h h -a «hunter22» ping",
		`ConvertTo-SecureString "«hunter22»" -AsPlainText`, `convertto-securestring -String '«hunter 22»' -Force`, "machine h login shop password «hunter22»",
		"https://h/callback?code=«4/0AX4XfWh-abc123def456»&state=x", "https://h/api/f?code=«" + mixed(50) + "==»", "https://h/x?a=1&token=«" + hex(20) + "»",
		"/shop;jsessionid=«0A1B2C3D4E5F60718293A4B5C6D7E8F9»?x", "cart; ASP.NET_SessionId=«" + mixed(24) + "»",
		`<input name="__RequestVerificationToken" type="hidden" value="«` + mixed(92) + `»" />`, "__RequestVerificationToken=«" + mixed(92) + "»&x=1", "X-CSRF-Token: «7f3a9c»",
		"passwort=«geheim22»", `"MotDePasse": "«secret 22»"`, "db.contrase\u00f1a=«clave22»", "senha: «segredo22»", "Wachtwoord=«geheim22»;", "kennwort=«geheim22»", "--passwort «geheim22»",
		`<add key="DbPassword" value="«hunter22»" />`, `<add key='Mail:ClientSecret' value='«hunter22»'/>`, `<add key=\"DbPassword\" value=\"«hunter22»\"/>`,
		"Driver={x};Password=«{a;crw34PCG_678mn}»;User=b", `"Pwd=«{Ab;cd-12}»"`, `{"name":"DB_PASSWORD","value":"«mzb44PBN_663kn»"}`, `{\"name\":\"DB_PASSWORD\",\"value\":\"«mzb44PBN»\"}`,
		`{"Name": "ClientSecret", "Value": "«rnk69»"}`, `{"key":"ApiKey","value":"«rnk69»"}`, `{"password":{"value":"«rjc93»"}}`, `{"passwords":["«hsc33»"]}`, "<Password><![CDATA[«kbk78<x»]]></Password>",
		`<setting name="Password" serializeAs="String"><value>«mcq55»</value></setting>`, "<entry key='db.password'>«mcq55»</entry>", "tool\x00--password\x00«zqb86JSM_276fk»\x00", "--password\n«prk92»\n-v",
		"- --password\n- «rfr22»\n", "- name: DB_PASSWORD\n  value: «rfr22»\n", "password => '«mrg96»'", `password = """«hpb94»"""`, `{\\\"password\\\":\\\"«kgg67»\\\",`, "https://h/x?a=1&X-Amz-Security-Token=«kgg67»&b",
		`Authorization: Digest username="bob", realm="x", response="«00112233445566»"`,
		"got «eyJhbGciOiJkaXIifQ..aXYtMTIzNDU2.dGV4dA.dGFnMTIz», went", // alg dir: the second part of a JWE is empty
	} {
		before, rest, _ := strings.Cut(form, "«")
		want, after, _ := strings.Cut(rest, "»")
		text := before + want + after
		spans := secrets.Find(text)
		if assert.Len(t, spans, 1, text) {
			assert.Equal(t, want, text[spans[0].Start:spans[0].End], text)
		}
	}
}

// TestNotFound: texts of dumps that resemble secrets are not masked.
func TestNotFound(t *testing.T) {
	for _, text := range []string{
		"System.Private.CoreLib, Version=10.0.0.0, Culture=neutral, PublicKeyToken=7cec85d7bea7798e", "mdToken: 0000000006000123", `"token":"0x6000001"`, `"signature":"0123456789abcdef"`,
		"password=***", "Password=<hidden>;", "Password=${DB_PASSWORD}", "http://localhost:5000/path@x", "00007f0c12345678 Contoso.PasswordHasher", "--passes 3", "secret: null",
		"password: please enter it below", "the token: invalid or expired", "/etc/passwd: line 1 of the rules has no pattern", "/run/db_password: permission denied", "https://h/?code=404",
		`WWW-Authenticate: Bearer realm="api.example.org", error="invalid_token"`, "--password\nUsage: tool", "--password\n  the password of the user", "--password\nThe password to use", "Password={Password}", "Password={0}",
		"Password = {X=1, Y=2}", "password => password.Length", `{"name":"PasswordLength","value":"12"}`, `{"tokens":["a","b"]}`, `<setting name="Timeout"><value>30</value></setting>`,
		"TaskAwaiter SKIP AskForCode", "mysql --protocol=tcp -P 3306", "curl -u shop https://h/", "a machine and its password", "RequestVerificationTokenAttribute", "key-value", "secret_store",
		"HOME=/root\x00PWD=/srv/shop\x00OLDPWD=/srv", "cd /srv\nPWD=/srv", `"PWD":"/srv/shop"`, "HeaderNames.AccessControlAllowCredentials = Access-Control-Allow-Credentials",
		`<add key="Timeout" value="30"/>`, "JSESSIONID", "ConvertTo-SecureString $plain", "atlasv1", "PasswortRichtlinie", "class Bearer { }", "the cookie jar", "key = value", "/usr/share/dotnet/shared", "", "abc", "System.Collections.Generic.Dictionary<System.String, Contoso.Secret>",
	} {
		assert.Empty(t, secrets.Find(text), text)
		assert.Equal(t, text, secrets.NewMasker().Text(text))
	}
}

// TestMasker masks known values everywhere, also as JSON and URLs write them and before an
// ellipsis.
func TestMasker(t *testing.T) {
	m := secrets.NewMasker()
	m.LearnSetting("SHOP_PASSWORD", `hun"ter 22`)
	m.LearnSetting("DB", "Server=db;Password=tiger-99")
	m.LearnSetting("AUTH_MODE", "Negotiate")
	m.LearnSetting("ConnectionStrings:Shop", "redis://:pw-of-redis@host:6379")
	m.LearnSetting("PIN", "1234")
	m.LearnSetting("Authorization", "Authorization") // constants that hold names
	m.LearnSetting("pwd", "Password")                // keywords of connection strings
	m.LearnSetting("secret", "Access Key")
	m.LearnSetting("ServerCertificatePassword", "Server Certificate Password")
	m.Learn("k3Jx9Qw2Lm5Zt8Vb1Nc4Rf7Y")
	m.Add("postgres", secrets.KindPair)
	for text, want := range map[string]string{
		`the hun"ter 22 is`:             "the <hidden> is",
		`{"a":"hun\"ter 22"}`:           `{"a":"<hidden>"}`,
		"q=hun%22ter+22&x":              "q=<hidden>&x",
		"tiger-99 tiger-98":             "<hidden> tiger-98",
		"xtiger-99x":                    "x<hidden>x",
		"tiger-…":                       "<hidden>…",
		"tige... and tig...":            "<hidden>... and tig...",
		`"tiger"..., \"tiger\"...`:      `"<hidden>"..., \"<hidden>\"...`,
		`tiger\u2026`:                   `<hidden>\u2026`,
		"Negotiate":                     "Negotiate",
		"UseAuthorizationMiddleware":    "UseAuthorizationMiddleware",
		"Server Certificate Password":   "Server Certificate Password",
		"Password, Access Key":          "Password, Access Key",
		"pw-of-redis":                   "<hidden>",
		`a\tiger-99`:                    "a<hidden>",
		"1234 of 1234":                  "1234 of 1234",
		"k3Jx9Qw2Lm5Zt8Vb1Nc4Rf7Y":      "<hidden>",
		"postgres Npgsqlpostgres":       "<hidden> Npgsqlpostgres",
		"Password=tiger-99;User=tiger2": "Password=<hidden>;User=tiger2",
	} {
		assert.Equal(t, want, m.Text(text))
		assert.Equal(t, want, m.Text(m.Text(text)), "masked again")
	}
	assert.Positive(t, m.Masked())
	assert.Equal(t, 2, m.Known()[secrets.KindNamed], "the PIN is known, if not masked everywhere")
	assert.NotContains(t, m.Values(), "1234")
}

// TestCookie: the values of a cookie are secrets. Its attributes are not.
func TestCookie(t *testing.T) {
	m := secrets.NewMasker()
	m.LearnSetting("Set-Cookie", "sid=k8s-tiger-99; Path=/shop/cart; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Domain=shop.example.com; SameSite=Strict; HttpOnly")
	assert.Equal(t, "<hidden> of shop.example.com in /shop/cart at Wed, 21 Oct 2026 07:28:00 GMT", m.Text("k8s-tiger-99 of shop.example.com in /shop/cart at Wed, 21 Oct 2026 07:28:00 GMT"))
}

// TestWriter masks a value that is split between writes, with and without line feeds.
func TestWriter(t *testing.T) {
	m := secrets.NewMasker()
	m.Add("tiger-99", secrets.KindPair)
	for _, filler := range []string{"x", "xyz ", "line\n"} {
		var out bytes.Buffer
		w := secrets.NewWriter(m.Text, &out)
		text := strings.Repeat(filler, 400_000) + " tiger-99 " + strings.Repeat(filler, 400_000) + "tiger-99"
		for i := 0; i < len(text); i += 4999 {
			n, err := w.Write([]byte(text[i:min(i+4999, len(text))]))
			require.NoError(t, err)
			require.Equal(t, min(4999, len(text)-i), n)
		}
		require.NoError(t, w.Close())
		assert.Equal(t, strings.ReplaceAll(text, "tiger-99", secrets.Mask), out.String())
	}
}

func FuzzText(f *testing.F) {
	f.Add("Password=hunter22;X", "hunter22")
	f.Add(`{"password":"a\\"}`, `a\`)
	f.Fuzz(func(t *testing.T, text, value string) {
		m := secrets.NewMasker()
		m.Add(value, secrets.KindNamed)
		out := m.Text(text)
		for _, v := range m.Values() {
			if strings.ContainsAny(v, "0123456789") && strings.Contains(out, v) && !strings.Contains(secrets.Mask, v) && !strings.Contains(v, "hidden") && !strings.ContainsAny(v, "<>") {
				t.Errorf("%q is in %q", v, out)
			}
		}
		doc, err := json.Marshal([]string{text, "your password: ", text, "x"})
		if err == nil && !json.Valid([]byte(m.Text(string(doc)))) && json.Valid(doc) && !strings.ContainsAny(value, `"\`) {
			t.Errorf("%s is no JSON any more: %s", doc, m.Text(string(doc)))
		}
	})
}

func ExampleMasker() {
	m := secrets.NewMasker()
	m.LearnSetting("SHOP_DB", "Server=db;Password=tiger-99")
	fmt.Println(m.Text("login of sa with tiger-99 failed"))
	// Output: login of sa with <hidden> failed
}

// TestParts checks that the parts of secrets that reused and cut buffers hold are masked, and that words, names and numbers that a
// secret shares with other texts are not.
func TestParts(t *testing.T) {
	m := secrets.NewMasker()
	for _, v := range []string{"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",
		"a398bf21-93d2-4c11-8a55-001d0227800c", "00000000-0000-0000-c000-000000000046",
		"MyCompany.Shop.Service.Worker-2026-11-29", "correct-horse-battery-staple", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"} {
		m.Add(v, secrets.KindNamed)
	}
	for text, want := range map[string]string{
		"READY\x009PPX0VBZRKKgoD4nzMsuvH\x00x":     "READY\x00" + secrets.Mask + "\x00x",
		"PPX0VBZRKKgoD4nz":                         secrets.Mask,
		"a zBEFFZq9o7zsmN and 15d6c15b0f00a08":     "a " + secrets.Mask + " and " + secrets.Mask,
		"goD4nzMsuvH":                              "goD4nzMsuvH", // too short
		"MyCompany.Shop.Service.Worker, horse-bat": "MyCompany.Shop.Service.Worker, horse-bat",
		"horse-battery-staple since 2026-11-29":    "horse-battery-staple since 2026-11-29",
		"9f86d08x":                                 "9f86d08x",
		"x 001d0227800c":                           "x " + secrets.Mask,
		"001D0227800C":                             secrets.Mask,
		"8a55-001d0227":                            secrets.Mask,
		"01d0227800c":                              "01d0227800c", // too short
		"c000-000000000046":                        "c000-000000000046",
	} {
		assert.Equal(t, want, m.Text(text))
		assert.Equal(t, want, m.Text(m.Text(text)), "again")
	}
}

// TestBesides: who types a guess at a part of a known value sees the same whether it is right or not, and values that were not typed
// stay hidden.
func TestBesides(t *testing.T) {
	m := secrets.NewMasker()
	m.Add("kjI8+Zmn22afTEAqG22zllVnQQIy4CRM", secrets.KindNamed)
	for _, guess := range []string{"22afTEAqG22zllVn", "22afTEAqG22zllVX", "kjI8+Z…", "kjI8+X…"} {
		said := &secrets.Said{}
		assert.True(t, said.Add(`"`+guess+`"`))
		mask := m.Besides(said)
		assert.Equal(t, guess, mask(guess))
		assert.Equal(t, "x="+secrets.Mask+";", mask("x=kjI8+Zmn22afTEAqG22zllVnQQIy4CRM;"))
	}
	assert.Equal(t, secrets.Mask, m.Text("22afTEAqG22zllVn"))
	said := &secrets.Said{}
	m.Add(`two"words<of>`, secrets.KindNamed)
	assert.True(t, said.Add(`"two"words<of>`))
	for _, form := range []string{`two"words<of>`, `two\"words<of>`, `two\"words\u003cof\u003e`} {
		assert.Equal(t, form, m.Besides(said)(form), "a spelling in JSON")
		assert.NotEqual(t, form, m.Text(form))
	}
	assert.False(t, said.Add(strings.Repeat("x", 17<<20)), "too much")
}

// TestCopies masks copies of a value in other letters and in base64 wherever they stand in a text, and the password of a Basic header. Words and other values stay.
func TestCopies(t *testing.T) {
	m := secrets.NewMasker()
	m.Add("tmr35CXN-748kf", secrets.KindNamed)
	m.Add("Negotiable", secrets.KindNamed)
	m.Learn("Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("svc:pq7-Zm22?>~")))
	for text, want := range map[string]string{
		"TMR35CXN-748KF and tmr35cxn-748kf": "<hidden> and <hidden>",
		"TMR35CXM-648KG negotiable":         "TMR35CXM-648KG negotiable",
		"pq7-Zm22?>~":                       "<hidden>",
	} {
		assert.Equal(t, want, m.Text(text))
	}
	for _, before := range []string{"", "u", "u:", "{\"password\":\"", "user=a&pw="} {
		for _, value := range []string{"tmr35CXN-748kf", "pq7-Zm22?>~"} {
			for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
				text := e.EncodeToString([]byte(before + value + "\"}"))
				masked := m.Text("x " + text)
				assert.Contains(t, masked, secrets.Mask, before)
				assert.Less(t, len(masked)-len("x "+secrets.Mask), len(before)*4/3+7, "%s: %s", text, masked)
			}
		}
	}
	other := "x " + base64.StdEncoding.EncodeToString([]byte("u:tmr35CXN-749kf"))
	assert.Equal(t, other, m.Text(other))
}
