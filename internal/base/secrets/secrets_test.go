package secrets_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/base/secrets"
)

func TestHides(t *testing.T) {
	for _, s := range [][2]string{
		{"SHOP_PASSWORD", "hunter2"}, {"DBPASSWORD", "x"}, {"ConnectionStrings:Shop", "Server=db"}, {"AWS_SECRET_ACCESS_KEY", "x"}, {"apiKey", "x"}, {"Auth:ClientSecret", "x"},
		{"SHOP_DB", "Server=db;User=sa;Password=hunter3"}, {"REDIS", "redis://:pw@host:6379"}, {"A", "https://user:pw@host/"}, {"Jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.abc"},
		{"B", "-----BEGIN RSA PRIVATE KEY-----"}, {"C", "Bearer abcdefghijk1"}, {"D", "k3Jx9Qw2Lm5Zt8Vb1Nc4Rf7Y"}, {"E", "AccountName=a;AccountKey=abc="}, {"PWD", "tiger/99"}, {"pwd", "/tiger-99"}, {"SHOP_PWD", "/tiger-99"},
		{"LDAP_BIND_PW", "tiger"}, {"bindPw", "tiger"}, {"Ldap:Bind-Pw", "tiger"}, {"DB_PSW", "x"}, {"SIGNING_PASSPHRASE", "a b"}, {"AppPasscode", "x"}, {"pw", "x7"},
	} {
		assert.True(t, secrets.Hides(s[0], s[1]), "%v", s)
	}
	for _, s := range [][2]string{
		{"PATH", "/usr/bin:/bin"}, {"DOTNET_gcServer", "1"}, {"SHOP_REGION", "eu-west"}, {"KeyboardLayout", "de"}, {"PWD", "/srv/shop"}, {"OLDPWD", "/srv"}, {"PWD", `C:\Shop`}, {"Monkey", "x"}, {"HOME", "/var/tmp/sosgo-debuggee/net10-Setup"},
		{"Logging:LogLevel:Default", "Information"}, {"URLS", "http://localhost:5000"}, {"System.GC.Server", "true"}, {"SHOP_PASSWORD", ""}, {"Type", "System.Collections.Generic.List"},
		{"Passenger", "7"}, {"SHELL", "/usr/bin/pwsh"}, {"pwsh", "7.4"}, {"PWSH_PATH", "/x"}, {"Upward", "1"}, {"PwrMode", "1"}, {"FX_DEPS_FILE", "/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.14/Microsoft.NETCore.App.deps.json"}, {"Commit", "0427b9abbead3fa64c6655eb4290c537397131fa"},
	} {
		assert.False(t, secrets.Hides(s[0], s[1]), "%v", s)
	}
}

func FuzzHides(f *testing.F) {
	f.Add("SHOP_PASSWORD", "x")
	f.Fuzz(func(t *testing.T, name, value string) {
		if secrets.Hides(name, value) && value == "" {
			t.Error("an empty value is hidden")
		}
	})
}

// TestShortNames: PW is a word for a password as the last part of a name. Alone it may be a width or a writer, and a key may be it.
func TestShortNames(t *testing.T) {
	for _, name := range []string{"LDAP_BIND_PW", "bindPw", "ftp-psw", "user_pswd"} {
		assert.True(t, secrets.Strong(name) && secrets.Holds(name) && secrets.HoldsKey(name) && secrets.Named(name) && secrets.MayBeNamed([]byte(name)), name)
	}
	assert.True(t, secrets.Holds("<AdminPw>k__BackingField"))
	for _, name := range []string{"pw", "PW", "psw"} {
		assert.True(t, secrets.HoldsKey(name) && !secrets.Holds(name) && secrets.MayBeNamed([]byte(name)), name)
	}
	for _, name := range []string{"pwsh", "PWSH", "pwrite", "PwGen", "PW_FILE", "upw", "BindPwLength", "mpw"} {
		assert.False(t, secrets.Strong(name) || secrets.Holds(name) || secrets.HoldsKey(name), name)
	}
	for _, text := range []string{"LDAP_BIND_PW=tiger-99", "ldap_bind_pw: tiger-99", `{"bindPw":"tiger-99"}`, `{\"bind_pw\":\"tiger-99\"}`, "bind-pw = 'tiger-99'", "plink -pw tiger-99 host", "tool --bind-pw tiger-99",
		`<add key="BindPw" value="tiger-99"/>`, `{"name":"LDAP_BIND_PW","value":"tiger-99"}`, "name: BIND_PW\nvalue: tiger-99", "ADMIN_PSW=tiger-99", "signing.passphrase=tiger-99", "appPasscode=tiger-99"} {
		assert.NotContains(t, secrets.NewMasker().Text(text), "tiger-99", text)
	}
	for _, text := range []string{"pwsh: 7.4.2", "C:\\tools\\pwsh=1", "x=pw: y", "Pw: 12", "width pw=12", "upw=3", "mpw: words", "PWSH=/usr/bin/pwsh", "PWD=/srv/shop", "OLDPWD=/srv", `{"pwsh":"7"}`, "-pwsh 7", "--nopw 7"} {
		assert.Equal(t, text, secrets.NewMasker().Text(text))
	}
}
