package secrets_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/secrets"
)

// TestAuthorization finds the credentials behind any scheme, and leaves the scheme. The secrets stand between « and ».
func TestAuthorization(t *testing.T) {
	for _, form := range []string{
		"Authorization: SSWS «004zH8KGkfQAANfSySbnApZ8jhdC8U3gmtWWWTBT7G»", "Authorization: GenieKey «eb243592-faa2-4ba2-a551-1afdf565c889»", "Authorization: Splunk «B5A79AAD-D822-46CC-80D1-819F80D7BFB0»",
		"authorization: Klaviyo-API-Key «pk_3fd9a8b7c6e5d4f3a2b1»", "Authorization: DeepL-Auth-Key «279a2e9d-83b3-c416-7e2d-f721593e42a0:fx»", "Authorization: Key «7f3a9b2c1d4e5f60»",
		"Authorization: «PVEAPIToken=root@pam!mon=aaaaaaaa-bbbb-cccc-dddd-ef0123456789»", `Authorization: MediaBrowser Token="«0123456789abcdef»", Client="x1y2z3w4"`,
		`Authorization: OAuth realm="api", oauth_token="«nnch734d00sl2jdk»", oauth_signature="«tR3%2BTy81lMeYAr%2FFid0kM%3D»", oauth_nonce="kllo9940pd9333jh"`,
		"Authorization: AWS4-HMAC-SHA256 «Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request», SignedHeaders=host;range, Signature=«fe5f80f77d5fa3beca038a248ff027d0»",
		`Authorization: Token token="«0123456789abcdef»"`, "Authorization: SharedKey «account:ctzMq410TV3wS7upTBcunJTDLEJwMAZuFPfr0mrrA08=»", "Authorization: «7f3a9b2c1d4e5f60» and more",
		`{"Authorization":"SSWS «004zH8KGkfQAANfSy»"}`, `{\"Authorization\":[\"GenieKey «eb243592-faa2-4ba2»\"]}`, "headers.Authorization = 'SSWS «004zH8KGkfQAANfSy»'",
		"Proxy-Authorization: Basic «dXNlcjpwYXNz»\r\nHost: h", "Authorization: Custom «dXNlcjpwYXNzd29yZDEy==»", "Authorization: SSWS\t«004zH8KGkfQAANfSy»\nAuthorization: Bearer «abcdefgh1»",
	} {
		assert.Equal(t, form, remarked(form), form)
	}
	for _, text := range []string{
		"Authorization: required for this", "Authorization: Xkdjfhgk failed", "Authorization = new AuthenticationHeaderValue(scheme)", "Authorization=AuthorizationLevel.Anonymous",
		`"Authorization": "Required"`, "Authorization: Policy 'x' failed", "Microsoft.AspNetCore.Authorization: Information", `Authorization: Digest username="bob2024x", realm="x", qop=auth`,
		"Authorization: Bearer {token}", "Authorization:", "authorization: [ ]", "services.AddAuthorization(options => 1234567890)", "Authorization: <hidden>", "Authorization: SSWS <hidden>",
	} {
		assert.Empty(t, secrets.Find(text), text)
	}
}

// TestKindsOfStrings finds the secret, and not what stands before its quote.
func TestKindsOfStrings(t *testing.T) {
	for _, form := range []string{
		"ALTER LOGIN sa WITH PASSWORD = N'«vdg89FBV-239bd»'", "PASSWORD=E'«vdg89»'", `var password = @"«vdg89FBV»";`, `var password = $"«vdg89FBV»";`, `password = $@"«vdg89»"`, "password = b'«vdg89FBV»'",
		"ALTER ROLE bob WITH PASSWORD '«vdg89FBV»'", "CREATE USER 'u'@'%' IDENTIFIED BY '«vdg89 FBV»'", "create user u identified by «vdg89FBV»", "IDENTIFIED WITH mysql_native_password BY '«vdg89»'",
		"SET PASSWORD FOR 'bob'@'%' = '«vdg89»'", "openssl pkcs12 -in x -passin pass:«vdg89» -nodes", "x-functions-key: «vdg89»", `<machineKey validationKey="«rgs37GWX-527bg»" decryption="AES"/>`, "DB_PASS=«qbj93BJS-276gw»", "FTP_PASS='«qbj93»'", "NPM_TOKEN=«qbj93BJS»",
		`config["ApiKey"] = "«qbj93»"`, "Content-Disposition: form-data; name=\"password\"\r\n\r\n«hunter 22»\r\n--x", `{\"sql\":\"WITH PASSWORD = N'«vdg89FBV»'\"}`, "Password=«Nvdg89»",
	} {
		assert.Equal(t, form, remarked(form), form)
	}
	for _, text := range []string{"the group has a password that's old", "identified by its name", "var password = await Ask();", "MAX_TOKEN", "form-data; name=\"user\"\r\n\r\nbob", "password = new Password();", "user password 'x"} {
		assert.Empty(t, secrets.Find(text), text)
	}
}

// TestNewPrefixes finds keys of services.
func TestNewPrefixes(t *testing.T) {
	hex, mixed := func(n int) string { return repeat("0f3a9c7b", n) }, func(n int) string { return repeat("aB3xZ9", n) }
	for _, key := range []string{
		"gsk_" + mixed(52), "xai-" + mixed(80), "r8_" + mixed(37), "nvapi-" + mixed(64), "pplx-" + mixed(48), "sbp_" + hex(40), "sq0atp-" + mixed(22), "phx_" + mixed(43), "fo1_" + mixed(43), "fm2_" + mixed(60),
		"pat-na1-" + hex(8) + "-1234-5678-9abc-" + hex(12), "bkua_" + hex(40), "CCIPAT_" + mixed(22) + "_" + hex(40), "sgp_" + hex(40), "apify_api_" + mixed(36), "tskey-auth-" + mixed(17) + "-" + mixed(32),
		"ops_eyJ" + mixed(60), "tfp_" + mixed(44), "shippo_live_" + hex(40), "sl.u." + mixed(60), "access_token$production$" + repeat("a1b2", 16) + "$" + hex(32), "ABSK" + mixed(120),
	} {
		form := "got «" + key + "», went"
		assert.Equal(t, form, remarked(form), key)
	}
}

// remarked returns a text with « and » around the secrets that are found in it. Those that are in it are removed before.
func remarked(form string) string {
	text := strings.NewReplacer("«", "", "»", "").Replace(form)
	spans := secrets.Find(text)
	for i := len(spans) - 1; i >= 0; i-- {
		s := spans[i]
		text = text[:s.Start] + "«" + text[s.Start:s.End] + "»" + text[s.End:]
	}
	return text
}

// fragments are texts that end where a secret begins, or within one.
var fragments = []string{
	`<configuration><add key="SmtpPassword" value="`, `<add key='SmtpPassword' value='`, "password='", `password="`, `{"password":"`, `{"password":`, `{password: '`, `{"name":"password","value":"`, "<password>", "<password><![CDATA[",
	`Authorization: Digest response="`, "Authorization: ", "Authorization: SSWS ", `Authorization: Token token="`, "curl -u a:", "--password ", `--password "`, "-----BEGIN PRIVATE KEY-----\n", "-----BEGIN PRIVATE KEY-----\nMIIEow\n", "password: |",
	"Cookie: ", "Cookie: a=b; ", "machine h login l password ", "password={", `"passwords":["`, `"passwords":["a`, `password = """`, `password=\`, `password="\`, "password = N'", `password = @"`, "IDENTIFIED BY '", "ALTER ROLE bob PASSWORD '",
	"password => '", "set -pass:", "ENV PASSWORD ", "bearer ", "https://a:b", "password:\n  value: \"", "- name: password\n  value: '", "ConvertTo-SecureString '", "password='a'", `password=""`, "hunter22", `password=hunter22\`, `{\"password\":\"`, `{\\\"password\\\":\\\"`,
	"<input name=\"__RequestVerificationToken\" value=\"", "redis-cli -a '", "mysql -p'", "mysql -uroot -p", "sqlcmd -P ", "docker login -p", "curl -u a:", "redis-cli -a ", `_auth="`, "localhost:5432:db:user:",
}

// TestDocument: a text may end where a secret begins. The document of JSON around it stays one, and other texts stay.
func TestDocument(t *testing.T) {
	m := secrets.NewMasker()
	m.Learn("password=hunter22")
	for _, fragment := range fragments {
		for range 3 { // texts may be JSON in JSON
			line, err := json.Marshal([]map[string]string{{"text": fragment, "type": "System.String"}, {"text": "it's " + fragment}, {"text": "an \"ordinary\" text, it's one"}})
			require.NoError(t, err)
			got := m.Document()(string(line) + "\n")
			var back []map[string]string
			if assert.NoError(t, json.Unmarshal([]byte(got), &back), "%s: %s", fragment, got) {
				assert.Equal(t, "System.String", back[0]["type"], fragment)
				assert.Equal(t, "an \"ordinary\" text, it's one", back[2]["text"], fragment)
			}
			b, err := json.Marshal(fragment)
			require.NoError(t, err)
			fragment = string(b[1 : len(b)-1])
		}
	}
}

// TestCells: a text may end where a secret begins. Other cells of the line stay, if they are no secret of a name that stands beside them.
func TestCells(t *testing.T) {
	m := secrets.NewMasker()
	m.Learn("password=hunter22")
	line := func(cells ...string) string {
		var ends []int
		text := "0001: "
		for _, c := range cells {
			ends = append(ends, len(text), len(text)+len(c))
			text += c + "  "
		}
		return m.Cells()(text+"12\n", ends)
	}
	for _, fragment := range fragments {
		for _, other := range []string{"System.String", "an \"ordinary\" text, it's one", `{"a": 'b'}`} {
			assert.True(t, strings.HasSuffix(line(fragment, other, "GET /cart"), "  GET /cart  12\n"), "%q: %q", fragment, line(fragment, other, "GET /cart"))
			if quote := fragment[len(fragment)-1]; quote == '"' || quote == '\'' {
				assert.Contains(t, line(fragment, other, "GET /cart"), other, "%q: the value begins in its cell", fragment)
			}
			assert.NotContains(t, line(fragment, other, "password=tiger-99"), "tiger-99", "the fragment hides no other secret: %q", fragment)
		}
	}
	assert.Equal(t, "0001: Password:  <hidden>  GET /cart  12\n", line("Password:", "tiger-99", "GET /cart"), "a name and its value")
	assert.Equal(t, "0001: Password=<hidden>  GET /cart  12\n", line("Password=tiger-99", "GET /cart"))
	assert.Equal(t, "0001: an-<hidden>  GET /cart  12\n", line("an-hunter22", "GET /cart"))
	assert.Equal(t, "0001: password=<hidden>, b  12\n", m.Cells()("0001: password=tiger-99, b  12\n", []int{6, 18, 18, 26}), "what nothing stands between is one cell")
}
