package locks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/flows"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// An initializationException is thrown by each use of a class after its initializer has failed.
type initializationException struct {
	_        objects.Shape    `of:"System.TypeInitializationException"`
	TypeName objects.RefField `field:"_typeName"`
	Inner    objects.RefField `field:"_innerException"`
}

// findInitializers lists the classes with an initializer that threw, and the exceptions, for which it opens the heap.
// It records what could not be read. The error is ctx's, or the runtime does not record initializers. If no initializer
// is known to have failed, the error is the first reason why the state of a class is unknown.
func findInitializers(ctx context.Context, b *objects.Binder, open func() (*heap.Heap, error), o heap.ScanOptions) (*answer.Initializers, error) {
	rt := b.Objects().Runtime()
	if err := rt.Check(dac.FeatureStatics); err != nil {
		return nil, err
	}
	out := &answer.Initializers{Failed: []answer.FailedInitializer{}, Verdicts: []answer.Verdict{}}
	at := map[string][]int{}
	var lost error
	for mt, err := range rt.LoadedTypes() {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		failed := false
		if err == nil && !mt.IsArray() && !mt.IsOpen() && !mt.IsShared() {
			failed, err = rt.InitializerFailed(mt)
		}
		if err != nil && !errors.Is(err, target.ErrUnsupported) {
			out.Note(err)
			lost = cmp.Or(lost, err)
		}
		if !failed {
			continue
		}
		name := out.Text(rt.TypeName(mt.Addr, dac.NameManaged))
		full, err := rt.TypeName(mt.Addr, dac.NameNative)
		out.Note(err)
		full = recordedName(full)
		at[full] = append(at[full], len(out.Failed))
		out.Failed = append(out.Failed, answer.FailedInitializer{MethodTable: mt.Addr, Type: name})
	}
	if len(out.Failed) == 0 && lost != nil {
		return nil, lost
	}
	if len(out.Failed) > 0 {
		h, err := open()
		if err != nil {
			out.Note(err)
		} else {
			thrown(ctx, shapes.Reading{Gaps: &out.Gaps, Binder: b}, out, at, h, o)
		}
	}
	for _, derived := range []bool{false, true} { // failures caused by another failed class come last
		for i := range out.Failed {
			f := &out.Failed[i]
			if derived == (f.Cause != nil && f.Cause.Type.S == "System.TypeInitializationException") {
				out.Verdicts = append(out.Verdicts, failure(f))
			}
		}
	}
	return out, ctx.Err()
}

// thrown finds the exceptions of classes. at maps their names to indexes in out.
func thrown(ctx context.Context, in shapes.Reading, out *answer.Initializers, at map[string][]int, h *heap.Heap, o heap.ScanOptions) {
	for e, f := range shapes.ReadObjects[*initializationException](ctx, in, h, o) {
		name := in.TextAt(&f.Shape.TypeName, f.At())
		for _, n := range at[name.S] {
			i := &out.Failed[n]
			if i.Thrown != 0 {
				continue
			}
			inner := in.ObjectAt(&f.Shape.Inner, f.At())
			if len(at[name.S]) > 1 && !constructs(in, inner, i.MethodTable) {
				continue // of another class with that name
			}
			i.Thrown, i.Cause = e.Addr, cause(in, inner)
			break
		}
	}
}

// recordedName returns the name that TypeInitializationException records for a class with the given full name: the
// class's own name if it is nested, and the definition's name for a generic instance.
func recordedName(full string) string {
	full, _, _ = strings.Cut(full, "[")
	return full[strings.LastIndexByte(full, '+')+1:]
}

// constructs reports whether an exception left the static constructor of a class.
func constructs(in shapes.Reading, o objects.Object, class target.Addr) bool {
	if o.Addr == 0 {
		return false
	}
	rt := in.Binder.Objects().Runtime()
	e, err := rt.Exception(o.Addr)
	if err != nil {
		in.Note(err)
		return false
	}
	frames, err := rt.StackTrace(&e)
	in.Note(err)
	for _, f := range frames {
		if md, err := dac.CodeOf(rt).MethodDesc(f.Method); err == nil && md.MethodTable == class {
			if name, err := md.Name(); err == nil && name == ".cctor" {
				return true
			}
		}
	}
	return false
}

// cause describes an exception. It returns nil for a null reference.
func cause(in shapes.Reading, o objects.Object) *answer.TaskException {
	if o.Addr == 0 {
		return nil
	}
	out, _ := flows.Exception(in, o)
	return &out
}

// failure states that the initializer of a class failed.
func failure(f *answer.FailedInitializer) answer.Verdict {
	var causes []answer.TaskException
	var exception answer.Statement
	var show []string
	if c := f.Cause; c != nil {
		causes = append(causes, *c)
		exception = words.Failure(c)
		show = append(show, fmt.Sprintf("printexception %x", uint64(c.Object)))
	}
	v := answer.Conclude(answer.FindingInitializer, words.InitializerFailed.Of(words.Type(f.Type.String()), exception), answer.StrengthRecorded, words.ClassMarked.Of(words.ShortObject(f.MethodTable)))
	v.Show = show
	v.Sites = []answer.Site{answer.FailedSite(f.Type, causes)}
	return v
}
