package answer

import (
	"reflect"
	"slices"

	"github.com/sosgo/sosgo/target"
)

// A Strength is how certain a conclusion is.
type Strength string

// The strengths, the strongest first.
const (
	StrengthRecorded Strength = "recorded" // recorded in the dump
	StrengthProved   Strength = "proved"   // follows from what the dump records
	StrengthLikely   Strength = "likely"   // follows from names, or from what is usual
	StrengthPossible Strength = "possible" // not refuted, with little evidence for it
	StrengthUnknown  Strength = "unknown"  // the dump does not record it
)

var strengths = []Strength{StrengthRecorded, StrengthProved, StrengthLikely, StrengthPossible, StrengthUnknown}

// rank returns the position of s, 0 for the strongest. An undefined strength ranks as StrengthUnknown.
func (s Strength) rank() int {
	if n := slices.Index(strengths, s); n >= 0 {
		return n
	}
	return len(strengths) - 1
}

// Weakest returns the weakest of the strengths, which limits a conclusion drawn from all. With no arguments it
// returns StrengthUnknown.
func Weakest(list ...Strength) Strength {
	if len(list) == 0 {
		return StrengthUnknown
	}
	weakest := 0
	for _, s := range list {
		weakest = max(weakest, s.rank())
	}
	return strengths[weakest]
}

// CompareStrength returns a negative number if a is stronger than b, 0 if they are equal, and a positive number
// otherwise.
func CompareStrength(a, b Strength) int { return a.rank() - b.rank() }

// A Statement is a sentence or a part of one, made from arguments by package internal/words.
type Statement struct {
	Text string `json:"text" doc:"the sentence"`
	Says string `json:"says,omitempty" doc:"the kind of sentence; absent for one that is a value alone"`
	Args []Arg  `json:"args,omitempty" doc:"what the sentence is made from, in the order in which it stands in text"`
}

// An Arg is an argument of a statement: a typed value and its position in the text.
type Arg struct {
	Name    string      `json:"name,omitempty" doc:"what it is in this kind of sentence; several values of one name are a list"`
	Type    ArgType     `json:"type" doc:"count, bytes, duration, percent, address, object, type, method, field, thread, place, text (a string of the program), phrase (a part of the sentence, whose arguments follow)"`
	Number  *uint64     `json:"number,omitempty" doc:"of a count, a number, of bytes, of a duration in nanoseconds, or of a line of code"`
	Percent *float64    `json:"percent,omitempty" doc:"of percent"`
	Address target.Addr `json:"address,omitempty" doc:"of an address or an object"`
	Value   string      `json:"value,omitempty" doc:"name of a type, method, field or thread, file of a place, a text, or the kind of a phrase"`
	Index   *int        `json:"thread,omitempty" doc:"of a thread: its number among the threads"`
	OSID    uint32      `json:"osThreadId,omitempty" doc:"of a thread: its id of the system"`
	Managed uint32      `json:"managedThreadId,omitempty" doc:"of a thread: its managed id"`
	Start   int         `json:"start" doc:"where it begins in text, in UTF-16 code units"`
	End     int         `json:"end" doc:"where it ends"`
}

// same reports whether a and b are one value, wherever they stand in their texts.
func (a Arg) same(b Arg) bool {
	a.Start, a.End, b.Start, b.End = 0, 0, 0, 0
	return reflect.DeepEqual(a, b)
}

// An ArgType is the type of an argument.
type ArgType string

// The types of arguments.
const (
	ArgCount    ArgType = "count"
	ArgNumber   ArgType = "number" // that counts nothing: of a port, process, user, signal or line
	ArgBytes    ArgType = "bytes"
	ArgDuration ArgType = "duration"
	ArgPercent  ArgType = "percent"
	ArgAddress  ArgType = "address" // of memory that may be no object
	ArgObject   ArgType = "object"
	ArgTypeName ArgType = "type"
	ArgMethod   ArgType = "method"
	ArgField    ArgType = "field"
	ArgThread   ArgType = "thread"
	ArgPlace    ArgType = "place"
	ArgText     ArgType = "text"
	ArgPhrase   ArgType = "phrase"
)

// IsZero reports whether the statement is empty.
func (s Statement) IsZero() bool { return s.Text == "" }

// Plus returns s continued by others. Its kind is s's.
func (s Statement) Plus(others ...Statement) Statement {
	s.Args = slices.Clip(s.Args)
	for _, o := range others {
		s.Args = append(s.Args, o.shifted(units(s.Text))...)
		s.Text += o.Text
	}
	return s
}

// From returns the part of s after its first bytes.
func (s Statement) From(bytes int) Statement {
	s.Args = s.shifted(-units(s.Text[:bytes]))
	s.Args = slices.DeleteFunc(s.Args, func(a Arg) bool { return a.Start < 0 })
	s.Text = s.Text[bytes:]
	return s
}

// shifted returns the arguments of s, moved by a number of units.
func (s Statement) shifted(by int) []Arg {
	out := slices.Clone(s.Args)
	for i := range out {
		out[i].Start, out[i].End = out[i].Start+by, out[i].End+by
	}
	return out
}

// units returns the length of a text in UTF-16 code units.
func units(text string) int {
	_, n := CutText(text, -1)
	return int(n)
}

// A Verdict is a conclusion: a statement about a process with its strength and evidence. Conclude makes it.
type Verdict struct {
	Kind FindingKind `json:"kind,omitempty" doc:"what it is about, a kind of finding; absent for a statement that is no finding"`
	Statement
	Strength Strength    `json:"strength" doc:"recorded (in the dump), proved (it follows), likely (from names or custom), possible (little speaks for it), unknown (not in the dump)"`
	Evidence []string    `json:"evidence,omitempty" doc:"what it is concluded from"`
	Facts    []Statement `json:"facts,omitempty" doc:"evidence with its arguments, in the same order"`
	Rests    []Premise   `json:"rests,omitempty" doc:"what must hold for it to be as strong"`
	Count    int         `json:"count,omitempty" doc:"how many threads or operations it is about alike, if more than one"`
	Show     []string    `json:"show,omitempty" doc:"commands that show the evidence"`

	// Sites are the places in the program that the statement is about. A finding's signature is made from them. For a
	// circle of waits they are in its order; otherwise the order is arbitrary.
	Sites []Site `json:"-"`

	// Severity is the severity of a finding made of it if it differs from its kind's.
	Severity Severity `json:"-"`

	// Thing names the lock or handle that all threads of Sites wait for, if there is one.
	Thing string `json:"-"`

	// Class has the field that holds what is waited for, if there is one.
	Class string `json:"-"`

	// Behind has the OS ids of the threads that must go on first, if they wait themselves.
	Behind []uint32 `json:"-"`

	// BehindMethods has the addresses of the suspended methods that must go on first, as Behind has threads.
	BehindMethods []target.Addr `json:"-"`

	// Waiting has the addresses of the suspended methods that wait for what the statement is about.
	Waiting []target.Addr `json:"-"`
}

// Conclude returns a conclusion of a kind, drawn from facts. kind is NoFinding if the conclusion is no finding.
func Conclude(kind FindingKind, says Statement, strength Strength, facts ...Statement) Verdict {
	v := Verdict{Kind: kind, Statement: says, Strength: strength}
	v.Because(facts...)
	return v
}

// VerdictsOf returns the conclusions of an answer: those in its field Verdicts, and those in fields of type *Verdict of the answer and of the
// parts that it has once.
func VerdictsOf(a any) []*Verdict {
	var out []*Verdict
	eachPart(reflect.ValueOf(a), 0, func(part any) {
		switch x := part.(type) {
		case *[]Verdict:
			for i := range *x {
				out = append(out, &(*x)[i])
			}
		case **Verdict:
			if *x != nil {
				out = append(out, *x)
			}
		}
	})
	return out
}

// ReasonsOf returns the reasons that an answer has beside its Gaps for what is missing: the fields of type error, and the reasons of missing
// values (Maybe), of the answer and of the parts that it has once.
func ReasonsOf(a any) []*error {
	var out []*error
	eachPart(reflect.ValueOf(a), 0, func(part any) {
		x, ok := part.(*error)
		if m, maybe := part.(interface{ reason() *error }); maybe {
			x, ok = m.reason(), true
		}
		if ok && *x != nil {
			out = append(out, x)
		}
	})
	return out
}

// RowReasonsOf returns the reasons for what is missing in the lists that an answer has, as ReasonsOf does for its own parts.
func RowReasonsOf(a any) []*error {
	var out []*error
	rowsOf(reflect.ValueOf(a), 0, &out)
	return out
}

// rowsOf adds the reasons in the lists of v.
func rowsOf(v reflect.Value, depth int, out *[]*error) {
	v = reflect.Indirect(reflect.Indirect(v))
	if v.Kind() != reflect.Struct || !v.CanAddr() || depth > mostNested {
		return
	}
	for _, field := range v.Fields() {
		switch {
		case !field.CanInterface():
		case field.Kind() == reflect.Slice:
			for i := range field.Len() {
				if row := reflect.Indirect(field.Index(i)); row.CanAddr() {
					*out = append(*out, ReasonsOf(row.Addr().Interface())...)
					rowsOf(row.Addr(), depth+1, out)
				}
			}
		default:
			rowsOf(field, depth+1, out)
		}
	}
}

// mostNested bounds the depth of parts in parts of an answer.
const mostNested = 4

// eachPart passes f a pointer to each exported field of v and of the structs in it, but not of those in lists.
func eachPart(v reflect.Value, depth int, f func(any)) {
	v = reflect.Indirect(reflect.Indirect(v))
	if v.Kind() != reflect.Struct || !v.CanAddr() || depth > mostNested {
		return
	}
	for _, field := range v.Fields() {
		if field.CanInterface() {
			f(field.Addr().Interface())
			eachPart(field, depth+1, f)
		}
	}
}

// Because adds facts to the evidence. Empty statements are skipped.
func (v *Verdict) Because(facts ...Statement) {
	for _, f := range facts {
		if !f.IsZero() {
			v.Evidence, v.Facts = append(v.Evidence, f.Text), append(v.Facts, f)
		}
	}
}
