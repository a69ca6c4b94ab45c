package tasks

import (
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A MissingIL counts the methods of the program's modules with IL that neither the dump nor a module file has.
type MissingIL struct {
	Modules []string // the files of modules with such methods, in the order of the runtime
	Methods int      // such methods
	Of      int      // all methods with IL of these modules
	Err     error    // the first of the errors, nil if no IL is missing
}

// MissingIL counts the methods of the program without IL. It reads the program only once.
func (r *Reader) MissingIL() MissingIL {
	if r == nil || r.code == nil {
		return MissingIL{}
	}
	if _, err := r.program.Get(r.readProgram); !errors.Is(err, dac.ErrILMissing) {
		return MissingIL{}
	}
	out, _ := r.missing.Get(func() (MissingIL, error) { return r.findMissingIL(), nil })
	return out
}

// findMissingIL is MissingIL.
func (r *Reader) findMissingIL() (out MissingIL) {
	modules, err := r.code.Runtime().KnownModules()
	if err != nil {
		return out
	}
	for _, m := range modules {
		name, err := m.SimpleName()
		if err == nil && answer.LibraryMethod(name+".") {
			continue
		}
		md, err := m.Metadata()
		if err != nil {
			continue
		}
		methods, missing := 0, 0
		for row := uint32(1); row <= md.RowCount(metadata.TableMethodDef); row++ {
			_, err := r.code.ILOf(m, row)
			if !errors.Is(err, dac.ErrNoIL) {
				methods++
			}
			if errors.Is(err, dac.ErrILMissing) {
				missing++
				if out.Err == nil {
					out.Err = err
				}
			}
		}
		if missing > 0 {
			file := name + ".dll"
			if path, err := m.Path(); err == nil && path != "" {
				file = target.BaseName(path)
			}
			out.Modules = append(out.Modules, file)
			out.Methods, out.Of = out.Methods+missing, out.Of+methods
		}
	}
	return out
}
