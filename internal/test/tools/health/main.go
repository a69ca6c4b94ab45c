// Command health reads what "go test -json" writes, prints of it what a reader
// wants to see (a line for each package, and all that failed tests said), and
// holds docs/HEALTH.md to it: the table of the tests on real dumps, with the
// cases that each passed and those that it skipped, and why.
//
//	go test -json ./... | health -file docs/HEALTH.md [-corpus] [-write]
//
// It fails if a test failed, and, with -corpus, where there is a corpus, if a
// test was skipped for want of it, passed on fewer cases than the table says, or
// is not in the table. With -write it writes the table instead.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/internal/test/testcase"
)

func main() {
	file := flag.String("file", "docs/HEALTH.md", "the table")
	corpus := flag.Bool("corpus", false, "there is a corpus: hold the table to the run")
	write := flag.Bool("write", false, "write the table")
	flag.Parse()
	r, err := read(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "health:", err)
		os.Exit(2)
	}
	if !r.judge(os.Stdout, *file, *corpus, *write) {
		os.Exit(1)
	}
}

// An event is a line of "go test -json".
type event struct {
	Action, Package, Test, Output, Key, Value string
}

// A name is a test or a subtest of a package; a package itself has no test.
type name struct{ pkg, test string }

// A result is how a test ended.
type result struct {
	action string // "pass", "fail" or "skip"
	cases  []string
	output []string
}

// A run is what was read.
type run struct {
	tests  map[name]*result
	failed []name // packages and tests, as they ended
	wanted []name // those that were skipped for want of a corpus
}

// read reads a run, and writes lines of packages and of failed tests to w.
func read(in io.Reader, w io.Writer) (*run, error) {
	r := &run{tests: map[name]*result{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(w, lines.Text()) // of the compiler
			continue
		}
		r.add(&e, w)
	}
	return r, lines.Err()
}

func (r *run) add(e *event, w io.Writer) {
	n := name{e.Package, e.Test}
	t := r.tests[n]
	if t == nil {
		t = &result{}
		r.tests[n] = t
	}
	switch e.Action {
	case "attr":
		switch e.Key {
		case testcase.AttrCase:
			t.cases = append(t.cases, e.Value)
		case testcase.AttrNoCorpus:
			r.wanted = append(r.wanted, n)
		}
	case "output":
		if e.Test == "" && (strings.HasPrefix(e.Output, "ok ") || strings.HasPrefix(e.Output, "FAIL\t")) {
			line, _, _ := strings.Cut(strings.TrimSuffix(e.Output, "\n"), "\tcoverage:") // of all packages together
			fmt.Fprintln(w, line)
		}
		t.output = append(t.output, e.Output)
	case "build-output":
		fmt.Fprint(w, e.Output)
	case "fail":
		r.failed = append(r.failed, n)
		for _, line := range t.output {
			fmt.Fprint(w, line)
		}
		fallthrough
	case "pass", "skip":
		t.action = e.Action
		if e.Action != "skip" {
			t.output = nil
		}
	}
}

// judge writes what is wrong, and reports whether nothing is.
func (r *run) judge(w io.Writer, file string, corpus, write bool) bool {
	if len(r.failed) > 0 {
		return false
	}
	if !corpus {
		return true
	}
	for _, n := range r.wanted {
		fmt.Fprintf(w, "%s %s was skipped for want of a corpus, and there is one\n", n.pkg, n.test)
	}
	if len(r.wanted) > 0 {
		return false
	}
	want := r.table()
	if write {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			fmt.Fprintln(w, err)
			return false
		}
		return true
	}
	old, err := os.ReadFile(file)
	if err != nil {
		fmt.Fprintln(w, err)
		return false
	}
	return held(w, file, passedCases(old), passedCases(want))
}

// held reports whether each test passed on as many cases as the table says, and
// the table has every test. A corpus may have more cases than the table knows.
func held(w io.Writer, file string, table, now map[string]int) bool {
	ok := true
	for _, test := range sortedKeys(table) {
		if n, ran := now[test]; !ran || n < table[test] {
			ok = false
			fmt.Fprintf(w, "%s passed on %d cases, and on %d in %s\n", test, n, table[test], file)
		}
	}
	for _, test := range sortedKeys(now) {
		if _, known := table[test]; !known {
			ok = false
			fmt.Fprintf(w, "%s is not in %s\n", test, file)
		}
	}
	if !ok {
		fmt.Fprintln(w, "if this is right, .ci/run -raise test writes the table")
	}
	return ok
}

// passedCases reads a table: on how many cases each test passed.
func passedCases(table []byte) map[string]int {
	out := map[string]int{}
	for line := range strings.Lines(string(table)) {
		cells := strings.Split(line, " | ")
		if len(cells) < 3 {
			continue
		}
		if n, err := strconv.Atoi(cells[1]); err == nil {
			out[strings.TrimPrefix(cells[0], "| ")] = n
		}
	}
	return out
}

const heading = `# Health

What the tests on real dumps say: the canned ones (testdata/dumps) and those of the corpus. A case passes only if something was
compared in it; one that is not listed as skipped was passed. Generated from a run of all tests, and checked in each:
` + "`.ci/run -raise test`" + ` writes it.

| test | cases passed | cases skipped |
|---|---:|---|
`

// A row is a test with what became of its cases.
type row struct {
	passed  int
	skipped map[string][]string // cases by reason
}

// table is the text of HEALTH.md.
func (r *run) table() []byte {
	rows := map[string]*row{}
	for n, t := range r.tests {
		if len(t.cases) == 0 {
			continue
		}
		top, _, _ := strings.Cut(n.test, "/")
		_, pkg, _ := strings.Cut(n.pkg, "sosgo/sosgo")
		key := strings.TrimPrefix(strings.TrimPrefix(pkg, "/")+"."+top, ".")
		if rows[key] == nil {
			rows[key] = &row{skipped: map[string][]string{}}
		}
		if t.action == "skip" {
			why := reason(t.output)
			rows[key].skipped[why] = append(rows[key].skipped[why], t.cases[0])
			continue
		}
		rows[key].passed++
	}
	out := bytes.NewBufferString(heading)
	for _, key := range sortedKeys(rows) {
		fmt.Fprintf(out, "| %s | %d | %s |\n", key, rows[key].passed, rows[key].reasons())
	}
	return out.Bytes()
}

func (r *row) reasons() string {
	var parts []string
	for _, why := range sortedKeys(r.skipped) {
		slices.Sort(r.skipped[why])
		parts = append(parts, why+": "+strings.Join(r.skipped[why], ", "))
	}
	return strings.ReplaceAll(strings.Join(parts, "<br>"), "|", `\|`)
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// logged is a line that a test wrote: its place, and the text.
var logged = regexp.MustCompile(`^ +\S+\.go:\d+: (.*)`)

// reason is the last line that a skipped test wrote.
func reason(output []string) string {
	why := "no reason"
	for _, line := range output {
		if m := logged.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			why = m[1]
		}
	}
	return why
}
