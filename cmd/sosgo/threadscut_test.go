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
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/process"
)

// TestThreadListCut cuts the thread list of a minidump within its fourth thread of seven. The whole ones are read, and no answer concludes from
// the others.
func TestThreadListCut(t *testing.T) {
	raw, err := testdump.Open(t, "win-net10-zoo").Raw()
	require.NoError(t, err)
	raw = slices.Clone(raw)
	const threadList, threadSize = 3, 48
	le, cut := binary.LittleEndian, false
	for i := range int(le.Uint32(raw[8:])) {
		if e := raw[int(le.Uint32(raw[12:]))+12*i:]; le.Uint32(e) == threadList {
			require.EqualValues(t, 7, le.Uint32(raw[le.Uint32(e[8:]):]))
			le.PutUint32(e[4:], 4+3*threadSize+20)
			cut = true
		}
	}
	require.True(t, cut)
	path := filepath.Join(t.TempDir(), "cut.dmp")
	require.NoError(t, os.WriteFile(path, raw, 0o600))

	d, err := sosgo.Open(path, sosgo.Options{Offline: true})
	require.NoError(t, err)
	defer d.Close()
	_, err = d.Threads()
	var gone *process.LostThreadsError
	require.ErrorAs(t, err, &gone)
	assert.Equal(t, process.LostThreadsError{Lost: 3, Listed: 3}, *gone)

	page, errs, code := run(t, "-d", path, "-offline", "triage")
	assert.Equal(t, cli.ExitNotInDump, code, errs)
	assert.NotRegexp(t, "Nothing found:.*(crash|finalizer|locks|thread pool)", page)
	assert.Contains(t, page, gone.Error())
	page, errs, code = run(t, "-d", path, "-offline", "waits")
	assert.Equal(t, cli.ExitNotInDump, code)
	assert.NotContains(t, page, "No thread")
	assert.Contains(t, errs, gone.Error())
	page, errs, code = run(t, "-d", path, "-offline", "threads")
	assert.Equal(t, 0, code)
	assert.Contains(t, page, "0x044C")
	assert.Contains(t, errs, gone.Error())
	page, errs, _ = run(t, "-d", path, "-offline", "doctor")
	assert.Regexp(t, `thread stacks: +in part: .*the list of threads is cut off`, page, errs)
}
