package disasm

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// IL lists the IL of a method. a is its MethodDesc, an address in its code, a DynamicMethod or its resolver. For a
// method without IL, NoBody is set. The error for any other address is a [NoMethodError].
func (l *Lister) IL(a target.Addr) (*answer.IL, error) {
	if d, err := l.dynamicIL(a); d != nil || err != nil {
		return d, err
	}
	m, err := l.methodOrCode(a)
	if err != nil {
		return nil, &NoMethodError{err}
	}
	b, err := l.methodIL(m)
	if errors.Is(err, dac.ErrNoIL) {
		compiled := m.Kind == dac.MethodIL || m.Kind == dac.MethodInstantiated
		return &answer.IL{MethodDesc: m.Addr, Name: answer.Of(l.code.MethodName(m, dac.MethodFull)), NoBody: true, Compiled: compiled,
			Instructions: func(func(answer.ILInstruction, error) bool) {}}, nil
	}
	if err != nil {
		return nil, err
	}
	out := b.list()
	out.MethodDesc, out.Name = m.Addr, answer.Of(l.code.MethodName(m, dac.MethodFull))
	out.Address = out.Pointer(l.code.ILAddress(m))
	out.Note(l.code.ILReplaced(m))
	return out, nil
}

// ILAt lists the IL that starts at a. Tokens have names if a lies in the image of a module.
func (l *Lister) ILAt(a target.Addr) (*answer.IL, error) {
	body, err := l.code.ILAt(a)
	if err != nil {
		return nil, err
	}
	b := &ilBody{MethodBody: body, name: func(metadata.Token) (answer.ILToken, error) { return answer.ILToken{}, errUnnamed }}
	if md := l.metadataAt(a); md != nil {
		b.setNames(md)
	}
	out := b.list()
	out.Name = answer.Missing[string](errUnnamed)
	out.Address = out.Pointer(a, nil)
	return out, nil
}

// errUnnamed is the error for the name of IL without a method.
var errUnnamed = target.Unsupportedf("IL at an address has no name")

// methodOrCode returns the method of a MethodDesc or of an address in code.
func (l *Lister) methodOrCode(a target.Addr) (*dac.MethodDesc, error) {
	m, err := l.code.MethodDesc(a)
	if err == nil {
		return m, nil
	}
	if info, codeErr := l.code.PlaceAt(a); codeErr == nil && info.Method != nil {
		return info.Method, nil
	}
	return nil, err
}

// metadataAt returns the metadata of the module with an image at a, or nil.
func (l *Lister) metadataAt(a target.Addr) *metadata.Metadata {
	mods, _ := l.rt.KnownModules() // the module may be among the readable ones
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

// An ilBody is IL with the names of its tokens.
type ilBody struct {
	metadata.MethodBody
	name func(metadata.Token) (answer.ILToken, error)
	md   *metadata.Metadata // nil for tokens of a dynamic method
}

func (l *Lister) methodIL(m *dac.MethodDesc) (*ilBody, error) {
	body, err := l.code.IL(m)
	if err != nil {
		return nil, err
	}
	md, err := m.Metadata()
	if err != nil {
		return nil, err
	}
	b := &ilBody{MethodBody: body}
	b.setNames(md)
	return b, nil
}

func (b *ilBody) setNames(md *metadata.Metadata) { b.md, b.name = md, tokenNames{md}.token }

// list returns the listing without its method. An invalid instruction ends it with an error, because its length is
// unknown.
func (b *ilBody) list() *answer.IL {
	out := &answer.IL{MaxStack: b.MaxStack, InitLocals: b.InitLocals, CodeSize: len(b.Code)}
	if b.md != nil && !b.LocalSig.IsNil() {
		out.Locals = answer.NewRows(&out.Gaps, b.locals)
	}
	for i := range b.Clauses {
		out.Clauses = append(out.Clauses, b.clause(&b.Clauses[i], &out.Gaps))
	}
	out.Instructions = answer.NewRows(&out.Gaps, func(yield func(answer.ILInstruction, error) bool) error {
		for in, err := range metadata.Instructions(b.Code) {
			if err != nil {
				return fmt.Errorf("IL: %w", err)
			}
			if !yield(b.instruction(&in, &out.Gaps), nil) {
				return nil
			}
		}
		return nil
	})
	return out
}

func (b *ilBody) instruction(in *metadata.Instruction, g *answer.Gaps) answer.ILInstruction {
	out := answer.ILInstruction{Offset: in.Offset, Opcode: in.Opcode.String(), Operand: b.operand(in, g)}
	if in.Kind.IsToken() {
		out.Token = answer.Hex(in.Token())
	}
	return out
}

func (b *ilBody) operand(in *metadata.Instruction, g *answer.Gaps) answer.ILOperand {
	switch in.Kind {
	case metadata.OperandNone:
		return answer.ILOperand{}
	case metadata.OperandVar8, metadata.OperandVar16:
		return answer.ILOperand{Kind: answer.ILVariable, Int: in.Int()}
	case metadata.OperandFloat32, metadata.OperandFloat64:
		return answer.ILOperand{Kind: answer.ILFloat, Float: in.Float()}
	case metadata.OperandBranch8, metadata.OperandBranch32:
		return answer.ILOperand{Kind: answer.ILBranch, Targets: []int{in.Target()}}
	case metadata.OperandSwitch:
		return answer.ILOperand{Kind: answer.ILSwitch, Targets: slices.Collect(in.Targets())}
	}
	if !in.Kind.IsToken() {
		return answer.ILOperand{Kind: answer.ILInt, Int: in.Int()}
	}
	out := answer.ILOperand{Kind: answer.ILName, Token: answer.Hex(in.Token())}
	var err error
	switch out.Name, err = b.name(in.Token()); {
	case err == errUnnamed:
		out.Kind = answer.ILUnnamed
	case err != nil:
		out.Kind = answer.ILLost
		g.Note(err)
	}
	return out
}

func (b *ilBody) clause(c *metadata.Clause, g *answer.Gaps) answer.ILClause {
	out := answer.ILClause{Kind: answer.ILClauseKind(c.Kind.String()), Try: [2]uint32{c.TryOffset, c.TryLength}, Handler: [2]uint32{c.HandlerOffset, c.HandlerLength},
		Token: answer.Hex(c.CatchType), Filter: c.FilterOffset}
	if c.Kind == metadata.ClauseCatch && b.md != nil {
		typ, err := tokenNames{b.md}.owner(c.CatchType)
		out.Type = g.Text(typ.Full, err)
	}
	return out
}

// locals yields the types of the local variables.
func (b *ilBody) locals(yield func(string, error) bool) error {
	sig, err := b.md.LocalSig(b.LocalSig.Row())
	if err != nil {
		yield("", fmt.Errorf("local variables: %w", err)) // the instructions can be read without them
		return nil
	}
	for i := range sig {
		if !yield(b.md.FormatTypeIL(&sig[i]), nil) {
			break
		}
	}
	return nil
}
