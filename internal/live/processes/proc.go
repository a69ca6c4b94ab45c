package processes

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A System is a machine with the proc file system of Linux.
type System struct {
	Proc string // where it is mounted: /proc
	Temp []string
	User uint32 // the effective user of this process
	Root bool   // this process may open all files
}

// Bounds of what is read of a process.
const (
	maxFile    = 16 << 20 // bytes of a file of /proc
	clockTicks = 100      // in a second: USER_HZ of all processors that Linux and Go share
	maxCommand = 4096     // arguments
	maxProgram = 1 << 30  // bytes of a program that are searched
	maxGroups  = 65_540   // of a process; the kernel allows 65,536
)

// containerIDs matches the id of a container in the name of a control group.
var containerIDs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9a-f]{64}`) })

// runsCLR matches a mapping that only a CLR has: the code of its libraries, which programs that merely read the files do
// not map as code, or its memory for compiled code, which a single-file program has, too.
var runsCLR = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\S+ ..x. .*/lib(coreclr|clrjit)\.so$|/memfd:doublemapper`)
})

// List returns the .NET processes of the system.
func (s *System) List() (*Listing, error) {
	names, err := os.ReadDir(s.Proc)
	if err != nil {
		return nil, err
	}
	out := &Listing{}
	boot := s.boot()
	for _, e := range names {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid <= 0 {
			continue
		}
		p, state := s.bounded(pid, boot)
		switch state {
		case isDotnet:
			out.Processes = append(out.Processes, *p)
		case isHidden:
			out.Hidden++
		}
	}
	slices.SortFunc(out.Processes, func(a, b Process) int { return cmp.Compare(a.PID, b.PID) })
	return out, nil
}

// absent returns why a process is not among those that List finds.
func (s *System) absent(pid int) error {
	p, known := s.process(pid, time.Time{})
	if known != isHidden {
		return notFound(pid)
	}
	next := fmt.Sprintf("run sosgo as user %d or as root", p.UID)
	if s.Root {
		next = p.Reach(fs.ErrPermission)
	}
	return &Refusal{Text: fmt.Sprintf("process %d can't be examined", pid), Next: next}
}

// States of a process for List.
type knowledge uint8

const (
	isOther  knowledge = iota // not a .NET process, or it has ended
	isHidden                  // it could not be examined
	isDotnet
)

// bounded is process with a limit on its time: a file system of a container may never answer.
func (s *System) bounded(pid int, boot time.Time) (*Process, knowledge) {
	type result struct {
		p     *Process
		state knowledge
	}
	done := make(chan result, 1)
	go func() {
		p, state := s.process(pid, boot)
		done <- result{p, state}
	}()
	select {
	case r := <-done:
		return r.p, r.state
	case <-time.After(patience):
		return nil, isHidden
	}
}

// process examines a process. Processes may end at any time: what cannot be read then is no error.
func (s *System) process(pid int, boot time.Time) (*Process, knowledge) {
	p := &Process{PID: pid, system: s}
	status, err := s.status(p)
	if err != nil {
		return nil, isOther
	}
	if p.start, err = s.startOf(pid); err != nil {
		return nil, isOther
	}
	if !boot.IsZero() {
		p.Started = boot.Add(time.Duration(p.start) * time.Second / clockTicks)
	}
	line, err := s.read(pid, "cmdline")
	if err != nil || len(line) == 0 {
		return nil, isOther // a thread of the kernel, or a zombie
	}
	words := bytes.SplitN(bytes.TrimRight(line, "\x00"), []byte{0}, maxCommand)
	for _, w := range words {
		p.Command = append(p.Command, string(w))
	}
	p.Name = nameOf(p.Command, status["Name"])
	groups, _ := s.read(pid, "cgroup") // without it, the container is not known
	p.Container = containerIDs().FindString(string(groups))
	return p, s.findPort(p)
}

// findPort looks for the process's diagnostics port, and returns whether it is a .NET process.
func (s *System) findPort(p *Process) knowledge {
	maps, mapsErr := s.read(p.PID, "maps")
	loaded := mapsErr == nil && runsCLR().Match(maps)
	environment, envErr := s.environment(p.PID)
	temp := environment["TMPDIR"]
	view, viewErr := s.View(p)
	if viewErr == nil {
		defer view.Close()
	} else {
		view = hostView()
	}
	folders := slices.Clone(s.Temp)
	if envErr == nil {
		folders = []string{cmp.Or(temp, "/tmp")}
	}
	// The key in the name is the start of the process, so the socket of an earlier process with its id does not count.
	name := fmt.Sprintf("dotnet-diagnostic-%d-%d-socket", p.Inner, p.start)
	for _, dir := range folders {
		socket := filepath.Join(dir, name)
		if _, err := view.Lstat(socket); err == nil {
			p.Port, p.Why = view.Path(socket), s.owner(p)
			return isDotnet
		}
	}
	if loaded {
		if p.Why = s.forked(p); p.Why == nil {
			p.Why = p.noPort(environment, envErr, viewErr, folders[0])
		}
		return isDotnet
	}
	if len(p.Command) > 0 && baseName(p.Command[0]) == "dotnet" && mapsErr != nil {
		p.Why = cmp.Or(s.owner(p), mapsErr)
		return isDotnet
	}
	if mapsErr != nil && errors.Is(mapsErr, fs.ErrPermission) {
		return isHidden
	}
	return isOther
}

// forked returns the reason why a child that fork made has no port, or nil for other processes.
func (s *System) forked(p *Process) error {
	parent := s.forkedFrom(p.PID)
	if parent == 0 {
		return nil
	}
	return &Refusal{Text: fmt.Sprintf("it has one thread and the program of process %d at the same address, as a child that fork made: only that process has a port", parent),
		Next: fmt.Sprintf("take a dump of process %d; of the child, gcore or the kernel writes a core with its one thread", parent)}
}

// forkedFrom returns the .NET process that has made another by fork, or 0 for other processes. Such a child has one thread, and its parent's program at
// its parent's addresses, which differ after an exec.
func (s *System) forkedFrom(pid int) int {
	status, err := s.read(pid, "status")
	if err != nil {
		return 0
	}
	ids := map[string]int{}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		ids[name], _ = strconv.Atoi(strings.TrimSpace(value)) // 0 for others
	}
	parent := ids["PPid"]
	if ids["Threads"] != 1 || parent == 0 {
		return 0
	}
	theirs, err := s.read(parent, "maps")
	if err != nil || !runsCLR().Match(theirs) {
		return 0
	}
	maps, err := s.read(pid, "maps")
	program, _, _ := bytes.Cut(maps, []byte{'\n'})
	if first, _, _ := bytes.Cut(theirs, []byte{'\n'}); err != nil || !bytes.Equal(first, program) {
		return 0
	}
	return parent
}

// Forked returns the children that fork made of the process. The runtime of a single file writes a dump in such a child, which .NET 8.0.30 leaves
// behind, asleep.
func (p *Process) Forked() (list []int) {
	if p.system == nil {
		return nil
	}
	names, err := os.ReadDir(p.system.Proc)
	if err != nil {
		return nil
	}
	for _, e := range names {
		if pid, err := strconv.Atoi(e.Name()); err == nil && p.system.forkedFrom(pid) == p.PID {
			list = append(list, pid)
		}
	}
	return list
}

// owner returns why this user may not ask the process, or nil.
func (s *System) owner(p *Process) error {
	if s.Root || s.User == p.UID {
		return nil
	}
	return &Refusal{Text: "it runs as another user", Next: fmt.Sprintf("run sosgo as user %d or as root", p.UID)}
}

// switches are the variables that switch the diagnostics port off if they are 0. The runtime reads both prefixes.
var switches = []string{"DOTNET_EnableDiagnostics", "COMPlus_EnableDiagnostics", "DOTNET_EnableDiagnostics_IPC", "COMPlus_EnableDiagnostics_IPC"}

// Reach returns who can reach the files of the process, which err forbids. Root is refused without a capability that containers lack by default.
func (p *Process) Reach(err error) string {
	if p.system != nil && p.system.Root && errors.Is(err, fs.ErrPermission) { // other systems have none
		const needs = "root needs the capability SYS_PTRACE (kubectl debug --profile=sysadmin, docker run --cap-add SYS_PTRACE)"
		if p.UID == p.system.User {
			return needs
		}
		return fmt.Sprintf("%s, or run sosgo as user %d", needs, p.UID)
	}
	return "run sosgo as the same user or as root, outside of the container"
}

// noPort returns the reason why a .NET process has no diagnostics port.
func (p *Process) noPort(environment map[string]string, envErr, viewErr error, dir string) error {
	if err := cmp.Or(envErr, viewErr); err != nil {
		return &Refusal{Text: "its environment and its files can't be read", Err: err, Next: p.Reach(err)}
	}
	for _, name := range switches {
		if v, ok := environment[name]; ok && isZero(v) {
			return &Refusal{Text: name + "=" + v + " switches its diagnostics port off", Next: "start it without this variable; until then only gcore or a core of the kernel helps"}
		}
	}
	return &Refusal{Text: "its socket is not in " + dir, Next: "something removed it (so does the runtime when its createdump can't be started, and a child that fork made of it when it ends), " +
		"or a setting in runtimeconfig.json switches the port off; " +
		"until the program is started again, only gcore or a core of the kernel helps"}
}

// isZero reports whether the runtime reads a value as 0: it reads numbers as hexadecimal.
func isZero(v string) bool {
	n, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(v), "0x"), 16, 64)
	return err == nil && n == 0
}

// View opens the file system of a process.
func (s *System) View(p *Process) (*View, error) {
	root := s.path(p.PID, "root")
	theirs, err := os.Stat(root)
	if err != nil {
		return nil, err
	}
	there, err := os.Readlink(s.path(p.PID, "ns/mnt"))
	if err != nil {
		return nil, err
	}
	here, err := os.Readlink(filepath.Join(s.Proc, "self/ns/mnt"))
	if err != nil {
		return nil, err
	}
	ours, err := os.Stat("/")
	if err != nil {
		return nil, err
	}
	if here == there && os.SameFile(ours, theirs) {
		return hostView(), nil
	}
	return openView(root)
}

// status reads the process's status: ids, user and memory.
func (s *System) status(p *Process) (map[string]string, error) {
	text, err := s.read(p.PID, "status")
	if err != nil {
		return nil, err
	}
	status := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		status[name] = strings.TrimSpace(value)
	}
	p.Inner = p.PID
	if ids := strings.Fields(status["NSpid"]); len(ids) > 0 {
		if p.Inner, err = strconv.Atoi(ids[len(ids)-1]); err != nil {
			return nil, err
		}
	}
	users := strings.Fields(status["Uid"]) // real, effective, saved, of the file system
	if len(users) != 4 {
		return nil, fmt.Errorf("process %d: its status lists no users", p.PID)
	}
	uid, err := strconv.ParseUint(users[1], 10, 32)
	if err != nil {
		return nil, err
	}
	for i, word := range append(strings.Fields(status["Groups"]), strings.Fields(status["Gid"])...) {
		if id, err := strconv.ParseUint(word, 10, 32); err == nil && i < maxGroups {
			p.Groups = append(p.Groups, uint32(id))
		}
	}
	p.UID, p.Resident, p.Swapped = uint32(uid), kilobytes(status["VmRSS"]), kilobytes(status["VmSwap"])
	return status, nil
}

// kilobytes returns the bytes of a value such as "12 kB", or nil.
func kilobytes(value string) *uint64 {
	n, err := strconv.ParseUint(strings.TrimSuffix(value, " kB"), 10, 54)
	if err != nil {
		return nil
	}
	n <<= 10
	return &n
}

// startOf returns when a process began, in ticks since the machine started. A process with the same id and another
// start is another process. A process that has ended and is still listed (a zombie) is an error.
func (s *System) startOf(pid int) (uint64, error) {
	text, err := s.read(pid, "stat")
	if err != nil {
		return 0, err
	}
	const field = 22 - 3                                                      // of those behind the name, which may contain anything
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // the third field and those that follow
	if len(fields) <= field {
		return 0, fmt.Errorf("process %d: its stat has %d fields", pid, len(fields))
	}
	if fields[0] == "Z" || fields[0] == "X" {
		return 0, fs.ErrNotExist
	}
	return strconv.ParseUint(fields[field], 10, 64)
}

// boot returns when the machine started, or the zero time.
func (s *System) boot() time.Time {
	text, _ := os.ReadFile(filepath.Join(s.Proc, "stat")) // without it, ages are not known
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "btime "); ok {
			if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil {
				return time.Unix(n, 0)
			}
		}
	}
	return time.Time{}
}

// environment returns the variables that the process started with.
func (s *System) environment(pid int) (map[string]string, error) {
	text, err := s.read(pid, "environ")
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for entry := range bytes.SplitSeq(text, []byte{0}) {
		name, value, ok := strings.Cut(string(entry), "=")
		if _, twice := out[name]; ok && !twice { // getenv finds the first
			out[name] = value
		}
	}
	return out, nil
}

func (s *System) path(pid int, name string) string {
	return filepath.Join(s.Proc, strconv.Itoa(pid), name)
}

// read reads a file of a process.
func (s *System) read(pid int, name string) ([]byte, error) {
	f, err := os.Open(s.path(pid, name))
	if err != nil {
		return nil, err
	}
	b, err := readAtMost(f, maxFile)
	return b, errors.Join(err, f.Close())
}
