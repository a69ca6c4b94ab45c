package commands

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func name2EECommand() cli.Command {
	return cli.Command{Name: "name2ee", Group: cli.GroupTypes, Summary: "find a type, method or field by name",
		Usage: "MODULE!NAME | MODULE NAME",
		Help: "MODULE is a file name with or without its extension, or * for all modules. NAME is the full name of a type, loaded or not,\n" +
			"or of a type's member. If nothing has that name, loaded types that contain it are listed; --sos lists these too.",
		Args:     []cli.Arg{{Name: "name", Kind: cli.TypeName, Rest: true, Summary: "module and name"}},
		Examples: []cli.Example{{Line: "name2ee *!System.String", Text: "search all modules"}, {Line: "name2ee App.dll App.Program.Main", Text: "a method"}},
		Result:   []report.Part{report.ListOf[nameMatch]("matches"), report.FieldOf[int]("modulesWithoutMatch")}, NeedsDump: true, Run: runName2EE}
}

// nameMatch is an item of the JSON results of name2ee and token2ee.
type nameMatch struct {
	Module      report.Address `json:"module" doc:"address of the Module"`
	File        string         `json:"file,omitempty" doc:"file name of the module"`
	Kind        string         `json:"kind" doc:"\"type\", \"method\" or \"field\""`
	Token       report.Address `json:"token" doc:"metadata token of the type or method, of a field that of its type"`
	FieldToken  report.Address `json:"fieldToken,omitempty" doc:"metadata token of a field"`
	Field       string         `json:"field,omitempty" doc:"name of a field"`
	MethodTable report.Address `json:"methodTable,omitempty" doc:"of the type; absent while it is not loaded"`
	MethodDesc  report.Address `json:"methodDesc,omitempty" doc:"of the method; absent while its type is not loaded"`
	Name        string         `json:"name,omitempty" doc:"of the type, or of the method with its parameters"`
	Code        report.Address `json:"code,omitempty" doc:"compiled code of the method"`
}

const (
	moduleSeparator = "--------------------------------------\n"
	memberSeparator = "-----------------------\n"
)

// moduleAndName splits the arguments: "module!name" or "module name".
func moduleAndName(c *cli.Context) (module, name string, err error) {
	args := c.Strings("name")
	if len(args) == 1 {
		module, name, _ = strings.Cut(args[0], "!")
	} else if len(args) == 2 {
		module, name = args[0], args[1]
	}
	if module == "" || name == "" || strings.Contains(name, "!") && len(args) == 1 {
		return "", "", c.Usagef("a module and a name are needed: module!name, or *!name for all modules")
	}
	return module, name, nil
}

// modulesNamed are the modules that a file name, with or without extension, or
// a whole path names; * names all.
func modulesNamed(c *cli.Context, rt *dac.Runtime, name string) ([]*dac.Module, error) {
	mods, err := knownModules(c, rt)
	if err != nil || name == "*" {
		return mods, err
	}
	mods = slices.DeleteFunc(slices.Clone(mods), func(m *dac.Module) bool {
		file, err := moduleFile(m)
		if err != nil || file == "" {
			return true
		}
		base := dac.BaseName(file)
		return !strings.EqualFold(base, name) && !strings.EqualFold(strings.TrimSuffix(base, path.Ext(base)), name) && !strings.EqualFold(file, name)
	})
	if len(mods) == 0 {
		return nil, fmt.Errorf("no module is named %s: %w", strconv.Quote(name), target.ErrUnsupported)
	}
	return mods, nil
}

func runName2EE(c *cli.Context) error {
	module, name, err := moduleAndName(c)
	if err != nil {
		return err
	}
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	mods, err := modulesNamed(c, rt, module)
	if err != nil {
		return err
	}
	found := searchName(c, mods, name)
	p := &matchPrinter{c: c, rt: rt, all: module == "*"}
	for i, m := range mods {
		matches := make([]nameMatch, 0, len(found[i]))
		for _, f := range found[i] {
			matches = append(matches, p.resolve(m, f))
		}
		if err := p.module(m, matches); err != nil {
			return err
		}
	}
	return p.end()
}

// searchName returns the matches in each module. Partial matches count only
// where no module has an exact one, except in SOS's form, which lists both.
func searchName(c *cli.Context, mods []*dac.Module, name string) [][]dac.Match {
	found := make([][]dac.Match, len(mods))
	exact := false
	for i, m := range mods {
		f, err := m.FindName(name)
		if err != nil {
			c.Warn(err)
		}
		found[i] = f
		exact = exact || len(f) > 0
	}
	if exact && !c.SOS {
		return found
	}
	for i, m := range mods {
		if len(found[i]) > 0 && !found[i][0].Member.IsNil() {
			continue // a member's name is no part of a type's
		}
		partial, err := m.FindLoaded(name)
		if err != nil && len(found[i]) > 0 {
			c.Warn(err)
		}
		if len(found[i]) > 0 && slices.Contains(partial, found[i][0]) {
			found[i] = nil
		}
		found[i] = append(found[i], partial...)
	}
	return found
}

// A matchPrinter prints matches module by module.
type matchPrinter struct {
	c       *cli.Context
	rt      *dac.Runtime
	all     bool // modules without a match are counted, not shown
	printed int
	without int
}

func (p *matchPrinter) module(m *dac.Module, matches []nameMatch) error {
	if len(matches) == 0 {
		p.without++
	}
	if p.c.JSON() != nil {
		for _, n := range matches {
			p.printed++
			if err := p.c.JSON().Item("matches", n); err != nil {
				return err
			}
		}
		return nil
	}
	if len(matches) == 0 && p.all {
		return nil
	}
	if p.printed > 0 {
		p.c.Printf(moduleSeparator)
	}
	p.printed++
	p.c.Printf("Module:      %016x\nAssembly:    %s\n", uint64(m.Addr), report.Escape(p.file(m)))
	for i := range matches {
		if i > 0 {
			p.c.Printf(memberSeparator)
		}
		matches[i].print(p.c, 16)
	}
	return nil
}

func (p *matchPrinter) end() error {
	if p.c.JSON() != nil {
		if p.printed == 0 {
			if err := p.c.JSON().List("matches"); err != nil {
				return err
			}
		}
		return p.c.JSON().Field("modulesWithoutMatch", p.without)
	}
	if p.all && p.without > 0 {
		if p.printed > 0 {
			p.c.Printf(moduleSeparator)
		}
		p.c.Printf("\nScanned %d module%s which had no matches.\n", p.without, [2]string{"s", ""}[trueIndex(p.without == 1)])
	}
	return nil
}

func (p *matchPrinter) file(m *dac.Module) string {
	file, err := moduleFile(m)
	switch {
	case err != nil:
		return absent(p.c, err)
	case file == "":
		return "<dynamic>"
	}
	return dac.BaseName(file)
}

// resolve finds what the runtime has for a match.
func (p *matchPrinter) resolve(m *dac.Module, f dac.Match) nameMatch {
	n := nameMatch{Module: report.Address(m.Addr), File: p.file(m), Kind: "type", Token: report.Address(f.Type)}
	if f.Member.Table() == metadata.TableMethodDef {
		p.method(m, f.Member, &n)
		return n
	}
	mt, err := m.LoadedType(f.Type)
	if err != nil {
		p.c.Warn(err)
	}
	n.MethodTable = report.Address(mt)
	n.Name = p.typeName(m, f.Type, mt)
	if !f.Member.IsNil() {
		n.Kind, n.FieldToken = "field", report.Address(f.Member)
		n.Field = p.fieldName(m, f.Member)
	}
	return n
}

// typeName is the type's name as SOS's managed commands write it.
func (p *matchPrinter) typeName(m *dac.Module, t metadata.Token, mt target.Addr) string {
	if mt != 0 {
		if name, err := p.rt.TypeHandleName(mt, dac.NameManaged); err == nil {
			return name
		}
	}
	md, err := m.Metadata()
	if err != nil {
		return absent(p.c, err)
	}
	name, err := md.TypeFullName(t)
	return textOr(p.c, name, err)
}

func (p *matchPrinter) fieldName(m *dac.Module, t metadata.Token) string {
	md, err := m.Metadata()
	if err != nil {
		return absent(p.c, err)
	}
	row, err := md.Field(t.Row())
	if err != nil {
		return absent(p.c, err)
	}
	name, err := md.String(row.Name)
	return textOr(p.c, name, err)
}

func (p *matchPrinter) method(m *dac.Module, t metadata.Token, n *nameMatch) {
	n.Kind, n.Token = "method", report.Address(t)
	a, err := m.Lookup(dac.MapMethodDef, t.Row())
	if err == nil && a != 0 {
		var md *code.MethodDesc
		if md, err = code.Of(p.rt).MethodDesc(a); err == nil {
			n.MethodDesc = report.Address(a)
			if n.Name, err = code.Of(p.rt).MethodName(md, code.MethodFull); err == nil {
				var entry target.Addr
				entry, err = code.Of(p.rt).NativeCode(md)
				n.Code = report.Address(entry)
			}
		}
	}
	if err != nil {
		p.c.Warn(err)
	}
	if n.Name == "" {
		name, err := m.MethodDefName(t)
		n.Name = textOr(p.c, name, err)
	}
}

// print prints the match below its module; tokens have so many digits.
func (n *nameMatch) print(c *cli.Context, digits int) {
	if n.Kind == "field" {
		c.Printf("Field %s (mdToken %08x) of\n", report.Escape(n.Field), uint64(n.FieldToken))
	}
	c.Printf("Token:       %0*x\n", digits, uint64(n.Token))
	label, at := "MethodTable", n.MethodTable
	if n.Kind == "method" {
		label, at = "MethodDesc", n.MethodDesc
	}
	text := "<not loaded yet>"
	if at != 0 {
		text = report.Hex16(at)
	}
	c.Printf("%-12s %s\n", label+":", text)
	if n.Kind == "type" && at == 0 && digits == 8 {
		c.Printf("EEClass:     <not loaded yet>\n")
	}
	c.Printf("Name:        %s\n", report.Escape(n.Name))
	switch {
	case n.Kind != "method":
	case n.Code != 0:
		c.Printf("JITTED Code Address: %016x\n", uint64(n.Code))
	default:
		c.Printf("Not JITTED yet.\n")
	}
}

func token2EECommand() cli.Command {
	return cli.Command{Name: "token2ee", Group: cli.GroupTypes, Summary: "find a type, method or field by its metadata token",
		Args: []cli.Arg{{Name: "module", Kind: cli.Str, Summary: "file name of the module, or * for all"},
			{Name: "token", Kind: cli.Address, Summary: "TypeDef, TypeRef, MethodDef or FieldDef"}},
		Result: []report.Part{report.ListOf[nameMatch]("matches"), report.FieldOf[int]("modulesWithoutMatch")}, NeedsDump: true, Run: runToken2EE}
}

func runToken2EE(c *cli.Context) error {
	name, _ := c.Str("module")
	value, _ := c.Addr("token")
	token := metadata.Token(value)
	switch token.Table() {
	case metadata.TableTypeDef, metadata.TableTypeRef, metadata.TableMethodDef, metadata.TableField:
	default:
		return c.Usagef("a token of this table is not supported: TypeDef 02, TypeRef 01, MethodDef 06 and FieldDef 04 are")
	}
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	mods, err := modulesNamed(c, rt, name)
	if err != nil {
		return err
	}
	p := &matchPrinter{c: c, rt: rt, all: name == "*"}
	for _, m := range mods {
		if err := p.token(m, token); err != nil {
			return err
		}
	}
	return p.end()
}

// token prints what a token means in m. Of all modules, those in which it means
// nothing that is loaded are only counted.
func (p *matchPrinter) token(m *dac.Module, token metadata.Token) error {
	var matches []nameMatch
	if n, ok := p.resolveToken(m, token); ok && (!p.all || n.MethodTable != 0 || n.MethodDesc != 0) {
		matches = append(matches, n)
	}
	if len(matches) == 0 && p.all || p.c.JSON() != nil {
		return p.module(m, matches)
	}
	if err := p.module(m, nil); err != nil {
		return err
	}
	if len(matches) == 0 {
		p.c.Printf("Token:       %08x\n<invalid module token>\n", uint32(token))
		return nil
	}
	if n := &matches[0]; n.Kind == "field" {
		p.c.Printf("Token:       %08x\nField name:  %s\n", uint32(token), report.Escape(n.Field))
	} else {
		n.print(p.c, 8)
	}
	return nil
}

// resolveToken reports false for a token that the module's metadata lacks.
func (p *matchPrinter) resolveToken(m *dac.Module, token metadata.Token) (nameMatch, bool) {
	md, err := m.Metadata()
	if err != nil {
		p.c.Warn(err)
		return nameMatch{}, false
	}
	if token.IsNil() || token.Row() > md.RowCount(token.Table()) {
		return nameMatch{}, false
	}
	f := dac.Match{Type: token}
	switch token.Table() {
	case metadata.TableMethodDef:
		f = dac.Match{Member: token}
	case metadata.TableField:
		owner, err := md.FieldOwner(token.Row())
		if err != nil {
			p.c.Warn(err)
			return nameMatch{}, false
		}
		f = dac.Match{Type: metadata.NewToken(metadata.TableTypeDef, owner), Member: token}
	}
	return p.resolve(m, f), true
}
