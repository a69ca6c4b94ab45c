package words

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// Value returns a statement that is only a value, shown as given.
func Value(a answer.Arg, shown string) answer.Statement {
	s := answer.Statement{Text: shown}
	if shown != "" {
		_, units := answer.CutText(shown, -1)
		a.End = int(units)
		s.Args = []answer.Arg{a}
	}
	return s
}

// number returns a value with a number.
func number(kind answer.ArgType, n uint64, shown string) answer.Statement {
	return Value(answer.Arg{Type: kind, Number: &n}, shown)
}

// N returns a number of things.
func N[T int | int32 | int64 | uint32 | uint64](n T) answer.Statement {
	return number(answer.ArgCount, uint64(n), strconv.FormatInt(int64(n), 10))
}

// Number returns a number that counts nothing: of a port, process, user, signal or line.
func Number[T int | int32 | int64 | uint32 | uint64](n T) answer.Statement {
	return number(answer.ArgNumber, uint64(n), strconv.FormatInt(int64(n), 10))
}

// Commas returns a number of things with commas between thousands.
func Commas[T int | uint64](n T) answer.Statement {
	digits := strconv.FormatUint(uint64(n), 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return number(answer.ArgCount, uint64(n), digits)
}

// Bytes returns a number of bytes with a unit.
func Bytes(n uint64) answer.Statement { return number(answer.ArgBytes, n, Size(n)) }

// ExactBytes returns a number of bytes as it is.
func ExactBytes(n uint64) answer.Statement {
	return number(answer.ArgBytes, n, strconv.FormatUint(n, 10))
}

// Size returns a number of bytes for people.
func Size(n uint64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, units := float64(n)/unit, []string{"KB", "MB", "GB"}
	for len(units) > 1 && value >= unit-0.05 {
		value, units = value/unit, units[1:]
	}
	return fmt.Sprintf("%.1f %s", value, units[0])
}

// Percent returns a share as a percentage.
func Percent(share float64) answer.Statement {
	return Value(answer.Arg{Type: answer.ArgPercent, Percent: &share}, PercentText(share))
}

// PercentText formats a percentage for people, with a decimal. What is not all is not 100.0%, and what is not nothing is not 0.0%.
func PercentText(share float64) string {
	switch {
	case share > 0 && share < 0.05:
		return "<0.1%"
	case share < 100:
		share = min(share, 99.9)
	}
	return strconv.FormatFloat(share, 'f', 1, 64) + "%"
}

// Duration returns a time.
func Duration(d time.Duration) answer.Statement {
	return number(answer.ArgDuration, uint64(max(d, 0)), Elapsed(d))
}

// Milliseconds returns a time in milliseconds.
func Milliseconds(n int64) answer.Statement { return Duration(millis(n)) }

// millis returns a number of milliseconds as a duration. It ends at the longest duration.
func millis(n int64) time.Duration {
	const most = int64(math.MaxInt64 / time.Millisecond)
	return time.Duration(min(max(n, -most), most)) * time.Millisecond
}

// ElapsedMillis is Elapsed of a number of milliseconds.
func ElapsedMillis(n int64) string { return Elapsed(millis(n)) }

// Elapsed returns a duration for people: "14.2 s", "1 min 40 s", "2 h 5 min", "250 ms".
func Elapsed(d time.Duration) string {
	if d < 0 {
		return "-" + Elapsed(-max(d, -math.MaxInt64))
	}
	const day = 24 * time.Hour
	for _, u := range [...]struct {
		below, unit time.Duration
		name        string
	}{{time.Microsecond, time.Nanosecond, "ns"}, {time.Millisecond, time.Microsecond, "µs"}, {time.Second, time.Millisecond, "ms"}} {
		if n := d.Round(u.unit) / u.unit; n < u.below/u.unit {
			if n == 0 {
				break
			}
			return fmt.Sprintf("%d %s", n, u.name)
		}
	}
	switch tenths := d.Round(time.Second / 10); {
	case tenths < time.Minute:
		return strconv.FormatFloat(tenths.Seconds(), 'f', -1, 64) + " s"
	case d.Round(time.Second) < time.Hour:
		return twoUnits(d, time.Minute, time.Second, "min", "s")
	case d.Round(time.Minute) < day:
		return twoUnits(d, time.Hour, time.Minute, "h", "min")
	}
	return twoUnits(d, day, time.Hour, "d", "h")
}

// twoUnits returns a duration in two units, the second only if it is not 0.
func twoUnits(d, large, small time.Duration, largeName, smallName string) string {
	d = d.Round(small)
	text := fmt.Sprintf("%d %s", d/large, largeName)
	if rest := d % large / small; rest > 0 {
		text += fmt.Sprintf(" %d %s", rest, smallName)
	}
	return text
}

// Object returns the address of an object, with all its digits.
func Object(a target.Addr) answer.Statement {
	return Value(answer.Arg{Type: answer.ArgObject, Address: a}, fmt.Sprintf("%016x", uint64(a)))
}

// ShortObject returns the address of an object as commands take it.
func ShortObject(a target.Addr) answer.Statement {
	return Value(answer.Arg{Type: answer.ArgObject, Address: a}, fmt.Sprintf("%x", uint64(a)))
}

// ShortAddress returns the address of anything as commands take it.
func ShortAddress(a target.Addr) answer.Statement {
	return Value(answer.Arg{Type: answer.ArgAddress, Address: a}, fmt.Sprintf("%x", uint64(a)))
}

// Address returns an address that may be of anything.
func Address(a target.Addr) answer.Statement {
	return Value(answer.Arg{Type: answer.ArgAddress, Address: a}, fmt.Sprintf("%#x", uint64(a)))
}

// Type returns the name of a type.
func Type(name string) answer.Statement { return named(answer.ArgTypeName, name) }

// Method returns the name of a method.
func Method(name string) answer.Statement { return named(answer.ArgMethod, name) }

// Field returns the name of a field.
func Field(name string) answer.Statement { return named(answer.ArgField, name) }

// Text returns a text of the program or of the dump.
func Text(s string) answer.Statement { return named(answer.ArgText, s) }

func named(kind answer.ArgType, name string) answer.Statement {
	return Value(answer.Arg{Type: kind, Value: name}, name)
}

// Place returns a line of a source file.
func Place(file string, line int) answer.Statement {
	n := uint64(max(line, 0))
	return Value(answer.Arg{Type: answer.ArgPlace, Value: file, Number: &n}, fmt.Sprintf("%s:%d", file, line))
}

// Thread returns a thread with its number in the list of threads, or else its OS id, and its name.
func Thread(t answer.Thread) answer.Statement {
	words := fmt.Sprintf("%#x", t.OSID)
	if t.Index != nil {
		words = strconv.Itoa(*t.Index)
	}
	return thread(t, words)
}

// ManagedThread returns a thread by its managed id, with its name.
func ManagedThread(t answer.Thread) answer.Statement {
	return thread(t, fmt.Sprintf("managed %d", t.ManagedID))
}

// ThreadNumber returns a thread with its number in the list of threads, or else its OS id.
func ThreadNumber(t answer.Thread) answer.Statement {
	words := fmt.Sprintf("%#x", t.OSID)
	if t.Index != nil {
		words = strconv.Itoa(*t.Index)
	}
	return threadAs(t, words)
}

// ThreadAndID returns a thread with its number in the list of threads, its OS id, and its name.
func ThreadAndID(t answer.Thread) answer.Statement {
	words := fmt.Sprintf("%#x", t.OSID)
	if t.Index != nil {
		words = fmt.Sprintf("%d (%#x)", *t.Index, t.OSID)
	}
	return thread(t, words)
}

// ThreadID returns a thread with its OS id.
func ThreadID(id uint32) answer.Statement {
	return thread(answer.Thread{OSID: id}, fmt.Sprintf("%#x", id))
}

func thread(t answer.Thread, words string) answer.Statement {
	if t.Name != "" {
		words += fmt.Sprintf(" %q", t.Name)
	}
	if t.Finalizer {
		words += " (finalizer)"
	}
	return threadAs(t, words)
}

func threadAs(t answer.Thread, words string) answer.Statement {
	return Value(answer.Arg{Type: answer.ArgThread, Value: t.Name, Index: t.Index, OSID: t.OSID, Managed: t.ManagedID}, words)
}

// Failure names the exception of a failure, with its message and its cause if these are known.
func Failure(e *answer.TaskException) answer.Statement {
	message := answer.Statement{}
	if e.Message.Err == nil && e.Message.S != "" {
		message = ColonMessage.Of(Text(e.Message.S))
	}
	method := answer.Statement{}
	if e.Thrown.Err == nil && e.Thrown.S != "" {
		method = ThrownIn.Of(Method(e.Thrown.S))
	}
	caused := answer.Statement{}
	if e.Cause.Err == nil && e.Cause.S != "" {
		caused = FailureCause.Of(Text(e.Cause.S))
	}
	return ColonException.Of(Type(e.Type.String()), message, method, caused)
}

// Server names a server by its host, and by its port if that is known.
func Server(host answer.Text, port answer.Maybe[int64]) answer.Statement {
	colon := answer.Statement{}
	if port.Err() == nil {
		colon = ColonPort.Of(Number(port.Value))
	}
	return ServerPort.Of(Text(host.String()), colon)
}
