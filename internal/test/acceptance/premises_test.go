package acceptance_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/app/triage"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// concluding are canned dumps with findings of many kinds, on both systems, with and without a heap.
var concluding = []string{"net10-stacks", "net10-async", "net10-crash-nested", "net10-crash-null-triage", "win-net10-zoo"}

// A breakage takes a premise away from a process.
type breakage struct {
	name    string
	premise answer.Premise
	state   answer.PremiseState // the strongest that may be left
	holes   []target.Range
	patches []testdump.Damage
	offline bool // without files of modules
}

// TestPremisesAreKept breaks each premise of the conclusions about each dump in turn. No conclusion is stronger than its premises, no
// conclusion survives stronger than it was, and none that is recorded or proved appears.
func TestPremisesAreKept(t *testing.T) {
	if testcase.Complete() {
		testdump.Canned(t, breakPremises)
		return
	}
	t.Logf("a sample: %d dumps; SOSGO_COMPLETE=1 tries all", len(concluding))
	for _, name := range concluding {
		t.Run(name, func(t *testing.T) { breakPremises(t, testdump.Open(t, name)) })
	}
}

func breakPremises(t *testing.T, d *testdump.Dump) {
	sound := &testdump.Altered{Target: d.Target()}
	p := firstProcess(t, sound.Open(t, d.Options()))
	if _, err := p.Runtime(); err != nil {
		t.Skip("nothing can be concluded without a runtime: ", err)
	}
	list := breakages(t, sound, p)
	before := conclusionsOf(t, p)
	for _, b := range list {
		t.Run(b.name, func(t *testing.T) {
			o := d.Options()
			if b.offline {
				o.Offline, o.Modules = true, nil
			}
			broken := &testdump.Altered{Target: d.Target(), Holes: b.holes, Patches: b.patches}
			q := firstProcess(t, broken.Open(t, o))
			assert.GreaterOrEqual(t, q.State(b.premise), b.state, "%s", b.premise)
			for _, v := range conclusionsOf(t, q) {
				keepsPremises(t, q, &v)
				i := slices.IndexFunc(before, func(old answer.Verdict) bool { return old.Kind == v.Kind && old.Says == v.Says && old.Text == v.Text })
				j := slices.IndexFunc(before, func(old answer.Verdict) bool { return old.Kind == v.Kind && old.Says == v.Says })
				switch {
				case i >= 0:
					assert.LessOrEqual(t, answer.CompareStrength(before[i].Strength, v.Strength), 0, "%s: was %s, and is %s", v.Text, before[i].Strength, v.Strength)
				case j < 0 && v.Kind != answer.NoFinding && len(words.Premises(v)) > 0:
					assert.Positive(t, answer.CompareStrength(v.Strength, answer.StrengthProved), "%s: %s [%s] was not concluded before", v.Kind, v.Text, v.Strength)
				}
			}
		})
	}
}

// TestCollectionIsNoDamage: an object without a type is damage, unless a collection was in progress: then it may be
// the collector's work, and neither a finding nor a note calls it corrupt.
func TestCollectionIsNoDamage(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	sound := &testdump.Altered{Target: d.Target()}
	p := firstProcess(t, sound.Open(t, d.Options()))
	rt, err := p.Runtime()
	require.NoError(t, err)
	h, err := p.Heap()
	require.NoError(t, err)
	flag := collecting(t, sound, p, sound.Reads(func() { _, err = heap.Open(rt, sound) }))
	require.NoError(t, err)
	require.NotEmpty(t, flag)
	damage := testdump.Words(h.Segments()[0].Objects.Start, 0x123450)
	judge := func(patches ...testdump.Damage) *answer.Triage {
		broken := &testdump.Altered{Target: d.Target(), Patches: patches}
		out, err := triage.Triage(t.Context(), firstProcess(t, broken.Open(t, d.Options())), triage.Options{})
		require.NoError(t, err)
		return out
	}
	isHeap := func(f answer.Finding) bool { return f.Kind == answer.FindingHeap }
	assert.True(t, slices.ContainsFunc(judge(damage).Findings, isHeap))

	out := judge(append(flag, damage)...)
	assert.False(t, slices.ContainsFunc(out.Findings, isHeap), "%v", out.Findings)
	assert.NotContains(t, out.Quiet, "soundness of the heap")
	i := slices.IndexFunc(out.Unknown, func(u answer.TriageAbsent) bool { return u.Subject == "soundness of the heap" })
	require.GreaterOrEqual(t, i, 0)
	for _, u := range out.Unknown {
		assert.NotErrorIs(t, u.Err, target.ErrCorrupt, u.Subject)
		assert.True(t, u.Moving, "%s: %v", u.Subject, u.Err)
		assert.Equal(t, out.Unknown[i].Reason, u.Reason, "said once")
	}
}

// TestDamageInACollection: a collection excuses neither a damaged list of threads, nor an object without a type if the count of
// collections is impossible.
func TestDamageInACollection(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	sound := &testdump.Altered{Target: d.Target()}
	p := firstProcess(t, sound.Open(t, d.Options()))
	rt, err := p.Runtime()
	require.NoError(t, err)
	flag := collecting(t, sound, p, sound.Reads(func() { _, err = heap.Open(rt, sound) }))
	require.NoError(t, err)
	require.NotEmpty(t, flag)
	open := func(patches ...testdump.Damage) *process.Process {
		return firstProcess(t, (&testdump.Altered{Target: d.Target(), Patches: patches}).Open(t, d.Options()))
	}
	judge := func(patches ...testdump.Damage) *answer.Triage {
		out, err := triage.Triage(t.Context(), open(patches...), triage.Options{})
		require.NoError(t, err)
		return out
	}

	threads, err := rt.Threads()
	require.NoError(t, err)
	require.Greater(t, len(threads), 1)
	var twice *testdump.Damage // gives the second Thread the id of the first
	for at := threads[1].Addr; twice == nil && at < threads[1].Addr+0x400; at += 4 {
		if id, err := target.Uint32(sound, at); err == nil && id == threads[1].ManagedID {
			damage := testdump.Damage{At: at, Bytes: []byte{byte(threads[0].ManagedID), 0, 0, 0}}
			if _, err := open(damage).Threads(); err != nil {
				twice = &damage
			}
		}
	}
	require.NotNil(t, twice)
	out := judge(append(flag, *twice)...)
	i := slices.IndexFunc(out.Unknown, func(u answer.TriageAbsent) bool { return u.Subject == "crash" })
	require.GreaterOrEqual(t, i, 0)
	require.ErrorIs(t, out.Unknown[i].Err, target.ErrCorrupt)
	assert.NotContains(t, out.Unknown[i].Reason, "collection")

	h, err := p.Heap()
	require.NoError(t, err)
	damage := testdump.Words(h.Segments()[0].Objects.Start, 0x123450)
	impossible := flag[0]
	impossible.Bytes = []byte{0xef, 0xbe, 0xad, 0xde}
	for name, count := range map[string]testdump.Damage{"impossible": impossible, "without a thread that collects": flag[0]} {
		out = judge(damage, count)
		assert.True(t, slices.ContainsFunc(out.Findings, func(f answer.Finding) bool { return f.Kind == answer.FindingHeap }), name)
		assert.True(t, slices.ContainsFunc(out.Unknown, func(u answer.TriageAbsent) bool {
			return u.Err != nil && target.Kind(u.Err) == target.ErrCorrupt && !u.Moving
		}), name)
	}
}

// TestServerCollects: a server GC notes no thread that collects. While it does, no thread is in cooperative mode, but for one that enters and leaves it.
func TestServerCollects(t *testing.T) {
	for _, name := range []string{"net10-zoo-servergc", "net31-servergc"} {
		d := testdump.Open(t, name)
		sound := &testdump.Altered{Target: d.Target()}
		p := firstProcess(t, sound.Open(t, d.Options()))
		rt, err := p.Runtime()
		require.NoError(t, err)
		flag := collecting(t, sound, p, sound.Reads(func() { _, err = heap.Open(rt, sound) }))
		require.NoError(t, err)
		require.NotEmpty(t, flag)
		threads, err := rt.Threads()
		require.NoError(t, err)
		var modes []testdump.Damage // each puts a thread in cooperative mode
		for i := range threads {
			require.False(t, threads[i].Cooperative, "the dump is of a process that waits")
			if at := modeOf(t, d, &threads[i]); threads[i].OSID != 0 && at != 0 {
				modes = append(modes, testdump.Damage{At: at, Bytes: []byte{1, 0, 0, 0}})
			}
		}
		require.Greater(t, len(modes), 1)
		for n := range 3 {
			h, err := firstProcess(t, (&testdump.Altered{Target: d.Target(), Patches: append(flag[:1:1], modes[:n]...)}).Open(t, d.Options())).Heap()
			require.NoError(t, err)
			assert.Equal(t, n < 2, h.InGC(), "%s: %d threads run", name, n)
			assert.Equal(t, n == 2, slices.ContainsFunc(h.Warnings(), func(err error) bool { return target.Kind(err) == target.ErrCorrupt }), "%v", h.Warnings())
		}
	}
}

// modeOf returns the place of a thread's mode, or 0: the word that makes it cooperative.
func modeOf(t *testing.T, d *testdump.Dump, thread *dac.Thread) target.Addr {
	for at := thread.Addr; at < thread.Addr+0x40; at += 4 {
		if n, err := target.Uint32(d.Target(), at); err != nil || n != 0 {
			continue
		}
		one := &testdump.Altered{Target: d.Target(), Patches: []testdump.Damage{{At: at, Bytes: []byte{1, 0, 0, 0}}}}
		rt, err := firstProcess(t, one.Open(t, d.Options())).Runtime()
		if err != nil {
			continue
		}
		list, _ := rt.Threads()
		if slices.ContainsFunc(list, func(other dac.Thread) bool { return other.Addr == thread.Addr && other.Cooperative }) {
			return at
		}
	}
	return 0
}

// TestWhatACollectionExcuses: the collector moves objects, and nothing else. It leaves most of the heap walkable.
func TestWhatACollectionExcuses(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	sound := &testdump.Altered{Target: d.Target()}
	p := firstProcess(t, sound.Open(t, d.Options()))
	rt, err := p.Runtime()
	require.NoError(t, err)
	h, err := p.Heap()
	require.NoError(t, err)
	flag := collecting(t, sound, p, sound.Reads(func() { _, err = heap.Open(rt, sound) }))
	require.NoError(t, err)
	require.NotEmpty(t, flag)
	open := func(patches ...testdump.Damage) *process.Process {
		return firstProcess(t, (&testdump.Altered{Target: d.Target(), Patches: patches}).Open(t, d.Options()))
	}
	kind := func(p *process.Process, err error) error {
		_, err = process.Answer(t.Context(), p, func(context.Context, *process.Call) (int, error) { return 0, err })
		return target.Kind(err)
	}
	object := fmt.Errorf("a field: %w", target.InHeap(target.WrongAddress(target.Corruptf("no object"))))
	for _, p := range []*process.Process{open(), open(flag...)} {
		assert.Equal(t, target.ErrCorrupt, kind(p, target.Corruptf("a Module")))
		assert.Equal(t, target.ErrNotInDump, kind(p, target.ErrNotInDump))
	}
	assert.Equal(t, target.ErrCorrupt, kind(open(), target.CorruptHeapf("an object")))
	for _, err := range []error{object, target.CorruptHeapf("an object"), objects.ErrOtherType} {
		assert.Equal(t, target.ErrUnsupported, kind(open(flag...), err))
	}

	empty := func(p *process.Process, lost ...error) error {
		_, err := process.Answer(t.Context(), p, func(context.Context, *process.Call) (*answer.Locks, error) {
			out := &answer.Locks{}
			for _, err := range lost {
				out.Lose(err)
			}
			return process.UnlessEmpty(out, true, out.Lost)
		})
		return target.Kind(err)
	}
	assert.Equal(t, target.ErrCorrupt, empty(open(), target.CorruptHeapf("an object")))
	assert.Equal(t, target.ErrCorrupt, empty(open(flag...), target.Corruptf("a Module")))
	assert.NoError(t, empty(open(flag...), target.CorruptHeapf("an object")), "the rest was read, and is empty")
	assert.Equal(t, target.ErrCorrupt, empty(open(flag...), target.CorruptHeapf("an object"), target.Corruptf("a Module")), "one loss excuses no other")

	row := func(p *process.Process) string {
		out, err := process.Answer(t.Context(), p, func(context.Context, *process.Call) (*answer.Locks, error) {
			out := &answer.Locks{}
			out.Locks = []answer.Lock{{Type: out.Text("", target.CorruptHeapf("an object"))}}
			return out, nil
		})
		require.NoError(t, err)
		return out.Locks[0].Type.String()
	}
	assert.Equal(t, "<corrupt>", row(open()))
	assert.Equal(t, "<in collection>", row(open(flag...)))

	name, other := stringField(t, h, d)
	text := func(p *process.Process) error {
		r, err := p.Objects()
		require.NoError(t, err)
		o, err := r.Proven(name.object)
		require.NoError(t, err)
		_, err = o.Field(name.field).Text(-1)
		return kind(p, err)
	}
	assert.NoError(t, text(open()))
	moved := testdump.Words(name.slot, uint64(other))
	assert.Equal(t, target.ErrCorrupt, text(open(moved)), "an object in the place of a string")
	assert.Equal(t, target.ErrUnsupported, text(open(append(flag, moved)...)))

	// A handle that the collector has not updated yet may refer to where its object was.
	var slot target.Addr
	for e, err := range h.Handles() {
		if err == nil && e.Object != 0 {
			slot = e.Addr
		}
	}
	gone := testdump.Words(slot, 0x10)
	handles := func(p *process.Process) (out error) {
		list, err := memory.Handles(t.Context(), p)
		require.NoError(t, err)
		for _, err := range list.Handles {
			out = cmp.Or(out, err)
		}
		return target.Kind(out)
	}
	assert.NoError(t, handles(open()))
	assert.Equal(t, target.ErrCorrupt, handles(open(gone)))
	assert.Equal(t, target.ErrUnsupported, handles(open(append(flag, gone)...)))

	soundness := func(old bool) *answer.TriageAbsent { // no object is found in most of the generations
		wild := slices.Clone(flag)
		for _, s := range h.Segments() {
			if g := s.Generation(s.Objects.Start); old == (g != heap.Generation0 && g != heap.Generation1) {
				wild = append(wild, testdump.Damage{At: s.Objects.Start, Bytes: bytes.Repeat([]byte{1}, int(s.Objects.Size()/2))})
			}
		}
		require.Greater(t, len(wild), len(flag))
		out, err := triage.Triage(t.Context(), open(wild...), triage.Options{})
		require.NoError(t, err)
		i := slices.IndexFunc(out.Unknown, func(u answer.TriageAbsent) bool { return u.Subject == "soundness of the heap" })
		require.GreaterOrEqual(t, i, 0)
		return &out.Unknown[i]
	}
	old, young := soundness(true), soundness(false)
	assert.False(t, old.Moving)
	assert.Contains(t, old.Reason, "more than a collection in progress explains")
	assert.True(t, young.Moving, "a collection may have moved all of it: %s", young.Reason)
}

// TestNamesInACollection checks that an object which a collection may be moving is not called corrupt by waits and locks, in words and in rows.
func TestNamesInACollection(t *testing.T) {
	d := testdump.Open(t, "net10-stacks")
	sound := &testdump.Altered{Target: d.Target()}
	p := firstProcess(t, sound.Open(t, d.Options()))
	rt, err := p.Runtime()
	require.NoError(t, err)
	flag := collecting(t, sound, p, sound.Reads(func() { _, err = heap.Open(rt, sound) }))
	require.NoError(t, err)
	list, err := locks.Waits(t.Context(), p, locks.Options{})
	require.NoError(t, err)
	i := slices.IndexFunc(list.Threads, func(w answer.ThreadWait) bool { return w.Kind == answer.LockMonitor && w.Object != 0 })
	require.GreaterOrEqual(t, i, 0)
	lock := list.Threads[i].Object
	for want, patches := range map[string][]testdump.Damage{"<corrupt>": nil, "<in collection>": flag} {
		p := firstProcess(t, (&testdump.Altered{Target: d.Target(), Patches: append(slices.Clone(patches), testdump.Words(lock, 0x10))}).Open(t, d.Options()))
		waits, err := locks.Waits(t.Context(), p, locks.Options{})
		require.NoError(t, err)
		i := slices.IndexFunc(waits.Threads, func(w answer.ThreadWait) bool { return w.Object == lock })
		require.GreaterOrEqual(t, i, 0)
		assert.Equal(t, want, waits.Threads[i].Type.String())
		assert.Contains(t, waits.Threads[i].Text, want)
		all, err := locks.Locks(t.Context(), p, locks.Options{})
		require.NoError(t, err)
		i = slices.IndexFunc(all.Locks, func(l answer.Lock) bool { return l.Address == lock })
		require.GreaterOrEqual(t, i, 0)
		assert.Equal(t, want, all.Locks[i].Type.String())
	}
}

// A textField is a field of an object that refers to a string.
type textField struct {
	object, slot target.Addr
	field        string
}

// stringField returns a field that refers to a string, and another object.
func stringField(t *testing.T, h *heap.Heap, d *testdump.Dump) (f textField, other target.Addr) {
	r := firstReader(t, d)
	for o, err := range h.Objects() {
		if err != nil || o.Free {
			continue
		}
		x, err := r.Proven(o.Addr)
		if err != nil || x.IsString() {
			continue
		}
		fields, err := x.Type.Fields()
		for i := 0; err == nil && i < len(fields) && f.object == 0; i++ {
			typ, err := x.Value(fields[i]).Type()
			if a, unread := x.Value(fields[i]).Addr(); err == nil && unread == nil && typ.IsString() && a != 0 {
				f = textField{o.Addr, o.Addr + 8 + target.Addr(fields[i].Offset), fields[i].Name}
			}
		}
		if f.object != 0 && o.Addr != f.object {
			return f, o.Addr
		}
	}
	t.Fatal("no field refers to a string")
	return f, 0
}

func firstReader(t *testing.T, d *testdump.Dump) *objects.Reader {
	r, err := firstProcess(t, d.Dump).Objects()
	require.NoError(t, err)
	return r
}

// TestThreadsThatAreCounted: if the runtime counts a thread that its list does not have, not all threads are listed.
func TestThreadsThatAreCounted(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	p := firstProcess(t, d.Dump)
	rt, err := p.Runtime()
	require.NoError(t, err)
	assert.Equal(t, answer.PremiseHolds, p.State(answer.ThreadsListed))
	store, err := rt.GlobalPointer("ThreadStore")
	require.NoError(t, err)
	counts, err := rt.ThreadCounts()
	require.NoError(t, err)
	for at := store; at < store+0x80; at += 4 {
		if n, err := target.Uint32(d.Target(), at); err != nil || n != counts.Threads {
			continue
		}
		more := &testdump.Altered{Target: d.Target(), Patches: []testdump.Damage{{At: at, Bytes: []byte{byte(counts.Threads + 1)}}}}
		q := firstProcess(t, more.Open(t, d.Options()))
		if qrt, err := q.Runtime(); err == nil {
			if c, err := qrt.ThreadCounts(); err == nil && c.Threads == counts.Threads+1 {
				assert.Equal(t, answer.PremiseDoubtful, q.State(answer.ThreadsListed))
				return
			}
		}
	}
	t.Error("the count of threads was not found")
}

// keepsPremises checks that a conclusion declares its premises, and is no stronger than they are.
func keepsPremises(t *testing.T, p *process.Process, v *answer.Verdict) {
	t.Helper()
	assert.True(t, words.Declared(v.Says), "%q: %s", v.Says, v.Text)
	for _, premise := range words.Premises(*v) {
		switch p.State(premise) {
		case answer.PremiseDoubtful:
			assert.Positive(t, answer.CompareStrength(v.Strength, answer.StrengthProved), "%s [%s] rests on %q", v.Text, v.Strength, premise)
		case answer.PremiseBroken:
			assert.Equal(t, words.CantBeJudged.Kind(), v.Says, "%s [%s] rests on %q", v.Text, v.Strength, premise)
		}
	}
}

func firstProcess(t *testing.T, d *sosgo.Dump) *process.Process {
	t.Helper()
	v, _ := d.View("") // without a runtime, the process has threads
	return v.Process
}

// conclusionsOf returns what all answers of a triage conclude, and the triage itself.
func conclusionsOf(t *testing.T, p *process.Process) []answer.Verdict {
	t.Helper()
	a, err := triage.Read(t.Context(), p, triage.Options{})
	require.NoError(t, err)
	var out []answer.Verdict
	add := func(x any, _ error) {
		for _, v := range answer.VerdictsOf(x) {
			out = append(out, *v)
		}
	}
	add(got(a.Crash.Get()))
	add(got(a.Waits.Get()))
	add(got(a.ThreadPool.Get()))
	add(got(a.HTTPClients.Get()))
	add(got(a.Redis.Get()))
	add(got(a.Hosts.Get()))
	add(got(a.TypeInits.Get()))
	judged, err := triage.Judge(context.Background(), a, triage.Options{})
	if err != nil {
		return out // no subject could be checked
	}
	for i := range judged.Findings {
		f := &judged.Findings[i]
		out = append(out, f.Clauses...)
		if len(f.Clauses) > 0 {
			weakest := slices.MinFunc(f.Clauses, func(a, b answer.Verdict) int { return answer.CompareStrength(a.Strength, b.Strength) })
			assert.GreaterOrEqual(t, answer.CompareStrength(f.Strength, weakest.Strength), 0, "%s is stronger than its strongest clause", f.Text)
		}
	}
	return out
}

func got[T any](x T, err error) (any, error) { return x, err }

// breakages returns what can be broken in a process.
func breakages(t *testing.T, sound *testdump.Altered, p *process.Process) []breakage {
	t.Helper()
	var out []breakage
	add := func(name string, premise answer.Premise, state answer.PremiseState, holes ...target.Range) {
		if len(holes) > 0 && p.State(premise) < state {
			out = append(out, breakage{name: name, premise: premise, state: state, holes: holes})
		}
	}
	var tops, stacks []target.Range
	list, _ := p.Threads() // what can't be listed can't be broken
	for i := range list {
		if s, err := list[i].Stack(p.Target()); err == nil && list[i].Managed != nil {
			r := s.Ranges[0]
			stacks = append(stacks, r)
			tops = append(tops, target.Range{Start: r.Start + target.Addr(r.Size()/2), End: r.End})
		}
	}
	add("ends of stacks", answer.StackComplete, answer.PremiseDoubtful, tops...)
	add("stacks", answer.StackComplete, answer.PremiseBroken, stacks...)
	add("ends of all stacks", answer.AllStacks, answer.PremiseDoubtful, tops...)
	add("all stacks", answer.AllStacks, answer.PremiseBroken, stacks...)
	rt, err := p.Runtime()
	require.NoError(t, err)
	if managed, err := rt.Threads(); err == nil && len(managed) > 0 {
		last := managed[len(managed)-1].Addr
		add("a thread", answer.ThreadsListed, answer.PremiseDoubtful, target.Range{Start: last, End: last + 0x400})
	}
	var metadata, images []target.Range
	if modules, err := rt.Modules(); err == nil {
		for _, m := range modules {
			if at, err := m.Image(); err == nil && at.Start != 0 {
				images = append(images, target.Range{Start: at.Start, End: at.Start + 4096})
				metadata = append(metadata, at)
			}
			if w := m.MetadataSource(); w.Addr != 0 {
				metadata = append(metadata, target.Range{Start: w.Addr, End: w.Addr + 64})
			}
		}
	}
	add("metadata", answer.CodeFound, answer.PremiseDoubtful, metadata...)
	add("files", answer.FilesThere, answer.PremiseDoubtful, images...)
	for i := range out {
		out[i].offline = out[i].name == "metadata" || out[i].name == "files"
	}
	h, err := p.Heap()
	if err != nil {
		return out
	}
	var half, whole []target.Range
	for _, s := range h.Segments() {
		if s.Objects.Size() > 0 {
			whole = append(whole, s.Objects)
			half = append(half, target.Range{Start: s.Objects.Start + target.Addr(s.Objects.Size()/2), End: s.Objects.End})
		}
	}
	add("half of the heap", answer.HeapWhole, answer.PremiseDoubtful, half...)
	add("heap", answer.HeapWhole, answer.PremiseBroken, whole...)
	opening := sound.Reads(func() { _, err = heap.Open(rt, sound) })
	require.NoError(t, err)
	only := func(reads []target.Range) []target.Range {
		return slices.DeleteFunc(reads, func(r target.Range) bool {
			return slices.ContainsFunc(opening, func(o target.Range) bool { return o.Start < r.End && r.Start < o.End })
		})
	}
	add("handles", answer.HandlesRead, answer.PremiseBroken, only(sound.Reads(func() { _, _ = h.CheckHandles() }))...)
	add("handles and stacks", answer.RootsRead, answer.PremiseBroken, slices.Concat(only(sound.Reads(func() { _, _ = h.CheckHandles() })), stacks)...)
	cold := firstProcess(t, sound.Open(t, sosgo.Options{Offline: true}))
	if crt, err := cold.Runtime(); err == nil {
		add("sync blocks", answer.TablesWhole, answer.PremiseDoubtful, only(sound.Reads(func() {
			for range crt.SyncBlocks() {
			}
		}))...)
	}
	if patches := collecting(t, sound, p, opening); patches != nil {
		out = append(out, breakage{name: "collection", premise: answer.NoCollection, state: answer.PremiseDoubtful, patches: patches},
			breakage{name: "collector at work", premise: answer.HeapAtRest, state: answer.PremiseBroken, patches: patches})
	}
	return out
}

// collecting returns the patches that make the process one that was dumped during a collection, or nil if the
// runtime does not record that. The first is the GC's count of the reasons why the heap is invalid, which is among the words that
// opening a heap reads; the second is the thread that has suspended the others.
func collecting(t *testing.T, sound *testdump.Altered, p *process.Process, opening []target.Range) []testdump.Damage {
	t.Helper()
	rt, err := p.Runtime()
	require.NoError(t, err)
	var suspends []testdump.Damage
	reads := sound.Reads(func() { _, err = rt.GlobalPointer("GCThread") })
	if threads, _ := rt.Threads(); err == nil && len(reads) == 1 && len(threads) > 0 {
		suspends = append(suspends, testdump.Words(reads[0].Start, uint64(threads[0].Addr)))
	}
	for _, r := range opening {
		if n, err := target.Uint32(p.Target(), r.Start); r.Size() != 4 || err != nil || n != 0 {
			continue
		}
		patches := append([]testdump.Damage{{At: r.Start, Bytes: []byte{1, 0, 0, 0}}}, suspends...)
		h, err := heap.Open(rt, &testdump.Altered{Target: p.Target(), Patches: patches}) // rt does not see the second patch
		if err == nil && (h.InGC() || slices.ContainsFunc(h.Warnings(), func(err error) bool { return strings.Contains(err.Error(), "collections in progress") })) {
			return patches
		}
	}
	return nil
}
