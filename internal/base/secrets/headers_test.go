package secrets

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestHeadersInJSON has headers with secrets as keys of documents, also of documents in documents: the value is masked as in the header.
func TestHeadersInJSON(t *testing.T) {
	const secret = "Hkq83vBnzm41XcRt"
	for _, name := range []string{"Ocp-Apim-Subscription-Key", "x-functions-key", "X-Vault-Token", "X-CSRF-Token", "X-Amz-Security-Token", "X-GitHub-Token", "X-Auth-Token", "X-Api-Key", "X-Shared-Secret",
		"Cookie", "Set-Cookie"} {
		value := secret
		if strings.HasSuffix(name, "ookie") {
			value = ".AspNetCore.Cookies=" + secret + "; path=/"
		}
		for _, document := range []any{map[string]string{name: value}, map[string][]string{name: {value}}, map[string]string{"Host": "a", name: value, "z": "b"}} {
			text, _ := json.Marshal(document)
			outer, _ := json.Marshal(map[string]string{"x": string(text)})
			for _, s := range []string{string(text), string(outer), strings.ReplaceAll(string(text), `":`, `": `)} {
				got := NewMasker().Text(s)
				assert.NotContains(t, got, secret, s)
				assert.Contains(t, got, name)
				assert.True(t, json.Valid([]byte(got)), got)
			}
		}
	}
	for _, text := range []string{`{"Cookie": "none"}`, `{"cookie":"strict","path":"/"}`, `["X-Vault-Token", "X-Api-Key"]`} {
		assert.Empty(t, Find(text), text)
	}
}

// TestKeysInURLs has keys in places of URLs where a user, a parameter or a path may be, and texts that resemble them.
func TestKeysInURLs(t *testing.T) {
	for _, text := range []string{
		"https://«a83bd02c77f14e5b9d20c6f3e81a4b7d»@o1.ingest.sentry.io/4507",
		"git clone https://«hQ83vBnz41XcRt92»@github.com/a/b.git",
		"https://«hQ83vBnz41XcRt92»:x-oauth-basic@github.com/a/b.git",
		`{"u":"https:\/\/«hQ83vBnz41XcRt92»@github.com\/a"}`,
		"https://b.s3.amazonaws.com/k?AWSAccessKeyId=x&Expires=1&Signature=«vjbyPxybdZaNmGa%2ByT272YEAiv4%3D»",
		"wss://a/hub?id=1&connectionToken=«hQ83vBnz41XcRt92»",
		"https://a.azure-api.net/x?subscription-key=«a83bd02c77f14e5b9d20c6f3e81a4b7d»",
		"https://discordapp.com/api/webhooks/«123456789012345678/hQ83vBnz41XcRt92»",
		"https://discord.com/api/v10/webhooks/«123456789012345678/hQ83vBnz41XcRt92»",
		"https://hooks.slack.com/triggers/«T0123/456/hQ83vBnz41XcRt92»",
		"https://hooks.slack-gov.com/services/«T0123/B456/hQ83vBnz41XcRt92»",
		"token «glpat-hQ83vBnz41XcRt92hQ83vBnz41X.01.0z1xxj46s» here",
		"token «glpat-hQ83vBnz41XcRt92hQ83vBnz41X.0w8wcspvz» here",
	} {
		plain := strings.NewReplacer("«", "", "»", "").Replace(text)
		want := text[:strings.Index(text, "«")] + Mask + text[strings.Index(text, "»")+len("»"):]
		assert.Equal(t, want, NewMasker().Text(plain))
	}
	for _, text := range []string{"https://first.last2000@example.com/x", "ssh://deployment-user@example.com/a", "https://example.com/@angular/core@17.3.12/a", "see //github.com/some/path12a3b4c5d6@v1",
		"https://a/x?signature=required", "https://a/x?skiptoken=abcdefghijklmnop12", "https://discord.com/api/v10/channels/123456789012345678"} {
		assert.Empty(t, Find(text), text)
	}
}
