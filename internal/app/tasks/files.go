package tasks

import (
	"context"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
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
