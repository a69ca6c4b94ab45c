package cli

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/sosgo/sosgo/target"
)

// A Dump is an open dump. Commands assert it to the concrete type in one helper of theirs; this package only closes it.
type Dump interface{ Close() error }

// OpenOptions are the global options that concern opening.
type OpenOptions struct {
	Modules       []string `opt:"modules" kind:"file" value:"DIR" help:"a folder with module files (runtime, assemblies); may repeat"`
	SymbolServers []string `opt:"symbol-server" value:"URL" excludes:"offline" help:"download module files that are missing from this symbol server; may repeat"`
	Redirects     []string `opt:"symbol-redirect" value:"HOST" help:"a host that symbol servers may redirect to beside themselves (*.example.com: all below it); may repeat"`
	SymbolCache   string   `opt:"symbol-cache" kind:"file" value:"DIR" help:"where downloads are kept; default: the .NET tools' cache in the home folder"`
	Offline       bool     `opt:"offline" help:"open the dump and --modules alone: nothing that the dump names, nothing of this machine, no server"`
	Sandbox       bool     `opt:"sandbox" excludes:"graph-dir" help:"once the dump and its module files are open, give up opening files, sockets and programs (Linux)"`
	NoMmap        bool     `opt:"no-mmap" help:"read the dump instead of mapping it, for files that may shrink or network drives"`
	NoCache       bool     `opt:"no-cache" help:"unpack a compressed dump anew: else a large one is kept unpacked for a week, in the user's cache folder"`
	GraphDir      string   `opt:"graph-dir" kind:"file" value:"DIR" help:"keep the graph of the heap's objects in this folder: gcroot, retained and the like have it at once the next time"`

	RemotePages     string `opt:"remote-pages" kind:"file" value:"DIR" help:"of a dump at an address: keep what was read of it in this folder for the next time"`
	RemoteRedirects bool   `opt:"remote-redirects" help:"of a dump at an address: let the server redirect to other hosts"`
	CA              string `opt:"ca" kind:"file" value:"FILE" help:"of a dump at an address: trust the authorities of these certificates (PEM), too"`

	Limits map[string]uint64 `opt:"-"` // of the names of Env.Limits, in bytes
	Jobs   int               `opt:"-"` // worker goroutines; 0: one a processor
	// Context is that of the command that runs now: what ends it ends downloads. It may be called from several goroutines.
	Context func() context.Context `opt:"-"`
	// Progress receives the number of unpacked bytes and the total, which is 0 if unknown. Several goroutines may call it.
	Progress func(done, total uint64) `opt:"-"`
	// Failed is called when the dump is read over a network and can't be read any more. It may be called from several goroutines.
	Failed func(error) `opt:"-"`
}

// A lost source is a dump whose file can't be read any more: what is computed over it from then on may lack anything.
type lost struct{ err atomic.Pointer[error] }

func (l *lost) set(err error) { l.err.CompareAndSwap(nil, &err) }

// why returns the first failure; nil if there is none.
func (l *lost) why() error {
	if l == nil || l.err.Load() == nil {
		return nil
	}
	return *l.err.Load()
}

// IsAddress reports whether a dump's name is an address on a network, and not that of a file.
func IsAddress(path string) bool {
	scheme, _, found := strings.Cut(path, "://")
	return found && slices.Contains([]string{"http", "https", "s3"}, strings.ToLower(scheme))
}

// An Opener opens a dump.
type Opener func(ctx context.Context, path string, o OpenOptions) (Dump, error)

// recentAddresses is how many addresses a session remembers for completion.
const recentAddresses = 64

// A Session is what commands of one process share: the dump, which is opened when it is first wanted, the runtime that is looked at, the
// current thread and the last address. It is for one goroutine.
type Session struct {
	open    Opener
	choose  func() (string, error)
	sandbox func(context.Context, Dump) error
	options OpenOptions

	path   string
	others []string // dumps that commands have opened beside it
	opened bool
	dump   Dump
	err    error

	runtime string                          // that commands look at, empty for the first
	running atomic.Pointer[context.Context] // of the command that runs

	source *lost // of the dump

	changed bool // a command has changed the options: those of the command line count no more
	lent    bool // the dump is another session's, and not to be closed

	reported map[string]bool // problems with files that have been reported: each is reported once

	thread    uint32
	hasThread bool
	recent    []target.Addr // the last one is $_
	given     int           // how often SetLast was called
}

// Open returns the dump, and opens it the first time. The error is an OpenError, and stays.
func (s *Session) Open(ctx context.Context, progress func(done, total uint64)) (Dump, error) {
	if s.opened {
		return s.dump, s.err
	}
	if s.path == "" {
		path, err := s.choose()
		if err != nil {
			return nil, err
		}
		s.path = path
	}
	o := s.options
	s.source = &lost{}
	o.Progress, o.Context, o.Failed = progress, s.context, s.source.set
	d, err := s.open(ctx, s.path, o)
	if err == nil && o.Sandbox {
		if err = s.sandbox(ctx, d); err != nil {
			err = errors.Join(err, d.Close())
		}
	}
	if err != nil {
		err = openError(s.path, err)
		if ctx.Err() != nil { // stopped by the user: the next command may try again
			return nil, err
		}
		d = nil
	}
	s.opened, s.dump, s.err = true, d, err
	return s.dump, s.err
}

// OpenAnother opens another dump, in the same way and with the same options as the session's own. The caller closes it. The
// error is an OpenError.
func (s *Session) OpenAnother(ctx context.Context, path string, progress func(done, total uint64)) (Dump, error) {
	if err := s.mayOpen(path); err != nil {
		return nil, err
	}
	o := s.options
	if s.source == nil {
		s.source = &lost{}
	}
	o.Progress, o.Context, o.Failed = progress, s.context, s.source.set
	d, err := s.open(ctx, path, o)
	if err != nil {
		return nil, openError(path, err)
	}
	if !slices.Contains(s.others, path) {
		s.others = append(s.others, path)
	}
	return d, nil
}

// mayOpen returns why another dump than the session's own can't be opened.
func (s *Session) mayOpen(path string) error {
	switch {
	case s.options.Sandbox:
		return &OpenError{path, errors.New("with --sandbox no other dump can be opened")}
	case path == "-":
		return &OpenError{path, errors.New("only the dump that the session looks at can be read from standard input")}
	}
	return nil
}

// openError is about a dump that can't be opened. Errors of addresses name these, without what may be secret in them.
func openError(path string, err error) error {
	if IsAddress(path) {
		path = ""
	}
	return &OpenError{path, err}
}

// run makes ctx that of the running command.
func (s *Session) run(ctx context.Context) { s.running.Store(&ctx) }

func (s *Session) context() context.Context {
	if ctx := s.running.Load(); ctx != nil {
		return *ctx
	}
	return context.Background()
}

// Path returns the dump's file name; empty while none is chosen.
func (s *Session) Path() string { return s.path }

// Close closes the dump.
func (s *Session) Close() error {
	if s.dump == nil || s.lent {
		return nil
	}
	d := s.dump
	s.dump = nil
	return d.Close()
}

// forget closes the dump; who wants it next opens it again. In a sandbox, of
// standard input, or with another's dump, that can't be done: the dump stays.
func (s *Session) forget() {
	if s.stays() {
		return
	}
	_ = s.Close() // of a dump that is not trusted any more
	s.opened, s.err = false, nil
}

// stays reports whether the dump is open and can't be opened a second time.
func (s *Session) stays() bool {
	return (s.lent || s.options.Sandbox || s.path == "-") && s.dump != nil
}

// SetRuntime makes another runtime of the process the one that commands look
// at: its number, or the start of its version; empty is the first CLR.
func (s *Session) SetRuntime(want string) { s.runtime = want }

// Runtime returns the runtime that commands look at, as --runtime or SetRuntime named it; empty where none was chosen.
func (s *Session) Runtime() string { return s.runtime }

// SetThread makes the thread with that OS id the current one.
func (s *Session) SetThread(id uint32) { s.thread, s.hasThread = id, true }

// Thread returns the OS id of the current thread, and whether one was chosen.
func (s *Session) Thread() (id uint32, ok bool) { return s.thread, s.hasThread }

// SetLast makes a the last address, $_.
func (s *Session) SetLast(a target.Addr) {
	s.given++
	s.recent = slices.DeleteFunc(s.recent, func(b target.Addr) bool { return a == b })
	if len(s.recent) == recentAddresses {
		s.recent = slices.Delete(s.recent, 0, 1)
	}
	s.recent = append(s.recent, a)
}

// Last returns the last address that a command was given or that one set.
func (s *Session) Last() (a target.Addr, ok bool) {
	if len(s.recent) == 0 {
		return 0, false
	}
	return s.recent[len(s.recent)-1], true
}

// Recent returns the addresses used so far, the last one first.
func (s *Session) Recent() []target.Addr {
	r := slices.Clone(s.recent)
	slices.Reverse(r)
	return r
}

// variable returns the text of a variable; known reports whether there is such a variable, ok whether it has a value. Addresses come
// without zeros and prefix in front, so that they also match inside any output.
func (s *Session) variable(name string) (text string, known, ok bool) {
	switch strings.ToLower(name) {
	case "$_":
		a, ok := s.Last()
		return fmt.Sprintf("%x", uint64(a)), true, ok
	case "$thread":
		return fmt.Sprintf("%#x", s.thread), true, s.hasThread
	}
	return "", false, false
}

// CA returns the file of the authorities that are trusted beside the system's; "" if there is none.
func (s *Session) CA() string { return s.options.CA }

// RemoteRedirects reports whether servers of dumps may redirect to other hosts.
func (s *Session) RemoteRedirects() bool { return s.options.RemoteRedirects }

// OpenArguments returns the options of opening as a command line has them, for another process that opens a dump in the same way.
func (c *Context) OpenArguments() []string {
	var out []string
	v := reflect.ValueOf(c.Session.options)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("opt"), ",")
		if name == "" || name == "-" {
			continue
		}
		switch x := v.Field(i).Interface().(type) {
		case bool:
			if x {
				out = append(out, "--"+name)
			}
		case string:
			if x != "" {
				out = append(out, "--"+name, x)
			}
		case []string:
			for _, s := range x {
				out = append(out, "--"+name, s)
			}
		}
	}
	for name, n := range c.Session.options.Limits {
		out = append(out, "--limit", fmt.Sprintf("%s=%d", name, n))
	}
	return out
}
