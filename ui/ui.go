// Package ui serves the page of a dump, and the JSON documents of all commands, in an HTTP server of another program.
// It does not check who may read the dump. Start with Handler.
//
// Stability: unstable.
package ui

import (
	"net/http"
	"path/filepath"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/front/cli/commands/webcmd"
	"github.com/sosgo/sosgo/internal/front/webui"
)

// Options select what the page shows. The zero value is suitable for most programs.
type Options struct {
	Name    string // of the dump on the page; empty is the name of its file
	Runtime string // as in sosgo.Dump.View
}

// Handler returns a handler with the page of a dump at /, and the documents that commands print with --json at
// /api/COMMAND?a=ARGUMENT&a=ARGUMENT. Mount it below a prefix that ends with a slash by http.StripPrefix. It answers
// only GET and HEAD, and accepts and writes no files. It does not authorize requests: a dump holds secrets, so the
// program must do that. The dump must stay open while the handler is in use; after its Close, documents contain
// errors.
func Handler(d *sosgo.Dump, o Options) http.Handler {
	if o.Name == "" {
		o.Name = "dump"
		if d != nil && d.File() != nil && d.File().Path != "" {
			o.Name = filepath.Base(d.File().Path)
		}
	}
	if d == nil {
		d = &sosgo.Dump{}
	}
	env := cli.Env{Commands: commands.All(), Threads: commands.Threads, Recover: true}
	desk := cli.NewDesk(env, d.Dump, o.Name, o.Runtime)
	return webui.Handler(webcmd.Asker(desk), webui.Subject{File: o.Name})
}
