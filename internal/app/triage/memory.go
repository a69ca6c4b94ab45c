package triage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/leaks"
	"github.com/sosgo/sosgo/internal/app/memorymap"
	"github.com/sosgo/sosgo/internal/app/signature"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// outOfMemory checks for allocations that the collector could not make.
func outOfMemory(_ context.Context, q *Answers) (view, error) {
	m, err := q.OutOfMemory.get()
	if err != nil {
		return view{}, err
	}
	v := view{}
	if m.Unread > 0 {
		v.partly = firstOf(m.Noted(), target.ErrNotInDump)
	}
	var limits []answer.Verdict
	if len(m.Failures) > 0 && q.GCSettings.read {
		settings, err := q.GCSettings.get()
		if limits = limitClauses(settings); err != nil {
			v.miss(err)
		}
	}
	for i := range m.Failures {
		a := &m.Failures[i]
		says, record := words.AllocationFailed.Of(words.Bytes(a.AllocationSize), words.Text(a.Why())), []answer.Statement{words.AllocationRecord.Of(words.N(a.Heap), words.N(a.Collection))}
		if !a.Sized() {
			says, record = words.BudgetUsedUp.Of(words.Text(a.Why())), append(record, words.BudgetRecord.Of(words.Bytes(a.AllocationSize)))
		}
		x := answer.Conclude(answer.FindingMemory, says, answer.StrengthRecorded, record...)
		x.Show = []string{"analyzeoom"}
		v.found = append(v.found, finding(answer.FindingMemory, append([]answer.Verdict{x}, limits...)...))
	}
	return v, nil
}

// outOfMemoryBy identifies failed allocations by the largest holder of memory.
func outOfMemoryBy(list []answer.Finding) {
	var holder answer.Identity
	if i := slices.IndexFunc(list, func(f answer.Finding) bool { return f.Kind == answer.FindingHolder }); i >= 0 {
		holder = list[i].Identity
	}
	for i := range list {
		if list[i].Kind == answer.FindingMemory {
			list[i].Identity = signature.OutOfMemory(holder)
		}
	}
}

// limitClauses describes the settings that limit the heap.
func limitClauses(settings []answer.GCSetting) (out []answer.Verdict) {
	for i := range settings {
		s := &settings[i]
		if s.Unused || !strings.Contains(s.Name, hardLimit) {
			continue
		}
		value := words.Text(s.Value)
		if n, ok := heapLimit(s); ok {
			value = words.Bytes(n)
		}
		x := answer.Conclude(answer.NoFinding, words.HeapLimit.Of(words.Text(s.Name), value), answer.StrengthRecorded, words.Setting.Of(words.Text(s.Key), words.Text(s.Value)))
		x.Show = []string{"gc"}
		out = append(out, x)
	}
	return out
}

// hardLimit is in the names of the settings that limit the heap.
const hardLimit = "HardLimit"

// heapLimit returns the bytes that a setting limits the heap to. ok is false for other settings.
func heapLimit(s *answer.GCSetting) (limit uint64, ok bool) {
	if s.Unused || !strings.Contains(s.Name, hardLimit) || strings.Contains(s.Name, "Percent") {
		return 0, false
	}
	base, digits := 0, s.Value
	if s.Source == answer.GCSettingEnvironment {
		base, digits = 16, strings.TrimPrefix(strings.ToLower(s.Value), "0x")
	}
	limit, err := strconv.ParseUint(digits, base, 64)
	return limit, err == nil
}

// Free space between objects is a finding from muchFree bytes and muchFreeShare percent of its generation.
const (
	muchFree      = 32 << 20
	muchFreeShare = 50
)

// fragmentation checks the free space between objects that do not move: generation 2, large and pinned objects.
func fragmentation(_ context.Context, q *Answers) (view, error) {
	list, err := q.FreeSpace.get()
	if err != nil {
		return view{}, err
	}
	v := view{partly: firstOf(list.Noted(), nil)}
	for i := range list.Generations {
		g := &list.Generations[i]
		name := freeNames[g.Generation]
		if name == "" || g.Free < muchFree || g.Share < muchFreeShare || reusable(g) {
			continue
		}
		x := answer.Conclude(answer.FindingFragmented, words.Fragmented.Of(words.Bytes(g.Free), words.Text(name), words.Percent(g.Share), words.Commas(g.Blocks), words.Bytes(g.Largest)),
			answer.StrengthRecorded, words.ObjectsHave.Of(words.Bytes(g.Objects)))
		clauses := []answer.Verdict{x}
		for j := range g.Pins[:min(len(g.Pins), mostClauses)] {
			p := &g.Pins[j]
			pinned := answer.Conclude(answer.NoFinding, words.PinnedObjects.Of(words.Commas(p.Objects), words.Type(p.Type.String())), answer.StrengthProved,
				words.PinningHandles.Of(words.Commas(p.Handles), words.Text(p.Handle)))
			pinned.Count, pinned.Show = int(p.Objects), []string{fmt.Sprintf("gcroot %x", uint64(p.Example))}
			clauses = append(clauses, pinned)
		}
		v.found = append(v.found, finding(answer.FindingFragmented, clauses...))
	}
	return v, nil
}

// leastServing are the bytes of a free block of the large object heap that most large objects fit into: four of the smallest (85,000 bytes).
const leastServing = 4 * 85000

// reusable reports whether the free space is what dead large objects left behind: blocks for which the next ones are taken. A pinned object between them
// may keep their segment.
func reusable(g *answer.FreeSpace) bool {
	return g.Generation == "large" && len(g.Pins) == 0 && g.Blocks > 0 && g.Free/g.Blocks >= leastServing
}

// freeNames are the generations checked for free space. Younger ones are compacted or promoted by the next collection.
var freeNames = map[string]string{"2": "generation 2", "large": "the large object heap", "pinned": "the pinned object heap"}

// leastField is the part of malloc's memory, or of handles, to which a field has to refer to be named.
const leastField = 10

// nativeMemory checks whether the GC heap explains the memory of the process. Most dumps do not have all memory of
// malloc, and other allocators can't be read. There is a finding only if the known part suffices.
func nativeMemory(ctx context.Context, q *Answers) (view, error) {
	n, err := q.Native.get()
	if err != nil || n == nil {
		return view{beside: true}, ctx.Err()
	}
	v := view{beside: n.Err != nil}
	all := n.Arenas + n.Blocks
	if !n.Much(all) {
		return v, nil
	}
	x := answer.Conclude(answer.FindingNative, words.NativeMemory.Of(words.Bytes(all), words.Bytes(n.Heap)), answer.StrengthRecorded, words.Arenas.Of(words.Bytes(n.Arenas)))
	x.Show = []string{"memory"}
	switch {
	case n.Counted:
		x.Because(words.CountedBlocks.Of(words.Bytes(n.Blocks)))
	case !n.Much(n.Arenas):
		x.Strength = answer.StrengthLikely
		fallthrough
	case n.Blocks > 0:
		x.Because(words.LikelyBlocks.Of(words.Bytes(n.Blocks)))
	}
	clauses := []answer.Verdict{x}
	for i := range n.Fields {
		if f := &n.Fields[i]; f.Bytes >= all/leastField {
			says := words.BlocksOf.Of(words.Commas(f.Count), words.Bytes(f.Bytes), words.Field(f.Name))
			if f.Arrays > 0 {
				says = words.BlocksOfArrays.Of(words.Commas(f.Count), words.Bytes(f.Bytes), words.Commas(f.Arrays), words.Type(f.Name), arrayIn(f))
			}
			x := answer.Conclude(answer.NoFinding, says, answer.StrengthRecorded)
			x.Show = []string{fmt.Sprintf("gcroot %x", uint64(f.Example))}
			clauses = append(clauses, x)
		}
	}
	v.found = append(v.found, finding(answer.FindingNative, clauses...))
	return v, nil
}

// arrayIn names the field with an array that has addresses, if it is known.
func arrayIn(f *memorymap.PointerField) answer.Statement {
	switch {
	case f.Held == "":
		return answer.Statement{}
	case f.Arrays == 1:
		return words.OneArrayIn.Of(words.Field(f.Held))
	}
	return words.ArrayIn.Of(words.Field(f.Held))
}

// holders checks for large holders of the heap.
func holders(_ context.Context, q *Answers) (view, error) {
	l, err := q.Leaks.get()
	if err != nil {
		return view{}, err
	}
	v := view{}
	if l.Incomplete {
		notes := l.Noted()
		missing := slices.DeleteFunc(slices.Clone(notes), q.stillHeld(notes))
		if v.partly = firstOf(missing, nil); len(notes) == 0 {
			v.partly = target.ErrNotInDump
		}
	}
	if f, ok := interned(l); ok {
		v.found = append(v.found, f)
	}
	for _, list := range alike(l.Suspects) {
		if retained, share := sums(list); l.Small || share < holderShare || retained < q.leastHolder(list) && !q.ranOut() {
			continue
		}
		if handleAlone(list[0]) || manyDead(list[0]) {
			v.beside = true // the finding of the handles has it
			continue
		}
		f := holder(list, l)
		q.behindQueue(&f, list[0], l)
		v.found = append(v.found, f)
		if len(v.found) == mostHolders {
			break
		}
	}
	v.found = append(v.found, collisions(l, v.found)...)
	return v, nil
}

// fewUndecoded is the number of methods without GC info that leave the holders of memory whole. Dumps with the heap lack a page of it here and there;
// those without files of modules lack most.
const fewUndecoded = 3

// stillHeld returns a function that reports whether a note is about a frame with unknown references that keeps all the same what it refers to.
func (q *Answers) stillHeld(notes []error) func(error) bool {
	methods := map[target.Addr]bool{}
	for _, note := range notes {
		if u, ok := errors.AsType[*stackwalk.UndecodedError](note); ok {
			methods[u.Code] = true
		}
	}
	few := len(methods) <= fewUndecoded && q.Premises.State(answer.StackComplete) == answer.PremiseHolds
	return func(err error) bool {
		u, undecoded := errors.AsType[*stackwalk.UndecodedError](err)
		return leaks.StillHeld(err) || few && undecoded && !u.Lost && errors.Is(err, target.ErrNotInDump)
	}
}

// interned describes the strings in the runtime's arrays for interned strings and literals if they are a finding.
func interned(l *answer.Leaks) (answer.Finding, bool) {
	i := slices.IndexFunc(l.Suspects, func(s answer.Suspect) bool { return s.Kind == answer.SuspectInterned && s.Members != nil })
	if i < 0 || l.Suspects[i].Share < holderShare || l.Suspects[i].Retained < holderBytes {
		return answer.Finding{}, false
	}
	s := &l.Suspects[i]
	x := answer.Conclude(answer.FindingHolder, words.Interned.Of(words.Commas(s.Members.Count), words.Bytes(s.Retained), words.Percent(s.Share), words.Commas(s.Roots)),
		answer.StrengthLikely, words.InternedArrays.Of())
	x.Show, x.Count, x.Sites = []string{"leaks"}, s.Roots, []answer.Site{{Does: "interned"}}
	return finding(answer.FindingHolder, x), true
}

// holderShare is the percentage of live bytes from which a holder is a finding. The command leaks lists smaller ones.
const holderShare = 20

// holderBytes is the size from which a holder is a finding, unless the process ran out of memory. An idle process has several times as much:
// to free less is not noticed, whatever its share, and a cache with a limit is that large.
const holderBytes = 16 << 20

// turnedBytes is the size from which a holder is a finding although its elements come and go. pooledBytes is the same for the arrays of ArrayPool.Shared: the pool keeps
// at most one array of each size for a thread, and drops what is not rented.
const (
	turnedBytes = 64 << 20
	pooledBytes = 256 << 20
)

// leastHolder returns the size from which suspects are a finding. One with elements that come and go is likely a cache
// with a limit: it is one if it is large in itself, or takes much of the limit of the heap. What ends with calls is one for the limit alone.
func (q *Answers) leastHolder(list []*answer.Suspect) uint64 {
	least := uint64(math.MaxUint64)
	for _, s := range list {
		switch {
		case !s.Ends.IsZero():
		case pooled(s):
			least = pooledBytes
		case !s.Turnover.IsZero():
			least = turnedBytes
		default:
			return holderBytes
		}
	}
	if !q.GCSettings.read {
		return least
	}
	settings, _ := q.GCSettings.get()
	for i := range settings {
		if limit, ok := heapLimit(&settings[i]); ok && limit > 0 {
			least = min(least, limit/100*holderShare)
		}
	}
	return max(least, holderBytes)
}

// ranOut reports whether the collector recorded a failed allocation.
func (q *Answers) ranOut() bool {
	m, err := q.OutOfMemory.get()
	return err == nil && len(m.Failures) > 0
}

// pooled reports whether a suspect is the arrays of one type that ArrayPool.Shared keeps for threads.
func pooled(s *answer.Suspect) bool {
	return s.Kind == answer.SuspectThreadStatic && !s.Turnover.IsZero() && s.Members != nil
}

// alike groups suspects by signature into findings, such as the parts of a cache in several dictionaries, and the arrays of ArrayPool.Shared. The suspects
// of a group do not overlap.
func alike(suspects []answer.Suspect) (out [][]*answer.Suspect) {
	at := map[string]int{}
	share := map[string]float64{}
	for i := range suspects {
		s := &suspects[i]
		if s.Verdict != answer.VerdictSuspect || s.Kind == answer.SuspectInterned {
			continue
		}
		id, _ := signature.Suspect(s)
		one := (s.Kind == answer.SuspectAccumulation || s.Kind == answer.SuspectObject) && s.Point != nil && s.Path != nil && id.Signature != "" && len(s.Locals) == 0
		if pooled(s) { // of all types of elements
			id.Signature, one = "pooled", true
		}
		nested := func(o *answer.Suspect) bool { return !pooled(s) && (leadsThrough(s, o) || leadsThrough(o, s)) }
		if k, ok := at[id.Signature]; ok && one && share[id.Signature]+s.Share <= 100 && !slices.ContainsFunc(out[k], nested) {
			share[id.Signature] += s.Share
			out[k] = append(out[k], s)
			continue
		}
		if one {
			at[id.Signature], share[id.Signature] = len(out), s.Share
		}
		out = append(out, []*answer.Suspect{s})
	}
	return out
}

// leadsThrough reports whether the path to s leads through other.
func leadsThrough(s, other *answer.Suspect) bool {
	return slices.ContainsFunc(s.Path.Objects, func(step answer.PathStep) bool { return step.Address == other.Point.Address })
}

// behindQueue adds to a finding about a holder that it follows from a blocked finalizer, if the objects are those that await finalization behind it.
func (q *Answers) behindQueue(f *answer.Finding, s *answer.Suspect, l *answer.Leaks) {
	m, ready := members(s), l.Finalizers.ReadyTypes
	c, err := q.Crash.get()
	if err != nil || m == nil || len(ready) == 0 || m.Type.S != ready[0].Type.S || 10*ready[0].Count < 9*m.Count {
		return
	}
	if i := slices.IndexFunc(c.Verdicts, func(x answer.Verdict) bool { return x.Kind == answer.FindingFinalizers }); i >= 0 {
		f.Clauses = append(f.Clauses, answer.Conclude(answer.NoFinding, words.Follows.Of(words.Text(string(answer.FindingFinalizers))), answer.Weakest(f.Strength, c.Verdicts[i].Strength)))
	}
}

// mostHolders is how many holders become findings. The command leaks lists the others.
const mostHolders = 3

// holder describes a group of suspects. The retained size is computed from all references. A leak is not recorded
// anywhere and not claimed.
func holder(list []*answer.Suspect, l *answer.Leaks) answer.Finding {
	s := list[0]
	retained, share := sums(list)
	sig, _ := signature.Suspect(s)
	x := answer.Conclude(answer.FindingHolder, holderSays(list, held{words.Bytes(retained), words.Percent(share), localHolds(list), keepers(list)}), answer.StrengthProved, words.AllReferences.Of())
	x.Show = []string{"leaks"}
	if len(list) > 1 {
		x.Count = len(list)
	}
	if len(list) == 1 || pooled(s) {
		for _, says := range []answer.Statement{s.Turnover, s.Ends} {
			if !says.IsZero() {
				x.Because(says)
			}
		}
	}
	if l.Incomplete {
		x = words.LowerOne(x, answer.Premises{answer.RootsRead: answer.PremiseDoubtful}.State)
		x.Because(words.NotAllRead.Of())
	}
	if slices.ContainsFunc(list, func(s *answer.Suspect) bool { return s.Path != nil && s.Path.Root.Conservative }) {
		x.Strength = answer.Weakest(x.Strength, answer.StrengthPossible)
		x.Because(words.DoubtfulRoot.Of())
	}
	clauses := []answer.Verdict{x}
	if len(list) == 1 && !s.Chain.IsZero() {
		clauses = append(clauses, answer.Conclude(answer.NoFinding, s.Chain, answer.StrengthRecorded))
	}
	f := finding(answer.FindingHolder, clauses...)
	f.Identity = sig
	if p := s.Point; p != nil {
		f.Object = p.Address
		f.Next = append(f.Next, fmt.Sprintf("gcroot %x", uint64(cmp.Or(s.Owner, p).Address))) // what the finding names
		if members(s) == nil {
			f.Next = append(f.Next, fmt.Sprintf("dominators %x", uint64(p.Address))) // what it owns is of several types
		}
	}
	if copied(list) || roomy(list) {
		f.Next = append(f.Next, "waste")
	}
	return f
}

// handleAlone reports whether so many objects have only a handle each that the handles are a finding.
func handleAlone(s *answer.Suspect) bool {
	if s.Verdict != answer.VerdictSuspect || s.Share < holderShare || s.Kind != answer.SuspectGroup || s.Members == nil || len(s.Holders) != 1 {
		return false
	}
	h := &s.Holders[0]
	return h.Handle != "" && h.Share == 100 && h.Sampled >= muchHandles
}

// manyDead reports whether so many weak references lead to nothing that their handles are a finding.
func manyDead(s *answer.Suspect) bool {
	return s.Kind == answer.SuspectWeak && s.Point != nil && s.Dead >= muchHandles
}

// copied reports whether most of what suspects retain are strings. The command waste counts their copies.
func copied(list []*answer.Suspect) bool {
	var strings, all uint64
	for _, s := range list {
		all += s.Retained
		for i := range s.Types {
			if s.Types[i].Type.S == "System.String" {
				strings += s.Types[i].Size
			}
		}
	}
	return 2*strings > all
}

// roomy reports whether most of what suspects retain are arrays, about one in each of many collections of the class library. The command waste measures how
// full these are.
func roomy(list []*answer.Suspect) bool {
	for _, s := range list {
		if len(s.Types) == 0 || !strings.HasSuffix(s.Types[0].Type.S, "[]") || 2*s.Types[0].Size < s.Retained {
			return false
		}
		arrays := s.Types[0].Count
		if !slices.ContainsFunc(s.Types[1:], func(t answer.TypeCount) bool {
			return t.Count >= manyCollections && 10*max(t.Count, arrays) <= 11*min(t.Count, arrays) && strings.HasPrefix(t.Type.S, "System.Collections.Generic.")
		}) {
			return false
		}
	}
	return len(list) > 0
}

// manyCollections is from how many collections on their arrays may be larger than they need be.
const manyCollections = 100

// sums returns the retained bytes of a group of suspects and their percentage of live bytes.
func sums(list []*answer.Suspect) (retained uint64, share float64) {
	for _, s := range list {
		retained, share = retained+s.Retained, share+s.Share
	}
	return retained, share
}

// held is the text for a suspect's retained memory and its holder.
type held struct{ size, share, local, keeper answer.Statement }

// holderSays describes the retained memory of a group of suspects, with its total.
func holderSays(list []*answer.Suspect, h held) answer.Statement {
	s := list[0]
	name := holderName(list)
	switch m := members(s); {
	case s.Kind == answer.SuspectGroup || s.Kind == answer.SuspectCalls || ofThreads(s) || !s.Link.IsZero():
		return words.Holders.Of(name, h.size, h.share, answer.Statement{}, h.local, h.keeper)
	case s.Kind == answer.SuspectTimers && s.Elements.Err() == nil && !s.Awaits.IsZero():
		return words.Delays.Of(words.Commas(s.Elements.Value), words.Method(s.Awaits.String()), h.size, h.share, h.local, h.keeper)
	case s.Kind == answer.SuspectTimers && s.Elements.Err() == nil:
		says := words.Timers
		if s.AtLeast {
			says = words.TimersAtLeast
		}
		return says.Of(words.Commas(s.Elements.Value), words.Method(metadata.PrettyMethod(name.Text)), h.size, h.share, h.local, h.keeper)
	case s.Kind == answer.SuspectEvent && s.Elements.Err() == nil && m != nil:
		return words.Handlers.Of(words.Commas(s.Elements.Value), handlersOf(s, name), h.size, h.share, words.Commas(m.Count), words.Type(m.Type.String()), h.local, h.keeper)
	}
	says := words.Holder
	if len(list) > 1 {
		says = words.Holders
	}
	return says.Of(name, h.size, h.share, mostOf(list), h.local, h.keeper)
}

// holderName names a holder: objects of a type, the object to which the suspect belongs, or the object itself.
func holderName(list []*answer.Suspect) answer.Statement {
	s := list[0]
	p := cmp.Or(s.Owner, s.Point)
	switch {
	case len(list) > 1 && pooled(s):
		arrays := uint64(0)
		for _, o := range list {
			arrays += o.Members.Count
		}
		return words.Objects.Of(words.Commas(arrays), words.Type(s.Members.Type.String()), answer.Statement{})
	case len(list) > 1:
		return words.Objects.Of(words.Commas(len(list)), words.Type(p.Type.String()), answer.Statement{})
	case !s.Link.IsZero() && s.Members != nil:
		return words.LinkedMembers.Of(words.Commas(s.Members.Count), words.Type(s.Members.Type.String()), words.LinkedBy.Of(words.Field(s.Link.String())))
	case s.Kind == answer.SuspectCalls && s.Elements.Err() == nil:
		return words.CallsOf.Of(words.Commas(s.Elements.Value), words.Method(s.Name.String()))
	case p != nil:
		return words.ObjectOfType.Of(words.Type(p.Type.String()), words.ShortObject(p.Address))
	case s.Members != nil && (s.Name.S == "" || ofThreads(s)):
		owners := answer.Statement{}
		if o := leaks.EachOf(s); o != nil {
			owners = words.OfObjects.Of(words.Commas(o.Count), words.Type(o.Type.String()))
		}
		return words.Objects.Of(words.Commas(s.Members.Count), words.Type(s.Members.Type.String()), owners)
	}
	return words.Text(s.Name.S)
}

// ofThreads reports whether a suspect has values of several threads.
func ofThreads(s *answer.Suspect) bool {
	return s.Kind == answer.SuspectThreadStatic || s.Kind == answer.SuspectThreadLocal
}

// mostOf names the largest part of what suspects retain, if known. It is not always the most of it: an object may have many small parts, and larger
// ones of other types.
func mostOf(list []*answer.Suspect) answer.Statement {
	m := members(list[0])
	if m == nil {
		return answer.Statement{}
	}
	n, size, all := uint64(0), uint64(0), uint64(0)
	for _, s := range list {
		if all += s.Retained; members(s) != nil {
			n, size = n+members(s).Count, size+members(s).Size
		}
	}
	says := words.MostOfIt
	if list[0].Members != nil && size < all/2 {
		says = words.AmongIt
	}
	return says.Of(words.Commas(n), words.Type(m.Type.String()))
}

// keepers names what keeps suspects alive, if known. What keeps the first is said of all only if it keeps all.
func keepers(list []*answer.Suspect) answer.Statement {
	kept := func(s *answer.Suspect) answer.Statement {
		_, root := signature.Suspect(s)
		return keptBy(s, root)
	}
	first := kept(list[0])
	if !first.IsZero() && slices.ContainsFunc(list, func(s *answer.Suspect) bool { return kept(s).Text != first.Text }) {
		return words.KeptApart.Of(first)
	}
	return first
}

// keptBy names what keeps a suspect alive, if known.
func keptBy(s *answer.Suspect, root string) answer.Statement {
	switch {
	case !s.Kept.IsZero():
		return words.KeptSo.Of(s.Kept)
	case strings.HasPrefix(root, "static "+timerQueue+"."):
		return words.KeptByTimers.Of(words.Type(timerQueue))
	case root == string(answer.RootStack):
		return words.KeptBy.Of(words.Text(s.Path.Root.Words()))
	case root != "":
		return words.KeptBy.Of(words.Text(root))
	}
	return answer.Statement{}
}

// localHolds names the AsyncLocal with values that retain most of a suspect's bytes, if there is one. The values of several suspects are not added up.
func localHolds(list []*answer.Suspect) answer.Statement {
	s := list[0]
	if len(list) > 1 || len(s.Locals) == 0 || 2*s.Locals[0].Retained < s.Retained {
		return answer.Statement{}
	}
	l := &s.Locals[0]
	return words.LocalHolds.Of(words.Bytes(l.Retained), words.Field(l.Name), words.Commas(l.Count))
}

// handlersOf names the event of a suspect with handlers. For an instance event its owner is named too.
func handlersOf(s *answer.Suspect, owner answer.Statement) answer.Statement {
	switch {
	case s.Name.S == "":
		return words.HandlersOf.Of(owner)
	case s.Owner == nil && s.Delegate:
		return words.HandlersOfField.Of(words.Field(s.Name.S))
	case s.Delegate:
		return words.HandlersOfOwned.Of(words.Field(s.Name.S), owner)
	case s.Owner == nil:
		return words.HandlersOfEvent.Of(words.Field(s.Name.S))
	}
	return words.HandlersOfOwner.Of(words.Field(s.Name.S), owner)
}

// timerQueue is the class with a static field that leads to all active timers.
const timerQueue = "System.Threading.TimerQueue"

// members returns the largest part of a suspect's memory: its members, or the objects of handlers, timers or
// registrations.
func members(s *answer.Suspect) *answer.TypeCount {
	if s.Members == nil && len(s.Targets) > 0 {
		return &s.Targets[0]
	}
	return s.Members
}

// manyMade is how many assemblies that were made at run time are too many. Serializers and proxies make a few dozen.
const manyMade = 300

// made counts the assemblies of a context that were made at run time and can't be unloaded.
func made(c *answer.AssemblyContext) (n int) {
	for _, a := range c.Assemblies {
		if a.Name.Err == nil && a.Name.S == "" && a.Collectible.Err() == nil && !a.Collectible.Value {
			n++
		}
	}
	return n
}

// madeAssemblies describes the assemblies of a context that were made at run time and can't be unloaded, or returns nil if they are few.
func madeAssemblies(q *Answers, c *answer.AssemblyContext) *answer.Finding {
	made := made(c)
	if made < manyMade {
		return nil
	}
	name := words.Text(c.Name.String())
	if c.Default {
		name = words.TheDefaultContext.Of()
	}
	x := answer.Conclude(answer.FindingAssemblies, words.MadeAssemblies.Of(words.Commas(made)), answer.StrengthRecorded, words.OfAssemblies.Of(words.Commas(len(c.Assemblies)), name))
	x.Count, x.Show = made, []string{"contexts", "eeheap -loader"}
	if n, err := q.Native.get(); err == nil && n != nil && n.Loader > 0 {
		x.Because(words.NativeParts.Of(words.Bytes(n.Loader), words.Bytes(n.Arenas+n.Blocks), words.Bytes(n.Heap)))
	}
	f := finding(answer.FindingAssemblies, x)
	return &f
}

// loadContexts checks for load contexts that were unloaded but remain, and for assemblies that were made at run time.
func loadContexts(_ context.Context, q *Answers) (view, error) {
	list, err := q.Contexts.get()
	if err != nil {
		return view{}, err
	}
	v := view{partly: firstOf(list.Noted(), nil)}
	for i := range list.Contexts {
		c := &list.Contexts[i]
		if f := madeAssemblies(q, c); f != nil {
			v.found = append(v.found, *f)
		}
		if c.State.S != answer.ContextUnloading || c.Verdict != answer.Held {
			continue // garbage goes with the next collection
		}
		x := answer.Conclude(answer.FindingUnload, words.ContextStays.Of(words.Text(c.Name.String()), words.Commas(len(c.Assemblies))), answer.StrengthProved,
			words.ContextObject.Of(words.ShortObject(c.Address)))
		x.Show = []string{"contexts"}
		clauses := []answer.Verdict{x}
		for j := range c.Blockers[:min(len(c.Blockers), mostClauses)] {
			b := &c.Blockers[j]
			clauses = append(clauses, answer.Conclude(answer.NoFinding, words.ItIsKept.Of(b.Statement), b.Strength))
		}
		f := finding(answer.FindingUnload, clauses...)
		f.Object = c.Address
		v.found = append(v.found, f)
	}
	return v, nil
}

// soundness checks whether the heap's objects are sound.
func soundness(ctx context.Context, q *Answers) (view, error) {
	s, err := q.VerifyHeap.get()
	if err != nil {
		return view{}, err
	}
	v := view{}
	switch {
	case s.Incomplete:
		v.partly = firstOf(s.Noted(), target.ErrNotInDump)
	case s.Moving: // what was read can be sound, and the rest damaged
		v.partly = target.ErrInCollection
	}
	if s.Errors == 0 {
		return v, nil
	}
	if s.Incomplete && q.Premises.State(answer.ThreadsListed) != answer.PremiseHolds {
		return v, nil // what threads have not yet allocated looks like damage, and where it is can't be read
	}
	x := answer.Conclude(answer.FindingHeap, words.DamagedHeap.Of(words.Commas(s.Errors), words.Commas(s.Objects)), answer.StrengthProved)
	x.Count, x.Show = s.Errors, []string{"verifyheap"}
	for i := range s.Faults[:min(len(s.Faults), mostClauses)] {
		fault := &s.Faults[i]
		x.Because(words.Text(fault.Reason))
		x.Show = append(x.Show, fmt.Sprintf("listnearobj %x", uint64(fault.Object)))
	}
	if s.Incomplete {
		x = words.LowerOne(x, answer.Premises{answer.NoGap: answer.PremiseDoubtful}.State) // an object behind a gap may be none
	}
	f := finding(answer.FindingHeap, x)
	if q.overwritten != nil {
		first := []string{}
		for _, c := range q.overwritten(ctx, s.Faults) {
			if first = append(first, c.Show...); !q.saidOfCrash(&c) {
				f.Clauses = append(f.Clauses, c)
			}
		}
		f.Next = append(first, f.Next...)
	}
	v.found = append(v.found, f)
	return v, ctx.Err()
}

// saidOfCrash reports whether the finding of the crash has a conclusion.
func (q *Answers) saidOfCrash(c *answer.Verdict) bool {
	died, err := q.Crash.get()
	return err == nil && !died.Alive && slices.ContainsFunc(died.Verdicts, func(v answer.Verdict) bool { return v.Text == c.Text })
}

// muchHandles is how many GC handles of one type to objects of one type are a finding. Healthy processes have fewer
// than 2,000 of all types together. A ConditionalWeakTable has a Dependent handle for each key.
const muchHandles = 10_000

// handles checks for GC handles that are created and not freed.
func handles(ctx context.Context, q *Answers) (view, error) {
	list, err := q.Handles.get()
	if err != nil {
		return view{}, err
	}
	type alike struct {
		handle string
		mt     target.Addr
	}
	v := view{partly: firstOf(list.Noted(), nil)} // later gaps are only names and sizes
	if list.Handles == nil {
		v.found = q.deadReferences()
		return v, nil
	}
	counts, places, objectsOf := map[alike]*answer.TypeCount{}, map[alike][]target.Range{}, map[alike]map[target.Addr]bool{}
	for h, err := range list.Handles {
		if err != nil {
			v.miss(err)
			continue
		}
		k := alike{h.Type, h.MethodTable}
		c := counts[k]
		if c == nil {
			c = &answer.TypeCount{MethodTable: h.MethodTable, Type: h.ObjectType}
			counts[k], objectsOf[k] = c, map[target.Addr]bool{}
		}
		c.Count++
		if handleEffects[h.Type] == words.HandlesWatch {
			objectsOf[k][h.Object] = true
		}
		c.Size += h.Size
		places[k] = append(places[k], target.RangeAt(h.Address, handleBytes))
	}
	for k, c := range counts {
		if c.Count < muchHandles {
			continue
		}
		var fields []memorymap.PointerField
		if q.fieldsTo != nil {
			fields = q.handleFields(ctx, places[k])
		}
		if isWeakCache(k.handle, c.Count, len(objectsOf[k]), fields) {
			continue
		}
		objects := words.ObjectsOfType.Of(words.Type(c.Type.String()))
		if k.mt == 0 {
			objects = words.UntypedObjects.Of()
		}
		effect := answer.Statement{}
		if does := handleEffects[k.handle]; does != nil {
			effect = does.Of()
		}
		x := answer.Conclude(answer.FindingHandles, words.ManyHandles.Of(words.Commas(c.Count), words.Text(k.handle), objects, effect), answer.StrengthRecorded,
			words.HandleTable.Of(words.Bytes(c.Size)))
		x.Count, x.Show, x.Sites = int(c.Count), []string{"gchandles -type " + k.handle}, []answer.Site{{Method: c.Type, Does: k.handle}}
		clauses := []answer.Verdict{x}
		if s := handleHolder(q, k.handle, k.mt); s != nil {
			clauses = append(clauses, answer.Conclude(answer.NoFinding, words.Holders.Of(objects, words.Bytes(s.Retained), words.Percent(s.Share), answer.Statement{},
				answer.Statement{}, keptBy(s, "")), answer.StrengthProved, words.AllReferences.Of()))
		}
		clauses = append(clauses, fieldClauses(fields, len(places[k]))...)
		f := finding(answer.FindingHandles, clauses...)
		f.Next = append(slices.Clone(x.Show), f.Next...)
		v.found = append(v.found, f)
	}
	v.found = append(v.found, q.deadReferences()...)
	slices.SortStableFunc(v.found, func(a, b answer.Finding) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text))
	})
	return v, ctx.Err()
}

// attachedBy joins the finding of a ConditionalWeakTable's handles with the finding of the holder of its keys: the handles are how the table attaches the
// memory that the holder keeps.
func (q *Answers) attachedBy(list []answer.Finding) []answer.Finding {
	if !q.Leaks.read {
		return list
	}
	l, err := q.Leaks.get()
	if err != nil {
		return list
	}
	holder := func(keys string) int {
		for i := range l.Suspects {
			s := &l.Suspects[i]
			if s.Weak != answer.LinkAttached || s.Members == nil || s.Members.Type.S != keys || s.Point == nil {
				continue
			}
			if at := slices.IndexFunc(list, func(f answer.Finding) bool { return f.Kind == answer.FindingHolder && f.Object == s.Point.Address }); at >= 0 {
				return at
			}
		}
		return -1
	}
	for i := range list {
		f := &list[i]
		if f.Kind != answer.FindingHandles || len(f.Clauses) == 0 || len(f.Clauses[0].Sites) != 1 || f.Clauses[0].Sites[0].Does != dependentHandle {
			continue
		}
		if at := holder(f.Clauses[0].Sites[0].Method.S); at >= 0 {
			clause := f.Clauses[0]
			clause.Kind = answer.NoFinding
			list[at].Clauses, list[at].Next = append(list[at].Clauses, clause), append(list[at].Next, clause.Show...)
			f.Clauses = nil
		}
	}
	return slices.DeleteFunc(list, func(f answer.Finding) bool { return f.Kind == answer.FindingHandles && f.Clauses == nil })
}

// dependentHandle is the type of the handles of a ConditionalWeakTable.
const dependentHandle = "Dependent"

// deadReferences describes collections of weak references that lead to nothing any more. A list of the handles does not have theirs: they refer to no
// object.
func (q *Answers) deadReferences() (out []answer.Finding) {
	if !q.Leaks.read {
		return nil
	}
	l, err := q.Leaks.get()
	if err != nil {
		return nil
	}
	for i := range l.Suspects {
		s := &l.Suspects[i]
		if !manyDead(s) {
			continue
		}
		id, root := signature.Suspect(s)
		name := holderName([]*answer.Suspect{s})
		x := answer.Conclude(answer.FindingHandles, words.WeakHandles.Of(words.Commas(s.Dead), name, keptBy(s, root)), answer.StrengthProved, words.AllReferences.Of())
		x.Count, x.Show = int(s.Dead), []string{"leaks", fmt.Sprintf("gcroot %x", uint64(cmp.Or(s.Owner, s.Point).Address))}
		clauses := []answer.Verdict{x}
		if s.Verdict == answer.VerdictSuspect {
			clauses = append(clauses, answer.Conclude(answer.NoFinding, words.Holder.Of(name, words.Bytes(s.Retained), words.Percent(s.Share), mostOf([]*answer.Suspect{s}),
				answer.Statement{}, answer.Statement{}), answer.StrengthProved, words.AllReferences.Of()))
		}
		f := finding(answer.FindingHandles, clauses...)
		f.Identity, f.Object, f.Next = id, s.Point.Address, slices.Clone(x.Show)
		out = append(out, f)
	}
	return out
}

// handleBytes is the size of a handle. In the lowest bit of its address a GCHandle records that it pins.
const handleBytes = 8

// handleFields returns the fields of objects with the handles at places.
func (q *Answers) handleFields(ctx context.Context, places []target.Range) []memorymap.PointerField {
	slices.SortFunc(places, func(a, b target.Range) int { return cmp.Compare(a.Start, b.Start) })
	fields, _ := q.fieldsTo(ctx, places) // the handles stand without them
	return fields
}

// isWeakCache reports whether WeakReferences, which free their handles when the program drops them, have all but few of n handles, and most lead to
// objects of their own, as in a weak cache. Many references to one object are different: something adds them again and again.
func isWeakCache(handle string, n uint64, objects int, fields []memorymap.PointerField) bool {
	if handleEffects[handle] != words.HandlesWatch || uint64(2*objects) < n {
		return false
	}
	of := uint64(0)
	for i := range fields {
		if f := &fields[i]; f.Arrays == 0 && strings.HasPrefix(f.Name, "System.WeakReference") {
			of += f.Count
		}
	}
	return of <= n && n-of < muchHandles
}

// fieldClauses names the fields of objects with most of n handles.
func fieldClauses(fields []memorymap.PointerField, n int) (out []answer.Verdict) {
	for i := range fields {
		if f := &fields[i]; f.Count >= uint64(n/leastField) {
			says := words.HandlesOf.Of(words.Commas(f.Count), words.Field(f.Name))
			if f.Arrays > 0 {
				says = words.HandlesOfArrays.Of(words.Commas(f.Count), words.Commas(f.Arrays), words.Type(f.Name), arrayIn(f))
			}
			x := answer.Conclude(answer.NoFinding, says, answer.StrengthRecorded)
			x.Show = []string{fmt.Sprintf("gcroot %x", uint64(f.Example))}
			out = append(out, x)
		}
	}
	return out
}

// handleHolder returns the suspect that consists of the objects of one type of handles, if it has no finding of its own.
func handleHolder(q *Answers, handle string, mt target.Addr) *answer.Suspect {
	if !q.Leaks.read {
		return nil
	}
	l, err := q.Leaks.get()
	if err != nil {
		return nil
	}
	for i := range l.Suspects {
		if s := &l.Suspects[i]; handleAlone(s) && s.Holders[0].Handle == handle && s.Members.MethodTable == mt {
			return s
		}
	}
	return nil
}

// handleEffects describes the effect of many handles, by type.
var handleEffects = map[string]*words.Sentence{
	"Strong":        words.HandlesKeep,
	"Pinned":        words.HandlesPin,
	dependentHandle: words.HandlesDepend,
	"WeakShort":     words.HandlesWatch,
	"WeakLong":      words.HandlesWatch,
}
