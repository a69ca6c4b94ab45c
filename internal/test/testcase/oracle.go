package testcase

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Oracle calls f for each line in a section of the case's oracle, which holds the results of
// another tool. A case without anything in that section is skipped, with the reason.
func (c *Case) Oracle(t testing.TB, section string, f func(line map[string]any)) {
	t.Helper()
	for _, line := range Oracle[map[string]any](t, c, section) {
		f(line)
	}
}

// Oracle decodes the lines in a section of the case's oracle. A case without anything in that
// section is skipped, with the reason.
func Oracle[T any](t testing.TB, c *Case, section string) []T {
	t.Helper()
	lines := OracleIfAny[T](t, c, section)
	if len(lines) == 0 {
		t.Skipf("the oracle has nothing in %s", section)
	}
	return lines
}

// OracleIfAny is Oracle for tests that compare more: it returns nil if the section is empty.
func OracleIfAny[T any](t testing.TB, c *Case, section string) []T {
	t.Helper()
	r := c.openOracle(t, section)
	if r == nil {
		return nil
	}
	defer r.Close()
	var out []T
	s := bufio.NewScanner(r)
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		var v T
		if err := json.Unmarshal(s.Bytes(), &v); err != nil {
			t.Fatalf("%s: oracle %s: %v", c.Name, section, err)
		}
		out = append(out, v)
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// openOracle opens a section, compressed or not. A missing file is valid if the oracle's
// status.json records that the section was requested: the result was empty. An oracle without
// status.json is incomplete. Every other missing file is an error: a damaged corpus, or a
// misspelled section.
func (c *Case) openOracle(t testing.TB, section string) io.ReadCloser {
	t.Helper()
	dir := filepath.Join(c.Dir, "oracle")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the case has no oracle")
	}
	path := filepath.Join(dir, filepath.FromSlash(section)+".jsonl")
	f, err := os.Open(path)
	if err == nil {
		return f
	}
	r, err := openZstd(path + ".zst")
	if err == nil {
		return r
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	status, err := os.ReadFile(filepath.Join(dir, "status.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // an incomplete oracle
	}
	var sections map[string]struct{ Result string }
	if err == nil {
		err = json.Unmarshal(status, &sections)
	}
	if err != nil {
		t.Fatal(err)
	}
	name := section[strings.LastIndexByte(section, '/')+1:]
	if _, asked := sections[name]; !asked {
		t.Fatalf("%s: the oracle has no section %s", c.Name, section)
	}
	return nil
}

// SOS returns the output of SOS for a command, given the name of its file in the case's folder sos.
// It skips the test if SOS was not run on this case, or not with that command.
func (c *Case) SOS(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(c.Dir, "sos", name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("there is no output of SOS: %s", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
