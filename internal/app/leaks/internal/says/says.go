// Package says states what package leaks found: what the heap and its suspects are, and what would free them.
package says

import (
	"maps"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/words"
)

// Judge returns what the sizes of the heap and of its suspects mean, and what may be missing.
func Judge(l *answer.Leaks) []answer.Verdict {
	var out []answer.Verdict
	say := func(says answer.Statement, strength answer.Strength) {
		out = append(out, answer.Conclude(answer.NoFinding, says, strength))
	}
	if l.Incomplete {
		say(words.LeakMayHide.Of(), answer.StrengthPossible)
	}
	if l.Unproved > 0 {
		say(words.RootsUnproved.Of(words.N(l.Unproved)), answer.StrengthRecorded)
	}
	if l.Nameless > 0 {
		say(words.TypesNameless.Of(words.N(l.Nameless)), answer.StrengthRecorded)
	}
	t := &l.Thresholds
	switch {
	case l.Small && l.Garbage.Size >= t.Small:
		say(words.LittleLives.Of(words.Bytes(l.Garbage.Size)), answer.StrengthProved)
	case l.Small && l.Incomplete:
		say(words.LittleRead.Of(words.Bytes(t.Small)), answer.StrengthProved)
	case l.Small:
		say(words.HeapSmall.Of(words.Bytes(t.Small)), answer.StrengthProved)
	case len(l.Suspects) > 0 && l.Suspects[0].Verdict == answer.VerdictSuspect:
		say(words.NoProofOfLeak.Of(words.Percent(t.Share)), answer.StrengthProved)
	}
	if len(l.Suspects) == 0 {
		say(words.NoHolder.Of(words.Percent(t.Least), words.Bytes(t.Bytes)), answer.StrengthProved)
	}
	return out
}

// Title states what a suspect is.
func Title(s *answer.Suspect) answer.Statement {
	n := elementsOf(s)
	switch s.Kind {
	case answer.SuspectAccumulation:
		members := func(sentence *words.Sentence, owner *answer.PathObject) answer.Statement {
			return sentence.Of(words.Commas(s.Members.Count), words.Type(s.Members.Type.String()), typeOf(owner))
		}
		switch {
		case s.Elements.Err() == nil:
			return words.ElementsInOne.Of(n, typeOf(collection(s)))
		case s.Owner != nil:
			return members(words.MembersInOne, s.Owner)
		}
		return members(words.MembersOfOne, s.Point)
	case answer.SuspectGroup:
		return words.MembersOfNone.Of(words.Commas(s.Members.Count), words.Type(s.Members.Type.String()))
	case answer.SuspectEvent:
		switch {
		case s.Name.IsZero():
			return words.OneHandlers.Of(n, typeOf(s.Point))
		case s.Owner != nil:
			if s.Delegate {
				return words.DelegateHandlers.Of(n, words.Field(s.Name.String()), typeOf(s.Owner))
			}
			return words.EventHandlers.Of(n, words.Field(s.Name.String()), typeOf(s.Owner))
		case s.Delegate:
			return words.StaticCalls.Of(n, words.Field(s.Name.String()))
		}
		return words.StaticHandlers.Of(n, words.Field(s.Name.String()))
	case answer.SuspectTimers:
		if !s.Awaits.IsZero() {
			return words.DelaysAwaited.Of(n, words.Method(s.Awaits.String()))
		}
		return words.TimersCall.Of(n, words.Method(s.Name.String()))
	case answer.SuspectCalls:
		return words.CallsOf.Of(n, words.Method(s.Name.String()))
	case answer.SuspectCancellation:
		return words.RegisteredWith.Of(n, typeOf(s.Point))
	case answer.SuspectRootScope:
		return words.RootScopeKeeps.Of(n)
	case answer.SuspectThreadStatic:
		return words.InThreads.Of(words.Field(s.Name.String()), words.N(s.Roots))
	case answer.SuspectThreadLocal:
		return words.InLocal.Of(words.Field(s.Name.String()), words.N(s.Roots), ended(s))
	case answer.SuspectInterned:
		return words.InternedInAll.Of(words.Commas(s.Members.Count), words.N(s.Roots))
	case answer.SuspectWeak:
		if s.AtLeast && s.Elements.Err() == nil { // how many of the others are dead is not known
			return words.WeakDeadOfRead.Of(words.Commas(s.Dead), words.Commas(s.Elements.Value), typeOf(collection(s)))
		}
		return words.WeakDead.Of(words.Commas(s.Dead), n, typeOf(collection(s)))
	}
	if !s.Link.IsZero() && s.Members != nil {
		return Linked(s)
	}
	if s.Elements.Err() == nil {
		return words.OneWithElements.Of(typeOf(collection(s)), words.Commas(s.Elements.Value))
	}
	return words.OneObject.Of(typeOf(s.Point))
}

// elementsOf returns the number of a suspect's elements, as far as it is known.
func elementsOf(s *answer.Suspect) answer.Statement {
	switch {
	case s.Elements.Err() != nil:
		return words.ManyElements.Of()
	case s.AtLeast:
		return words.LeastElements.Of(words.Commas(s.Elements.Value))
	}
	return words.Commas(s.Elements.Value)
}

// collection returns the object that has the elements.
func collection(s *answer.Suspect) *answer.PathObject {
	if s.Owner != nil {
		return s.Owner
	}
	return s.Point
}

func typeOf(o *answer.PathObject) answer.Statement { return words.Type(o.Type.String()) }

// remedies state why suspects of a kind are not collected, and what would free them.
var remedies = map[answer.SuspectKind]*words.Sentence{
	answer.SuspectEvent:        words.FreedEvent,
	answer.SuspectTimers:       words.FreedTimer,
	answer.SuspectCalls:        words.FreedCalls,
	answer.SuspectCancellation: words.FreedCallback,
	answer.SuspectRootScope:    words.FreedScope,
	answer.SuspectWeak:         words.FreedWeak,
	answer.SuspectThreadStatic: words.FreedThread,
	answer.SuspectThreadLocal:  words.FreedLocal,
	answer.SuspectInterned:     words.FreedInterned,
}

// Remedy states why a suspect is not collected, and what would free it. It returns the zero Statement if that is
// unknown.
func Remedy(s *answer.Suspect) answer.Statement {
	switch says := remedies[s.Kind]; {
	case !s.Awaits.IsZero():
		return words.FreedDelay.Of()
	case s.Delegate:
		return words.FreedDelegate.Of()
	case says != nil:
		return says.Of()
	case s.Weak == answer.LinkCached:
		return words.FreedCached.Of()
	case s.Weak == answer.LinkAttached:
		return words.FreedAttached.Of()
	case s.Weak != "" || s.Path == nil || s.Kind == answer.SuspectGroup:
		return answer.Statement{}
	case s.Literals:
		return words.FreedLiterals.Of()
	case s.Kept.Says == words.KeptByTimer.Kind():
		return words.FreedTimer.Of()
	case s.Kept.Says == words.KeptByCall.Kind():
		return words.FreedCalls.Of()
	case s.Kept.Says == words.KeptByService.Kind():
		return words.FreedService.Of()
	case s.Kept.Says == words.KeptAndSlots.Kind():
		return rootRemedy(&s.Path.Root)
	case !s.Kept.IsZero():
		return words.FreedWays.Of()
	}
	return rootRemedy(&s.Path.Root)
}

// rootRemedy states how long a root keeps what it leads to.
func rootRemedy(r *answer.GCRoot) answer.Statement {
	switch r.Kind {
	case answer.RootStatic:
		return words.FreedStatic.Of()
	case answer.RootThreadStatic:
		return words.FreedThread.Of()
	case answer.RootStack:
		return words.FreedStack.Of()
	case answer.RootFinalizer:
		return words.FreedFinalizer.Of()
	case answer.RootHandle:
		if r.Handle == "Strong" || r.Handle == "Pinned" {
			return words.FreedHandle.Of()
		}
	}
	return answer.Statement{}
}

// EachRemedy states how long a root keeps each of many objects.
func EachRemedy(h *answer.GroupHolder) answer.Statement {
	switch {
	case h.Handle == "Strong" || h.Handle == "Pinned":
		return words.FreedHandles.Of()
	case h.Kind == "finalizer queue":
		return words.FreedFinalizers.Of()
	case h.Kind == "frame":
		return words.FreedStacks.Of()
	}
	return answer.Statement{}
}

// InThreads states in how many threads a field keeps a suspect alive.
func InThreads(s *answer.Suspect) answer.Statement {
	return words.KeptInThreads.Of(words.Field(s.Name.String()), words.N(s.Roots))
}

// InWays states that several roots keep a suspect alive, given the names of the first ones.
func InWays(names []string, ways int, more bool) answer.Statement {
	roots := list(names)
	switch {
	case more:
		return words.KeptInLeast.Of(words.N(ways), roots)
	case len(names) < ways:
		return words.KeptInMany.Of(words.N(ways), roots)
	}
	return words.KeptInWays.Of(words.N(ways), roots)
}

// list lists names.
func list(names []string) answer.Statement {
	var all []answer.Statement
	for _, name := range names {
		all = append(all, words.Text(name))
	}
	return words.Join(", ", all...)
}

// most is the percentage of a group's members that counts as most of them.
const most = 80

// Besides describes what else refers to a suspect and is no owner that could release it.
type Besides uint8

// What else refers to a suspect.
const (
	BesidesNone  Besides = iota
	BesidesSlots         // slots of ThreadLocals
	BesidesWaits         // operations that wait
)

// And states that a root and something that names no owner keep a suspect alive.
func And(root string, besides Besides) answer.Statement {
	if besides == BesidesSlots {
		return words.KeptAndSlots.Of(words.Text(root))
	}
	return words.KeptAndWaits.Of(words.Text(root))
}

// OneOf names one of several ways in which a suspect is kept alive.
func OneOf(root string) answer.Statement { return words.KeptOneWay.Of(words.Text(root)) }

// Attached states that a ConditionalWeakTable keeps a suspect alive as long as root keeps another object. table names it, if known.
func Attached(root string, table answer.Statement) answer.Statement {
	return words.KeptAttached.Of(words.Text(root), table)
}

// Table names a ConditionalWeakTable by the field that refers to it.
func Table(field string) answer.Statement { return words.TableField.Of(words.Text(field)) }

// Linked names the objects of a chain.
func Linked(s *answer.Suspect) answer.Statement {
	return words.LinkedMembers.Of(words.Commas(s.Members.Count), words.Type(s.Members.Type.String()), words.LinkedBy.Of(words.Field(s.Link.String())))
}

// InLocal states that a ThreadLocal keeps its values.
func InLocal(s *answer.Suspect) answer.Statement {
	return words.KeptInLocal.Of(words.Field(s.Name.String()), words.N(s.Roots), ended(s))
}

// ended states how many values of a ThreadLocal are of threads that have ended.
func ended(s *answer.Suspect) answer.Statement {
	if s.Dead == 0 {
		return answer.Statement{}
	}
	return words.ThreadsEnded.Of(words.Commas(s.Dead))
}

// OneHashCode states how many keys of a collection have one hash code. read of them all were read.
func OneHashCode(keys, read, all uint64, key string) answer.Statement {
	least, typ := answer.Statement{}, answer.Statement{}
	if read < all {
		least = words.AtLeast.Of()
	}
	if key != "" {
		typ = words.KeyType.Of(words.Type(key))
	}
	return words.OneHashCode.Of(least, words.Commas(keys), words.Commas(all), typ)
}

// Service names a service of a service provider by its type.
func Service(typ string) string { return "service " + typ }

// Call names a call of an async method.
func Call(method string) string { return "a call of " + method }

// ByCall states that a call of an async method keeps a suspect alive.
func ByCall(method string) answer.Statement { return words.KeptByCall.Of(words.Method(method)) }

// InFlight states that many calls are what retains a suspect, each until it ends.
func InFlight(calls uint64) answer.Statement { return words.CallsInFlight.Of(words.Commas(calls)) }

// Ends states that a suspect lives no longer than calls that are under way.
func Ends(method string) answer.Statement { return words.EndsWithCall.Of(words.Method(method)) }

// ByService states that a service of a service provider keeps a suspect alive.
func ByService(typ string) answer.Statement { return words.KeptByService.Of(words.Type(typ)) }

// ByTimer states that a timer keeps a suspect alive, by way of an AsyncLocal if local names one.
func ByTimer(method, local string) answer.Statement {
	through := answer.Statement{}
	if local != "" {
		through = words.ThroughLocal.Of(words.Field(local))
	}
	return words.KeptByTimer.Of(words.Method(method), through)
}

// Each states what keeps members of a group alive, given how many of those that were followed each root keeps.
func Each(counts map[string]int, followed int) answer.Statement {
	var all []string
	often, times := "", 0
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if counts[name] == followed {
			all = append(all, name)
		}
		if counts[name] > times {
			often, times = name, counts[name]
		}
	}
	switch {
	case times == 0:
		return answer.Statement{}
	case len(all) == 1 && len(counts) == 1:
		return words.KeptEach.Of(words.N(followed), words.Text(all[0]))
	case len(all) > 0:
		return words.KeptEachWays.Of(words.N(followed), list(all))
	}
	return words.KeptSome.Of(words.N(times), words.N(followed), words.Text(often))
}

// Changed states how often a collection with few elements was changed.
func Changed(changes, elements uint64) answer.Statement {
	return words.OftenChanged.Of(words.N(changes), words.N(elements))
}

// Full states that a collection has as many elements as a read-only field says, and was changed more often.
func Full(elements uint64, field string, changes uint64) answer.Statement {
	return words.AtCapacity.Of(words.N(elements), words.Field(field), words.N(changes))
}

// FullByCode states that a collection has as many elements as a number in the code of a method that removes some.
func FullByCode(elements uint64, method string) answer.Statement {
	return words.AtConstant.Of(words.N(elements), words.Method(method))
}

// FullByField states that a collection has as many elements as a field says that a method reads which removes some.
func FullByField(elements uint64, field, method string) answer.Statement {
	return words.AtBound.Of(words.N(elements), words.Field(field), words.Method(method))
}

// NeighbourChanged states how often a queue beside a collection, with as many elements, was changed.
func NeighbourChanged(queue string, changes, elements uint64) answer.Statement {
	return words.QueueBeside.Of(words.Type(queue), words.N(changes), words.N(elements))
}

// SetOnce states that an array has all its elements, and that nothing replaces it.
func SetOnce(elements uint64, field string) answer.Statement {
	return words.SetOnce.Of(words.Commas(elements), words.Field(compilernames.Pretty(field)))
}

// Pooled states that arrays are those that ArrayPool<T>.Shared keeps for threads.
func Pooled() answer.Statement { return words.PooledArrays.Of() }

// Limited states the limit of a MemoryCache, and the sum of the sizes of its entries.
func Limited(sum, limit uint64) answer.Statement {
	return words.WithinLimit.Of(words.N(sum), words.N(limit))
}

// Younger states how many elements were put into nodes that are older.
func Younger(younger, elements uint64) answer.Statement {
	return words.YoungElements.Of(words.N(younger), words.N(elements))
}

// ByHolders states what keeps the members of a group alive. No member has a single owner, except for a handle. Objects that together refer to
// most members, such as the nodes of a list, count with the root of one of them. What running methods use at the moment is named last.
func ByHolders(holders []answer.GroupHolder, others []answer.GroupReferrers) answer.Statement {
	var names, stacks []string
	add := func(p *answer.RootPath) {
		to := &names
		if p.Root.Kind == answer.RootStack {
			to = &stacks
		}
		if name := p.Root.Words(); !slices.Contains(*to, name) {
			*to = append(*to, name)
		}
	}
	for i := range holders {
		switch h := &holders[i]; {
		case h.Handle != "" && h.Share == 100 && len(holders) == 1:
			return words.KeptByHandles.Of(words.Text(h.Handle))
		case h.Path != nil:
			add(h.Path)
		case h.Root.Err == nil && h.Root.S != "":
			names = append(names, h.Root.S)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	all := len(names) + len(stacks)
	for i := range others {
		if o := &others[i]; all > 0 && o.Share >= most && o.Path != nil && !o.Path.Root.Conservative {
			add(o.Path)
		}
	}
	names = append(names, slices.Sorted(slices.Values(stacks))...)
	switch {
	case all == 0:
		return answer.Statement{}
	case len(names) == 1:
		return words.KeptOneWay.Of(words.Text(names[0]))
	case len(names) > all:
		return words.KeptAmong.Of(list(names))
	}
	return InWays(names, len(names), false)
}
