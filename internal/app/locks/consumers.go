package locks

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A turn says whether code that waits for a promise does so again and again, as what consumes items or signals does.
type turn uint8

const (
	noTurn   turn = iota // nothing repeats the wait
	someTurn             // a loop without an end of its own repeats it, or the code can't be read
	eachTurn             // each turn of the loop begins with it, and nothing is known that there would be to do
)

// reason returns why the wait is normal, or "".
func (t turn) reason() string {
	if t == eachTurn {
		return "waits in a loop for the next item or signal (TaskCompletionSource)"
	}
	return ""
}

// inTurn returns the severity of waits: of those that are repeated nobody is known to suffer.
func inTurn(groups ...*waiters) answer.Severity {
	for _, w := range groups {
		if slices.ContainsFunc(w.ops, func(op *operation) bool { return op.turn == noTurn }) {
			return ""
		}
	}
	return answer.SeverityWarning
}

// consumers finds the operations that wait in loops for promises.
func (s *survey) consumers() {
	loops, work := map[*tasks.AwaitPoint]awaitLoop{}, map[target.Addr]bool{}
	for _, op := range s.ops {
		if !op.own || op.request != "" || op.forgotten || op.thing.cause != tasks.CausePromise {
			continue
		}
		if op.turn = s.turnOf(op, loops); op.turn != eachTurn {
			continue
		}
		at := op.thing.addr // the collection with the promise
		if at == 0 {
			at = op.thing.source
		}
		has, known := work[at]
		if !known {
			has = s.hasWork(at, op.thing.addr != 0)
			work[at] = has
		}
		if has {
			op.turn = someTurn
		}
	}
}

// turnOf looks at the methods on the way to the outermost one for a loop around the wait.
func (s *survey) turnOf(op *operation, loops map[*tasks.AwaitPoint]awaitLoop) turn {
	var list []*tasks.AwaitPoint
	for _, a := range op.path {
		p, err := s.found.tasks.AwaitOf(a)
		if err != nil {
			return someTurn
		}
		if p != nil && !answer.LibraryMethod(p.Method) {
			list = append(list, p)
		}
	}
	if n := len(list); n > 1 && isEntryPoint(list[n-1].Method) {
		list = list[:n-1] // it waits until all of the program ends
	}
	out := noTurn
	for i, p := range list {
		l, known := loops[p]
		if !known {
			l = loopOf(p)
			loops[p] = l
		}
		if l.around {
			out = someTurn
		}
		if l.first && (l.endless || i+1 == len(list)) {
			return eachTurn
		}
		if slices.ContainsFunc(p.Awaits, func(other int) bool { return other < p.At }) {
			return s.anyLoop(out, list[i+1:])
		}
	}
	return out
}

// anyLoop returns whether one of the methods waits in a loop, if out does not say so.
func (s *survey) anyLoop(out turn, list []*tasks.AwaitPoint) turn {
	if slices.ContainsFunc(list, func(p *tasks.AwaitPoint) bool { return loopOf(p).around }) {
		return someTurn
	}
	return out
}

// hasWork reports whether the object with a queue of promises, or with one promise, has a collection with elements, too: they may be what is waited for.
// It may also have one if a static field holds a queue.
func (s *survey) hasWork(a target.Addr, queue bool) bool {
	holder := s.inside[a]
	if holder == 0 {
		return queue
	}
	o, err := s.r.b.Objects().TrustedObject(holder)
	if err != nil {
		return true
	}
	list := objects.NewCollections(s.r.b)
	for _, v := range o.Fields() {
		if v.Kind() != objects.KindReference || v.IsNull() {
			continue
		}
		item, err := v.Object()
		if err != nil {
			return true
		}
		if n, ok, err := list.CountOf(item); item.Addr != a && (err != nil || ok && n > 0) {
			return true
		}
	}
	return false
}

// An awaitLoop is the loop around an await that says most.
type awaitLoop struct {
	around  bool // there is a loop, and it neither counts nor takes one element after the other
	first   bool // no other await comes before this one in a turn
	endless bool // only exceptions and cancellation end the loop
}

// loopOf finds the loop around an await. There may be one if the code can't be read.
func loopOf(p *tasks.AwaitPoint) awaitLoop {
	g, err := readFlow(&metadata.MethodBody{Code: p.Code})
	if err != nil {
		return awaitLoop{around: true}
	}
	loops, err := loopsAround(p.Code, p.At)
	if err != nil {
		return awaitLoop{around: true}
	}
	best := awaitLoop{}
	for start, end := range loops {
		c := cycle{g, start, end, p.Member}
		if c.counts() {
			continue
		}
		l := awaitLoop{around: true, first: c.first(p), endless: c.endless()}
		if !best.around || l.first && (!best.first || l.endless) {
			best = l
		}
	}
	return best
}

// A cycle is a loop in IL.
type cycle struct {
	*flow
	start, end int
	member     func(metadata.Token) string
}

func (c *cycle) has(offset int) bool { return c.start <= offset && offset < c.end }

// name returns the opcode of an instruction without the suffix of its short form.
func (c *cycle) name(i int) string { return strings.TrimSuffix(c.code[i].Opcode.String(), ".s") }

// calls reports whether the instruction at index i calls a method with one of the names.
func (c *cycle) calls(i int, names ...string) bool {
	if op := c.name(i); op != "call" && op != "callvirt" {
		return false
	}
	method := c.member(c.code[i].Token())
	return slices.Contains(names, method[strings.LastIndexByte(method, '.')+1:])
}

// counts reports whether the loop compares two values to go on, or takes one element after the other.
func (c *cycle) counts() bool {
	for i := range c.code {
		in := &c.code[i]
		if !c.has(in.Offset) {
			continue
		}
		if c.calls(i, "MoveNext", "MoveNextAsync") && c.innermost(in.Offset) {
			return true
		}
		if !isBranch(in) || in.Target() != c.start || in.Offset < c.start {
			continue
		}
		switch name := c.name(i); {
		case name == "br", strings.HasPrefix(name, "leave"):
		case strings.HasPrefix(name, "brtrue"), strings.HasPrefix(name, "brfalse"):
			if k := c.tested(i); k >= 0 && (strings.HasPrefix(c.name(k), "clt") || strings.HasPrefix(c.name(k), "cgt")) {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// innermost reports whether no smaller loop is around an offset.
func (c *cycle) innermost(offset int) bool {
	for i := range c.code {
		in := &c.code[i]
		if isBranch(in) && in.Target() > c.start && in.Target() <= offset && offset < in.Offset+in.Size {
			return false
		}
	}
	return true
}

// tested returns the index of the instruction with the result that the branch at index i tests, through local variables and negations, or -1.
func (c *cycle) tested(i int) int {
	for i--; i >= 0; i-- {
		switch name := c.name(i); {
		case name == "nop", name == "ldc.i4.0", name == "ceq", strings.HasPrefix(name, "ldloc"), strings.HasPrefix(name, "stloc"):
		default:
			return i
		}
	}
	return -1
}

// first reports whether a turn of the loop gets to the await before all others. Compilers put the condition of a loop at its end, and jump to it.
func (c *cycle) first(p *tasks.AwaitPoint) bool {
	entry := c.start
	if i := c.at[c.start]; i > 0 && c.name(i-1) == "br" && c.has(c.code[i-1].Target()) {
		entry = c.code[i-1].Target()
	}
	order := func(offset int) int {
		if offset < entry {
			offset += c.end - c.start
		}
		return offset
	}
	return !slices.ContainsFunc(p.Awaits, func(other int) bool { return c.has(other) && order(other) < order(p.At) })
}

// endless reports whether only exceptions and cancellation end the loop. Where a method suspends it is left, too.
func (c *cycle) endless() bool {
	for i := range c.code {
		if !c.has(c.code[i].Offset) {
			continue
		}
		name := c.name(i)
		out := name == "ret" || name == "jmp"
		for _, to := range c.next(i) {
			out = out || !c.has(to)
		}
		if out && !c.suspends(i) && !c.canceled(i) {
			return false
		}
	}
	return true
}

// suspends reports whether the instruction at index i leaves the method behind the start of an await.
func (c *cycle) suspends(i int) bool {
	for i--; i >= 0 && c.name(i) == "nop"; i-- {
	}
	return i >= 0 && c.calls(i, "AwaitUnsafeOnCompleted", "AwaitOnCompleted")
}

// canceled reports whether the branch at index i tests whether to stop.
func (c *cycle) canceled(i int) bool {
	k := c.tested(i)
	return k >= 0 && strings.HasPrefix(c.name(i), "br") && c.calls(k, "get_IsCancellationRequested")
}
