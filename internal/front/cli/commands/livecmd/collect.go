package livecmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/triage"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/commands/processcmd"
	"github.com/sosgo/sosgo/internal/front/cli/text/livetext"
	"github.com/sosgo/sosgo/internal/live/collect"
	"github.com/sosgo/sosgo/internal/live/processes"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

type collectOptions struct {
	PID     *int          `opt:"p,pid,process-id" range:"1:" excludes:"name" help:"the process, by its id here"`
	Name    string        `opt:"name,n" help:"the process, by the name that ps shows, if it is the only one"`
	Type    string        `opt:"type" choices:"heap|full|mini|triage" default:"heap" help:"the kind of dump: with all objects, with all memory, or stacks alone (triage: without arguments of the command line)"`
	Out     string        `opt:"o,out,output" kind:"file" value:"FILE" help:"the dump to write, which must not exist; default: a name in the current folder"`
	In      string        `opt:"in" value:"DIR" help:"the folder in which the runtime writes, as a path of the process; default: that of the dump, or its folder for temporary files"`
	Leave   bool          `opt:"leave" excludes:"pack" help:"leave the dump in that folder instead of moving it"`
	Then    string        `opt:"then" choices:"triage" help:"list what is wrong with the process, too"`
	Delete  bool          `opt:"delete" requires:"then" excludes:"pack,leave" help:"delete the dump in the end"`
	Pack    bool          `opt:"pack" help:"pack the dump and its module files into one archive (.tar.zst) in its place"`
	Force   bool          `opt:"force" help:"try it even if the dump may not fit"`
	Timeout time.Duration `opt:"timeout" default:"30m" help:"the longest time until the dump is complete"`
}

func collectCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name:    "collect",
		Summary: "take a dump of a running .NET process: its runtime writes it",
		Help: "The runtime of the process starts its own createdump, as at a crash, so sosgo needs no right to trace it: the same user, or root, is enough. " +
			"The process stands still meanwhile. Processes in containers are reached from the machine, or from a container with the same process ids " +
			"(docs/taking-dumps.md). The dump is readable for its owner alone, appears only when it is complete, and was opened once. " +
			"\"triage -p PID\" is \"collect -then triage -p PID\".",
		Examples: []cli.Example{
			{Line: "sosgo collect -p 4711", Text: "a dump with all objects, in the current folder"},
			{Line: "sosgo collect -name MyService -then triage -delete", Text: "what is wrong with it, without a file that stays"},
			{Line: "sosgo collect -p 4711 -pack -o incident.tar.zst", Text: "a dump that is complete on every machine"},
		},
	}, askCollect, livetext.Collected)
}

// processOf returns the process that the options name.
func processOf(c *cli.Context, o *collectOptions) (*processes.Process, error) {
	if o.PID == nil && o.Name == "" {
		return nil, c.Usagef("name the process: -p PID or -name NAME; sosgo ps lists them")
	}
	list, err := processes.List()
	if err != nil {
		return nil, err
	}
	var found []*processes.Process
	for i := range list.Processes {
		p := &list.Processes[i]
		if o.PID != nil && p.PID == *o.PID || o.PID == nil && p.Called(c.Context(), o.Name) {
			found = append(found, p)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		var ids []string
		for _, p := range found {
			ids = append(ids, fmt.Sprint(p.PID))
		}
		return nil, c.Usagef("%d processes are called %s (%s): name one by -p", len(found), o.Name, strings.Join(ids, ", "))
	case o.PID != nil:
		return nil, processes.Absent(*o.PID)
	}
	return nil, &processes.Refusal{Text: fmt.Sprintf("no .NET process is called %s", o.Name), Next: "sosgo ps lists them; processes of other users are visible to root alone"}
}

func askCollect(c *cli.Context, o *collectOptions) (*answer.Collected, error) {
	p, err := processOf(c, o)
	if err != nil {
		return nil, err
	}
	ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGTERM, syscall.SIGHUP) // they leave nothing behind, either
	defer stop()
	out := o.Out
	if o.Pack {
		if out, err = unpacked(o.Out); err != nil {
			return nil, err
		}
	}
	folders, forked := p.Folders(), p.Forked() // while it runs
	show := c.Progress("writing the dump")
	a, err := collect.Dump(ctx, p, collect.Options{Kind: answer.DumpKind(o.Type), Out: out, Brief: o.Delete, In: o.In, Leave: o.Leave, Force: o.Force, Timeout: o.Timeout, Progress: show.Set,
		Verify: func(_ context.Context, f *os.File) (answer.CollectedCheck, error) { return check(f, p.PID, p.Inner) }})
	show.Done()
	stop()
	if err != nil {
		return nil, failure(c, p, err)
	}
	for _, pid := range p.Forked() {
		if !slices.Contains(forked, pid) {
			c.Note(fmt.Sprintf("the runtime wrote the dump in a child, process %d, which is still there; `kill -9 %d` ends it", pid, pid))
		}
	}
	if !o.Pack && o.Then == "" {
		return a, nil
	}
	return a, further(c, o, a, folders)
}

// failure returns the error of a dump. What an interrupted command leaves behind is printed at once, since its error
// only says that it was stopped.
func failure(c *cli.Context, p *processes.Process, err error) error {
	if c.Context().Err() != nil {
		var left *collect.LeftBehind
		if errors.As(err, &left) {
			c.Note(left.Error() + ": " + left.Advice())
		} else if pid := p.Dumper(); pid != 0 {
			c.Note(fmt.Sprintf("process %d stands still until its createdump (process %d) has ended; the file is removed already", p.PID, pid))
		}
	}
	return err
}

// unpacked returns the name of the dump from which an archive is made. The archive must not exist.
func unpacked(archive string) (string, error) {
	if archive == "" {
		return "", nil
	}
	if _, err := os.Lstat(archive); err == nil {
		return "", cli.Usagef("%s already exists", archive)
	}
	return strings.TrimSuffix(strings.TrimSuffix(archive, ".zst"), ".tar") + ".dmp", nil
}

// check reads a new dump of the process with one of the ids, and describes it. A dump that cannot be opened, is cut off, has no threads or is of another
// process is not whole. A dump in which no runtime is recognized is kept: target.ErrUnsupported says so.
func check(f *os.File, ids ...int) (out answer.CollectedCheck, err error) {
	st, err := f.Stat()
	if err != nil {
		return out, err
	}
	opened, err := process.OpenReaderAt(f, st.Size(), process.Options{})
	if err != nil {
		return out, target.Corruptf("%v", err)
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	if err := opened.Truncated(); err != nil {
		return out, err
	}
	if id := opened.Target().Process().ID; id != 0 && !slices.Contains(ids, int(id)) {
		return out, target.Corruptf("it is of process %d", id)
	}
	if out.Threads = len(opened.Target().Threads()); out.Threads == 0 {
		return out, target.Corruptf("it has no threads")
	}
	if runtimes := opened.Runtimes(); len(runtimes) > 0 {
		out.Runtime = runtimes[0].Release()
		return out, nil
	}
	return out, target.Unsupportedf("no .NET runtime is recognized in it")
}

// further does what was asked for after the dump.
func further(c *cli.Context, o *collectOptions, a *answer.Collected, folders []string) error {
	d, err := c.OpenAnother(a.File, folders...)
	if o.Delete {
		remove(c, a.File)
		a.Deleted = true
	}
	if err != nil {
		return cli.WithAnswer(err)
	}
	opened := d.(*process.Dump)
	if o.Pack {
		if err := pack(c, o, a, opened); err != nil {
			return cli.WithAnswer(err)
		}
	}
	if o.Then == "" {
		return nil
	}
	view, _ := opened.Process(c.Session.Runtime()) // the process keeps the error
	var missing error
	a.Triage, missing = triage.Triage(ask.Context(c), view, triage.Options{})
	return processcmd.TriageEnd(c, a.Triage, missing)
}

// remove removes a dump that is open: at once, so that it stays in no case, or if the system does not allow that, in the
// end.
func remove(c *cli.Context, file string) {
	if os.Remove(file) == nil {
		return
	}
	c.AtEnd(func() {
		if err := os.Remove(file); err != nil {
			c.Warn(err)
		}
	})
}

// pack puts an archive of the dump and its module files in the place of the dump.
func pack(c *cli.Context, o *collectOptions, a *answer.Collected, d *process.Dump) (err error) {
	archive := o.Out
	if archive == "" {
		archive = strings.TrimSuffix(a.File, ".dmp") + ".tar.zst"
	}
	show := c.Progress("packing")
	defer show.Done()
	if a.Pack, err = d.PackFile(c.Context(), archive, func(done, total int64) { show.Set(uint64(done), uint64(total)) }); err != nil {
		return fmt.Errorf("%s is complete, but it can't be packed: %w", a.File, err)
	}
	if err := os.Chmod(archive, 0o600); err != nil {
		a.Note(err)
	}
	return os.Remove(a.File)
}
