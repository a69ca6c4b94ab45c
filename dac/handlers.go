package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/image/codeinfo"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// CodeOf returns the code at an address inside a method, or the code that calls of the MethodDesc at the
// address run now. For a method without code it only sets Method. It returns target.ErrUnsupported for a method
// that is a function of the runtime (FCALL).
func (r *CodeReader) CodeOf(a target.Addr) (CodeInfo, error) {
	info, err := r.MethodAt(a)
	if err == nil && info.Method != nil {
		return info, nil
	}
	// The code map may have holes between bodies.
	m, err := r.MethodDesc(a)
	if err != nil {
		return CodeInfo{}, fmt.Errorf("%s is neither a MethodDesc nor in the code of a method: %w", a, err)
	}
	start, err := r.NativeCode(m)
	if err != nil {
		return CodeInfo{}, err
	}
	if start == 0 {
		return CodeInfo{Method: m}, nil
	}
	if r.hasRuntimeCode(m, start) {
		return CodeInfo{}, target.Unsupportedf("MethodDesc %016x is a function of the runtime itself, at %016x, and no managed code", uint64(m.Addr), uint64(start))
	}
	if info, err = r.MethodAt(start); err == nil && info.Method == nil {
		err = target.Corruptf("the code of MethodDesc %016x begins in the stub at %016x", uint64(m.Addr), uint64(info.Start))
	}
	return info, err
}

// DescribeHandlers lists the exception handlers of the code found by CodeOf for a. The list is empty for a
// method without code.
func (r *CodeReader) DescribeHandlers(a target.Addr) (*answer.Handlers, error) {
	info, err := r.CodeOf(a)
	if err != nil {
		return nil, err
	}
	out := &answer.Handlers{Method: info.Method.Addr, Start: info.Start, Clauses: []answer.HandlerClause{}}
	if info.Start == 0 {
		out.Name = out.Text(r.MethodName(info.Method, MethodFull))
		return out, nil
	}
	if out.Clauses, err = r.Handlers(info, &out.Gaps); err != nil {
		return nil, err
	}
	out.Details = r.describeMethod(info.Method, 0)
	out.Name = answer.Text{S: out.Details.Name.Value, Err: out.Details.Name.Err()}
	for _, gap := range out.Details.Noted() {
		out.Note(gap)
	}
	return out, nil
}

// Handlers returns the exception handlers of code, the innermost first. g notes types without a name.
func (r *CodeReader) Handlers(info CodeInfo, g *answer.Gaps) ([]answer.HandlerClause, error) {
	clauses, err := r.EHClauses(info)
	if err != nil {
		return nil, err
	}
	out := make([]answer.HandlerClause, len(clauses))
	for i := range clauses {
		c := &clauses[i]
		out[i] = answer.HandlerClause{Kind: answer.HandlerKind(c.Kind.String()), Try: answer.CodeSpan(c.Try), Handler: answer.CodeSpan(c.Handler),
			Duplicate: c.Duplicated, Cloned: c.ClonedFinally()}
		switch c.Kind {
		case codeinfo.EHTyped:
			out[i].Catches = g.Text(r.caughtType(info.Method, c))
		case codeinfo.EHFilter:
			out[i].Filter = &c.Filter
		}
	}
	return out, nil
}

// caughtType returns the name of the type that a clause of m catches.
func (r *CodeReader) caughtType(m *MethodDesc, c *codeinfo.EHClause) (string, error) {
	switch {
	case c.TypeHandle != 0:
		return r.Runtime().TypeName(c.TypeHandle, NameNative)
	case c.ClassToken == 0:
		return "System.Object", nil
	}
	md, err := m.Metadata()
	if err != nil {
		return "", err
	}
	token := metadata.Token(c.ClassToken)
	name := md.Names().TypeName(token)
	if name == "" {
		return "", target.Corruptf("token %08x names no type", uint32(token))
	}
	return name, nil
}
