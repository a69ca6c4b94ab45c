package stackexport

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// foldedName replaces the separators of the format in names.
var foldedName = strings.NewReplacer(";", ",")

// FoldedOptions select the lines of Folded.
type FoldedOptions struct {
	PerThread bool // each stack starts with its thread, and stacks are not merged
}

// Folded writes one line for each distinct stack: its frames from the outermost caller on, separated by
// semicolons, and the number of threads with that stack (github.com/brendangregg/FlameGraph, stackcollapse).
// Lines are sorted.
func Folded(w io.Writer, p *answer.Profile, o FoldedOptions) error {
	counts := map[string]int{}
	for i := range p.Threads {
		s := &p.Threads[i]
		if len(s.Frames) == 0 {
			continue
		}
		counts[foldedStack(p, s, o.PerThread)]++
	}
	lines := make([]string, 0, len(counts))
	for s, n := range counts {
		lines = append(lines, fmt.Sprintf("%s %d\n", s, n))
	}
	slices.Sort(lines)
	out := bufio.NewWriter(w)
	for _, l := range lines {
		if _, err := out.WriteString(l); err != nil {
			return err
		}
	}
	return out.Flush()
}

func foldedStack(p *answer.Profile, s *answer.ProfileStack, threads bool) string {
	var b strings.Builder
	if threads {
		b.WriteString(foldedName.Replace(report.Escape(title(s))))
	}
	for _, i := range slices.Backward(s.Frames) {
		if b.Len() > 0 {
			b.WriteByte(';')
		}
		b.WriteString(foldedName.Replace(report.Escape(p.Frames[i].Name)))
	}
	return b.String()
}

// title returns the number, OS id and name of s's thread.
func title(s *answer.ProfileStack) string {
	text := fmt.Sprintf("thread %d (%#x)", s.Index, s.OSID)
	if s.Name == "" {
		return text
	}
	return fmt.Sprintf("%s %q", text, s.Name)
}
