package ilflow

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/metadata"
)

// PausesIn returns how often the loop of il from one offset to another turns at most, if it does nothing in a turn that ends by itself but pause for one constant time,
// as for (i = 0; i < 20; i++) { …; await Task.Delay(25); } does: the only jump back depends on a variable that each turn raises right before, and on a constant.
// awaits are the offsets of the awaits of an async method. member names methods by their tokens.
func PausesIn(il []byte, start, end int, awaits []int, member func(metadata.Token) string) (turns int64, ok bool) {
	code, err := withoutNops(il)
	if err != nil {
		return 0, false
	}
	from := slices.IndexFunc(code, func(in metadata.Instruction) bool { return in.Offset >= start })
	back := slices.IndexFunc(code, func(in metadata.Instruction) bool { return in.Offset+in.Size == end })
	if from < 0 || back < from || !onePause(code[from:back+1], member) {
		return 0, false
	}
	waits := 0
	for _, at := range awaits {
		if at >= start && at < end {
			waits++
		}
	}
	if waits > 1 {
		return 0, false
	}
	return turnsOf(code, from, back)
}

// onePause reports whether code has one call that pauses, for a constant time.
func onePause(code []metadata.Instruction, member func(metadata.Token) string) bool {
	found := false
	for i := range code {
		if !isCall(&code[i]) {
			continue
		}
		switch member(code[i].Token()) {
		case "PeriodicTimer.WaitForNextTickAsync": // its period is the timer's
			if found {
				return false
			}
			found = true
			continue
		case "Task.Delay", "Thread.Sleep":
		default:
			continue
		}
		at := i - 1
		for at > i-4 && at >= 0 && strings.HasPrefix(code[at].Opcode.String(), "ld") && !strings.HasPrefix(code[at].Opcode.String(), "ldc.") {
			at-- // a token
		}
		if found || at < 0 {
			return false
		}
		ms, constant := Constant(&code[at])
		if found = constant && ms >= 0; !found {
			return false
		}
	}
	return found
}

// turnsOf returns how often the loop from one index of code to another turns at most. Its variable may be a field of the method's own state machine.
func turnsOf(code []metadata.Instruction, from, back int) (turns int64, ok bool) {
	test, up, ok := goesBack(code, back)
	if !ok || !up || test-2 < from {
		return 0, false
	}
	limit, constant := Constant(&code[test-1])
	count, first, ok := keptAt(code, test-2)
	if !constant || !ok {
		return 0, false
	}
	by, begins, ok := count.raised(code, first-1)
	if !ok || begins < from {
		return 0, false
	}
	for i := range code {
		inside := i >= from && i <= back
		if inside && isBranch(&code[i]) && (code[i].Target() == code[from].Offset && i != back || code[i].Target() > code[begins].Offset && code[i].Target() <= code[back].Offset) ||
			inside && code[i].Opcode.String() == "switch" {
			return 0, false // a turn without a step
		}
		verb, is := count.accessedBy(code, i)
		switch {
		case !is || verb == "ld" || i == first-1:
		case verb == "lda" || inside:
			return 0, false
		default:
			start, constant := Constant(&code[max(i-1, 0)])
			if !constant {
				return 0, false
			}
			turns = max(turns, (limit-start+by-1)/by)
		}
	}
	return turns, turns > 0
}

// keptAt returns the variable that the instruction at index i loads, and the index where the load begins.
func keptAt(code []metadata.Instruction, i int) (k Kept, first int, ok bool) {
	if v, verb, is := accessed(&code[i]); is {
		return Kept{Local: v}, i, verb == "ld"
	}
	if code[i].Opcode.String() != "ldfld" || i == 0 || code[i-1].Opcode.String() != "ldarg.0" {
		return k, 0, false
	}
	return Kept{Field: code[i].Token()}, i - 1, true
}

// accessedBy reports whether the instruction at index i loads the variable, stores to it or takes its address.
func (k Kept) accessedBy(code []metadata.Instruction, i int) (verb string, ok bool) {
	if k.Field == 0 {
		v, verb, ok := accessed(&code[i])
		return verb, ok && v == k.Local
	}
	switch code[i].Opcode.String() {
	case "ldfld":
		verb = "ld"
	case "ldflda":
		verb = "lda"
	case "stfld":
		verb = "st"
	}
	return verb, verb != "" && code[i].Token() == k.Field
}

// raised returns the constant by which the instructions up to index i raise the variable, and the index where they begin.
func (k Kept) raised(code []metadata.Instruction, i int) (by int64, begins int, ok bool) {
	if verb, is := k.accessedBy(code, max(i, 0)); !is || verb != "st" || i < 5 || code[i-1].Opcode.String() != "add" {
		return 0, 0, false
	}
	by, constant := Constant(&code[i-2])
	if !constant || by <= 0 {
		return 0, 0, false
	}
	at := i - 3 // what loads the variable
	if k.loaded(code, at) {
		if begins = at; k.Field != 0 {
			begins = at - 2 // the state machine, to store and to load
		}
		return by, begins, true
	}
	v, verb, is := accessed(&code[at]) // a copy
	if !is || verb != "ld" || k.Field == 0 || at < 4 || code[at-1].Opcode.String() != "ldarg.0" {
		return 0, 0, false
	}
	to, verb, is := accessed(&code[at-2])
	return by, at - 4, is && verb == "st" && to == v && k.loaded(code, at-3)
}

// Finds reports whether code that has just awaited, by the call at an offset, may come to one of the calls at the offsets release without another await, where it finds what
// code behind such an await has stored: on that way it reads a field to which code off it stores, as a lock around what one renews for all does.
func (g *Flow) Finds(result int, release []int, member func(metadata.Token) string) bool {
	quick, leaves := map[int]bool{}, false
	for todo := []int{result}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		i, ok := g.at[at]
		if !ok || quick[at] || at != result && g.awaits(i, member) {
			continue
		}
		quick[at] = true
		leaves = leaves || slices.Contains(release, at) || g.leavesBy(i, release)
		todo = append(todo, g.next(i)...)
	}
	if !leaves {
		return false
	}
	read, stored := map[string]bool{}, map[string]bool{}
	for i := range g.code {
		switch at := g.code[i].Offset; {
		case quick[at]:
			if name, stores := g.field(i, member); name != "" && !stores {
				read[name] = true
			}
		case at > result:
			if name, stores := g.field(i, member); name != "" && stores {
				stored[name] = true
			}
		}
	}
	for name := range read {
		if stored[name] {
			return true
		}
	}
	return false
}

// awaits reports whether the instruction at index i begins or ends an await: code that goes on there may have come from another one.
func (g *Flow) awaits(i int, member func(metadata.Token) string) bool {
	if !isCall(&g.code[i]) {
		return false
	}
	name := member(g.code[i].Token())
	return strings.HasSuffix(name, ".get_IsCompleted") || strings.HasSuffix(name, ".GetResult")
}

// leavesBy reports whether the instruction at index i leaves a block with a finally block that makes one of the calls at the offsets release.
func (g *Flow) leavesBy(i int, release []int) bool {
	in := &g.code[i]
	if !strings.HasPrefix(in.Opcode.String(), "leave") {
		return false
	}
	return slices.ContainsFunc(g.clauses, func(c metadata.Clause) bool {
		start, handler := int(c.TryOffset), int(c.HandlerOffset)
		end := start + int(c.TryLength)
		return c.Kind == metadata.ClauseFinally && in.Offset >= start && in.Offset < end && (in.Target() < start || in.Target() >= end) &&
			slices.ContainsFunc(release, func(r int) bool { return r >= handler && r < handler+int(c.HandlerLength) })
	})
}

// field returns the field or property that the instruction at index i reads or stores, or "". It leaves out reads of the method's own state machine.
func (g *Flow) field(i int, member func(metadata.Token) string) (name string, stores bool) {
	in := &g.code[i]
	switch op := in.Opcode.String(); op {
	case "stfld", "stsfld":
		return member(in.Token()), true
	case "ldfld", "ldsfld":
		if op == "ldfld" && i > 0 && g.code[i-1].Opcode.String() == "ldarg.0" {
			return "", false
		}
		return member(in.Token()), false
	case "ldflda", "ldsflda": // for Volatile or Interlocked
		for k := i + 1; k < len(g.code) && k < i+8; k++ {
			if !isCall(&g.code[k]) {
				continue
			}
			switch called := member(g.code[k].Token()); {
			case called == "Volatile.Read":
				return member(in.Token()), false
			case called == "Volatile.Write", strings.HasPrefix(called, "Interlocked."):
				return member(in.Token()), true
			}
		}
	case "call", "callvirt":
		class, method, _ := strings.Cut(member(in.Token()), ".")
		if property, is := strings.CutPrefix(method, "get_"); is {
			return class + "." + property, false
		}
		if property, is := strings.CutPrefix(method, "set_"); is {
			return class + "." + property, true
		}
	}
	return "", false
}
