// Command session answers command lines of sosgo that internal/test/tools/session/ask passes on, and keeps the dumps open
// that they name: for who asks much of few dumps, as sosdiff does, whose questions cost a tenth so.
//
//	session SOCKET &
//	ask SOCKET -d DUMP -c COMMAND...
//
// Each command line has a session of its own. A panic is the error of its command, as in sosgo.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: session SOCKET")
		os.Exit(2)
	}
	l, err := net.Listen("unix", os.Args[1])
	if err == nil {
		err = (&server{}).serve(l)
	}
	fmt.Fprintln(os.Stderr, "session:", err)
	os.Exit(1)
}

// An answer is what a command line led to.
type answer struct {
	Stdout, Stderr []byte
	Code           int
}

// mostOpen is how many dumps are kept. Those that ask take them one after the other, several at a time.
const mostOpen = 4

// A server keeps dumps open.
type server struct {
	mu   sync.Mutex
	open []*opened // the last one was opened last
}

// An opened dump is one that the same options opened.
type opened struct {
	key  string
	once sync.Once
	dump cli.Dump
	err  error
}

func (s *server) serve(l net.Listener) error {
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go s.talk(conn)
	}
}

func (s *server) talk(conn net.Conn) {
	defer conn.Close()
	var args []string
	if json.NewDecoder(conn).Decode(&args) == nil {
		_ = json.NewEncoder(conn).Encode(s.answer(args)) // who is gone needs none
	}
}

func (s *server) answer(args []string) answer {
	var stdout, stderr bytes.Buffer
	code := cli.Main(context.Background(), args, strings.NewReader(""), &stdout, &stderr, cli.Env{
		Commands: commands.All(), Open: s.opener, Threads: commands.Threads, Limits: commands.Limits(),
		Getenv: os.Getenv, Recover: true, KeepOpen: true,
	})
	return answer{stdout.Bytes(), stderr.Bytes(), code}
}

// opener opens a dump, or gives the one that is open.
func (s *server) opener(ctx context.Context, path string, o cli.OpenOptions) (cli.Dump, error) {
	o.Context, o.Progress = nil, nil // they are the session's; the dump outlives it
	d := s.find(fmt.Sprintf("%s %+v", path, o))
	d.once.Do(func() { d.dump, d.err = commands.Open(ctx, path, o) })
	return d.dump, d.err
}

// find returns the dump of that key. One that it drops is not closed: it may be in use.
func (s *server) find(key string) *opened {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.open, func(d *opened) bool { return d.key == key }); i >= 0 {
		return s.open[i]
	}
	d := &opened{key: key}
	s.open = append(s.open[max(0, len(s.open)+1-mostOpen):], d)
	return d
}
