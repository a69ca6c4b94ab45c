package processtext

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// TestExports: that a symbol is not among a runtime's exports is one thing, that the dump lacks them another, which SOS
// does not tell apart.
func TestExports(t *testing.T) {
	missing := answer.Reason{Err: fmt.Errorf("the export table: %w", target.ErrNotInDump)}
	list := []answer.Runtime{{Exports: []answer.Export{
		{Name: "found", Address: 0x7f0012345678},
		{Name: "found all the same", Address: 0x1000, Err: missing},
		{Name: "not there"},
		{Name: "not known", Err: missing},
		{Name: "not readable", Err: answer.Reason{Err: target.Corruptf("the export table")}},
	}}}
	text := func(sos bool) []string {
		var b bytes.Buffer
		p := report.NewPage(&b, false, func(error) {})
		p.SOS = sos
		Runtimes(p, list)
		assert.NoError(t, p.Err())
		_, lines, _ := strings.Cut(b.String(), "Exports:\n")
		return strings.Split(strings.TrimSuffix(lines, "\n"), "\n")
	}
	assert.Equal(t, []string{
		"        found: 00007f0012345678",
		"        found all the same: 0000000000001000",
		"        not there: <NO SYMBOL>",
		"        not known: <not in dump>",
		"        not readable: <corrupt>",
	}, text(false))
	assert.Equal(t, []string{
		"        found: 00007f0012345678",
		"        found all the same: 0000000000001000",
		"        not there: <NO SYMBOL>",
		"        not known: <NO SYMBOL>",
		"        not readable: <NO SYMBOL>",
	}, text(true))
}

// TestModeOfGC: a heap that was not made yet is one thing, one that can't be read
// another.
func TestModeOfGC(t *testing.T) {
	mode := func(why error) string {
		var b bytes.Buffer
		p := report.NewPage(&b, false, func(error) {})
		EEVersion(p, &answer.EEVersion{Version: "10.0.0", NoGC: answer.Reason{Err: why}})
		assert.NoError(t, p.Err())
		return b.String()
	}
	assert.Equal(t, "10.0.0\nGC Heap not initialized, so GC mode is not determined yet.\n", mode(answer.ErrNoHeapYet))
	assert.Equal(t, "10.0.0\nGC mode <not in dump>\n", mode(target.ErrNotInDump))
	assert.ErrorIs(t, answer.ErrNoHeapYet, target.ErrUnsupported)
}
