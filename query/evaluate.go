package query

import (
	"context"
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// Evaluate returns what expressions between commas are worth. An *Error says what is wrong with one of them. What the dump lacks
// is a value of the answer; if it is all that there is, the answer comes with its error.
func Evaluate(ctx context.Context, env *Env, src string) (*answer.Evaluations, error) {
	if err := env.check(); err != nil {
		return nil, err
	}
	return evaluate(newEngine(ctx, env, src), src, nil)
}

// EvaluateOf is Evaluate where the members of an object are names, and this is the object.
func EvaluateOf(ctx context.Context, env *Env, o objects.Object, src string) (*answer.Evaluations, error) {
	if err := env.check(); err != nil {
		return nil, err
	}
	return evaluate(newEngine(ctx, env, src), src, &o)
}

func evaluate(e *engine, src string, of *objects.Object) (*answer.Evaluations, error) {
	items, err := parseExpressions(src)
	if err != nil {
		return nil, err
	}
	s, f := scope{e: e, object: -1}, e.newFrame()
	if of != nil {
		if err := s.about(f, *of); err != nil {
			return nil, err
		}
	}
	out := &answer.Evaluations{}
	e.weighs = true
	for _, it := range items {
		if of != nil {
			if err := s.knows(it.expr); err != nil {
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
		return failed(out)
	}
	return out, nil
}

func (s *scope) about(f *frame, o objects.Object) error {
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

// failed returns the answer where the only expression has no value. What it asks of an object that does not have it, or of null, is
// the user's to put right, and no gap of the dump.
func failed(out *answer.Evaluations) (*answer.Evaluations, error) {
	err := out.Values[0].Value.Err
	var member *memberError
	var null nullError
	if errors.As(err, &member) || errors.As(err, &null) {
		return nil, &Error{Text: err.Error()}
	}
	return out, err
}
