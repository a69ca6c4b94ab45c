package locks

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/locks/internal/reach"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A circle is a chain of objects that a loop of a thread's method follows and that comes back to its beginning.
type circle struct {
	ilflow.Chase
	first   answer.Statement // the object that a variable has
	class   string           // of the objects
	name    string           // of the field
	number  int              // objects
	absent  bool             // no object has the key that the loop searches, and nothing else but null would end it
	threads []stand          // that go round it, or round another with the same numbers
}

// rings returns the circles that threads at one position go round, and the other threads. err is why circles may be missing.
func (s *survey) rings(list []stand) (rings []circle, rest []stand, err error) {
	steps := mostSteps
	for i := range list {
		c, ok, bad := s.circleOf(&list[i], &steps)
		if !ok {
			rest, err = append(rest, list[i]), cmp.Or(err, bad)
			continue
		}
		at := slices.IndexFunc(rings, func(r circle) bool {
			return r.Chase == c.Chase && r.number == c.number && r.class == c.class && r.absent == c.absent
		})
		if at < 0 {
			at, rings = len(rings), append(rings, c)
		}
		rings[at].threads = append(rings[at].threads, list[i])
	}
	return rings, rest, err
}

// circleOf returns the circle that the innermost method of the program on a thread's stack goes round. ok is false if it goes round none, or if
// that can't be read.
func (s *survey) circleOf(at *stand, steps *int) (out circle, ok bool, err error) {
	loops, err := s.chasesAt(at)
	if err != nil || len(loops) == 0 {
		return out, false, err
	}
	md, err := at.method.Metadata()
	if err != nil {
		return out, false, err
	}
	args, locals, err := stackwalk.Variables(&at.frame, s.r.b.Objects())
	if err != nil {
		return out, false, err
	}
	var unread error // why a loop that may have no end was not followed
	for _, loop := range loops {
		list := locals
		if loop.Variable.Argument {
			list = args
		}
		first, err := reach.ObjectOf(list, loop.Variable.Number)
		if err != nil && loop.OnlyNull {
			unread = cmp.Or(unread, fmt.Errorf("what a loop follows: %w", err))
		}
		if err != nil || first.Addr == 0 {
			continue
		}
		out = circle{Chase: loop}
		if out.name, err = fieldName(md, loop.Field); err != nil {
			return out, false, err
		}
		var class *objects.Type
		var in objects.Object
		if out.number, in, class, err = around(first, loop.Field, out.name, steps); err != nil {
			return out, false, err
		}
		if out.number > 0 {
			out.absent = s.absent(at, &out, in, args, locals)
			typ, err := first.Type.Name()
			if err == nil {
				out.class, err = class.Name()
			}
			out.first = words.ObjectOfType.Of(words.Type(typ), words.ShortObject(first.Addr))
			return out, err == nil, err
		}
	}
	return out, false, unread
}

// chasesAt returns the loops that go from one object to the next, and that a frame is in.
func (s *survey) chasesAt(at *stand) ([]ilflow.Chase, error) {
	body, err := dac.CodeOf(s.r.rt).IL(at.method)
	if err != nil {
		return nil, err
	}
	loops, err := ilflow.Chases(body.Code)
	if err != nil || len(loops) == 0 {
		return nil, err
	}
	il, mapped, err := dac.CodeOf(at.frame.Runtime).ILOffset(at.frame.CallSite())
	if err != nil && !dac.NoDebugInfo(err) {
		return nil, err
	}
	return slices.DeleteFunc(loops, func(c ilflow.Chase) bool { return !mapped || il < c.Start || il >= c.End }), nil
}

// fieldName returns the name of the field that an IL token names.
func fieldName(md *metadata.Metadata, t metadata.Token) (string, error) {
	if t.Table() == metadata.TableMemberRef {
		row, err := md.MemberRef(t.Row())
		if err != nil {
			return "", err
		}
		return md.String(row.Name)
	}
	row, err := md.Field(t.Row())
	if err != nil {
		return "", err
	}
	return md.String(row.Name)
}

// mostSteps bounds the objects that are read for threads at one position.
const mostSteps = 4 * limits.ChainedObjects

// around follows a field from an object and returns the number of objects in the circle that the way comes to, one of them, and the class that all
// are of. It returns 0 if the way ends. It is Brent's algorithm: one of two references waits at a place, for twice as many steps each time,
// until the other comes back to it.
func around(from objects.Object, token metadata.Token, name string, steps *int) (int, objects.Object, *objects.Type, error) {
	waiting, at, n, patience := from.Addr, from, 0, 1
	var field *objects.Field
	of, class := from.Type, from.Type // of the object, and of all since the other reference waits
	for ; *steps > 0; *steps-- {
		if field == nil || at.Type != of {
			f, err := followed(at.Type, token, name)
			if err != nil {
				return 0, at, nil, err
			}
			if field, of = f, at.Type; class != of {
				class = field.Declaring
			}
		}
		value := at.Value(field)
		if value.IsNull() || value.Err() != nil {
			return 0, at, nil, value.Err()
		}
		var err error
		if at, err = value.Object(); err != nil {
			return 0, at, nil, err
		}
		if n++; at.Addr == waiting {
			return n, at, class, nil
		}
		if n == patience {
			waiting, n, patience, class = at.Addr, 0, 2*patience, at.Type
		}
	}
	return 0, at, nil, target.Unsupportedf("chains of more than %d objects", mostSteps)
}

// followed returns the field of a class that an IL token names. Where classes hide fields of the same name, the token has to be the field's own.
func followed(t *objects.Type, token metadata.Token, name string) (*objects.Field, error) {
	list, err := t.Fields()
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(f *objects.Field) bool { return f.Static || f.Name != name })
	if len(list) > 1 {
		list = slices.DeleteFunc(list, func(f *objects.Field) bool { return f.Token != token })
	}
	if len(list) != 1 {
		return nil, target.Unsupportedf("a choice of %d fields %s", len(list), name)
	}
	return list[0], nil
}

// conclude describes threads in a loop round the circle. Where nothing ends the loop but null, it never ends, unless something in it throws, or
// the methods that it calls change the chain: rounds of states are made so.
func (c *circle) conclude(as func(answer.Strength, answer.Statement, ...answer.Statement) *answer.Verdict, busy bool, method, threads, cpu answer.Statement) *answer.Verdict {
	strength, says := answer.StrengthLikely, words.FollowsCircle
	switch {
	case c.absent && !c.OnlyNull:
		if says = words.SearchesRound; !c.Search.Throws {
			strength = answer.StrengthProved
		}
	case c.OnlyNull && !c.Calls && !c.Throws:
		strength, says = answer.StrengthProved, words.GoesRound
	case c.OnlyNull:
		says = words.GoesRoundOr
	case !busy:
		strength = answer.StrengthPossible
	}
	v := as(strength, says.Of(threads, method, words.N(c.number), words.Type(c.class), words.Field(c.name), cpu),
		words.InCircle.Of(c.first))
	if c.absent || c.OnlyNull && !c.Calls {
		v.Severity = answer.SeverityHigh
	}
	return v
}
