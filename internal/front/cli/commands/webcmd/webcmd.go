// Package webcmd holds the commands that show a dump in a browser. It connects package webui, which implements the
// application, with a desk for the other commands. Start with webCommand and reportCommand.
package webcmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/text/processtext"
	"github.com/sosgo/sosgo/internal/front/remote"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/internal/front/webui"
)

// Commands returns the commands of the group.
func Commands() []cli.Command { return cli.In(cli.GroupProcess, webCommand(), reportCommand()) }

// comparison is the option shared by both commands.
type comparison struct {
	With []string `opt:"with" kind:"file" value:"DUMP" help:"a later dump of the same program, for the page that compares; may repeat"`
}

type webOptions struct {
	Listen string `opt:"listen" value:"HOST:PORT" default:"127.0.0.1:0" help:"where to listen, port 0 for a free one; what goes to other machines is not encrypted"`
	comparison
	cli.DumpFile
}

func webCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "web", DumpArg: true, Serves: true,
		Summary: "show the dump in a browser",
		Help: "It prints the address of a page and serves it until Ctrl-C. Only this machine can reach the page, unless -listen says " +
			"otherwise; the address contains a secret token. Nothing is changed, no file is written and no other server is contacted.",
		Examples: []cli.Example{{Line: "web core.1234", Text: "look at the dump"},
			{Line: "web -listen 127.0.0.1:8080 core.1234", Text: "on a port that a tunnel leads to"}},
	}, askWeb, processtext.WebPage)
}

func askWeb(c *cli.Context, o *webOptions) (*answer.WebPage, error) {
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return nil, c.Usagef("option -listen: %v", err)
	}
	subject, asker, err := open(c, o.With)
	if err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(c.Context(), "tcp", o.Listen)
	if err != nil {
		return nil, &cli.UsageError{Command: "web", Text: err.Error(), Hint: "-listen names another address; with --sandbox none can be listened to"}
	}
	s, err := webui.NewServer(asker, subject, l, host)
	if err != nil {
		return nil, err
	}
	if a, err := netip.ParseAddr(host); err != nil && host != "localhost" || err == nil && !a.IsLoopback() {
		c.Note("other machines can reach this page; nothing is encrypted, not even the token")
	}
	c.Note("open " + s.URL() + " in a browser; Ctrl-C ends the page")
	return &answer.WebPage{URL: s.URL()}, cli.WithAnswer(s.Serve(c.Context(), l))
}

// markdown is the format of a report as text.
const markdown = "md"

type reportOptions struct {
	Out    string `opt:"o,out" kind:"file" value:"FILE" required:"true" help:"the file to write; it must not exist"`
	Format string `opt:"format" choices:"html|md" default:"html" help:"html for all pages, md for a text of 200 lines at most for a ticket"`
	comparison
	cli.Sent
	cli.DumpFile
}

func reportCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "report", DumpArg: true, Sends: true,
		Summary: "write a report of the dump into one file",
		Help: fmt.Sprintf("The file has the pages of web, except those made on request: it needs no server and no network, and can be sent. "+
			"It has the top of each list, and never more than %d MB. Secrets are masked unless -full is given; it contains names, texts and values of the "+
			"process nevertheless: review it before you share it.",
			webui.MaxReport>>20),
		Examples: []cli.Example{{Line: "report core.1234 -o report.html", Text: "one file for a ticket"},
			{Line: "report -format md core.1234 -o report.md", Text: "what is wrong, as text to paste"}},
	}, askReport, processtext.HTMLReport)
}

func askReport(c *cli.Context, o *reportOptions) (*answer.HTMLReport, error) {
	if o.Format == markdown && len(o.With) > 0 {
		return nil, c.Usagef("option -with is for html; a report as %s compares nothing", markdown)
	}
	subject, asker, err := open(c, o.With)
	if err != nil {
		return nil, err
	}
	progress := c.Progress("asking")
	defer progress.Done()
	f := &answer.HTMLReport{File: o.Out}
	err = c.WriteFile(o.Out, cli.New, func(w io.Writer) error {
		n := &counter{w: w}
		defer func() { f.Size = n.n }()
		if o.Format == markdown {
			return webui.WriteMarkdown(c.Context(), n, asker, subject)
		}
		return webui.WriteReport(c.Context(), n, asker, subject, func(done, total int) { progress.Set(uint64(done), uint64(total)) })
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// open returns the session's dump and the dumps to compare it with.
func open(c *cli.Context, others []string) (webui.Subject, *asker, error) {
	for _, o := range others {
		if _, err := os.Stat(o); err != nil {
			return webui.Subject{}, nil, &cli.OpenError{Path: o, Err: err}
		}
	}
	desk, err := c.Desk(others...)
	if err != nil {
		return webui.Subject{}, nil, err
	}
	return webui.Subject{File: remote.Base(c.Session.Path()), Others: others}, &asker{desk: desk, seat: desk.Seat()}, nil
}

// An asker runs questions at a desk.
type asker struct {
	desk *cli.Desk
	seat *cli.Seat // for the page's terminal
}

// Asker returns the asker of a page, over a desk.
func Asker(desk *cli.Desk) webui.Asker { return &asker{desk: desk, seat: desk.Seat()} }

// Ask implements webui.Asker.
func (a *asker) Ask(ctx context.Context, words []string, part report.Window, w io.Writer) {
	watch := func(work string, p *cli.Progress) { webui.WatchOf(ctx).Begin(webui.Work{Name: work, At: p.At}) }
	begin := time.Now()
	a.desk.Answer(ctx, cli.Question{Words: words, JSON: true, Part: &part, Watch: watch}, w, io.Discard)
	if time.Since(begin) >= longWork {
		debug.FreeOSMemory()
	}
}

// longWork is the minimum time of an answer after which garbage is returned to the system. A page stays open for
// hours, and a walk of the heap leaves 2 bytes of garbage per object.
const longWork = 100 * time.Millisecond

// Complete implements webui.Asker.
func (a *asker) Complete(before string) (found []string, length int) { return a.seat.Complete(before) }

// Line implements webui.Asker.
func (a *asker) Line(ctx context.Context, line string, w io.Writer) {
	both := &together{w: w}
	a.seat.Answer(ctx, cli.Question{Line: line}, both, both)
}

// together serializes writes from several goroutines.
type together struct {
	mu sync.Mutex
	w  io.Writer
}

func (t *together) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.w.Write(bytes.ToValidUTF8(p, []byte("\ufffd")))
}

// counter counts bytes.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
