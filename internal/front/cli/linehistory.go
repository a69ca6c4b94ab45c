package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/base/mmapfile"
	"github.com/sosgo/sosgo/internal/base/outfile"
	"github.com/sosgo/sosgo/internal/front/report"
)

// A lineHistory holds the lines of this prompt and of earlier ones.
type lineHistory struct {
	path  string   // of its file; empty if it is not saved
	lines []string // oldest first
	added []string

	sought []rune // by the last search
}

// mostHistory is the number of bytes of a history file that are read.
const mostHistory = 16 << 20

// readHistory reads a history file. An unreadable file gives an empty history.
func readHistory(path string) *lineHistory {
	h := &lineHistory{path: path}
	f, err := mmapfile.OpenRegular(path)
	if err != nil {
		return h
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostHistory))
	if err != nil {
		return h
	}
	for line := range strings.Lines(string(text)) {
		h.remember(strings.TrimRight(line, "\r\n"))
	}
	return h
}

// Add appends a line.
func (h *lineHistory) Add(line string) {
	if h.remember(line) {
		h.added = append(h.added, line)
	}
}

func (h *lineHistory) remember(line string) bool {
	if strings.TrimSpace(line) == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line || report.Escape(line) != line {
		return false
	}
	if len(h.lines) == historyLines {
		h.lines = slices.Delete(h.lines, 0, 1)
	}
	h.lines = append(h.lines, line)
	return true
}

// Len returns the number of lines.
func (h *lineHistory) Len() int { return len(h.lines) }

// At returns the i-th line, newest first.
func (h *lineHistory) At(i int) string { return h.lines[len(h.lines)-1-i] }

// close appends the new lines to the file and shortens it. It rereads the file first, because another prompt may have
// changed it.
func (h *lineHistory) close() error {
	if h.path == "" || len(h.added) == 0 {
		return nil
	}
	now := readHistory(h.path)
	for _, l := range h.added {
		now.remember(l)
	}
	h.added = nil
	return outfile.Write(h.path, outfile.Options{Perm: outfile.Private}, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(now.lines, "\n")+"\n")
		return err
	})
}
