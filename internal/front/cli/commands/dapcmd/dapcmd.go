// Package dapcmd holds the command that serves dumps to editors. It connects package dap, which implements the
// protocol, with dumps and a desk for other commands. Start with dapCommand.
package dapcmd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/dap"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/process"
)

// Commands returns the commands of the group.
func Commands() []cli.Command { return cli.In(cli.GroupProcess, dapCommand()) }

type options struct {
	Listen string `opt:"listen" value:"HOST:PORT" help:"serve clients that connect there, with the token that is printed; only addresses of this machine"`
	cli.DumpFile
}

func dapCommand() cli.Command {
	return cli.Do(cli.Command{
		Name: "dap", DumpArg: true, NoDump: true, Serves: true,
		Summary: "show dumps in an editor, by the Debug Adapter Protocol",
		Help: "Editors start it themselves (docs/editors.md) and talk to it on standard input and output. The dump is the one that the editor's " +
			"configuration names, or else that of this command line. Threads, stacks, variables and expressions are shown as of a process that has stopped; " +
			"the debug console runs every command that writes no file. Nothing is changed, and nothing runs.",
		Usage: "[-listen HOST:PORT] [FILE]",
		Examples: []cli.Example{{Line: "dap", Text: "what an editor starts"},
			{Line: "dap -listen 127.0.0.1:4711", Text: "for an editor that connects; it shows the token at attach"}},
	}, serve)
}

func serve(c *cli.Context, o *options) (report.Answer, error) {
	if c.Mask() != nil {
		return report.Answer{}, c.Usagef("with --redact no variables are served: editors show texts and memory as they are")
	}
	h := &host{c: c}
	if o.Listen != "" {
		return report.Answer{}, h.listen(o.Listen)
	}
	in, out := c.Streams()
	return report.Answer{}, dap.Serve(c.Context(), in, out, h, dap.Options{Panicked: h.note})
}

// listen serves clients that connect to a local address and show the token.
func (h *host) listen(address string) error {
	name, _, err := net.SplitHostPort(address)
	if err != nil {
		return h.c.Usagef("option -listen: %v", err)
	}
	if a, err := netip.ParseAddr(name); name != "localhost" && (err != nil || !a.IsLoopback()) {
		return h.c.Usagef("option -listen: %q is no address that is reached from this machine alone, such as 127.0.0.1", name)
	}
	ctx := h.c.Context()
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return &cli.UsageError{Command: "dap", Text: err.Error(), Hint: "-listen names another address; with --sandbox none can be listened to"}
	}
	token := rand.Text()
	h.note(fmt.Sprintf("listening on %s, token %s; Ctrl-C ends it", l.Addr(), token))
	return dap.Listen(ctx, l, h, dap.Options{Token: token, Panicked: h.note}, h.note)
}

// A host opens dumps according to the command line.
type host struct {
	c  *cli.Context
	mu sync.Mutex // guards c, which is for one goroutine
}

func (h *host) note(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.c.Note(text)
}

// Open implements dap.Host.
func (h *host) Open(ctx context.Context, o dap.Open, progress func(done, total uint64)) (*dap.Opened, error) {
	h.mu.Lock()
	own := h.c.Session.Path()
	h.mu.Unlock()
	if own != "" && (o.Dump == "" || o.Dump == own) && len(o.Modules) == 0 && len(o.SymbolServers) == 0 {
		return h.own()
	}
	if o.Dump == "" {
		o.Dump = own
	}
	if o.Dump == "" {
		return nil, errors.New(`no dump is named: the configuration needs "dump", the path of a file`)
	}
	var usage error
	desk, d, err := h.c.OpenDesk(ctx, o.Dump, func(to *cli.OpenOptions) {
		to.Progress = progress
		to.Modules = slices.Concat(to.Modules, o.Modules)
		if to.Offline && len(o.SymbolServers) > 0 {
			usage = errors.New("symbolServer: sosgo was started with --offline")
			return
		}
		to.SymbolServers = slices.Concat(to.SymbolServers, o.SymbolServers)
	})
	if err == nil && usage != nil {
		_, err = d.Close(), usage
	}
	if err != nil {
		return nil, err
	}
	return h.opened(desk, d, o.Dump, d.Close), nil
}

// own returns the dump of the command line. It stays open for the next client.
func (h *host) own() (*dap.Opened, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	desk, err := h.c.Desk()
	if err != nil {
		return nil, err
	}
	return h.opened(desk, h.c.Dump(), h.c.Session.Path(), func() error { return nil }), nil
}

func (h *host) opened(desk *cli.Desk, d cli.Dump, path string, end func() error) *dap.Opened {
	return &dap.Opened{Path: path, Dump: d.(*process.Dump), Runtime: h.c.Session.Runtime(), Console: &console{desk, desk.Seat()}, Close: end}
}

// A console runs command lines at a desk.
type console struct {
	desk *cli.Desk
	seat *cli.Seat
}

func (c *console) Run(ctx context.Context, line string, w io.Writer) {
	both := &together{w: w}
	c.seat.Answer(ctx, cli.Question{Line: line}, both, both)
}

func (c *console) IsCommand(line string) bool { return c.desk.IsCommand(line) }

func (c *console) Complete(before string) (found []string, length int) {
	return c.seat.Complete(before)
}

// together serializes writes from several goroutines.
type together struct {
	mu sync.Mutex
	w  io.Writer
}

func (t *together) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.w.Write(p)
}
