package query

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/ticks"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

type function struct {
	name, args string
	summary    string
	min, max   int // number of arguments
	need       func(*engine) error
	call       func(*frame, []Value) Value
	raw        bool // call also gets errors
	through    bool // the result is what the argument has, and a secret if it is one
}

// ofObject returns a function that applies call to an object, which may be given by its address.
func ofObject(call func(*frame, objects.Object) Value) func(*frame, []Value) Value {
	return func(f *frame, v []Value) Value {
		o, err := f.anObject(v[0])
		if err != nil {
			return Failed(err)
		}
		return call(f, o)
	}
}

// orNull returns call, except that the result for null is null.
func orNull(call func(*frame, []Value) Value) func(*frame, []Value) Value {
	return func(f *frame, v []Value) Value {
		if v[0].kind == KindNull {
			return null
		}
		return call(f, v)
	}
}

// valueOr returns v, or err as a value.
func valueOr(v Value, err error) Value {
	if err != nil {
		return Failed(err)
	}
	return v
}

// functions returns the functions of the language, in the order of their documentation.
func functions() []function {
	return []function{
		{name: "obj", args: "address", summary: "the object at an address", min: 1, max: 1, call: callObject, through: true},
		{name: "type", args: "x", summary: "the type of an object or value", min: 1, max: 1, call: callType},
		{name: "size", args: "x", summary: "bytes of an object", min: 1, max: 1, call: orNull(ofObject(callSize))},
		{name: "retained", args: "x", summary: "bytes that would be freed with an object, its own included, or with the live objects of a type", min: 1, max: 1,
			need: (*engine).needRetained, call: orNull(callRetained)},
		{name: "live", args: "x", summary: "whether something keeps an object alive", min: 1, max: 1, need: (*engine).needLive, call: orNull(ofObject(callLive))},
		{name: "gen", args: "x", summary: "generation: gen0, gen1, gen2, loh, poh, frozen, which equal 0 to 5", min: 1, max: 1, call: orNull(ofObject(callGeneration))},
		{name: "refs", args: "x", summary: "the objects that an object refers to", min: 1, max: 1, call: ofObject(callRefs), through: true},
		{name: "referrers", args: "x", summary: "the objects that refer to an object", min: 1, max: 1, need: (*engine).needGraph, call: ofObject(callReferrers)},
		{name: "path", args: "x", summary: "a shortest path from a root to an object, as text; null for garbage", min: 1, max: 1, need: (*engine).needGraph, call: ofObject(callPath)},
		{name: "hash", args: "x", summary: "the hash code in an object's header, null if it has none", min: 1, max: 1, call: ofObject(callHash)},
		{name: "addr", args: "x", summary: "the address of an object or struct", min: 1, max: 1, call: callAddress},
		{name: "len", args: "x", summary: "characters of a string, elements of an array or collection", min: 1, max: 1, call: callLength},
		{name: "text", args: "x", summary: "a value as text, an object on one line", min: 1, max: 1, call: callText},
		{name: "hex", args: "n", summary: "a number in hexadecimal", min: 1, max: 1, call: callHex},
		{name: "isnull", args: "x", summary: "whether a value is null", min: 1, max: 1, call: func(_ *frame, v []Value) Value { return Bool(v[0].kind == KindNull) }},
		{name: "missing", args: "x", summary: "whether a value can't be known from the dump", min: 1, max: 1, raw: true,
			call: func(_ *frame, v []Value) Value { return Bool(v[0].kind == KindError) }},
		{name: "bor", args: "a, b", summary: "the bits of both numbers: | separates steps", min: 2, max: 2, call: callOr},
		{name: "poi", args: "address", summary: "8 bytes of memory, as an address", min: 1, max: 1, call: memory(metadata.ElementPtr)},
		{name: "qwo", args: "address", summary: "8 bytes of memory, as a number", min: 1, max: 1, call: memory(metadata.ElementU8)},
		{name: "dwo", args: "address", summary: "4 bytes of memory", min: 1, max: 1, call: memory(metadata.ElementU4)},
		{name: "wo", args: "address", summary: "2 bytes of memory", min: 1, max: 1, call: memory(metadata.ElementU2)},
		{name: "by", args: "address", summary: "a byte of memory", min: 1, max: 1, call: memory(metadata.ElementU1)},
	}
}

// aggregates are the functions of groups.
var aggregates = []struct{ name, summary string }{
	{"count", "rows; count(x): those where x is not null; count(distinct x): different values"},
	{"sum", "sum of numbers"},
	{"min", "least value"},
	{"max", "greatest value"},
	{"avg", "mean of numbers"},
	{"any", "the first value"},
}

func isAggregate(name string) bool {
	for _, a := range aggregates {
		if strings.EqualFold(a.name, name) {
			return true
		}
	}
	return false
}

func functionNames() []string {
	var out []string
	for _, f := range functions() {
		out = append(out, f.name)
	}
	for _, a := range aggregates {
		out = append(out, a.name)
	}
	return out
}

// call compiles name(args).
func (s *scope) call(n *node) (code, error) {
	var found *function
	for _, f := range functions() {
		if strings.EqualFold(f.name, n.name) {
			found = &f
			break
		}
	}
	if found == nil && strings.EqualFold(n.name, "count") && len(n.args) == 1 && n.args[0].op != opStar && !s.e.inQuery {
		found = &function{name: "count", min: 1, max: 1, call: callLength}
	}
	if found == nil {
		return code{}, s.unknownFunction(n)
	}
	if len(n.args) < found.min || len(n.args) > found.max {
		return code{}, s.e.errorf(n, "%s(%s) has %d arguments here", found.name, found.args, len(n.args))
	}
	if found.need != nil {
		if err := found.need(s.e); err != nil {
			return code{}, err
		}
	}
	args, err := s.compileAll(n.args)
	if err != nil {
		return code{}, err
	}
	return valueCode(func(f *frame) Value {
		var room [2]Value
		values := room[:len(args)]
		for i, a := range args {
			if values[i] = a.eval(f); values[i].kind == KindError && !found.raw {
				return values[i]
			}
		}
		out := found.call(f, values)
		return f.secretIf(found.through && values[0].secret, out)
	})
}

func (s *scope) unknownFunction(n *node) error {
	if isAggregate(n.name) {
		return s.e.errorf(n, "%s is a function of groups: it stands in select, order by and having", n.name)
	}
	bad := s.e.errorf(n, "there is no function %s", n.name)
	if bad.Hint = suggest(n.name, functionNames()); bad.Hint == "" {
		bad.Hint = "nothing of the program can be called; the functions are " + strings.Join(functionNames(), ", ")
	}
	return bad
}

// anObject returns the object of an argument. The argument may be an address.
func (f *frame) anObject(v Value) (objects.Object, error) {
	switch {
	case v.kind == KindObject:
		return f.object(v)
	case v.kind == KindUint, v.kind == KindInt && v.bits >= leastObject:
		return f.proven(v.Addr())
	case v.kind == KindNull:
		return objects.Object{}, errNull
	}
	return objects.Object{}, noAnswer("%s is no object", f.describeKind(v))
}

func callObject(f *frame, v []Value) Value {
	if v[0].kind == KindInt && v[0].bits == 0 || v[0].kind == KindUint && v[0].bits == 0 {
		return null
	}
	o, err := f.anObject(v[0])
	if err != nil {
		return Failed(err)
	}
	return Value{kind: KindObject, bits: uint64(o.Addr), typ: o.Type}
}

func callType(f *frame, v []Value) Value {
	switch {
	case v[0].kind == KindType, v[0].kind == KindNull:
		return v[0]
	case v[0].typ != nil:
		return Value{kind: KindType, typ: v[0].typ}
	case v[0].kind == KindObject, v[0].hex:
		o, err := f.anObject(v[0])
		if err != nil {
			return Failed(err)
		}
		return Value{kind: KindType, typ: o.Type}
	}
	return Text(v[0].kind.String())
}

func callSize(_ *frame, o objects.Object) Value {
	n, err := o.Size()
	return valueOr(Uint(n), err)
}

func (f *frame) retained(a target.Addr) Value {
	node, ok := f.e.holders.Graph().Node(a)
	if !ok {
		return Failed(target.Unsupportedf("%v is no object of the graph", a))
	}
	return Uint(f.e.retains.Retained(node))
}

// retainedByType returns the number of bytes that would be freed with the live objects of a type.
func (f *frame) retainedByType(t *objects.Type) Value {
	sizes, err := f.e.retains.ByType(f.e.ctx, graph.PartLive)
	if err != nil {
		return Failed(err)
	}
	for i, mt := range f.e.holders.Graph().Types() {
		if mt.Addr == t.MT.Addr {
			return Uint(sizes[i])
		}
	}
	return Uint(0)
}

func callRetained(f *frame, v []Value) Value {
	if v[0].kind == KindType {
		return f.retainedByType(v[0].typ)
	}
	o, err := f.anObject(v[0])
	if err != nil {
		return Failed(err)
	}
	return f.retained(o.Addr)
}

func callLive(f *frame, o objects.Object) Value { return Bool(f.e.live(o.Addr)) }

func callGeneration(f *frame, o objects.Object) Value {
	h, err := f.e.heap()
	if err != nil {
		return Failed(err)
	}
	s := h.Segment(o.Addr)
	if s == nil {
		return Failed(target.Unsupportedf("%v is in no segment of the heap", o.Addr))
	}
	return generationValue(s.Generation(o.Addr))
}

func callRefs(f *frame, o objects.Object) Value {
	refs, err := f.e.env.objects.References(f.e.ctx, o.Addr)
	if err != nil {
		return Failed(err)
	}
	return listOf(func(yield func(Value) bool) {
		var gap error // the error before a row may concern only its names, which are not needed
		for r, err := range refs {
			if gap != nil && (err != nil || r.Type.Err == nil && r.Field.Err == nil) && !yield(Failed(gap)) {
				return
			}
			if gap = err; err == nil && !yield(Object(r.Object)) {
				return
			}
		}
		if gap != nil {
			yield(Failed(gap))
		}
	})
}

func listOf(all iter.Seq[Value]) Value { return Value{kind: KindList, list: &list{all}} }

func callReferrers(f *frame, o objects.Object) Value {
	g := f.e.holders.Graph()
	node, ok := g.Node(o.Addr)
	if !ok {
		return Failed(target.Unsupportedf("%v is no object of the graph", o.Addr))
	}
	r, err := g.Referrers(f.e.ctx)
	if err != nil {
		return Failed(err)
	}
	return listOf(func(yield func(Value) bool) {
		for _, n := range r.Of(node) {
			if g.IsObject(n) && !yield(Object(g.Address(n))) {
				return
			}
		}
	})
}

func callPath(f *frame, o objects.Object) Value {
	paths, err := f.e.holders.RootPaths(f.e.ctx, o.Addr, graph.HoldOptions{Limit: 1})
	if err != nil {
		return Failed(err)
	}
	return pathText(paths, f.e.masked)
}

func callHash(f *frame, o objects.Object) Value {
	h, err := f.e.env.runtime.ObjectHeader(o.Addr)
	if err != nil {
		return Failed(err)
	}
	if n, ok := h.HashCode(); ok {
		return Uint(uint64(n))
	}
	if h.SyncBlockIndex() != 0 {
		return Failed(target.Unsupportedf("the hash code is in the object's sync block, if it has one"))
	}
	return null
}

func callAddress(f *frame, v []Value) Value {
	switch v[0].kind {
	case KindObject, KindStruct:
		return Address(v[0].Addr())
	case KindNull:
		return Address(0)
	case KindType:
		return Address(v[0].typ.MT.Addr)
	}
	return f.kindError("addr", v[0])
}

func callLength(f *frame, v []Value) Value { return f.length(v[0]) }

func callText(f *frame, v []Value) Value {
	if v[0].kind == KindObject && !f.isString(v[0]) {
		return f.line(v[0])
	}
	return textOr(f.format(v[0]))
}

func (f *frame) line(v Value) Value {
	if s, ok, err := f.textOf(v); ok {
		return textOr(s, err)
	}
	o, err := f.object(v)
	if err != nil {
		return Failed(err)
	}
	return Text(f.inline(o))
}

func callHex(f *frame, v []Value) Value {
	n := f.plain(v[0])
	if !n.isInteger() {
		return f.kindError("hex", n)
	}
	return Value{kind: KindUint, bits: n.bits, hex: true}
}

func callOr(f *frame, v []Value) Value {
	a, b := f.plain(v[0]), f.plain(v[1])
	if !a.isInteger() || !b.isInteger() {
		return f.kindError("bor", a, b)
	}
	return Value{kind: KindUint, bits: a.bits | b.bits, hex: true}
}

// memory returns a function that reads a number at an address of the process.
func memory(et metadata.ElementType) func(*frame, []Value) Value {
	a := primitiveForms[et]
	return func(f *frame, v []Value) Value {
		if v[0].kind != KindObject && !v[0].isInteger() {
			return f.kindError("an address", v[0])
		}
		if f.e.mask != nil {
			return Failed(errHidden)
		}
		b, err := target.Bytes(f.e.env.runtime.Memory(), v[0].Addr(), int(a.size))
		if err != nil {
			return Failed(err)
		}
		return a.decode(b)
	}
}

// variable compiles a variable such as $_, or a register as in gdb.
func (s *scope) variable(n *node) (code, error) {
	if v, ok := s.e.env.Variables[strings.ToLower(n.name)]; ok {
		return constantCode(v), nil
	}
	if c, err := s.register(n); err == nil {
		return c, nil
	}
	bad := s.e.errorf(n, "%s has no value", n.name)
	if names := slices.Sorted(maps.Keys(s.e.env.Variables)); len(names) > 0 {
		bad.Hint = "there are " + strings.Join(names, ", ")
	}
	return code{}, bad
}

// register compiles a register of the current thread, such as @rax.
func (s *scope) register(n *node) (code, error) {
	name := strings.ToLower(n.name[1:])
	if s.e.env.Thread == nil {
		none := target.Registers{Arch: s.e.env.runtime.Target().Platform().Arch}
		if _, _, is := registerValue(&none, name); !is {
			return code{}, s.e.errorf(n, "there is no register %s", n.name)
		}
		return constantCode(Failed(fmt.Errorf("%s is a thread's: %w", n.name, ErrNoThread))), nil
	}
	t, err := s.e.env.Thread()
	if err != nil {
		return code{}, err
	}
	if t.OS == nil {
		return constantCode(Failed(notInDump("the registers of the current thread"))), nil
	}
	v, known, is := registerValue(&t.OS.Registers, name)
	switch {
	case !is:
		return code{}, s.e.errorf(n, "there is no register %s", n.name)
	case !known:
		return constantCode(Failed(notInDump("the register " + n.name))), nil
	}
	return constantCode(Value{kind: KindUint, bits: v, hex: true}), nil
}

// method compiles x.Name(…), one of the methods of strings and collections that the language implements.
func (s *scope) method(n *node) (code, error) {
	m, ok := methods()[n.name]
	if !ok {
		bad := s.e.errorf(n, "nothing of the program can be called, and %s is no method that is known", n.name)
		names := slices.Sorted(maps.Keys(methods()))
		if bad.Hint = suggest(n.name, names); bad.Hint == "" {
			bad.Hint = "these are " + strings.Join(names, ", ")
		}
		return code{}, bad
	}
	if got := len(n.args) - 1; got < m.min || got > m.max {
		return code{}, s.e.errorf(n, "%s has %d arguments here", n.name, got)
	}
	args, err := s.compileAll(n.args)
	if err != nil {
		return code{}, err
	}
	nullable := n.maybe || s.e.inQuery
	return valueCode(func(f *frame) Value {
		of := args[0].eval(f)
		switch {
		case of.kind == KindError:
			return of
		case of.kind == KindNull && nullable:
			return null
		case of.kind == KindNull:
			return Failed(nullError{n.name + "()"})
		}
		var room [2]Value
		values := room[:len(args)-1]
		for i, a := range args[1:] {
			if values[i] = f.plain(a.eval(f)); values[i].kind == KindError {
				return values[i]
			}
		}
		if of.kind == KindUint && of.hex {
			of = f.proveObject(of)
		}
		return m.call(f, of, values)
	})
}

type method struct {
	min, max int
	call     func(*frame, Value, []Value) Value
}

// methods are the methods that the language implements.
var methods func() map[string]method

func init() {
	methods = sync.OnceValue(func() map[string]method {
		return map[string]method{
			"Contains":    {1, 1, contains},
			"StartsWith":  {1, 1, textTest(strings.HasPrefix)},
			"EndsWith":    {1, 1, textTest(strings.HasSuffix)},
			"IndexOf":     {1, 1, indexOf},
			"Substring":   {1, 2, substring},
			"ToLower":     {0, 0, textChange(letters(strings.ToLower, unicode.ToLower))},
			"ToUpper":     {0, 0, textChange(letters(strings.ToUpper, unicode.ToUpper))},
			"Trim":        {0, 0, textChange(strings.TrimSpace)},
			"Equals":      {1, 1, func(f *frame, v Value, a []Value) Value { return f.truthValue(f.compare("==", v, a[0])) }},
			"HasFlag":     {1, 1, hasFlag},
			"GetType":     {0, 0, func(f *frame, v Value, _ []Value) Value { return callType(f, []Value{v}) }},
			"ToString":    {0, 0, func(f *frame, v Value, _ []Value) Value { return callText(f, []Value{v}) }},
			"Count":       {0, 0, func(f *frame, v Value, _ []Value) Value { return f.length(v) }},
			"ContainsKey": {1, 1, containsKey},
		}
	})
}

func (f *frame) texts(what string, v, arg Value) (a, b string, failed *Value) {
	a, ok, err := f.textOf(f.plain(v))
	if err == nil && !ok {
		e := f.kindError(what, v)
		return "", "", &e
	}
	if err == nil {
		if b, ok, err = f.textOf(arg); err == nil && !ok {
			e := f.kindError(what, v, arg)
			return "", "", &e
		}
	}
	if err != nil {
		e := Failed(err)
		return "", "", &e
	}
	return a, b, nil
}

func textTest(test func(s, part string) bool) func(*frame, Value, []Value) Value {
	return func(f *frame, v Value, args []Value) Value {
		if args[0].kind == KindNull {
			return Bool(false)
		}
		a, b, failed := f.texts("this method", v, args[0])
		if failed != nil {
			return *failed
		}
		return Bool(test(a, b))
	}
}

func textChange(change func(string) string) func(*frame, Value, []Value) Value {
	return func(f *frame, v Value, _ []Value) Value {
		s, ok, err := f.textOf(f.plain(v))
		switch {
		case err != nil:
			return Failed(err)
		case !ok:
			return f.kindError("this method", v)
		}
		return Text(change(s))
	}
}

// letters returns a function that changes letters: whole for UTF-8, and each for text with lone surrogates.
func letters(whole func(string) string, each func(rune) rune) func(string) string {
	return func(s string) string {
		if utf8.ValidString(s) {
			return whole(s)
		}
		var b []byte
		for _, r := range utf16text.Runes(s) {
			b = utf16text.AppendRune(b, each(r))
		}
		return string(b)
	}
}

// contains implements the method Contains of strings and collections.
func contains(f *frame, v Value, args []Value) Value {
	if f.isText(v) || v.kind == KindType {
		return textTest(strings.Contains)(f, v, args)
	}
	out := no
	for item, err := range f.items(v) {
		if err != nil {
			f.err, out = err, undecided
			continue
		}
		switch f.compare("==", item.value, args[0]) {
		case yes:
			return Bool(true)
		case undecided:
			out = undecided
		}
	}
	return f.truthValue(out)
}

func containsKey(f *frame, v Value, args []Value) Value {
	_, found, err := f.findKey(v, args[0])
	if err != nil && !found {
		return Failed(err)
	}
	return Bool(found)
}

func indexOf(f *frame, v Value, args []Value) Value {
	a, b, failed := f.texts("IndexOf", v, args[0])
	if failed != nil {
		return *failed
	}
	i := strings.Index(a, b)
	if i >= 0 {
		i = utf16Length(a[:i])
	}
	return Int(int64(i))
}

// substring implements Substring. It counts in UTF-16 code units, as .NET does.
func substring(f *frame, v Value, args []Value) Value {
	s, ok, err := f.textOf(f.plain(v))
	switch {
	case err != nil:
		return Failed(err)
	case !ok:
		return f.kindError("Substring", v)
	}
	units := utf16text.Units(s)
	total := uint64(len(units))
	count := total
	for _, a := range args {
		if !a.isInteger() {
			return f.kindError("Substring", v, a)
		}
	}
	start := args[0].bits
	if start <= total {
		count = total - start
	}
	if len(args) == 2 {
		count = args[1].bits
	}
	if start > total || count > total-start {
		return Failed(noAnswer("the string has only %d characters", total))
	}
	return Text(utf16text.FromUnits(units[start : start+count]))
}

func hasFlag(f *frame, v Value, args []Value) Value {
	v = f.plain(v)
	flag := args[0]
	if flag.kind == KindText && v.typ != nil {
		e, err := v.typ.Enum()
		if err != nil {
			return Failed(err)
		}
		for _, m := range e.Members {
			if m.Name == flag.text {
				flag = Uint(m.Value)
			}
		}
	}
	if !v.isInteger() || !flag.isInteger() {
		return f.kindError("HasFlag", v, flag)
	}
	return Bool(v.bits&flag.bits == flag.bits)
}

// specialMembers are members that the language computes without a field.
var specialMembers func() map[string]func(*frame, Value) (Value, bool)

func init() {
	specialMembers = sync.OnceValue(func() map[string]func(*frame, Value) (Value, bool) {
		return map[string]func(*frame, Value) (Value, bool){
			"Length":   func(f *frame, v Value) (Value, bool) { return f.lengthOf(v) },
			"Count":    func(f *frame, v Value) (Value, bool) { return f.lengthOf(v) },
			"HasValue": func(_ *frame, v Value) (Value, bool) { return Bool(v.kind != KindNull), v.kind != KindObject },
			"Value":    valueOf,
			"Name":     typeName1,
			"FullName": func(_ *frame, v Value) (Value, bool) {
				if v.kind != KindType {
					return Value{}, false
				}
				return textOr(v.typ.ManagedName()), true
			},
			"Ticks":             tickMember(1),
			"TotalMilliseconds": tickMember(ticks.PerSecond / 1000),
			"TotalSeconds":      tickMember(ticks.PerSecond),
			"TotalMinutes":      tickMember(60 * ticks.PerSecond),
			"TotalHours":        tickMember(3600 * ticks.PerSecond),
			"TotalDays":         tickMember(ticks.PerDay),
		}
	})
}

// valueOf implements x.Value of a Nullable. A Nullable is read as its value or null. A struct's property Value is not
// computed.
func valueOf(_ *frame, v Value) (Value, bool) {
	if v.kind == KindObject || v.kind == KindStruct && v.note != noteNullable {
		return Value{}, false
	}
	if v.kind == KindStruct {
		v.note = noNote
	}
	return v, true
}

func tickMember(unit int64) func(*frame, Value) (Value, bool) {
	return func(f *frame, v Value) (Value, bool) {
		t, ok := f.ticks(f.plain(v))
		switch {
		case !ok || unit > 1 && t.unit != unitSpan || t.unit == unitDay:
			return Value{}, false
		case unit == 1:
			return Int(t.ticks), true
		}
		return Float(float64(t.ticks) / float64(unit)), true
	}
}

func typeName1(_ *frame, v Value) (Value, bool) {
	if v.kind != KindType {
		return Value{}, false
	}
	full, err := v.typ.ManagedName()
	if err != nil {
		return Failed(err), true
	}
	if t, end := scanType(full, 0, false); t != nil && end == len(full) {
		t.parts = t.parts[len(t.parts)-1:]
		return Text(t.String()), true
	}
	return Text(full), true
}

// lengthOf returns the number of elements. It reports false for a value without elements.
func (f *frame) lengthOf(v Value) (Value, bool) {
	switch v.kind {
	case KindObject, KindStruct, KindText, KindList:
		n := f.length(v)
		return n, n.kind != KindError || !isNoCollection(n.err)
	}
	return Value{}, false
}

// length returns the number of characters or elements of a value.
func (f *frame) length(v Value) Value {
	switch v.kind {
	case KindText:
		return Int(int64(utf16Length(v.text)))
	case KindNull:
		return null
	case KindList:
		n := int64(0)
		for range v.list.all {
			if n++; n > limits.ExpressionItems {
				break
			}
		}
		return Int(n)
	case KindUint:
		v = f.proveObject(v)
	}
	if v.kind == KindError {
		return v
	}
	if v.kind == KindObject {
		o, err := f.object(v)
		if err != nil {
			return Failed(err)
		}
		if o.Type.IsString() || o.Type.MT.IsArray() {
			n, err := o.Length()
			if err != nil {
				return Failed(err)
			}
			return Int(int64(n))
		}
	}
	return f.collectionLength(v)
}

// invert computes ~v.
func (f *frame) invert(v Value) Value {
	v = f.plain(v)
	switch {
	case v.kind == KindError || v.kind == KindNull:
		return v
	case !v.isInteger():
		return f.kindError("~", v)
	case v.hex || v.kind == KindUint:
		v.bits = ^v.bits
		return v
	}
	return Int(^int64(v.bits))
}

// A Function is a function of the language, for help.
type Function struct{ Name, Args, Summary string }

// Functions returns the functions of expressions.
func Functions() []Function {
	var out []Function
	for _, f := range functions() {
		out = append(out, Function{f.name, f.args, f.summary})
	}
	return out
}
