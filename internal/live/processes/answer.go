package processes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/user"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/live/diagport"
)

// patience is how long a process may take to say what it is, and asked how many processes are asked at a time.
const (
	patience = 2 * time.Second
	asked    = 8
)

// Describe lists the processes, and asks each what it is.
func Describe(ctx context.Context) (*answer.Processes, error) {
	list, err := List()
	if err != nil {
		return nil, err
	}
	out := &answer.Processes{Processes: make([]answer.LiveProcess, len(list.Processes)), Hidden: list.Hidden}
	var all sync.WaitGroup
	free := make(chan struct{}, asked)
	for i := range list.Processes {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			out.Processes[i] = list.Processes[i].Answer(ctx, patience)
		})
	}
	all.Wait()
	return out, ctx.Err()
}

// Answer asks the process what it is, and describes it. The process has some time for its answer.
func (p *Process) Answer(ctx context.Context, patience time.Duration) answer.LiveProcess {
	out := answer.LiveProcess{PID: p.PID, Name: p.Name, User: p.user(), Resident: p.Resident, Container: p.Container, Port: p.Port,
		Command: Masked(p.Command), Age: answer.Of(answer.Seconds(0), errUnknown)}
	if p.Inner != p.PID {
		out.Inner = p.Inner
	}
	if !p.Started.IsZero() {
		started := p.Started.UTC()
		out.Started, out.Age = &started, answer.Known(answer.Seconds(max(0, time.Since(started).Round(time.Second).Seconds())))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, &Refusal{Text: fmt.Sprintf("it did not answer within %v", patience), Next: p.silent()})
	defer cancel()
	info, err := p.Ask(ctx)
	if err != nil && ctx.Err() != nil {
		if pid := p.Dumper(); pid != 0 {
			err = &Refusal{Text: fmt.Sprintf("a dump of it is being written (createdump, process %d)", pid), Next: "wait until it is done"}
		}
	}
	if err != nil {
		out.Unreachable, out.Next = err.Error(), p.Next(err)
		return out
	}
	out.Answers, out.Runtime, out.Platform = true, info.Version, platform(info)
	if info.Entry != "" {
		out.Name = info.Entry
	}
	if out.Command == "" {
		out.Command = Masked(strings.Fields(info.CommandLine))
	}
	if out.Name == "" {
		out.Name = nameOf(strings.Fields(info.CommandLine), "")
	}
	return out
}

var errUnknown = errors.New("not known on this system")

// silent returns what to do about a process that does not answer.
func (p *Process) silent() string {
	return fmt.Sprintf("it may be stopped, or another tool is collecting from it; if it stays so: %s", p.Gcore())
}

// Gcore returns the command line that takes a dump without the help of the runtime.
func (p *Process) Gcore() string { return fmt.Sprintf("gcore -o core %d", p.PID) }

// Next returns what to do about an error of Ask, or "".
func (p *Process) Next(err error) string {
	var own interface{ Advice() string }
	switch {
	case errors.As(err, &own):
		return own.Advice()
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("run sosgo as user %d or as root", p.UID)
	}
	return ""
}

// platform returns what the runtime was built for.
func platform(i *diagport.Info) string {
	if i.Platform != "" || i.OS == "" {
		return i.Platform
	}
	return strings.ToLower(i.OS) + "-" + i.Arch
}

// user returns the name of the process's user, or its number.
func (p *Process) user() string {
	if strings.HasPrefix(p.Port, `\\`) {
		return "" // Windows has no numbers
	}
	id := strconv.FormatUint(uint64(p.UID), 10)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

// Masked returns a command line with its secrets masked.
func Masked(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		name, value, given := strings.Cut(w, "=")
		switch {
		case i > 0 && secrets.SecretFollows(words[i-1], w), !given && secrets.Generated(w):
			out[i] = secrets.Mask
		case given && secrets.Hides(strings.TrimLeft(name, "-/"), value):
			out[i] = name + "=" + secrets.Mask
		default:
			out[i] = w
		}
	}
	return secrets.NewMasker().Text(strings.Join(out, " "))
}

// Called reports whether the process or its assembly has a name.
func (p *Process) Called(ctx context.Context, name string) bool {
	if p.Name == name {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	info, err := p.Ask(ctx)
	return err == nil && info.Entry == name
}

// Folders returns the folders with the module files of the process as paths of this process, if its own paths are not
// valid here. They exist while the process runs.
func (p *Process) Folders() []string {
	m, err := p.Mapped()
	if err != nil {
		return nil
	}
	v, err := p.View()
	if err != nil {
		return nil
	}
	defer v.Close()
	if v.Same {
		return nil
	}
	var out []string
	for _, dir := range m.Folders {
		out = append(out, v.Path(dir))
	}
	return out
}
