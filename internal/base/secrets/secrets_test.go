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
	} {
		assert.True(t, secrets.Hides(s[0], s[1]), "%v", s)
	}
	for _, s := range [][2]string{
		{"PATH", "/usr/bin:/bin"}, {"DOTNET_gcServer", "1"}, {"SHOP_REGION", "eu-west"}, {"KeyboardLayout", "de"}, {"PWD", "/srv/shop"}, {"OLDPWD", "/srv"}, {"PWD", `C:\Shop`}, {"Monkey", "x"}, {"HOME", "/var/tmp/sosgo-debuggee/net10-Setup"},
		{"Logging:LogLevel:Default", "Information"}, {"URLS", "http://localhost:5000"}, {"System.GC.Server", "true"}, {"SHOP_PASSWORD", ""}, {"Type", "System.Collections.Generic.List"},
		{"Passenger", "7"}, {"FX_DEPS_FILE", "/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.14/Microsoft.NETCore.App.deps.json"}, {"Commit", "0427b9abbead3fa64c6655eb4290c537397131fa"},
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
