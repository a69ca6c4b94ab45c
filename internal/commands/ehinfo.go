package commands

import (
	"fmt"

	"github.com/sosgo/sosgo/codeinfo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func ehInfoCommand() cli.Command {
	return cli.Command{
		Name:    "ehinfo",
		Group:   cli.GroupTypes,
		Summary: "list the exception handlers of a method's code",
		Help: "For each clause the code that it covers and the code of its handler, as addresses and as offsets from " +
			"the start of the method. The end of a range is the first byte behind it.",
		Args:      []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "MethodDesc, or address in its code"}},
		Examples:  []cli.Example{{Line: "ehinfo 7f27f4926d78", Text: "the handlers of a method"}},
		NeedsDump: true,
		Result:    []report.Part{report.Whole[ehInfoResult]()},
		Run:       runEHInfo,
	}
}

// ehInfoResult is the JSON form.
type ehInfoResult struct {
	Method  report.Address `json:"method" doc:"MethodDesc"`
	Name    string         `json:"name" doc:"method"`
	Start   report.Address `json:"start" doc:"entry point of the code, 0x0 if there is none"`
	Clauses []ehClause     `json:"clauses" doc:"innermost first"`
}

type ehClause struct {
	Kind      string   `json:"kind" doc:"TYPED, FILTER, FINALLY or FAULT"`
	Catches   string   `json:"catches,omitempty" doc:"type that a TYPED clause catches"`
	Try       codeSpan `json:"try" doc:"code that is covered"`
	Handler   codeSpan `json:"handler" doc:"code of the handler"`
	Filter    *uint32  `json:"filter,omitempty" doc:"offset of the filter"`
	Duplicate bool     `json:"duplicate,omitempty" doc:"repeats another clause for code that the compiler moved"`
	Cloned    bool     `json:"clonedFinally,omitempty" doc:"marks the copy of a finally for the way without an exception"`
}

func runEHInfo(c *cli.Context) error {
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	a, _ := c.Addr("address")
	info, err := codeAt(rt, a)
	if err != nil {
		return err
	}
	if info.Start == 0 {
		return noCode(c, "No EH info available", newEHInfoResult(c, rt, info, nil))
	}
	clauses, err := code.Of(rt).EHClauses(info)
	if err != nil {
		return err
	}
	if e := c.JSON(); e != nil {
		return e.Value(newEHInfoResult(c, rt, info, clauses))
	}
	c.Printf("MethodDesc:   %s\n", report.Hex16(info.Method.Addr))
	gatherMethod(c, rt, info.Method).print(c)
	c.Printf("\n")
	for i := range clauses {
		printEHClause(c, rt, info, i, &clauses[i])
	}
	return nil
}

func printEHClause(c *cli.Context, rt *dac.Runtime, info code.Info, i int, clause *codeinfo.EHClause) {
	c.Printf("EHHandler %d: %s ", i, clause.Kind)
	if clause.Kind == codeinfo.EHTyped {
		c.Printf("catch(%s) ", report.Escape(caughtType(c, rt, info, clause)))
	}
	switch {
	case clause.ClonedFinally():
		c.Printf("(cloned finally)")
	case clause.Duplicated:
		c.Printf("(duplicate)")
	}
	c.Printf("\nClause:  %s\nHandler: %s\n", codeRange(info, clause.Try), codeRange(info, clause.Handler))
	if clause.Kind == codeinfo.EHFilter {
		c.Printf("Filter: [%s] [%x]\n", tickAddress(info.Start+target.Addr(clause.Filter)), clause.Filter)
	}
	c.Printf("\n")
}

// codeRange is a range as addresses and as offsets, in SOS's form.
func codeRange(info code.Info, r codeinfo.CodeRange) string {
	return fmt.Sprintf("[%s, %s] [%x, %x]",
		tickAddress(info.Start+target.Addr(r.Start)), tickAddress(info.Start+target.Addr(r.End)), r.Start, r.End)
}

// tickAddress is an address as Windows debuggers print it.
func tickAddress(a target.Addr) string {
	s := report.Hex16(a)
	return s[:8] + "`" + s[8:]
}

// caughtType names the type that a clause catches.
func caughtType(c *cli.Context, rt *dac.Runtime, info code.Info, clause *codeinfo.EHClause) string {
	switch {
	case clause.TypeHandle != 0:
		name, err := rt.TypeHandleName(clause.TypeHandle, dac.NameNative)
		return textOr(c, name, err)
	case clause.ClassToken == 0:
		return "System.Object"
	}
	name, err := tokenTypeName(info.Method, metadata.Token(clause.ClassToken))
	return textOr(c, name, err)
}

// tokenTypeName names a TypeDef, TypeRef or TypeSpec of the method's module.
func tokenTypeName(m *code.MethodDesc, token metadata.Token) (string, error) {
	mod, err := m.Module()
	if err != nil {
		return "", err
	}
	md, err := mod.Metadata()
	if err != nil {
		return "", err
	}
	name := md.Names().TypeName(token)
	if name == "" {
		return "", target.Corruptf("token %08x names no type", uint32(token))
	}
	return name, nil
}

func newEHInfoResult(c *cli.Context, rt *dac.Runtime, info code.Info, clauses []codeinfo.EHClause) ehInfoResult {
	out := ehInfoResult{Start: report.Address(info.Start), Clauses: []ehClause{}}
	out.Method, out.Name = methodLabel(c, rt, info)
	for i := range clauses {
		clause := &clauses[i]
		e := ehClause{Kind: clause.Kind.String(), Try: codeSpan(clause.Try), Handler: codeSpan(clause.Handler),
			Duplicate: clause.Duplicated, Cloned: clause.ClonedFinally()}
		switch clause.Kind {
		case codeinfo.EHTyped:
			e.Catches = caughtType(c, rt, info, clause)
		case codeinfo.EHFilter:
			e.Filter = &clause.Filter
		}
		out.Clauses = append(out.Clauses, e)
	}
	return out
}
