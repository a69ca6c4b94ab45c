package export

import (
	"context"
	"io"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/export/heappprof"
	"github.com/sosgo/sosgo/internal/export/stackexport"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// A ProfileForm is a format of profiles.
type ProfileForm string

// The formats of profiles.
const (
	Pprof      ProfileForm = "pprof"      // for "go tool pprof"; compressed
	Speedscope ProfileForm = "speedscope" // for https://www.speedscope.app
	Folded     ProfileForm = "folded"     // for flame graphs
)

// HeapProfileOptions select the content of a profile of the heap. The zero value is for pprof.
type HeapProfileOptions struct {
	Form    ProfileForm
	Title   string              // of a Speedscope
	Garbage bool                // also unreachable objects
	Least   uint64              // objects that retain less stand together by type; 0 selects a millionth of the heap
	Mask    func(string) string // if not nil, replaces secrets in names
}

// HeapProfile writes the heap as a profile: the stack of an object is the path of those who own it, by types, so that
// "flat" is the size of objects and "cum" what they retain.
func HeapProfile(ctx context.Context, w io.Writer, p *process.Process, o HeapProfileOptions) (*answer.Exported, error) {
	h, err := heapOf(ctx, p, o.Mask)
	if err != nil {
		return nil, err
	}
	s, err := heappprof.Read(ctx, h, heappprof.Options{Garbage: o.Garbage, Least: o.Least})
	if err != nil {
		return nil, err
	}
	form := o.Form
	switch form {
	case Pprof, "":
		form, err = Pprof, s.Pprof(w)
	case Speedscope:
		err = s.Speedscope(w, o.Title)
	case Folded:
		err = s.Folded(w)
	default:
		err = noForm(form)
	}
	if err != nil {
		return nil, err
	}
	out := &answer.Exported{Form: string(form), Of: "heap", Objects: s.Objects, Size: s.Size, Stacks: s.Paths()}
	out.NoteAll(s.Noted())
	return out, nil
}

// StackProfileOptions select the content of a profile of stacks. The zero value is for pprof.
type StackProfileOptions struct {
	Form      ProfileForm
	Title     string // of a Speedscope
	PerThread bool   // Folded: each stack begins with its thread
}

// StackProfile writes the stacks of View.Profile.
func StackProfile(w io.Writer, s *answer.Profile, o StackProfileOptions) error {
	if s == nil {
		return target.Argumentf("no profile was given")
	}
	switch o.Form {
	case Pprof, "":
		return stackexport.Pprof(w, s)
	case Speedscope:
		return stackexport.Speedscope(w, s, o.Title)
	case Folded:
		return stackexport.Folded(w, s, stackexport.FoldedOptions{PerThread: o.PerThread})
	}
	return noForm(o.Form)
}

func noForm(form ProfileForm) error {
	return target.Argumentf("there is no profile of the form %q", form)
}
