package tasks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/image/codeinfo"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Methods that the runtime itself suspends (opt-in in .NET 10 and 11) have no state machines. Each suspended method has
// a Continuation, which refers to its caller's Continuation. The names come from .NET 10's class library and the
// sources of .NET 11 (AsyncHelpers.CoreCLR.cs). They are not tested on a dump of such a program.
type (
	suspendedTask struct {
		_     objects.Shape    `of:"System.Threading.Tasks.Task"`
		State objects.RefField `field:"m_stateObject"` // the innermost continuation, null while the methods run
	}
	continuation struct {
		_      objects.Shape    `of:"System.Runtime.CompilerServices.Continuation"`
		Next   objects.RefField `field:"Next"`
		Resume objects.IntField `field:"Resume,optional"`     // .NET 10: the code that resumes the method
		Info   objects.IntField `field:"ResumeInfo,optional"` // .NET 11: points to a CORINFO_AsyncResumeInfo
	}
	// awaitedContinuation is the innermost continuation of methods that await a task or a value task source directly
	// (AsyncHelpers.TaskContinuation.cs, AsyncHelpers.ValueTaskContinuation.cs; .NET 11).
	awaitedContinuation struct {
		_     objects.Shape    `of:"System.Runtime.CompilerServices.AsyncHelpers+TaskContinuation|System.Runtime.CompilerServices.AsyncHelpers+ValueTaskContinuation"`
		On    objects.RefField `field:"Task|Source"`
		Owner objects.RefField `field:"RuntimeAsyncTask,optional"` // the task of the methods
	}
)

// diagnosticIP is the offset of DiagnosticIP in CORINFO_AsyncResumeInfo, after the pointer Resume (corinfo.h, .NET 11).
const diagnosticIP = 8

// awaitedBy returns the task or value task source that the methods of a task await, or 0 if it is not recorded.
func (r *Reader) awaitedBy(w waiter) (target.Addr, error) {
	s, err := objects.Bind[*suspendedTask](r.b, w.kind.typ)
	if err != nil {
		return 0, err
	}
	at, err := s.State.Addr(objects.InstanceAt(w.addr))
	if err != nil || at == 0 {
		return 0, err
	}
	k, err := r.kindOf(at)
	if err != nil || k.awaited == nil {
		return 0, err
	}
	return k.awaited.On.Addr(objects.InstanceAt(at))
}

// suspended returns the methods of a task that the runtime suspended, the innermost first, and their variables if
// requested.
func (r *Reader) suspended(g *answer.Gaps, k *kind, task target.Addr, variables bool, hide mask) (out []answer.AsyncPlace, saved [][]answer.AsyncVariable) {
	s, err := objects.Bind[*suspendedTask](r.b, k.typ)
	if err != nil {
		g.Note(err)
		return nil, nil
	}
	at, err := s.State.Object(objects.InstanceAt(task))
	seen := map[target.Addr]bool{}
	for err == nil && at.Addr != 0 {
		if seen[at.Addr] || len(seen) == limits.AsyncWaits {
			err = target.CorruptHeapf("the continuations of task %v form a ring or are too many", task)
			break
		}
		seen[at.Addr] = true
		c, x, is, bad := shapes.TryBind[*continuation](r.b, at)
		if err = bad; !is || err != nil {
			break // another state object, of a task created in another way
		}
		if p, info := r.continuationPlace(c, x); p != nil {
			out = append(out, *p)
			if variables {
				list, err := r.saved(g, at, info, hide)
				if err != nil {
					g.Note(fmt.Errorf("variables of %v in continuation %v: %w", p.Method, at.Addr, err))
				}
				saved = append(saved, list)
			}
		}
		at, err = c.Next.Object(x)
	}
	g.Note(err)
	return out, saved
}

// saved returns the variables in a continuation. The debug information of .NET 11 has their offsets by suspension
// point, which the continuation names (corinfo.h, CORINFO_AsyncResumeInfo). The variables must lie after the members
// common to all continuations. The GC's reference map of that range must match the references among them.
func (r *Reader) saved(g *answer.Gaps, at objects.Object, info dac.CodeInfo, hide mask) ([]answer.AsyncVariable, error) {
	if info.Header == 0 && info.Image == nil {
		return nil, target.Unsupportedf("the continuation does not name its place in the code")
	}
	points, err := r.code.Suspensions(info)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(points, func(s codeinfo.Suspension) bool { return s.Native == info.Offset })
	if i < 0 {
		return nil, target.Unsupportedf("the compiler recorded no suspension point at offset %d of the code", info.Offset)
	}
	args, locals, err := stackwalk.Saved(r.r, info, at.Addr, points[i].Saved)
	if err == nil {
		err = r.checkSaved(at, args, locals)
	}
	if err != nil {
		return nil, err
	}
	out := []answer.AsyncVariable{}
	add := func(kind answer.AsyncVariableKind, v *stackwalk.Variable) {
		if !v.Located && v.Err == nil {
			return // dead, or unchanged
		}
		value, err := v.Value()
		g.Note(err)
		out = append(out, hide.variable(v.Name, kind, g.Text(v.TypeName(dac.NameManaged)), value))
	}
	for i := range args {
		kind := answer.AsyncParameter
		if args[i].Type == nil {
			kind = answer.AsyncThis
		}
		add(kind, &args[i])
	}
	for i := range locals {
		if locals[i].Name == "" {
			locals[i].Name = fmt.Sprintf("local%d", i)
		}
		add("local", &locals[i])
	}
	return out, nil
}

// checkSaved verifies the offsets of variables in a continuation.
func (r *Reader) checkSaved(at objects.Object, lists ...[]stackwalk.Variable) error {
	rt := r.r.Runtime()
	parent, err := rt.MethodTable(at.Type.MT.Parent)
	if err != nil {
		return err
	}
	gc, err := heap.ReadGCDesc(rt.Memory(), at.Type.MT)
	if err != nil {
		return err
	}
	const header = 8 // before the MethodTable, counted in the size
	start, end := at.Addr+target.Addr(parent.BaseSize)-header, at.Addr+target.Addr(at.Type.MT.BaseSize)-header
	references := map[target.Addr]bool{}
	gc.Slots(uint64(at.Type.MT.BaseSize), func(offset uint64) bool {
		references[at.Addr+target.Addr(offset)] = true
		return true
	})
	for _, list := range lists {
		for i := range list {
			v := &list[i]
			switch {
			case !v.Located:
			case v.Addr < start || v.Addr >= end:
				return target.CorruptHeapf("%s is %d bytes into a continuation of %d bytes", v.Name, int64(v.Addr-at.Addr), uint64(end-at.Addr))
			case v.Stored() == objects.KindReference && !references[v.Addr]:
				return target.CorruptHeapf("%s is a reference at %d bytes into a continuation, where the GC sees none", v.Name, int64(v.Addr-at.Addr))
			}
		}
	}
	return nil
}

// standing returns a key of the positions of a task's runtime-suspended methods. Tasks with equal keys can be merged.
func standing(at []answer.AsyncPlace) string {
	var b strings.Builder
	for i := range at {
		fmt.Fprintf(&b, " in %v %s:%d", at[i].Method, at[i].File, at[i].Line)
	}
	return b.String()
}

// suspendedWords describes what a task of runtime-suspended methods waits for. Its continuations don't record what the
// innermost method awaits.
func (r *Reader) suspendedWords(w waiter) (answer.Statement, error) {
	s, err := objects.Bind[*suspendedTask](r.b, w.kind.typ)
	if err != nil {
		return answer.Statement{}, err
	}
	at, err := s.State.Addr(objects.InstanceAt(w.addr))
	if err != nil {
		return answer.Statement{}, err
	}
	if at == 0 {
		return words.MethodsRun.Of(), nil
	}
	return words.InnermostAwait.Of(), nil
}

// continuationPlace returns where a continuation's method is suspended and, if recorded, the code position. It returns
// nil if the continuation belongs to no method.
func (r *Reader) continuationPlace(c *continuation, x objects.Instance) (*answer.AsyncPlace, dac.CodeInfo) {
	ip, err := r.resumes(c, x)
	if ip == 0 && err == nil {
		return nil, dac.CodeInfo{}
	}
	p := &answer.AsyncPlace{}
	if err != nil {
		p.Method.Err = err
		return p, dac.CodeInfo{}
	}
	info, err := r.code.PlaceAt(ip)
	if err == nil && info.Method == nil || err != nil {
		m, entryErr := r.code.MethodOfEntry(ip)
		if entryErr != nil {
			p.Method.Err = entryErr
			return p, dac.CodeInfo{}
		}
		info = dac.CodeInfo{Method: m}
	}
	p.Method.S, p.Method.Err = r.code.MethodName(info.Method, dac.MethodQualified)
	if line, err := r.code.SourceLine(info); err != nil {
		p.Missing.Err = err
	} else {
		p.File, p.Line = line.File, line.Line
	}
	return p, info
}

// resumes returns the instruction address that identifies where a method is suspended, or 0.
func (r *Reader) resumes(c *continuation, x objects.Instance) (target.Addr, error) {
	if !c.Info.Has() {
		if !c.Resume.Has() {
			return 0, target.Unsupportedf("a Continuation with neither Resume nor ResumeInfo")
		}
		ip, err := c.Resume.Uint(x)
		return target.Addr(ip), err
	}
	info, err := c.Info.Uint(x)
	if info == 0 || err != nil {
		return 0, err
	}
	rt := r.r.Runtime()
	offset, err := rt.Layout().Offset("AsyncResumeInfo", "DiagnosticIP")
	if err != nil {
		offset = diagnosticIP
	}
	return target.Pointer(rt.Memory(), target.Addr(info)+target.Addr(offset))
}

// detail holds what taskstate reports beyond the state: the result, the failure, the id, and whether the task can be
// canceled.
type detail struct {
	_          objects.Shape      `of:"System.Threading.Tasks.Task"`
	ID         objects.IntField   `field:"m_taskId"`
	Contingent objects.RefField   `field:"m_contingentProperties"`
	Result     objects.ValueField `field:"m_result,optional"`
}

// A tokenShape is the cancellation state of a task.
type tokenShape struct {
	_      objects.Shape    `of:"System.Threading.Tasks.Task+ContingentProperties"`
	Source objects.RefField `field:"m_cancellationToken._source"`
}

// describeTask adds the details of a task to its state.
func (r *Reader) describeTask(out *answer.TaskState, k *kind, o objects.Object) {
	d, err := objects.Bind[*detail](r.b, k.typ)
	if err != nil {
		out.Note(err)
		return
	}
	x := objects.InstanceOf(o)
	id, err := d.ID.Uint(x)
	out.ID = answer.Of(id, err)
	out.Note(err)
	if d.Result.Has() && out.Status == answer.StatusRanToCompletion {
		v := d.Result.Value(x)
		out.Note(v.Err())
		out.Result = v.Plain(variableChars)
	}
	if out.Status == answer.StatusFaulted {
		h, hx, err := r.faultHolder(k, o.Addr)
		out.Exceptions = []answer.TaskException{}
		if err == nil && h != nil {
			var seenErr error
			out.Observed, seenErr = h.Handled.Bool(hx)
			out.Note(seenErr)
			out.Exceptions, err = r.exceptions(&out.Gaps, h, hx)
		}
		out.Note(err)
	}
	c, err := d.Contingent.Object(x)
	if err != nil || c.Addr == 0 {
		out.Note(err)
		return
	}
	t, cx, err := objects.BindObject[*tokenShape](r.b, c)
	if err == nil {
		out.CancellationSource, err = t.Source.Addr(cx)
	}
	out.Note(err)
}
