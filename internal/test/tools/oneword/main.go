// Oneword overwrites single words of a canned dump, and compares the answers of commands with those
// of the undamaged dump.
//
//	go run ./internal/test/tools/oneword                       every dump, a sample of the words
//	go run ./internal/test/tools/oneword -words 0              every dump, every word
//	go run ./internal/test/tools/oneword -dump net10-zoo -line clrthreads -v
//	go run ./internal/test/tools/oneword -dump net10-zoo -line clrthreads -at 0x5579347fb680
//
// For each line it records the words that the commands read: the list of threads, counts, sync
// blocks, MethodTables, code heaps, segments, heads of queues, handles. It clears words that point
// into the process, and halves others or clears them, one at a time. A different answer without an error, a
// warning or a note of what is missing or damaged is silent. Characters of strings are counted
// apart, because nothing in a process repeats them. If a silent answer states something
// with the strength proved or recorded that the undamaged dump's answer does not, it is assertive.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
)

func main() {
	var s settings
	flag.StringVar(&s.dump, "dump", "", "attack this canned dump alone")
	flag.StringVar(&s.line, "line", "", "attack this line alone")
	flag.IntVar(&s.words, "words", 110, "how many words of each kind to overwrite for a line; 0 for all")
	flag.Uint64Var(&s.seed, "seed", 7, "of the choice of words")
	flag.IntVar(&s.workers, "workers", runtime.NumCPU(), "dumps at once")
	flag.BoolVar(&s.clear, "clear", false, "clear numbers, too")
	flag.Uint64Var(&s.at, "at", 0, "overwrite the word at this address alone, and print the lines that differ")
	flag.BoolVar(&s.verbose, "v", false, "print every silent answer")
	flag.Parse()
	if err := s.run(); err != nil {
		fmt.Fprintln(os.Stderr, "oneword:", err)
		os.Exit(1)
	}
}

type settings struct {
	dump, line string
	words      int
	seed       uint64
	workers    int
	clear      bool
	at         uint64
	verbose    bool
}

func (s *settings) run() error {
	var total tally
	var mu sync.Mutex
	var failure error
	work := make(chan job)
	var wg sync.WaitGroup
	for range max(1, s.workers) {
		wg.Go(func() {
			for j := range work {
				t, err := j.attack(s)
				mu.Lock()
				total.add(&t)
				if err != nil && failure == nil {
					failure = fmt.Errorf("%s: %s: %w", j.dump, j.line, err)
				}
				s.print(&j, &t)
				mu.Unlock()
			}
		})
	}
	for _, j := range jobs() {
		if (s.dump == "" || s.dump == j.dump) && (s.line == "" || s.line == j.line) {
			work <- j
		}
	}
	close(work)
	wg.Wait()
	fmt.Println("all:", total.String())
	return failure
}

// shown is the number of silent answers that are printed for a line without -v.
const shown = 3

func (s *settings) print(j *job, t *tally) {
	fmt.Printf("%s: %s: %s\n", j.dump, j.line, t)
	list := slices.Clone(t.found)
	slices.SortStableFunc(list, func(a, b finding) int { return int(b.outcome) - int(a.outcome) })
	for i, f := range list {
		if i == shown && !s.verbose {
			break
		}
		fmt.Printf("    %s\n", f)
		if s.at != 0 {
			fmt.Printf("--- %s\n+++ %s\n", strings.Join(f.lost, "\n--- "), strings.Join(f.gained, "\n+++ "))
		}
	}
}
