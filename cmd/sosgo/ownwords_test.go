package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/test/plants"
)

// TestOwnWords: with masking, the heads of columns and sosgo's own words in an error stay, although they look like a name beside a secret. What the process
// has is masked in the same answers.
func TestOwnWords(t *testing.T) {
	dump := plants.Read(t, moduleRoot, "net10-kinds").Dump
	run := func(args ...string) (stdout, stderr string, code int) {
		return runIn(t, cli.Env{Open: commands.Open, Mask: commands.Mask}, args...)
	}
	for question, heads := range map[string][]string{
		"from strings | select text as Bearer, length as hashcode1234 | top 1":                  {"Bearer hashcode1234", `{"name":"Bearer"}`},
		`from objects of Kinds.Account | select Password == "abcd1234x", User | top 1`:          {`Password == "abcd1234x"`, `{"name":"Password == \"abcd1234x\""}`},
		`from strings | where text matches /Password=/ | select text as ApiKey, length | top 1`: {"ApiKey", `{"name":"ApiKey"}`},
	} {
		out, errs, code := run("-d", dump, "-offline", "-redact", "query", question)
		assert.Zero(t, code, errs)
		assert.Contains(t, out, heads[0])
		out, errs, code = run("-d", dump, "-offline", "-redact", "-json", "query", question)
		assert.Zero(t, code, errs)
		assert.Contains(t, out, heads[1])
	}
	out, _, _ := run("-d", dump, "-offline", "-redact", "query", "from strings | where text matches /Password=/ | select text as Bearer, text as Password | top 3")
	assert.Contains(t, out, "Password=<hidden>", "the rows are masked")
	for _, args := range [][]string{{"eval", "Password"}, {"dumpobj", "Password"}} {
		_, errs, _ := run(append([]string{"-d", dump, "-offline", "-redact"}, args...)...)
		assert.Contains(t, errs, `at "Password": Password is neither`)
		out, _, _ := run(append([]string{"-d", dump, "-offline", "-redact", "-json"}, args...)...)
		assert.Contains(t, out, `at \"Password\": Password is neither`)
	}
}
