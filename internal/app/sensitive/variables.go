package sensitive

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Variables adds to m the arguments and locals on the stacks of all managed threads that are secrets by their names, and such fields of structs
// there. It notes in g why there are no threads. Variables that can't be read are left out: no answer shows them.
func (r *Reader) Variables(ctx context.Context, m *secrets.Masker, p *process.Process, g *answer.Gaps) {
	list, err := p.Threads()
	g.Note(err)
	running, err := stackwalk.RunningThreads(list, r.r.Runtime())
	g.Note(err)
	v := &variables{Reader: r, m: m, none: map[target.Addr]bool{}, leaves: map[*objects.Type][]leaf{}}
	for _, t := range running {
		n := 0
		for f := range p.Walk(ctx, t, stackwalk.WalkOptions{}) {
			if n++; ctx.Err() != nil || n > limits.SecretFrames {
				break
			}
			if f.Kind == stackwalk.FrameManaged && f.Runtime == r.r.Runtime() && f.Code.Method != nil && !v.none[f.Code.Method.Addr] {
				v.frame(&f)
			}
		}
	}
}

// A variables learns the secrets of frames.
type variables struct {
	*Reader
	m      *secrets.Masker
	none   map[target.Addr]bool // methods without variables that may be secrets
	leaves map[*objects.Type][]leaf
}

func (v *variables) frame(f *stackwalk.Frame) {
	args, locals, err := stackwalk.Variables(f, v.r)
	may := err != nil && len(args) == 0
	for _, list := range [][]stackwalk.Variable{args, locals} {
		for i := range list {
			may = v.variable(&list[i]) || may
		}
	}
	if !may {
		v.none[f.Code.Method.Addr] = true
	}
}

// variable learns the secrets of a variable. It reports whether the variable may have one in another frame of the method.
func (v *variables) variable(a *stackwalk.Variable) bool {
	named := means(a.Name)
	if inPlace := a.Type != nil && (a.Type.Kind == metadata.ElementValueType || a.Type.Kind == metadata.ElementGenericInst); !named && !inPlace {
		return false
	}
	value, err := a.Value()
	if err != nil {
		return true
	}
	if named {
		v.learn(v.m, a.Name, value)
	}
	s, err := value.Struct()
	if err != nil {
		return named
	}
	leaves, known := v.leaves[s.Type]
	if !known {
		leaves = leavesOf(nil, s.Type, 0, 0)
		v.leaves[s.Type] = leaves
	}
	for i := range leaves {
		if name, value := leaves[i].at(s.Addr, v.locals); name != "" {
			v.learn(v.m, name, value)
		}
	}
	return named || len(leaves) > 0
}
