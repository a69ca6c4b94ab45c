package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestNewcomer checks that "sosgo help" alone leads from the words of a question to the right command, and the
// command's help to the line to type. The answer must agree with the program's source.
func TestNewcomer(t *testing.T) {
	testdump.Corpus(t, testcase.Named("web-*"), func(t *testing.T, d *testdump.Dump) (asked int) {
		var pending []struct{ Path, Query string }
		var pool struct{ Global []string }
		var sql struct{ Commands []struct{ Text string } }
		for name, to := range map[string]any{"pending": &pending, "threadpool": &pool, "npgsql": &sql} {
			require.NoError(t, json.Unmarshal(d.Manifest.Facts[name], to), name)
		}
		var large struct{ Last [2]string }
		require.NoError(t, json.Unmarshal(d.Manifest.Expect["DictionaryLarge"], &large))
		var pairs [][2]string
		require.NoError(t, json.Unmarshal(d.Manifest.Expect["DictionaryStringInt"], &pairs))
		var paths, texts, jobs, entries []string
		for _, p := range pending {
			paths = append(paths, p.Path+p.Query)
		}
		for _, c := range sql.Commands {
			texts = append(texts, c.Text)
		}
		for _, item := range pool.Global {
			if words := strings.Fields(item); len(words) == 2 { // a method and what it gets
				jobs = append(jobs, words...)
			}
		}
		for _, p := range pairs {
			entries = append(entries, p[0], p[1])
		}
		type question struct {
			words     []string // of the question; all must occur in one command's line
			command   string   // the expected command
			arguments string
			shown     []string // with the argument names in the command's help
			facts     []string
		}
		for name, q := range map[string]question{
			"which requests does the server work on?": {[]string{"web requests", "in progress", "age"}, "requests", "", nil, paths},
			"what is in this dictionary?": {[]string{"keys", "values", "dictionary"}, "dumpdictionary", "WebDebuggee.Collections.DictionaryStringInt",
				[]string{"Contoso.Cache.s_items"}, entries},
			"who has all the connections to the database?": {[]string{"connection", "database"}, "sqlpools", "", nil, texts},
			"what is queued in the thread pool?":           {[]string{"queued", "thread pool", "each worker"}, "threadpoolqueue", "", nil, jobs},
			"which HttpContext is that of this URL?":       {[]string{"HttpContext", "URL"}, "findhttpcontext", "-url " + pending[0].Path, []string{"-url"}, paths[:1]},
			"what does this expression say?": {[]string{"expression", "C#"}, "eval", "WebDebuggee.Collections.DictionaryLarge[" + large.Last[0] + "]",
				[]string{"Ns.Type.StaticField", "x[3]"}, large.Last[1:]},
			"what will this delegate call?": {[]string{"methods", "delegate calls"}, "dumpdelegate", "WebDebuggee.Collections.Closure", []string{"Contoso.Cache.s_items"},
				[]string{"MakeClosure"}},
		} {
			t.Run(name, func(t *testing.T) {
				require.NotEmpty(t, q.facts)
				help, _, code := run(t, "help", "all")
				require.Zero(t, code)
				require.Equal(t, []string{q.command}, commandsAbout(help, q.words))
				how, _, code := run(t, "help", q.command)
				require.Zero(t, code)
				assert.Contains(t, how, "usage: "+q.command)
				for _, shown := range q.shown {
					assert.Contains(t, how, shown)
				}
				out, errs, code := run(t, "-d", d.Plain(), "-c", strings.TrimSpace(q.command+" "+q.arguments))
				require.Zero(t, code, errs)
				for _, fact := range q.facts {
					assert.Contains(t, out, fact)
				}
			})
			asked++
		}
		return asked
	})
}

// commandsAbout returns the commands with all words in their line of sosgo's help.
func commandsAbout(help string, words []string) (commands []string) {
	command, text := "", ""
	ends := func() {
		for _, w := range words {
			if !strings.Contains(strings.ToLower(text), strings.ToLower(w)) {
				return
			}
		}
		commands = append(commands, command)
	}
	name := regexp.MustCompile(`^  ([a-z0-9]+)(, [a-z0-9]+)*(  |\n)`)
	for line := range strings.Lines(help) {
		if m := name.FindStringSubmatch(line); m != nil {
			ends()
			command, text = m[1], ""
		}
		if strings.HasPrefix(line, " ") {
			text += line
		}
	}
	ends()
	return commands
}
