package commands_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// moveLast moves a small range of a dump's memory to the end of the address space.
func moveLast(t *testing.T, b []byte) {
	t.Helper()
	le := binary.LittleEndian
	if bytes.HasPrefix(b, []byte("\x7fELF")) {
		at, size, n := le.Uint64(b[32:]), uint64(le.Uint16(b[54:])), uint64(le.Uint16(b[56:]))
		for i := range n {
			h := b[at+i*size:][:size]
			if bytes := le.Uint64(h[40:]); le.Uint32(h) == 1 && bytes == le.Uint64(h[32:]) && bytes > 0 && bytes <= 0x2000 { // PT_LOAD
				le.PutUint64(h[16:], math.MaxUint64-bytes+1)
				return
			}
		}
		require.Fail(t, "no small segment")
	}
	for i := range le.Uint32(b[8:]) {
		e := b[le.Uint32(b[12:])+12*i:]
		if list := b[le.Uint32(e[8:]):]; le.Uint32(e) == 9 { // Memory64ListStream
			last := list[16*le.Uint64(list):]
			le.PutUint64(last, math.MaxUint64-le.Uint64(last[8:])+1)
			return
		}
	}
	require.Fail(t, "no memory")
}

// TestLastPage has dumps with memory that ends with the address space: each command without an argument ends, those that
// take a range take this one, and the writers write it.
func TestLastPage(t *testing.T) {
	for _, name := range []string{"net10-zoo", "win-net10-zoo"} {
		b, err := os.ReadFile(testdump.Open(t, name).Plain())
		require.NoError(t, err)
		moveLast(t, b)
		file := filepath.Join(t.TempDir(), "last.dmp")
		require.NoError(t, os.WriteFile(file, b, 0o600))
		var lines []string
		for _, c := range commands.All() {
			_, args := c.Declares()
			if c.Serves || c.Live || c.DumpArg {
				continue
			}
			if len(args) == 0 || args[0].Optional {
				lines = append(lines, c.Name)
			}
		}
		lines = append(lines, "ln ffffffffffffffff", "db ffffffffffffffff", "db fffffffffffffff0", "dq fffffffffffffff8 L1", "db fffffffffffffff0 L20", "dps fffffffffffffff8",
			"du fffffffffffffff8", "dumpheap fffffffffffff000 ffffffffffffffff", "verifyheap fffffffffffff000 ffffffffffffffff", "dumpstack fffffffffffff000 ffffffffffffffff",
			"dso fffffffffffff000 ffffffffffffffff", "notreachableinrange fffffffffffff000 ffffffffffffffff", "dumpobj fffffffffffffff8", "clru ffffffffffffffff",
			"eval qwo(0xfffffffffffffffc)", "memory -list", "memory -malloc", "doctor", "modules -segments", "triage", "summarize", "crashinfo",
			"scrub -o "+file+".scrub", "shrink -o "+file+".shrink", "pack -o "+file+".pack")
		for _, line := range lines {
			var out, errs bytes.Buffer
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			code := cli.Main(ctx, []string{"-d", file, "-c", line}, strings.NewReader(""), &out, &errs,
				cli.Env{Commands: commands.All(), Open: commands.Open, Threads: commands.Threads, Limits: commands.Limits()})
			cancel()
			assert.NotContains(t, []int{cli.ExitBug, cli.ExitInterrupted}, code, "%s of %s: %s", line, name, errs.String())
			if strings.Contains(line, " -o ") {
				assert.Zero(t, code, "%s of %s: %s", line, name, errs.String())
			}
		}
	}
}
