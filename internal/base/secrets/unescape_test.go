package secrets

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
)

// awkward are secrets with characters that some writer escapes.
var awkward = []string{
	"Hj5kQ2\u200bWn8rT4", "Gf3hY7\u202eNm2pL9", "Bd6vS1\u00adQc7xM3", "Sd1fG9\x7fHj3kL5", "Zx7cV2\u0085Bn4mQ8", "We6rT1\x00Yu9iO3",
	"Yu7iO3\x1b[31mPa5sD1", "Pa2sD7\xed\xa0\x80Fg5hJ1", "Ab3cD7\U000E0041Ef9gH2", "Kl9zX3\U0001f600Cv6bN2", "Ij4kL8\u2028Mn6oP1",
	`Mq4wE8"Rt1yU5`, `Io3pA7\Sd9fG2`, `Io3pA7\nSd9fG2`, `Zt3pA7%41Sd9fG2`, `Zt3pA7%41"d9fG2`, "Hj6kL1<Zx4cV8", "Qt\"x<y>7Kz4'Mn`9", "Amp&Eq=Pl+Sl/Sp 9Xz7", "P\u00e4sw5\u00f6rt7",
	"Tr9eA2\tLk4jH8", "Cv5bN1\nMq3wE7", "We2rT8&amp;Yu6iO1", `Zz9yX8\`, "Uu4iO7|Pp3aS2",
}

// writers are the ways in which texts are escaped: by sosgo, by the libraries of .NET and by others.
var writers = map[string]func(string) string{
	"text": func(s string) string { return s },
	"go":   func(s string) string { b, _ := json.Marshal(s); return string(b) },
	"json": func(s string) string { return string(jsonenc.AppendString(nil, s)) },
	"json in json": func(s string) string {
		return string(jsonenc.AppendString(nil, string(jsonenc.AppendString(nil, s))))
	},
	"go in json": func(s string) string {
		b, _ := json.Marshal(s)
		return string(jsonenc.AppendString(nil, string(b)))
	},
	"System.Text.Json": func(s string) string { return eachUnit(s, `"&'+<>`+"\\`\x7f", `\u%04X`) },
	"Newtonsoft":       func(s string) string { return eachUnit(s, "\"\\", `\u%04x`) },
	"UrlEncode":        func(s string) string { return lowerHex(url.QueryEscape(s)) },
	"QueryEscape":      url.QueryEscape,
	"EscapeDataString": func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") },
	"PathEscape":       url.PathEscape,
	"HtmlEncode":       html.EscapeString,
	"XML": func(s string) string {
		return strings.NewReplacer("&", "&amp;", "<", "&lt;", "\"", "&quot;", "\n", "&#xA;", "\t", "&#x9;").Replace(s)
	},
	"XML in JSON": func(s string) string {
		return string(jsonenc.AppendString(nil, html.EscapeString(s)))
	},
	"terminal": func(s string) string {
		return strings.NewReplacer("\x00", `\0`, "\x1b", `\x1b`, "\x7f", `\x7f`, "\u0085", `\u0085`, "\u200b", `\u200b`, "\u202e", `\u202e`, "\u00ad", `\u00ad`,
			"\U000e0041", `\U000e0041`, "\xed\xa0\x80", `\ud800`, "\u2028", `\u2028`, "\n", `\n`, "\t", `\t`).Replace(s)
	},
	"table": func(s string) string { return strings.ReplaceAll(s, "|", `\|`) },
}

// eachUnit escapes characters of a set, control characters and, except for Newtonsoft's, all others outside ASCII.
func eachUnit(s, set, format string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, "\ufffd") {
		switch {
		case strings.ContainsRune(set, r) || r < ' ' || r >= 0x7f && r < 0x10000:
			fmt.Fprintf(&b, format, r)
		case r >= 0x10000:
			r -= 0x10000
			fmt.Fprintf(&b, format+format, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func lowerHex(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			b[i+1], b[i+2] = lowered(b[i+1]), lowered(b[i+2])
		}
	}
	return string(b)
}

// TestWritten masks each secret as each writer escapes it: nothing of it stays, and nothing beside it goes.
func TestWritten(t *testing.T) {
	for _, secret := range awkward {
		m := NewMasker()
		m.Add(secret, KindNamed)
		for name, write := range writers {
			if strings.Contains(secret, "\xed") && name != "text" && name != "json" && name != "json in json" && name != "terminal" {
				continue // halves of pairs have no form there
			}
			text := "before " + write(secret) + " after"
			masked := m.Text(text)
			assert.Regexp(t, `^before (\\?\\?\\?"|\\")*`+Mask+`(\\?\\?\\?"|\\")* after$`, masked, "%s: %q: %s", name, secret, text)
			other := write("nothing, " + secret[:3] + "<\u200b\x00\"&>")
			assert.Equal(t, other, m.Text(other))
		}
	}
}

// TestNumbersInDocuments: the mask of a number in a document is a string, so that it stays a document.
func TestNumbersInDocuments(t *testing.T) {
	m := NewMasker()
	m.Add("839201754466", KindNamed)
	for _, text := range []string{`{"Password":48213077}`, `{"Password": 48213077 ,"b":1}`, `[{"x":{"ApiKey":-1.5e3}}]`, `{"n":839201754466}`, `{"n":"839201754466"}`,
		`{"line":"Password=48213077"}`, `{"line":"{\"Password\":48213077}"}`} {
		masked := m.Text(text)
		assert.True(t, json.Valid([]byte(masked)), "%s", masked)
		assert.Contains(t, masked, Mask)
		assert.NotRegexp(t, `48213077|1\.5e3|839201754466`, masked)
	}
}

// BenchmarkText masks a text without escapes or secrets. The secrets begin with all letters and digits.
func BenchmarkText(b *testing.B) {
	m := NewMasker()
	const chars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	for i := range 200 {
		m.Add(fmt.Sprintf("%c%c%dQy%dVw7Kp3", chars[i*7%len(chars)], chars[i*11%len(chars)], i*7919, i*104729), KindNamed)
	}
	text := strings.Repeat(`00007f5ac00148b8 00007f5ae19ba0c0 24 System.Collections.Generic.Dictionary<System.String, Shop.Order>, Name = "order 1042 of user 7"`+"\n", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		m.Text(text)
	}
}

func BenchmarkTextWithEscapes(b *testing.B) {
	m := NewMasker()
	for i := range 200 {
		m.Add(fmt.Sprintf("Zx%dQy%dVw7Kp3", i*7919, i*104729), KindNamed)
	}
	text := strings.Repeat(`{"path":"C:\\Users\\me\\file.txt","q":"a%20b&amp;c","name":"System.Collections.Generic.Dictionary"},`, 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		m.Text(text)
	}
}

// TestLines masks the lines of a secret that an answer prints as lines, and not lines of words.
func TestLines(t *testing.T) {
	m := NewMasker()
	m.Add("Rt8yU2\r\nIo6pA4\nplease call", KindNamed)
	assert.Equal(t, "a <hidden>", m.Text("a Rt8yU2"))
	assert.Equal(t, "<hidden> b", m.Text("Io6pA4 b"))
	assert.Equal(t, "please call", m.Text("please call"))
}
