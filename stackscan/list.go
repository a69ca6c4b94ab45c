package stackscan

import (
	"context"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// Runtime returns the runtime with the objects that the Scanner searches for.
func (s *Scanner) Runtime() *dac.Runtime { return s.rt }

// List is Scan with a description of each object: type, text of a string, message of an exception, boxed value. It
// notes unreadable types in gaps.
func (s *Scanner) List(ctx context.Context, o Options, gaps *answer.Gaps) iter.Seq2[answer.StackObject, error] {
	return func(yield func(answer.StackObject, error) bool) {
		l := lister{s: s, gaps: gaps, names: map[target.Addr]answer.Text{}, objects: objects.New(s.rt)}
		for slot, err := range s.Scan(ctx, o) {
			if err != nil {
				if !yield(answer.StackObject{}, err) {
					return
				}
				continue
			}
			row := answer.StackObject{Slot: slot.Addr, Object: slot.Object, MethodTable: slot.Type.Addr, Type: l.name(&slot),
				Value: l.value(&slot), Unproven: slot.Unproven}
			if slot.Source == SourceRegister {
				row.Register = target.RegName(o.Registers.Arch, slot.Register)
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// A lister describes the objects of one scan.
type lister struct {
	s       *Scanner
	objects *objects.Reader
	gaps    *answer.Gaps
	names   map[target.Addr]answer.Text // by MethodTable
}

func (l *lister) name(s *Slot) answer.Text {
	if s.Free {
		return answer.Text{S: "Free"}
	}
	name, ok := l.names[s.Type.Addr]
	if !ok {
		name = l.gaps.Text(l.s.rt.TypeName(s.Type.Addr, dac.NameManaged))
		l.names[s.Type.Addr] = name
	}
	return name
}

// maxInline is the maximum number of characters of text in a line.
const maxInline = 80

// value returns a short text of the object's content. It may be empty.
func (l *lister) value(s *Slot) string {
	if s.Free {
		return ""
	}
	if ok, err := l.s.rt.IsException(s.Type); ok && err == nil {
		return l.message(s.Object)
	}
	o, err := l.objects.TrustedObject(s.Object)
	switch {
	case err != nil:
		return ""
	case o.IsBoxed():
		return o.Boxed().Plain(maxInline)
	case o.IsString():
		return o.Inline(maxInline)
	}
	return ""
}

// message returns the quoted message of an exception.
func (l *lister) message(a target.Addr) string {
	e, err := l.s.rt.Exception(a)
	if err != nil || e.Message == 0 {
		return ""
	}
	text, err := l.s.rt.StringAt(e.Message, maxInline+1)
	if err != nil {
		return answer.Absent(err)
	}
	return answer.Quote(cutEnd(text, maxInline))
}

// cutEnd shortens s to n characters. The last three are dots.
func cutEnd(s string, n int) string {
	const dots = "..."
	if start, _ := answer.CutText(s, n); start == s {
		return s
	}
	start, _ := answer.CutText(s, n-len(dots))
	return start + dots
}
