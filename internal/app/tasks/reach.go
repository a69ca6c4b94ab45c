package tasks

import (
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/tasks/internal/ilcalls"
	"github.com/sosgo/sosgo/target"
)

// maxReached bounds the methods that are read for one Reach.
const maxReached = 256

// A Reach has what a method may call by the methods of the program that it calls, up to maxWrapperDepth calls deep. It does not follow
// delegates, nor methods of libraries.
type Reach struct {
	Calls   []string      // with their types, without namespaces
	Methods []target.Addr // the MethodDescs of the methods of the program that it may call
}

// Reach returns what a method may call by other methods of the program. The error is set if one of them can't be read.
func (r *Reader) Reach(md *dac.MethodDesc) (*Reach, error) {
	if r == nil || r.code == nil || md == nil {
		return nil, target.Unsupportedf("no method")
	}
	out := &Reach{}
	level, seen := []*dac.MethodDesc{md}, map[target.Addr]bool{md.Addr: true}
	for range maxWrapperDepth {
		var next []*dac.MethodDesc
		for _, caller := range level {
			callees, err := r.calleesOf(caller)
			if err != nil {
				return nil, err
			}
			for _, c := range callees {
				if seen[c.Addr] {
					continue
				}
				if len(seen) > maxReached {
					return nil, target.Unsupportedf("a method that may call more than %d methods", maxReached)
				}
				seen[c.Addr] = true
				next, out.Methods = append(next, c), append(out.Methods, c.Addr)
				list, err := r.CallsOf(c)
				if err != nil {
					return nil, fmt.Errorf("what a method calls: %w", err)
				}
				out.Calls = append(out.Calls, list...)
			}
		}
		level = next
	}
	slices.Sort(out.Calls)
	out.Calls = slices.Compact(out.Calls)
	return out, nil
}

// calleesOf returns the methods of the program that the IL of a method calls, with those that classes have in place of a virtual one.
func (r *Reader) calleesOf(caller *dac.MethodDesc) (out []*dac.MethodDesc, err error) {
	body, err := r.code.IL(caller)
	if err != nil {
		return nil, err
	}
	meta, err := caller.Metadata()
	if err != nil {
		return nil, err
	}
	sites, err := ilcalls.Of(meta, body.Code)
	if err != nil {
		return nil, err
	}
	for i := range sites {
		s := &sites[i]
		class, row := ilcalls.Callee(meta, s.Token)
		if class == "" || answer.LibraryMethod(class+".") || r.invokes(meta, s) {
			continue
		}
		md := r.callee(caller, class, s, row)
		if md == nil {
			return nil, target.Unsupportedf("the method %s can't be found", s.Method)
		}
		if has, err := hasBody(md); err != nil {
			return nil, err
		} else if has {
			out = append(out, md)
		}
		if s.Virtual && replaceable(md) {
			out = append(out, r.implementers(r.programVirtuals(nameOf(s.Method)), class, s)...)
		}
	}
	return out, nil
}

// hasBody reports whether a method has IL: it is not abstract, nor native.
func hasBody(md *dac.MethodDesc) (bool, error) {
	meta, err := md.Metadata()
	if err != nil {
		return false, err
	}
	def, err := meta.MethodDef(md.Token.Row())
	return err == nil && def.RVA != 0, err
}
