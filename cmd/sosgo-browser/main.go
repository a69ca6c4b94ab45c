//go:build js

// Command sosgo-browser is sosgo in a worker of a web page (ui/src/site): the page asks it as it asks the server of sosgo web, and the files
// that it opens are those that the worker serves. It defines the global object sosgo with the functions open, ask, line and complete. Each
// returns a promise.
package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"syscall/js"
	"time"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/reading"
	"github.com/sosgo/sosgo/internal/front/report"
)

// mostUnpacked is how many bytes a compressed dump may have. Where the worker has no place on disk for it, it is kept in memory and the worker's
// own bound is smaller.
const mostUnpacked = 64 << 30

func main() {
	var p process
	js.Global().Set("sosgo", map[string]any{"open": promise(p.open), "ask": promise(p.ask), "line": promise(p.line), "complete": promise(p.complete)})
	js.Global().Call("sosgoStarted")
	select {}
}

// A process is the one whose dump is open.
type process struct {
	desk *cli.Desk
	seat *cli.Seat // of the page's terminal
}

var errNotOpen = errors.New("no dump is open")

// open opens a dump: path, folder of module files, name of the dump, function for the progress of unpacking.
func (p *process) open(args []js.Value) (any, error) {
	d, err := reading.Open(args[0].String(), args[1].String(), mostUnpacked, func(done, total int64) { args[3].Invoke(done, total) })
	if err != nil {
		return nil, err
	}
	env := cli.Env{Commands: reading.Commands(), Threads: reading.Threads, Recover: true}
	p.desk = cli.NewDesk(env, d, args[2].String(), "")
	p.seat = p.desk.Seat()
	return nil, nil
}

// ask returns a document: words of the command, from, count, last, the one list that is cut.
func (p *process) ask(args []js.Value) (any, error) {
	if p.desk == nil {
		return nil, errNotOpen
	}
	words := make([]string, args[0].Length())
	for i := range words {
		words[i] = args[0].Index(i).String()
	}
	begun, end := watch()
	defer end()
	part := report.Window{From: args[1].Int(), Count: args[2].Int(), Last: args[3].Bool(), List: args[4].String()}
	var out bytes.Buffer
	p.desk.Answer(context.Background(), cli.Question{Words: words, JSON: true, Part: &part, Watch: begun}, &out, io.Discard)
	return text(&out), nil
}

// watch has the page learn, four times a second, how far the work is that began last: begun is for a Question, and end ends it.
func watch() (begun func(work string, p *cli.Progress), end func()) {
	type work struct {
		name string
		p    *cli.Progress
	}
	var begin []work // goroutines take turns here
	t, ended := time.NewTicker(time.Second/4), make(chan struct{})
	go func() {
		for {
			select {
			case <-ended:
				return
			case <-t.C:
			}
			for ; len(begin) > 0; begin = begin[:len(begin)-1] {
				last := begin[len(begin)-1]
				if done, total, runs := last.p.At(); runs {
					js.Global().Call("sosgoProgress", last.name, float64(done), float64(total))
					break
				}
			}
		}
	}()
	return func(name string, p *cli.Progress) { begin = append(begin, work{name, p}) }, func() { t.Stop(); close(ended) }
}

// line returns what a line of the prompt prints.
func (p *process) line(args []js.Value) (any, error) {
	if p.desk == nil {
		return nil, errNotOpen
	}
	var out bytes.Buffer
	p.seat.Answer(context.Background(), cli.Question{Line: args[0].String()}, &out, &out)
	return text(&out), nil
}

// complete returns the words that may stand in place of the last characters of a line, and how many these are.
func (p *process) complete(args []js.Value) (any, error) {
	if p.desk == nil {
		return nil, errNotOpen
	}
	found, length := p.seat.Complete(args[0].String())
	words := make([]any, len(found))
	for i, w := range found {
		words[i] = w
	}
	return map[string]any{"found": words, "length": length}, nil
}

// text returns the bytes as an array of JavaScript.
func text(b *bytes.Buffer) js.Value {
	a := js.Global().Get("Uint8Array").New(b.Len())
	js.CopyBytesToJS(a, b.Bytes())
	return a
}

// promise returns a function that runs f in a goroutine, since f waits for files, and returns a promise. A rejected one has an object with
// the error's text and the advice of the command line.
func promise(f func(args []js.Value) (any, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any {
		run := js.FuncOf(func(_ js.Value, settle []js.Value) any {
			go func() {
				v, err := f(args)
				if err != nil {
					settle[1].Invoke(map[string]any{"text": report.Escape(err.Error()), "advice": cli.Advice(err)})
					return
				}
				settle[0].Invoke(v)
			}()
			return nil
		})
		defer run.Release()
		return js.Global().Get("Promise").New(run)
	})
}
