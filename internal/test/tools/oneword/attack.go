package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// dumps are the attacked dumps: one with all kinds of objects, one with locks that are held, one
// with a busy thread pool, and one of a crash.
var dumps = []string{"net10-zoo", "locks/net10-locks", "net10-async", "net10-crash-nested"}

// lines are the attacked commands.
var lines = []string{
	"clrthreads", "threads", "clrstack -all", "parallelstacks", "pe", "crashinfo", "syncblk", "locks", "waits", "threadpool", "tasks", "dumpasync",
	"timerinfo", "dumpexceptions", "eeheap -gc", "eeheap -loader", "dumpheap -stat", "gchandles", "finalizequeue", "verifyheap", "dumpdomain", "modules",
	"eeversion", "gc", "triage",
}

// A job is a line to attack on a dump.
type job struct{ dump, line string }

func jobs() (out []job) {
	for _, d := range dumps {
		for _, l := range lines {
			out = append(out, job{d, l})
		}
	}
	return out
}

// An outcome is what an overwritten word does to an answer.
type outcome int

const (
	same      outcome = iota // the answer is the undamaged dump's
	failed                   // an error takes its place
	said                     // it differs, with a warning or a note
	text                     // it differs, without a word: the word is characters of a string, which nothing in a process repeats
	silent                   // it differs, without a word
	assertive                // and states something as proved or recorded
	broken                   // the command panicked
)

var outcomes = []string{"same", "failed", "said so", "text", "silent", "silent and assertive", "panicked"}

// A tally counts the outcomes.
type tally struct {
	read   int // words
	counts [broken + 1]int
	found  []finding
}

func (t *tally) add(o *tally) {
	t.read += o.read
	for i, n := range o.counts {
		t.counts[i] += n
	}
	t.found = append(t.found, o.found...)
}

func (t *tally) tried() (n int) {
	for _, c := range t.counts {
		n += c
	}
	return n
}

func (t *tally) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d words read, %d overwritten", t.read, t.tried())
	for i, n := range t.counts {
		fmt.Fprintf(&b, ", %d %s", n, outcomes[i])
	}
	return b.String()
}

// A finding is a word that changes an answer in silence.
type finding struct {
	outcome      outcome
	word         word
	lost, gained []string // lines of the answer
}

func (f finding) String() string {
	first := func(list []string) string {
		if len(list) == 0 {
			return ""
		}
		return fmt.Sprintf("%.110q", list[0])
	}
	return fmt.Sprintf("%s: %#x: %#x became %#x: -%d %s +%d %s", outcomes[f.outcome], uint64(f.word.addr), f.word.old, f.word.overwritten(), len(f.lost), first(f.lost),
		len(f.gained), first(f.gained))
}

// A word is a word of the process that a line read.
type word struct {
	addr    target.Addr
	old     uint64
	pointer bool
}

// overwritten returns what the word becomes: 0 for a pointer, and half of its lower or, if that is
// 0, of its upper half for a number.
func (w word) overwritten() uint64 {
	switch {
	case w.pointer:
		return 0
	case uint32(w.old) == 0:
		return w.old >> 33 << 32
	}
	return w.old&^0xffffffff | uint64(uint32(w.old)/2)
}

// A subject is an undamaged dump, with its answer to a line.
type subject struct {
	raw   []byte
	line  string
	sound answer
	dump  *process.Dump
	heap  *heap.Heap
	str   target.Addr // the MethodTable of System.String
}

func (j *job) open() (*subject, error) {
	root, err := testcase.ModuleRoot()
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(testcase.CannedFile(filepath.Join(root, "testdata", "dumps", j.dump, path.Base(j.dump)+".dmp.zst")).Plain())
	if err != nil {
		return nil, err
	}
	s := &subject{raw: raw, line: j.line, sound: ask(raw, options(), j.line)}
	return s, s.openHeap()
}

func (s *subject) openHeap() (err error) {
	if s.dump, err = process.OpenReaderAt(target.BytesSource(s.raw), int64(len(s.raw)), options()); err != nil {
		return err
	}
	p, err := s.dump.Process("")
	if err != nil {
		return err
	}
	rt, err := p.Runtime()
	if err != nil {
		return err
	}
	s.str = rt.WellKnown().String
	s.heap, err = p.Heap()
	return err
}

// inText reports whether a word is characters of a string.
func (s *subject) inText(a target.Addr) bool {
	o, err := s.heap.ObjectContaining(a)
	return err == nil && o.Type != nil && o.Type.Addr == s.str && a >= o.Addr+16
}

func options() process.Options { return process.Options{NoLocalFiles: true, Jobs: 1} }

// overwrite asks the line again with one word overwritten.
func (s *subject) overwrite(w word) (o outcome, lost, gained []string) {
	with := options()
	with.WrapMemory = func(m target.Memory) target.Memory {
		over := &testcase.Overlay{Memory: m}
		over.Set(testcase.Words(w.addr, w.overwritten()))
		return over
	}
	o, lost, gained = judge(s.sound, ask(s.raw, with, s.line))
	if (o == silent || o == assertive) && !w.pointer && s.inText(w.addr) {
		o = text
	}
	return o, lost, gained
}

// attack overwrites words of each kind, one at a time.
func (j *job) attack(how *settings) (t tally, err error) {
	s, err := j.open()
	if err != nil {
		return t, err
	}
	defer s.dump.Close()
	if s.sound.code != cli.ExitOK && s.sound.code != cli.ExitGate {
		return t, nil // the dump does not answer this line
	}
	pointers, numbers := s.words()
	t.read = len(pointers) + len(numbers)
	random := rand.New(rand.NewPCG(how.seed, uint64(len(s.raw))))
	for _, list := range [][]word{pointers, numbers} {
		random.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
		if how.words > 0 && how.at == 0 {
			list = list[:min(how.words, len(list))]
		}
		for _, w := range list {
			if how.at != 0 && w.addr != target.Addr(how.at) {
				continue
			}
			w.pointer = w.pointer || how.clear // pointers are cleared
			f := finding{word: w}
			f.outcome, f.lost, f.gained = s.overwrite(w)
			t.counts[f.outcome]++
			if f.outcome >= silent || how.at != 0 {
				t.found = append(t.found, f)
			}
		}
	}
	return t, nil
}

// words returns the words that the line reads.
func (s *subject) words() (pointers, numbers []word) {
	r := &recorder{seen: map[target.Addr]bool{}}
	with := options()
	with.WrapMemory = func(m target.Memory) target.Memory { r.Memory = m; return r }
	ask(s.raw, with, s.line)
	return r.words(s.dump.Target())
}

// A recorder records the aligned words of reads of at most largestRead bytes. Larger reads are
// objects, images or stacks, and their words are chosen by other reads.
type recorder struct {
	target.Memory
	mu   sync.Mutex
	seen map[target.Addr]bool
}

const largestRead = 64

func (r *recorder) note(a target.Addr, n int) {
	if n > largestRead {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for w := a &^ 7; w < a+target.Addr(n); w += 8 {
		r.seen[w] = true
	}
}

func (r *recorder) ReadMemory(p []byte, a target.Addr) (int, error) {
	n, err := r.Memory.ReadMemory(p, a)
	r.note(a, n)
	return n, err
}

// View lends nothing, so that each read is seen.
func (r *recorder) View(target.Addr, int) ([]byte, bool) { return nil, false }

// Span lends nothing.
func (r *recorder) Span(target.Addr) []byte { return nil }

// NextStored implements target.SparseMemory.
func (r *recorder) NextStored(a target.Addr) (target.Addr, bool) {
	return target.NextStored(r.Memory, a)
}

// words returns the recorded words, in the order of their addresses: pointers into the process, and
// numbers other than 0.
func (r *recorder) words(m target.Memory) (pointers, numbers []word) {
	for _, a := range slices.Sorted(maps.Keys(r.seen)) {
		var b, there [8]byte
		if n, err := m.ReadMemory(b[:], a); err != nil || n < len(b) {
			continue
		}
		w := word{addr: a, old: binary.LittleEndian.Uint64(b[:])}
		n, _ := m.ReadMemory(there[:1], target.Addr(w.old))
		switch w.pointer = n == 1; {
		case w.pointer:
			pointers = append(pointers, w)
		case w.overwritten() != w.old:
			numbers = append(numbers, w)
		}
	}
	return pointers, numbers
}

// An answer is what a line prints.
type answer struct {
	stdout, stderr string
	code           int
}

func ask(raw []byte, o process.Options, line string) answer {
	var stdout, stderr bytes.Buffer
	code := cli.Main(context.Background(), []string{"-d", "dump", "-jobs", "1", "-c", line}, strings.NewReader(""), &stdout, &stderr, cli.Env{
		Commands: commands.All(),
		Open: func(context.Context, string, cli.OpenOptions) (cli.Dump, error) {
			return process.OpenReaderAt(target.BytesSource(raw), int64(len(raw)), o)
		},
	})
	return answer{stdout.String(), stderr.String(), code}
}

// notes are the words by which an answer says that it is incomplete or contradictory.
var notes = []string{"not in dump", "not in the dump", "corrupt", "damage", "unreadable", "can't be read", "could not be read", "Partly read", "Not looked at", "incomplete",
	"is not known", "unknown", "inconsistent", "can't be judged", "ncomplete", "invalid", "Failure", "heap corruption"}

// judge compares an answer with the undamaged dump's.
func judge(sound, got answer) (o outcome, lost, gained []string) {
	lost, gained = without(sound.stdout, got.stdout), without(got.stdout, sound.stdout)
	switch {
	case got.code == cli.ExitBug:
		return broken, lost, gained
	case got.stdout == sound.stdout && got.code == sound.code:
		return same, nil, nil
	case got.code != sound.code && got.code != cli.ExitOK && got.code != cli.ExitGate:
		return failed, lost, gained
	case got.stderr != sound.stderr:
		return said, lost, gained
	}
	text := strings.Join(gained, "\n")
	for _, n := range notes {
		if strings.Contains(text, n) {
			return said, lost, gained
		}
	}
	if slices.ContainsFunc(gained, func(l string) bool { return states(l, sound.stdout) }) {
		return assertive, lost, gained
	}
	return silent, lost, gained
}

// states reports whether a line states something as proved or recorded that an answer does not have. A line with some of the clauses of another
// states nothing new, nor does one with another number.
func states(line, answer string) bool {
	says, proved := strings.CutSuffix(line, " [proved]")
	recorded := false
	if !proved {
		says, recorded = strings.CutSuffix(line, " [recorded]")
	}
	if !proved && !recorded {
		return strings.Contains(line, "[proved]") || strings.Contains(line, "[recorded]")
	}
	if n, rest, ok := strings.Cut(says, ". "); ok && strings.Trim(n, "0123456789") == "" {
		says = rest
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(says, ", in ", "; "), "; ") {
		if !strings.Contains(answer, part) {
			return true
		}
	}
	return false
}

// without returns the lines of a that b does not have.
func without(a, b string) (out []string) {
	has := map[string]bool{}
	for l := range strings.Lines(b) {
		has[l] = true
	}
	for l := range strings.Lines(a) {
		if !has[l] {
			out = append(out, strings.TrimSpace(l))
		}
	}
	return out
}
