package diagport

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/target"
)

// The header of a message: the magic text with its NUL, the size of the whole message (uint16), the set and the number
// of the command, and two reserved bytes. All numbers are little-endian.
const (
	magic      = "DOTNET_IPC_V1\x00"
	headerSize = len(magic) + 6
	maxMessage = 1<<16 - 1 // the size is a uint16
)

// maxEnvironment is the largest environment in bytes that Client.Environment reads. Linux allows 6 MB for the arguments
// and the environment together, which UTF-16 doubles.
const maxEnvironment = 32 << 20

// A command is the set of a command and its number in the set.
type command struct{ set, id uint8 }

var (
	createCoreDump  = command{0x01, 0x01}
	createCoreDump2 = command{0x01, 0x02}
	createCoreDump3 = command{0x01, 0x03}

	processInfo        = command{0x04, 0x00}
	processEnvironment = command{0x04, 0x02}
	processInfo2       = command{0x04, 0x04}
	processInfo3       = command{0x04, 0x08}

	answerOK    = command{0xff, 0x00}
	answerError = command{0xff, 0xff}
)

// appendMessage appends a message to b. It fails if the payload does not fit.
func appendMessage(b []byte, c command, payload []byte) ([]byte, error) {
	if headerSize+len(payload) > maxMessage {
		return nil, target.Argumentf("a message of %d bytes is too long for the diagnostics port", headerSize+len(payload))
	}
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint16(b, uint16(headerSize+len(payload)))
	return append(append(b, c.set, c.id, 0, 0), payload...), nil
}

// appendString appends a string: the number of UTF-16 units with the final NUL, and the units.
func appendString(b []byte, s string) []byte {
	units := append(utf16text.Units(s), 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(units)))
	for _, u := range units {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

// readMessage reads a message and returns the command of its header and its payload.
func readMessage(r io.Reader) (c command, payload []byte, err error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return c, nil, cutOff(err)
	}
	if string(header[:len(magic)]) != magic {
		return c, nil, target.Corruptf("the answer does not begin with %s", strings.TrimRight(magic, "\x00"))
	}
	rest := header[len(magic):]
	size := int(binary.LittleEndian.Uint16(rest))
	if size < headerSize {
		return c, nil, target.Corruptf("the answer gives its size as %d bytes, less than its header", size)
	}
	c = command{rest[2], rest[3]}
	payload = make([]byte, size-headerSize)
	if _, err := io.ReadFull(r, payload); err != nil {
		return c, nil, cutOff(err)
	}
	return c, payload, nil
}

// errHungUp is the error of a connection that ended before the answer was complete.
var errHungUp = errors.New("the process closed the connection without an answer")

// cutOff returns errHungUp for the end of a connection, and other errors unchanged.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errHungUp
	}
	return err
}

// text reads a string: empty, or units of UTF-16 that end with a NUL.
func text(c *cursor.Cursor) string {
	n := c.Uint32()
	if n == 0 || c.Err() != nil {
		return ""
	}
	if uint64(n)*2 > uint64(c.Len()) {
		c.Fail(fmt.Errorf("a string of %d characters in %d bytes", n, c.Len()))
		return ""
	}
	b := c.Take(int(n) * 2)
	if b[len(b)-2] != 0 || b[len(b)-1] != 0 {
		c.Fail(errors.New("a string does not end with NUL"))
		return ""
	}
	return utf16text.String(b[:len(b)-2])
}

// corrupt returns the failure of a cursor as corrupt data, or nil.
func corrupt(c *cursor.Cursor, what string) error {
	if c.Err() == nil {
		return nil
	}
	return target.Corruptf("the diagnostics port's answer about %s: %v", what, c.Err())
}

// parseInfo decodes the answer to a request for process information.
func parseInfo(of command, payload []byte) (*Info, error) {
	c := cursor.New(payload, 0)
	if of == processInfo3 {
		if v := c.Uint32(); v == 0 {
			c.Fail(errors.New("version 0"))
		}
	}
	i := &Info{PID: c.Uint64()}
	copy(i.Cookie[:], c.Take(len(i.Cookie)))
	i.CommandLine, i.OS, i.Arch = text(c), text(c), text(c)
	if of != processInfo {
		i.Entry, i.Version = text(c), text(c)
	}
	if of == processInfo3 {
		i.Platform = text(c)
	} else if c.Len() > 0 && c.Err() == nil { // later versions of the third form may have more
		c.Fail(fmt.Errorf("%d bytes too many", c.Len()))
	}
	if err := corrupt(c, "the process"); err != nil {
		return nil, err
	}
	return i, nil
}

// parseError decodes the payload of an error: its code, and from .NET 8 on a text.
func parseError(payload []byte) error {
	c := cursor.New(payload, 0)
	e := &RuntimeError{Code: c.Uint32()}
	if c.Len() > 0 {
		e.Text = text(c)
	}
	if err := corrupt(c, "an error"); err != nil {
		return err
	}
	return e
}

// parseResult decodes the answer to a request for a dump.
func parseResult(payload []byte) error {
	c := cursor.New(payload, 0)
	code := c.Uint32()
	if err := corrupt(c, "a dump"); err != nil {
		return err
	}
	if code != 0 {
		return &RuntimeError{Code: code}
	}
	return nil
}

// readEnvironment reads the environment that follows the answer with the given payload.
func readEnvironment(payload []byte, r io.Reader) ([]string, error) {
	c := cursor.New(payload, 0)
	size := c.Uint32()
	c.Skip(2) // reserved
	if err := corrupt(c, "the environment"); err != nil {
		return nil, err
	}
	if size > maxEnvironment {
		return nil, target.Corruptf("the process announces %d bytes of environment variables", size)
	}
	var b bytes.Buffer // grows with what arrives, not with what was announced
	if _, err := io.CopyN(&b, r, int64(size)); err != nil {
		return nil, cutOff(err)
	}
	c = cursor.New(b.Bytes(), 0)
	n := c.Uint32()
	if uint64(n)*4 > uint64(c.Len()) {
		return nil, target.Corruptf("%d environment variables in %d bytes", n, c.Len())
	}
	var out []string
	for range n {
		out = append(out, text(c))
	}
	if err := corrupt(c, "the environment"); err != nil {
		return nil, err
	}
	return out, nil
}
