package ask

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/resolve"
	"github.com/sosgo/sosgo/internal/export/heapsnapshot"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/target"
)

// Explained makes commands accept expressions for objects, and describe the given address when they fail.
func Explained(commands []cli.Command) []cli.Command { return cli.Around(commands, explained) }

// objectOf resolves a text to an object or address. The text is a method's name, a register, an id in a heap
// snapshot, an expression, or a part of type names.
func objectOf(c *cli.Context, text string, arg *cli.Arg) (cli.Object, error) {
	if id, found := strings.CutPrefix(text, "@"); found {
		if id, err := strconv.ParseUint(id, 10, 64); err == nil {
			a, err := snapshotObject(c, id)
			return cli.Object{Addr: a}, err
		}
	}
	if sum := cli.RegisterSum(text); sum != "" {
		text = sum
	}
	if arg.Method && text[0] != '@' {
		a, err := methodNamed(c, text)
		return cli.Object{Addr: a}, err
	}
	e, err := meant(c, text)
	v := e.Value
	if arg.Type && (errors.As(err, new(*query.Error)) || err == nil && v.Kind == answer.CellType) {
		return cli.Object{Type: text}, nil
	}
	if err != nil {
		return cli.Object{}, Misread(c, err)
	}
	if arg.Value && v.Kind == answer.CellStruct && e.MethodTable != 0 {
		return cli.Object{Addr: e.Address, MethodTable: e.MethodTable}, nil
	}
	a, err := addressIn(c, text, v)
	return cli.Object{Addr: a}, err
}

// Place returns the address in a register, with what is added to it, as cli.RegisterSum writes it.
func Place(c *cli.Context, sum string) (target.Addr, error) {
	e, err := meant(c, sum)
	if err != nil {
		return 0, Misread(c, err)
	}
	return addressIn(c, sum, e.Value)
}

// snapshotObject returns the object with an id in a heap snapshot of the dump, as written by export.
func snapshotObject(c *cli.Context, id uint64) (target.Addr, error) {
	h, err := Holders(c)
	if err != nil {
		return 0, err
	}
	a, ok := heapsnapshot.Object(h.Graph(), id)
	if !ok {
		return 0, c.Usagef("no object has the id @%d in a heap snapshot of this dump", id)
	}
	return a, nil
}

// methodNamed returns the MethodDesc of the method with a name, optionally prefixed by a module: App!Ns.Type.Method.
func methodNamed(c *cli.Context, text string) (target.Addr, error) {
	module, name, found := strings.Cut(text, "!")
	if !found {
		module, name = "*", text
	}
	r, err := Code(c)
	if err != nil {
		return 0, err
	}
	all, err := r.FindName(module, name)
	if err != nil {
		return 0, err
	}
	var methods []target.Addr
	for i := range all.Matches {
		if m := &all.Matches[i]; !m.MethodDesc.IsZero() {
			methods = append(methods, m.MethodDesc.Value)
		}
	}
	switch len(methods) {
	case 0:
		return 0, c.Usagef("there is no loaded method %s: name2ee *!NAME finds types and methods", text)
	case 1:
		return methods[0], nil
	}
	return 0, c.Usagef("%d methods are named %s: name2ee *!%s lists them", len(methods), text, name)
}

// meant evaluates an expression with a single value.
func meant(c *cli.Context, text string) (answer.Evaluation, error) {
	p, err := Env(c)
	if err != nil {
		return answer.Evaluation{}, err
	}
	e, err := query.Evaluate(c.Context(), p, text)
	switch {
	case err != nil:
		return answer.Evaluation{}, err
	case len(e.Values) != 1:
		return answer.Evaluation{}, c.Usagef("%s is %d values, and not one object", text, len(e.Values))
	}
	return e.Values[0], nil
}

// addressIn returns the object or address in the value of an expression.
func addressIn(c *cli.Context, text string, v answer.Cell) (target.Addr, error) {
	switch v.Kind {
	case answer.CellObject, answer.CellAddress:
		return target.Addr(v.Bits), nil
	case answer.CellMissing:
		return 0, fmt.Errorf("%s: %w", text, v.Err)
	case answer.CellNull:
		return 0, c.Usagef("%s is null", text)
	case answer.CellStruct:
		return 0, c.Usagef("%s is no object, but a value of type %s", text, v.Type)
	case answer.CellType:
		return 0, c.Usagef("%s is no object, but a type: %s lists its static fields, %s its objects", text, "statics "+v.Text, "dumpheap -type "+v.Text)
	default:
		return 0, c.Usagef("%s is no object, but %s", text, v.Plain())
	}
}

// explained runs a command. If it fails, it adds a description of the given addresses to the error.
func explained(c *cli.Context, run func() (report.Answer, error)) (report.Answer, error) {
	if err := noReport(c); err != nil {
		return report.Answer{}, err
	}
	if err := c.FindObjects(func(text string, arg *cli.Arg) (cli.Object, error) { return objectOf(c, text, arg) }); err != nil {
		return report.Answer{}, err
	}
	if c.Dump() != nil {
		c.ChangeAddresses(func(a target.Addr) target.Addr { return unsigned(c, a) })
	}
	given := c.Addresses()
	out, err := run()
	if err == nil || len(given) == 0 {
		return out, err
	}
	var foreign *dac.ForeignError
	if errors.As(err, &foreign) {
		return askOwner(c, foreign, run)
	}
	if target.Kind(err) == nil || errors.Is(err, answer.ErrHidden) || errors.Is(err, target.ErrLimit) || errors.Is(err, target.ErrClosed) {
		return out, err // another address would fail, too
	}
	if c.Mask() != nil {
		err = &unshownError{err, given[0]}
	}
	for i, a := range given {
		if slices.Contains(given[:i], a) {
			continue
		}
		at := resolve.Address(c.Context(), View(c), a)
		is := instead(c.Command.Name, at)
		err = withInstead(err, is, a)
		switch at.Kind {
		case answer.AddressHeap: // damage may be the reason that no object was found
		case answer.AddressUnmapped, answer.AddressUnknown:
			own := errors.As(err, new(interface{ Advice() string }))
			if cli.ExitCode(err) == cli.ExitCorrupt && !target.Available(Dump(c).Target(), a, 1) {
				err = &strayError{&cli.AddressError{Err: err}, false} // not the dump is wrong
			} else if code := cli.ExitCode(err); code == cli.ExitCorrupt || code == cli.ExitNotInDump && !own {
				err = &strayError{err, code == cli.ExitNotInDump && target.ClaimsOf(Dump(c).Target()).Missing(a) == target.ErrNotInDump}
			}
		default:
			if is != "" {
				err = &cli.AddressError{Err: err}
			}
		}
	}
	return out, err
}

// An unshownError replaces the reason why a command can't answer for an address. Reasons have words of the memory there,
// which may be parts of texts, in which nothing can be masked.
type unshownError struct {
	error
	at target.Addr
}

func (e *unshownError) Error() string {
	return fmt.Sprintf("no answer about %016x; where secrets are masked, what is there is not shown", uint64(e.at))
}

func (e *unshownError) Unwrap() error { return e.error }

// AboutType adds to err what is at an address that was given for a MethodTable.
func AboutType(c *cli.Context, a target.Addr, err error) error {
	at := resolve.Address(c.Context(), View(c), a)
	if err == nil || at.Kind == answer.AddressMethodTable || kindWords(at) == "" {
		return err
	}
	return &cli.AddressError{Err: withInstead(err, kindWords(at), a)}
}

// A strayError reports an address that the dump knows nothing about.
type strayError struct {
	error
	leftOut bool // the writer of the dump may have left out memory there
}

func (e *strayError) Unwrap() error { return e.error }

// Advice returns the advice for cli.Advice.
func (e *strayError) Advice() string {
	if e.leftOut {
		return "check the address: the dump knows of nothing there; if it is right, a dump of kind full has it"
	}
	return "check the address: the dump knows of nothing there"
}

// unsigned removes the signature (pointer authentication) from a code pointer, using the process's signature bits. An
// address with memory in the dump is returned unchanged.
func unsigned(c *cli.Context, a target.Addr) target.Addr {
	t := Dump(c).Target()
	pointers := target.Registers{Arch: t.Platform().Arch}
	if p, err := pointers.Arch.Processor(); err != nil || p.CodeBits == 0 {
		return a
	}
	if threads := t.Threads(); len(threads) > 0 {
		pointers.Signature = threads[0].Registers.Signature // the same in all threads
	}
	to := pointers.Code(uint64(a))
	if to == a || target.Available(t, a, 1) {
		return a
	}
	c.Warn(fmt.Errorf("%v has the signature of a code pointer (pointer authentication): the answer is about %v", a, to))
	return to
}

// askOwner runs the command with the runtime that the address belongs to, and warns of it. An address means the same
// whichever runtime the session looks at.
func askOwner(c *cli.Context, foreign *dac.ForeignError, run func() (report.Answer, error)) (report.Answer, error) {
	chosen := c.Session.Runtime()
	defer c.Session.SetRuntime(chosen)
	c.Session.SetRuntime(strconv.Itoa(foreign.Owner.Index))
	out, err := run()
	if err == nil {
		c.Warn(fmt.Errorf("%w; it is answered from there", foreign))
	}
	return out, err
}

// withInstead adds the description of address a to err.
func withInstead(err error, is string, a target.Addr) error {
	switch {
	case is == "":
		return err
	case strings.Contains(err.Error(), a.String()):
		return fmt.Errorf("%w; it %s", err, is)
	}
	return fmt.Errorf("%w; %v %s", err, a, is)
}

// The commands for addresses of each kind. The first one is suggested; the others accept them, too.
var takers = map[answer.AddressKind][]string{
	answer.AddressObject: {"dumpobj", "dumparray", "dumpdelegate", "dumpobjgcrefs", "dumpstring", "dumpalc", "findappdomain",
		"printexception", "verifyobj", "listnearobj", "gcwhere", "gcroot", "pathto", "objsize", "retained", "dominators", "referrers", "referents"},
	answer.AddressInObject:    {"dumpobj", "gcroot", "objsize", "retained", "dominators", "referrers", "referents"},
	answer.AddressHeap:        {"listnearobj"},
	answer.AddressMethodTable: {"dumpmt", "dumpclass", "dumpheap", "dumpvc"},
	answer.AddressEEClass:     {"dumpclass"},
	answer.AddressMethodDesc:  {"dumpmd", "dumpil", "clru", "ehinfo", "gcinfo"},
	answer.AddressCode:        {"ip2md", "dumpil", "clru", "ehinfo", "gcinfo"},
	answer.AddressCLRModule:   {"dumpmodule", "dumpsig", "dumpsigelem"},
	answer.AddressAssembly:    {"dumpassembly"},
	answer.AddressDomain:      {"dumpdomain"},
	answer.AddressThread:      {"clrthreads"},
}

// instead describes an address that a command does not accept: "is a MethodTable (System.String): use dumpmt". It
// returns "" if the command accepts such addresses.
func instead(command string, a *answer.Address) string {
	use := takers[a.Kind]
	if slices.Contains(use, command) && a.Kind != answer.AddressInObject && a.Runtime == nil {
		return ""
	}
	out := kindWords(a)
	switch {
	case out == "":
		return ""
	case a.Runtime != nil:
		return fmt.Sprintf("%s of the other runtime: use -runtime %d", out, *a.Runtime)
	case a.Kind == answer.AddressInObject:
		if !slices.Contains(use, command) {
			command = use[0]
		}
		return fmt.Sprintf("%s: use %s %x", out, command, uint64(a.Start))
	case len(use) > 0:
		return out + ": use " + use[0]
	}
	return out
}

// Describe describes what is at an address.
func Describe(a *answer.Address) string {
	switch words := kindWords(a); {
	case words != "":
		return words
	case a.Kind == answer.AddressMapped && a.Name.S != "":
		return "is in a mapping of " + a.Name.S + memoryWords(a.Memory)
	case a.Kind == answer.AddressMapped:
		return "is in memory of the process" + memoryWords(a.Memory)
	case a.Kind == answer.AddressUnmapped:
		return "is not mapped"
	}
	return "is unknown"
}

// memoryWords returns the purpose of memory, or "" if nothing else is known.
func memoryWords(m *answer.AddressMemory) string {
	switch {
	case m == nil || m.Kind == answer.MemoryUnknown || m.Kind == answer.MemoryFile:
		return ""
	case m.Block != nil:
		return fmt.Sprintf(": %s, in the block of %d bytes at %x (%s)", m.Kind, m.Block.Size, uint64(m.Block.Address), m.Block.State)
	case m.Detail != "":
		return fmt.Sprintf(": %s (%s)", m.Kind, m.Detail)
	}
	return ": " + string(m.Kind)
}

// kindWords describes the kind of an address, or returns "" if it is unknown.
func kindWords(a *answer.Address) string {
	named := func(words string) string {
		if name := a.Name.S; name != "" {
			words += " (" + name + ")"
		}
		return words
	}
	switch a.Kind {
	case answer.AddressModule:
		return "lies in " + target.BaseName(a.Name.S)
	case answer.AddressStack:
		return "is in the stack of " + threadWords(a.Thread)
	case answer.AddressFrame:
		return named("is an explicit frame") + " of " + threadWords(a.Thread)
	case answer.AddressThread:
		return "is the Thread of " + threadWords(a.Thread)
	case answer.AddressCode:
		return "is code of " + a.Name.String()
	case answer.AddressStub:
		return "is in a stub of the runtime"
	case answer.AddressHeap:
		return "lies in the GC heap, in no object that can be read"
	case answer.AddressFree:
		if a.Start != a.Address {
			return fmt.Sprintf("lies in the free block %x of the GC heap", uint64(a.Start))
		}
		return "is a free block of the GC heap"
	case answer.AddressInObject:
		return named(fmt.Sprintf("lies inside object %x", uint64(a.Start))) + fmt.Sprintf(" at +%#x", uint64(a.Address-a.Start))
	case answer.AddressObject:
		return named("is an object")
	case answer.AddressUnknown, answer.AddressUnmapped, answer.AddressMapped:
		return "" // the error about the unreadable memory says it
	case answer.AddressEEClass, answer.AddressAssembly, answer.AddressDomain:
		return named("is an " + string(a.Kind))
	}
	return named("is a " + string(a.Kind))
}

// threadWords names a thread by its number, or by its managed id if it has no number.
func threadWords(t *answer.Thread) string {
	if t.Index != nil {
		return fmt.Sprintf("thread %d", *t.Index)
	}
	return fmt.Sprintf("the thread with the managed id %d", t.ManagedID)
}
