package query

import (
	"regexp"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
)

// An opcode is the operation of a node.
type opcode uint8

const (
	opValue    opcode = iota // value
	opName                   // name: a column, a member of the object, or the start of a type's name
	opType                   // typ
	opThis                   // the object of the row
	opVariable               // name, with $
	opRegister               // name, with @
	opMember                 // args[0].name, or ?.name with maybe
	opIndex                  // args[0][args[1]…], or ?[…] with maybe
	opCall                   // name(args…)
	opMethod                 // args[0].name(args[1]…)
	opNot                    // !args[0]
	opNegate                 // -args[0]
	opInvert                 // ~args[0]
	opBinary                 // args[0] name args[1]
	opAnd                    // &&
	opOr                     // ||
	opCoalesce               // ??
	opChoose                 // args[0] ? args[1] : args[2]
	opCast                   // (typ)args[0]
	opIs                     // args[0] is typ
	opAs                     // args[0] as typ
	opMatches                // args[0] matches re
	opIn                     // args[0] in (args[1]…)
	opStar                   // * of count(*)
)

// A node is a part of an expression.
type node struct {
	op       opcode
	maybe    bool // ?. and ?[
	distinct bool // count(distinct x)
	pos, end int  // in the source
	depth    int
	name     string
	args     []*node
	typ      *typeName
	value    Value
	re       *regexp.Regexp
}

// A parser parses expressions and queries.
type parser struct {
	lexer
	tok    token
	depth  int
	nodes  int
	naming bool  // as names a column and does not cast
	err    error // the first error; the parser is then at the end of its source, which ends all loops
}

func newParser(src string) *parser {
	p := &parser{lexer: lexer{src: src}}
	if len(src) > limits.ExpressionBytes {
		p.fail(&Error{Text: "more than " + itoa(limits.ExpressionBytes) + " bytes are no question"})
	}
	p.advance()
	return p
}

func parseExpression(src string) (*node, error) {
	p := newParser(src)
	n := p.expression()
	if p.tok.kind != tokenEnd {
		p.unexpected("the expression ends before this")
	}
	return n, p.err
}

// parseExpressions parses expressions separated by commas, each optionally with a name: x as Name.
func parseExpressions(src string) ([]item, error) {
	p := newParser(src)
	list := p.items()
	if p.tok.kind != tokenEnd {
		p.unexpected("the list ends before this")
	}
	return list, p.err
}

func (p *parser) advance() {
	if p.err != nil {
		return
	}
	tok, err := p.next()
	p.tok = tok
	p.fail(err)
}

// seek continues at a place of the source.
func (p *parser) seek(pos int) {
	if p.err == nil {
		p.pos = pos
		p.advance()
	}
}

// fail records the first error and moves to the end of the source.
func (p *parser) fail(err error) {
	if err != nil && p.err == nil {
		p.err, p.pos, p.tok = err, len(p.src), token{pos: len(p.src), end: len(p.src)}
	}
}

// failf records a syntax error at pos. The returned node must not be used.
func (p *parser) failf(pos int, format string, args ...any) *node {
	if p.err == nil { // each of many levels fails for the first reason, and the place of one takes as long as the source
		p.fail(errorAt(p.src, pos, format, args...))
	}
	return &node{}
}

func (p *parser) unexpected(what string) *node {
	if p.isOp("|") {
		what = "| separates the steps of a query; of numbers, use bor(a, b)"
	}
	return p.failf(p.tok.pos, "%s", what)
}

func (p *parser) isOp(texts ...string) bool {
	return p.tok.kind == tokenOperator && slices.Contains(texts, p.tok.text)
}

// isWord reports whether the token is one of these words, ignoring case.
func (p *parser) isWord(words ...string) bool {
	return p.tok.kind == tokenName && slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(p.tok.text, w) })
}

func (p *parser) acceptOp(text string) bool {
	is := p.isOp(text)
	if is {
		p.advance()
	}
	return is
}

func (p *parser) acceptWord(words ...string) bool {
	is := p.isWord(words...)
	if is {
		p.advance()
	}
	return is
}

func (p *parser) expect(op string) {
	if !p.acceptOp(op) {
		p.unexpected(op + " is missing before this")
	}
}

// make returns a node. It fails if the expression is too deep or too large.
func (p *parser) make(n node) *node {
	n.depth = 1
	for _, a := range n.args {
		n.depth = max(n.depth, a.depth+1)
	}
	if p.nodes++; p.nodes > limits.ExpressionNodes || n.depth > limits.ExpressionDepth {
		return p.failf(n.pos, "the expression is too large: it may have %d parts, %d inside each other", limits.ExpressionNodes, limits.ExpressionDepth)
	}
	n.end = p.tok.pos
	return &n
}

// parserLevels is the number of calls of enter between a parenthesis and one inside it.
const parserLevels = 3

// enter increments the depth of recursion and reports whether to continue.
func (p *parser) enter() bool {
	if p.depth++; p.depth > parserLevels*limits.ExpressionDepth {
		p.failf(p.tok.pos, "more than %d parts stand inside each other", limits.ExpressionDepth)
	}
	return p.err == nil
}

func (p *parser) leave() { p.depth-- }

// expression parses ?: and everything of higher precedence.
func (p *parser) expression() *node {
	defer p.leave()
	if !p.enter() {
		return &node{}
	}
	pos := p.tok.pos
	cond := p.coalesce()
	if !p.acceptOp("?") {
		return cond
	}
	yes := p.expression()
	p.expect(":")
	no := p.expression()
	return p.make(node{op: opChoose, pos: pos, args: []*node{cond, yes, no}})
}

func (p *parser) coalesce() *node {
	defer p.leave()
	if !p.enter() {
		return &node{}
	}
	pos := p.tok.pos
	left := p.binary(0)
	if !p.acceptOp("??") {
		return left
	}
	right := p.coalesce()
	return p.make(node{op: opCoalesce, pos: pos, args: []*node{left, right}})
}

// levels are the binary operators, from the lowest precedence to the highest.
var levels = [][]string{
	{"||"}, {"&&"}, {"^"}, {"&"}, {"==", "!=", "=", "<>", "=~"}, {"<", ">", "<=", ">="}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"},
}

const relational = 5 // the level of is, as, in, like and matches

// binary parses operators of a level and above. Operators of one level associate to the left, without recursion.
func (p *parser) binary(level int) *node {
	if level == len(levels) {
		return p.unary()
	}
	pos := p.tok.pos
	left := p.binary(level + 1)
	for {
		op, more := p.operator(level), false
		switch {
		case op != "":
			left = p.operation(left, op, pos, level)
		case level != relational:
			return left
		default:
			if left, more = p.relation(left); !more {
				return left
			}
		}
	}
}

// operation parses the right side of an operator.
func (p *parser) operation(left *node, op string, pos, level int) *node {
	at := p.tok.pos
	if op == "=~" {
		p.pos = p.tok.end
		return p.matches(left)
	}
	p.advance()
	if op == ">>" { // two tokens, because List<List<int>> needs it
		p.advance()
	}
	right := p.binary(level + 1)
	n := node{op: opBinary, name: op, pos: at, args: []*node{left, right}}
	switch op {
	case "&&":
		n.op = opAnd
	case "||":
		n.op = opOr
	case "=":
		n.name = "=="
	case "<>":
		n.name = "!="
	}
	return p.make(n)
}

// operator returns the operator of a level at the current token, or "".
func (p *parser) operator(level int) string {
	switch {
	case level == 0 && p.isWord("or"):
		return "||"
	case level == 1 && p.isWord("and"):
		return "&&"
	case level == relational+1 && p.isOp(">") && strings.HasPrefix(p.src[p.tok.end:], ">") && !strings.HasPrefix(p.src[p.tok.end:], ">="):
		return ">>"
	case level == relational && p.isOp(">") && strings.HasPrefix(p.src[p.tok.end:], ">"):
		return ""
	case p.isOp(levels[level]...):
		return p.tok.text
	}
	return ""
}

// relation parses is, as, in, like, matches and their negations. more reports whether there is one.
func (p *parser) relation(left *node) (n *node, more bool) {
	pos := p.tok.pos
	negate := p.acceptWord("not")
	if negate && !p.isWord("in", "like", "matches", "between") {
		return p.unexpected("not stands in front of what it negates"), false
	}
	switch {
	case p.isWord("is"):
		n = p.isType(left)
	case p.isWord("as") && p.asType():
		n = p.make(node{op: opAs, pos: pos, typ: p.typeBehind(), args: []*node{left}})
	case p.isWord("in"):
		n = p.in(left)
	case p.isWord("between"):
		n = p.between(left)
	case p.isWord("matches"):
		p.pos = p.tok.end
		n = p.matches(left)
	case p.isWord("like"):
		n = p.like(left)
	default:
		return left, false
	}
	if negate {
		n = p.make(node{op: opNot, pos: pos, args: []*node{n}})
	}
	return n, true
}

// asType reports whether as casts, as opposed to naming a column.
func (p *parser) asType() bool {
	t, _ := scanType(p.src, p.tok.end, false)
	return t != nil && !p.naming
}

func (p *parser) typeBehind() *typeName {
	t, end := scanType(p.src, p.tok.end, false)
	if t == nil {
		p.failf(p.tok.end, "the name of a type is missing")
	}
	p.seek(end)
	return t
}

// isType parses is T, is not T, is null and is not null.
func (p *parser) isType(left *node) *node {
	pos := p.tok.pos
	end := p.tok.end
	p.advance()
	negate := p.isWord("not")
	if negate {
		end = p.tok.end
		p.advance()
	}
	var n *node
	if p.acceptWord("null") {
		n = p.make(node{op: opBinary, name: "==", pos: pos, args: []*node{left, p.make(node{op: opValue, pos: pos, value: null})}})
	} else {
		t, at := scanType(p.src, end, true)
		if t == nil {
			return p.failf(end, "the name of a type is missing behind is")
		}
		p.seek(at)
		n = p.make(node{op: opIs, pos: pos, typ: t, args: []*node{left}})
	}
	if negate {
		n = p.make(node{op: opNot, pos: pos, args: []*node{n}})
	}
	return n
}

func (p *parser) in(left *node) *node {
	pos := p.tok.pos
	p.advance()
	p.expect("(")
	args := p.arguments(")")
	return p.make(node{op: opIn, pos: pos, args: append([]*node{left}, args...)})
}

func (p *parser) between(left *node) *node {
	pos := p.tok.pos
	p.advance()
	low := p.binary(relational + 1)
	if !p.acceptWord("and") {
		return p.unexpected("and is missing: x between a and b")
	}
	high := p.binary(relational + 1)
	from := p.make(node{op: opBinary, name: ">=", pos: pos, args: []*node{left, low}})
	to := p.make(node{op: opBinary, name: "<=", pos: pos, args: []*node{left, high}})
	return p.make(node{op: opAnd, pos: pos, args: []*node{from, to}})
}

// matches parses a regular expression: /…/, optionally followed by i, or a string.
func (p *parser) matches(left *node) *node {
	for p.pos < len(p.src) && p.src[p.pos] == ' ' {
		p.pos++
	}
	pos := p.pos
	if pos < len(p.src) && p.src[pos] == '/' {
		return p.slashed(left)
	}
	p.advance()
	if p.tok.kind != tokenValue || p.tok.value.kind != KindText {
		return p.failf(pos, "a regular expression is missing: /…/")
	}
	text := p.tok.value.text
	p.advance()
	return p.pattern(left, text, pos)
}

func (p *parser) slashed(left *node) *node {
	pos := p.pos
	end := pos + 1
	for end < len(p.src) && p.src[end] != '/' {
		if p.src[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(p.src) {
		return p.failf(pos, "this regular expression is not closed: /…/")
	}
	text := strings.ReplaceAll(p.src[pos+1:end], `\/`, "/")
	if end++; end < len(p.src) && p.src[end] == 'i' {
		text = "(?i)" + text
		end++
	}
	p.seek(end)
	return p.pattern(left, text, pos)
}

func (p *parser) pattern(left *node, text string, pos int) *node {
	if len(text) > limits.ExpressionPattern {
		return p.failf(pos, "the regular expression is too long")
	}
	re, err := regexp.Compile(matchable(text))
	if err != nil {
		return p.failf(pos, "%v", err)
	}
	return p.make(node{op: opMatches, pos: pos, re: re, args: []*node{left}})
}

// like parses an SQL pattern: % is any text and _ any character.
func (p *parser) like(left *node) *node {
	p.advance()
	pos := p.tok.pos
	if p.tok.kind != tokenValue || p.tok.value.kind != KindText && p.tok.value.kind != KindChar {
		return p.failf(pos, "a pattern is missing: like 'a%%'")
	}
	var b strings.Builder
	last := rune(0)
	for _, r := range utf16text.Runes(p.tok.value.plainText()) {
		switch {
		case r == '%' && last == '%': // one is enough, and each costs as much as a text of the pattern
		case r == '%':
			b.WriteString(".*")
		case r == '_':
			b.WriteByte('.')
		default:
			b.WriteString(regexp.QuoteMeta(matchable(string(utf16text.AppendRune(nil, r)))))
		}
		last = r
	}
	p.advance()
	return p.pattern(left, "(?s)^"+b.String()+"$", pos)
}

func (p *parser) unary() *node {
	defer p.leave()
	if !p.enter() {
		return &node{}
	}
	pos := p.tok.pos
	op, is := opcode(0), true
	switch {
	case p.isOp("!"), p.isWord("not"):
		op = opNot
	case p.isOp("-"):
		op = opNegate
	case p.isOp("~"):
		op = opInvert
	case p.isOp("+"):
		p.advance()
		return p.unary()
	default:
		is = false
	}
	if is {
		p.advance()
		of := p.unary()
		return p.make(node{op: op, pos: pos, args: []*node{of}})
	}
	if p.isOp("(") {
		if n := p.cast(); n != nil {
			return n
		}
	}
	return p.postfix()
}

// cast parses (T)x. It returns nil if the parenthesis is not a cast. As in C#, a cast is followed by a name, a literal,
// a parenthesis, ! or ~.
func (p *parser) cast() *node {
	pos := p.tok.pos
	t, end := scanType(p.src, p.tok.end, false)
	if t == nil {
		return nil
	}
	l := lexer{src: p.src, pos: end}
	if tok, err := l.next(); err != nil || tok.kind != tokenOperator || tok.text != ")" {
		return nil
	}
	tok, err := l.next()
	if err != nil {
		return nil
	}
	starts := tok.kind == tokenValue || tok.kind == tokenVariable || tok.kind == tokenRegister ||
		tok.kind == tokenName && !isInfix(tok.text) || tok.kind == tokenOperator && (tok.text == "(" || tok.text == "!" || tok.text == "~")
	if _, simple := keywords[t.definition()]; tok.text == "-" && (simple || isKeyword(t)) {
		starts = true // (int)-1
	}
	if !starts {
		return nil
	}
	p.seek(tok.pos)
	of := p.unary()
	return p.make(node{op: opCast, pos: pos, typ: t, args: []*node{of}})
}

// isKeyword reports whether C# has a keyword for the type.
func isKeyword(t *typeName) bool {
	if len(t.parts) != 2 || t.parts[0].name != "System" || len(t.arrays) > 0 {
		return false
	}
	for _, k := range keywords {
		if k == t.parts[1].name {
			return true
		}
	}
	return false
}

// infix are the words that may follow an expression.
var infix = []string{"and", "or", "is", "as", "in", "like", "matches", "between", "not", "asc", "desc", "from", "where", "group", "order", "limit", "having",
	"select", "top", "take", "skip", "offset", "union"}

func isInfix(word string) bool {
	return slices.ContainsFunc(infix, func(w string) bool { return strings.EqualFold(w, word) })
}

func (p *parser) postfix() *node {
	n := p.primary()
	for {
		pos, maybe := p.tok.pos, p.isOp("?.", "?[")
		switch {
		case p.isOp(".", "?."):
			n = p.member(n, maybe)
		case p.isOp("[", "?["):
			p.advance()
			args := p.arguments("]")
			if len(args) == 0 {
				return p.failf(pos, "an index is missing")
			}
			n = p.make(node{op: opIndex, pos: pos, maybe: maybe, args: append([]*node{n}, args...)})
		default:
			return n
		}
	}
}

// member parses the name after a point: an identifier, or any text in back-ticks, such as `<Main>b__0`.
func (p *parser) member(of *node, maybe bool) *node {
	start := p.tok.end
	for start < len(p.src) && (p.src[start] == ' ' || p.src[start] == '\n') {
		start++
	}
	if start < len(p.src) && p.src[start] == '`' {
		end := strings.IndexByte(p.src[start+1:], '`')
		if end < 0 {
			return p.failf(start, "this ` is not closed")
		}
		name := p.src[start+1 : start+1+end]
		p.seek(start + end + 2)
		return p.make(node{op: opMember, pos: start, name: name, maybe: maybe, args: []*node{of}})
	}
	p.advance()
	if p.tok.kind != tokenName {
		return p.unexpected("a name is missing before this")
	}
	pos, name := p.tok.pos, p.tok.text
	if t := p.genericAt(pos); t != nil {
		return p.typeMember(of, t, pos)
	}
	p.advance()
	if !p.isOp("(") {
		return p.make(node{op: opMember, pos: pos, name: name, maybe: maybe, args: []*node{of}})
	}
	p.advance()
	args := p.arguments(")")
	return p.make(node{op: opMethod, pos: pos, name: name, maybe: maybe, args: append([]*node{of}, args...)})
}

// genericAt returns the type with generic arguments at pos, or nil. As in C#, it is a type only if a
// point or a parenthesis follows.
func (p *parser) genericAt(pos int) *typeName {
	t, end := scanType(p.src, pos, false)
	if t == nil {
		return nil
	}
	for i, part := range t.parts {
		if part.generic {
			if i < len(t.parts)-1 {
				return t
			}
			l := lexer{src: p.src, pos: end}
			tok, err := l.next()
			if err == nil && tok.kind == tokenOperator && (tok.text == "." || tok.text == ")") {
				return t
			}
			return nil
		}
	}
	return nil
}

// typeMember joins the names before a generic part to its type. In Ns.Gen<int>.Field the last part is a member.
func (p *parser) typeMember(of *node, t *typeName, pos int) *node {
	var front []namePart
	for n := of; n != nil; {
		switch n.op {
		case opMember:
			front = append([]namePart{{name: n.name}}, front...)
			n = n.args[0]
		case opName:
			front = append([]namePart{{name: n.name}}, front...)
			n = nil
		default:
			return p.failf(pos, "a type can't be a member of this")
		}
	}
	t.parts = append(front, t.parts...)
	return p.typeAndMembers(t, pos)
}

// typeAndMembers splits the parts after the last generic one off t: they are members.
func (p *parser) typeAndMembers(t *typeName, pos int) *node {
	last := 0
	for i := range t.parts {
		if t.parts[i].generic {
			last = i
		}
	}
	members := t.parts[last+1:]
	t.parts = t.parts[:last+1]
	_, end := scanType(p.src, pos, false)
	p.seek(end)
	n := p.make(node{op: opType, typ: t, pos: pos})
	for _, m := range members {
		n = p.make(node{op: opMember, name: m.name, pos: pos, args: []*node{n}})
	}
	return n
}

// arguments parses expressions up to a closing bracket.
func (p *parser) arguments(closing string) []*node {
	naming := p.naming
	p.naming = false
	defer func() { p.naming = naming }()
	var args []*node
	for !p.isOp(closing) {
		args = append(args, p.expression())
		if !p.isOp(closing) && !p.acceptOp(",") {
			p.unexpected(", or " + closing + " is missing before this")
			return args
		}
	}
	p.advance()
	return args
}

func (p *parser) primary() *node {
	t := p.tok
	switch t.kind {
	case tokenValue:
		p.advance()
		return p.make(node{op: opValue, pos: t.pos, value: t.value})
	case tokenVariable, tokenRegister:
		p.advance()
		op := opVariable
		if t.kind == tokenRegister {
			op = opRegister
		}
		return p.make(node{op: op, pos: t.pos, name: t.text})
	case tokenName:
		return p.wordOperand()
	case tokenEnd:
		return p.failf(t.pos, "an expression is missing")
	}
	if t.text != "(" {
		return p.unexpected("an expression is missing before this")
	}
	p.advance()
	naming := p.naming
	p.naming = false
	n := p.expression()
	p.naming = naming
	p.expect(")")
	return n
}

// wordOperand parses an operand that starts with a word.
func (p *parser) wordOperand() *node {
	t := p.tok
	constant, is := null, true
	switch t.text {
	case "true", "TRUE":
		constant = Bool(true)
	case "false", "FALSE":
		constant = Bool(false)
	case "null", "NULL":
	default:
		is = false
	}
	if g := p.genericAt(t.pos); g != nil && !is {
		return p.typeAndMembers(g, t.pos)
	}
	if isInfix(t.text) && !strings.EqualFold(t.text, "from") {
		return p.unexpected("an expression is missing before this")
	}
	p.advance()
	switch {
	case is:
		return p.make(node{op: opValue, pos: t.pos, value: constant})
	case t.text == "this" || t.text == "it":
		return p.make(node{op: opThis, pos: t.pos})
	case p.isOp("("):
		return p.call(t)
	}
	if _, ok := keywords[t.text]; ok && t.text != "object" && p.isOp(".") {
		if typ, _ := scanType(p.src, t.pos, false); typ != nil && len(typ.parts) == 2 {
			return p.make(node{op: opType, pos: t.pos, typ: typ}) // int.MaxValue, string.Empty
		}
	}
	return p.make(node{op: opName, pos: t.pos, name: t.text})
}

// call parses the arguments of a function, including count(*) and count(distinct x).
func (p *parser) call(name token) *node {
	p.advance()
	n := node{op: opCall, pos: name.pos, name: name.text}
	if p.isOp("*") {
		n.args = []*node{p.make(node{op: opStar, pos: p.tok.pos})}
		p.advance()
		p.expect(")")
		return p.make(n)
	}
	n.distinct = p.acceptWord("distinct")
	n.args = p.arguments(")")
	return p.make(n)
}
