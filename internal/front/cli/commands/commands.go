// Package commands is the table of sosgo's commands. They are in packages by the groups that help shows: objectcmd,
// memorycmd, threadcmd, taskcmd, appcmd, querycmd, typecmd, processcmd (all in package reading), exportcmd, mcpcmd,
// webcmd, dapcmd and livecmd.
//
// A command turns its options into one call of the library and names the renderer of the answer. It computes and
// prints nothing itself. Start with All.
package commands

import (
	"context"
	"math"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/app/sensitive"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/files/symbolserver"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/commands/dapcmd"
	"github.com/sosgo/sosgo/internal/front/cli/commands/exportcmd"
	"github.com/sosgo/sosgo/internal/front/cli/commands/livecmd"
	"github.com/sosgo/sosgo/internal/front/cli/commands/mcpcmd"
	"github.com/sosgo/sosgo/internal/front/cli/commands/reading"
	"github.com/sosgo/sosgo/internal/front/cli/commands/threadcmd"
	"github.com/sosgo/sosgo/internal/front/cli/commands/webcmd"
	"github.com/sosgo/sosgo/internal/front/remote"
	"github.com/sosgo/sosgo/internal/front/sandbox"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// All returns the commands, by group.
func All() []cli.Command { return slices.Clone(all()) }

// all makes the commands once. They hold no state, so all sessions of a server share them.
var all = sync.OnceValue(func() []cli.Command {
	return ask.Explained(slices.Concat(append(reading.Groups(), exportcmd.Commands(), mcpcmd.Commands(), webcmd.Commands(), dapcmd.Commands(), livecmd.Commands())...))
})

// Open opens a dump for the command line. The session selects the runtime.
func Open(_ context.Context, path string, o cli.OpenOptions) (cli.Dump, error) {
	options := opening{Options: process.Options{Modules: o.Modules,
		Offline: o.Offline, NoMmap: o.NoMmap, GraphDir: o.GraphDir, MaxMemory: o.MaxMemory, Jobs: o.Jobs, OpenContext: o.Context}}
	for _, url := range o.SymbolServers {
		options.SymbolServers = append(options.SymbolServers, &symbolserver.Server{URL: url, Cache: o.SymbolCache, Redirects: o.Redirects, Budget: &options.downloads})
	}
	for _, l := range ceilings {
		if n, ok := o.Limits[l.Name]; ok {
			*l.of(&options) = int64(min(n, math.MaxInt64))
		}
	}
	if o.Progress != nil {
		options.Progress = func(done, total int64) { o.Progress(uint64(done), uint64(total)) }
	}
	if !o.NoCache {
		options.Cache = dump.DefaultCache()
	}
	if remote.Is(path) {
		return openRemote(path, o, &options)
	}
	if path == "-" {
		return process.OpenStream(os.Stdin, options.Options)
	}
	return process.Open(path, options.Options)
}

// A sandboxedError refuses a dump at an address.
type sandboxedError struct{}

func (sandboxedError) Error() string { return "with --sandbox nothing can be read over a network" }

func (sandboxedError) Unwrap() error { return target.ErrUnsupported }

// Advice says which dumps can be read.
func (sandboxedError) Advice() string {
	return "copy the dump to this machine, or leave out --sandbox"
}

// openRemote opens a dump at an address.
func openRemote(address string, o cli.OpenOptions, options *opening) (cli.Dump, error) {
	if o.Sandbox {
		return nil, sandboxedError{}
	}
	d, err := remote.OpenDump(address, remote.Options{Memory: options.pages, Disk: o.RemotePages, DiskSize: options.remotePages, CA: o.CA, Redirects: o.RemoteRedirects,
		Env: os.LookupEnv, Context: o.Context, Failed: o.Failed}, options.Options)
	if err != nil {
		return nil, err // and no cli.Dump, which would not be nil
	}
	return d, nil
}

// Threads returns the OS ids of a dump's threads in the order of their indices.
func Threads(d cli.Dump, runtime string) ([]uint32, error) { return reading.Threads(d, runtime) }

// Mask returns what masks the secrets of a dump.
func Mask(c *cli.Context, d cli.Dump, runtime string) (*secrets.Masker, error) {
	v, _ := d.(*process.Dump).Process(runtime) // the process keeps the error
	return sensitive.Masker(ask.Context(c), v)
}

// Sandbox opens the files that the dump may need, then gives up the right to open more.
func Sandbox(ctx context.Context, d cli.Dump) error {
	if err := d.(*process.Dump).OpenFiles(ctx); err != nil {
		return err
	}
	_, _ = time.Now().Zone() // the file of the time zone is read on first use
	return sandbox.Enter()
}

type opening struct {
	process.Options
	downloads symbolserver.Budget

	pages, remotePages int64 // for package remote
}

// ceilings are the limits on a dump that the user can change.
var ceilings = []struct {
	cli.Limit
	of func(*opening) *int64
}{
	{cli.Limit{Name: "unpacked", Summary: "bytes of a compressed dump once it is unpacked (1 TB)"}, func(o *opening) *int64 { return &o.MaxDecompressed }},
	{cli.Limit{Name: "ratio", Summary: "bytes that it unpacks to for each of its own, beyond 1 GB (1000)"}, func(o *opening) *int64 { return &o.MaxRatio }},
	{cli.Limit{Name: "ranges", Summary: "ranges of memory that the dump lists (1,000,000)"}, func(o *opening) *int64 { return &o.Limits.Ranges }},
	{cli.Limit{Name: "threads", Summary: "threads that the dump lists (100,000)"}, func(o *opening) *int64 { return &o.Limits.Threads }},
	{cli.Limit{Name: "notes", Summary: "notes of an ELF core (2,000,000)"}, func(o *opening) *int64 { return &o.Limits.Notes }},
	{cli.Limit{Name: "cache", Summary: "bytes of dumps that are kept unpacked for the next time (64 GB)"}, func(o *opening) *int64 { return &o.CacheSize }},
	{cli.Limit{Name: "pages", Summary: "bytes in memory of a dump at an address (256 MB)"}, func(o *opening) *int64 { return &o.pages }},
	{cli.Limit{Name: "remote-pages", Summary: "bytes in the folder of --remote-pages (8 GB)"}, func(o *opening) *int64 { return &o.remotePages }},
	{cli.Limit{Name: "download", Summary: "bytes of one file of a symbol server"}, func(o *opening) *int64 { return &o.downloads.File }},
	{cli.Limit{Name: "downloads", Summary: "bytes of all files of symbol servers"}, func(o *opening) *int64 { return &o.downloads.Total }},
}

// Limits returns the ceilings that --limit can change.
func Limits() []cli.Limit {
	var out []cli.Limit
	for _, l := range ceilings {
		out = append(out, l.Limit)
	}
	return out
}

// Greeting returns the prompt's first lines about a dump.
func Greeting(d cli.Dump, runtime string) []string { return threadcmd.Greeting(d, runtime) }
