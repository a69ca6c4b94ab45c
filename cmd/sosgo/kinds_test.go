package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/front/cli/commands/webcmd"
	"github.com/sosgo/sosgo/internal/front/webui"
	"github.com/sosgo/sosgo/internal/test/exportread"
	"github.com/sosgo/sosgo/internal/test/plants"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testcli"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// A kindsDump asks about the dump with secrets in all kinds of places.
type kindsDump struct {
	*plants.Truth
	kept testcli.Kept
}

func openKinds(t *testing.T) *kindsDump {
	t.Helper()
	return openPlants(t, "net10-kinds")
}

func openPlants(t *testing.T, name string) *kindsDump {
	t.Helper()
	k := &kindsDump{Truth: plants.Read(t, moduleRoot, name)}
	k.kept.Path = k.Dump
	t.Cleanup(func() { assert.NoError(t, k.kept.Close()) })
	return k
}

// ask runs sosgo and returns what it prints.
func (k *kindsDump) ask(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	env := environment(nil)
	env.Open, env.KeepOpen = k.kept.Env().Open, true
	cli.Main(t.Context(), append([]string{"-d", k.Dump, "--offline"}, args...), strings.NewReader(""), &out, &out, env)
	return out.String()
}

// objects returns the addresses of the program's objects with secrets, and of what they refer to.
func (k *kindsDump) objects(t *testing.T) (list []string) {
	t.Helper()
	for line := range strings.Lines(k.ask(t, "query", "from objects of Kinds.Keep | select addr(this.What)")) {
		if at := strings.TrimSpace(line); strings.HasPrefix(at, "0x") {
			list = append(list, at)
		}
	}
	require.Greater(t, len(list), 50)
	for i := 0; i < len(list) && len(list) < 400; i++ {
		var doc struct {
			Result []struct{ Object, Type string }
		}
		require.NoError(t, json.Unmarshal([]byte(k.ask(t, "--json", "dumpobjgcrefs", list[i])), &doc))
		for _, r := range doc.Result {
			if !slices.Contains(list, r.Object) && !strings.Contains(r.Type, "Runtime") {
				list = append(list, r.Object)
			}
		}
	}
	return list
}

// kindsLines returns a line for each command, with each of its options that has no value. With objects, it returns those that take an address,
// for each of them.
func kindsLines(objects []string) (lines [][]string) {
	for _, c := range commands.All() {
		options, args := c.Declares()
		if c.Serves || c.Live || slices.ContainsFunc(args, func(a cli.Arg) bool { return a.Kind == cli.File && !a.Optional }) {
			continue
		}
		all := [][]string{{c.Name}}
		for _, o := range options {
			if o.Kind == cli.Bool && !o.Reveals {
				all = append(all, []string{c.Name, "-" + o.Name})
			}
		}
		if len(objects) == 0 {
			lines = append(lines, all...)
			continue
		}
		if len(args) == 0 || args[0].Kind == cli.File {
			continue
		}
		for i, at := range objects {
			lines = append(lines, []string{c.Name, at})
			if i%8 == 0 {
				for _, line := range all[1:] {
					lines = append(lines, append(slices.Clone(line), at))
				}
			}
		}
	}
	return lines
}

// TestSecretsOfAllKinds runs all commands over a dump with secrets in all kinds of places, in text and in JSON. With masking, none is shown.
func TestSecretsOfAllKinds(t *testing.T) {
	k := openKinds(t)
	kinds := map[string]bool{}
	for _, p := range k.Plants {
		kinds[p.Kind] = true
	}
	require.GreaterOrEqual(t, len(kinds), 60)
	require.GreaterOrEqual(t, len(k.Beside), 12)
	objects := k.objects(t)
	lines := append(kindsLines(nil), kindsLines(objects)...)
	if step := 7; !testcase.Complete() { // as the number of objects has no factor 7, each command and each object remains
		t.Logf("a sample: 1 of %d lines; SOSGO_COMPLETE=1 tries all", step)
		for i := range len(lines) / step {
			lines[i] = lines[i*step]
		}
		lines = lines[:len(lines)/step]
	}
	stays := map[string]bool{}
	masks := 0
	shown := map[plants.Plant][]string{}
	there := map[plants.Plant]bool{}
	for i, line := range lines {
		for _, form := range [][]string{nil, {"--json"}} {
			out := k.ask(t, slices.Concat([]string{"--redact"}, form, line)...)
			masks += strings.Count(out, "hidden>")
			for _, text := range k.Stay {
				if !stays[text] && strings.Contains(out, text) {
					stays[text] = true
				}
			}
			for _, p := range k.Shown(out) {
				shown[p] = append(shown[p], strings.Join(slices.Concat(form, line), " "))
			}
			if i%3 == 0 || !testcase.Complete() {
				for _, p := range k.Shown(k.ask(t, slices.Concat(form, line)...)) {
					there[p] = true
				}
			}
		}
	}
	for _, text := range k.Stay {
		assert.True(t, stays[text], "%s is nowhere", text)
	}
	assert.Greater(t, masks, len(lines)/2)
	for p, lines := range shown {
		t.Errorf("%s %s is shown by %d lines: %s", p.Kind, p.Value, len(lines), strings.Join(lines[:min(len(lines), 12)], "; "))
	}
	for _, p := range slices.Concat(k.Plants, k.Beside) {
		if !there[p] {
			t.Logf("%s %s is not shown without masking", p.Kind, p.Value)
		}
	}
	t.Logf("%d lines, %d objects; without masking %d of %d secrets are shown", len(lines), len(objects), len(there), len(k.Plants)+len(k.Beside))
	assert.Greater(t, len(there), len(k.Plants)*9/10)
}

// TestNoGuessIsConfirmed: with masking, what compares a number that stands beside a name of a secret answers the same for the number and for others.
func TestNoGuessIsConfirmed(t *testing.T) {
	k := openKinds(t)
	settings := strings.TrimSpace(k.ask(t, "dumpheap", "-type", "Kinds.Settings", "-short"))
	require.NotContains(t, settings, "\n", "one object")
	for _, line := range [][]string{
		{"query", "from Kinds.Settings | where Pwd == N | select address"},
		{"query", "from Kinds.Settings | where N <= Pwd && Pwd < N + 1 | select address"},
		{"query", "from Kinds.Settings | select Pwd == N ? 1 : 2, Pwd > N - 1"},
		{"query", "from Kinds.Settings | where this.Pwd == N || Pwd in (N) | select address"},
		{"query", "SELECT address FROM Kinds.Settings WHERE Pwd = N"},
		{"query", "from Kinds.Settings | order by Pwd == N | group by Pwd == N"},
		{"dumpheap", "-type", "Kinds.Settings", "-where", "Pwd >= N && Pwd <= N"},
		{"dumpheap", "-type", "Kinds.Settings", "-select", "Pwd == N, Pwd < N"},
		{"dumpobj", "-show", "Pwd == N", settings},
		{"eval", "obj(0x" + settings + ").Pwd == N"},
	} {
		guess := func(number string, masking ...string) string {
			args := slices.Clone(masking)
			for _, word := range line {
				args = append(args, strings.ReplaceAll(word, "N", number))
			}
			return strings.ReplaceAll(k.ask(t, args...), number, "N")
		}
		const right, wrong = "48217", "48316"
		assert.Equal(t, guess(wrong, "--redact"), guess(right, "--redact"), strings.Join(line, " "))
		assert.NotEqual(t, guess(wrong), guess(right), strings.Join(line, " "))
	}
}

// TestPairsInQueries: what stands beside a key that names a secret is hidden in queries and expressions, with and without the key.
func TestPairsInQueries(t *testing.T) {
	k := openKinds(t)
	const secret = "Dq9c" // beside ApiSecret, in a Tuple
	for _, line := range []string{
		"from System.Tuple<String,String> | select Item1, Item2",
		"from System.Tuple<String,String> | select Item2",
		"from System.Tuple<String,String> | select this.Item2, text(Item2), Item2 + 'x', obj(address).Item2",
		"from System.Tuple<String,String> | group by Item2",
		"SELECT Item2 FROM System.Tuple<String,String>",
	} {
		assert.NotContains(t, k.ask(t, "--redact", "query", line), secret, line)
		assert.Contains(t, k.ask(t, "query", line), secret, line)
	}
	guess := "from System.Tuple<String,String> | where Item2 == '" + secret + "' | select Item1"
	assert.NotContains(t, k.ask(t, "--redact", "query", guess), "ApiSecret")
	assert.Contains(t, k.ask(t, "query", guess), "ApiSecret")
}

// TestPairsInArrays: in an array of pairs, what stands beside a key that names a secret is hidden, whatever shows the array or an element of it.
func TestPairsInArrays(t *testing.T) {
	k := openPlants(t, "net10-apart")
	const secret, array = "Pg2s", "7fd99580bb78" // beside Ftp:Pwd
	for _, line := range [][]string{
		{"dumparray", array},
		{"dumparray", "-details", array},
		{"items", array},
		{"eval", "obj(0x" + array + ")[1]"},
		{"eval", "obj(0x" + array + ")[1].value"},
		{"eval", "text(obj(0x" + array + ")[1].value)"},
		{"query", "from System.Collections.Generic.KeyValuePair<String,String>[] | select this[0], this[1]"},
		{"query", "from System.Collections.Generic.KeyValuePair<String,String>[] | select this[1].key, this[1].value"},
	} {
		for _, form := range []string{"--json=false", "--json"} {
			assert.Contains(t, k.ask(t, append([]string{form}, line...)...), secret, line)
			assert.NotContains(t, k.ask(t, append([]string{"--redact", form}, line...)...), secret, line)
		}
	}
	assert.Contains(t, k.ask(t, "--redact", "dumparray", array), `{key="Ftp:Pwd", value=<hidden>}`)
}

// TestNoOptionReveals: an option that shows secrets does not undo --redact.
func TestNoOptionReveals(t *testing.T) {
	k := openKinds(t)
	n := 0
	for _, c := range commands.All() {
		options, _ := c.Declares()
		for _, o := range options {
			if !o.Reveals {
				continue
			}
			n++
			for _, form := range []string{"--json=false", "--json"} {
				without := k.ask(t, "--redact", form, c.Name)
				assert.Equal(t, without, k.ask(t, "--redact", form, c.Name, "-"+o.Name), c.Name)
				assert.Equal(t, without, k.ask(t, "--redact", form, c.Name, "-"+o.Name+"=true"), c.Name)
			}
		}
	}
	assert.GreaterOrEqual(t, n, 4)
}

// TestFullProcessIsMasked: a mask hides the settings that an option asks for, too, and what stands in their text.
func TestFullProcessIsMasked(t *testing.T) {
	k := openKinds(t)
	for _, form := range []string{"--json=false", "--json"} {
		masked, shown := k.ask(t, "--redact", form, "process"), k.ask(t, form, "process", "-full")
		for _, secret := range []string{"Lk8d", "Gt6w"} { // --pwd Lk8d, SHOP_SECRET=Gt6w
			assert.NotContains(t, masked, secret, form)
			assert.Contains(t, shown, secret, form)
		}
		assert.Contains(t, masked, "SHOP_SECRET", form)
	}
}

// TestSessionSecrets: what a session has under a name for secrets is hidden wherever it appears, also in a stored session. The text is that of
// Sessions.cs.
func TestSessionSecrets(t *testing.T) {
	const secret = "correct horse"
	path := filepath.Join(moduleRoot, "testdata/dumps/sessions/net10-sessions/net10-sessions.dmp.zst")
	if _, err := os.Stat(path); err != nil {
		t.Skip("no canned dump")
	}
	k := &kindsDump{Truth: &plants.Truth{Dump: path}, kept: testcli.Kept{Path: path}}
	t.Cleanup(func() { assert.NoError(t, k.kept.Close()) })
	for _, line := range [][]string{
		{"sessions", "-values"}, {"sessions", "-values", "-secrets"}, {"dumpheap", "-strings"},
		{"query", "from strings | where text like '%horse%' | select text"}, {"query", "from strings | select text"},
	} {
		for _, form := range []string{"--json=false", "--json"} {
			assert.NotContains(t, k.ask(t, append([]string{"--redact", form}, line...)...), secret, line)
		}
	}
	assert.Contains(t, k.ask(t, "sessions", "-values", "-secrets"), secret)
	assert.Contains(t, k.ask(t, "dumpheap", "-strings"), secret)
	for _, at := range []string{"7f1291808280", "7f1291808408"} { // the value, and what rests of a session with it
		assert.Contains(t, k.ask(t, "--redact", "dumparray", at), "are not shown", at)
	}
}

// content returns the texts of a file, without its compression and encoding.
func content(t *testing.T, b []byte) string {
	t.Helper()
	switch {
	case bytes.HasPrefix(b, []byte("PAR1")):
		var out strings.Builder
		table := exportread.ReadParquet(t, b)
		for _, row := range table.Rows {
			for _, value := range row {
				out.WriteString(value + "\n")
			}
		}
		for _, c := range table.Columns {
			for _, bounds := range slices.Concat(c.Least, c.Greatest) {
				out.WriteString(string(bounds) + "\n")
			}
		}
		return out.String()
	case bytes.HasPrefix(b, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(bytes.NewReader(b))
		require.NoError(t, err)
		b, err = io.ReadAll(z)
		require.NoError(t, err)
	}
	if bytes.HasPrefix(b, []byte(`{"snapshot":`)) {
		return string(b) + snapshotLines(t, b)
	}
	return string(b) + strings.ReplaceAll(string(b), "\x00", "") // the second for UTF-16
}

// snapshotLines returns a line for each node of a heap snapshot: its name, and the names and targets of its edges, as tools show them.
func snapshotLines(t *testing.T, b []byte) string {
	t.Helper()
	var file struct {
		Nodes, Edges []int
		Strings      []string
	}
	require.NoError(t, json.Unmarshal(b, &file))
	const name, edges, element = 1, 4, 1 // of a node its name and the number of its edges; the type of edges with an index
	nameOf := func(node int) string { return file.Strings[file.Nodes[node+name]] }
	var out strings.Builder
	rest := slices.Collect(slices.Chunk(file.Edges, 3))
	for node := range slices.Chunk(file.Nodes, 6) {
		if own := file.Strings[node[name]]; own != "[unreachable]" { // what it has is next to each other by chance
			out.WriteString(own)
			for _, edge := range rest[:node[edges]] {
				if edge[0] != element {
					out.WriteString(" " + file.Strings[edge[1]])
				}
				out.WriteString(" => " + nameOf(edge[2]))
			}
			out.WriteString("\n")
		}
		rest = rest[node[edges]:]
	}
	return out.String()
}

// TestSecretsInFiles does so for what is sent: files, the page and reports.
func TestSecretsInFiles(t *testing.T) {
	k := openKinds(t)
	for _, redact := range []bool{true, false} {
		there := map[plants.Plant]bool{}
		see := func(door, text string) {
			for _, p := range k.Shown(text) {
				if there[p] = true; redact {
					t.Errorf("%s shows %s %s", door, p.Kind, p.Value)
				}
			}
		}
		for _, line := range []string{"summarize", "report -o OUT", "report -format md -o OUT", "export csv OUT", "export ndjson OUT", "export parquet OUT", "export heapsnapshot OUT", "export gcdump OUT",
			"export folded OUT", "export speedscope OUT", "export pprof OUT", "export -heap pprof OUT"} {
			clear(there)
			dir := t.TempDir()
			args := strings.Fields(strings.ReplaceAll(line, "OUT", filepath.Join(dir, "out")))
			if !redact {
				args = append(args, "-full")
			}
			see(line, k.ask(t, args...))
			require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				b, err := os.ReadFile(path)
				see(line, content(t, b))
				return err
			}))
			if has := strings.Contains("report -o OUT, export csv OUT, export ndjson OUT, export parquet OUT, export heapsnapshot OUT", line); has && !redact {
				assert.Greater(t, len(there), len(k.Plants)*3/4, line)
			}
		}
		env := environment(nil)
		dump, err := k.kept.Env().Open(t.Context(), k.Dump, cli.OpenOptions{Offline: true})
		require.NoError(t, err)
		desk := cli.NewDesk(env, dump, "kinds.dmp", "")
		desk.Redact = redact
		page := webui.Handler(webcmd.Asker(desk), webui.Subject{File: "kinds.dmp"})
		get := func(path string) string {
			w := httptest.NewRecorder()
			page.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
			return w.Body.String()
		}
		see("/", get("/"))
		see("/subject.json", get("/subject.json"))
		for _, line := range kindsLines(nil) {
			path := "/api/" + line[0] + "?a=" + strings.Join(line[1:], "&a=")
			see(path, get(strings.TrimSuffix(path, "?a=")))
			see(line[0], get("/line?line="+url.QueryEscape(strings.Join(line, " "))))
		}
		for _, start := range []string{"dumpobj ", "eval Kinds.Program.", "dumpheap -type Kinds.", "~"} {
			see("/complete", get("/complete?line="+url.QueryEscape(start)))
		}
		if !redact {
			assert.Greater(t, len(there), len(k.Plants)/2)
		}
	}
}

// TestSecretsInFleet adds a dump with a password in the message of its exception to a fleet: neither its tables nor its log nor the answer have it.
func TestSecretsInFleet(t *testing.T) {
	b, err := os.ReadFile(testdump.Open(t, "net10-crash-nested").Plain())
	require.NoError(t, err)
	wide := func(s string) []byte { return []byte(strings.Join(strings.Split(s, ""), "\x00") + "\x00") }
	const message, secret = "order 1042 failed", "Tulip99x"
	require.Positive(t, bytes.Count(b, wide(message)))
	dump := filepath.Join(t.TempDir(), "crash.dmp")
	require.NoError(t, os.WriteFile(dump, bytes.ReplaceAll(b, wide(message), wide("password="+secret)), 0o600))
	t.Setenv(asProgram, "1")
	for _, redact := range []bool{true, false} {
		dir := t.TempDir()
		args := []string{"--offline", "--json", "fleet", "add", dir, dump}
		if !redact {
			args = append(args, "-full")
		}
		out, errs, code := run(t, args...)
		require.Zero(t, code, errs)
		all := out + errs
		require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			all += content(t, b)
			return err
		}))
		assert.Equal(t, !redact, strings.Contains(all, secret), "masked: %t", redact)
	}
}
