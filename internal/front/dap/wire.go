package dap

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/google/go-dap"

	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
)

const (
	maxFrame     = 4 << 20 // bytes of a request
	maxFirst     = 64 << 10
	maxHeader    = 4 << 10
	lengthHeader = "content-length"
)

// A frameError reports a stream that is not the Debug Adapter Protocol, or a frame that is too large. Nothing after
// it can be read.
type frameError struct{ text string }

func (e *frameError) Error() string { return e.text }

// readFrame reads the content of one message: header lines, an empty line and Content-Length bytes, at most most.
func readFrame(r *bufio.Reader, most int) ([]byte, error) {
	length, header := -1, 0
	for {
		line, err := r.ReadSlice('\n')
		if header += len(line); err == bufio.ErrBufferFull || header > maxHeader {
			return nil, &frameError{fmt.Sprintf("the header of a message is longer than %d bytes", maxHeader)}
		}
		if err != nil {
			if err == io.EOF && header > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return nil, &frameError{"the header of a message is no line NAME: VALUE"}
		}
		if bytes.EqualFold(bytes.TrimSpace(name), []byte(lengthHeader)) {
			n, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 63)
			if err != nil {
				return nil, &frameError{"Content-Length is no number"}
			}
			if n > uint64(most) {
				return nil, &frameError{fmt.Sprintf("a message of %d bytes: at most %d are read", n, most)}
			}
			length = int(n)
		}
	}
	if length < 0 {
		return nil, &frameError{"a message has no Content-Length"}
	}
	b := make([]byte, length)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	return b, nil
}

// A sender writes messages with increasing numbers. It is safe for concurrent use.
type sender struct {
	mu  sync.Mutex
	w   *bufio.Writer
	seq int
	err error // of the first failed write; later messages are dropped
}

// A response is a response with any body. go-dap has a type for each kind.
type response struct {
	dap.Response

	Body any `json:"body,omitempty"`
}

// An event is an event with any body. go-dap has a type for each kind.
type event struct {
	dap.Event

	Body any `json:"body,omitempty"`
}

func (s *sender) respond(seq int, command string, body any) {
	s.send(func(n int) any {
		return &response{dap.Response{ProtocolMessage: dap.ProtocolMessage{Seq: n, Type: "response"}, RequestSeq: seq, Success: true, Command: command}, body}
	})
}

// fail answers a request with an error. message is for people; some clients compare it with "cancelled".
func (s *sender) fail(seq int, command, message string, id int) {
	s.send(func(n int) any {
		return &response{dap.Response{ProtocolMessage: dap.ProtocolMessage{Seq: n, Type: "response"}, RequestSeq: seq, Command: command, Message: message},
			dap.ErrorResponseBody{Error: &dap.ErrorMessage{Id: id, Format: "{text}", Variables: map[string]string{"text": message},
				ShowUser: command == "launch" || command == "attach"}}}
	})
}

func (s *sender) event(name string, body any) {
	s.send(func(n int) any {
		return &event{dap.Event{ProtocolMessage: dap.ProtocolMessage{Seq: n, Type: "event"}, Event: name}, body}
	})
}

func (s *sender) send(message func(seq int) any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.seq++
	b, err := json.Marshal(message(s.seq))
	if err == nil {
		err = dap.WriteBaseMessage(s.w, visible(b))
	}
	if err == nil {
		err = s.w.Flush()
	}
	s.err = err
}

// visible returns a message of encoding/json in which characters that act on a screen, turn text or can't be seen stand as escapes in
// its texts: names and strings of the process are shown by editors as they come. Line feeds and tabs stay.
func visible(message []byte) []byte {
	out := make([]byte, 0, len(message)+16)
	for i := 0; i < len(message); {
		r, n := utf8.DecodeRune(message[i:])
		if r == '\\' { // an escape of JSON
			n = 2
			switch message[i+1] {
			case 'u':
				n = 6
				code, _ := strconv.ParseUint(string(message[i+2:i+n]), 16, 16) // encoding/json writes four digits
				r = rune(code)
			case 'b', 'f':
				r = 0
			}
			if r < ' ' || jsonenc.Hidden(r) {
				out = append(append(out, `\\`...), message[i+1:i+n]...)
			} else {
				out = append(out, message[i:i+n]...)
			}
			i += n
			continue
		}
		switch {
		case r == 0x7f || jsonenc.Hidden(r) && r <= 0xffff:
			out = fmt.Appendf(out, `\\u%04x`, r)
		case jsonenc.Hidden(r):
			out = fmt.Appendf(out, `\\U%08x`, r)
		default:
			out = append(out, message[i:i+n]...)
		}
		i += n
	}
	return out
}
