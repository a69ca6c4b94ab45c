package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/target"
)

// The limits for every run.
const (
	patience    = 20 * time.Second // CPU time of one command
	memoryLimit = 512 << 20        // of the process, including the dump
	outputLimit = 64 << 20         // of one command
)

// jobCounts are the numbers of workers that must give the same answers.
var jobCounts = []int{1, 3, 8}

// linesPerOpening is the number of lines that are run on an undamaged dump before it is opened
// again. With more lines, less is known about what the last ones read.
var linesPerOpening = 8

// forms are the options for the form of an answer.
var forms = []string{"", "-sos", "-json"}

// linesPerCase is the number of lines to run on a damaged dump, with each number of workers.
const linesPerCase = 34

// A finding is a violation of the rules.
type finding struct {
	Subject string
	Case    uint64
	Kind    string
	Damage  string
	Line    string
	What    string // "panic", "slow", "memory", "difference", "exit code", "output"
	Detail  string
}

// cause returns a key for findings with the same cause: the function that panicked, or the command.
func (f *finding) cause() string {
	if f.What == "panic" || f.What == "death" || f.What == "slow" {
		for l := range strings.Lines(f.Detail) {
			if strings.HasPrefix(l, "github.com/sosgo/") {
				l, _, _ = strings.Cut(strings.TrimPrefix(l, "github.com/sosgo/sosgo/"), "(0x")
				return f.What + " in " + strings.TrimSpace(l)
			}
		}
	}
	command, _, _ := strings.Cut(f.Line, " ")
	return f.What + " of " + command
}

// A tally counts cases, commands and their outcomes.
type tally struct {
	Cases, Commands int
	ByContainer     map[string]int
	ByKind          map[string]map[string]int // kind → outcome → runs
	ByCommand       map[string]map[string]int
	Compared        map[string]int // kind → answers that were compared with the undamaged dump's
	Another         map[string]int // kind → answers that differed
	Longest         time.Duration
	LongestLine     string
	Peak            uint64
	Findings        []finding
}

func newTally() *tally {
	return &tally{ByContainer: map[string]int{}, ByKind: map[string]map[string]int{}, ByCommand: map[string]map[string]int{},
		Compared: map[string]int{}, Another: map[string]int{}}
}

func (t *tally) count(kind, command, outcome string) {
	for m, key := range map[*map[string]map[string]int]string{&t.ByKind: kind, &t.ByCommand: command} {
		if (*m)[key] == nil {
			(*m)[key] = map[string]int{}
		}
		(*m)[key][outcome]++
	}
	t.Commands++
}

// compare counts an answer in the plain form that was compared with the undamaged dump's.
func (t *tally) compare(kind string, another bool) {
	if t.Compared[kind]++; another {
		t.Another[kind]++
	}
}

// add adds another tally.
func (t *tally) add(o *tally) {
	t.Cases, t.Commands = t.Cases+o.Cases, t.Commands+o.Commands
	for to, from := range map[*map[string]int]map[string]int{&t.ByContainer: o.ByContainer, &t.Compared: o.Compared, &t.Another: o.Another} {
		for k, n := range from {
			(*to)[k] += n
		}
	}
	for to, from := range map[*map[string]map[string]int]map[string]map[string]int{&t.ByKind: o.ByKind, &t.ByCommand: o.ByCommand} {
		for k, m := range from {
			if (*to)[k] == nil {
				(*to)[k] = map[string]int{}
			}
			for outcome, n := range m {
				(*to)[k][outcome] += n
			}
		}
	}
	if o.Longest > t.Longest {
		t.Longest, t.LongestLine = o.Longest, o.LongestLine
	}
	t.Peak = max(t.Peak, o.Peak)
	t.Findings = append(t.Findings, o.Findings...)
}

// outcomes are the names of the exit codes that damage may cause.
var outcomes = map[int]string{cli.ExitOK: "answered", cli.ExitNotInDump: "not in the dump", cli.ExitCorrupt: "corrupt",
	cli.ExitUnsupported: "not supported", cli.ExitOpen: "not opened", cli.ExitUsage: "refused", cli.ExitGate: "something is wrong"}

// An examiner runs cases on a subject.
type examiner struct {
	s       *subject
	seed    uint64
	dog     *watchdog
	tally   *tally
	say     func(format string, args ...any) // prints with -v
	current finding                          // identifies the running case
}

// examine damages the subject for a case, runs lines on it, and undoes the damage. The same seed,
// subject and case do the same each time.
func (e *examiner) examine(n uint64) error {
	random := newRandom(e.seed, n*1_000_003+sum(e.s.name))
	k := kinds[n%uint64(len(kinds))]
	lines := e.chosen(random, n)
	restore, raw, damage, err := e.damage(random, k, lines, n)
	if err != nil {
		return err
	}
	defer restore()
	e.current = finding{Subject: e.s.name, Case: n, Kind: k.name, Damage: damage}
	e.say("%s, case %d: %s: %s", e.s.name, n, k.name, damage)
	if held() > memoryLimit/2 {
		debug.FreeOSMemory()
	}
	peak(true)
	e.runs(raw, lines, n)
	if p := peak(false); p > e.tally.Peak {
		e.tally.Peak = p
		if p > memoryLimit {
			e.found("", "memory", fmt.Sprintf("%d MB", p>>20))
		}
	}
	e.tally.Cases++
	e.tally.ByContainer[string(e.s.kind)]++
	return nil
}

// newRandom returns the random numbers of a case, which depend only on the arguments.
func newRandom(seed, n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, n)) }

// held returns the resident memory of the process in bytes.
func held() uint64 {
	b, err := os.ReadFile("/proc/self/statm")
	var size, resident uint64
	if err == nil {
		_, err = fmt.Sscan(string(b), &size, &resident)
	}
	if err != nil {
		return 0
	}
	return resident * uint64(os.Getpagesize())
}

func sum(s string) uint64 {
	h := summed{}
	_, _ = h.Write([]byte(s))
	return h.sum
}

// chosen returns the lines of a case. Lines take turns, so that each is run equally often.
func (e *examiner) chosen(random *rand.Rand, n uint64) []line {
	count := linesPerCase
	if e.s.alone() {
		count /= 3
	}
	order := newRandom(e.seed, sum(e.s.name)).Perm(len(e.s.lines))
	var out []line
	for i := range min(count, len(order)) {
		out = append(out, e.s.lines[order[(int(n)*count+i)%len(order)]])
	}
	random.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// damage damages the subject. It returns a function that undoes it, the bytes to open, and a
// description.
func (e *examiner) damage(random *rand.Rand, k kind, lines []line, n uint64) (mend func(), raw []byte, said string, err error) {
	d := &damager{random: random, raw: e.s.raw, lines: lines, heads: e.s.heads, common: e.s.opening}
	if len(e.s.files) == 0 {
		if e.s.dump == nil {
			d.lines, d.heads, d.common = nil, nil, nil // their places are in the dump inside
		}
		said = k.damage(d)
		raw, err = e.s.openable(d.raw)
		return func() { d.raw = e.s.raw; d.mend() }, raw, said, err
	}
	d.lines, d.heads, d.common = nil, nil, nil
	file := e.s.files[(n/uint64(len(kinds)))%uint64(len(e.s.files))]
	sound, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, "", err
	}
	d.raw = slices.Clone(sound)
	d.heads = imageHeads(sound)
	said = file[strings.LastIndexByte(file, '/')+1:] + ": " + k.damage(d)
	if err := os.WriteFile(file, d.raw, 0o600); err != nil {
		return nil, nil, "", err
	}
	return func() {
		if err := os.WriteFile(file, sound, 0o600); err != nil {
			panic(err) // later results would be meaningless
		}
	}, e.s.dump, said, nil
}

// runs runs the lines with each number of workers and compares the results.
func (e *examiner) runs(raw []byte, lines []line, n uint64) {
	var before []result
	for _, jobs := range jobCounts {
		var d *sosgo.Dump
		if !e.s.alone() {
			e.dog.begin(e.at("opening"))
			var err error
			d, err = sosgo.OpenReaderAt(target.BytesSource(raw), int64(len(raw)), e.s.options(jobs))
			e.time("opening")
			if err != nil && !errors.Is(err, target.ErrCorrupt) && !errors.Is(err, target.ErrUnsupported) && !errors.Is(err, target.ErrNotInDump) {
				e.found("opening", "exit code", "an error of no kind: "+err.Error())
			}
		}
		for i := range lines {
			text := strings.TrimSpace(lines[i].text + " " + forms[(int(n)+i)%len(forms)])
			r := e.one(raw, d, jobs, text)
			e.tally.count(e.current.Kind, lines[i].command, outcomes[r.code])
			e.judge(text, jobs, &r)
			if text == lines[i].text {
				e.tally.compare(e.current.Kind, r.sum != lines[i].sound)
			}
			if len(before) <= i {
				before = append(before, r)
			} else if r.sum != before[i].sum || r.size != before[i].size || r.code != before[i].code {
				e.found(text, "difference", fmt.Sprintf("%d and %d workers: exit codes %d and %d, %s", jobCounts[0], jobs, before[i].code, r.code,
					difference(before[i].stdout+before[i].stderr, r.stdout+r.stderr)))
			}
		}
	}
}

// one runs one line.
func (e *examiner) one(raw []byte, d *sosgo.Dump, jobs int, text string) result {
	what := fmt.Sprintf("%s (%d workers)", text, jobs)
	e.dog.begin(e.at(what))
	var r result
	if d != nil {
		r = e.s.runOpen(context.Background(), d, jobs, text)
	} else {
		r = e.s.run(context.Background(), raw, jobs, text)
	}
	e.time(what)
	e.say("  %s: exit code %d, %d bytes", what, r.code, r.size)
	return r
}

func (e *examiner) time(what string) time.Duration {
	took := e.dog.end()
	if took > e.tally.Longest {
		e.tally.Longest, e.tally.LongestLine = took, e.at(what)
	}
	return took
}

func (e *examiner) at(what string) string {
	return fmt.Sprintf("%s, case %d (%s): %s", e.s.name, e.current.Case, e.current.Kind, what)
}

// judge checks a result against the rules.
func (e *examiner) judge(text string, jobs int, r *result) {
	switch _, known := outcomes[r.code]; {
	case r.panicked != "":
		e.found(text, "panic", r.panicked)
	case r.code == cli.ExitBug:
		e.found(text, "panic", r.stderr[:min(len(r.stderr), 4000)])
	case !known:
		e.found(text, "exit code", fmt.Sprintf("%d: %s", r.code, r.stderr[:min(len(r.stderr), 4000)]))
	case r.code != cli.ExitOK && r.stderr == "" && r.size == 0: // triage gives the reason in its answer
		e.found(text, "exit code", fmt.Sprintf("%d without a word", r.code))
	}
	if r.size > outputLimit {
		e.found(text, "output", fmt.Sprintf("%d bytes with %d workers", r.size, jobs))
	}
}

func (e *examiner) found(text, what, detail string) {
	f := e.current
	f.Line, f.What, f.Detail = text, what, detail
	e.tally.Findings = append(e.tally.Findings, f)
	e.say("FOUND %s: %s: %s", text, what, detail)
}

// difference returns the first different line of two texts.
func difference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d:\n  %s\n  %s", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(x), len(y))
}
