package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	progressDelay = time.Second
	progressTick  = 100 * time.Millisecond
)

// A Progress shows the progress of a command on stderr, if that is a terminal and the command has run for a second.
// Its methods are safe for concurrent use. Set costs two atomic stores.
type Progress struct {
	done, total atomic.Uint64
	stop        chan struct{}
	once        sync.Once
	ended       sync.WaitGroup
}

// Progress starts a progress display. It ends with Done or with the command.
func (c *Context) Progress(label string) *Progress {
	p := &Progress{stop: make(chan struct{})}
	c.progress = append(c.progress, p)
	if c.app != nil && c.app.watch != nil { // nil while the prompt opens its dump
		c.app.watch(label, p)
	}
	if c.stderr.terminal {
		p.ended.Add(1)
		go p.show(c.stderr, label)
	}
	return p
}

// Set records that done of total is finished. A total of 0 means unknown.
func (p *Progress) Set(done, total uint64) {
	p.total.Store(total)
	p.done.Store(done)
}

// At returns the last values of Set, and whether the work still runs.
func (p *Progress) At() (done, total uint64, runs bool) {
	select {
	case <-p.stop:
	default:
		runs = true
	}
	return p.done.Load(), p.total.Load(), runs
}

// endProgress removes the remaining displays.
func (c *Context) endProgress() {
	for _, p := range c.progress {
		p.Done()
	}
}

// Done removes the display.
func (p *Progress) Done() {
	p.once.Do(func() { close(p.stop) })
	p.ended.Wait()
}

func (p *Progress) show(w io.Writer, label string) {
	defer p.ended.Done()
	select {
	case <-p.stop:
		return
	case <-time.After(progressDelay):
	}
	tick := time.NewTicker(progressTick)
	defer tick.Stop()
	start := time.Now()
	for {
		// An error while drawing must not stop the command.
		_, _ = io.WriteString(w, clearLine+p.line(label, time.Since(start)))
		select {
		case <-p.stop:
			_, _ = io.WriteString(w, clearLine)
			return
		case <-tick.C:
		}
	}
}

// clearLine clears the current line.
const clearLine = "\r\x1b[K"

// line returns the display: a bar if the total is known, otherwise a spinner.
func (p *Progress) line(label string, since time.Duration) string {
	const width = 30
	done, total := p.done.Load(), p.total.Load()
	if total == 0 {
		return fmt.Sprintf("%s %c", label, `|/-\`[since/progressTick%4])
	}
	part := min(float64(done)/float64(total), 1)
	bar := strings.Repeat("=", int(part*width))
	return fmt.Sprintf("%s [%-*s] %3.0f%%", label, width, bar, 100*part)
}
