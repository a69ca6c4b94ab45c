package acceptance_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// damagedDumps are the dumps to damage: one per container, GC and kind of dump.
var damagedDumps = []string{"net10-zoo", "net8-zoo", "win-net10-zoo", "net10-zoo-noregions", "net10-crash-null-triage"}

const (
	// patience is the maximum time of all commands on a damaged dump; on an undamaged one they take
	// well under a second. It is generous because the machine may be busy.
	patience = 30 * time.Second
	// waste is the maximum number of bytes allocated in addition to ten times the allocations for
	// the undamaged dump.
	waste = 256 << 20
)

// A patient is a dump that is damaged and examined.
type patient struct {
	t        *testing.T
	name     string
	raw      []byte
	lines    []string
	sound    outcome
	soundMem uint64
}

func newPatient(t *testing.T, name string) *patient {
	t.Helper()
	d := testdump.Open(t, name)
	p := &patient{t: t, name: name, raw: slices.Clone(mustRaw(t, d))}
	p.lines = []string{"runtimes", "modules", "clrmodules", "clrthreads", "threads", "eeheap -gc", "dumpheap -stat", "gchandles -stat", "syncblk",
		"dumpstackobjects -all", "clrstack -all", "printexception"}
	if facts := d.Manifest.Objects(); len(facts) > 0 {
		for _, f := range []int{0, len(facts) / 2, len(facts) - 1} {
			p.lines = append(p.lines, "dumpobj "+facts[f].Addr.String())
		}
		p.lines = append(p.lines, "dumpmt -md "+d.Manifest.Types()[0].Addr.String(), "name2ee * "+d.Manifest.Types()[0].Name)
	}
	p.lines = slices.DeleteFunc(p.lines, func(line string) bool { return !isCommand(line) })
	var ok bool
	if p.sound, p.soundMem, ok = p.examine("sound", p.raw); !ok {
		t.FailNow()
	}
	return p
}

// examine runs the commands on a damaged dump: they must end in time, without a panic and within
// the memory limit. It returns their output and the allocated bytes.
func (p *patient) examine(damage string, raw []byte) (outcome, uint64, bool) {
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	type result struct {
		outcome
		panicked any
		stack    string
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if r.panicked = recover(); r.panicked != nil {
				buf := make([]byte, 16<<10)
				r.stack = string(buf[:runtime.Stack(buf, false)])
			}
			done <- r
		}()
		r.outcome = runLines(ctx, raw, 1, p.lines...)
	}()
	select {
	case r := <-done:
		runtime.ReadMemStats(&after)
		if r.panicked != nil {
			p.t.Errorf("%s, %s: panic: %v\n%s", p.name, damage, r.panicked, r.stack)
			return outcome{}, 0, false
		}
		return r.outcome, after.TotalAlloc - before.TotalAlloc, p.checkCode(damage, r.outcome)
	case <-time.After(2 * patience):
		buf := make([]byte, 64<<10)
		p.t.Fatalf("%s, %s: no end after %v\n%s", p.name, damage, 2*patience, buf[:runtime.Stack(buf, true)])
	}
	return outcome{}, 0, false
}

// checkCode checks that the exit code can be caused by a dump, and that each failure has a message.
func (p *patient) checkCode(damage string, o outcome) bool {
	switch o.code {
	case cli.ExitOK, cli.ExitOpen, cli.ExitNotInDump, cli.ExitCorrupt, cli.ExitUnsupported:
	default:
		p.t.Errorf("%s, %s: exit code %d: %s", p.name, damage, o.code, firstLines(o.stderr))
		return false
	}
	if o.code != cli.ExitOK && o.stderr == "" {
		p.t.Errorf("%s, %s: exit code %d without a word", p.name, damage, o.code)
		return false
	}
	return true
}

func (p *patient) checkMemory(damage string, mem uint64) {
	if limit := 10*p.soundMem + waste; mem > limit {
		p.t.Errorf("%s, %s: %d MB allocated, %d MB over the sound dump", p.name, damage, mem>>20, p.soundMem>>20)
	}
}

func firstLines(s string) string {
	lines := strings.SplitN(s, "\n", 4)
	return strings.Join(lines[:min(3, len(lines))], "\n")
}

// steps returns the number of damages for one dump in a sweep of n.
func steps(t *testing.T, n int) int {
	t.Helper()
	if testing.Short() {
		n /= 10
	}
	return testcase.Part(t, max(1, n/len(damagedDumps)), 4)
}

// TestTruncation cuts real dumps at 200 places. Answers that differ from the whole dump's must say
// so.
func TestTruncation(t *testing.T) {
	for _, name := range testcase.Sample(t, damagedDumps, 2) {
		t.Run(name, func(t *testing.T) {
			p := newPatient(t, name)
			n := steps(t, 200)
			for i := range n {
				// Half of the cuts are in the first tenth, which contains the tables.
				cut := len(p.raw) * i / n
				if i%2 == 0 {
					cut /= 10
				}
				damage := fmt.Sprintf("cut at %#x of %#x", cut, len(p.raw))
				got, mem, ok := p.examine(damage, p.raw[:cut])
				if !ok {
					continue
				}
				p.checkMemory(damage, mem)
				if got.stdout != p.sound.stdout && got.stderr == p.sound.stderr && !strings.Contains(got.stdout, "<not in dump>") {
					t.Errorf("%s: another answer without a mark: %s", damage, firstDifference(p.sound.stdout, got.stdout))
				}
			}
		})
	}
}

// TestBitFlips flips 100 single bits of real dumps, in headers, in the heap, and anywhere.
// internal/test/tools/damage does more, with aimed damage.
func TestBitFlips(t *testing.T) {
	for i, name := range testcase.Sample(t, damagedDumps, 2) {
		t.Run(name, func(t *testing.T) {
			p := newPatient(t, name)
			places := flipPlaces(t, name, p.raw)
			random := rand.New(rand.NewPCG(uint64(i), 20))
			for i := range steps(t, 100) {
				r := places[i%len(places)]
				at, bit := r.start+random.Int64N(r.size), byte(1)<<random.UintN(8)
				damage := fmt.Sprintf("bit %#02x of byte %#x flipped", bit, at)
				p.raw[at] ^= bit
				_, mem, ok := p.examine(damage, p.raw)
				p.raw[at] ^= bit
				if ok {
					p.checkMemory(damage, mem)
				}
			}
		})
	}
}

// A fileRange is a part of a dump's file.
type fileRange struct{ start, size int64 }

// flipPlaces returns the parts of the file to damage, in turn.
func flipPlaces(t *testing.T, name string, raw []byte) []fileRange {
	places := []fileRange{{0, min(int64(len(raw)), 4096)}, {0, min(int64(len(raw)), 64<<10)}, {0, int64(len(raw))}}
	d := testdump.Open(t, name)
	if !d.HasHeap() {
		return places
	}
	h, err := d.Heap()
	require.NoError(t, err)
	for _, s := range h.Segments() {
		if r, ok := inFile(raw, d.Target(), s.Objects); ok {
			places = append(places, r)
		}
	}
	return places
}

// inFile finds the memory of a target in its file by its bytes.
func inFile(raw []byte, t target.Target, r target.Range) (fileRange, bool) {
	n := min(len(t.Span(r.Start)), int(r.Size()), 64)
	if n < 16 {
		return fileRange{}, false
	}
	at := strings.Index(string(raw), string(t.Span(r.Start)[:n]))
	if at < 0 {
		return fileRange{}, false
	}
	return fileRange{int64(at), min(int64(r.Size()), int64(len(raw)-at))}, true
}

// TestEmptyAndForeign opens files that are not dumps.
func TestEmptyAndForeign(t *testing.T) {
	for name, raw := range map[string][]byte{
		"empty": {}, "a byte": {0x7f}, "text": []byte("no dump"), "zeros": make([]byte, 1<<16),
		"an ELF header alone": append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 57)...), "MDMP alone": []byte("MDMP\x93\xa7"),
	} {
		got := runLines(t.Context(), raw, 1, "modules")
		require.Equal(t, cli.ExitOpen, got.code, name)
		require.NotEmpty(t, got.stderr, name)
		require.Empty(t, got.stdout, name)
	}
}
