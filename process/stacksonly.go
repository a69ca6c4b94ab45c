package process

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/target"
)

// A dump with only stacks holds nothing of an assembly to compare a file with, except return addresses of its
// methods. In the right file each of them follows a call instruction; in another file only a few percent do.
const (
	fitReturns = 5 // minimum number of addresses for a proof
	fitNoCall  = 4 // one in fitNoCall may be something else, such as the start of a method
	fitOther   = 2 // one in fitOther refutes the file
)

var errFewReturns = errors.New("the stacks have too few return addresses in it")

// fitReturnAddresses proves or refutes file as the file of m: words on stacks that point into m's code should follow
// calls in it.
func (d *Dump) fitReturnAddresses(m *target.Module, file *image.Image) (string, error) {
	words, err := d.stackWords.Get(d.readStackWords)
	if err != nil {
		return "", err
	}
	first, _ := slices.BinarySearch(words, m.Base)
	arch, at := d.file.Platform().Arch, fileAt{file, m.Base}
	all, calls := 0, 0
	for _, a := range words[first:] {
		if !m.Contains(a) {
			break
		}
		all++
		if _, ok, err := unwind.CallBefore(at, arch, a); ok && err == nil {
			calls++
		}
	}
	switch {
	case all < fitReturns:
		return "", errFewReturns
	case calls < all/fitOther:
		return "", fmt.Errorf("only %d of %d return addresses on stacks follow a call: %w", calls, all, image.ErrMismatch)
	case calls < all-all/fitNoCall:
		return "", errFewReturns
	}
	return fmt.Sprintf("%d of %d return addresses on stacks follow a call", calls, all), nil
}

// readStackWords returns the words of all stacks that point into executable memory, sorted, without duplicates.
func (d *Dump) readStackWords() ([]target.Addr, error) {
	var code, stacks []target.Range
	for r := range d.file.Regions() {
		if r.Prot&(target.ProtExec|target.ProtWrite) == target.ProtExec {
			code = append(code, target.RangeAt(r.Start, r.Size))
		}
		if r.Stored > 0 {
			stacks = append(stacks, target.RangeAt(r.Start, r.Stored))
		}
	}
	in := func(list []target.Range, a target.Addr) (target.Range, bool) {
		i, found := slices.BinarySearchFunc(list, a, func(r target.Range, a target.Addr) int { return cmp.Compare(r.Start, a) })
		if !found {
			i--
		}
		if i < 0 || !list[i].Contains(a) {
			return target.Range{}, false
		}
		return list[i], true
	}
	var out []target.Addr
	for _, t := range d.file.Threads() {
		sp, _ := t.Registers.SP()
		stack, ok := in(stacks, sp)
		if !ok {
			continue
		}
		win := target.NewWindow(d.file)
		for a := (sp + 7) &^ 7; a+8 <= stack.End && uint64(a-sp) < limits.StackScan; a += 8 {
			v, err := win.Uint64(a)
			if err != nil {
				break
			}
			if _, ok := in(code, target.Addr(v)); ok {
				out = append(out, target.Addr(v))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// fileAt is an image file as memory at the image's load address.
type fileAt struct {
	*image.Image
	base target.Addr
}

func (f fileAt) ReadMemory(p []byte, a target.Addr) (int, error) {
	return f.ReadRVA(p, image.RVA(a-f.base))
}

func (f fileAt) View(a target.Addr, n int) ([]byte, bool) { return f.ViewRVA(image.RVA(a-f.base), n) }

func (f fileAt) Span(target.Addr) []byte { return nil }

// precompiledNamer returns a function that names precompiled methods by module files, without a runtime.
func (d *Dump) precompiledNamer() func(target.Addr) (string, target.Addr) {
	modules := d.file.Modules()
	images := make([]lazy.Value[*dac.Precompiled], len(modules))
	return func(a target.Addr) (string, target.Addr) {
		i := target.ModuleIndex(modules, a)
		if i < 0 {
			return "", 0
		}
		p, _ := images[i].Get(func() (*dac.Precompiled, error) {
			file, err := d.files.Found(&modules[i])
			if err != nil {
				return nil, err
			}
			return dac.OpenPrecompiled(file, modules[i].Base)
		})
		return p.At(a) // no name if the file is unreadable
	}
}
