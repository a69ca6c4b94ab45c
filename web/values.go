package web

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/collections"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/shapes"
	"github.com/sosgo/sosgo/target"
	"github.com/sosgo/sosgo/tasks"
)

// A Reader reads the requests of one runtime. It is safe for concurrent use.
type Reader struct {
	b     *shapes.Binder
	items *collections.Reader
	tasks *tasks.Reader
}

// New returns a Reader for what a Binder binds.
func New(b *shapes.Binder, c *collections.Reader, t *tasks.Reader) *Reader { return &Reader{b, c, t} }

// text is the string in a field; empty where there is no such field, and for null.
func text(g *answer.Gaps, f *shapes.Ref, x shapes.Instance) answer.Text {
	if !f.Has() {
		return answer.Text{}
	}
	s, _, err := f.Text(x, limits.RequestText)
	return g.Text(s, err)
}

// number is the integer in a field, 0 where there is no such field.
func number(g *answer.Gaps, f *shapes.Int, x shapes.Instance) int64 {
	if !f.Has() {
		return 0
	}
	n, err := f.Int(x)
	g.Note(err)
	return n
}

// bind binds a shape to what a field refers to; nil for null, for an object of another type, and with a note for what can't be
// read.
func bind[T any](g *answer.Gaps, r *Reader, f *shapes.Ref, x shapes.Instance) (*T, shapes.Instance) {
	if !f.Has() {
		return nil, 0
	}
	o, err := f.Object(x)
	if err != nil {
		g.Note(err)
		return nil, 0
	}
	return bindObject[T](g, r, o)
}

func bindObject[T any](g *answer.Gaps, r *Reader, o objects.Object) (*T, shapes.Instance) {
	if o.Addr == 0 {
		return nil, 0
	}
	s, at, err := shapes.BindObject[T](r.b, o)
	if err != nil {
		if !errors.Is(err, shapes.ErrOtherType) {
			g.Note(err)
		}
		return nil, 0
	}
	return s, at
}

// enumName is the name of the value of an enum, or its number.
func enumName(f *shapes.Int, x shapes.Instance) answer.Text {
	v := f.Value(x)
	if v.Err() != nil {
		return answer.Text{Err: v.Err()}
	}
	return answer.Text{S: v.Plain(0)}
}

// ticksToUnix is the number of ticks, of 100 nanoseconds, from year 1 to 1970.
const ticksToUnix = 621355968000000000

// maxTicks is the last tick of year 9999.
const maxTicks = 3155378975999999999

// dateTime is the time that the field of a DateTime has in UTC, zero for none.
func dateTime(data uint64) (time.Time, error) {
	ticks := int64(data & (1<<62 - 1))
	if ticks > maxTicks {
		return time.Time{}, target.Corruptf("a DateTime of %#x", data)
	}
	if ticks == 0 {
		return time.Time{}, nil
	}
	return ticksTime(ticks), nil
}

func ticksTime(ticks int64) time.Time {
	t := ticks - ticksToUnix
	return time.Unix(t/1e7, t%1e7*100).UTC()
}

// address is what an IPAddress says, with a port.
func (r *Reader) address(g *answer.Gaps, f *shapes.Ref, port *shapes.Int, x shapes.Instance) string {
	s, at := bind[ipAddress](g, r, f, x)
	if s == nil {
		return ""
	}
	var text string
	numbers, err := s.Numbers.Object(at)
	if err == nil && numbers.Addr == 0 {
		var n uint64
		n, err = s.Number.Uint(at)
		text = netip.AddrFrom4([4]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}).String()
	} else if err == nil {
		text, err = address6(numbers)
	}
	if err != nil {
		g.Note(err)
		return ""
	}
	p := number(g, port, x)
	if p == 0 {
		return text
	}
	if strings.Contains(text, ":") {
		text = "[" + text + "]"
	}
	return fmt.Sprintf("%s:%d", text, p)
}

// address6 is an address of IPv6, of eight numbers.
func address6(o objects.Object) (string, error) {
	a, err := o.Array()
	if err != nil {
		return "", err
	}
	if a.Len != 8 {
		return "", target.Corruptf("an IPv6 address has %d numbers", a.Len)
	}
	var b [16]byte
	for i := range uint32(8) {
		n, err := a.At(i).Bits()
		if err != nil {
			return "", err
		}
		b[2*i], b[2*i+1] = byte(n>>8), byte(n)
	}
	return netip.AddrFrom16(b).Unmap().String(), nil
}
