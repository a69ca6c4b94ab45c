package dap

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-dap"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/methods"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// A sourceMap maps path prefixes in PDBs to local folders.
type sourceMap map[string]string

// path maps a file to a path in the folder of its longest matching prefix. Nothing leads out of the folder: who made the PDB
// chose the file's name.
func (m sourceMap) path(file string) (string, bool) {
	best := ""
	for from := range m {
		if len(from) > len(best) && hasFolder(file, from) {
			best = from
		}
	}
	if best == "" || m[best] == "" {
		return "", false
	}
	rest := strings.ReplaceAll(strings.TrimLeft(file[len(best):], `/\`), `\`, "/")
	to := strings.TrimRight(m[best], `/\`)
	if rest == "" {
		return to, true
	}
	if !filepath.IsLocal(filepath.FromSlash(rest)) || slices.Contains(strings.Split(rest, "/"), "..") {
		return "", false
	}
	return to + "/" + rest, true
}

// localPath maps a file of a PDB to a path in a folder that the client named: by the map, or unchanged in the folder cwd,
// which is empty if there is none. No other path of a PDB may be touched: one can name a server, or make the system mount one.
func localPath(m sourceMap, cwd, file string) (string, bool) {
	if path, ok := m.path(file); ok || cwd == "" {
		return path, ok
	}
	return sourceMap{cwd: cwd}.path(file)
}

// hasFolder reports whether file is folder or is in it.
func hasFolder(file, folder string) bool {
	rest, ok := strings.CutPrefix(file, folder)
	return ok && (rest == "" || strings.ContainsAny(folder[len(folder)-1:], `/\`) || strings.ContainsAny(rest[:1], `/\`))
}

// fileTable caches source files by path, and the embedded texts that a client may request.
type fileTable struct {
	mu    sync.Mutex
	known map[string]dap.Source
	texts []embedded // by reference-1
}

// An embedded is a source file with a text in a PDB.
type embedded struct {
	view   *process.Process
	method target.Addr
	file   string
}

// sourceOf returns the source with a path of a PDB: a local file, or the text embedded in the PDB of the method's
// module, or only its name, with the path as its origin. Method 0 means no method.
func (s *session) sourceOf(ctx context.Context, v *process.Process, method target.Addr, file string) *dap.Source {
	t := &s.files
	t.mu.Lock()
	out, ok := t.known[file]
	t.mu.Unlock()
	if ok {
		return &out
	}
	out = dap.Source{Name: target.BaseName(strings.ReplaceAll(file, `\`, "/"))}
	var in *answer.SourceFile
	of := v
	path, local := localPath(s.sources, s.cwd, file)
	if local {
		info, err := os.Stat(path)
		local = err == nil && info.Mode().IsRegular()
	}
	if local {
		out.Path = path
	} else { // without a path: the editor would open it
		out.Origin, out.PresentationHint = file+" is in no folder of sourceMap or cwd", "deemphasize"
		if method != 0 {
			in, of, _ = asked(s, v, func(v *process.Process) (*answer.SourceFile, error) { return methods.Source(ctx, v, method, file) })
		} // an unreadable PDB has no embedded text to show
	}
	if ctx.Err() != nil {
		return &out
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case in == nil:
	case in.Text != nil:
		t.texts = append(t.texts, embedded{of, method, file})
		out.SourceReference, out.Origin, out.PresentationHint = len(t.texts), "embedded in the PDB of "+in.Module, ""
	case in.Link != "":
		out.Origin = file + "; Source Link: " + in.Link
	}
	if t.known == nil {
		t.known = map[string]dap.Source{}
	}
	if method != 0 || in == nil && out.PresentationHint == "" {
		t.known[file] = out
	}
	return &out
}

func (s *session) source(ctx context.Context, a *dap.SourceArguments) (any, error) {
	n := a.SourceReference
	if a.Source != nil && a.Source.SourceReference != 0 {
		n = a.Source.SourceReference
	}
	s.files.mu.Lock()
	var e embedded
	if n > 0 && n <= len(s.files.texts) {
		e = s.files.texts[n-1]
	}
	s.files.mu.Unlock()
	if e.view == nil {
		return nil, fmt.Errorf("there is no source %d", n)
	}
	f, err := methods.Source(ctx, e.view, e.method, e.file)
	if err != nil {
		return nil, err
	}
	if f.Text == nil {
		return nil, fmt.Errorf("the PDB has no text of %s", e.file)
	}
	return dap.SourceResponseBody{Content: strings.ToValidUTF8(strings.TrimPrefix(*f.Text, "\ufeff"), "\ufffd")}, nil
}

// mostSources bounds the list of sources.
const mostSources = 20_000

// loadedSources lists the files that the PDBs of the loaded modules name.
func (s *session) loadedSources(ctx context.Context) (any, error) {
	body := dap.LoadedSourcesResponseBody{Sources: []dap.Source{}}
	list, err := methods.SourceFiles(ctx, s.view)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for f, err := range list {
		if err != nil || seen[f.File] {
			continue // most modules of the framework have no PDB here
		}
		if seen[f.File] = true; len(seen) > mostSources {
			break
		}
		body.Sources = append(body.Sources, *s.sourceOf(ctx, s.view, 0, f.File))
	}
	return body, ctx.Err()
}
