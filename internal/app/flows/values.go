package flows

import (
	"errors"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/objects"
)

// Objects that libraries let flow.
type (
	// An activity is one span of a distributed trace.
	activity struct {
		_         objects.Shape    `of:"System.Diagnostics.Activity"`
		Trace     objects.RefField `field:"_traceId"`
		Span      objects.RefField `field:"_spanId"`
		ParentID  objects.RefField `field:"_parentSpanId"`
		ID        objects.RefField `field:"_id"`
		Operation objects.RefField `field:"<OperationName>"`
		Start     objects.IntField `field:"<StartTimeUtc>._dateData"`
		Duration  objects.IntField `field:"<Duration>._ticks"`
		Parent    objects.RefField `field:"<Parent>"`
	}
	logScope struct {
		_      objects.Shape    `of:"Microsoft.Extensions.Logging.LoggerFactoryScopeProvider+Scope|Microsoft.Extensions.Logging.LoggerExternalScopeProvider+Scope"`
		State  objects.RefField `field:"<State>"`
		Parent objects.RefField `field:"<Parent>"`
	}
)

// IsActivity reports whether an object is a System.Diagnostics.Activity that can be read.
func (r *Reader) IsActivity(o objects.Object) bool {
	s, _ := shapes.BindAs[*activity](r.Reading, o)
	return s != nil
}

// Activity describes a System.Diagnostics.Activity. It returns nil for another object.
func (r *Reader) Activity(o objects.Object) *answer.Activity {
	s, x := shapes.BindAs[*activity](r.Reading, o)
	if s == nil {
		return nil
	}
	out := &answer.Activity{Address: o.Addr, Operation: r.TextAt(&s.Operation, x), Trace: r.TextAt(&s.Trace, x), Span: r.TextAt(&s.Span, x),
		Parent: r.TextAt(&s.ParentID, x), ID: r.TextAt(&s.ID, x), Started: r.TimeAt(&s.Start, x)}
	if d := r.IntAt(&s.Duration, x); d.Err() == nil && d.Value > 0 && d.Value < math.MaxInt64/int64(tick) {
		out.Took = (time.Duration(d.Value) * tick).String()
	}
	return out
}

// tick is the unit of a TimeSpan.
const tick = 100 * time.Nanosecond

// Activities iterates over an activity and its parents, the innermost first.
func (r *Reader) Activities(o objects.Object) iter.Seq[objects.Object] {
	return func(yield func(objects.Object) bool) {
		for range limits.RequestScopes {
			s, x := shapes.BindAs[*activity](r.Reading, o)
			if s == nil || !yield(o) {
				return
			}
			o = r.ObjectAt(&s.Parent, x)
		}
	}
}

// IsScope reports whether an object is a readable logging scope.
func (r *Reader) IsScope(o objects.Object) bool {
	s, _ := shapes.BindAs[*logScope](r.Reading, o)
	return s != nil
}

// Scopes returns what a logging scope adds to each line, beginning with the outermost scope.
func (r *Reader) Scopes(o objects.Object) []string {
	var out []string
	for range limits.RequestScopes {
		s, x := shapes.BindAs[*logScope](r.Reading, o)
		if s == nil {
			break
		}
		if state := r.ObjectAt(&s.State, x); state.Addr != 0 {
			out = append(out, r.scope(state))
		}
		o = r.ObjectAt(&s.Parent, x)
	}
	slices.Reverse(out)
	return out
}

// scope returns what one scope adds: the text of a string, the pairs of a dictionary, or the string fields of an
// object.
func (r *Reader) scope(o objects.Object) string {
	if o.IsString() {
		s, err := o.Start(limits.RequestText)
		r.Note(err)
		return s
	}
	name, err := o.Type.ManagedName()
	r.Note(err)
	c, err := r.items.Of(o)
	if err != nil && !errors.Is(err, objects.ErrNotCollection) {
		r.Note(err)
	}
	if err == nil {
		var parts []string
		for item, err := range c.Items() {
			if r.Note(err); err != nil || len(parts) == limits.RequestHeaders {
				break
			}
			parts = append(parts, scopePair(r.Plain(item.Key, scopeText), r.Plain(item.Value, scopeText)))
		}
		return strings.Join(parts, ", ")
	}
	short := name[strings.LastIndexAny(name, ".+")+1:]
	var parts []string
	for f, v := range o.Fields() {
		if err := v.Err(); err != nil {
			r.Note(err)
			continue
		}
		if v.Kind() != objects.KindReference || v.IsNull() || f.Name == "_cachedToString" {
			continue
		}
		s, err := v.Object()
		if r.Note(err); err != nil || !s.IsString() {
			continue
		}
		text, err := s.Start(scopeText)
		if r.Note(err); err == nil {
			parts = append(parts, scopePair(strings.TrimPrefix(f.Name, "_"), text))
		}
	}
	return strings.TrimSpace(short + " " + strings.Join(parts, ", "))
}

// scopeText bounds the characters shown of a scope's value.
const scopeText = 200

func scopePair(key, value string) string {
	return strings.Trim(key, `"`) + "=" + strings.Trim(value, `"`)
}
