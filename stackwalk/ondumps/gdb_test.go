package ondumps_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A gdbFrame is an activation in gdb. A frame that was given to gdb, which can't unwind managed code, proves nothing.
type gdbFrame struct {
	ip, sp target.Addr
	given  bool
}

func (f gdbFrame) String() string { return fmt.Sprintf("%x at %x", uint64(f.ip), uint64(f.sp)) }

// TestNativeFramesAreGDBs compares the walks of all threads, including threads without managed code, with gdb's for the
// same core. testdata/gdb/frames.py recorded the data.
func TestNativeFramesAreGDBs(t *testing.T) {
	testdump.Corpus(t, testcase.Named("net10-stacks-full", "sxs-full"), func(t *testing.T, d *testdump.Dump) int {
		return compareWithGDB(t, d.Dump, readGDB(t, filepath.Join("testdata", "gdb", d.Name+".txt")))
	})
}

// compareWithGDB returns the number of frames that gdb found itself.
func compareWithGDB(t *testing.T, d *sosgo.Dump, want map[uint32][]gdbFrame) (found int) {
	walker, err := d.Walker()
	require.NoError(t, err)
	threads, err := d.Threads()
	require.NoError(t, err)
	for i := range threads {
		th := &threads[i]
		if th.OS == nil {
			continue
		}
		managed := th.Managed
		if managed == nil {
			managed = &dac.Thread{} // no explicit frames: unwinding alone
		}
		frames := want[th.OS.ID]
		require.NotEmpty(t, frames, "thread %d", th.OS.ID)
		n := 0
		for f := range walker.Walk(context.Background(), managed, th.OS.Registers, stackwalk.WalkOptions{Native: true}) {
			assert.NoError(t, f.Err, "thread %d", th.OS.ID)
			if f.Kind == stackwalk.FrameExplicit {
				continue
			}
			require.Less(t, n, len(frames), "thread %d: gdb's walk has ended before %x", th.OS.ID, uint64(f.IP))
			w := frames[n]
			require.Equal(t, w, gdbFrame{f.IP, f.SP, w.given}, "thread %d, frame %d", th.OS.ID, n)
			if !w.given {
				found++
			}
			n++
		}
		assert.Len(t, frames, n, "thread %d: gdb goes on", th.OS.ID)
		delete(want, th.OS.ID)
	}
	assert.Empty(t, want, "threads that only gdb has")
	t.Logf("%d threads, %d frames that gdb found itself", len(threads), found)
	return found
}

// readGDB reads the stacks that frames.py wrote, by thread.
func readGDB(t *testing.T, path string) map[uint32][]gdbFrame {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	out := map[uint32][]gdbFrame{}
	var thread uint32
	for lines := bufio.NewScanner(f); lines.Scan(); {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) < 2 || words[0] == "#":
		case words[0] == "thread":
			id, err := strconv.ParseUint(words[1], 10, 32)
			require.NoError(t, err)
			thread = uint32(id)
		default:
			out[thread] = append(out[thread], gdbFrame{number(words[0]), number(words[1]), len(words) > 2})
		}
	}
	return out
}
