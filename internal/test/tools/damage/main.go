// Damage damages dumps, module files, PDBs and packs, runs the commands of sosgo on them, and
// counts the outcomes. Nothing may panic, take more than 20 seconds or 512 MB, or answer
// differently with another number of workers.
//
//	go run ./internal/test/tools/damage -n 5000            all subjects, in turn
//	go run ./internal/test/tools/damage -list              the subjects
//	go run ./internal/test/tools/damage -subject net10-zoo -case 17 -v    one case again
//
// A seed, a subject and the number of a case identify a case exactly. Each subject is examined in a
// separate process, so that its memory can be measured.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
)

type settings struct {
	seed    uint64
	cases   int
	first   int
	single  int
	subject string
	workers int
	share   int
	verbose bool
	list    bool
	child   bool
	table   string
	tmp     string
}

func main() {
	var s settings
	flag.Uint64Var(&s.seed, "seed", 1, "of the damage")
	flag.IntVar(&s.cases, "n", 5000, "how many damaged dumps")
	flag.IntVar(&s.first, "first", 0, "the number of each subject's first case")
	flag.IntVar(&s.single, "case", -1, "examine this case alone; wants -subject")
	flag.StringVar(&s.subject, "subject", "", "examine subjects whose name contains this; with -case the one of this name")
	flag.IntVar(&s.workers, "workers", runtime.NumCPU(), "processes at once")
	flag.IntVar(&s.share, "share", 1, "examine only every so many-th subject")
	flag.BoolVar(&s.verbose, "v", false, "say what is done")
	flag.BoolVar(&s.list, "list", false, "list the subjects")
	flag.BoolVar(&s.child, "child", false, "examine one subject and write what was counted to stdout")
	flag.StringVar(&s.table, "table", "", "write the counts as Markdown to this file")
	flag.StringVar(&s.tmp, "tmp", defaultTemp(), "folder for copies of module files, best in memory")
	flag.Parse()
	if err := s.run(); err != nil {
		fmt.Fprintln(os.Stderr, "damage:", err)
		os.Exit(1)
	}
}

// defaultTemp returns a folder in memory if the system has one.
func defaultTemp() string {
	if st, err := os.Stat("/dev/shm"); err == nil && st.IsDir() {
		return "/dev/shm"
	}
	return os.TempDir()
}

func (s *settings) run() error {
	all, err := sources()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(src source) bool {
		if s.single >= 0 || s.child {
			return src.name != s.subject
		}
		return !strings.Contains(src.name, s.subject)
	})
	switch {
	case len(all) == 0:
		return fmt.Errorf("there is no subject %q; -list lists them", s.subject)
	case s.list:
		for _, src := range all {
			fmt.Println(src.name, "("+string(src.kind)+")")
		}
		return nil
	case s.child || s.single >= 0:
		return s.examine(&all[0])
	}
	return s.examineAll(everyNth(all, s.share))
}

// everyNth returns every n-th item of a list, starting with the first.
func everyNth(all []source, n int) (out []source) {
	for i := 0; i < len(all); i += max(1, n) {
		out = append(out, all[i])
	}
	return out
}

// examine examines one subject in this process.
func (s *settings) examine(src *source) error {
	tmp, err := os.MkdirTemp(s.tmp, "damage")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := os.Setenv("TMPDIR", tmp); err != nil {
		return err
	}
	e := &examiner{seed: s.seed, tally: newTally(), say: func(string, ...any) {}}
	if s.verbose {
		e.say = func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	}
	e.dog = watch(patience, func(what, stacks string) {
		e.found(what, "slow", fmt.Sprintf("no end after %v\n%s", patience, stacks))
		e.tally.Longest, e.tally.LongestLine = max(e.tally.Longest, patience), what
		_ = e.write()
		os.RemoveAll(tmp)
		os.Exit(3)
	})
	if e.s, err = src.load(tmp, e); err != nil {
		return err
	}
	if s.single >= 0 {
		err := e.examine(uint64(s.single))
		e.report()
		return err
	}
	for n := s.first; n < s.first+s.cases; n++ {
		if err := e.examine(uint64(n)); err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, "case", n)
	}
	return e.write()
}

func (e *examiner) write() error { return json.NewEncoder(os.Stdout).Encode(e.tally) }

func (e *examiner) report() {
	for _, f := range e.tally.Findings {
		fmt.Printf("%s\n", f)
	}
	fmt.Printf("%d commands, the longest %v: %s; %d MB\n", e.tally.Commands, e.tally.Longest, e.tally.LongestLine, e.tally.Peak>>20)
}

func (f finding) String() string {
	return fmt.Sprintf("%s -subject %q -case %d: %s:%s\n  %s: %s", f.What, f.Subject, f.Case, f.Kind, f.Damage, f.Line, f.Detail)
}

// shownOfCause is the number of findings with one cause that are printed.
const shownOfCause = 3

// examineAll examines the subjects in separate processes and prints the outcomes.
func (s *settings) examineAll(all []source) error {
	total := newTally()
	var mu sync.Mutex
	var wg sync.WaitGroup
	queue := make(chan int)
	var errs []error
	seen := map[string]int{}
	for range s.workers {
		wg.Go(func() {
			for i := range queue {
				n := s.cases / len(all)
				if i < s.cases%len(all) {
					n++
				}
				t, err := s.subjectIn(all[i].name, n)
				mu.Lock()
				total.add(t)
				errs = append(errs, err)
				fmt.Fprintf(os.Stderr, "%s: %d cases, %d commands, %d findings, longest %v, %d MB\n", all[i].name, t.Cases, t.Commands, len(t.Findings),
					t.Longest.Round(1e6), t.Peak>>20)
				for _, f := range t.Findings {
					if seen[f.cause()]++; seen[f.cause()] <= shownOfCause {
						fmt.Println(f)
					}
				}
				mu.Unlock()
			}
		})
	}
	for i := range all {
		queue <- i
	}
	close(queue)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, cause := range slices.Sorted(maps.Keys(seen)) {
		fmt.Println(seen[cause], cause)
	}
	fmt.Print(total.summary())
	if s.table != "" {
		if err := os.WriteFile(s.table, []byte(total.markdown()), 0o644); err != nil {
			return err
		}
	}
	if len(total.Findings) > 0 {
		return fmt.Errorf("%d findings", len(total.Findings))
	}
	return nil
}

// subjectIn examines n cases of a subject in child processes. If one ends early, the next continues
// after it.
func (s *settings) subjectIn(name string, n int) (*tally, error) {
	total := newTally()
	for first := s.first; first < s.first+n; {
		self, err := os.Executable()
		if err != nil {
			return total, err
		}
		cmd := exec.Command(self, "-child", "-subject", name, "-first", fmt.Sprint(first), "-n", fmt.Sprint(s.first+n-first), "-seed", fmt.Sprint(s.seed), "-tmp", s.tmp)
		var stdout, stderr lastBytes
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err = cmd.Run()
		t := newTally()
		if jsonErr := json.Unmarshal(stdout.all, t); jsonErr == nil {
			total.add(t)
		}
		done := stderr.lastCase(first - 1)
		if err == nil {
			return total, nil
		}
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			return total, err
		}
		if done < first && exit.ExitCode() == 1 {
			return total, fmt.Errorf("%s: %s", name, stderr.all)
		}
		if exit.ExitCode() != 3 { // not the watchdog, which reports itself
			total.Findings = append(total.Findings, finding{Subject: name, Case: uint64(done + 1), What: "death", Detail: string(stderr.tail(8000))})
		}
		total.Cases++
		first = done + 2
	}
	return total, nil
}
