package query

import (
	"errors"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A code is a compiled expression. It is for one goroutine.
type code struct {
	eval     func(*frame) Value
	test     func(*frame) truth // if nil, use eval
	constant *Value             // the value, if it is the same in every frame; otherwise nil
	// number reads an integer that is never missing, such as a column of the heap. It is nil for other expressions.
	number func(*frame) int64
	field  *access // the integer field of the row's object that the expression reads
}

// A scope is the context of an expression.
type scope struct {
	e       *engine
	columns []Column        // of the source
	source  *Source         // for rows that are not objects of the heap; otherwise nil
	object  int             // the column with members that are names, or -1
	heap    bool            // rows are objects of the heap
	typ     *objects.Type   // type of the row's object, if known
	known   func(*node) int // returns the output column that an expression is, or -1; may be nil
	output  int             // index in the row of the first output column
}

func constantCode(v Value) code {
	return code{eval: func(*frame) Value { return v }, constant: &v}
}

func valueCode(eval func(*frame) Value) (code, error) { return code{eval: eval}, nil }

// condition returns a code as a test.
func (c code) condition() func(*frame) truth {
	if c.test != nil {
		return c.test
	}
	return func(f *frame) truth { return f.isTrue(c.eval(f)) }
}

func testCode(test func(*frame) truth) (code, error) {
	return code{test: test, eval: func(f *frame) Value { return f.truthValue(test(f)) }}, nil
}

// compile compiles an expression. A part without variables is computed at once.
func (s *scope) compile(n *node) (code, error) {
	if s.known != nil {
		if i := s.known(n); i >= 0 {
			i += s.output
			return valueCode(func(f *frame) Value { return f.row[i] }) // made of masked texts
		}
	}
	switch n.op {
	case opValue:
		return constantCode(n.value), nil
	case opName:
		return s.name(n)
	case opThis:
		return s.this(n)
	case opVariable:
		return s.variable(n)
	case opRegister:
		return s.register(n)
	case opMember:
		return s.memberCode(n)
	case opIndex:
		return s.index(n)
	case opCall:
		return s.call(n)
	case opMethod:
		return s.method(n)
	case opType:
		return s.typeCode(n)
	case opStar:
		return code{}, s.e.errorf(n, "* stands in count(*) and select * alone")
	}
	return s.operator(n)
}

func (s *scope) compileAll(list []*node) ([]code, error) {
	out := make([]code, len(list))
	for i, n := range list {
		var err error
		if out[i], err = s.compile(n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// operator compiles an operator.
func (s *scope) operator(n *node) (code, error) {
	args, err := s.compileAll(n.args)
	if err != nil {
		return code{}, err
	}
	c, err := s.operation(n, args)
	if err != nil || c.constant != nil {
		return c, err
	}
	for _, a := range args {
		if a.constant == nil {
			return c, nil
		}
	}
	v := c.eval(s.e.newFrame())
	return constantCode(v), nil
}

func (s *scope) operation(n *node, args []code) (code, error) {
	switch n.op {
	case opNot:
		return notCode(args[0])
	case opNegate:
		a := args[0].eval
		return valueCode(func(f *frame) Value { return f.negate(a(f)) })
	case opInvert:
		a := args[0].eval
		return valueCode(func(f *frame) Value { return f.invert(a(f)) })
	case opBinary:
		return binaryCode(n.name, args[0], args[1])
	case opAnd, opOr:
		return logicCode(n.op, args[0], args[1])
	case opCoalesce:
		a, b := args[0].eval, args[1].eval
		return valueCode(func(f *frame) Value {
			if v := a(f); v.kind != KindNull {
				return v // also an error: a missing value is not null
			}
			return b(f)
		})
	case opChoose:
		return chooseCode(args)
	case opCast, opAs:
		return s.cast(n, args[0])
	case opIs:
		return s.is(n, args[0])
	case opMatches:
		return matchCode(n, args[0])
	case opIn:
		return inCode(args)
	}
	return code{}, s.e.errorf(n, "this can't be computed")
}

func notCode(a code) (code, error) {
	test := a.condition()
	return testCode(func(f *frame) truth {
		switch test(f) {
		case yes:
			return no
		case no:
			return yes
		}
		return undecided
	})
}

// logicCode compiles && or ||. If one side is undecided, the other may decide. The object's type may decide alone.
func logicCode(op opcode, a, b code) (code, error) {
	stop := no // the value that decides alone
	if op == opOr {
		stop = yes
	}
	left, right := a.condition(), b.condition()
	for _, c := range []code{a, b} {
		if c.constant != nil && c.constant.kind == KindBool && truth(c.constant.bits) == stop {
			return constantCode(*c.constant), nil
		}
	}
	if a.constant != nil && a.constant.kind == KindBool {
		return testCode(right)
	}
	if b.constant != nil && b.constant.kind == KindBool {
		return testCode(left)
	}
	return testCode(func(f *frame) truth {
		x := left(f)
		if x == stop {
			return stop
		}
		err := f.err
		y := right(f)
		if y == stop || x != undecided {
			return y
		}
		f.err = err
		return undecided
	})
}

func chooseCode(args []code) (code, error) {
	test, a, b := args[0].condition(), args[1].eval, args[2].eval
	return valueCode(func(f *frame) Value {
		switch test(f) {
		case yes:
			return a(f)
		case no:
			return b(f)
		}
		return Failed(f.err)
	})
}

func inCode(args []code) (code, error) {
	return testCode(func(f *frame) truth {
		v, out := args[0].eval(f), no
		var err error
		for _, a := range args[1:] {
			switch f.compare("==", v, a.eval(f)) {
			case yes:
				return yes
			case undecided:
				out, err = undecided, f.err
			}
		}
		if out == undecided {
			f.err = err
		}
		return out
	})
}

var comparisons = []string{"==", "!=", "<", "<=", ">", ">="}

func binaryCode(op string, a, b code) (code, error) {
	if !slices.Contains(comparisons, op) {
		return valueCode(func(f *frame) Value {
			x := a.eval(f)
			if x.kind == KindError {
				return x
			}
			return f.binary(op, x, b.eval(f))
		})
	}
	if c, ok := comparedNumber(op, a, b); ok {
		return c, nil
	}
	return testCode(func(f *frame) truth { return f.compare(op, a.eval(f), b.eval(f)) })
}

// mirrored maps an operator to the one for exchanged sides.
var mirrored = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}

// comparedNumber compiles the comparison of an integer column or field with a constant. It is the most frequent test,
// and works without a Value.
func comparedNumber(op string, a, b code) (code, bool) {
	if a.constant != nil {
		a, b, op = b, a, mirrored[op]
	}
	if b.constant == nil || !b.constant.isInteger() || b.constant.kind == KindUint && int64(b.constant.bits) < 0 {
		return code{}, false
	}
	limit := int64(b.constant.bits)
	var c code
	switch {
	case a.number != nil:
		c, _ = testCode(numberTest(op, a.number, limit))
	case a.field != nil && a.field.static == nil && (a.field.form == formSigned || a.field.form == formUnsigned && a.field.size < 8):
		c, _ = testCode(fieldTest(op, a.field, limit))
	default:
		return code{}, false
	}
	return c, true
}

func numberTest(op string, number func(*frame) int64, limit int64) func(*frame) truth {
	switch op {
	case "==":
		return func(f *frame) truth { return truthOf(number(f) == limit) }
	case "!=":
		return func(f *frame) truth { return truthOf(number(f) != limit) }
	case "<":
		return func(f *frame) truth { return truthOf(number(f) < limit) }
	case "<=":
		return func(f *frame) truth { return truthOf(number(f) <= limit) }
	case ">":
		return func(f *frame) truth { return truthOf(number(f) > limit) }
	}
	return func(f *frame) truth { return truthOf(number(f) >= limit) }
}

// fieldTest returns the comparison of an integer field of the row's object.
func fieldTest(op string, a *access, limit int64) func(*frame) truth {
	var missing error
	compare := numberTest(op, func(f *frame) int64 {
		b, err := f.near.Bytes(f.obj.Addr+target.Addr(dac.ObjectHeaderBytes+a.off), int(a.size))
		if missing = err; err != nil {
			return 0
		}
		if a.form == formSigned {
			return signed(b)
		}
		return int64(cursor.Uint(b))
	}, limit)
	return func(f *frame) truth {
		t := compare(f)
		if missing != nil {
			f.err = missing
			return undecided
		}
		return t
	}
}

// this compiles the object of the row.
func (s *scope) this(n *node) (code, error) {
	switch {
	case s.heap:
		return valueCode((*frame).this)
	case s.object >= 0:
		i := s.object
		return valueCode(func(f *frame) Value { return f.column(i) })
	}
	return code{}, s.e.errorf(n, "there is no object that this could be")
}

// name compiles a name: of a column, or of a member of the row's object.
func (s *scope) name(n *node) (code, error) {
	if c, ok, err := s.column(n); ok || err != nil {
		return c, err
	}
	if s.heap || s.object >= 0 {
		this, err := s.this(n)
		if err != nil {
			return code{}, err
		}
		if s.heap && s.typ != nil {
			return s.ownMember(n)
		}
		if s.heap {
			return s.dynamicMember(n.name, s.e.inQuery || n.maybe, this, true)
		}
		m := memberReader{e: s.e, name: n.name, nullable: s.e.inQuery || n.maybe, optional: true}
		if s.e.table().gap != nil { // the name was not checked
			m.met = s.e.rowName(n.name, s.columns)
		}
		return valueCode(func(f *frame) Value { return m.read(f, this.eval(f)) })
	}
	if c, ok, err := s.typePath(n); ok || err != nil {
		return c, err
	}
	return code{}, s.unknownName(n)
}

// unknownName returns the error for an unknown name.
func (s *scope) unknownName(n *node) error {
	if s.source != nil {
		bad := s.e.errorf(n, "no column of %s is named %s", s.source.Name, n.name)
		bad.Hint = suggestColumn(n.name, s.columns)
		return s.e.unsure(bad)
	}
	if s.object < 0 {
		if bad := s.namespace(n); bad != nil {
			return s.e.unsure(bad)
		}
	}
	bad := s.e.errorf(n, "%s is neither a name of the language nor a type", n.name)
	var names []string
	for _, c := range s.columns {
		names = append(names, c.Name)
	}
	names = append(names, functionNames()...)
	if bad.Hint = suggest(n.name, names); bad.Hint == "" {
		if t, _ := scanType(n.name, 0, false); t != nil {
			bad.Hint = s.e.suggestType(t)
		}
		return s.e.unsure(bad)
	}
	return bad
}

// ownMember compiles a member of the row's object of known type. A missing member is null, because other types may have
// it.
func (s *scope) ownMember(n *node) (code, error) {
	if v, is := s.specialMember(n.name); is {
		return v, nil
	}
	a := s.e.fieldOf(s.typ, n.name)
	if a.err == errNoMember {
		this := code{eval: (*frame).this}
		if _, ok := specialMembers()[n.name]; ok {
			return s.dynamicMember(n.name, true, this, true)
		}
		return constantCode(null), nil
	}
	var ambiguous *ambiguousError
	if errors.As(a.err, &ambiguous) {
		return code{}, s.e.errorf(n, "in %s, %v", s.typeTitle(), ambiguous)
	}
	c := code{eval: func(f *frame) Value { return f.read(a, f.obj.Addr+dac.ObjectHeaderBytes, f.near) }}
	if a.static == nil && a.err == nil && a.within == nil && (s.e.mask == nil || !a.secret && a.pair == nil) {
		c.field = a
	}
	return c, nil
}

func (s *scope) typeTitle() string {
	name, err := s.typ.ManagedName()
	if err != nil {
		return "a type without a name"
	}
	return name
}

// specialMember compiles the members of strings and arrays that are columns of the heap's rows.
func (s *scope) specialMember(name string) (code, bool) {
	if name == "Length" && s.typ.MT.HasComponents() && (s.typ.IsString() || s.typ.MT.IsArray()) {
		return lengthColumn(), true
	}
	return code{}, false
}

func lengthColumn() code {
	return code{eval: func(f *frame) Value { return Int(int64(f.obj.Length)) }, number: func(f *frame) int64 { return int64(f.obj.Length) }}
}

// memberCode compiles x.Name, which may also be a static field of a type: Ns.Type.Field.
func (s *scope) memberCode(n *node) (code, error) {
	if c, ok, err := s.typePath(n); ok || err != nil {
		return c, err
	}
	of, err := s.compile(n.args[0])
	if err != nil {
		return code{}, err
	}
	if of.constant != nil && of.constant.kind == KindType {
		return s.staticMember(n, *of.constant)
	}
	return s.dynamicMember(n.name, s.e.inQuery || n.maybe, of, false)
}

// dynamicMember compiles a member of a value with a type that only the frame determines. It caches the type of the last
// row, which the next row likely has too. If optional is set, a missing member is null, because the names were checked
// before.
func (s *scope) dynamicMember(name string, nullable bool, of code, optional bool) (code, error) {
	m := memberReader{e: s.e, name: name, nullable: nullable, optional: optional || s.e.inQuery}
	return valueCode(func(f *frame) Value { return m.read(f, of.eval(f)) })
}

// A memberReader reads a member of values of any type, for one goroutine.
type memberReader struct {
	e        *engine
	name     string
	nullable bool // a member of null is null
	optional bool // a missing member is null
	last     *objects.Type
	access   *access
	met      *rowName // for a name about the rows of a source; otherwise nil
}

// A rowName is a name that is not a column of a source. It is a member of the objects that rows are about, or misspelt.
type rowName struct {
	name    string
	columns []Column
	seen    bool // it was read for some row
	found   bool // some row's object has it
}

// rowName returns the rowName of a name. Only one goroutine examines the rows of a source.
func (e *engine) rowName(name string, columns []Column) *rowName {
	for _, n := range e.rowNames {
		if n.name == name {
			return n
		}
	}
	n := &rowName{name: name, columns: columns}
	e.rowNames = append(e.rowNames, n)
	return n
}

func (n *rowName) err() error {
	if !n.seen || n.found {
		return nil
	}
	return target.NoSuchf("no column is named %s, and no field of the rows' objects; %s", n.name, suggestColumn(n.name, n.columns))
}

func (m *memberReader) read(f *frame, v Value) Value {
	if m.met != nil {
		m.met.seen = true
	}
	switch v.kind {
	case KindError:
		return v
	case KindNull:
		switch {
		case m.nullable:
			return null
		case m.name == "HasValue": // a member of Nullable
			return Bool(false)
		}
		return Failed(m.ofNull())
	}
	if v.kind == KindUint && v.hex || v.kind == KindInt && v.typ == nil && v.bits >= leastObject {
		o, err := f.proven(v.Addr())
		if err != nil {
			return Failed(err)
		}
		v = Value{kind: KindObject, bits: uint64(o.Addr), typ: o.Type}
	}
	switch v.kind {
	case KindObject:
		return m.ofObject(f, v)
	case KindStruct:
		m.bind(v.typ)
		if m.access.err == errNoMember {
			return f.memberOrNothing(v, m.name, m.optional)
		}
		return f.readIn(v, m.access, v.Addr())
	}
	return f.memberOrNothing(v, m.name, m.optional)
}

// leastObject is below the address of any object. A smaller number is not an address.
const leastObject = 1 << 16

func (m *memberReader) ofNull() error { return nullError{m.name} }

// A nullError reports that an expression reads a member of null.
type nullError struct{ member string }

func (e nullError) Error() string { return "." + e.member + " of a null reference; ?. is null there" }

func (e nullError) Unwrap() error { return errNull }

func (m *memberReader) bind(t *objects.Type) {
	if t != m.last || m.access == nil {
		m.last, m.access = t, m.e.fieldOf(t, m.name)
	}
}

func (m *memberReader) ofObject(f *frame, v Value) Value {
	t, err := f.typeOf(v)
	if err != nil {
		return Failed(err)
	}
	if v.as != nil {
		if a := m.e.fieldOf(v.as, m.name); a.err == nil {
			return f.readIn(v, a, v.Addr()+dac.ObjectHeaderBytes)
		}
	}
	m.bind(t)
	if m.met != nil {
		_, special := specialMembers()[m.name]
		m.met.found = m.met.found || special || m.access.err != errNoMember
	}
	if m.access.err == errNoMember {
		v.typ = t
		return f.memberOrNothing(v, m.name, m.optional)
	}
	return f.readIn(v, m.access, v.Addr()+dac.ObjectHeaderBytes)
}

// member returns a member of a value, for use in this package.
func (f *frame) member(v Value, name string, optional bool) Value {
	m := memberReader{e: f.e, name: name, optional: optional}
	return m.read(f, v)
}

// memberOrNothing returns a member without a field: a special member, or else null if optional is set, or an error.
func (f *frame) memberOrNothing(v Value, name string, optional bool) Value {
	if special, ok := specialMembers()[name]; ok {
		if out, ok := special(f, v); ok {
			return out
		}
	}
	if optional {
		return null
	}
	return Failed(f.noMember(v, name))
}

// A memberError reports that a type has no member with a name. It does not report a gap of the dump.
type memberError struct{ text string }

func (e *memberError) Error() string { return e.text }

func (e *memberError) Unwrap() error { return target.ErrNoSuch }

func (f *frame) noMember(v Value, name string) error {
	text := "there is no " + name + " in " + f.describeKind(v)
	if v.kind == KindObject || v.kind == KindStruct {
		if hint := suggest(name, memberNames(v.typ)); hint != "" {
			return &memberError{text + "; " + hint}
		}
		if names := memberNames(v.typ); len(names) > 0 {
			more := ""
			if len(names) > maxMembers {
				names, more = names[:maxMembers], ", …"
			}
			return &memberError{text + "; it has " + strings.Join(names, ", ") + more}
		}
	}
	return &memberError{text}
}

// memberNames returns the names for the fields of a type in expressions.
func memberNames(t *objects.Type) []string {
	if t == nil {
		return nil
	}
	fields, _ := t.Fields() // the readable ones
	var out []string
	for _, f := range fields {
		if name := objects.FieldLabel(f.Name); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
		if len(out) == 256 {
			break
		}
	}
	return out
}

// typePath compiles a path that begins with a type's name, unless its first name is a column or member.
func (s *scope) typePath(n *node) (code, bool, error) {
	var path []*node
	for at := n; ; at = at.args[0] {
		path = append(path, at)
		if at.op == opName {
			break
		}
		if at.op != opMember || at.maybe {
			return code{}, false, nil
		}
	}
	slices.Reverse(path)
	root := path[0]
	if _, ok, err := s.column(root); ok || err != nil || s.isOwn(root.name) {
		return code{}, false, err
	}
	var ambiguous error
	for k := len(path); k > 0; k-- {
		if k == 1 && (s.heap || s.object >= 0) && (len(path) == 1 || !s.heap) {
			continue // a single word is a member of the row's object
		}
		t := &typeName{pos: root.pos}
		for _, p := range path[:k] {
			t.parts = append(t.parts, namePart{name: p.name})
		}
		list, err := s.e.find(t)
		if err != nil && ambiguous == nil {
			ambiguous = err
		}
		if err != nil || len(list) == 0 {
			continue
		}
		typ, err := s.e.env.objects.TrustedType(list[0].mt.Addr)
		if err != nil {
			return code{}, false, err
		}
		c := constantCode(Value{kind: KindType, typ: typ})
		for i, p := range path[k:] {
			if i == 0 {
				c, err = s.staticMember(p, *c.constant)
			} else {
				c, err = s.dynamicMember(p.name, s.e.inQuery || p.maybe, c, false)
			}
			if err != nil {
				return code{}, false, err
			}
		}
		return c, true, nil
	}
	if ambiguous == nil && !s.heap && s.object < 0 && s.known == nil && len(path) > 1 {
		return code{}, false, s.unknownPath(path)
	}
	return code{}, false, ambiguous
}

// unknownPath returns the error for a path that does not begin with a type.
func (s *scope) unknownPath(path []*node) error {
	bad := s.e.errorf(path[0], "%s is neither a name of the language nor the start of the name of a type in this dump", path[0].name)
	t := &typeName{}
	var hint string
	for k, p := range path {
		if t.parts = append(t.parts, namePart{name: p.name}); len(t.parts) > maxMembers {
			break
		}
		if one := s.e.typeIn(t); one != "" && k == len(path)-1 {
			return s.e.unsure(s.namespace(path...))
		} else if one != "" {
			bad = s.e.errorf(path[0], "no type in this dump is named %s.%s", t, path[k+1].name)
			hint = "another in there is " + one
		}
		if name := s.e.nearType(t); name != "" {
			hint = "did you mean " + name + "?"
		}
	}
	if bad.Hint = hint; hint == "" {
		bad.Hint = s.e.suggestType(&typeName{parts: []namePart{{name: path[0].name}}})
	}
	return s.e.unsure(bad)
}

// namespace returns the error for a path that is only the start of types' names, or nil.
func (s *scope) namespace(path ...*node) *Error {
	t := &typeName{}
	for _, p := range path {
		t.parts = append(t.parts, namePart{name: p.name})
	}
	one := s.e.typeIn(t)
	if one == "" {
		return nil
	}
	bad := s.e.errorf(path[0], "names of types begin with %s, but it is none of them itself", t)
	bad.Hint = "one is " + one
	return bad
}

// isOwn reports whether a name is a member of the row's object, or may be one if the object's type is unknown.
func (s *scope) isOwn(name string) bool {
	if s.typ == nil {
		return s.e.owned[name]
	}
	_, special := s.specialMember(name)
	return special || s.e.fieldOf(s.typ, name).err != errNoMember || s.e.owned[name]
}

func (s *scope) typeCode(n *node) (code, error) {
	list, err := s.e.mustFind(n.typ)
	if err != nil {
		return code{}, err
	}
	t, err := s.e.env.objects.TrustedType(list[0].mt.Addr)
	if err != nil {
		return code{}, err
	}
	return constantCode(Value{kind: KindType, typ: t}), nil
}

// staticMember compiles a static field of a type, or a name of an enum.
func (s *scope) staticMember(n *node, v Value) (code, error) {
	if v.typ.IsEnum() {
		e, err := v.typ.Enum()
		if err != nil {
			return constantCode(Failed(err)), nil
		}
		for _, m := range e.Members {
			if m.Name == n.name {
				a := primitiveForms[e.Underlying]
				out := Uint(m.Value)
				if a.form == formSigned {
					shift := 64 - 8*uint(a.size)
					out = Int(int64(m.Value<<shift) >> shift)
				}
				out.typ = v.typ
				return constantCode(out), nil
			}
		}
	}
	for at, depth := v.typ, 0; at != nil && depth < maxBases; depth++ {
		if f, err := findField(at, n.name, true); err == nil {
			return valueCode(func(fr *frame) Value { return fr.read(fieldAccess(f), 0, fr.far) })
		} else if err != errNoMember {
			return code{}, s.e.errorf(n, "%v", err)
		}
		base, err := at.Base()
		if err != nil {
			return constantCode(Failed(err)), nil
		}
		at = base
	}
	if special, ok := specialMembers()[n.name]; ok {
		if out, ok := special(s.e.newFrame(), v); ok {
			return constantCode(out), nil
		}
	}
	name, _ := v.typ.ManagedName()
	bad := s.e.errorf(n, "%s has no static field %s", name, n.name)
	bad.Hint = suggest(n.name, staticNames(v.typ))
	return code{}, bad
}

const maxBases = 1000

func staticNames(t *objects.Type) []string {
	var out []string
	fields, _ := t.Fields()
	for _, f := range fields {
		if f.Static {
			out = append(out, objects.FieldLabel(f.Name))
		}
	}
	if e, err := t.Enum(); err == nil {
		for _, m := range e.Members {
			out = append(out, m.Name)
		}
	}
	return out
}
