package remote

import (
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// A graphError refuses to keep the graph of a dump at an address.
type graphError struct{}

func (graphError) Error() string {
	return "of a dump at an address no graph can be kept (GraphDir, --graph-dir): that needs a file"
}

func (graphError) Unwrap() error { return target.ErrUnsupported }

// Advice says what keeps the graph.
func (graphError) Advice() string { return "copy the dump to this machine, or leave out --graph-dir" }

// OpenDump opens the dump at an address; see Open.
func OpenDump(address string, o Options, dump process.Options) (*process.Dump, error) {
	if dump.GraphDir != "" {
		return nil, graphError{}
	}
	f, err := Open(address, o)
	if err != nil {
		return nil, err
	}
	if !f.keepsAll() {
		dump.Cache = "" // its keys are sums of whole files: a compressed one would be downloaded once more to be unpacked
	}
	d, err := process.OpenReaderAt(f, f.Size(), dump)
	if err != nil {
		return nil, &Error{Name: Name(address), Err: err}
	}
	d.File().Path = Name(address)
	return d, nil
}

// keepsAll reports whether what was read is not requested again.
func (f *File) keepsAll() bool { return f.disk != nil || int64(f.most)*pageSize >= f.size }
