package locks

import (
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A queueKind is a kind of queue in which suspended code waits for room, with the calls by which code takes from it.
type queueKind struct {
	reads func(method string) bool
	of    func(s *survey, a target.Addr) target.Addr // the queue of such a call's receiver or first argument, or 0
}

// The kinds of queues.
var (
	channelKind = queueKind{
		reads: func(method string) bool { return strings.HasPrefix(method, "ChannelReader.") },
		of:    (*survey).channelOf,
	}
	pipeKind = queueKind{
		reads: func(method string) bool { return strings.HasPrefix(method, "PipeReader.") },
		of:    (*survey).pipeOf,
	}
	blockKind = queueKind{
		reads: func(method string) bool {
			class, name, _ := strings.Cut(method, ".")
			return strings.HasSuffix(class, "Block") && (strings.Contains(name, "Receive") || name == "OutputAvailableAsync")
		},
		of: func(_ *survey, a target.Addr) target.Addr { return a },
	}
	collectionKind = queueKind{
		reads: takes,
		of:    func(_ *survey, a target.Addr) target.Addr { return a },
	}
)

// Shapes of pipes (Pipe.cs of System.IO.Pipelines).
type (
	pipeEnd struct {
		_    objects.Shape    `of:"System.IO.Pipelines.Pipe+DefaultPipeReader|System.IO.Pipelines.Pipe+DefaultPipeWriter"`
		Pipe objects.RefField `field:"_pipe"`
	}
	pipe struct {
		_      objects.Shape    `of:"System.IO.Pipelines.Pipe"`
		Unread objects.IntField `field:"_unconsumedBytes,optional"`
	}
)

func (t *thing) isPipe() bool { return t.channel != nil && t.channel.kind == &pipeKind }

// pipeOf returns the pipe of a reader or a writer, or 0 if a is neither or it can't be read.
func (s *survey) pipeOf(a target.Addr) target.Addr {
	if a == 0 {
		return 0
	}
	o, err := s.r.b.Objects().TrustedObject(a)
	if err != nil {
		return 0
	}
	k, x, is, err := shapes.TryBind[*pipeEnd](s.r.b, o)
	if !is || err != nil {
		return 0
	}
	p, err := k.Pipe.Addr(x)
	if err != nil {
		return 0
	}
	return p
}

// pipeWriters finds the pipes that suspended code of the program waits for room in. The code of libraries waits so for the peers of connections.
func (s *survey) pipeWriters() {
	known := map[target.Addr]*thing{}
	for _, op := range s.ops {
		if !op.own || op.thing.cause != tasks.CauseStream || op.thing.says.Text != words.PipeRoom.Of().Text {
			continue
		}
		a := s.pipeOf(op.leaf)
		if a == 0 {
			continue
		}
		t := known[a]
		if t == nil {
			if t = s.pipeThing(a); t == nil {
				continue
			}
			known[a] = t
		}
		t.channel.writers++
		op.thing = t
	}
}

// pipeThing describes room in a pipe, or returns nil and notes why it can't be read.
func (s *survey) pipeThing(a target.Addr) *thing {
	o, err := s.r.b.Objects().TrustedObject(a)
	if err != nil {
		s.gaps.Note(err)
		return nil
	}
	k, x, err := objects.BindObject[*pipe](s.r.b, o)
	if err != nil {
		s.gaps.Note(err)
		return nil
	}
	c := &channelWait{kind: &pipeKind, object: o, capacity: answer.Of[int64](0, errUnbounded), items: answer.Of[int64](0, errUnbounded)}
	t := &thing{kind: answer.WaitStream, cause: tasks.CauseStream, addr: a, typ: s.gaps.Text(o.Type.ManagedName()), says: words.PipeRoom.Of(), channel: c, writes: true}
	if k.Unread.Has() {
		n, err := k.Unread.Uint(x)
		if s.gaps.Note(err); err == nil {
			t.state = words.UnreadBytes.Of(words.Commas(n))
		}
	}
	return t
}

// programs reports whether what a pipe is read by is known to be the program's: a library reads a pipe as fast as the peer of a connection takes data.
func (g *grapher) programs(c *channelWait, readers []holder, unknown bool) bool {
	if len(readers) > 0 {
		return !slices.ContainsFunc(readers, func(h holder) bool { return answer.LibraryMethod(h.method.S) })
	}
	class := g.s.classes[c.object.Addr]
	return !unknown && class != "" && !answer.LibraryMethod(class+".")
}

// stalls reports whether an operation waits for what code of the process has to do, and not for a peer or a time.
func (op *operation) stalls() bool {
	switch op.thing.cause {
	case tasks.CauseSemaphore, tasks.CausePromise, tasks.CauseChannelRead, tasks.CauseChannelWrite, tasks.CauseForever:
		return true
	}
	return false
}

// channel concludes which methods read a full channel or pipe.
func (g *grapher) channel(v *answer.Verdict, c *channelWait) bool {
	if c.kind == &blockKind {
		return g.fullBlock(v, c)
	}
	readers, unknown := g.readersOf(c)
	if c.kind == &pipeKind && !g.programs(c, readers, unknown) {
		return false
	}
	if len(readers) == 0 {
		reads, sure := g.readingOf(c)
		if unknown || !sure { // it may read this channel
			v.Statement, v.Strength, v.Severity = v.Plus(words.NobodyTakes.Of()), answer.StrengthPossible, answer.SeverityWarning
		} else {
			v.Statement = v.Plus(words.NoReader.Of())
		}
		return !reads
	}
	if g.course().channel(c).moves {
		return false
	}
	g.behind(v, readers)
	h, wait := readers[0], answer.Statement{}
	op := g.s.standing[h.box]
	if op != nil {
		wait = words.AndWaitsFor.Of(g.thingText(op.thing))
	}
	if c.kind == &pipeKind && (op == nil || !op.stalls()) {
		return false // it writes at the speed at which something else takes the data
	}
	v.Strength = answer.StrengthLikely
	v.Statement = v.Plus(words.ReadsIt.Of(words.MethodObject.Of(words.Method(h.method.String()), words.Object(h.box)), wait))
	v.Show = append(v.Show, "dumpasync -address "+addressText(h.box))
	return true
}

// keepsUp reports whether methods that take from a queue stand in delays so short that all who wait have had their turn briefly later: the queue is full
// by design, and what adds to it is slowed down.
func (g *grapher) keepsUp(readers []holder, writers int) bool {
	longest, timed := time.Duration(0), 0
	for i := range readers {
		if length, known := g.pauseOf(&readers[i]); known && length <= briefly && !g.s.repeats(&readers[i], false) {
			longest, timed = max(longest, length), timed+1
		}
	}
	return timed > 0 && time.Duration((writers+timed-1)/timed)*longest <= briefly
}

// receives reports whether a method that reads a full channel waits for an item of this channel, or is in no channel's list of waiters: it has been
// removed there and goes on.
func (g *grapher) receives(h *holder, c *channelWait) bool {
	op := g.s.standing[h.box]
	if op == nil {
		return g.s.goesOn[h.box]
	}
	switch t := op.thing; t.cause {
	case tasks.CauseChannelRead:
		return t.channel == nil || t.channel == c
	case tasks.CauseChannelWrite, tasks.CauseChannel:
		return t.channel == nil
	}
	return false
}

// reading reports whether a thread that moves is in a method of the program which reads a channel in a loop. The channel is full by design then, as
// long as what writes is faster. sure is false if the code of such a thread, or which channel it reads, is not known.
func (g *grapher) reading(c *channelWait) (reads, sure bool) {
	sure = true
	known := map[target.Addr]*methodCalls{}
	for i := range g.s.r.threads {
		t := &g.s.r.threads[i]
		if t.Managed == nil || t.OS == nil || g.s.ctx.Err() != nil || !g.threadMoves(t) {
			continue
		}
		for f := range g.s.r.walker.Walk(g.s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
			if sure = sure && f.Missing() == nil; f.Kind != stackwalk.FrameManaged {
				continue
			}
			md, err := f.Method()
			if err == nil && md == nil {
				continue
			}
			var m *methodCalls
			if err == nil {
				m, err = g.s.calls(f.Runtime, md, known, c.kind.reads)
			}
			if err != nil {
				sure = false
			}
			if err != nil || len(m.list) == 0 {
				continue
			}
			if _, loops, err := g.s.loopsOf(&f, md); err != nil || len(loops) == 0 {
				sure = sure && err == nil
				continue
			}
			is, known := g.readsIn(t, &f, md, c)
			if is {
				return true, true
			}
			sure = sure && known
		}
	}
	return false, sure
}

// readsIn reports whether a frame's method calls the reader of a channel, by the objects that its code and its roots show. known is false if they
// do not show the reader of each call.
func (g *grapher) readsIn(t *stackwalk.Thread, f *stackwalk.Frame, md *dac.MethodDesc, c *channelWait) (is, known bool) {
	around, err := g.s.around(t, f, md)
	if err != nil {
		return false, false
	}
	known = true
	for _, call := range slices.Concat(around.Before, around.Later) {
		if !c.kind.reads(call.Method) {
			continue
		}
		of := c.kind.of(g.s, call.Object)
		if of == c.object.Addr {
			return true, true
		}
		known = known && of != 0
	}
	for root, err := range g.s.r.walker.Roots(g.s.ctx, t.Managed, t.OS.Registers) {
		if err != nil {
			break // the calls decide whether it is known
		}
		if root.FrameSP == f.SP && !root.Interior && c.kind.of(g.s, root.Object) == c.object.Addr {
			return true, true
		}
	}
	return false, known
}

// channelOf returns the channel of a reader, or 0 if a is no reader or it can't be read.
func (s *survey) channelOf(a target.Addr) target.Addr {
	if a == 0 {
		return 0
	}
	o, err := s.r.b.Objects().TrustedObject(a)
	if err != nil {
		return 0
	}
	k, x, is, err := shapes.TryBind[*channelReader](s.r.b, o)
	if !is || err != nil {
		return 0
	}
	p, err := k.Parent.Addr(x)
	if err != nil {
		return 0
	}
	return p
}

// readers returns the suspended methods that have read a channel or stand in a loop that reads it, and whether others may be such: a compiler puts the
// condition of a loop behind its body.
func (g *grapher) readers(c *channelWait) (out []holder, unknown bool) {
	for m, err := range g.s.set.Suspended(g.s.ctx, c.kind.reads, nil) {
		if err != nil {
			return out, true
		}
		if m.Err != nil {
			unknown = true
			continue
		}
		if g.between(m.Object) {
			continue // the code that goes through its elements reads for it
		}
		reads := func(call tasks.Call) bool { return c.kind.of(g.s, call.Object) == c.object.Addr }
		again, last := g.s.readsAgain(m, reads)
		if !again && !slices.ContainsFunc(m.Calls, reads) {
			unknown = unknown || slices.ContainsFunc(slices.Concat(m.Calls, m.Later), func(call tasks.Call) bool { return call.Object == 0 && !call.Unknown })
			continue
		}
		out = append(out, holder{box: m.Object, method: m.Name, place: m.Place, strength: answer.StrengthLikely, again: again, entered: last})
	}
	if len(out) == 0 {
		list, unread := g.through(c)
		return list, unknown || unread
	}
	return out, unknown
}
