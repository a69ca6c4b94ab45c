package mcpguard

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lastAnswers is how long running calls may continue after the client has closed its side.
const lastAnswers = time.Second

// Serve lets one client talk to a server over a pair of streams, each message a line, until the client closes its side
// or ctx ends. It returns when all calls have ended. A read of in, or a write to out, that never returns outlives it.
//
// The SDK's own transport for lines ends the session at an invalid line, never answers a batch that contains a
// notification, answers canceled requests, and reserves their ids until they have stopped. Serve corrects these
// faults.
func Serve(ctx context.Context, s *mcp.Server, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &lineConn{answers: newAnswers(ctx, out, cancel), lines: readLines(ctx, in, cancel), slots: make(chan struct{}, maxRunning),
		batches: true, running: map[jsonrpc.ID]*call{}, ids: map[jsonrpc.ID]jsonrpc.ID{}}
	c.open, c.close = context.WithCancel(ctx)
	defer c.close()
	session, err := s.Connect(ctx, c, nil)
	if err != nil {
		return err
	}
	_ = session.Wait() // its error, if any, is the cause of the end of ctx
	c.answers.end()
	err = context.Cause(ctx)
	for _, normal := range []error{context.Canceled, context.DeadlineExceeded, io.ErrClosedPipe, syscall.EPIPE} {
		if errors.Is(err, normal) {
			return nil // the client closed its side, which an answer may meet first
		}
	}
	return err
}

// A lineConn is a client that sends lines. It implements mcp.Transport and mcp.Connection. The SDK reads from one
// goroutine and writes from several.
type lineConn struct {
	open    context.Context // ends when the SDK closes the connection
	close   context.CancelFunc
	answers *answers
	lines   <-chan line
	slots   chan struct{} // one for each call that runs

	queue   []queued // messages of the last line that the SDK has not read
	batches bool     // the version of the session has batches
	renamed int      // calls that run under another id

	mu      sync.Mutex
	running map[jsonrpc.ID]*call      // by their id in the SDK
	ids     map[jsonrpc.ID]jsonrpc.ID // from the client's ids to the SDK's, of calls that are not cancelled
}

// A queued is a message and the place of its answer.
type queued struct {
	message
	place
}

// A call is a request that runs.
type call struct {
	id jsonrpc.ID // the client's
	place
	cancelled bool
}

// A place is where the answer to a message goes.
type place struct {
	group *group
	at    int
}

// A group is the messages of a line. A batch is answered by a batch, once all of it is done.
type group struct {
	batch   bool
	open    int // messages that are not done
	answers [][]byte
}

// Connect implements mcp.Transport.
func (c *lineConn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID implements mcp.Connection.
func (c *lineConn) SessionID() string { return "" }

// Close implements mcp.Connection.
func (c *lineConn) Close() error {
	c.close()
	return nil
}

// Read implements mcp.Connection.
func (c *lineConn) Read(context.Context) (jsonrpc.Message, error) {
	for {
		for len(c.queue) > 0 {
			next := c.queue[0]
			c.queue = c.queue[1:]
			if r := c.accept(next); r != nil {
				return r, nil
			}
		}
		select {
		case l, ok := <-c.lines:
			if !ok {
				c.drain()
				return nil, io.EOF
			}
			c.received(l)
		case <-c.open.Done():
			return nil, c.open.Err()
		}
	}
}

// drain waits for the last answers.
func (c *lineConn) drain() {
	end := time.After(lastAnswers)
	for range cap(c.slots) {
		select {
		case c.slots <- struct{}{}:
		case <-end:
			return
		case <-c.open.Done():
			return
		}
	}
}

// received queues the messages of a line.
func (c *lineConn) received(l line) {
	if l == nil {
		c.answers.put(refusal(jsonrpc.ID{}, tooLong()))
		return
	}
	list, batch, err := parse(l)
	if err == nil && batch && !c.batches {
		err = errorf(jsonrpc.CodeInvalidRequest, "the version of this session has no batches")
	}
	if err != nil {
		c.answers.put(refusal(jsonrpc.ID{}, err))
		return
	}
	g := &group{batch: batch, open: len(list), answers: make([][]byte, len(list))}
	for i, m := range list {
		c.queue = append(c.queue, queued{m, place{g, i}})
	}
}

// accept returns the message for the SDK, or nil if the SDK does not need it.
func (c *lineConn) accept(m queued) *jsonrpc.Request {
	switch {
	case m.bad != nil:
		c.done(m.place, refusal(m.id, m.bad))
		return nil
	case m.call():
		return c.acceptCall(m)
	}
	c.done(m.place, nil)
	if m.is(methodCancelled) {
		return c.cancel(m.params().RequestID)
	}
	return m.request
}

func (c *lineConn) acceptCall(m queued) *jsonrpc.Request {
	if m.is(methodInitialize) {
		version := m.params().Version
		c.batches = version == "2025-03-26" || version == "2024-11-05"
	}
	select {
	case c.slots <- struct{}{}:
	case <-c.open.Done():
		return nil
	}
	if !c.begin(m) {
		<-c.slots
		c.done(m.place, refusal(m.id, errorf(jsonrpc.CodeInvalidRequest, "a request with the id %v runs already", m.id.Raw())))
		return nil
	}
	return m.request
}

// begin records a running call and gives it an id unique in the SDK. It returns false if the client's id is in use.
func (c *lineConn) begin(m queued) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, double := c.ids[m.id]; double {
		return false
	}
	own := m.id
	for c.running[own] != nil { // it is cancelled, and has not stopped
		c.renamed++
		own, _ = jsonrpc.MakeID(fmt.Sprintf("%v again, %d", m.id.Raw(), c.renamed)) // a text is an id
	}
	c.ids[m.id], c.running[own] = own, &call{id: m.id, place: m.place}
	m.request.ID = own
	return true
}

// cancel frees the id of a call and returns the notification that makes the SDK stop the call. It returns nil if no
// call has the id.
func (c *lineConn) cancel(raw json.RawMessage) *jsonrpc.Request {
	id, _ := parseID(raw)
	c.mu.Lock()
	own, ok := c.ids[id]
	if !ok {
		c.mu.Unlock()
		return nil
	}
	stopped := c.running[own]
	stopped.cancelled = true
	delete(c.ids, id)
	c.mu.Unlock()
	c.done(stopped.place, nil)
	params, _ := json.Marshal(map[string]any{"requestId": own.Raw()}) // it is a text or a number
	return &jsonrpc.Request{Method: methodCancelled, Params: params}
}

// Write implements mcp.Connection.
func (c *lineConn) Write(_ context.Context, m jsonrpc.Message) error {
	response, ok := m.(*jsonrpc.Response)
	if !ok {
		raw, err := jsonrpc.EncodeMessage(m)
		if err != nil {
			return err
		}
		if n, ok := m.(*jsonrpc.Request); ok && n.Method == methodProgress {
			c.answers.try(raw)
		} else {
			c.answers.put(raw)
		}
		return nil
	}
	c.mu.Lock()
	answered := c.running[response.ID]
	delete(c.running, response.ID)
	if answered != nil && !answered.cancelled {
		delete(c.ids, answered.id)
	}
	c.mu.Unlock()
	if answered == nil {
		return nil
	}
	defer func() { <-c.slots }()
	if answered.cancelled {
		return nil
	}
	response.ID = answered.id
	raw, err := encode(response)
	if err != nil { // an error of Write would end the session
		raw = refusal(answered.id, errorf(jsonrpc.CodeInternalError, "the answer has no form in JSON: %v", err))
	}
	c.done(answered.place, raw)
	return nil
}

// done settles a message with its answer, or with nil for a message without one.
func (c *lineConn) done(p place, answer []byte) {
	c.mu.Lock()
	p.group.answers[p.at] = answer
	p.group.open--
	open := p.group.open
	c.mu.Unlock()
	if open > 0 {
		return
	}
	var all [][]byte
	for _, a := range p.group.answers {
		if a != nil {
			all = append(all, a)
		}
	}
	switch {
	case len(all) == 0:
	case p.group.batch:
		c.answers.put(append(append([]byte("["), bytes.Join(all, []byte(","))...), ']'))
	default:
		c.answers.put(all[0])
	}
}

// A line is a line of a client. It is nil if it was too long.
type line []byte

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

// answers writes messages in order, one per line. If the client does not read, put blocks.
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
		for {
			var l []byte
			select {
			case l = <-a.lines:
			case <-ctx.Done():
			}
			if l == nil {
				return
			}
			if _, err := out.Write(append(l, '\n')); err != nil {
				fail(err)
				return
			}
		}
	}()
	return a
}

// put writes a message, unless the context ends before.
func (a *answers) put(message []byte) {
	select {
	case a.lines <- message:
	case <-a.ctx.Done():
	}
}

// try writes a message, unless others wait already.
func (a *answers) try(message []byte) {
	select {
	case a.lines <- message:
	default:
	}
}

// end waits until all is written, or the context ends.
func (a *answers) end() {
	a.put(nil)
	select {
	case <-a.ended:
	case <-a.ctx.Done():
	}
}
