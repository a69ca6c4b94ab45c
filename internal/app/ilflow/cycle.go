package ilflow

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/metadata"
)

// An AwaitLoop is the loop around an await that says most.
type AwaitLoop struct {
	Around  bool // there is a loop, and it neither counts nor takes one element after the other
	First   bool // no other await comes before this one in a turn
	Endless bool // only exceptions and cancellation end the loop
}

// OfAwait finds the loop around an await. There may be one if the code can't be read.
func OfAwait(p *tasks.AwaitPoint) AwaitLoop {
	g, err := ReadFlow(&metadata.MethodBody{Code: p.Code})
	if err != nil {
		return AwaitLoop{Around: true}
	}
	loops, err := Around(p.Code, p.At)
	if err != nil {
		return AwaitLoop{Around: true}
	}
	best := AwaitLoop{}
	for start, end := range loops {
		c := cycle{g, start, end, p.Member}
		if c.counts() {
			continue
		}
		l := AwaitLoop{Around: true, First: c.first(p), Endless: c.endless()}
		if !best.Around || l.First && (!best.First || l.Endless) {
			best = l
		}
	}
	return best
}

// Counts reports whether a loop compares two values to go on, or takes one element after the other. start and end are as Loops have them, and member names what
// a token of the method's module stands for.
func (g *Flow) Counts(start, end int, member func(metadata.Token) string) bool {
	c := cycle{g, start, end, member}
	return c.counts()
}

// Retests reports whether a loop does nothing but wait and look at what it waits for, which ends it, as while (!done) Monitor.Wait(gate): it takes nothing.
// start, end and member are as for Counts.
func (g *Flow) Retests(start, end int, member func(metadata.Token) string) bool {
	c := cycle{g, start, end, member}
	return c.retests()
}

// A cycle is a loop in IL.
type cycle struct {
	*Flow
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

// Compute reports whether each loop around an offset that begins behind another offset counts, and does more than read: it ends by itself.
func Compute(body *metadata.MethodBody, at, entered int) bool {
	g, err := ReadFlow(body)
	if err != nil {
		return false
	}
	loops, err := Around(body.Code, at)
	if err != nil {
		return false
	}
	for start, end := range loops {
		if entered != 0 && start <= entered {
			continue
		}
		if reads, _, err := ReadsOnly(body.Code[start:end]); err != nil || reads || !g.Counts(start, end, func(metadata.Token) string { return "" }) {
			return false
		}
	}
	return true
}

// retests reports whether the loop does nothing but wait and look at what it waits for, which ends it, as while (!done) Monitor.Wait(gate): it takes nothing.
func (c *cycle) retests() bool {
	ends := false
	for i := range c.code {
		in := &c.code[i]
		if !c.has(in.Offset) {
			continue
		}
		op := c.name(i)
		switch {
		case op == "call" || op == "callvirt":
			if method := c.member(in.Token()); !OnlyWaits(method) && !waitsOnce(method) {
				return false
			}
		case slices.ContainsFunc(workingOpcodes, func(p string) bool { return strings.HasPrefix(op, p) }):
			return false
		}
		for _, to := range c.next(i) {
			ends = ends || !c.has(to)
		}
	}
	return ends
}

// waitsOnce reports whether a method waits for a signal.
func waitsOnce(method string) bool {
	return slices.Contains([]string{"Monitor.Wait", "WaitHandle.WaitOne", "ManualResetEventSlim.Wait"}, method)
}
