package locks

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
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
