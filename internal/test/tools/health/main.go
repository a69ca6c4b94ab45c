// Command health reads the output of "go test -json", prints a line for each package and the output
// of failed tests (their last lines once more at the end), and compares the number of dumps that each test passed with a file of floors.
//
//	go test -json ./... | health -floors .ci/cases [-report FILE] [-corpus] [-raise]
//
// It fails if a test failed. With -corpus, if there is a corpus, it also fails if a test was
// skipped because of a missing corpus, passed fewer dumps than its floor, or has no floor. With
// -raise it writes the floors instead. With -report it writes a table of all tests on dumps, with
// the skipped dumps and the reasons.
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
	"strings"

	"github.com/sosgo/sosgo/internal/test/testcase"
)

func main() {
	o := options{}
	flag.StringVar(&o.floors, "floors", ".ci/cases", "the `file` of floors")
	flag.StringVar(&o.report, "report", "", "write the table to this `file`")
	flag.BoolVar(&o.corpus, "corpus", false, "hold the run to the floors, which count the corpus")
	flag.BoolVar(&o.raise, "raise", false, "write the floors")
	flag.Parse()
	r, err := read(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "health:", err)
		os.Exit(2)
	}
	if !r.judge(os.Stdout, o) {
		os.Exit(1)
	}
}

// options are the command's options.
type options struct {
	floors, report string
	corpus, raise  bool
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

// A run holds the results of a test run.
type run struct {
	tests  map[name]*result
	failed []name // packages and tests, as they ended
	wanted []name // tests skipped because there is no corpus
}

// read reads a run. It writes the lines of packages and of failed tests to w.
func read(in io.Reader, w io.Writer) (*run, error) {
	r := &run{tests: map[name]*result{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(w, lines.Text()) // compiler output
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
			// Coverage counts all packages together.
			line, _, _ := strings.Cut(strings.TrimSuffix(e.Output, "\n"), "\tcoverage:")
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
		if e.Action == "pass" {
			t.output = nil
		}
	}
}

// unfinished prints the output of tests without a result, which a crash of the test binary ended.
func (r *run) unfinished(w io.Writer) {
	for n, t := range r.tests {
		if n.test != "" && t.action == "" && len(t.output) > 0 {
			fmt.Fprintf(w, "%s %s did not end:\n%s", n.pkg, n.test, strings.Join(t.output[max(0, len(t.output)-200):], ""))
		}
	}
}

// again prints the last lines of each failed test: at the end of a long log, because there .ci/run and people look first.
func (r *run) again(w io.Writer) {
	for _, n := range r.failed {
		output := r.tests[n].output
		fmt.Fprintf(w, "%s %s failed:\n%s", n.pkg, n.test, strings.Join(output[max(0, len(output)-8):], ""))
	}
}

// judge writes the table and the complaints, and reports whether there are no complaints.
func (r *run) judge(w io.Writer, o options) bool {
	if o.report != "" {
		if err := os.WriteFile(o.report, r.table(), 0o644); err != nil {
			fmt.Fprintln(w, err)
			return false
		}
	}
	if len(r.failed) > 0 {
		r.unfinished(w)
		r.again(w)
		return false
	}
	if !o.corpus {
		return true
	}
	for _, n := range r.wanted {
		fmt.Fprintf(w, "%s %s was skipped for lack of a corpus, but there is one\n", n.pkg, n.test)
	}
	if len(r.wanted) > 0 {
		return false
	}
	now := map[string]int{}
	for test, row := range r.rows() {
		now[test] = row.passed
	}
	if o.raise {
		if err := os.WriteFile(o.floors, floorsOf(now), 0o644); err != nil {
			fmt.Fprintln(w, err)
			return false
		}
		return true
	}
	floors, err := readFloors(o.floors)
	if err != nil {
		fmt.Fprintln(w, err)
		return false
	}
	return held(w, o.floors, floors, now)
}

// held reports whether each test passed at least as many dumps as its floor, and has a floor.
func held(w io.Writer, file string, floors, now map[string]int) bool {
	ok := true
	for _, test := range sortedKeys(floors) {
		if n, ran := now[test]; !ran || n < floors[test] {
			ok = false
			fmt.Fprintf(w, "%s passed on %d dumps; its floor in %s is %d\n", test, n, file, floors[test])
		}
	}
	for _, test := range sortedKeys(now) {
		if _, known := floors[test]; !known {
			ok = false
			fmt.Fprintf(w, "%s has no floor in %s\n", test, file)
		}
	}
	if !ok {
		fmt.Fprintln(w, "if this is intended, .ci/run -raise test writes the floors")
	}
	return ok
}

// readFloors reads lines of the form "TEST NUMBER". Lines that begin with # are comments.
func readFloors(file string) (map[string]int, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var test string
		var n int
		if _, err := fmt.Sscan(line, &test, &n); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", file, line, err)
		}
		out[test] = n
	}
	return out, nil
}

// floorsOf formats floors for readFloors.
func floorsOf(now map[string]int) []byte {
	out := bytes.NewBufferString("# Cases on which each test passed, canned and of the corpus. Written by .ci/run -raise test\n")
	for _, test := range sortedKeys(now) {
		fmt.Fprintf(out, "%s %d\n", test, now[test])
	}
	return out.Bytes()
}

const heading = `# Health

The dumps on which each test passed and those that it skipped: the canned dumps (testdata/dumps) and, if there is one, the corpus. A
test passes on a dump only if it compared something. .ci/cases has the floors.

| test | dumps passed | dumps skipped |
|---|---:|---|
`

// A row counts the dumps of a test.
type row struct {
	passed  int
	skipped map[string][]string // dumps by reason
}

// rows returns the tests that ran on dumps, by package folder and name.
func (r *run) rows() map[string]*row {
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
	return rows
}

// table returns the report as Markdown.
func (r *run) table() []byte {
	rows := r.rows()
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

// logged matches a line that a test logged: file and line, then the text.
var logged = regexp.MustCompile(`^ +\S+\.go:\d+: (.*)`)

// reason returns the last line that a skipped test logged.
func reason(output []string) string {
	why := "no reason"
	for _, line := range output {
		if m := logged.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			why = m[1]
		}
	}
	return why
}
