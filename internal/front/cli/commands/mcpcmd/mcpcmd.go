// Package mcpcmd holds the command that serves the Model Context Protocol. It makes tools for package mcpserver,
// which implements the protocol, from the declarations of the other commands. Start with mcpCommand.
package mcpcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"unicode"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/mcpserver"
	"github.com/sosgo/sosgo/internal/front/remote"
	"github.com/sosgo/sosgo/internal/front/report"
)

// Commands returns the commands of the group.
func Commands() []cli.Command { return cli.In(cli.GroupProcess, mcpCommand()) }

type options struct {
	Listen  string   `opt:"listen" value:"HOST:PORT" help:"serve HTTP at this address of this machine, port 0 for a free one, instead of standard input and output"`
	Budget  int      `opt:"budget" range:"1000:1000000" default:"24000" help:"bytes of an answer at most; a longer one goes on with a cursor"`
	Secrets bool     `opt:"secrets" help:"show values that look like secrets, and allow options that show them"`
	Schemas bool     `opt:"schemas" help:"list the schemas of the tools' answers, too, which are some 240 KB"`
	Local   bool     `opt:"local" help:"search this machine for the files of modules, too"`
	Dumps   []string `arg:"dump,optional" kind:"file" help:"the dumps that may be asked about"`
}

func mcpCommand() cli.Command {
	return cli.Do(cli.Command{
		Name: "mcp", NoDump: true, Serves: true,
		Summary: "let agents ask about dumps, over the Model Context Protocol",
		Help: "It speaks the protocol on standard input and output until the client goes, and offers the commands as tools. No file is written, and none is read " +
			"but the dumps that are named here, which are opened when they are first asked about and stay open, and the files of --modules and --symbol-server. " +
			"Values that look like secrets are masked. Each answer names the command line that replays it.\n\n" +
			"With -listen it serves HTTP (the streamable transport) to this machine, and prints the address with a token that clients send as \"Authorization: Bearer TOKEN\".",
		Examples: []cli.Example{{Line: "mcp core.1234", Text: "what an agent's settings name as the server's command"},
			{Line: "mcp before.dmp after.dmp", Text: "two dumps, which diff may compare"}},
	}, func(c *cli.Context, o *options) (report.Answer, error) { return report.Answer{}, serve(c, o) })
}

func serve(c *cli.Context, o *options) error {
	if c.WantsJSON() {
		return c.Usagef("mcp has no document: what it answers is the protocol's")
	}
	a := &asker{c: c, options: o, dumps: map[string]*dump{}}
	if err := a.name(o.Dumps); err != nil {
		return err
	}
	s := mcpserver.New(a, mcpserver.Options{Version: c.Version(), Dumps: a.list, Tools: a.tools(), Pages: pages(c), Budget: o.Budget, Secrets: o.Secrets, Schemas: o.Schemas})
	if o.Listen == "" {
		in, out := c.Streams()
		return s.Serve(c.Context(), in, out)
	}
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return c.Usagef("option -listen: %v", err)
	}
	if addr, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !addr.IsLoopback()) {
		return c.Usagef("option -listen: %s is not an address of this machine alone, such as 127.0.0.1", host)
	}
	l, err := new(net.ListenConfig).Listen(c.Context(), "tcp", o.Listen)
	if err != nil {
		return &cli.UsageError{Command: "mcp", Text: err.Error(), Hint: "-listen names another address"}
	}
	token := mcpserver.Token()
	c.Note(fmt.Sprintf("MCP at http://%s/ for clients with the header \"Authorization: Bearer %s\"; Ctrl-C ends it", l.Addr(), token))
	return s.ServeHTTP(c.Context(), l, token)
}

// An asker runs questions at desks, one for each dump.
type asker struct {
	c       *cli.Context
	options *options
	list    []mcpserver.Dump
	opening sync.Mutex // opens one dump at a time
	dumps   map[string]*dump
}

// A dump is open if it has a desk.
type dump struct {
	path string
	desk *cli.Desk
}

// name gives each dump a short name for clients.
func (a *asker) name(paths []string) error {
	if p := a.c.Session.Path(); p != "" {
		paths = append([]string{p}, paths...)
	}
	for _, p := range paths {
		if p == "-" {
			return a.c.Usagef("standard input is for the protocol: name a dump's file")
		}
		base := identifier(path.Base(filepath.ToSlash(remote.Base(p))))
		id := base
		for n := 2; a.dumps[id] != nil; n++ {
			id = fmt.Sprintf("%s-%d", base, n)
		}
		a.dumps[id] = &dump{path: p}
		a.list = append(a.list, mcpserver.Dump{ID: id, File: p})
	}
	if len(a.list) == 0 {
		return a.c.Usagef("name the dumps that may be asked about")
	}
	return nil
}

// desk returns the desk of a dump. It opens the dump on first use, and again if opening failed or the dump was lost.
// Canceling ctx stops opening; an open dump stays open.
func (a *asker) desk(ctx context.Context, id string, watch func(work string, p *cli.Progress)) (*cli.Desk, error) {
	a.opening.Lock()
	defer a.opening.Unlock()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	d := a.dumps[id]
	if d.desk != nil && d.desk.Lost() == nil {
		return d.desk, nil
	}
	p := a.c.Progress("opening " + id)
	defer p.Done()
	watch("opening "+id, p)
	open, cancel := context.WithCancel(a.c.Context())
	stop := context.AfterFunc(ctx, cancel)
	desk, opened, err := a.c.OpenDesk(open, d.path, func(o *cli.OpenOptions) {
		o.NoCache = true // write no files
		o.Progress = p.Set
		o.Offline = o.Offline || !a.options.Local && len(o.SymbolServers) == 0
	})
	if !stop() && err == nil {
		_ = opened.Close() // its context has ended, so it cannot download
		err = ctx.Err()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	a.c.AtEnd(func() {
		cancel()
		if err := opened.Close(); err != nil {
			a.c.Warn(err)
		}
	})
	desk.Redact = !a.options.Secrets
	desk.Files = a.paths()
	d.desk = desk
	return desk, nil
}

// Ask implements mcpserver.Asker.
func (a *asker) Ask(ctx context.Context, q mcpserver.Question, out, notes io.Writer) (int, error) {
	watch := func(work string, p *cli.Progress) { q.Watch(work, p.At) }
	desk, err := a.desk(ctx, q.Dump, watch)
	if err != nil {
		var open *cli.OpenError
		if errors.As(err, &open) && cli.Advice(err) != "" {
			err = fmt.Errorf("%w (%s)", err, cli.Advice(err))
		}
		return 0, err
	}
	return desk.Answer(ctx, cli.Question{Words: q.Words, JSON: q.Part != nil, Part: q.Part, Watch: watch}, out, notes), nil
}

// identifier returns the name of a file with nothing but letters, digits, points and dashes. Who sends a dump chooses its name, which is part of each answer.
func identifier(name string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) || c == '.' || c == '-' {
			return c
		}
		return '_'
	}, name)
}

// Line implements mcpserver.Asker.
func (a *asker) Line(id string, words []string, document bool) string {
	line := []string{"sosgo", "-d", remote.Shown(a.dumps[id].path)}
	if document {
		line = append(line, "--json")
	}
	var b strings.Builder
	for i, w := range append(line, words...) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(quoted(w))
	}
	return b.String()
}

// quoted quotes a word for a POSIX shell.
func quoted(w string) string {
	if w != "" && strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,%@+") == "" {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// pages returns the commands' help.
func pages(c *cli.Context) []mcpserver.Page {
	out := []mcpserver.Page{{Name: "all", Title: "all commands"}}
	var all strings.Builder
	for _, cmd := range c.Commands() {
		fmt.Fprintf(&all, "%s: %s\n", cmd.UsageLine(), cmd.Summary)
		out = append(out, mcpserver.Page{Name: cmd.Name, Title: cmd.Summary, Text: cmd.HelpText()})
	}
	out[0].Text = all.String()
	return out
}
