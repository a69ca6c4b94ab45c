// Package diagport is a client of the diagnostics port of .NET processes (dotnet/diagnostics,
// documentation/design-docs/ipc-protocol.md). It asks what a process is, for its environment, and for a dump; it
// knows no other command. Answers are untrusted: their sizes have limits. Start with Client.
package diagport

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sosgo/sosgo/target"
)

// A Client asks one process. Each question is a connection of its own, as the protocol requires.
type Client struct {
	// Dial connects to the port. The connection is closed when the context of the question ends.
	Dial func(ctx context.Context) (io.ReadWriteCloser, error)
}

// Info describes a process. Fields that its runtime does not report are empty.
type Info struct {
	PID         uint64 // in the process's own namespace
	Cookie      [16]byte
	CommandLine string
	OS, Arch    string
	Entry       string // the assembly with Main; .NET 6 and later
	Version     string // of the runtime; .NET 6 and later
	Platform    string // the runtime identifier, such as linux-musl-x64; .NET 8 and later
}

// A Kind is a kind of dump.
type Kind uint32

// Kinds of dumps.
const (
	Mini   Kind = 1
	Heap   Kind = 2
	Triage Kind = 3
	Full   Kind = 4
)

// A RuntimeError is an error that the runtime reports.
type RuntimeError struct {
	Code uint32 // HRESULT
	Text string // the runtime's own words; empty before .NET 8
}

// Codes of the protocol.
const (
	CodeUnknownCommand = 0x80131385
	CodeNotSupported   = 0x80131515
	CodeNotYet         = 0x8013135b
	CodeFailed         = 0x80004005
)

func (e *RuntimeError) Error() string {
	switch {
	case e.Text != "":
		lines := strings.Split(strings.TrimSpace(e.Text), "\n")
		for i, l := range lines {
			lines[i] = strings.TrimPrefix(strings.TrimSpace(l), "[createdump] ")
		}
		return "the runtime reports: " + strings.Join(lines, "; ")
	case e.Code == CodeUnknownCommand:
		return "the runtime does not know the command"
	case e.Code == CodeNotSupported:
		return "the runtime does not support the command"
	case e.Code == CodeNotYet:
		return "the runtime has not started yet"
	}
	return fmt.Sprintf("the runtime reports error %#x without a reason", e.Code)
}

// unknown reports whether the runtime does not know a command.
func unknown(err error) bool {
	var e *RuntimeError
	return errors.As(err, &e) && e.Code == CodeUnknownCommand
}

// Info returns the description of the process, in the newest form that its runtime knows.
func (c *Client) Info(ctx context.Context) (info *Info, err error) {
	for _, of := range []command{processInfo3, processInfo2, processInfo} {
		info, err = ask(ctx, c, of, nil, func(payload []byte, _ io.Reader) (*Info, error) { return parseInfo(of, payload) })
		if !unknown(err) {
			break
		}
	}
	return info, err
}

// Environment returns the environment of the process: texts such as NAME=VALUE.
func (c *Client) Environment(ctx context.Context) ([]string, error) {
	return ask(ctx, c, processEnvironment, nil, readEnvironment)
}

// Dump makes the runtime write a dump to path, which is a path in the process's own file system, and returns when the
// dump is complete. The runtime replaces an existing file. If ctx ends, the runtime continues to write.
func (c *Client) Dump(ctx context.Context, path string, kind Kind) error {
	payload := appendString(nil, path)
	payload = binary.LittleEndian.AppendUint32(payload, uint32(kind))
	payload = binary.LittleEndian.AppendUint32(payload, 0) // flags; of the first form whether to log
	var err error
	for _, of := range []command{createCoreDump3, createCoreDump2, createCoreDump} {
		_, err = ask(ctx, c, of, payload, func(payload []byte, _ io.Reader) (struct{}, error) { return struct{}{}, parseResult(payload) })
		if !unknown(err) {
			break
		}
	}
	return err
}

// ask sends a command and returns what read makes of the payload of the answer and of what follows it.
func ask[T any](ctx context.Context, c *Client, cmd command, payload []byte, read func(payload []byte, r io.Reader) (T, error)) (none T, err error) {
	message, err := appendMessage(nil, cmd, payload)
	if err != nil {
		return none, err
	}
	conn, err := c.Dial(ctx)
	if err != nil {
		return none, err
	}
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		v, err := exchange(conn, message, read)
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		_ = conn.Close() // the answer is complete
		return r.v, r.err
	case <-ctx.Done():
		_ = conn.Close() // ends the exchange; nobody waits for it
		return none, context.Cause(ctx)
	}
}

// exchange writes a message, and reads its answer.
func exchange[T any](conn io.ReadWriter, message []byte, read func([]byte, io.Reader) (T, error)) (none T, err error) {
	if _, err := conn.Write(message); err != nil {
		return none, fmt.Errorf("the diagnostics port: %w", err)
	}
	got, payload, err := readMessage(conn)
	switch {
	case err != nil:
		return none, err
	case got == answerError:
		return none, parseError(payload)
	case got != answerOK:
		return none, target.Corruptf("the answer has the command %02x%02x instead of a result", got.set, got.id)
	}
	return read(payload, conn)
}
