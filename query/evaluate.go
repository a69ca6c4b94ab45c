package query

import (
	"context"
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// Evaluate evaluates expressions separated by commas. An *Error reports a fault in one of them. A value that is not in
// the dump is a value of the answer. If it is the only value, Evaluate returns the answer and its error.
//
// A value that can't be read is an error value (KindError), as is everything computed from it. Only && and || may have
// a result without it; x ?? y does not replace it.
//
// x.Name is the field Name of x, of its type or the nearest base class. If there is no such field, it is the field that
// the compiler made of the name, <Name>k__BackingField, or else the one that habit makes of it: _name, m_name, s_name,
// _Name or name. A name that fits several fields is an *Error.
func Evaluate(ctx context.Context, env *Env, src string) (*answer.Evaluations, error) {
	return evaluate(ctx, env, src, nil)
}

// EvaluateOf is Evaluate with an object: its members are names, and this is the object.
func EvaluateOf(ctx context.Context, env *Env, o objects.Object, src string) (*answer.Evaluations, error) {
	return evaluate(ctx, env, src, &o)
}

func evaluate(ctx context.Context, env *Env, src string, of *objects.Object) (*answer.Evaluations, error) {
	items, err := parseExpressions(src)
	if err == nil && env == nil {
		err = errNoEnv
	}
	if err != nil {
		return nil, err
	}
	e := newEngine(ctx, env, src)
	s, f := scope{e: e, object: -1}, e.newFrame()
	if of != nil {
		if err := s.enterObject(f, *of); err != nil {
			return nil, err
		}
	}
	out := &answer.Evaluations{}
	e.weighs = true
	for _, it := range items {
		if of != nil {
			if err := s.checkNames(it.expr); err != nil {
				return nil, err
			}
		}
		c, err := s.compile(it.expr)
		if err != nil {
			return nil, err
		}
		v := f.evaluation(it.name, c.eval(f))
		if e.guessed.Swap(false) {
			v.Strength = answer.StrengthPossible
		}
		out.Values = append(out.Values, v)
		if v.Value.Err != nil && len(items) > 1 {
			out.Note(v.Value.Err)
		}
		if err := e.ctx.Err(); err != nil {
			return nil, err
		}
	}
	out.NoteAll(e.graphGaps())
	if len(out.Values) == 1 && out.Values[0].Value.Err != nil {
		return failedAnswer(out)
	}
	return out, nil
}

func (s *scope) enterObject(f *frame, o objects.Object) error {
	s.heap, s.typ, s.columns = true, o.Type, heapColumns
	h, err := s.e.heap()
	if err != nil {
		return err
	}
	obj, err := o.Heap()
	if err != nil {
		return err
	}
	f.obj, f.typ = &obj, o.Type
	if f.seg = h.Segment(o.Addr); f.seg == nil {
		return target.Unsupportedf("%v is in no segment of the heap", o.Addr)
	}
	return nil
}

// failedAnswer returns the answer for a single expression without a value. If the expression names a missing member, or
// reads a member of null, the error is an *Error and not a gap of the dump.
func failedAnswer(out *answer.Evaluations) (*answer.Evaluations, error) {
	err := out.Values[0].Value.Err
	var member *memberError
	var null nullError
	if errors.As(err, &member) || errors.As(err, &null) {
		return nil, &Error{Text: err.Error()}
	}
	return out, err
}
