// Package reading holds the commands that only read the dump: they write no file, contact no server and do not
// listen. Programs without a file system and a network link these commands and no others. Start with Commands.
package reading

import (
	"math"
	"slices"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/appcmd"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/commands/memorycmd"
	"github.com/sosgo/sosgo/internal/front/cli/commands/objectcmd"
	"github.com/sosgo/sosgo/internal/front/cli/commands/processcmd"
	"github.com/sosgo/sosgo/internal/front/cli/commands/querycmd"
	"github.com/sosgo/sosgo/internal/front/cli/commands/taskcmd"
	"github.com/sosgo/sosgo/internal/front/cli/commands/threadcmd"
	"github.com/sosgo/sosgo/internal/front/cli/commands/typecmd"
	"github.com/sosgo/sosgo/process"
)

// Commands returns the commands, by group.
func Commands() []cli.Command { return ask.Explained(slices.Concat(Groups()...)) }

// Groups returns the commands of each group, before ask.Explained extends them.
func Groups() [][]cli.Command {
	return [][]cli.Command{
		objectcmd.Commands(),
		memorycmd.Commands(),
		threadcmd.Commands(),
		taskcmd.Commands(),
		appcmd.Commands(),
		querycmd.Commands(),
		typecmd.Commands(),
		processcmd.Commands(),
	}
}

// Open opens a dump file with the module files in a folder; modules may be empty. It searches nowhere else, and
// unpacks at most unpacked bytes. progress receives the progress of unpacking, in bytes of the file.
func Open(path, modules string, unpacked int64, progress func(done, total int64)) (cli.Dump, error) {
	o := process.Options{Offline: true, MaxDecompressed: unpacked, MaxRatio: math.MaxInt64, Progress: progress}
	if modules != "" {
		o.Modules = []string{modules}
	}
	d, err := process.Open(path, o)
	if err != nil {
		return nil, &cli.OpenError{Path: path, Err: err}
	}
	return d, nil
}

// Threads returns the OS ids of a dump's threads in the order of their indices.
func Threads(d cli.Dump, runtime string) ([]uint32, error) {
	v, _ := d.(*process.Dump).Process(runtime) // the process keeps the error
	list, err := v.Threads()
	var ids []uint32
	for i := range list {
		if t := &list[i]; t.OS != nil && t.Index == len(ids) {
			ids = append(ids, t.ID())
		}
	}
	if len(ids) > 0 {
		err = nil // the commands warn of missing threads
	}
	return ids, err
}
