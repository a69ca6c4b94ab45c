package cli

import (
	"encoding"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/target"
)

// A command's options and arguments are the fields of a struct. Their types give the kinds, their tags the rest:
//
//	opt:"name,alias,..."  an option
//	arg:"name,optional"   an argument; slices take all that are left
//	help:"..."            what it is, a noun phrase
//	value:"N"             placeholder in help; by default the kind's word
//	kind:"file"           of a string: file or type, for completion; of an address: method, whose name may stand for it
//	choices:"a|b"         the only texts allowed, in any case
//	range:"0:100"         least and greatest number; either may be left out
//	default:"10"          the value where none is given
//	excludes:"a,b"        options and arguments that can't be given with it
//	requires:"a,b"        one of these options has to be given with it
//	required:"true"       the option has to be given
//
// A pointer is nil where nothing was given. Embedded structs add their fields. A type that implements
// encoding.TextUnmarshaler reads its own text; with a method Placeholder or Choices it describes it.

// An Object is an argument that names an object: an address, or an expression of eval that finds it.
type Object struct {
	Addr  target.Addr
	Given bool

	words bool // Addr is not known yet
}

// Bytes is a number of bytes, which may have a unit: 10k, 2mb.
type Bytes uint64

// A Percent is a share in percent: more than 0, at most 100. The sign may be left out.
type Percent float64

// Placeholder describes a percentage in help.
func (Percent) Placeholder() string { return "N%" }

// UnmarshalText reads a share.
func (p *Percent) UnmarshalText(text []byte) error {
	v, err := strconv.ParseFloat(strings.TrimSuffix(string(text), "%"), 64)
	if err != nil || !(v > 0 && v <= 100) {
		return fmt.Errorf("%q is not a share, such as 5%% (more than 0%%, at most 100%%)", text)
	}
	*p = Percent(v)
	return nil
}

// A DumpFile is the argument of commands with DumpArg.
type DumpFile struct {
	File string `arg:"file,optional" kind:"file" help:"the dump"`
}

// None is the struct of a command without options and arguments.
type None struct{}

// Ask makes a command of a question and a renderer. ask gets the options and arguments and returns the answer, which
// text writes. An answer beside an error is dropped, unless WithAnswer marks the error.
func Ask[O, T any](c Command, ask func(*Context, *O) (T, error), text func(*report.Page, T)) Command {
	return AskWith(c, ask, func(p *report.Page, v T, _ *O) { text(p, v) })
}

// AskWith is Ask for answers whose text depends on options.
func AskWith[O, T any](c Command, ask func(*Context, *O) (T, error), text func(*report.Page, T, *O)) Command {
	c.Result = reflect.TypeFor[T]()
	return Do(c, func(c *Context, o *O) (report.Answer, error) {
		v, err := ask(c, o)
		if err != nil {
			with, marked := err.(*withAnswer)
			switch {
			case !marked:
				return report.Answer{}, err
			case with.text != nil:
				return report.SayText(with.text), with.err
			}
			err = with.err
		}
		if rv := reflect.ValueOf(v); rv.Kind() == reflect.Pointer && rv.IsNil() {
			return report.Answer{}, err
		}
		return report.Say(v, func(p *report.Page, v T) { text(p, v, o) }), err
	})
}

// Print makes a command of a function that writes text.
func Print[O any](c Command, write func(*Context, *O, *report.Page)) Command {
	return Do(c, func(c *Context, o *O) (report.Answer, error) {
		return report.SayText(func(p *report.Page) { write(c, o, p) }), nil
	})
}

// Do makes a command of a function that returns a whole answer.
func Do[O any](c Command, ask func(*Context, *O) (report.Answer, error)) Command {
	c = declares[O](c)
	c.Ask = func(c *Context) (report.Answer, error) { return ask(c, c.bound.(*O)) }
	return c
}

// declares makes the fields of O the options and arguments of a command.
func declares[O any](c Command) Command {
	t := reflect.TypeFor[O]()
	c.declared = sync.OnceValue(func() *declaration { return declare(t) })
	return c
}

// A withAnswer is an error beside which there is something to show.
type withAnswer struct {
	err  error
	text func(*report.Page) // nil: the answer
}

func (e *withAnswer) Error() string { return e.err.Error() }

func (e *withAnswer) Unwrap() error { return e.err }

// WithAnswer marks err, which may be nil: the answer that is returned beside it is written.
func WithAnswer(err error) error {
	if err == nil {
		return nil
	}
	return &withAnswer{err: err}
}

// WithText marks err: text is written in place of the answer.
func WithText(text func(*report.Page), err error) error { return &withAnswer{err, text} }

// A declaration lists the options and arguments that a struct declares.
type declaration struct {
	of      reflect.Type
	options []Option
	args    []Arg
	err     error // what is wrong with the tags
}

var (
	addrType   = reflect.TypeFor[target.Addr]()
	objectType = reflect.TypeFor[Object]()
	sizeType   = reflect.TypeFor[Bytes]()
	timeType   = reflect.TypeFor[time.Duration]()
	textType   = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func declare(t reflect.Type) *declaration {
	d := &declaration{of: t}
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous || !f.IsExported() {
			continue
		}
		if err := d.add(&f); err != nil && d.err == nil {
			d.err = fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	return d
}

// A declared is what an option or argument has beside its name and kind.
type declared struct {
	index              []int // of the field
	words              bool  // an expression may stand for the address
	method             bool  // a method's name may
	many               bool  // it is a slice
	Min, Max           *int64
	Default            string
	Excludes, Requires []string
	Required           bool
}

// add declares the option or argument of a field.
func (d *declaration) add(f *reflect.StructField) error {
	what := declared{index: f.Index, Default: f.Tag.Get("default"), Required: f.Tag.Get("required") != "",
		Excludes: list(f.Tag.Get("excludes"), ","), Requires: list(f.Tag.Get("requires"), ",")}
	var err error
	if what.Min, what.Max, err = limitsOf(f.Tag.Get("range")); err != nil {
		return err
	}
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Slice {
		what.many, t = true, t.Elem()
	}
	what.words, what.method = t == objectType, f.Tag.Get("kind") == "method"
	kind, value, choices := kindOf(t, f.Tag.Get("kind")), f.Tag.Get("value"), list(f.Tag.Get("choices"), "|")
	zero := reflect.Zero(t).Interface()
	if v, ok := zero.(interface{ Choices() []string }); ok {
		choices = v.Choices()
	}
	if v, ok := zero.(interface{ Placeholder() string }); ok && value == "" {
		value = v.Placeholder()
	}
	summary := f.Tag.Get("help")
	if t == objectType {
		summary += ", or an expression that finds it: Contoso.Cache.s_items"
	}
	if what.Default != "" {
		summary += " (" + what.Default + ")"
	}
	if names := list(f.Tag.Get("opt"), ","); names != nil {
		d.options = append(d.options, Option{Name: names[0], Aliases: names[1:], Kind: kind, Value: value, Choices: choices, Repeat: what.many,
			Summary: summary, declared: what})
		return nil
	}
	name, optional, _ := strings.Cut(f.Tag.Get("arg"), ",")
	if name == "" || optional != "" && optional != "optional" {
		return fmt.Errorf("the tag %q is neither an option nor an argument", f.Tag)
	}
	d.args = append(d.args, Arg{Name: name, Kind: kind, Choices: choices, Optional: optional != "", Rest: what.many, Words: t == objectType,
		Summary: summary, declared: what})
	return nil
}

func list(text, separator string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, separator)
}

// limitsOf reads the tag range.
func limitsOf(text string) (least, most *int64, err error) {
	if text == "" {
		return nil, nil, nil
	}
	low, high, found := strings.Cut(text, ":")
	if !found {
		return nil, nil, fmt.Errorf("%q is not a range", text)
	}
	for _, end := range []struct {
		text string
		to   **int64
	}{{low, &least}, {high, &most}} {
		if end.text == "" {
			continue
		}
		n, err := ParseInt(end.text)
		if err != nil {
			return nil, nil, err
		}
		*end.to = &n
	}
	return least, most, nil
}

// kindOf returns the kind of values of a type.
func kindOf(t reflect.Type, tag string) Kind {
	switch {
	case t == addrType || t == objectType:
		return Address
	case t == sizeType:
		return Size
	case t == timeType:
		return Duration
	case reflect.PointerTo(t).Implements(textType):
		return Str
	case t.Kind() == reflect.Bool:
		return Bool
	case t.Kind() == reflect.String && tag == "file":
		return File
	case t.Kind() == reflect.String && tag == "type":
		return TypeName
	case t.Kind() == reflect.String:
		return Str
	}
	return Int
}

// bind fills a new struct with what was given, and checks ranges, exclusions and requirements.
func (d *declaration) bind(v values) (any, error) {
	out := reflect.New(d.of)
	for i := range d.options {
		o := &d.options[i]
		if err := o.bind(out.Elem(), v[o.Name], o.Kind); err != nil {
			return nil, fmt.Errorf("option -%s: %w", o.Name, err)
		}
	}
	for i := range d.args {
		a := &d.args[i]
		if err := a.bind(out.Elem(), v[a.Name], a.Kind); err != nil {
			return nil, fmt.Errorf("%s: %w", strings.ToUpper(a.Name), err)
		}
	}
	return out.Interface(), d.check(v)
}

// bind sets the field of one option or argument to what was given, which may be nothing.
func (d *declared) bind(into reflect.Value, given value, kind Kind) error {
	texts := given.list
	if texts == nil && d.Default != "" {
		texts = []string{d.Default}
	}
	if texts == nil {
		return nil
	}
	field := into.FieldByIndex(d.index)
	if field.Kind() == reflect.Pointer {
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	if !d.many {
		return d.set(field, texts[len(texts)-1], kind)
	}
	for _, text := range texts {
		item := reflect.New(field.Type().Elem()).Elem()
		if err := d.set(item, text, kind); err != nil {
			return err
		}
		field.Set(reflect.Append(field, item))
	}
	return nil
}

// registers are the names that stand for addresses, where they are no hexadecimal numbers.
var registers = regexp.MustCompile(`^(?i:@\w+|[re]?(?:ip|sp|bp)|[re](?:ax|bx|cx|dx|si|di)|r[89]|r1[0-5]|x\d{1,2}|pc|lr|fp)$`)

// takesWords reports whether a text that is not an address may stand for one: an expression that finds an object, a
// register, or the name of a method.
func (d *declared) takesWords(text string) bool {
	return d.words || !d.many && registers.MatchString(text) || d.method && strings.ContainsAny(text, ".!")
}

// set sets a field, or an item of one, to what a text means.
func (d *declared) set(field reflect.Value, text string, kind Kind) error {
	if u, ok := field.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	if kind == Address && field.Type() == addrType {
		if _, err := ParseAddress(text); err != nil && d.takesWords(text) {
			return nil // it is evaluated when the dump is open
		}
	}
	if field.Type() == objectType {
		a, err := ParseAddress(text) // an expression is evaluated when the dump is open
		field.Set(reflect.ValueOf(Object{Addr: a, Given: true, words: err != nil}))
		return nil
	}
	num, err := parseKind(kind, text)
	switch {
	case err != nil:
		return err
	case kind == Bool:
		field.SetBool(num != 0)
	case field.Kind() == reflect.String:
		field.SetString(text)
	case kind == Int:
		return d.setInt(field, int64(num))
	case field.CanInt():
		field.SetInt(int64(num))
	case field.OverflowUint(num):
		return fmt.Errorf("%s is too large", text)
	default:
		field.SetUint(num)
	}
	return nil
}

func (d *declared) setInt(field reflect.Value, n int64) error {
	switch {
	case d.Min != nil && n < *d.Min || d.Max != nil && n > *d.Max:
		return fmt.Errorf("%d %s", n, d.outside())
	case field.CanInt() && field.OverflowInt(n):
		return fmt.Errorf("%d is too large", n)
	case field.CanInt():
		field.SetInt(n)
		return nil
	case n < 0:
		return fmt.Errorf("%d is negative", n)
	case field.OverflowUint(uint64(n)):
		return fmt.Errorf("%d is too large", n)
	}
	field.SetUint(uint64(n))
	return nil
}

// outside describes a number outside of the range.
func (d *declared) outside() string {
	switch {
	case d.Min == nil:
		return fmt.Sprintf("is more than %d", *d.Max)
	case d.Max == nil:
		return fmt.Sprintf("is less than %d", *d.Min)
	}
	return fmt.Sprintf("is not between %d and %d", *d.Min, *d.Max)
}

// check looks at what was given together.
func (d *declaration) check(v values) error {
	given := func(name string) bool {
		o, ok := v[name]
		return ok && (o.num != 0 || !d.isBool(name))
	}
	for i := range d.options {
		o := &d.options[i]
		switch {
		case given(o.Name):
			if err := d.checkWith(o, given); err != nil {
				return err
			}
		case o.Required:
			return fmt.Errorf("%s is missing", o.synopsis())
		}
	}
	return nil
}

func (d *declaration) checkWith(o *Option, given func(string) bool) error {
	for _, other := range o.Excludes {
		if given(other) {
			return fmt.Errorf("-%s and %s exclude each other", o.Name, d.called(other))
		}
	}
	if len(o.Requires) > 0 && !slices.ContainsFunc(o.Requires, given) {
		var with []string
		for _, other := range o.Requires {
			with = append(with, d.called(other))
		}
		return fmt.Errorf("-%s goes with %s", o.Name, strings.Join(with, " or "))
	}
	return nil
}

func (d *declaration) isBool(name string) bool {
	return slices.ContainsFunc(d.options, func(o Option) bool { return o.Name == name && o.Kind == Bool })
}

// called returns an option's or argument's name as it is written.
func (d *declaration) called(name string) string {
	if slices.ContainsFunc(d.args, func(a Arg) bool { return a.Name == name }) {
		return strings.ToUpper(name)
	}
	return "-" + name
}
