package acceptance_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/leaks"
	"github.com/sosgo/sosgo/internal/app/signature"
	"github.com/sosgo/sosgo/internal/app/triage"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestSignaturesHoldAcrossDumps compares the signatures of the largest holders in dumps of one
// program on several runtimes, systems and GC modes: all dumps must have the same ones.
func TestSignaturesHoldAcrossDumps(t *testing.T) {
	names := map[string]map[string]bool{} // dumps by signature
	words := map[string]string{}
	var dumps []string
	testdump.Corpus(t, testcase.Named("*-heap-withheap"), func(t *testing.T, d *testdump.Dump) int {
		v, err := d.View("")
		require.NoError(t, err)
		l, err := leaks.Leaks(t.Context(), v.Process, leaks.Options{})
		require.NoError(t, err)
		dumps = append(dumps, d.Case.Name)
		for i := range l.Suspects {
			s := &l.Suspects[i]
			if s.Share < 2 {
				continue
			}
			id, kept := signature.Suspect(s)
			sig := id.Signature
			if names[sig] == nil {
				names[sig] = map[string]bool{}
			}
			names[sig][d.Case.Name] = true
			owner := s.Owner
			if owner == nil {
				owner = s.Point
			}
			words[sig] = string(s.Kind) + " " + kept
			if owner != nil {
				words[sig] += " " + owner.Type.String()
			}
			if s.Members != nil {
				words[sig] += " " + s.Members.Type.String()
			}
		}
		return len(l.Suspects)
	})
	for sig, in := range names {
		want := len(dumps)
		// Its list owns all of its arrays; in other dumps one array has another holder, too.
		if !in["net31-heap-withheap"] {
			want--
			assert.Contains(t, words[sig], "Debuggee.Heap.Scenario.s_keep")
		}
		assert.Len(t, in, want, "%s %s: %v", sig, words[sig], in)
	}
}

// TestHangSignatures: a deadlock, a starved pool and similar hangs have the same signature on all
// versions and systems. Different ones have different signatures, and a healthy process has no
// signature.
func TestHangSignatures(t *testing.T) {
	seen := map[string]map[string]string{} // signatures by dump, by kind and parts
	look := func(t *testing.T, name string, v *sosgo.View) {
		out, err := triage.Triage(t.Context(), v.Process, triage.Options{NoHeap: true})
		require.NoError(t, err)
		seen[name] = map[string]string{}
		for _, f := range out.Findings {
			if f.Signature == "" {
				continue
			}
			assert.Contains(t, []answer.SignatureStrength{answer.SignatureStrong, answer.SignatureWeak}, f.SignatureStrength)
			if f.SignatureStrength == answer.SignatureStrong {
				seen[name][string(f.Kind)+": "+strings.Join(f.SignatureParts[1:], "; ")] = f.Signature
			}
		}
	}
	for _, name := range []string{"net10-stacks", "net10-async", "net10-zoo", "locks/net10-locks", "locks/net10-mixed", "waits/net10-asyncwaits", "waits/net10-idle", "pool/net10-winpool", "host/net10-host"} {
		path := filepath.Join("testdata/dumps", name, filepath.Base(name)+".dmp.zst")
		if _, err := os.Stat(path); err != nil {
			t.Skip("testdata/dumps is not here: it is a module of its own")
		}
		d, err := sosgo.Open(path, sosgo.Options{Offline: true})
		require.NoError(t, err)
		defer d.Close()
		v, err := d.View("")
		require.NoError(t, err)
		look(t, name, v)
	}
	assert.Empty(t, seen["net10-zoo"], "nothing hangs")
	assert.Empty(t, seen["waits/net10-idle"], "nothing hangs")
	const deadlock = "deadlock: Debuggee.Stacks.Scenario.<Run>b monitor of System.Object"
	of := map[string]string{}
	for name, by := range seen {
		for what, sig := range by {
			assert.Contains(t, []string{"", what}, of[sig], "%s has the signature of another", name)
			of[sig] = what
		}
	}
	for name, what := range map[string]string{
		"net10-stacks":           deadlock,
		"net10-async":            "starved thread pool: Debuggee.AsyncWork.Scenario.Queued event",
		"locks/net10-locks":      "deadlock: Locks.<Main>m ReaderWriterLockSlim; Locks.<Main>m monitor of System.Object",
		"locks/net10-mixed":      "deadlock: Contoso.Mixed.<left>m__B Lazy; Contoso.Mixed.<right>m__C Lazy",
		"waits/net10-asyncwaits": "deadlock: Shop.Program.Transfer SemaphoreSlim",
		"host/net10-host":        "failed hosted service: HostState.Importer System.InvalidOperationException",
		"pool/net10-winpool":     "starved thread pool: Pools.Program.Blocked event",
	} {
		assert.Contains(t, seen[name], what, name)
	}
	assert.Contains(t, seen["net10-async"], "failed tasks: Debuggee.AsyncWork.Scenario.Faulted System.InvalidOperationException")
	assert.Contains(t, seen["host/net10-host"], "host that is stopping: HostState.Stubborn StopAsync")
	assert.Contains(t, seen["waits/net10-asyncwaits"], "no permits: Shop.Program.Request SemaphoreSlim")
	testdump.Corpus(t, testcase.Named("*-stacks*-withheap"), func(t *testing.T, d *testdump.Dump) int {
		v, err := d.View("")
		require.NoError(t, err)
		look(t, d.Case.Name, v)
		assert.Equal(t, seen["net10-stacks"][deadlock], seen[d.Case.Name][deadlock])
		return 1
	})
}
