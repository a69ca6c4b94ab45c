package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// lastAnswers is how long calls that run go on once the client has closed its side.
const lastAnswers = time.Second

// Serve talks to one client over a pair of streams, each message a line, until the client closes its side or ctx ends. It returns when all
// calls have ended. A read of in, or a write to out, that never returns outlives it.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &lineConn{session: session{server: s}, answers: newAnswers(ctx, out, cancel), slots: make(chan struct{}, maxRunning)}
	c.receive(ctx, readLines(ctx, in, cancel))
	if ctx.Err() == nil {
		defer time.AfterFunc(lastAnswers, func() { cancel(nil) }).Stop()
	}
	c.calls.Wait()
	c.answers.end()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// A lineConn is a client that sends lines.
type lineConn struct {
	session

	answers *answers
	slots   chan struct{} // one for each request that runs
	calls   sync.WaitGroup
}

// A line is one that a client sent. It is nil if it was too long.
type line []byte

// receive answers what the client sends until that or ctx ends.
func (c *lineConn) receive(ctx context.Context, lines <-chan line) {
	for {
		select {
		case l, ok := <-lines:
			if !ok {
				return
			}
			c.received(ctx, l)
		case <-ctx.Done():
			return
		}
	}
}

// received answers what a client sent.
func (c *lineConn) received(ctx context.Context, l line) {
	if l == nil {
		c.answers.put(ctx, answer(null, nil, errorf(codeRequest, "the message has more than %d bytes", MaxMessage)))
		return
	}
	list, batch, err := parse(l)
	if err == nil && batch && !c.batches() {
		err = errorf(codeRequest, "version %s has no batches", c.speaks())
	}
	switch {
	case err != nil:
		c.answers.put(ctx, answer(null, nil, err))
	case batch:
		c.batch(ctx, list)
	default:
		c.one(ctx, &list[0], func(a []byte) {
			if a != nil {
				c.answers.put(ctx, a)
			}
		})
	}
}

// batch answers a batch with a batch, once all of it is done.
func (c *lineConn) batch(ctx context.Context, list []message) {
	all := make([][]byte, len(list))
	var open sync.WaitGroup
	alone(list)
	for i := range list {
		open.Add(1)
		c.one(ctx, &list[i], func(a []byte) {
			all[i] = a
			open.Done()
		})
	}
	c.calls.Go(func() {
		open.Wait()
		if all = trim(all); len(all) > 0 {
			c.answers.put(ctx, joined(all))
		}
	})
}

// alone refuses what is no part of a batch.
func alone(batch []message) {
	for i := range batch {
		if m := &batch[i]; m.method == "initialize" && m.bad == nil {
			m.bad = errorf(codeRequest, "initialize is not part of a batch")
		}
	}
}

// joined is the answer to a batch.
func joined(all [][]byte) []byte {
	return append(append([]byte("["), bytes.Join(all, []byte(","))...), ']')
}

// trim removes the answers that nobody waits for.
func trim(all [][]byte) (out [][]byte) {
	for _, a := range all {
		if a != nil {
			out = append(out, a)
		}
	}
	return out
}

// one deals with a message, and calls done once with the answer, which may be nil.
func (c *lineConn) one(ctx context.Context, m *message, done func(answer []byte)) {
	switch {
	case !m.call():
		if !m.response {
			c.noted(m)
		}
		done(nil)
		return
	case m.method == "initialize" && m.bad == nil: // what follows needs its version
		a, _ := c.start(ctx, m, c.answers)()
		done(a)
		return
	}
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		done(nil)
		return
	}
	run := c.start(ctx, m, c.answers)
	c.calls.Go(func() {
		a, _ := run()
		done(a)
		<-c.slots
	})
}

// readLines reads lines until the stream or ctx ends. Empty lines are no messages.
func readLines(ctx context.Context, in io.Reader, fail func(error)) <-chan line {
	lines := make(chan line)
	go func() {
		defer close(lines)
		r := bufio.NewReaderSize(in, 1<<16)
		for {
			l, err := readLine(r)
			if err != nil && !errors.Is(err, io.EOF) {
				fail(err)
				return
			}
			if l == nil || len(bytes.TrimSpace(l)) > 0 {
				select {
				case lines <- l:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// readLine reads a line. It skips one that is too long and returns nil for it.
func readLine(r *bufio.Reader) (line, error) {
	l := line{}
	for {
		part, err := r.ReadSlice('\n')
		if l != nil && len(l)+len(part) <= MaxMessage+1 {
			l = append(l, part...)
		} else {
			l = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l, err
		}
	}
}

// answers writes messages in the order in which they are put, one line each. A client that doesn't read keeps putters waiting.
type answers struct {
	ctx   context.Context
	lines chan []byte
	ended chan struct{}
}

func newAnswers(ctx context.Context, out io.Writer, fail func(error)) *answers {
	const waiting = 16 // lines
	a := &answers{ctx: ctx, lines: make(chan []byte, waiting), ended: make(chan struct{})}
	go func() {
		defer close(a.ended)
		for l := range a.lines {
			if _, err := out.Write(append(l, '\n')); err != nil {
				fail(err)
				return
			}
		}
	}()
	return a
}

// put writes a message, unless ctx ends before.
func (a *answers) put(ctx context.Context, message []byte) {
	select {
	case a.lines <- message:
	case <-ctx.Done():
	}
}

// try writes a message, unless others wait already.
func (a *answers) try(message []byte) {
	select {
	case a.lines <- message:
	default:
	}
}

// end waits until all is written, or the context ends. Nothing is put after it.
func (a *answers) end() {
	close(a.lines)
	select {
	case <-a.ended:
	case <-a.ctx.Done():
	}
}
