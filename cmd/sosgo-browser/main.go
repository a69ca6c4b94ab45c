//go:build js

// Command sosgo-browser is sosgo in a worker of a web page (ui/src/site). The page calls it as it calls the server of
// sosgo web, and the worker serves the files that it opens. It defines the global object sosgo with the functions
// open, ask, line and complete, each of which returns a promise.
package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime/debug"
	"syscall/js"
	"time"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/reading"
	"github.com/sosgo/sosgo/internal/front/report"
)

// mostUnpacked is the maximum size of an unpacked dump in bytes. Without disk space, the worker keeps the dump in
// memory, with a smaller limit of its own.
const mostUnpacked = 64 << 30

// mostMemory is the size from which the garbage collector runs more often than it would otherwise: memory that
// WebAssembly has once taken it never gives back.
const mostMemory = 9 << 28

func main() {
	debug.SetMemoryLimit(mostMemory)
	var p process
	js.Global().Set("sosgo", map[string]any{"open": promise(p.open), "ask": promise(p.ask), "line": promise(p.line), "complete": promise(p.complete)})
	js.Global().Call("sosgoStarted")
	select {}
}

// A process holds the open dump.
type process struct {
	desk *cli.Desk
	seat *cli.Seat // for the page's terminal
}

var errNotOpen = errors.New("no dump is open")

// open opens a dump. Its arguments are the path, the folder of module files, the dump's name and a progress function
// for unpacking.
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

// ask returns a document. Its arguments are the command's words, from, count, last and the name of the only list to
// cut.
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

// watch reports the progress of the latest work to the page, four times a second. begun is the callback for a
// Question; end stops the reports.
func watch() (begun func(work string, p *cli.Progress), end func()) {
	type work struct {
		name string
		p    *cli.Progress
	}
	var begin []work // only one goroutine runs at a time
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

// line returns the output of a line of the prompt.
func (p *process) line(args []js.Value) (any, error) {
	if p.desk == nil {
		return nil, errNotOpen
	}
	var out bytes.Buffer
	p.seat.Answer(context.Background(), cli.Question{Line: args[0].String()}, &out, &out)
	return text(&out), nil
}

// complete returns completions of the end of a line, and the number of characters that they replace.
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

// text returns the bytes as a JavaScript array.
func text(b *bytes.Buffer) js.Value {
	a := js.Global().Get("Uint8Array").New(b.Len())
	js.CopyBytesToJS(a, b.Bytes())
	return a
}

// promise returns a function that runs f in a goroutine, since f waits for files, and returns a promise. If f fails,
// the promise is rejected with an object that has the error's text and the command line's advice.
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
