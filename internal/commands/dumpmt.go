package commands

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func dumpMTCommand() cli.Command {
	return cli.Command{Name: "dumpmt", Group: cli.GroupTypes, Summary: "describe a type by its MethodTable",
		Args: []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "of the MethodTable"}},
		Options: []cli.Option{
			{Name: "md", Kind: cli.Bool, Summary: "list the methods too"},
			{Name: "all", Kind: cli.Bool, Summary: "list the methods and fields, and the attributes of the class"},
		},
		Examples:  []cli.Example{{Line: "dumpmt -md 7f07a5b48688", Text: "a type and its methods"}},
		Result:    []report.Part{report.Whole[methodTableResult]()},
		NeedsDump: true, Run: runDumpMT}
}

// methodTableResult is the JSON result of dumpmt.
type methodTableResult struct {
	MethodTable     report.Address   `json:"methodTable" doc:"address of the MethodTable"`
	Name            string           `json:"name,omitempty" doc:"of the type, as the runtime writes it"`
	Free            bool             `json:"free,omitempty" doc:"the type of free space in the heap; nothing else is known of it"`
	Parent          *report.Address  `json:"parent,omitempty" doc:"MethodTable of the base class, 0x0 for none"`
	Canonical       report.Address   `json:"canonical,omitempty" doc:"MethodTable that owns the EEClass"`
	EEClass         report.Address   `json:"eeClass,omitempty" doc:"address of the EEClass"`
	Module          report.Address   `json:"module,omitempty" doc:"module that defines the type"`
	File            string           `json:"file,omitempty" doc:"path of the module"`
	Token           report.Address   `json:"token,omitempty" doc:"metadata token"`
	LoaderAllocator report.Address   `json:"loaderAllocator,omitempty" doc:"managed LoaderAllocator object of a type that can be unloaded"`
	LoadContext     report.Address   `json:"assemblyLoadContext,omitempty" doc:"managed AssemblyLoadContext object, if it was ever made"`
	BaseSize        uint32           `json:"baseSize" doc:"bytes of an instance without its components"`
	ComponentSize   uint16           `json:"componentSize,omitempty" doc:"bytes of a component of a string or array"`
	GCPointers      bool             `json:"gcPointers" doc:"instances hold references"`
	Methods         *int             `json:"methods,omitempty" doc:"number of methods, inherited virtual ones included"`
	MethodList      []methodRow      `json:"methodList,omitempty" doc:"with -md: the methods"`
	Interfaces      []report.Address `json:"interfaces,omitempty" doc:"MethodTables of the interfaces"`
	Attributes      *report.Address  `json:"attributes,omitempty" doc:"TypeAttributes of ECMA-335 II.23.1.15"`
	InstanceFields  *int             `json:"instanceFields,omitempty" doc:"number of instance fields, inherited ones included"`
	StaticFields    *int             `json:"staticFields,omitempty" doc:"number of static fields"`
}

// A typeFacts is what dumpmt and dumpclass tell of a type. A member that could
// not be read has its error beside it.
type typeFacts struct {
	mt      *dac.MethodTable
	name    string
	nameErr error
	file    string
	fileErr error
	class   *dac.EEClass
	classEr error
	alc     target.Addr
	alcErr  error
	loader  target.Addr
	loadErr error
}

func runDumpMT(c *cli.Context) error {
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	a, _ := c.Addr("address")
	mt, err := methodTableAt(c, rt, a)
	if err != nil {
		return err
	}
	if mt.Addr == rt.WellKnown().Free {
		if c.JSON() != nil {
			return c.JSON().Value(methodTableResult{MethodTable: report.Address(mt.Addr), Free: true, BaseSize: mt.BaseSize})
		}
		c.Printf("Free MethodTable\n")
		return nil
	}
	f := gatherType(rt, mt)
	if c.JSON() != nil {
		res := f.result(c, rt)
		if c.Bool("md") || c.Bool("all") {
			res.MethodList = methodRows(c, rt, mt)
		}
		return c.JSON().Value(res)
	}
	f.print(c, rt)
	if c.Bool("md") || c.Bool("all") {
		if err := printMethodTable(c, mt); err != nil {
			return err
		}
	}
	if c.Bool("all") {
		c.Printf("--------------------------------------\nAdditional Details\n")
		f.printDetails(c, rt)
	}
	return nil
}

// methodTableAt reads the MethodTable at a; the lowest two bits, which mark
// what kind of type a handle names, don't count. Where the dump lacks what
// would prove it, it is believed and that is said.
func methodTableAt(c *cli.Context, rt *dac.Runtime, a target.Addr) (*dac.MethodTable, error) {
	mt, err := rt.MethodTable(a &^ 3)
	if errors.Is(err, target.ErrNotInDump) {
		unproven := err
		if mt, err = rt.TrustedMethodTable(a &^ 3); err == nil {
			if _, nameErr := rt.TypeName(mt.Addr, dac.NameNative); nameErr != nil {
				return nil, fmt.Errorf("%016x can't be told to be a MethodTable: %w", uint64(a), unproven)
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%016x is not a MethodTable: %w", uint64(a), err)
	}
	return mt, nil
}

func gatherType(rt *dac.Runtime, mt *dac.MethodTable) *typeFacts {
	f := &typeFacts{mt: mt}
	f.name, f.nameErr = rt.TypeName(mt.Addr, dac.NameNative)
	f.class, f.classEr = rt.EEClass(mt)
	f.loader, f.loadErr = rt.LoaderAllocatorObject(mt)
	m, err := rt.Module(mt.Module)
	if err != nil {
		f.fileErr, f.alcErr = err, err
		return f
	}
	if f.file, f.fileErr = moduleFile(m); f.fileErr == nil && f.file == "" {
		f.file = "Unknown Module"
	}
	f.alc, f.alcErr = m.LoadContext()
	return f
}

func (f *typeFacts) result(c *cli.Context, rt *dac.Runtime) methodTableResult {
	mt := f.mt
	parent := report.Address(mt.Parent)
	res := methodTableResult{MethodTable: report.Address(mt.Addr), Name: f.name, Parent: &parent, Canonical: report.Address(mt.Canonical),
		Module: report.Address(mt.Module), File: f.file, Token: report.Address(mt.Token), LoaderAllocator: report.Address(f.loader),
		LoadContext: report.Address(f.alc), BaseSize: mt.BaseSize, ComponentSize: mt.ComponentSize, GCPointers: mt.ContainsPointers()}
	if f.class != nil {
		attributes := report.Address(f.class.Attributes)
		res.EEClass, res.Attributes = report.Address(f.class.Addr), &attributes
		res.Methods, res.InstanceFields, res.StaticFields = &f.class.NumMethods, &f.class.NumInstanceFields, &f.class.NumStaticFields
	}
	interfaces, err := rt.Interfaces(mt)
	for _, i := range interfaces {
		res.Interfaces = append(res.Interfaces, report.Address(i))
	}
	for _, err := range []error{f.nameErr, f.fileErr, f.classEr, f.loadErr, err} {
		if err != nil {
			c.Warn(err)
		}
	}
	if f.alcErr != nil && !errors.Is(f.alcErr, target.ErrUnsupported) {
		c.Warn(f.alcErr)
	}
	return res
}

func row(c *cli.Context, label, text string) { c.Printf("%-20s %s\n", label, report.Escape(text)) }

func (f *typeFacts) print(c *cli.Context, rt *dac.Runtime) {
	mt := f.mt
	row(c, "Parent:", report.Hex16(mt.Parent))
	switch {
	case !rt.CanonicalForClass() && f.class == nil:
		row(c, "EEClass:", absent(c, f.classEr))
	case !rt.CanonicalForClass():
		row(c, "EEClass:", report.Hex16(f.class.Addr))
	case mt.Canonical != mt.Addr:
		row(c, "Canonical:", report.Hex16(mt.Canonical))
	}
	row(c, "Module:", report.Hex16(mt.Module))
	row(c, "Name:", textOr(c, f.name, f.nameErr))
	row(c, "mdToken:", report.Hex16(uint64(mt.Token)))
	row(c, "File:", textOr(c, f.file, f.fileErr))
	f.printLoader(c)
	row(c, "BaseSize:", report.Hex(uint64(baseSize(rt, mt))))
	if mt.ComponentSize != 0 {
		row(c, "ComponentSize:", report.Hex(uint64(mt.ComponentSize)))
	}
	row(c, "Has GC Pointers:", strconv.FormatBool(mt.ContainsPointers()))
	methods := ""
	if f.class != nil {
		methods = strconv.Itoa(f.class.NumMethods)
	}
	row(c, "Number of Methods:", textOr(c, methods, f.classEr))
	c.Printf("%-29s %d\n", "Number of IFaces in IFaceMap:", mt.NumInterfaces)
}

// printLoader prints what a type was loaded by. Runtimes that don't keep the
// load context have no line for it.
func (f *typeFacts) printLoader(c *cli.Context) {
	if f.loader != 0 || f.loadErr != nil {
		row(c, "LoaderAllocator:", textOr(c, report.Hex16(f.loader), f.loadErr))
	}
	switch {
	case errors.Is(f.alcErr, target.ErrUnsupported):
	case f.alcErr != nil:
		row(c, "AssemblyLoadContext:", absent(c, f.alcErr))
	case f.alc == 0:
		row(c, "AssemblyLoadContext:", "Default ALC - The managed instance of this context doesn't exist yet.")
	default:
		row(c, "AssemblyLoadContext:", report.Hex16(f.alc))
	}
}

// baseSize is the base size that the data-access library answers: of strings
// without the terminating character.
func baseSize(rt *dac.Runtime, mt *dac.MethodTable) uint32 {
	if mt.Addr == rt.WellKnown().String {
		return mt.BaseSize - uint32(mt.ComponentSize)
	}
	return mt.BaseSize
}
