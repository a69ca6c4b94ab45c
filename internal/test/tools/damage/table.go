package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// lastBytes is the output of a process.
type lastBytes struct{ all []byte }

func (l *lastBytes) Write(p []byte) (int, error) {
	l.all = append(l.all, p...)
	return len(p), nil
}

func (l *lastBytes) tail(n int) []byte { return l.all[max(0, len(l.all)-n):] }

// lastCase returns the last case that a child has finished.
func (l *lastBytes) lastCase(none int) int {
	for text := range bytes.Lines(l.all) {
		var n int
		if _, err := fmt.Sscanf(string(text), "case %d", &n); err == nil {
			none = n
		}
	}
	return none
}

// columns are the outcomes in the order of the tables.
var columns = []string{"answered", "not in the dump", "corrupt", "not supported", "not opened", "refused"}

func (t *tally) summary() string {
	return fmt.Sprintf("%d damaged, %d commands, %d findings, the longest command %v (%s), at most %d MB\n", t.Cases, t.Commands, len(t.Findings),
		t.Longest.Round(1e6), t.LongestLine, t.Peak>>20)
}

// markdown returns the counts as tables.
func (t *tally) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n| damaged | number |\n|---|---:|\n", t.summary())
	for _, k := range slices.Sorted(maps.Keys(t.ByContainer)) {
		fmt.Fprintf(&b, "| %s | %s |\n", k, thousands(t.ByContainer[k]))
	}
	what := map[string]int{}
	for _, f := range t.Findings {
		what[f.What]++
	}
	b.WriteString("\n| finding | number |\n|---|---:|\n")
	for _, k := range []string{"panic", "slow", "memory", "difference", "exit code", "output", "death"} {
		fmt.Fprintf(&b, "| %s | %d |\n", k, what[k])
	}
	b.WriteString("\n| kind of damage | answers compared with the sound dump's | others |\n|---|---:|---:|\n")
	for _, k := range slices.Sorted(maps.Keys(t.Compared)) {
		fmt.Fprintf(&b, "| %s | %s | %d %% |\n", k, thousands(t.Compared[k]), 100*t.Another[k]/t.Compared[k])
	}
	counts(&b, "kind of damage", t.ByKind)
	counts(&b, "command", t.ByCommand)
	return b.String()
}

func counts(b *strings.Builder, title string, m map[string]map[string]int) {
	fmt.Fprintf(b, "\n| %s | commands | %s |\n|---|---:|%s\n", title, strings.Join(columns, " | "), strings.Repeat("---:|", len(columns)))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		all := 0
		for _, n := range m[k] {
			all += n
		}
		fmt.Fprintf(b, "| %s | %s |", k, thousands(all))
		for _, c := range columns {
			fmt.Fprintf(b, " %s |", thousands(m[k][c]))
		}
		b.WriteString("\n")
	}
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
