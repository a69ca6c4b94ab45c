package secrets

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
)

// TestHolds checks names of secrets, and names for what is said about secrets.
func TestHolds(t *testing.T) {
	for _, name := range []string{"Password", "_password", "<Password>k__BackingField", "<password>5__2", "Passwords", "pwd", "m_apiKey", "ClientSecret", "AccessToken", "SecretNumber",
		"<clientSecret>5__3", "PrivateKey", "MotDePasse", "_connectionString"} {
		assert.True(t, Holds(name), name)
		assert.True(t, HoldsKey(name), name)
	}
	for _, name := range []string{"PasswordLength", "_maxFailedPasswordAttempts", "TokenType", "SecretId", "passwordHasher", "_credentialTypes", "PasswordChangedAt", "Key", "Token", "CancellationToken",
		"Ldtoken", "", "<>1__state", "Count", "ApiKeyHeader", "PasswordPolicy"} {
		assert.False(t, Holds(name), name)
	}
	assert.True(t, HoldsKey("Pin"))
	assert.True(t, HoldsKey("db.pass"))
	assert.False(t, HoldsKey("Spinner"))
	assert.Equal(t, "password", Bare("<password>5__2"))
	assert.Equal(t, "<>1__state", Bare("<>1__state"))
}

// TestMayBeNamed: no word of a name is missing, and nothing is allocated.
func TestMayBeNamed(t *testing.T) {
	isASCII := func(s string) bool {
		return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
	}
	for _, list := range [][]string{slices.Collect(maps.Keys(words)), joined, {"DbPassword", "X-Api-Key", "pwd", "MOT_DE_PASSE"}} {
		for _, word := range list {
			if isASCII(word) {
				assert.True(t, MayBeNamed([]byte(strings.ToUpper(word))), word)
			}
		}
	}
	for _, name := range []string{"Name", "Host", "order 1042", "", "p", "ke y"} {
		assert.False(t, MayBeNamed([]byte(name)), name)
	}
	name := []byte("Some Name")
	assert.Zero(t, testing.AllocsPerRun(100, func() { MayBeNamed(name) }))
}
