package secrets

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sample returns a text that an expression matches, with each part of it as short or as long as it may be. What has no end gets 40 more.
func sample(re *syntax.Regexp, long bool, random *rand.Rand) string {
	const more = 40
	var b strings.Builder
	times := func(least, most int) {
		n := least
		if long {
			if n = most; most < 0 {
				n = least + more
			}
		}
		for range n {
			b.WriteString(sample(re.Sub[0], long, random))
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		var all []rune
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= min(re.Rune[i+1], 0x7e); r++ {
				all = append(all, r)
			}
		}
		b.WriteRune(all[random.IntN(len(all))])
	case syntax.OpAlternate:
		sub := re.Sub[0]
		if long {
			sub = re.Sub[len(re.Sub)-1]
		}
		b.WriteString(sample(sub, long, random))
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			b.WriteString(sample(sub, long, random))
		}
	case syntax.OpQuest:
		times(0, 1)
	case syntax.OpStar:
		times(0, -1)
	case syntax.OpPlus:
		times(1, -1)
	case syntax.OpRepeat:
		times(re.Min, re.Max)
	}
	return b.String()
}

// TestPublishedKeys finds the shortest and the longest key of each kind with each of its heads, alone and behind escapes, and not within a word.
func TestPublishedKeys(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	services := map[string]bool{}
	for _, k := range publishedKeys {
		require.False(t, services[k.service], k.service)
		services[k.service] = true
		for _, head := range strings.Fields(k.heads) {
			re, err := syntax.Parse(k.before+regexp.QuoteMeta(head)+k.tail, syntax.Perl)
			require.NoError(t, err)
			for _, long := range []bool{false, true} {
				key := sample(re, long, random)
				for n := 0; n < 1000 && (k.drawn && !looksGenerated(key[strings.Index(key, head)+len(head):]) || !isAlphanumeric(key[len(key)-1])); n++ {
					key = sample(re, long, random)
				}
				require.NotZero(t, Cued([]byte(key)), key)
				for _, around := range [][2]string{{"got ", ", went"}, {"", ""}, {`"`, `"`}, {`line\n`, `\n`}, {`\u0022`, `\u0022`}, {"a%3A", "%26"}, {"-", "\x00"}} {
					text := around[0] + key + around[1]
					found := false
					for _, s := range Find(text) {
						found = found || s.Start <= len(around[0]) && s.End >= len(around[0])+len(key)
					}
					assert.True(t, found, "%s: %q: %v", k.service, text, Find(text))
				}
				for _, before := range []string{"a", "_", "7", "x41"} {
					for _, m := range inKeys(before + key) {
						assert.NotEqual(t, len(before), m[0], "%s: %q", k.service, before+key)
					}
				}
			}
		}
	}
	assert.Greater(t, len(services), 90)
}

// TestNoPublishedKeys has texts with the heads of keys that are no keys.
func TestNoPublishedKeys(t *testing.T) {
	for _, text := range []string{"sk-button-primary-large-outline-x", "/app/patches/path/patience", "a_re_exported_name", "API-VERSIONSELECTORWITHLONGNAME", "sdk-resolver-9.0.100-preview.4", "vcp_some_long_name_of_a_thing_here",
		"EAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "re_1NirD82eZvKYlo2CIvbtLWuY", "secret_store_of_the_shop", "npm_config_registry", "https://h/1//0/x", "FAQ.About", "dosed", "99-us1"} {
		assert.Empty(t, Find(text), text)
	}
}
