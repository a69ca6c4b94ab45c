package tasks

import (
	"context"
	"errors"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A fileHandle knows whether its file can be read from any position, once somebody has asked (SafeFileHandle.Unix.cs and SafeFileHandle.Windows.cs, .NET 6
// and later). A FileStream asks when it is made.
type fileHandle struct {
	_    objects.Shape    `of:"Microsoft.Win32.SafeHandles.SafeFileHandle"`
	Path objects.RefField `field:"_path,optional"`
	Seek objects.IntField `field:"_canSeek,optional"`
}

// cannotSeek is SafeFileHandle.NullableBool.False. A file on a disk can seek; pipes, sockets and terminals can't.
const cannotSeek = -1

// NameFile changes the activity of a thread that reads or writes a file if it is no file on a disk: a read of a pipe or a device takes as long as who
// writes to it likes. The file is the one of the handle that the frames of the call refer to. It notes what it can't read of that handle.
func NameFile(ctx context.Context, b *objects.Binder, w *stackwalk.Walker, t *stackwalk.Thread, gaps *answer.Gaps, a *threads.ThreadActivity) {
	if a.Activity != threads.ActivityFile || a.Text != threads.UsesFile || t.OS == nil || t.Managed == nil {
		return
	}
	g := shapes.Reading{Gaps: gaps, Binder: b}
	for o := range objectsOfCall(ctx, b, w, t, a) {
		s, x, is, err := shapes.TryBind[*fileHandle](b, o)
		if !is || err != nil {
			continue
		}
		if seek := g.IntAt(&s.Seek, x); s.Seek.Has() && seek.Err() == nil && seek.Value == cannotSeek {
			a.Text = threads.UsesPipe
			if path := g.TextAt(&s.Path, x); path.Err == nil && path.S != "" {
				a.Text += " (" + path.S + ")"
			}
		}
		return
	}
}

// objectsOfCall yields the objects that the frames of a thread's innermost call of library code refer to, the innermost first. It ends at the method of
// the program that made the call, which has other objects, too.
func objectsOfCall(ctx context.Context, b *objects.Binder, w *stackwalk.Walker, t *stackwalk.Thread, a *threads.ThreadActivity) iter.Seq[objects.Object] {
	return func(yield func(objects.Object) bool) {
		for root, err := range w.Roots(ctx, t.Managed, t.OS.Registers) {
			if err != nil || root.Undecoded || root.Interior || root.Object == 0 {
				continue
			}
			if root.Method != nil && a.Caller != nil && root.Method.Addr == a.Caller.Addr {
				return
			}
			if o, err := b.Objects().TrustedObject(root.Object); err == nil && !yield(o) {
				return
			}
		}
	}
}

// A fileTransfer is an asynchronous read or write of a file that a worker of the thread pool does (SafeFileHandle.ThreadPoolValueTaskSource.cs, .NET 6
// and later).
type fileTransfer struct {
	_         objects.Shape    `of:"Microsoft.Win32.SafeHandles.SafeFileHandle+ThreadPoolValueTaskSource"`
	Handle    objects.RefField `field:"_fileHandle"`
	Operation objects.IntField `field:"_operation"`
}

// Operations of a fileTransfer.
const (
	transferRead    = 1
	transferScatter = 3 // a read into several buffers
)

// A transfer says what a fileTransfer does.
type transfer uint8

const (
	noTransfer transfer = iota
	fileRead
	fileWrite
	pipeRead // of what can't seek
)

// cause returns what code waits for. A read of a pipe or a device takes as long as who writes to it likes.
func (t transfer) cause() Cause {
	if t == pipeRead {
		return CauseStream
	}
	return CauseFile
}

// says describes what code waits for.
func (t transfer) says() answer.Statement {
	switch t {
	case pipeRead:
		return words.ReadOfPipe.Of()
	case fileRead:
		return words.ReadOfFile.Of()
	}
	return words.WriteOfFile.Of()
}

// transferOf returns what the fileTransfer at a does, or noTransfer if its type t is another class.
func (r *Reader) transferOf(t *objects.Type, a target.Addr) (transfer, error) {
	s, err := objects.Bind[*fileTransfer](r.b, t)
	if errors.Is(err, objects.ErrOtherType) {
		return noTransfer, nil
	}
	if err != nil {
		return noTransfer, err
	}
	x := objects.InstanceAt(a)
	does, err := s.Operation.Int(x)
	if err != nil {
		return noTransfer, err
	}
	if does != transferRead && does != transferScatter {
		return fileWrite, nil
	}
	o, err := s.Handle.Object(x)
	if err != nil || o.Addr == 0 {
		return noTransfer, err
	}
	h, at, err := objects.BindObject[*fileHandle](r.b, o)
	if err != nil || !h.Seek.Has() {
		return noTransfer, err
	}
	if seek, err := h.Seek.Int(at); err != nil {
		return noTransfer, err
	} else if seek == cannotSeek {
		return pipeRead, nil
	}
	return fileRead, nil
}
