package symstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/mmapfile"
	"github.com/sosgo/sosgo/internal/files/modfiles"
	"github.com/sosgo/sosgo/target"
)

// A Server fetches files by key. sosgo.SymbolServer implements it.
type Server interface {
	Get(ctx context.Context, key string, check func(path string) error) (path string, err error)
	String() string
}

// Remote proposes files from a server. It implements modfiles.Source.
type Remote struct{ Server }

// In returns the source with requests bound to ctx.
func (r Remote) In(ctx context.Context) modfiles.Source { return &request{Server: r.Server, ctx: ctx} }

// Candidates implements modfiles.Source.
func (r Remote) Candidates(m *target.Module, id *image.Identity) iter.Seq[string] {
	return r.In(context.Background()).Candidates(m, id)
}

// A request is a search for one module.
type request struct {
	Server
	ctx context.Context
	err error // why the server did not return a file
}

func (r *request) Candidates(m *target.Module, id *image.Identity) iter.Seq[string] {
	return func(yield func(string) bool) {
		key := FileKey(m.Path, id)
		if key == "" {
			return
		}
		p, err := r.Get(r.ctx, key, func(path string) error { return checkFile(path, id) })
		if r.err = err; err == nil {
			yield(p)
		}
	}
}

// Failure returns why the server did not return a file, or nil if it does not have the file.
func (r *request) Failure(*target.Module, *image.Identity) error {
	if r.err == nil || errors.Is(r.err, os.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("symbol server %s: %w", r.Server, r.err)
}

// PortablePDB returns the path of a portable PDB fetched from the server. It returns os.ErrNotExist if the
// server does not have the file.
func (r Remote) PortablePDB(ctx context.Context, pdbPath string, guid [16]byte) (string, error) {
	key := PortablePDBKey(pdbPath, guid)
	if key == "" {
		return "", os.ErrNotExist
	}
	return r.Get(ctx, key, func(path string) error { return checkPDB(path, guid) })
}

// checkFile returns an error unless the file is the module with that identity. It reads the file instead of
// mapping it: little of it is needed, and it may be another file.
func checkFile(path string, id *image.Identity) error {
	return checkContent(path, func(content *os.File, size int64) error {
		img, err := image.OpenSource(path, target.ReaderAtSource(content, size))
		if err != nil {
			return err
		}
		return id.Check(img)
	})
}

// checkPDB returns an error unless the file is the portable PDB with that GUID.
func checkPDB(path string, guid target.GUID) error {
	return checkContent(path, func(content *os.File, size int64) error {
		got, err := image.PortablePDBID(content, size)
		if err == nil && got != guid {
			err = fmt.Errorf("the PDB has the id %v, not %v: %w", got, guid, image.ErrMismatch)
		}
		return err
	})
}

func checkContent(path string, check func(content *os.File, size int64) error) error {
	f, err := mmapfile.OpenRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	return check(f, st.Size())
}
