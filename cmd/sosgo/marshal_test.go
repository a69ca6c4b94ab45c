package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testcli"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// unmarshalled are the commands that TestMarshal does not run.
var unmarshalled = map[string]string{
	"watsonbuckets": "no answer: it only reports that Watson buckets are not read",
	"mcp":           "no answer: it speaks a protocol",
	"dap":           "no answer: it speaks a protocol",
	"web":           "runs until it is stopped",
	"ps":            "asks the processes of this machine; TestLive reads its answer",
	"collect":       "likewise",
	"fleet":         "runs this program for each dump; TestFleet compares its answers",
}

// writingLines are the lines of commands that write files, which have no goldens. {out} is a folder.
var writingLines = map[string][]string{
	"export":       {"export gcdump -full {out}/heap.gcdump", "export csv -full {out}/tables", "export folded -full {out}/stacks.folded"},
	"dumpsig":      {"dumpsig {method signature}"},
	"dumpsigelem":  {"dumpsigelem {type signature}"},
	"pack":         {"pack -o {out}/packed.tar.zst"},
	"report":       {"report -full -o {out}/report.html"},
	"savemodule":   {"savemodule {image} {out}/saved.dll"},
	"scrub":        {"scrub -o {out}/scrubbed.dmp"},
	"shrink":       {"shrink -o {out}/shrunk.dmp"},
	"signature":    {"signature rules"},
	"summarize":    {"summarize -full"},
	"traverseheap": {"traverseheap {out}/heap.log"},
}

// marshalLines returns command lines for a dump: all golden lines of a complete test, else one for each command.
func marshalLines(t *testing.T, d *testdump.Dump) map[string][]string {
	lines, names := map[string][]string{}, namesOf(t, d)
	names["out"] = filepath.ToSlash(t.TempDir())
	var images struct {
		Result struct{ Modules []struct{ Address string } }
	}
	out, _, _ := run(t, "-d", d.Plain(), "-json", "modules")
	require.NoError(t, json.Unmarshal([]byte(out), &images))
	for _, image := range images.Result.Modules[:min(1, len(images.Result.Modules))] {
		names["image"] = image.Address
	}
	// The array has four elements, and the first is 10: as signatures, an I1 and a method without parameters that returns
	// an I8.
	if ints, err := strconv.ParseUint(names["root.Arrays.Ints"], 16, 64); err == nil {
		names["type signature"], names["method signature"] = fmt.Sprintf("%x", ints+8), fmt.Sprintf("%x", ints+0xe)
	}
	for _, from := range []map[string][]string{writingLines, goldenLines} {
		for command, templates := range from {
			for _, template := range templates {
				if line, ok := fillIn(template, names); ok && (len(lines[command]) == 0 || testcase.Complete()) {
					lines[command] = append(lines[command], line)
				}
			}
		}
	}
	return lines
}

// TestMarshal runs every command and compares the result that -json prints with json.Marshal of the command's answer,
// which is marshalled twice before it is printed.
func TestMarshal(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every command")
	}
	dumps := []string{"net10-zoo"}
	if testcase.Complete() {
		dumps = append(dumps, "net10-async", "net10-crash-null-triage", "win-net8-zoo", "net10-arm64")
	}
	compared := map[string]bool{}
	for _, name := range dumps {
		d := testdump.Open(t, name)
		for command, lines := range marshalLines(t, d) {
			marshalled(t, d.Plain(), lines, func() { compared[command] = true })
		}
	}
	for _, c := range commands.All() {
		_, excused := unmarshalled[c.Name]
		assert.NotEqual(t, compared[c.Name], excused, c.Name)
	}
}

// TestMarshalWeb is TestMarshal for the commands about web servers.
func TestMarshalWeb(t *testing.T) {
	if !testcase.Complete() {
		t.Skip("SOSGO_COMPLETE=1 runs it")
	}
	d := testdump.OpenWeb(t, "web-net10")
	for _, lines := range goldenWebLines {
		marshalled(t, d.Plain(), lines, func() {})
	}
}

// around returns the tokens next to the nth.
func around(tokens []string, n int) []string { return tokens[max(0, n-5):min(len(tokens), n+5)] }

// An asked is the answer of a command that ran.
type asked struct {
	twice [2][]byte
	err   error
}

// marshalled runs lines, compares their documents, and calls compared for each line with an answer.
func marshalled(t *testing.T, dump string, lines []string, compared func()) {
	kept := testcli.Kept{Path: dump}
	env := kept.Env()
	for _, line := range lines {
		var got asked
		var out, errs bytes.Buffer
		env.Commands, env.Threads, env.Limits = commands.All(), commands.Threads, commands.Limits()
		for i := range env.Commands {
			env.Commands[i].Ask = got.asks(env.Commands[i].Ask)
		}
		cli.Main(context.Background(), []string{"-d", dump, "-json", "-c", line}, strings.NewReader(""), &out, &errs, env)
		if got.twice[0] == nil && got.err == nil {
			continue // no answer, but an error
		}
		if !assert.NoError(t, got.err, line) {
			continue
		}
		var doc struct {
			Result   json.RawMessage
			Warnings []report.Problem
			Error    report.Problem
		}
		require.NoError(t, json.Unmarshal(out.Bytes(), &doc), line)
		want, known := tokens(doc.Result)
		known = append(known, doc.Error.Text) // of a list that failed
		for _, w := range doc.Warnings {      // the program warns of rows that are missing from its lists
			known = append(known, w.Text)
		}
		for i, b := range got.twice {
			got, missing := tokens(b)
			n := 0
			for n < min(len(want), len(got)) && want[n] == got[n] {
				n++
			}
			assert.Equal(t, around(want, n), around(got, n), "%s, marshalled %d times: token %d of %d", line, i+1, n, len(want))
			assert.Subset(t, known, missing, line)
		}
		compared()
	}
	require.NoError(t, kept.Close())
}

// asks returns ask, with its answer marshalled twice before it is returned.
func (a *asked) asks(ask func(*cli.Context) (report.Answer, error)) func(*cli.Context) (report.Answer, error) {
	return func(c *cli.Context) (report.Answer, error) {
		v, err := ask(c)
		if v.Value != nil {
			for i := range a.twice {
				if a.twice[i], a.err = json.Marshal(listed(v.Value)); a.err != nil {
					break
				}
			}
		}
		return v, err
	}
}

// listed returns an answer that is an iterator as a list, and other answers as they are.
func listed(v any) any {
	rv := reflect.ValueOf(v)
	if rv.Kind() != reflect.Func {
		return v
	}
	list := []any{}
	for row, err := range rv.Seq2() {
		if err.IsNil() {
			list = append(list, row.Interface())
		}
	}
	return list
}

// tokens returns the tokens of a JSON text without objects {"missing": reason} and {"error": reason}, and the reasons.
func tokens(text []byte) (out, missing []string) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return out, missing
		}
		out = append(out, fmt.Sprintf("%T %v", token, token))
		if n := len(out) - 4; n >= 0 && token == json.Delim('}') && out[n] == "json.Delim {" && slices.Contains([]string{"string missing", "string error"}, out[n+1]) {
			out, missing = out[:n], append(missing, strings.TrimPrefix(out[n+2], "string "))
		}
	}
}
