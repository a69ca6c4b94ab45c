package dap

import (
	"bufio"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/google/go-dap"

	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/target"
)

const (
	mostWaiting      = 1000         // queued requests
	mostWaitingBytes = 16 << 20     // bytes of the queued requests
	mostUnknownBytes = 4 * maxFirst // bytes of queued requests before the client has shown the token
	atOnce           = 4            // questions answered concurrently
)

// Options configure Serve.
type Options struct {
	// Token, if not empty, is required in the arguments of launch and attach.
	Token string
	// Known, if not nil, is called when the client has shown the token.
	Known func()
	// Panicked, if not nil, receives the text of a panic. The request then fails.
	Panicked func(text string)
}

// Serve answers one client until it disconnects, its stream ends or ctx is canceled. It returns the stream's error.
// If ctx ends Serve, a read from r may continue; the caller must close r.
func Serve(ctx context.Context, r io.Reader, w io.Writer, host Host, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{ctx: ctx, cancel: cancel, out: &sender{w: bufio.NewWriter(w)}, options: o, running: map[int]*request{}, waiting: make(chan *request, mostWaiting)}
	s.session = newSession(ctx, host, s)
	defer s.session.close()
	s.known.Store(o.Token == "")
	read := make(chan error, 1)
	go func() {
		read <- s.read(bufio.NewReaderSize(r, maxHeader))
		close(s.waiting)
	}()
	s.work()
	cancel()
	s.answering.Wait()
	select {
	case err := <-read:
		return errors.Join(err, s.out.err)
	default:
		return s.out.err // the client has disconnected, or ctx has ended
	}
}

// A server orders the work for one client. One goroutine reads requests and another takes them in order. Up to atOnce
// questions are answered concurrently.
type server struct {
	ctx     context.Context
	cancel  context.CancelFunc
	out     *sender
	options Options
	session *session
	known   atomic.Bool // the client has shown the token

	waiting      chan *request
	waitingBytes atomic.Int64
	answering    sync.WaitGroup

	mu      sync.Mutex
	running map[int]*request // by number, including queued ones
}

// A request is one request of the client.
type request struct {
	*dap.Request

	message  dap.RequestMessage
	size     int64
	ctx      context.Context
	cancel   context.CancelFunc
	progress *progress
}

// read reads requests until the stream ends. It answers requests that cannot be queued, and cancel, which must not
// wait.
func (s *server) read(r *bufio.Reader) error {
	for {
		most := maxFrame
		if !s.known.Load() {
			most = maxFirst
		}
		b, err := readFrame(r, most)
		if err != nil {
			if fe := (*frameError)(nil); errors.As(err, &fe) {
				s.out.event("output", dap.OutputEventBody{Category: "important", Output: "sosgo: " + fe.text + "\n"})
			}
			s.cancel()
			if err == io.EOF {
				err = nil
			}
			return err
		}
		if s.take(b) {
			return nil
		}
	}
}

// take handles one message. It reports whether it is the client's last.
func (s *server) take(b []byte) (last bool) {
	message, err := dap.DecodeProtocolMessage(b)
	var unknown *dap.DecodeProtocolMessageFieldError
	if errors.As(err, &unknown) {
		s.refuse(unknown)
		return false
	}
	m, isRequest := message.(dap.RequestMessage)
	switch {
	case err != nil && isRequest:
		s.out.fail(m.GetSeq(), m.GetRequest().Command, unreadable(err), idUsage)
	case err != nil:
		s.out.fail(0, "", unreadable(err), idUsage)
	case isRequest: // the adapter sends no requests, so responses and events need no answer
		return s.queue(m, int64(len(b)))
	}
	return false
}

func unreadable(err error) string { return fmt.Sprintf("the request can't be read: %.200v", err) }

// refuse answers a message of an unknown kind. Unknown responses and events need no answer.
func (s *server) refuse(e *dap.DecodeProtocolMessageFieldError) {
	switch e.SubType {
	case "Request":
		s.out.fail(e.Seq, e.FieldValue, fmt.Sprintf("there is no request %.40q here", e.FieldValue), idUsage)
	case "ProtocolMessage":
		s.out.fail(e.Seq, "", fmt.Sprintf("a message of the type %.40q is not one of the protocol", e.FieldValue), idUsage)
	}
}

func (s *server) queue(message dap.RequestMessage, size int64) (last bool) {
	m := message.GetRequest()
	if c, ok := message.(*dap.CancelRequest); ok {
		s.stop(c.Arguments)
		s.out.respond(m.Seq, m.Command, nil)
		return false
	}
	ctx, cancel := context.WithCancel(s.ctx)
	r := &request{Request: m, message: message, size: size, ctx: ctx, cancel: cancel}
	bye := m.Command == "disconnect"
	if bye {
		s.stopAll()
	}
	s.mu.Lock()
	_, double := s.running[m.Seq]
	most := int64(mostUnknownBytes)
	if s.known.Load() {
		most = mostWaitingBytes
	}
	full := !bye && s.waitingBytes.Load()+size > most
	if !double && !full {
		s.running[m.Seq] = r
	}
	s.mu.Unlock()
	switch {
	case double:
		cancel()
		s.out.fail(m.Seq, m.Command, fmt.Sprintf("another request has the number %d", m.Seq), idUsage)
		return false
	case bye:
		s.waitingBytes.Add(size)
		select {
		case s.waiting <- r:
		case <-s.ctx.Done():
		}
		return true
	case !full:
		s.waitingBytes.Add(size)
		select {
		case s.waiting <- r:
			return false
		default:
			s.waitingBytes.Add(-size)
			s.forget(r)
		}
	}
	cancel()
	s.out.fail(m.Seq, m.Command, fmt.Sprintf("too many requests: %d wait for an answer", len(s.waiting)), idBusy)
	return false
}

// stop cancels a request by its number or the number of its progress.
func (s *server) stop(a *dap.CancelArguments) {
	if a == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.running[a.RequestId]; r != nil && a.RequestId != 0 {
		r.cancel()
	}
	if seq, ok := progressRequest(a.ProgressId); ok && s.running[seq] != nil {
		s.running[seq].cancel()
	}
}

func (s *server) stopAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.running {
		r.cancel()
	}
}

func (s *server) forget(r *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[r.Seq] == r {
		delete(s.running, r.Seq)
	}
}

// work takes requests in order. A request that changes the session is answered before the next one is taken.
func (s *server) work() {
	places := make(chan struct{}, atOnce)
	for {
		var r *request
		var ok bool
		select {
		case r, ok = <-s.waiting:
		case <-s.ctx.Done():
			return
		}
		if !ok {
			return
		}
		s.waitingBytes.Add(-r.size)
		switch command := r.Command; {
		case command == "disconnect":
			s.answering.Wait()
			s.session.close()
			s.out.respond(r.Seq, r.Command, nil)
			return
		case !s.known.Load(), command == "initialize", command == "launch", command == "attach", command == "configurationDone":
			s.answering.Wait()
			if !s.answer(r) {
				return
			}
			continue
		}
		places <- struct{}{}
		s.answering.Go(func() {
			defer func() { <-places }()
			s.answer(r)
		})
	}
}

// answer answers a request. It returns false if the client must be disconnected.
func (s *server) answer(r *request) bool {
	defer s.forget(r)
	defer r.cancel()
	r.progress = s.session.newProgress(r)
	defer r.progress.done()
	if !s.allowed(r) {
		s.out.fail(r.Seq, r.Command, "the token is missing or wrong: sosgo prints it when it starts to listen", idUsage)
		return false
	}
	body, err := s.ask(r)
	switch {
	case r.ctx.Err() != nil:
		s.out.fail(r.Seq, r.Command, "cancelled", idCancelled)
	case err != nil:
		s.out.fail(r.Seq, r.Command, err.Error(), errorID(err))
	default:
		s.out.respond(r.Seq, r.Command, body)
	}
	s.session.after(r.Command, err == nil && r.ctx.Err() == nil)
	return true
}

// allowed reports whether the client may send the request. Only initialize is allowed before launch or attach has
// shown the token.
func (s *server) allowed(r *request) bool {
	if s.known.Load() {
		return true
	}
	var given struct {
		Token string `json:"token"`
	}
	switch m := r.message.(type) {
	case *dap.InitializeRequest:
		return true
	case dap.LaunchAttachRequest:
		_ = json.Unmarshal(m.GetArguments(), &given) // a missing token counts as wrong
	}
	ok := subtle.ConstantTimeCompare([]byte(given.Token), []byte(s.options.Token)) == 1
	s.known.Store(ok)
	if ok && s.options.Known != nil {
		s.options.Known()
	}
	return ok
}

// ask passes the request to the session. A panic fails only this request.
func (s *server) ask(r *request) (body any, err error) {
	if r.ctx.Err() != nil {
		return nil, r.ctx.Err()
	}
	if s.options.Panicked != nil {
		defer func() {
			if p := recover(); p != nil {
				s.options.Panicked(fmt.Sprintf("%v\n%s", p, debug.Stack()))
				err = fmt.Errorf("this is a bug in sosgo: %v", p)
			}
		}()
	}
	return s.session.answer(r)
}

// Error ids in responses. Errors about the dump use the exit codes of the commands.
const (
	idUsage       = 1
	idNotInDump   = 3
	idCorrupt     = 4
	idUnsupported = 5
	idBusy        = 6
	idCancelled   = 7
)

func errorID(err error) int {
	if errors.As(err, new(*query.Error)) {
		return idUsage
	}
	switch target.ReportedKind(err) {
	case nil:
		return idUsage
	case target.ErrNotInDump:
		return idNotInDump
	case target.ErrCorrupt:
		return idCorrupt
	}
	return idUnsupported
}
