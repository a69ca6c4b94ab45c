package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/testcli"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// notesAtEnd moves the notes of a core behind its memory, as debuggers do. It returns the core, and the notes' offset and size.
func notesAtEnd(t *testing.T, raw []byte) (core []byte, at, size int) {
	t.Helper()
	const headerSize, typeNote = 56, 4
	core = slices.Clone(raw)
	le := binary.LittleEndian
	for i := range int(le.Uint16(core[56:])) {
		h := core[int(le.Uint64(core[32:]))+i*headerSize:][:headerSize]
		if le.Uint32(h) != typeNote {
			continue
		}
		require.Zero(t, size, "one segment of notes")
		from := int(le.Uint64(h[8:]))
		at, size = len(core), int(le.Uint64(h[32:]))
		notes := slices.Clone(core[from : from+size])
		clear(core[from : from+size])
		le.PutUint64(h[8:], uint64(at))
		core = append(core, notes...)
	}
	require.NotZero(t, size)
	return core, at, size
}

// TestNotesAtEnd cuts a core with notes behind its memory. Without threads the objects are read, and no answer concludes
// from the threads and the signal that are lost.
func TestNotesAtEnd(t *testing.T) {
	raw, err := testdump.Open(t, "net10-zoo").Raw()
	require.NoError(t, err)
	core, at, size := notesAtEnd(t, raw)
	dir := t.TempDir()
	heapOf := func(path string) (string, int) {
		out, _, code := run(t, "-d", path, "-offline", "dumpheap", "-stat")
		return out, code
	}
	uncut := filepath.Join(dir, "uncut")
	require.NoError(t, os.WriteFile(uncut, core, 0o600))
	want, code := heapOf(uncut)
	require.Equal(t, 0, code)
	out, _, code := run(t, "-d", uncut, "-offline", "crashinfo")
	require.Equal(t, 0, code)
	require.Contains(t, out, "the dump records no crash", "nothing is lost")

	for name, in := range map[string]struct {
		length          int
		listed, lost    int
		wholeHeap, none bool
	}{
		"95 percent":    {at * 95 / 100, 0, 5, false, true},
		"99 percent":    {at * 99 / 100, 0, 5, true, true},
		"no notes":      {at, 0, 5, true, true},
		"half of notes": {at + size/2, 1, 4, true, false},
		"last thread":   {at + size - 0x200, 10, 0, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "core")
			require.NoError(t, os.WriteFile(path, core[:in.length], 0o600))
			heap, code := heapOf(path)
			assert.Equal(t, 0, code)
			if in.wholeHeap {
				assert.Equal(t, want, heap, "the objects are whole")
			} else {
				assert.Contains(t, heap, "Debuggee.Zoo.Dog")
			}

			d, err := sosgo.Open(path, sosgo.Options{Offline: true})
			require.NoError(t, err)
			defer d.Close()
			_, err = d.Threads()
			var gone *process.LostThreadsError
			require.ErrorAs(t, err, &gone)
			require.ErrorIs(t, err, target.ErrNotInDump)
			assert.Equal(t, process.LostThreadsError{Lost: in.lost, Listed: in.listed}, *gone)
			assert.False(t, d.Default().StacksOnly())
			assert.NotEqual(t, answer.PremiseHolds, d.Default().State(answer.ThreadsListed))
			assert.Equal(t, in.lost == 0, d.Default().State(answer.RootsRead) == answer.PremiseHolds, "only threads of the runtime have roots")

			k := testcli.Kept{Path: path}
			defer func() { require.NoError(t, k.Close()) }()
			ask := func(line string) (string, int) {
				out, errs, code := runIn(t, k.Env(), "-d", path, "-offline", "-c", line)
				assert.NotContains(t, out+errs, "holds stacks and none of the data", line)
				return out + errs, code
			}
			page, code := ask("triage")
			assert.Equal(t, cli.ExitNotInDump, code)
			assert.Regexp(t, "Not looked at: +crash, finalizer thread", page)
			assert.NotRegexp(t, "Nothing found:.*(crash|finalizer|locks|thread pool|holders)", page)
			assert.Contains(t, page, gone.Error())
			page, _ = ask("crashinfo")
			assert.Contains(t, page, "unknown whether the process had crashed [unknown]")
			assert.Contains(t, page, "unknown whether there was a crash record")
			assert.NotRegexp(t, "no crash|no signal|no thread", page)
			page, code = ask("leaks")
			assert.Equal(t, 0, code)
			assert.Contains(t, page, "Incomplete (see the warnings)")
			assert.NotContains(t, page, "; garbage: ")
			page, code = ask("clrthreads")
			assert.Equal(t, 0, code, "the runtime's own list is read")
			assert.Contains(t, page, "ThreadCount:      5")
			for _, line := range []string{"waits", "printexception -all"} { // nothing found in what is left
				page, code = ask(line)
				assert.Equal(t, cli.ExitNotInDump, code, line)
				assert.Contains(t, page, gone.Error(), line)
			}
			if !in.none {
				page, code = ask("thread 0x2fff")
				assert.Equal(t, cli.ExitNotInDump, code)
				assert.NotContains(t, page, "no thread has")
				for _, line := range []string{"clrstack -managed 5", "dso -managed 5", "setthread -managed 5"} {
					if page, code = ask(line); in.lost > 0 {
						assert.Equal(t, cli.ExitNotInDump, code, line)
						assert.Contains(t, page, "registers of thread 0x2ce6: not in the dump", line)
					} else {
						assert.Equal(t, 0, code, line)
					}
				}
				return
			}
			for _, line := range []string{"threads", "dso", "clrstack", "clrstack -all", "eestack", "parallelstacks", "dumpstack", "registers", "printexception", "thread 8"} {
				page, code = ask(line)
				assert.Equal(t, cli.ExitNotInDump, code, line)
				assert.Contains(t, page, gone.Error(), line)
			}
			page, _ = ask("doctor")
			assert.NotContains(t, page, "thread stacks: whole")
		})
	}
}
