package threads

import (
	"context"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// ProfileOptions selects the content of a Profile.
type ProfileOptions struct {
	Native  bool           // also frames of native code
	Symbols *image.Symbols // name native code
}

// Profile collects the stacks of threads from Running. It fails only with the error of ctx.
func Profile(ctx context.Context, w *stackwalk.Walker, list []*stackwalk.Thread, o ProfileOptions) (*answer.Profile, error) {
	x := profiler{w: w, o: o, out: answer.NewProfile(), known: map[profilePlace]int{}}
	x.describer = NewDescriber(DescribeOptions{Source: true}, &x.out.Gaps)
	for _, t := range list {
		x.thread(ctx, t)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return x.out, ctx.Err()
}

// A profilePlace identifies the name and the line of a frame.
type profilePlace struct {
	ip    target.Addr
	exact bool
}

// A profiler builds a profile from walks.
type profiler struct {
	w         *stackwalk.Walker
	o         ProfileOptions
	describer *Describer
	out       *answer.Profile
	known     map[profilePlace]int
}

func (x *profiler) thread(ctx context.Context, t *stackwalk.Thread) {
	name, err := t.Name()
	x.out.Note(err)
	s := answer.ProfileStack{Index: t.Index, OSID: t.OS.ID, Name: name}
	if t.Managed != nil {
		s.ManagedID = t.Managed.ManagedID
	}
	native := x.o.Native || x.w.AllNative()
	var f stackwalk.Frame // one for all: it is large
	for f = range x.w.Walk(ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{Native: x.o.Native}) {
		if err := f.Missing(); err != nil {
			x.out.Note(fmt.Errorf("stack of thread %#x: %w", t.OS.ID, err))
		}
		if f.Kind == stackwalk.FrameExplicit || f.Kind == stackwalk.FrameNative && !native {
			continue
		}
		at := profilePlace{f.IP, f.Exact}
		i, ok := x.known[at]
		if !ok {
			i = x.out.Frame(x.frame(&f))
			x.known[at] = i
		}
		s.Frames = append(s.Frames, i)
		if t.Index == 0 && (f.Kind == stackwalk.FrameManaged || x.w.AllNative()) {
			x.out.Program = x.out.Frames[i].Module
		}
	}
	x.out.Threads = append(x.out.Threads, s)
}

func (x *profiler) frame(f *stackwalk.Frame) answer.ProfileFrame {
	d := x.describer.Frame(f)
	out := answer.ProfileFrame{IP: f.IP, Name: d.Method.String(), Module: d.Module, File: d.File, Line: d.Line}
	switch {
	case f.Generated:
		out.Name = d.NativeName()
	case f.Kind == stackwalk.FrameNative:
		out.Name = fmt.Sprintf("%#x", uint64(f.IP))
		if x.o.Symbols != nil {
			if s, ok := x.o.Symbols.At(f.IP); ok {
				out.Name = s.String()
			}
		}
	}
	return out
}
