package processtext

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// TestMissingFilesAreGrouped: files of one folder that are missing for one reason share a heading. Files that were refused are not missing.
func TestMissingFilesAreGrouped(t *testing.T) {
	var b strings.Builder
	p := report.NewPage(&b, false, nil)
	wantedFiles(p, &answer.Diagnosis{Used: []answer.ModuleFile{{Path: "/app/f.dll", Refused: []string{"/m/f.dll: another file"}}, {Path: "/app/a.dll", File: "/m/a.dll"}}, Files: []answer.WantedFile{
		{Path: "/app/a.dll", Identity: "time stamp 1, size 2", Key: "a.dll/12/a.dll", Why: "code"},
		{Path: `C:\app\b.dll`, Identity: "known by its structure", Why: "code"},
		{Path: "/app/c.dll", Identity: "time stamp 3, size 4", Key: "c.dll/34/c.dll", Why: "code"},
		{Path: "/app/d.dll", Identity: "time stamp 5, size 6", Key: "d.dll/56/d.dll", Why: "names"},
		{Path: "e.dll", Identity: "build id 7", Why: "names"},
		{Path: "/app/f.dll", Identity: "time stamp 8, size 9", Key: "f.dll/89/f.dll", Why: "names"},
	}})
	require.NoError(t, p.Err())
	assert.Equal(t, `
Missing files; pass their folder with --modules, or a --symbol-server that has their keys:
  code, of /app/:
    a.dll: key a.dll/12/a.dll
    c.dll: key c.dll/34/c.dll
  code, of C:\app\:
    b.dll: known by its structure
  names, of /app/:
    d.dll: key d.dll/56/d.dll
  names:
    e.dll: build id 7

Refused files; another file of the name is wanted, which --modules or a --symbol-server with its key supplies:
  names, of /app/:
    f.dll: key f.dll/89/f.dll
`, b.String())
}

// TestRefusedFilesAreFolded: of many refused files the text has the first and a count.
func TestRefusedFilesAreFolded(t *testing.T) {
	files := []answer.ModuleFile{{Path: "a.dll", File: "/m/a.dll", Proof: "build id"}}
	for _, name := range []string{"b.dll", "c.dll", "d.dll"} {
		files = append(files, answer.ModuleFile{Path: name, Refused: []string{"/m/" + name + ": another file"}})
	}
	written := func(all bool) string {
		var b strings.Builder
		p := report.NewPage(&b, false, nil)
		usedFiles(p, files, all)
		require.NoError(t, p.Err())
		return b.String()
	}
	assert.Equal(t, `
Module files:
  /m/a.dll
      verified by build id
  not found: b.dll
      refused: /m/b.dll: another file
  2 more modules whose files were refused; -files lists them
`, written(false))
	assert.Equal(t, 3, strings.Count(written(true), "refused: "))
}

// TestFoundFilesAreFolded: files of one folder are a line with the ways in which they were verified, and a file beside
// which another one was refused has its own.
func TestFoundFilesAreFolded(t *testing.T) {
	files := []answer.ModuleFile{
		{Path: "a.dll", File: "/m/a.dll", Proof: "MVID"}, {Path: "b.dll", File: "/m/b.dll", Proof: "build id"}, {Path: "c.dll", File: "/m/c.dll", Proof: "MVID"},
		{Path: "d.dll", File: "/m/d.dll", Proof: "MVID", Refused: []string{"/x/d.dll: another file"}}, {Path: "e.dll", File: "/app/e.dll", Proof: "MVID"},
	}
	written := func(all bool) string {
		var b strings.Builder
		p := report.NewPage(&b, false, nil)
		usedFiles(p, files, all)
		require.NoError(t, p.Err())
		return b.String()
	}
	assert.Equal(t, `
Module files:
  /m/: 3 files, verified: 2 by MVID, 1 by build id
  (-files lists each)
  /m/d.dll
      verified by MVID
      refused: /x/d.dll: another file
  /app/e.dll
      verified by MVID
`, written(false))
	assert.Equal(t, 5, strings.Count(written(true), "verified by "))
}

// TestRuntimeFileRefused checks that a runtime's file that contradicts the dump is not called missing.
func TestRuntimeFileRefused(t *testing.T) {
	written := func(err error) string {
		var b strings.Builder
		p := report.NewPage(&b, false, nil)
		runtimeDiagnosis(p, &answer.RuntimeDiagnosis{FileErr: err}, DiagnosisOptions{})
		require.NoError(t, p.Err())
		return b.String()
	}
	assert.Contains(t, written(target.Corruptf("overlay: /app/libcoreclr.so: other bytes")), "file refused: overlay: /app/libcoreclr.so: other bytes\n")
	assert.Contains(t, written(fs.ErrNotExist), "file not found: file does not exist\n")
}

// TestWholeHeapIsNotSound checks that a heap with all its bytes is not presented as a heap without faults.
func TestWholeHeapIsNotSound(t *testing.T) {
	var b strings.Builder
	p := report.NewPage(&b, false, nil)
	parts(p, []answer.PartDiagnosis{{Part: answer.PartHeap, State: answer.PartWhole, Detail: "8 of 8 bytes"}, {Part: answer.PartStacks, State: answer.PartWhole, Detail: "1 of 1 threads"}})
	require.NoError(t, p.Err())
	assert.Equal(t, "GC heap:       whole: 8 of 8 bytes; verifyheap checks its objects\nthread stacks: whole: 1 of 1 threads\n", b.String())
}
