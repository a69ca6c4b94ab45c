package commands

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func dumpMDCommand() cli.Command {
	return cli.Command{Name: "dumpmd", Group: cli.GroupTypes, Summary: "describe a method by its MethodDesc",
		Args:      []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "of the MethodDesc"}},
		Examples:  []cli.Example{{Line: "dumpmd 7f07a5b47868", Text: "a method, its code and the versions of that"}},
		Result:    []report.Part{report.Whole[methodResult]()},
		NeedsDump: true, Run: runDumpMD}
}

func ip2mdCommand() cli.Command {
	return cli.Command{Name: "ip2md", Group: cli.GroupTypes, Summary: "find the method that an address in managed code belongs to",
		Args:      []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "in managed code, such as a return address"}},
		Examples:  []cli.Example{{Line: "ip2md 7f27f487b3a0", Text: "the method, and the line of the source"}},
		Result:    []report.Part{report.Whole[methodResult]()},
		NeedsDump: true, Run: runIP2MD}
}

// methodResult is the JSON result of dumpmd and ip2md.
type methodResult struct {
	MethodDesc  report.Address  `json:"methodDesc" doc:"address of the MethodDesc"`
	Name        string          `json:"name,omitempty" doc:"type, name, generic arguments and parameters"`
	Kind        string          `json:"kind" doc:"what the MethodDesc describes: \"IL\", \"FCall\", \"PInvoke\", \"EEImpl\", \"Array\", \"Instantiated\", \"ComInterop\" or \"Dynamic\""`
	Class       report.Address  `json:"class,omitempty" doc:"EEClass of the type"`
	MethodTable report.Address  `json:"methodTable" doc:"type that declares the method"`
	Token       report.Address  `json:"token" doc:"metadata token, 0x6000000 for a method without metadata"`
	Module      report.Address  `json:"module,omitempty" doc:"module that defines the type"`
	Slot        int             `json:"slot" doc:"in the type's table of methods"`
	Jitted      bool            `json:"jitted" doc:"the method has code"`
	Code        report.Address  `json:"code,omitempty" doc:"code that calls run now; of ip2md, the body that holds the address"`
	IL          report.Address  `json:"il,omitempty" doc:"body in IL"`
	Versions    []codeVersion   `json:"versions" doc:"bodies of code, the default one first"`
	Address     *report.Address `json:"address,omitempty" doc:"the address that ip2md was asked for"`
	Offset      *uint32         `json:"offset,omitempty" doc:"of that address from the start of its body, in bytes"`
	Source      *sourcePlace    `json:"source,omitempty" doc:"place of that address in the source"`
}

// codeVersion is one body of a method's code in JSON.
type codeVersion struct {
	Node   report.Address `json:"node" doc:"NativeCodeVersionNode, 0x0 for the default version"`
	Code   report.Address `json:"code" doc:"start of the code, 0x0 while it is not compiled"`
	Tier   string         `json:"tier" doc:"how it was compiled, in SOS's words"`
	Active bool           `json:"active" doc:"calls run it now"`
}

// sourcePlace is a place in a source file in JSON.
type sourcePlace struct {
	File string `json:"file" doc:"as the compiler recorded it"`
	Line int    `json:"line" doc:"from 1"`
}

func runDumpMD(c *cli.Context) error {
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	a, _ := c.Addr("address")
	m, err := code.Of(rt).MethodDesc(a)
	if err != nil {
		sayInSOS(c, fmt.Sprintf("%016x is not a MethodDesc", uint64(a)))
		return err
	}
	f := gatherMethod(c, rt, m)
	if c.JSON() != nil {
		return c.JSON().Value(f.result(c))
	}
	f.print(c)
	return nil
}

func runIP2MD(c *cli.Context) error {
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	a, _ := c.Addr("address")
	if a == 0 {
		sayInSOS(c, fmt.Sprintf("%016x is not IP", uint64(a)))
		return fmt.Errorf("%016x is not an instruction pointer: %w", uint64(a), code.ErrNoCode)
	}
	info, err := code.Of(rt).MethodAt(a)
	if err == nil && info.Method == nil {
		err = code.ErrNoCode
	}
	if err != nil {
		sayInSOS(c, "Failed to request MethodData, not in JIT code range")
		return fmt.Errorf("%016x: %w", uint64(a), err)
	}
	f := gatherMethod(c, rt, info.Method)
	f.running = info.Start
	line, lineErr := code.Of(rt).SourceLine(info)
	if c.JSON() != nil {
		res := f.result(c)
		address := report.Address(a)
		res.Address, res.Offset = &address, &info.Offset
		if lineErr == nil {
			res.Source = &sourcePlace{line.File, line.Line}
		}
		return c.JSON().Value(res)
	}
	c.Printf("MethodDesc:   %016x\n", uint64(info.Method.Addr))
	f.print(c)
	if lineErr == nil {
		c.Printf("Source file:  %s @ %d\n", report.Escape(line.File), line.Line)
	}
	return nil
}

// sayInSOS prints what SOS prints when a command fails.
func sayInSOS(c *cli.Context, text string) {
	if c.SOS && c.JSON() == nil {
		c.Printf("%s\n", text)
	}
}

// methodFacts is what dumpmd tells of a method. A member that could not be read
// has its error beside it.
type methodFacts struct {
	m        *code.MethodDesc
	name     string
	nameErr  error
	class    target.Addr
	classErr error
	module   target.Addr
	modErr   error
	il       target.Addr
	ilErr    error
	versions []code.Version
	verErr   error
	running  target.Addr // body that holds the address that was asked for, 0 for none
}

func gatherMethod(c *cli.Context, rt *dac.Runtime, m *code.MethodDesc) *methodFacts {
	f := &methodFacts{m: m}
	f.name, f.nameErr = code.Of(rt).MethodName(m, code.MethodFull)
	f.classOf(rt)
	if f.il, f.ilErr = code.Of(rt).ILAddress(m); errors.Is(f.ilErr, code.ErrNoIL) {
		f.ilErr = nil
	}
	if c.SOS && !metadataInDump(rt, m) {
		f.il, f.ilErr = 0, nil // SOS reads metadata from the dump alone here
	}
	f.versions, f.verErr = code.Of(rt).CodeVersions(m)
	return f
}

// metadataInDump reports whether the dump itself holds the metadata of m's
// module.
func metadataInDump(rt *dac.Runtime, m *code.MethodDesc) bool {
	mod, err := m.Module()
	if err != nil {
		return false
	}
	at := mod.MetadataSource()
	return at.Path == "" && target.Available(rt.Target(), at.Addr, int(at.Size))
}

func (f *methodFacts) classOf(rt *dac.Runtime) {
	mt, err := rt.TrustedMethodTable(f.m.MethodTable)
	if err != nil {
		f.classErr, f.modErr = err, err
		return
	}
	f.module = mt.Module
	if rt.CanonicalForClass() {
		f.class = mt.Canonical
		return
	}
	class, err := rt.EEClass(mt)
	if f.classErr = err; err == nil {
		f.class = class.Addr
	}
}

// current is the code that was asked for, or else what calls of the method run
// now, 0 for none.
func (f *methodFacts) current() target.Addr {
	if f.running != 0 {
		return f.running
	}
	i := slices.IndexFunc(f.versions, func(v code.Version) bool { return v.Active })
	if i < 0 {
		return 0
	}
	return f.versions[i].Code
}

func (f *methodFacts) result(c *cli.Context) methodResult {
	for _, err := range []error{f.nameErr, f.classErr, f.modErr, f.ilErr, f.verErr} {
		if err != nil {
			c.Warn(err)
		}
	}
	code := f.current()
	res := methodResult{MethodDesc: report.Address(f.m.Addr), Name: f.name, Kind: f.m.Kind.String(), Class: report.Address(f.class),
		MethodTable: report.Address(f.m.MethodTable), Token: report.Address(f.m.Token), Module: report.Address(f.module), Slot: int(f.m.Slot),
		Jitted: code != 0, Code: report.Address(code), IL: report.Address(f.il), Versions: []codeVersion{}}
	for _, v := range f.versions {
		res.Versions = append(res.Versions, codeVersion{report.Address(v.Node), report.Address(v.Code), v.Tier.String(), v.Active})
	}
	return res
}

func (f *methodFacts) print(c *cli.Context) {
	field := func(label, value string) { c.Printf("%-21s %s\n", label, report.Escape(value)) }
	field("Method Name:", textOr(c, f.name, f.nameErr))
	field("Class:", textOr(c, report.Hex16(f.class), f.classErr))
	field("MethodTable:", report.Hex16(f.m.MethodTable))
	field("mdToken:", report.Hex16(uint64(f.m.Token)))
	field("Module:", textOr(c, report.Hex16(f.module), f.modErr))
	code := f.current()
	field("IsJitted:", [2]string{"no", "yes"}[boolIndex(code != 0)])
	if code == 0 {
		code = ^target.Addr(0)
	}
	field("Current CodeAddr:", report.Hex16(code))
	c.Printf("Version History:\n  ILCodeVersion:      %016x\n  ReJIT ID:           0\n", 0)
	c.Printf("  IL Addr:            %s\n", textOr(c, report.Hex16(f.il), f.ilErr))
	for _, v := range slices.Backward(f.versions) {
		c.Printf("     CodeAddr:           %016x  (%s)\n     NativeCodeVersion:  %016x\n", uint64(v.Code), v.Tier, uint64(v.Node))
	}
	if f.verErr != nil {
		c.Warn(f.verErr)
	}
}
