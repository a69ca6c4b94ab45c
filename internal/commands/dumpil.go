package commands

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func dumpILCommand() cli.Command {
	return cli.Command{Name: "dumpil", Group: cli.GroupTypes, Summary: "print a method's IL",
		Args: []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "of the MethodDesc, in the method's code, or of a DynamicMethod or its resolver"}},
		Options: []cli.Option{
			{Name: "i", Kind: cli.Bool, Summary: "the address is that of IL"},
		},
		Examples: []cli.Example{
			{Line: "dumpil 7f27f4926dd8", Text: "the IL of a method, with names and literals"},
			{Line: "dumpil -i 7f27f3f8bf24", Text: "IL in memory"},
		},
		Result:    []report.Part{report.Whole[ilResult]()},
		NeedsDump: true, Run: runDumpIL}
}

// ilResult is the JSON result of dumpil.
type ilResult struct {
	MethodDesc   report.Address  `json:"methodDesc,omitempty" doc:"address of the MethodDesc"`
	Name         string          `json:"name,omitempty" doc:"of the method"`
	Address      report.Address  `json:"address,omitempty" doc:"of the body's header in the process"`
	MaxStack     uint16          `json:"maxStack" doc:"slots of the evaluation stack"`
	InitLocals   bool            `json:"initLocals" doc:"local variables start as zeros"`
	Dynamic      bool            `json:"dynamic,omitempty" doc:"the IL is of a DynamicMethod: tokens number the objects of its scope"`
	Locals       []string        `json:"locals,omitempty" doc:"types of the local variables"`
	Instructions []ilInstruction `json:"instructions" doc:"in the order of their offsets"`
	Clauses      []ilClause      `json:"clauses,omitempty" doc:"exception handlers"`
}

type ilInstruction struct {
	Offset  int            `json:"offset" doc:"bytes from the start of the code"`
	Opcode  string         `json:"opcode" doc:"as the IL assembler names it"`
	Operand string         `json:"operand,omitempty" doc:"in words: name, literal, constant or target"`
	Token   report.Address `json:"token,omitempty" doc:"metadata token"`
}

type ilClause struct {
	Kind    string         `json:"kind" doc:"\"catch\", \"filter\", \"finally\" or \"fault\""`
	Try     [2]uint32      `json:"try" doc:"offset and length of what is protected"`
	Handler [2]uint32      `json:"handler" doc:"offset and length of the handler"`
	Type    string         `json:"type,omitempty" doc:"of the exceptions that a catch takes"`
	Token   report.Address `json:"token,omitempty" doc:"of that type"`
	Filter  uint32         `json:"filter,omitempty" doc:"offset of the filter"`
}

// ilListing is IL with what names its tokens.
type ilListing struct {
	c       *cli.Context
	body    metadata.MethodBody
	at      target.Addr
	atErr   error
	method  *code.MethodDesc
	operand func(metadata.Token) (string, error)
	names   *tokenNames // nil where the tokens are not a module's
	dynamic bool        // of a DynamicMethod
	items   target.Addr // the array of the objects that its tokens number
}

func runDumpIL(c *cli.Context) error {
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	a, _ := c.Addr("address")
	if a == 0 {
		sayInSOS(c, "Must pass a valid expression")
		return c.Usagef("0 is no method")
	}
	if c.Bool("i") {
		return ilAt(c, rt, a)
	}
	if l, err := dynamicIL(c, rt, a); l != nil || err != nil {
		if err != nil {
			return err
		}
		return l.write()
	}
	m, err := methodOrCode(rt, a)
	if err != nil {
		sayInSOS(c, fmt.Sprintf("%016x is not a MethodDesc", uint64(a)))
		return err
	}
	l, err := methodIL(c, rt, m)
	if err != nil {
		return sayNoIL(c, m, err)
	}
	return l.write()
}

// methodOrCode is the method of a MethodDesc, or that of code.
func methodOrCode(rt *dac.Runtime, a target.Addr) (*code.MethodDesc, error) {
	m, err := code.Of(rt).MethodDesc(a)
	if err == nil {
		return m, nil
	}
	if info, codeErr := code.Of(rt).MethodAt(a); codeErr == nil && info.Method != nil {
		return info.Method, nil
	}
	return nil, err
}

// sayNoIL says why there is no IL, in SOS's words.
func sayNoIL(c *cli.Context, m *code.MethodDesc, err error) error {
	switch {
	case !errors.Is(err, code.ErrNoIL) || c.JSON() != nil:
		return err
	case c.SOS && (m.Kind == code.MethodIL || m.Kind == code.MethodInstantiated):
		c.Printf("Unknown error in reading function IL\nUnable to retrieve IL for this method (ilAddr is %016x).\n", 0)
	default:
		c.Printf("This method has no IL body (e.g. IL stubs generated for P/Invoke or Reverse P/Invoke marshaling).\n")
	}
	return nil
}

// methodIL reads the IL of a method that has metadata.
func methodIL(c *cli.Context, rt *dac.Runtime, m *code.MethodDesc) (*ilListing, error) {
	body, err := code.Of(rt).IL(m)
	if err != nil {
		return nil, err
	}
	l := &ilListing{c: c, body: body, method: m}
	l.at, l.atErr = code.Of(rt).ILAddress(m)
	mod, err := m.Module()
	if err != nil {
		return nil, err
	}
	md, err := mod.Metadata()
	if err != nil {
		return nil, err
	}
	l.named(md)
	return l, nil
}

func (l *ilListing) named(md *metadata.Metadata) {
	l.names = &tokenNames{md: md, cut: l.c.SOS}
	l.operand = l.names.text
}

// ilAt prints IL at an address. SOS does not ask which module it belongs to.
func ilAt(c *cli.Context, rt *dac.Runtime, a target.Addr) error {
	body, err := code.Of(rt).ILAt(a)
	if err != nil {
		return err
	}
	l := &ilListing{c: c, body: body, at: a}
	l.operand = func(t metadata.Token) (string, error) { return "TOKEN " + strconv.FormatUint(uint64(t), 16), nil }
	if md := metadataAt(rt, a); md != nil && !c.SOS {
		l.named(md)
	}
	return l.write()
}

// metadataAt is the metadata of the module whose image holds a, or nil.
func metadataAt(rt *dac.Runtime, a target.Addr) *metadata.Metadata {
	mods, _ := rt.KnownModules()
	for _, m := range mods {
		if at, err := m.Image(); err == nil && at.Contains(a) {
			md, err := m.Metadata()
			if err != nil {
				return nil
			}
			return md
		}
	}
	return nil
}

func (l *ilListing) write() error {
	if l.c.JSON() != nil {
		return l.c.JSON().Value(l.result())
	}
	if l.dynamic {
		l.c.Printf("This is dynamic IL. Exception info is not reported at this time.\n" +
			"If a token is unresolved, run \"dumpobj <addr>\" on the addr given\n" +
			"in parenthesis. You can also look at the token table yourself, by\n")
		l.c.Printf("running \"dumparray %016x\".\n\n", uint64(l.items))
		return l.print()
	}
	if l.method != nil {
		l.c.Printf("ilAddr is %s\n", textOr(l.c, report.Hex16(l.at), l.atErr))
	}
	if l.atErr == nil && l.at != 0 {
		l.c.Printf("ilAddr = %016x\n", uint64(l.at))
	}
	return l.print()
}

// print prints the instructions, inside the blocks of their handlers.
func (l *ilListing) print() error {
	indent := 0
	line := func(text string) { l.c.Printf("%s%s\n", strings.Repeat("  ", indent), report.Escape(text)) }
	for in, err := range metadata.Instructions(l.body.Code) {
		if err != nil {
			return fmt.Errorf("IL: %w", err)
		}
		l.blocks(in.Offset, &indent, line)
		line(fmt.Sprintf("IL_%04x: %s %s", in.Offset, in.Opcode, l.operandText(&in)))
	}
	l.blocks(len(l.body.Code), &indent, line)
	return nil
}

// blocks closes the blocks that end at an offset and opens those that start
// there. SOS opens a block for each handler, also where several protect the
// same instructions.
func (l *ilListing) blocks(offset int, indent *int, line func(string)) {
	open := func(what string) {
		line(what)
		line("{")
		*indent++
	}
	end := func(what string) {
		*indent = max(0, *indent-1)
		line("} // end " + what)
	}
	at := func(off, n uint32) (starts, ends bool) { return int(off) == offset, int(off)+int(n) == offset }
	for i := range l.body.Clauses {
		c := &l.body.Clauses[i]
		shared := !l.c.SOS && i > 0 && sameTry(c, &l.body.Clauses[i-1])
		if starts, ends := at(c.TryOffset, c.TryLength); !shared && starts {
			open(".try")
		} else if !shared && ends {
			end(".try")
		}
		if starts, ends := at(c.HandlerOffset, c.HandlerLength); starts {
			open(l.handler(c))
		} else if ends {
			end(blockWord(c))
		}
	}
}

func sameTry(a, b *metadata.Clause) bool {
	return a.TryOffset == b.TryOffset && a.TryLength == b.TryLength
}

// blockWord is what a handler's block is called; SOS calls all but finally a
// catch.
func blockWord(c *metadata.Clause) string {
	switch c.Kind {
	case metadata.ClauseFinally:
		return ".finally"
	case metadata.ClauseFault:
		return ".fault"
	}
	return ".catch"
}

// handler is blockWord with the type that is caught, which SOS leaves out.
func (l *ilListing) handler(c *metadata.Clause) string {
	word := blockWord(c)
	if l.c.SOS || l.names == nil {
		return word
	}
	if c.Kind == metadata.ClauseCatch {
		if name, err := l.names.owner(c.CatchType); err == nil {
			return word + " " + name
		}
	}
	return word
}

// operandText is an instruction's operand in SOS's form.
func (l *ilListing) operandText(in *metadata.Instruction) string {
	switch in.Kind {
	case metadata.OperandNone:
		return ""
	case metadata.OperandVar8, metadata.OperandVar16:
		return "VAR OR ARG " + strconv.FormatInt(in.Int(), 10)
	case metadata.OperandFloat32, metadata.OperandFloat64:
		if l.c.SOS {
			return sosFloat(in.Float())
		}
		return strconv.FormatFloat(in.Float(), 'g', -1, 64)
	case metadata.OperandBranch8, metadata.OperandBranch32:
		return fmt.Sprintf("IL_%04x", in.Target())
	case metadata.OperandSwitch:
		var b strings.Builder
		for t := range in.Targets() {
			if b.Len() > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "IL_%04x", t)
		}
		return "(" + b.String() + ")"
	}
	if !in.Kind.IsToken() {
		return strconv.FormatInt(in.Int(), 10)
	}
	text, err := l.operand(in.Token())
	if err != nil {
		l.c.Warn(err)
		return fmt.Sprintf("<token %08x>", uint32(in.Token()))
	}
	return text
}

func (l *ilListing) result() ilResult {
	res := ilResult{Address: report.Address(l.at), Dynamic: l.dynamic, MaxStack: l.body.MaxStack, InitLocals: l.body.InitLocals, Instructions: []ilInstruction{}}
	if l.method != nil {
		res.MethodDesc = report.Address(l.method.Addr)
		if rt, err := runtimeOf(l.c); err == nil {
			res.Name, _ = code.Of(rt).MethodName(l.method, code.MethodFull)
		}
	}
	res.Locals = l.locals()
	for in, err := range metadata.Instructions(l.body.Code) {
		if err != nil {
			l.c.Warn(err)
			break
		}
		item := ilInstruction{Offset: in.Offset, Opcode: in.Opcode.String(), Operand: l.operandText(&in)}
		if in.Kind.IsToken() {
			item.Token = report.Address(in.Token())
		}
		res.Instructions = append(res.Instructions, item)
	}
	for i := range l.body.Clauses {
		c := &l.body.Clauses[i]
		item := ilClause{Kind: c.Kind.String(), Try: [2]uint32{c.TryOffset, c.TryLength}, Handler: [2]uint32{c.HandlerOffset, c.HandlerLength},
			Token: report.Address(c.CatchType), Filter: c.FilterOffset}
		if c.Kind == metadata.ClauseCatch && l.names != nil {
			item.Type, _ = l.names.owner(c.CatchType)
		}
		res.Clauses = append(res.Clauses, item)
	}
	return res
}

// locals are the types of the local variables.
func (l *ilListing) locals() []string {
	if l.names == nil || l.body.LocalSig.IsNil() {
		return nil
	}
	row, err := l.names.md.StandAloneSig(l.body.LocalSig.Row())
	if err != nil {
		return nil
	}
	b, err := l.names.md.Blob(row.Signature)
	if err != nil {
		return nil
	}
	sig, err := metadata.ParseLocalSig(b)
	if err != nil {
		return nil
	}
	var out []string
	for i := range sig {
		out = append(out, l.names.md.FormatTypeIL(&sig[i]))
	}
	return out
}
