// Command sosdiff compares the output of sosgo with the output of SOS, command by command, on the
// dumps of a corpus.
//
//	sosdiff [-only REGEXP] [-verbose N] [-jobs N] [-floor PERCENT] [-differences FILE] [-json FILE] CASE...
//
// A case is a folder with manifest.json, the dump and sos/*.txt. A file in sos/ begins with a line
// for each command that SOS received, such as "$ dumpheap -stat"; SOS's output follows. The
// agreement of a file is the fraction of SOS's lines that sosgo prints, too, in the same order.
// Blanks, leading zeros and the case of hexadecimal digits are ignored.
//
// With -differences, which names docs/differences.md, every differing line must have a cause in the
// table of causes (causes.txt of package agreement), and every cause a paragraph in that document.
// A cause that explains no line is printed, but is not a failure.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/sosgo/sosgo/internal/test/agreement"
	"github.com/sosgo/sosgo/internal/test/testcase"
)

type options struct {
	only    string
	verbose int
	jobs    int
	floor   float64
	timeout time.Duration
	json    string
	causes  string
}

func main() {
	var o options
	flag.StringVar(&o.only, "only", "", "only the files whose name fits this `regexp`")
	flag.IntVar(&o.verbose, "verbose", 0, "differing lines to print for each file")
	flag.IntVar(&o.jobs, "jobs", 2, "files at once")
	flag.Float64Var(&o.floor, "floor", 0, "fail if files agree in less than this `percentage` on average")
	flag.DurationVar(&o.timeout, "timeout", time.Minute, "time for the commands of one file")
	flag.StringVar(&o.causes, "differences", "", "fail if a differing line has no cause; `file` explains the causes")
	flag.StringVar(&o.json, "json", "", "write the results to this `file`, too")
	flag.Parse()
	low, err := run(flag.Args(), o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sosdiff:", err)
		os.Exit(2)
	}
	if low {
		os.Exit(1)
	}
}

func run(dirs []string, o options) (low bool, err error) {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return false, err
	}
	var results []*agreement.Comparison
	for _, dir := range dirs {
		list, err := compare(dir, only, o)
		if err != nil {
			return false, fmt.Errorf("%s: %w", dir, err)
		}
		results = append(results, list...)
	}
	if len(results) == 0 {
		return false, errors.New("no case has output of SOS")
	}
	low = report(results, o.verbose) < o.floor
	if o.causes != "" {
		unknown, err := explain(results, o.causes)
		if err != nil {
			return false, err
		}
		low = low || unknown > 0
	}
	if o.json == "" {
		return low, nil
	}
	raw, err := json.MarshalIndent(results, "", " ")
	if err != nil {
		return false, err
	}
	return low, os.WriteFile(o.json, raw, 0o644)
}

// mostUnexplained is the maximum number of printed lines without a cause.
const mostUnexplained = 20

// explain prints the differing lines without a cause and returns their number.
func explain(results []*agreement.Comparison, file string) (unknown int, err error) {
	differences, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	causes, err := agreement.ReadCauses(string(differences))
	if err != nil {
		return 0, err
	}
	all := 0
	for _, r := range results {
		lines, n := causes.Unexplained(r)
		all += n
		for _, line := range lines {
			if unknown++; unknown <= mostUnexplained {
				fmt.Printf("%s %q: %s\n", r.Name(), r.Verb(), line)
			}
		}
	}
	for _, text := range causes.Unused() {
		fmt.Printf("no line has this cause any more: %s\n", text)
	}
	fmt.Printf("%d of %d differing lines have no cause\n", unknown, all)
	return unknown, nil
}

func compare(dir string, only *regexp.Regexp, o options) (list []*agreement.Comparison, err error) {
	files, err := agreement.Folder(dir).SOS()
	files = slices.DeleteFunc(files, func(f agreement.SOSFile) bool { return !only.MatchString(f.Name) })
	if err != nil || len(files) == 0 {
		return nil, err
	}
	c, err := testcase.Load(dir)
	if err == nil {
		err = c.Unpack()
	}
	if err != nil {
		return nil, err
	}
	p := agreement.Open(c, o.jobs, o.timeout)
	defer func() { err = errors.Join(err, p.Close()) }()
	list = agreement.CompareAllSOS(p, files)
	for _, r := range list {
		r.File = filepath.Join(dir, "sos", r.File)
	}
	return list, nil
}

// A total adds up the files about one command.
type total struct{ files, equal, want, same int }

func (t *total) add(r *agreement.Comparison) {
	t.files++
	t.want += r.Want
	t.same += r.Same
	if r.Equal {
		t.equal++
	}
}

func (t *total) String() string {
	return fmt.Sprintf("%7d%7d%9d%8.1f%%", t.files, t.equal, t.want, percent(t.same, t.want))
}

// report prints the table and returns the mean agreement of a file.
func report(results []*agreement.Comparison, verbose int) (mean float64) {
	byVerb, all := map[string]*total{}, &total{}
	for _, r := range results {
		t := byVerb[r.Verb()]
		if t == nil {
			t = &total{}
			byVerb[r.Verb()] = t
		}
		t.add(r)
		all.add(r)
		mean += percent(r.Same, r.Want) / float64(len(results))
		if verbose > 0 && !r.Equal {
			fmt.Printf("--- %s %q exit code %d %s\n", r.File, r.Commands, r.Status, r.Error)
			for _, line := range r.Diff[:min(verbose, len(r.Diff))] {
				fmt.Println(line)
			}
		}
	}
	fmt.Printf("%-26s%7s%7s%9s%9s\n", "command", "files", "equal", "lines", "agree")
	for _, verb := range slices.Sorted(maps.Keys(byVerb)) {
		fmt.Printf("%-26s%v\n", verb, byVerb[verb])
	}
	fmt.Printf("%-26s%v   files equal %.1f%%, mean agreement of a file %.1f%%\n", "all", all, percent(all.equal, all.files), mean)
	return mean
}

func percent(part, all int) float64 { return 100 * float64(part) / float64(max(1, all)) }
