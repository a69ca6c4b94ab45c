// Package remote reads what is on other machines: dumps at addresses of http, https and S3, and module files on symbol
// servers. It is the only package for importers that links network code, beside ui. Start at [Open] and
// [NewSymbolServer].
//
//	d, err := remote.Open(ctx, "s3://crashes/core.4711.zst", remote.Options{})
//
// A dump is not downloaded as a whole: reads request ranges, keep pages, and read ahead (docs/remote.md). If the file
// changes while it is open, or the server fails for good, reads fail with an error that is no target.Kind: it is an error
// of the machine.
//
// Stability: unstable.
package remote

import (
	"context"
	"os"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/files/symbolserver"
	files "github.com/sosgo/sosgo/internal/front/remote"
)

// Options configure access to a dump. The zero value is valid.
type Options struct {
	Dump sosgo.Options // how the dump is opened

	Memory   int64  // bytes of pages in memory; 0 means 256 MB
	Disk     string // a folder that keeps pages of all files between runs; empty for none
	DiskSize int64  // bytes of that folder; 0 means 8 GB

	CA        string // a PEM file with more certificate authorities
	Redirects bool   // also redirects to other servers

	// Env returns variables with credentials: SOSGO_TOKEN, a bearer token for https, and AWS's variables for S3. Nil
	// means os.LookupEnv.
	Env func(name string) (value string, ok bool)
}

// Open opens the dump at an address of http, https or s3 (s3://BUCKET/KEY). Requests end with ctx, also those of later
// reads.
func Open(ctx context.Context, address string, o Options) (*sosgo.Dump, error) {
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	d, err := files.OpenDump(address, files.Options{Memory: o.Memory, Disk: o.Disk, DiskSize: o.DiskSize, CA: o.CA, Redirects: o.Redirects, Env: o.Env,
		Context: func() context.Context { return ctx }}, o.Dump)
	if err != nil {
		return nil, err
	}
	return &sosgo.Dump{Dump: d}, nil
}

// SymbolServerOptions configure a symbol server. The zero value is valid.
type SymbolServerOptions struct {
	Cache string // the folder of downloaded files; empty means the cache of the .NET tools
	// MaxFile and MaxTotal limit the bytes of one file and of all files of this server; 0 selects the defaults.
	MaxFile, MaxTotal int64
	// Redirects are the hosts, besides its own, that the server may redirect to by https, such as "cdn.example.com", or
	// "*.example.com" for all subdomains. Microsoft's server may always redirect to its storage.
	Redirects []string
	// Progress, if not nil, receives the bytes of a file so far, and the size that the server sends, or -1.
	Progress func(name string, done, total int64)
}

// NewSymbolServer returns a server for sosgo.Options.SymbolServers, such as https://msdl.microsoft.com/download/symbols.
// It is asked for files that are missing on this machine.
func NewSymbolServer(url string, o SymbolServerOptions) sosgo.SymbolServer {
	return &symbolserver.Server{URL: url, Cache: o.Cache, Redirects: o.Redirects, Progress: o.Progress,
		Budget: &symbolserver.Budget{File: o.MaxFile, Total: o.MaxTotal}}
}
