package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/sosgo/sosgo/internal/base/machine"
	"github.com/sosgo/sosgo/target"
)

// A Dump is an open dump. Commands assert the concrete type in one helper; this package only closes it.
type Dump interface{ Close() error }

// OpenOptions are the global options for opening a dump.
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
	MaxMemory     int64    `opt:"max-memory" kind:"size" value:"SIZE" help:"most memory for graphs and large tables, beside the dump's file: a command that needs more fails"`

	RemotePages     string `opt:"remote-pages" kind:"file" value:"DIR" help:"of a dump at an address: keep what was read of it in this folder for the next time"`
	RemoteRedirects bool   `opt:"remote-redirects" help:"of a dump at an address: let the server redirect to other hosts"`
	CA              string `opt:"ca" kind:"file" value:"FILE" help:"of a dump at an address: trust the authorities of these certificates (PEM), too"`

	Limits map[string]uint64 // in bytes, by the names in Env.Limits
	Jobs   int               // worker goroutines; 0 means one per processor
	// Context returns the running command's context. Canceling it stops downloads. It is safe for concurrent use.
	Context func() context.Context
	// Progress receives the unpacked bytes and their total, or 0 if that is unknown. It must be safe for concurrent
	// use.
	Progress func(done, total uint64)
	// Failed is called when a dump read over a network can no longer be read. It must be safe for concurrent use.
	Failed func(error)
}

// A lost records that the dump's file can no longer be read. Results computed after that may be incomplete.
type lost struct{ err atomic.Pointer[error] }

// set records an error, unless it is of a read that was canceled: the next one may succeed.
func (l *lost) set(err error) {
	if !errors.Is(err, context.Canceled) {
		l.err.CompareAndSwap(nil, &err)
	}
}

// why returns the first failure, or nil.
func (l *lost) why() error {
	if l == nil || l.err.Load() == nil {
		return nil
	}
	return *l.err.Load()
}

// IsAddress reports whether a dump's name is a network address instead of a file.
func IsAddress(path string) bool {
	scheme, _, found := strings.Cut(path, "://")
	return found && slices.Contains([]string{"http", "https", "s3"}, strings.ToLower(scheme))
}

// An Opener opens a dump.
type Opener func(ctx context.Context, path string, o OpenOptions) (Dump, error)

// recentAddresses is the number of addresses that a session remembers for completion.
const recentAddresses = 64

// A Session is the state that the commands of a process share: the dump, opened on first use, the selected runtime,
// the current thread and the last address. It must be used by one goroutine.
type Session struct {
	open    Opener
	choose  func() (string, error)
	sandbox func(context.Context, Dump) error
	options OpenOptions

	path   string
	others []string // other dumps opened by commands
	also   []Dump   // other dumps opened by the running command; it may have closed them
	opened bool
	dump   Dump
	err    error

	runtime string                          // the selected runtime; empty for the first
	running atomic.Pointer[context.Context] // of the running command

	source *lost // of the dump

	changed bool // a command has changed the options, so the options of the command line are ignored
	lent    bool // the dump belongs to another session and must not be closed

	reported map[string]bool // problems with files that have been reported

	thread    uint32
	hasThread bool
	recent    []target.Addr // the last one is $_
	given     int           // number of calls of SetLast
}

// Open returns the dump. The first call opens it, and its result is kept. The error is an OpenError.
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
		if ctx.Err() != nil { // interrupted by the user: the next command may try again
			return nil, err
		}
		d = nil
	}
	s.opened, s.dump, s.err = true, d, err
	return s.dump, s.err
}

// OpenAnother opens another dump with the session's options, and with folders for module files besides theirs. The
// caller closes it. The error is an OpenError.
func (s *Session) OpenAnother(ctx context.Context, path string, progress func(done, total uint64), folders ...string) (Dump, error) {
	if err := s.mayOpen(path); err != nil {
		return nil, err
	}
	o := s.options
	if s.source == nil {
		s.source = &lost{}
	}
	o.Progress, o.Context, o.Failed = progress, s.context, s.source.set
	o.Modules = slices.Concat(o.Modules, folders)
	d, err := s.open(ctx, path, o)
	if err != nil {
		return nil, openError(path, err)
	}
	s.also = append(s.also, d)
	if !slices.Contains(s.others, path) {
		s.others = append(s.others, path)
	}
	return d, nil
}

// mayOpen returns an error if the session may not open another dump.
func (s *Session) mayOpen(path string) error {
	switch {
	case s.options.Sandbox:
		return &OpenError{path, errors.New("with --sandbox no other dump can be opened")}
	case path == "-":
		return &OpenError{path, errors.New("only the dump that the session looks at can be read from standard input")}
	}
	return nil
}

// openError returns the error for a dump that cannot be opened. Errors of network addresses name the address without
// secrets.
func openError(path string, err error) error {
	if IsAddress(path) {
		path = ""
	}
	return &OpenError{path, err}
}

// run sets the context of the running command.
func (s *Session) run(ctx context.Context) { s.running.Store(&ctx) }

func (s *Session) context() context.Context {
	if ctx := s.running.Load(); ctx != nil {
		return *ctx
	}
	return context.Background()
}

// Path returns the dump's file name, or "" if none is chosen yet.
func (s *Session) Path() string { return s.path }

// Close closes the dump, unless another session owns it.
func (s *Session) Close() error {
	if s.dump == nil || s.lent {
		return nil
	}
	d := s.dump
	s.dump = nil
	return d.Close()
}

// forget closes the dump, so that the next command reopens it. It keeps a dump that cannot be reopened.
func (s *Session) forget() {
	if s.stays() {
		return
	}
	_ = s.Close() // the dump is no longer trusted
	s.opened, s.err = false, nil
}

// lost returns an error if the dump, or another one of the running command, could no longer be read as it was when it
// was opened. What was computed since then must not be shown or kept. Otherwise it returns nil.
func (s *Session) lost() error {
	err := cmp.Or(s.source.why(), machine.Lost(s.dump))
	for _, d := range s.also {
		err = cmp.Or(err, machine.Lost(d))
	}
	return err
}

// stays reports whether the dump is open and cannot be reopened.
func (s *Session) stays() bool {
	return (s.lent || s.options.Sandbox || s.path == "-") && s.dump != nil
}

// SetRuntime selects the runtime for later commands, by its number or the start of its version. An empty name selects
// the first CLR.
func (s *Session) SetRuntime(want string) { s.runtime = want }

// Runtime returns the runtime selected by --runtime or SetRuntime, or "".
func (s *Session) Runtime() string { return s.runtime }

// SetThread sets the current thread to the one with that OS id.
func (s *Session) SetThread(id uint32) { s.thread, s.hasThread = id, true }

// Thread returns the OS id of the current thread. ok is false if none was chosen.
func (s *Session) Thread() (id uint32, ok bool) { return s.thread, s.hasThread }

// SetLast sets the last address, $_.
func (s *Session) SetLast(a target.Addr) {
	s.given++
	s.recent = slices.DeleteFunc(s.recent, func(b target.Addr) bool { return a == b })
	if len(s.recent) == recentAddresses {
		s.recent = slices.Delete(s.recent, 0, 1)
	}
	s.recent = append(s.recent, a)
}

// Last returns the last address given to or set by a command.
func (s *Session) Last() (a target.Addr, ok bool) {
	if len(s.recent) == 0 {
		return 0, false
	}
	return s.recent[len(s.recent)-1], true
}

// Recent returns the remembered addresses, newest first.
func (s *Session) Recent() []target.Addr {
	r := slices.Clone(s.recent)
	slices.Reverse(r)
	return r
}

// variable returns the text of a variable. known reports whether the variable exists, ok whether it is set. Addresses
// have no leading zeros and no prefix, so that they match inside any output.
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

// CA returns the file with additional certificate authorities, or "".
func (s *Session) CA() string { return s.options.CA }

// RemoteRedirects reports whether servers of dumps may redirect to other hosts.
func (s *Session) RemoteRedirects() bool { return s.options.RemoteRedirects }

// Bounded reports whether the user gave a limit, by --limit or --max-memory. What is incomplete because of one is not the dump's fault.
func (c *Context) Bounded() bool {
	return c.Session.options.MaxMemory != 0 || len(c.Session.options.Limits) > 0
}

// OpenArguments returns the options for opening as command-line arguments, for another process that opens a dump in
// the same way.
func (c *Context) OpenArguments() []string {
	var out []string
	v := reflect.ValueOf(c.Session.options)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("opt"), ",")
		if name == "" || name == "-" {
			continue
		}
		switch f := v.Field(i); f.Kind() {
		case reflect.Bool:
			if f.Bool() {
				out = append(out, "--"+name)
			}
		case reflect.Slice:
			for k := range f.Len() {
				out = append(out, "--"+name, f.Index(k).String())
			}
		default:
			if !f.IsZero() {
				out = append(out, "--"+name, fmt.Sprint(f.Interface()))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Session.options.Limits)) {
		out = append(out, "--limit", fmt.Sprintf("%s=%d", name, c.Session.options.Limits[name]))
	}
	return out
}
