package exportcmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/mmapfile"
	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/internal/export/fleet"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/exporttext"
	"github.com/sosgo/sosgo/internal/front/remote"
)

type fleetAction string

// Choices lists the actions.
func (fleetAction) Choices() []string { return []string{"add", "compact"} }

type fleetOptions struct {
	Label     []string      `opt:"label" value:"NAME=VALUE" help:"add: a label of the dumps, such as service=shop; may be repeated"`
	Rules     ask.RulesFile `opt:"rules" kind:"file" value:"FILE" help:"add: sign crashes by these rules"`
	Again     bool          `opt:"again" help:"add: try dumps again that failed before and have not changed"`
	Tries     int           `opt:"tries" range:"1:10" default:"2" help:"add: attempts for a dump whose server does not answer or whose process was killed"`
	Timeout   time.Duration `opt:"timeout" help:"add: how long a dump may take (1h)"`
	Processes int           `opt:"processes" range:"1:64" default:"1" help:"add: dumps that are read at a time"`
	cli.Sent
	Action  fleetAction `arg:"action" help:"what to do"`
	Fleet   string      `arg:"fleet" kind:"file" help:"the folder of the fleet"`
	Sources []string    `arg:"source,optional" kind:"file" help:"add: dumps, folders with dumps, addresses, and s3://BUCKET/PREFIX/"`
}

func fleetCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "fleet", NoDump: true, Sends: true,
		Summary: "add dumps to a folder of tables for databases, or put its files together",
		Help: "\"fleet add FLEET SOURCE...\" writes small Parquet tables of each dump, as \"export parquet --summary\" does, each in a process of its " +
			"own. Folders are searched for dumps, and an address s3://BUCKET/PREFIX/ is listed. Dumps that the fleet has are skipped, by their content; " +
			"one that fails is noted with the reason, and the others go on. A run that was stopped, or killed, is repeated: nothing is lost or doubled. " +
			"\"fleet compact FLEET\" makes one file of each table and day (docs/fleet.md).",
		Examples: []cli.Example{
			{Line: "fleet add fleet dumps", Text: "the dumps of a folder"},
			{Line: "fleet add fleet s3://crashes/shop/ --label service=shop", Text: "those of a bucket"},
			{Line: "fleet compact fleet", Text: "once a day"},
		},
	}, askFleet, exporttext.Fleet)
}

func askFleet(c *cli.Context, o *fleetOptions) (*answer.FleetDone, error) {
	if err := c.MayWrite(); err != nil {
		return nil, err
	}
	f, err := fleet.Open(o.Fleet)
	if err != nil {
		return nil, err
	}
	if o.Action == "compact" {
		if len(o.Sources) > 0 {
			return nil, c.Usagef("fleet compact FLEET")
		}
		done, err := f.Compact(c.Context())
		return &answer.FleetDone{Fleet: o.Fleet, Compacted: done}, err
	}
	if len(o.Sources) == 0 {
		return nil, c.Usagef("fleet add FLEET SOURCE...")
	}
	added, err := addAll(c, f, o)
	if err == nil && added.Retry > 0 {
		err = fmt.Errorf(
			"%s could not be added because of this machine, a server or a limit of the command: repeat it, with room or a higher limit",
			answer.Count(added.Retry, "dump", "dumps"))
		if slices.ContainsFunc(added.Failures, func(x answer.FleetFailure) bool { return x.Retry && x.Exit == cli.ExitWrite }) {
			err = &cli.WriteError{Err: err}
		}
		err = cli.WithAnswer(err)
	}
	return &answer.FleetDone{Fleet: o.Fleet, Added: added}, err
}

// An adder adds dumps to a fleet.
type adder struct {
	c       *cli.Context
	o       *fleetOptions
	f       *fleet.Fleet
	program string
	args    []string // for each process
	before  map[string]fleet.Entry

	servers fleet.Servers
	looks   fleet.Looks

	mu  sync.Mutex
	out *answer.FleetAdded
}

// childVariable marks the processes that add a dump. They must not start others.
const childVariable = "SOSGO_FLEET_CHILD"

func addAll(c *cli.Context, f *fleet.Fleet, o *fleetOptions) (*answer.FleetAdded, error) {
	start := time.Now()
	a := &adder{c: c, o: o, f: f, before: map[string]fleet.Entry{}, out: &answer.FleetAdded{Failures: []answer.FleetFailure{}}}
	var err error
	if a.program, err = os.Executable(); err != nil || os.Getenv(childVariable) != "" {
		return nil, cmp.Or(err, errors.New("a process that adds a dump to a fleet adds no others"))
	}
	if _, err := labelled(c, o.Label); err != nil {
		return nil, err
	}
	if _, err := o.Rules.Read(); err != nil {
		return nil, err
	}
	a.args = append(c.OpenArguments(), "export", "parquet", "--summary", "--json")
	for _, l := range o.Label {
		a.args = append(a.args, "--label", l)
	}
	if o.Rules != "" {
		a.args = append(a.args, "--rules", string(o.Rules))
	}
	if o.Full {
		a.args = append(a.args, "--full")
	}
	entries, err := f.Entries()
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		a.before[e.File] = e
	}
	list, err := a.sources()
	if err != nil {
		return nil, err
	}
	p := c.Progress("adding dumps")
	defer p.Done()
	done := uint64(0)
	err = workers.Each(c.Context(), o.Processes, len(list), func(i int) {
		a.add(&list[i])
		a.mu.Lock()
		done++
		p.Set(done, uint64(len(list)))
		a.mu.Unlock()
	})
	slices.SortStableFunc(a.out.Failures, func(x, y answer.FleetFailure) int { return cmp.Compare(x.File, y.File) })
	for _, x := range a.out.Failures {
		c.Warn(fmt.Errorf("%s: %s", x.File, x.Reason))
	}
	a.out.Seconds = time.Since(start).Seconds()
	return a.out, err
}

// sources lists the files to try as dumps.
func (a *adder) sources() ([]fleet.Entry, error) {
	var out []fleet.Entry
	for _, s := range a.o.Sources {
		switch {
		case strings.HasPrefix(strings.ToLower(s), "s3://") && (strings.HasSuffix(s, "/") || strings.Count(s, "/") < 3):
			o := remote.Options{CA: a.c.Session.CA(), Redirects: a.c.Session.RemoteRedirects(), Env: os.LookupEnv, Context: a.c.Context}
			list, err := remote.List(s, o)
			if err != nil {
				return nil, &cli.OpenError{Path: s, Err: err}
			}
			left := 0
			if list.Odd > 0 {
				a.fail(&fleet.Entry{File: s, Exit: cli.ExitOpen, Reason: fmt.Sprintf("%s left out: %v", answer.Count(list.Odd, "object of the listing is", "objects of the listing are"), list.Why)})
			}
			for _, object := range list.Objects {
				e := fleet.Entry{File: object.Address, Size: object.Size, Modified: object.Modified, ETag: object.ETag}
				_, is := a.before[e.File]
				if is = is || namedAsDump(path.Base(e.File)); !is {
					asked := a.c.Context().Err() == nil && a.looks.Look(func() { is = a.looksLikeObject(e.File, o) })
					if !asked {
						left++
						continue
					}
				}
				if is {
					out = append(out, e)
				} else {
					a.out.Others++
				}
			}
			if left > 0 {
				a.fail(&fleet.Entry{File: s, Retry: true, Reason: fmt.Sprintf("%s of the listing without the name of a dump were not looked at: the limit is %v for all of a command; "+
					"name a longer prefix", answer.Count(left, "object", "objects"), fleet.MostLooks)})
			}
		case remote.Is(s):
			out = append(out, fleet.Entry{File: s})
		default:
			list, err := a.walk(s)
			if err != nil {
				return nil, &cli.OpenError{Path: s, Err: err}
			}
			out = append(out, list...)
		}
	}
	return out, nil
}

// walk lists the files of a folder that look like dumps, or the file itself. It reports unreadable files and folders
// as failures.
func (a *adder) walk(root string) (out []fleet.Entry, err error) {
	if root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	if info, err := os.Stat(root); err == nil && info.IsDir() { // a link is followed where it is named
		if root, err = filepath.EvalSymlinks(root); err != nil {
			return nil, err
		}
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil && path == root {
			return err
		}
		if err == nil && !d.Type().IsRegular() && path != root {
			return a.c.Context().Err()
		}
		var info fs.FileInfo
		looks := path == root // an explicitly named file is always tried
		if err == nil {
			info, err = os.Stat(path)
		}
		if err == nil && info.IsDir() {
			return nil
		}
		if err == nil && !looks {
			looks, err = looksLikeDump(path)
		}
		switch {
		case err != nil:
			a.fail(&fleet.Entry{File: path, Exit: cli.ExitOpen, Reason: err.Error(), Retry: true})
		case looks:
			out = append(out, fleet.Entry{File: path, Size: info.Size(), Modified: info.ModTime().UTC()})
		default:
			a.out.Others++
		}
		return a.c.Context().Err()
	})
	return out, err
}

func looksLikeDump(path string) (bool, error) {
	f, err := mmapfile.OpenRegular(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	return cli.LooksLikeDump(f) || namedAsDump(filepath.Base(path)), nil
}

// looksLikeObject reports whether a stored object looks like a dump. It returns true for an unreadable object, so
// that adding it reports the reason.
func (a *adder) looksLikeObject(address string, o remote.Options) bool {
	if a.servers.Lost(address) {
		return true
	}
	start := time.Now()
	f, err := remote.Open(address, o)
	a.servers.Asked(address, time.Since(start), err != nil)
	if err != nil {
		return true
	}
	return cli.LooksLikeDump(io.NewSectionReader(f, 0, f.Size()))
}

// namedAsDump reports whether a file has the name of a dump. A truncated dump may be unrecognizable, and must fail
// with a reason.
func namedAsDump(name string) bool {
	for _, packed := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packed)
	}
	return slices.Contains([]string{".dmp", ".mdmp", ".core"}, strings.ToLower(filepath.Ext(name)))
}

// add adds a dump, unless an earlier result still applies.
func (a *adder) add(e *fleet.Entry) {
	last, known := a.before[e.File]
	if known = known && last.Same(e) && !e.Modified.IsZero(); known {
		_, has := a.f.Has(last.ID)
		switch {
		case last.Result != fleet.Failed && has:
			a.count(func() { a.out.Present++ })
			return
		case last.Result == fleet.Failed && last.Tool == a.c.Version() && !a.o.Again && !last.Retry:
			a.count(func() { a.out.Before++ })
			return
		}
	}
	start := time.Now()
	for e.Tries = 1; ; e.Tries++ {
		if a.servers.Lost(e.File) {
			e.Result, e.Exit, e.Retry, e.Reason = fleet.Failed, cli.ExitOpen, true, fmt.Sprintf("not tried: its server has failed for %v", fleet.MostLost)
			break
		}
		began := time.Now()
		a.run(e)
		a.servers.Asked(e.File, time.Since(began), mayPass(e) && e.Exit == cli.ExitOpen)
		if e.Result != fleet.Failed || a.c.Context().Err() != nil || e.Tries >= a.o.Tries || !mayPass(e) {
			break
		}
		select {
		case <-a.c.Context().Done():
		case <-time.After(time.Second):
		}
	}
	if a.c.Context().Err() != nil && e.Result == fleet.Failed {
		return // canceled
	}
	e.Seconds = time.Since(start).Seconds()
	switch e.Result {
	case fleet.Failed:
		a.fail(e)
		return
	case fleet.Added:
		a.count(func() { a.out.Added++ })
	default:
		a.count(func() { a.out.Present++ })
	}
	a.log(e)
}

// mayPass reports whether a failure may be over in a second: the server did not answer, or the process was killed.
func mayPass(e *fleet.Entry) bool {
	return e.Retry && (e.Exit < 0 || e.Exit == cli.ExitOpen && remote.Is(e.File))
}

func (a *adder) count(do func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	do()
}

func (a *adder) log(e *fleet.Entry) {
	e.At, e.Tool = time.Now().UTC(), a.c.Version()
	e.File = remote.Shown(e.File)
	if err := a.f.Log(*e); err != nil {
		a.count(func() { a.c.Warn(err) })
	}
}

func (a *adder) fail(e *fleet.Entry) {
	e.Result = fleet.Failed
	a.log(e)
	a.count(func() {
		a.out.Failures = append(a.out.Failures, answer.FleetFailure{File: e.File, Exit: e.Exit, Reason: e.Reason, Tries: e.Tries, Retry: e.Retry})
		if e.Retry {
			a.out.Retry++
		}
	})
}

// mostOutput is the maximum number of bytes read from a process.
const mostOutput = 1 << 20

// run adds a dump in a separate process.
func (a *adder) run(e *fleet.Entry) {
	ctx, cancel := context.WithTimeout(a.c.Context(), cmp.Or(a.o.Timeout, time.Hour))
	defer cancel()
	args := append([]string{"--dump", e.File}, a.args...)
	if remote.Is(e.File) && !e.Modified.IsZero() {
		args = append(args, "--modified", e.Modified.UTC().Format(time.RFC3339))
	}
	p := exec.CommandContext(ctx, a.program, append(args, a.o.Fleet)...)
	p.Env = append(os.Environ(), childVariable+"=1")
	p.WaitDelay = 10 * time.Second
	stdout, stderr := &bounded{}, &bounded{}
	p.Stdout, p.Stderr = stdout, stderr
	err := p.Run()
	e.Result, e.Exit, e.Reason, e.ID, e.Retry = fleet.Failed, -1, "", "", false
	if p.ProcessState != nil {
		e.Exit = p.ProcessState.ExitCode()
	}
	var said struct {
		Result struct {
			Path    string
			Skipped bool
			ID      string
		}
		Error struct {
			Text, Advice string
			Host, Limit  bool
		}
	}
	_ = json.Unmarshal(stdout.Bytes(), &said) // invalid output leaves it empty
	switch {
	case err == nil && said.Result.ID != "":
		e.Result, e.ID = fleet.Added, said.Result.ID
		if said.Result.Skipped {
			e.Result = fleet.Present
		}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		e.Exit, e.Retry, e.Reason = 0, true, fmt.Sprintf("it took longer than %v", cmp.Or(a.o.Timeout, time.Hour))
	case said.Error.Text != "":
		e.Reason = said.Error.Text
		// Errors of servers and networks have no advice. A limit that was given is no property of the dump.
		e.Retry = said.Error.Host || said.Error.Limit && a.c.Bounded() || e.Exit == cli.ExitOpen && remote.Is(e.File) && said.Error.Advice == ""
	case err != nil:
		e.Reason = strings.TrimSpace(cmp.Or(strings.TrimSpace(stderr.String()), err.Error()))
		e.Retry = true // sosgo says what is wrong with a dump; without memory or threads, Go ends the process
		switch {
		case p.ProcessState == nil:
			e.Reason = "its process can't be started: " + err.Error()
		case e.Exit < 0:
			e.Reason = "its process was killed (no memory?): " + err.Error()
		}
	default:
		e.Reason = "its process ended without an answer"
	}
}

// A bounded keeps the first mostOutput bytes written to it.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	_, _ = b.Buffer.Write(p[:min(len(p), mostOutput-b.Len())]) // never fails
	return len(p), nil
}
