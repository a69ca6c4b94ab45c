// Package ui serves the page of a dump, and the JSON documents of all commands, in an HTTP server of another program, and
// writes the page as one file. It does not check who may read the dump. Start with Handler.
//
// Stability: unstable.
package ui

import (
	"context"
	"io"
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
	desk := deskOf(d, &o)
	return webui.Handler(webcmd.Asker(desk), webui.Subject{File: o.Name})
}

// ReportOptions select the content of a report. The zero value masks secrets.
type ReportOptions struct {
	Options
	Secrets  bool                  // secrets as they are
	Progress func(done, total int) // if not nil, receives the number of answers that are written
}

// Report writes the page of a dump, except what is made on request, as one HTML file of at most 5 MB. It has the top of
// each list, and needs no server and no network. It has names, texts and values of the process: only
// known secrets are masked.
func Report(ctx context.Context, w io.Writer, d *sosgo.Dump, o ReportOptions) error {
	desk := deskOf(d, &o.Options)
	desk.Redact = !o.Secrets
	return webui.WriteReport(ctx, w, webcmd.Asker(desk), webui.Subject{File: o.Name}, func(done, total int) {
		if o.Progress != nil {
			o.Progress(done, total)
		}
	})
}

// deskOf returns a desk that answers questions about a dump. It completes the dump's name.
func deskOf(d *sosgo.Dump, o *Options) *cli.Desk {
	if o.Name == "" {
		o.Name = "dump"
		if d != nil && d.File() != nil && d.File().Path != "" {
			o.Name = filepath.Base(d.File().Path)
		}
	}
	if d == nil {
		d = &sosgo.Dump{}
	}
	env := cli.Env{Commands: commands.All(), Threads: commands.Threads, Mask: commands.Mask, Recover: true}
	return cli.NewDesk(env, d.Dump, o.Name, o.Runtime)
}
