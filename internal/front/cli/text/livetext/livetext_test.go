package livetext_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text/livetext"
	"github.com/sosgo/sosgo/internal/front/report"
)

// page returns what write writes.
func page(t *testing.T, write func(p *report.Page)) string {
	t.Helper()
	var b bytes.Buffer
	p := report.NewPage(&b, false, func(err error) { require.NoError(t, err) })
	write(p)
	require.NoError(t, p.Err())
	return b.String()
}

// TestProcesses lists processes that answer and one that does not.
func TestProcesses(t *testing.T) {
	resident := uint64(56 << 20)
	list := &answer.Processes{Hidden: 2, Processes: []answer.LiveProcess{
		{PID: 4711, Inner: 7, Name: "Shop\x1b[2J", User: "app", Runtime: "9.0.5", Command: strings.Repeat("x", 200), Age: answer.Known(answer.Seconds(61)),
			Resident: &resident, Container: strings.Repeat("ab", 32), Answers: true},
		{PID: 12, Age: answer.Of(answer.Seconds(0), errors.New("unknown")), Unreachable: "it runs as another user", Next: "run sosgo as user 5"},
	}}
	assert.Equal(t, `    PID  RUNTIME      USER                 AGE        RSS  NAME
   4711  9.0.5        app            1 min 1 s    56.0 MB  Shop\x1b[2J  container abababababab  process 7 there
         `+strings.Repeat("x", 157)+`...
     12  -            -                      -          -  
         can't be asked: it runs as another user
         run sosgo as user 5
2 processes can't be examined: of other users, or protected. Root sees the most.
`, page(t, func(p *report.Page) { livetext.Processes(p, list) }))
	assert.Equal(t, "No .NET process was found.\n", page(t, func(p *report.Page) { livetext.Processes(p, &answer.Processes{}) }))
}

// TestCollected describes a dump: copied, left in the process's file system, packed, or deleted after a triage.
func TestCollected(t *testing.T) {
	a := answer.Collected{Process: answer.LiveProcess{PID: 7, Name: "Shop", Runtime: "9.0.5"}, Kind: "heap", File: "/d/a.dmp", Size: 5 << 20, Took: 1.25, Copied: true,
		Checked: answer.CollectedCheck{Runtime: "9.0.5.1", Threads: 1}}
	text := func() string {
		return page(t, func(p *report.Page) { livetext.Collected(p, &a, struct{}{}) })
	}
	assert.Equal(t, "/d/a.dmp: dump of kind heap, 5.0 MB, written in 1.2 s and copied\nShop (7), .NET 9.0.5, 1 thread\n", text())
	a.Removed = []string{"/tmp/.sosgo-7-A.dmp"}
	assert.Contains(t, text(), "\nremoved: /tmp/.sosgo-7-A.dmp, which a killed command had left\n")
	a.Copied, a.Inside, a.Process.Runtime, a.Removed = false, "/tmp/a.dmp", "", nil
	assert.Equal(t, "/d/a.dmp: dump of kind heap, 5.0 MB, written in 1.2 s\nShop (7), .NET 9.0.5.1, 1 thread\nin the process's file system: /tmp/a.dmp\n", text())
	a.Inside, a.Pack = "", &answer.Pack{File: "/d/a.tar.zst", Files: make([]answer.PackedFile, 2), Missing: []string{"/x.dll"}}
	assert.Equal(t, "/d/a.tar.zst: dump of kind heap, 5.0 MB, written in 1.2 s\nShop (7), .NET 9.0.5.1, 1 thread\n/d/a.tar.zst: the dump and 2 module files\nnot found: /x.dll\n", text())
	a.Pack, a.Deleted, a.Triage = nil, true, &answer.Triage{Quiet: []string{"crash"}}
	assert.Equal(t, "/d/a.dmp: dump of kind heap, 5.0 MB, deleted, written in 1.2 s\nShop (7), .NET 9.0.5.1, 1 thread\n\nNothing wrong was found.\n\nNothing found:   crash\n", text())
}
