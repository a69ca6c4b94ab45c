package dac

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// A ProbeResult is the result of a probe.
type ProbeResult uint8

// The results. A probe without its bytes in the dump proves nothing.
const (
	ProbePassed ProbeResult = iota
	ProbeFailed
	ProbeNotInDump
)

func (p ProbeResult) String() string {
	return [...]string{"passed", "failed", "not in the dump"}[p]
}

// A Probe checks that the layout fits the process: an invariant between structures that a wrong table violates.
type Probe struct {
	Name   string
	Result ProbeResult
	Detail string // the reason for a failure, or the finding
}

func tally(probes []Probe) (passed int, failed []Probe) {
	for _, p := range probes {
		switch p.Result {
		case ProbePassed:
			passed++
		case ProbeFailed:
			failed = append(failed, p)
		}
	}
	return passed, failed
}

// runProbes checks the layout against the process. Each probe reads a few structures.
func (r *Runtime) runProbes() []Probe {
	return runProbes(
		namedProbe{"System.Object", r.probeObject},
		namedProbe{"System.String", r.probeString},
		namedProbe{"free object", r.probeFree},
		namedProbe{"EEClass", r.probeClass},
		namedProbe{"FieldDesc", r.probeFields},
		namedProbe{"Module", r.probeModule},
		namedProbe{"ThreadStore", r.probeThreads},
		namedProbe{"GcDacVars", r.probeGC},
	)
}

// A namedProbe is a probe that has not run yet.
type namedProbe struct {
	name string
	run  func() (string, error)
}

func runProbes(probes ...namedProbe) []Probe {
	var out []Probe
	for _, p := range probes {
		detail, err := p.run()
		probe := Probe{Name: p.name, Detail: detail}
		switch {
		case err == nil:
		case layout.IsRefused(err), errors.Is(err, errNoSubDescriptor):
			continue // no member of it is read
		case errors.Is(err, target.ErrNotInDump):
			probe.Result, probe.Detail = ProbeNotInDump, err.Error()
		default:
			probe.Result, probe.Detail = ProbeFailed, err.Error()
		}
		out = append(out, probe)
	}
	return out
}

func (r *Runtime) probeObject() (string, error) {
	mt, err := r.impl.readMethodTable(r.known.Object)
	if err != nil {
		return "", err
	}
	if !isSystemObject(mt) {
		return "", target.Corruptf("System.Object has parent %#x, base size %#x, flags %#x", uint64(mt.Parent), mt.BaseSize, mt.Flags)
	}
	return fmt.Sprintf("at %016x", uint64(mt.Addr)), nil
}

// isSystemObject reports whether mt has the shape of System.Object, which only interfaces share.
func isSystemObject(mt *MethodTable) bool {
	return mt.Parent == 0 && mt.BaseSize == minObjectSize && !mt.HasComponents() && mt.Canonical == mt.Addr
}

// stringBaseSize is a string's size in bytes without characters: header, MethodTable, length and the
// terminating zero.
const stringBaseSize = 22

func (r *Runtime) probeString() (string, error) {
	if r.known.String == 0 {
		return "", target.Corruptf("the runtime does not name System.String")
	}
	mt, err := r.impl.readMethodTable(r.known.String)
	if err != nil {
		return "", err
	}
	if mt.Parent != r.known.Object || mt.ComponentSize != 2 || mt.BaseSize != stringBaseSize {
		return "", target.Corruptf("System.String has parent %#x, base size %#x, component size %d", uint64(mt.Parent), mt.BaseSize, mt.ComponentSize)
	}
	return fmt.Sprintf("at %016x", uint64(mt.Addr)), nil
}

func (r *Runtime) probeFree() (string, error) {
	mt, err := r.impl.readMethodTable(r.known.Free)
	if err != nil {
		return "", err
	}
	if mt.ComponentSize != 1 || mt.BaseSize != minObjectSize {
		return "", target.Corruptf("the free object has base size %#x, component size %d", mt.BaseSize, mt.ComponentSize)
	}
	return fmt.Sprintf("at %016x", uint64(mt.Addr)), nil
}

// probeTypes calls f for the types with a class to probe, as far as they are in the dump.
func (r *Runtime) probeTypes(f func(*MethodTable) error) (string, error) {
	var missing error
	n := 0
	for _, a := range []target.Addr{r.known.Object, r.known.String, r.known.Exception} {
		if a == 0 {
			continue
		}
		mt, err := r.impl.readMethodTable(a)
		if err == nil {
			err = f(mt)
		}
		if errors.Is(err, target.ErrNotInDump) {
			missing = err
			continue
		}
		if err != nil {
			return "", err
		}
		n++
	}
	if n == 0 && missing != nil {
		return "", missing
	}
	return fmt.Sprintf("%d types", n), nil
}

func (r *Runtime) probeClass() (string, error) {
	return r.probeTypes(func(mt *MethodTable) error {
		if err := r.impl.checkMethodTable(mt); err != nil {
			return err
		}
		c, err := r.EEClass(mt)
		if err != nil {
			return err
		}
		// System.Exception has more than ten fields on every version, String two.
		if c.NumInstanceFields > 64 || c.NumMethods > 4096 || (mt.Addr == r.known.Exception) != (c.NumInstanceFields > 4) {
			return target.Corruptf("EEClass %#x has %d fields and %d methods", uint64(c.Addr), c.NumInstanceFields, c.NumMethods)
		}
		return nil
	})
}

func (r *Runtime) probeFields() (string, error) {
	return r.probeTypes(func(mt *MethodTable) error {
		fields, err := r.Fields(mt)
		if err != nil {
			return err
		}
		for _, f := range fields {
			if !f.Static && f.Offset >= mt.BaseSize {
				return target.Corruptf("field %v at offset %#x of an object of %#x bytes", f.Token, f.Offset, mt.BaseSize)
			}
		}
		return nil
	})
}

func (r *Runtime) probeModule() (string, error) {
	if err := r.Check(FeatureModules); err != nil {
		return "", err
	}
	mt, err := r.impl.readMethodTable(r.known.Object)
	if err != nil {
		return "", err
	}
	m, err := r.readModule(mt.Module)
	if err != nil {
		return "", err
	}
	got, err := m.Lookup(MapTypeDef, mt.Token.Row())
	if err != nil {
		return "", err
	}
	if got != mt.Addr {
		return "", target.Corruptf("module %#x has %#x as type %v, not System.Object", uint64(m.Addr), uint64(got), mt.Token)
	}
	return fmt.Sprintf("CoreLib at %016x", uint64(m.Addr)), nil
}

func (r *Runtime) probeThreads() (string, error) {
	l, err := r.impl.readThreads()
	if err != nil {
		return "", err
	}
	// A dump of a running process can have fewer: a thread that starts or ends is counted before it is linked.
	if len(l.threads) == 0 && l.counts.Threads != 0 {
		return "", target.Corruptf("no thread in the list of %d", l.counts.Threads)
	}
	os := r.inst.osThreads()
	domain, err := r.GlobalPointer("AppDomain")
	if err != nil {
		domain = 0 // an unknown domain proves nothing
	}
	known, at, how := 0, 0, ""
	for i := range l.threads {
		t := &l.threads[i]
		if t.Unknown != nil || t.Domain == domain {
			at++ // a domain missing from the dump disproves nothing
		}
		if t.ByStack {
			how = ", recognized by their stacks"
		}
		if t.Stack.End < t.Stack.Start {
			return "", target.Corruptf("Thread %#x has the stack %#x-%#x", uint64(t.Addr), uint64(t.Stack.Start), uint64(t.Stack.End))
		}
		if os[t.OSID] {
			known++
		}
	}
	if len(l.threads) > 0 && at == 0 && domain != 0 {
		return "", target.Corruptf("none of %d managed threads runs in the AppDomain %#x", len(l.threads), uint64(domain))
	}
	if len(l.threads) > 0 && known == 0 {
		// The threads' registers can lie past the end of the file. A child that fork made has a copy of one thread, with an id of its own.
		if len(os) <= 1 || r.inst.cut() {
			return "", fmt.Errorf("the operating system's threads of %d managed threads: %w", len(l.threads), target.ErrNotInDump)
		}
		return "", target.Corruptf("none of %d managed threads is a thread of the dump", len(l.threads))
	}
	return fmt.Sprintf("%d threads, %d of them in the dump%s", len(l.threads), known, how), nil
}

// probeStacks compares the bounds of stacks with the stack pointers, for tables with few other proofs. A thread
// can be on another stack for a while, as in a signal handler, so only most threads must be on their own.
func (r *Runtime) probeStacks() (string, error) {
	l, err := r.impl.readThreads()
	if err != nil {
		return "", err
	}
	pointers := map[uint32]target.Addr{}
	threads := r.Target().Threads()
	for i := range threads {
		if sp, ok := threads[i].Registers.SP(); ok {
			pointers[threads[i].ID] = sp
		}
	}
	known, on := 0, 0
	for i := range l.threads {
		t := &l.threads[i]
		sp, ok := pointers[t.OSID]
		if !ok {
			continue
		}
		known++
		if t.Stack.Contains(sp) {
			on++
		}
	}
	switch {
	case known == 0:
		return "", fmt.Errorf("the stack pointers of the runtime's threads: %w", target.ErrNotInDump)
	case 2*on <= known:
		return "", target.Corruptf("%d of %d threads have their stack pointer in the stack that the runtime records", on, known)
	}
	return fmt.Sprintf("%d of %d threads are on theirs", on, known), nil
}

// The plausible numbers of a GC (gcinterface.dac.h, GcDacVars: generation_size and total_generation_count).
// There are three generations, the large object heap, and since 5 the pinned object heap.
const (
	minGenerationSize, maxGenerationSize = 0x40, 0x400
	minGenerations, maxGenerations       = 4, 5
)

func (r *Runtime) probeGC() (string, error) {
	if n, err := r.layout.Uint("TotalGenerationCount"); err == nil { // the GC's own descriptor (since 11)
		size, err := r.layout.Size("Generation")
		if err == nil && (size < minGenerationSize || size > maxGenerationSize || n < minGenerations || n > maxGenerations) {
			err = target.Corruptf("%d generations of %#x bytes", n, size)
		}
		return fmt.Sprintf("%d generations", n), err
	}
	if err := r.layout.Refused("GC"); err != nil {
		return "", err
	}
	at, err := r.GlobalPointer("GcDacVars")
	if err != nil {
		if _, typ := r.layout.Offset("GcDacVars", "GenerationSize"); typ != nil { // since 11 the GC's descriptor is published later than the runtime's
			err = errNoSubDescriptor
		}
		return "", err
	}
	n, err := r.checkGCVars(at)
	switch {
	case err != nil:
		return "", err
	case n == 0:
		return "3 generations and the large object heap", nil // 3.1 does not record their number
	}
	return fmt.Sprintf("%d generations", n), nil
}

// checkGCVars returns the number of generations in the GcDacVars at an address, 0 if it is not recorded. It
// returns an error if the address does not hold a GcDacVars.
func (r *Runtime) checkGCVars(at target.Addr) (uint32, error) {
	size, err := r.layout.Offset("GcDacVars", "GenerationSize")
	if err != nil {
		return 0, err
	}
	gen, err := target.Uint64(r.mem, at+target.Addr(size))
	if err != nil {
		return 0, err
	}
	if gen < minGenerationSize || gen > maxGenerationSize {
		return 0, target.Corruptf("a generation of %#x bytes", gen)
	}
	off, err := r.layout.Offset("GcDacVars", "TotalGenerationCount")
	if err != nil {
		return 0, nil
	}
	n, err := target.Uint32(r.mem, at+target.Addr(off))
	if err != nil {
		return 0, err
	}
	if n < minGenerations || n > maxGenerations {
		return 0, target.Corruptf("%d generations", n)
	}
	return n, nil
}
