package cli

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// The fields of a struct declare a command's options and arguments. Their types determine the kinds, and their tags
// the rest:
//
//	opt:"name,alias,..."  an option
//	arg:"name,optional"   an argument; a slice takes all remaining words
//	help:"..."            a noun phrase
//	value:"N"             placeholder in help; by default the kind's word
//	kind:"file"           for a string: file, type or expression, for completion; for a number: size, to accept a unit
//	                      as in 10k; for an address: method, to accept a method's name; for an Object: type, to accept
//	                      a part of a type's name, or value, to accept an inline value type
//	choices:"a|b"         the only valid texts, in any case
//	range:"0:100"         the least and greatest number; either may be omitted
//	default:"10"          the default value
//	excludes:"a,b"        options and arguments that may not be given with it
//	requires:"a,b"        options of which one must be given with it
//	required:"true"       the option must be given
//	reveals:"true"        the option shows secrets
//
// A pointer is nil if nothing was given. A float64 is a percentage. Embedded structs, such as the options of a library
// function, add their fields; fields without tags are no options. A type may implement encoding.TextUnmarshaler to
// parse its text, and a method Placeholder or Choices to describe it, or Examples for texts that completion offers.

// An Object is an argument that names an object: an address, or an expression of eval that yields an object.
type Object struct {
	Addr  target.Addr
	Given bool
	Type  string // a part of a type's name instead of an address; see the tag kind
	// MethodTable is the type of an inline value type at Addr, or 0 for an object; see the tag kind.
	MethodTable target.Addr
}

// ParsePercent parses a percentage greater than 0 and at most 100. The percent sign is optional.
func ParsePercent(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(v > 0 && v <= 100) {
		return 0, fmt.Errorf("%q is not a share, such as 5%% (more than 0%%, at most 100%%)", text)
	}
	return v, nil
}

// A DumpFile is the argument of commands with DumpArg.
type DumpFile struct {
	File string `arg:"file,optional" kind:"file" help:"the dump"`
}

// None is the struct of a command without options and arguments.
type None struct{}

// In the functions below, the type parameter O is the pointer to a command's struct. The compiler then makes one copy
// of each function for all pointers. With struct types it would make one copy for each struct.

// Ask makes a command from a question and a renderer. ask receives a pointer to the struct of options and arguments.
// text writes the answer that ask returns. An answer returned with an error is dropped, unless the error was marked
// by WithAnswer.
func Ask[O, T any](c Command, ask func(*Context, O) (T, error), text func(*report.Page, T)) Command {
	return AskWith(c, ask, func(p *report.Page, v T, _ O) { text(p, v) })
}

// AskWith is like Ask for answers with a text that depends on options.
func AskWith[O, T any](c Command, ask func(*Context, O) (T, error), text func(*report.Page, T, O)) Command {
	c.Result = reflect.TypeFor[T]()
	return Do(c, func(c *Context, o O) (report.Answer, error) {
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

// Print makes a command from a function that writes text.
func Print[O any](c Command, write func(*Context, O, *report.Page)) Command {
	return Do(c, func(c *Context, o O) (report.Answer, error) {
		return report.SayText(func(p *report.Page) { write(c, o, p) }), nil
	})
}

// Do makes a command from a function that returns a complete answer.
func Do[O any](c Command, ask func(*Context, O) (report.Answer, error)) Command {
	c.params = reflect.TypeFor[O]().Elem()
	c.Ask = func(c *Context) (report.Answer, error) { return ask(c, c.own.filled().(O)) }
	return c
}

// declares sets the struct O as the declaration of a command's options and arguments.
func declares[O any](c Command) Command {
	c.params = reflect.TypeFor[O]()
	return c
}

// A withAnswer is an error with an answer or text to write.
type withAnswer struct {
	err  error
	text func(*report.Page) // nil to write the answer
}

func (e *withAnswer) Error() string { return e.err.Error() }

func (e *withAnswer) Unwrap() error { return e.err }

// WithAnswer marks err so that the answer returned with it is written. err may be nil.
func WithAnswer(err error) error {
	if err == nil {
		return nil
	}
	return &withAnswer{err: err}
}

// WithText marks err so that text is written instead of the answer.
func WithText(text func(*report.Page), err error) error { return &withAnswer{err, text} }

// A declaration lists the options and arguments that a struct declares.
type declaration struct {
	options  []Option
	args     []Arg
	defaults reflect.Value // the struct with the default values
	err      error         // an error in the tags
}

var (
	addrType   = reflect.TypeFor[target.Addr]()
	objectType = reflect.TypeFor[Object]()
	timeType   = reflect.TypeFor[time.Duration]()
	textType   = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// declarations caches declarations by the struct's type.
var declarations sync.Map

// declared returns the declaration of a struct. It returns the same pointer each time.
func declared(t reflect.Type) *declaration {
	if d, ok := declarations.Load(t); ok {
		return d.(*declaration)
	}
	d, _ := declarations.LoadOrStore(t, declare(t))
	return d.(*declaration)
}

func declare(t reflect.Type) *declaration {
	d := &declaration{defaults: reflect.New(t).Elem()}
	d.addAll(t, nil)
	return d
}

// addAll declares the fields of a struct and its embedded structs. index is the path to the struct. Two options with
// one name are an error, so it need not resolve hidden fields as reflect.VisibleFields does.
func (d *declaration) addAll(t reflect.Type, index []int) {
	d.options = slices.Grow(d.options, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		f.Index = append(index[:len(index):len(index)], i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			d.addAll(f.Type, f.Index)
			continue
		}
		if f.Anonymous || !f.IsExported() || f.Tag == "" {
			continue
		}
		if err := d.add(&f); err != nil && d.err == nil {
			d.err = fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
}

// add declares the option or argument of a field.
func (d *declaration) add(f *reflect.StructField) error {
	t, what := f.Type, param{index: f.Index, Default: f.Tag.Get("default"), Choices: list(f.Tag.Get("choices"), "|"),
		Placeholder: f.Tag.Get("value"), Summary: f.Tag.Get("help")}
	var err error
	if what.Min, what.Max, err = limitsOf(f.Tag.Get("range")); err != nil {
		return err
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Slice {
		what.Many, t = true, t.Elem()
	}
	what.Expression, what.Method = t == objectType, f.Tag.Get("kind") == "method"
	what.Type = what.Expression && f.Tag.Get("kind") == "type"
	what.Value = what.Expression && f.Tag.Get("kind") == "value"
	what.Kind = kindOf(t, f.Tag.Get("kind"))
	if hasMethods(t) {
		zero := reflect.Zero(t).Interface()
		if v, ok := zero.(interface{ Choices() []string }); ok {
			what.Choices = v.Choices()
		}
		if v, ok := zero.(interface{ Examples() []string }); ok {
			what.offers = v.Examples()
		}
		if v, ok := zero.(interface{ Placeholder() string }); ok && what.Placeholder == "" {
			what.Placeholder = v.Placeholder()
		}
	}
	if what.Expression {
		what.Summary += ", or an expression that finds it: Contoso.Cache.s_items"
	}
	if what.Type {
		what.Summary += "; or a part of the names of types"
	}
	if what.Default != "" {
		what.Summary += " (" + what.Default + ")"
		b := binding{declaration: d, into: d.defaults, given: map[string]bool{}}
		if err := b.set(&what, what.Default); err != nil {
			return err
		}
	}
	if names := list(f.Tag.Get("opt"), ","); names != nil {
		what.Name = names[0]
		d.options = append(d.options, Option{param: what, Aliases: names[1:], Required: f.Tag.Get("required") != "", Reveals: f.Tag.Get("reveals") != "",
			Excludes: list(f.Tag.Get("excludes"), ","), Requires: list(f.Tag.Get("requires"), ",")})
		return nil
	}
	name, optional, _ := strings.Cut(f.Tag.Get("arg"), ",")
	if name == "" || optional != "" && optional != "optional" {
		return fmt.Errorf("the tag %q is neither an option nor an argument", f.Tag)
	}
	what.Name = name
	d.args = append(d.args, Arg{param: what, Optional: optional != ""})
	return nil
}

// tagKeys lists the keys of tags that declare options and arguments.
const tagKeys = "opt arg help value kind choices range default excludes requires required reveals"

// checkTags reports a key of a tag that add does not read.
func (d *declaration) checkTags() error {
	check := func(p *param) error {
		f := d.defaults.Type().FieldByIndex(p.index)
		for _, key := range tagKey().FindAllStringSubmatch(string(f.Tag), -1) {
			if !slices.Contains(strings.Fields(tagKeys), key[1]) {
				return fmt.Errorf("field %s: unknown key %q in its tag", f.Name, key[1])
			}
		}
		return nil
	}
	for i := range d.options {
		if err := check(&d.options[i].param); err != nil {
			return err
		}
	}
	for i := range d.args {
		if err := check(&d.args[i].param); err != nil {
			return err
		}
	}
	return nil
}

// tagKey matches a key of a tag with its value.
var tagKey = lazyRegexp(`(\w+):"(?:[^"\\]|\\.)*"`)

func list(text, separator string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, separator)
}

// limitsOf parses the tag range.
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

// hasMethods reports whether a type may have methods. Predeclared types such as bool and string cannot; testing them
// for interfaces took a third of the time of all declarations.
func hasMethods(t reflect.Type) bool { return t.PkgPath() != "" }

// kindOf returns the kind of a type's values.
func kindOf(t reflect.Type, tag string) Kind {
	switch {
	case t == addrType || t == objectType:
		return Address
	case tag == "size":
		return Size
	case t == timeType:
		return Duration
	case hasMethods(t) && reflect.PointerTo(t).Implements(textType):
		return Str
	case t.Kind() == reflect.Bool:
		return Bool
	case t.Kind() == reflect.String && tag == "file":
		return File
	case t.Kind() == reflect.String && tag == "type":
		return TypeName
	case t.Kind() == reflect.String && tag == "expression":
		return Expression
	case t.Kind() == reflect.String, t.Kind() == reflect.Float64:
		return Str
	}
	return Int
}

// A binding is a struct that a command line fills.
type binding struct {
	*declaration
	into  reflect.Value
	given map[string]bool   // names of the options and arguments given, except options switched off
	words map[string]string // by name: texts to resolve to an address once the dump is open
}

// bind returns a binding to a new struct with the defaults.
func (d *declaration) bind() *binding {
	b := &binding{d, reflect.New(d.defaults.Type()).Elem(), map[string]bool{}, map[string]string{}}
	b.into.Set(d.defaults)
	return b
}

// bindTo returns a binding to the struct that into points to.
func bindTo(into any) *binding {
	v := reflect.ValueOf(into).Elem()
	b := declared(v.Type()).bind()
	b.into = v
	return b
}

// filled returns a pointer to the struct.
func (b *binding) filled() any { return b.into.Addr().Interface() }

// set sets an option or argument, or appends to one with several values.
func (b *binding) set(p *param, text string) error {
	if len(p.Choices) > 0 {
		i := slices.IndexFunc(p.Choices, func(c string) bool { return strings.EqualFold(c, text) })
		if i < 0 {
			return fmt.Errorf("%q is none of %s", text, strings.Join(p.Choices, ", "))
		}
		text = p.Choices[i]
	}
	field := b.into.FieldByIndex(p.index)
	to := field
	switch {
	case p.Many:
		to = reflect.New(field.Type().Elem()).Elem()
	case field.Kind() == reflect.Pointer:
		field.Set(reflect.New(field.Type().Elem()))
		to = field.Elem()
	}
	if err := p.set(to, text); err != nil {
		return err
	}
	if p.Many {
		field.Set(reflect.Append(field, to))
	}
	b.given[p.Name] = p.Kind != Bool || to.Bool()
	return nil
}

// arg assigns a word to an argument.
func (b *binding) arg(a *Arg, text string) error {
	if _, err := ParseAddress(text); err != nil && a.Kind == Address && a.takesWords(text) && !isNumeral(text) {
		b.given[a.Name], b.words[a.Name] = true, text
		return nil
	}
	err := b.set(&a.param, text)
	if err != nil && a.Method && isName(text) {
		return fmt.Errorf("%q is neither an address nor TYPE.METHOD; name2ee *!%s lists the methods of that name", text, text)
	}
	return err
}

// isName reports whether text may be the name of a method.
func isName(text string) bool {
	return text != "" && strings.IndexFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) < 0
}

// find sets an argument to the resolved object.
func (b *binding) find(a *Arg, o Object) {
	delete(b.words, a.Name)
	switch field := b.into.FieldByIndex(a.index); field.Type() {
	case objectType:
		o.Given = true
		field.Set(reflect.ValueOf(o))
	case addrType:
		field.Set(reflect.ValueOf(o.Addr))
	default:
		field.Set(reflect.ValueOf(&o.Addr))
	}
}

// values returns the values given for a parameter, as stored in the struct.
func (b *binding) values(p *param) (out []any) {
	field := reflect.Indirect(b.into.FieldByIndex(p.index))
	switch {
	case !b.given[p.Name] || b.words[p.Name] != "":
	case p.Many:
		for i := range field.Len() {
			out = append(out, field.Index(i).Interface())
		}
	default:
		out = append(out, field.Interface())
	}
	return out
}

// addresses returns the addresses among values.
func addresses(values []any) (out []target.Addr) {
	for _, v := range values {
		switch v := v.(type) {
		case target.Addr:
			out = append(out, v)
		case Object:
			if v.Type == "" {
				out = append(out, v.Addr)
			}
		}
	}
	return out
}

// change replaces each address of a parameter with the result of to.
func (b *binding) change(p *param, to func(target.Addr) target.Addr) {
	field := reflect.Indirect(b.into.FieldByIndex(p.index))
	switch {
	case !b.given[p.Name] || b.words[p.Name] != "":
	case p.Many:
		for i := range field.Len() {
			changeAddress(field.Index(i), to)
		}
	default:
		changeAddress(field, to)
	}
}

func changeAddress(field reflect.Value, to func(target.Addr) target.Addr) {
	switch v := field.Addr().Interface().(type) {
	case *target.Addr:
		*v = to(*v)
	case *Object:
		v.Addr = to(v.Addr)
	}
}

// registers matches the names of registers that are not hexadecimal numbers.
var registers = lazyRegexp(`^(?i:@\w+|\$?(?:[re]?(?:ip|sp|bp)|[re](?:ax|bx|cx|dx|si|di)|r[89]|r1[0-5]|x\d{1,2}|pc|lr|fp))$`)

// lazyRegexp returns a function that compiles expr on its first call. Most processes need few of the expressions.
func lazyRegexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// A pattern is a regular expression that begins with one of some letters. It is compiled when a text that begins with
// one of them is first matched: most lines match none of the debuggers' forms.
type pattern struct {
	heads string
	expr  func() *regexp.Regexp
}

// newPattern returns the pattern of expr. heads has the letters that its texts may begin with, in both cases if expr
// ignores case.
func newPattern(heads, expr string) *pattern { return &pattern{heads, lazyRegexp(expr)} }

// submatches returns the text that the pattern matches, with the texts of its groups, or nil.
func (p *pattern) submatches(text string) []string {
	if text == "" || strings.IndexByte(p.heads, text[0]) < 0 {
		return nil
	}
	return p.expr().FindStringSubmatch(text)
}

// takesWords reports whether p accepts a text that is not an address: an expression that yields an object, a
// register, or the name of a method.
func (p *param) takesWords(text string) bool {
	return p.Expression || !p.Many && RegisterSum(text) != "" || p.Method && strings.ContainsAny(text, ".!")
}

// set sets a field, or an item of one, to the parsed text.
func (p *param) set(field reflect.Value, text string) error {
	if u, ok := field.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	num, err := parseKind(p.Kind, text)
	switch {
	case err != nil:
		return err
	case field.Type() == objectType:
		field.Set(reflect.ValueOf(Object{Addr: target.Addr(num), Given: true}))
	case p.Kind == Bool:
		field.SetBool(num != 0)
	case field.Kind() == reflect.String:
		field.SetString(text)
	case field.Kind() == reflect.Float64:
		percent, err := ParsePercent(text)
		field.SetFloat(percent)
		return err
	case p.Kind == Int:
		return p.setInt(field, int64(num))
	case field.CanInt() && num > math.MaxInt64:
		return fmt.Errorf("%s is too large", text)
	case field.CanInt():
		field.SetInt(int64(num))
	case field.OverflowUint(num):
		return fmt.Errorf("%s is too large", text)
	default:
		field.SetUint(num)
	}
	return nil
}

func (p *param) setInt(field reflect.Value, n int64) error {
	switch {
	case p.Min != nil && n < *p.Min || p.Max != nil && n > *p.Max:
		return fmt.Errorf("%d %s", n, p.outside())
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

// outside describes a number out of range.
func (p *param) outside() string {
	switch {
	case p.Min == nil:
		return fmt.Sprintf("is more than %d", *p.Max)
	case p.Max == nil:
		return fmt.Sprintf("is less than %d", *p.Min)
	}
	return fmt.Sprintf("is not between %d and %d", *p.Min, *p.Max)
}

// check checks the combination of options and arguments.
func (b *binding) check() error {
	for i := range b.options {
		o := &b.options[i]
		switch {
		case b.given[o.Name]:
			if err := b.checkWith(o); err != nil {
				return err
			}
		case o.Required:
			return fmt.Errorf("%s is missing", o.synopsis())
		}
	}
	return nil
}

func (b *binding) checkWith(o *Option) error {
	for _, other := range o.Excludes {
		if b.given[other] {
			return fmt.Errorf("-%s and %s exclude each other", o.Name, b.called(other))
		}
	}
	if len(o.Requires) > 0 && !slices.ContainsFunc(o.Requires, func(other string) bool { return b.given[other] }) {
		var with []string
		for _, other := range o.Requires {
			with = append(with, b.called(other))
		}
		return fmt.Errorf("-%s goes with %s", o.Name, strings.Join(with, " or "))
	}
	return nil
}

// called returns the name of an option or argument as users write it.
func (d *declaration) called(name string) string {
	if slices.ContainsFunc(d.args, func(a Arg) bool { return a.Name == name }) {
		return strings.ToUpper(name)
	}
	return "-" + name
}
