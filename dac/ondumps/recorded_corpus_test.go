package ondumps_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/image/codeinfo"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// runtimes calls f for every case of the corpus with a runtime. f returns the number of comparisons.
func runtimes(t *testing.T, f func(t *testing.T, c *testcase.Case, rt *dac.Runtime) int) {
	testdump.CorpusRuntimes(t, func(t *testing.T, d *testdump.Dump) int {
		rt, err := d.Runtime()
		require.NoError(t, err)
		return f(t, d.Case, rt)
	})
}

// TestBodiesOfCorpus decodes everything recorded beside the methods of the oracle and checks it.
func TestBodiesOfCorpus(t *testing.T) {
	runtimes(t, func(t *testing.T, c *testcase.Case, rt *dac.Runtime) int {
		type method struct {
			Signature string
			Hot       [2]any
		}
		var d codeinfo.GCDecoder
		methods, absent, slots, clauses := 0, 0, 0, 0
		for _, m := range testcase.Oracle[method](t, c, "methods") {
			s, _ := m.Hot[0].(string)
			start, _ := strconv.ParseUint(s, 0, 64)
			size, _ := m.Hot[1].(float64)
			info, err := dac.CodeOf(rt).MethodAt(target.Addr(start))
			if start == 0 || err != nil || info.Method == nil {
				continue
			}
			err = dac.CodeOf(rt).DecodeGCInfo(&d, info)
			if err != nil {
				absent++
				assert.ErrorIs(t, err, target.ErrNotInDump, m.Signature)
				continue
			}
			methods++
			assert.GreaterOrEqual(t, d.CodeLength, uint32(size), m.Signature)
			slots += checkLiveSlots(t, &d, m.Signature)
			eh, err := dac.CodeOf(rt).EHClauses(info)
			if err != nil {
				assert.ErrorIs(t, err, target.ErrNotInDump, m.Signature)
			}
			for _, clause := range eh {
				clauses++
				assert.LessOrEqual(t, clause.Try.End, d.CodeLength, m.Signature)
				assert.LessOrEqual(t, clause.Handler.End, d.CodeLength, m.Signature)
			}
		}
		t.Logf("%d methods, %d not in the dump, %d live slots, %d clauses", methods, absent, slots, clauses)
		if methods == 0 {
			t.Skip("the dump has the GC info of no method")
		}
		return methods
	})
}

// checkLiveSlots decodes the slots at each offset where they can change.
func checkLiveSlots(t *testing.T, d *codeinfo.GCDecoder, name string) int {
	points, err := d.ChangeOffsets()
	require.NoError(t, err, name)
	var live []codeinfo.Slot
	n := 0
	for _, p := range slices.Clone(points) {
		live, err = d.LiveSlots(live[:0], codeinfo.Query{Offset: p, State: codeinfo.ActiveFrame})
		require.NoError(t, err, name)
		n += len(live)
	}
	return n
}

var goldenGCInfo = regexp.MustCompile(`(?m)^entry point ([0-9A-F]+)\n.*\nGC info ([0-9A-F]+)\n`)

// TestGCInfoAddresses compares the addresses of GC info with SOS.
func TestGCInfoAddresses(t *testing.T) {
	runtimes(t, func(t *testing.T, c *testcase.Case, rt *dac.Runtime) int {
		files, err := filepath.Glob(filepath.Join(c.Dir, "sos", "gcinfo-*.txt"))
		require.NoError(t, err)
		if len(files) == 0 {
			t.Skip("there is no output of SOS: gcinfo")
		}
		compared := 0
		for _, f := range files {
			b, err := os.ReadFile(f)
			require.NoError(t, err)
			for _, m := range goldenGCInfo.FindAllStringSubmatch(string(b), -1) {
				entry, _ := strconv.ParseUint(m[1], 16, 64)
				info, err := dac.CodeOf(rt).MethodAt(target.Addr(entry))
				require.NoError(t, err)
				assert.Equal(t, strings.ToLower(m[2]), fmt.Sprintf("%016x", uint64(info.GCInfo)))
				compared++
			}
		}
		return compared
	})
}
