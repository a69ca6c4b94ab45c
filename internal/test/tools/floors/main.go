// Command floors compares the agreement with other tools, and the coverage of the tests, with
// earlier values. It reads the results of sosdiff and oraclediff (their --json files) or a coverage
// profile of "go test", and a file of floors, one "TOOL CASE PERCENT" per line. It fails if a case
// agrees less than its floor, or a package is covered less.
//
//	floors -file .ci/floors [-raise] sosdiff=FILE oraclediff=FILE
//	floors -file .ci/coverage [-raise] coverage=FILE
//
// With -raise it writes higher floors, and floors for new cases; floors never fall. Floors of
// coverage are whole percents, a few below the measured value, because tests on damaged dumps reach
// different lines when commands are added.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	file := flag.String("file", ".ci/floors", "the floors")
	raise := flag.Bool("raise", false, "write what rose")
	flag.Parse()
	low, err := check(*file, *raise, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "floors:", err)
		os.Exit(2)
	}
	if low {
		os.Exit(1)
	}
}

// coverageSlack is how many percents a floor of coverage is below the measured value.
const coverageSlack = 3

// A key is a tool and a case, or for coverage a package.
type key struct{ tool, name string }

// A score counts questions and right answers.
type score struct{ asked, right int }

// percent is rounded down to a hundredth, so that a floor never exceeds the measured value.
func (s score) percent() float64 {
	return math.Floor(10000*float64(s.right)/float64(max(s.asked, 1))) / 100
}

func check(file string, raise bool, results []string) (low bool, err error) {
	floors, err := readFloors(file)
	if err != nil {
		return false, err
	}
	scores := map[key]score{}
	for _, arg := range results {
		tool, path, ok := strings.Cut(arg, "=")
		if !ok {
			return false, fmt.Errorf("%q is not TOOL=FILE", arg)
		}
		if err := readResults(tool, path, scores); err != nil {
			return false, err
		}
	}
	for _, k := range sorted(maps.Keys(scores)) {
		got, floor := scores[k].percent(), floors[k]
		reached := got
		if k.tool == coverage {
			got = math.Floor(got)
			reached = got - coverageSlack
		}
		switch {
		case got < floor:
			low = true
			fmt.Printf("%s %s: %.2f %%, below the floor of %.2f\n", k.tool, k.name, got, floor)
		case reached > floor:
			fmt.Printf("%s %s: %.2f %%, the floor of %.2f can rise\n", k.tool, k.name, got, floor)
			floors[k] = reached
		default:
			fmt.Printf("%s %s: %.2f %%\n", k.tool, k.name, got)
		}
	}
	if raise {
		err = writeFloors(file, floors)
	}
	return low, err
}

func sorted(keys func(func(key) bool)) []key {
	return slices.SortedFunc(keys, func(a, b key) int { return cmp.Or(cmp.Compare(a.tool, b.tool), cmp.Compare(a.name, b.name)) })
}

// readResults adds up a tool's results for each case: sosdiff compares lines of files, oraclediff
// answers to questions.
func readResults(tool, path string, scores map[key]score) error {
	if tool == coverage {
		return readProfile(path, scores)
	}
	var rows []struct {
		File         string // sosdiff: CASE/sos/FILE
		Want, Same   int
		Case         string // oraclediff
		Asked, Right int
	}
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, &rows)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, r := range rows {
		k := key{tool, r.Case}
		if r.File != "" {
			k.name = filepath.Base(filepath.Dir(filepath.Dir(r.File)))
		}
		s := scores[k]
		scores[k] = score{s.asked + r.Want + r.Asked, s.right + r.Same + r.Right}
	}
	return nil
}

// coverage is the name of coverage profiles as a tool.
const coverage = "coverage"

// readProfile counts the statements of each package, and those that ran. The profile lists a block
// once for each test binary that contains it.
func readProfile(path string, scores map[key]score) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	ran, statements := map[string]bool{}, map[string]int{}
	for line := range strings.Lines(string(raw)) {
		block, counts, ok := strings.Cut(strings.TrimSpace(line), " ")
		var n, count int
		if !ok || block == "mode:" {
			continue
		}
		if _, err := fmt.Sscan(counts, &n, &count); err != nil {
			return fmt.Errorf("%s: %q: %w", path, line, err)
		}
		statements[block] = n
		ran[block] = ran[block] || count > 0
	}
	for block, n := range statements {
		file, _, _ := strings.Cut(block, ":")
		k := key{coverage, strings.TrimPrefix(strings.TrimPrefix(pathpkg.Dir(file), module), "/")}
		if k.name == "" {
			k.name = "."
		}
		s := scores[k]
		s.asked += n
		if ran[block] {
			s.right += n
		}
		scores[k] = s
	}
	return nil
}

// module is the import path at the start of every block in a profile.
const module = "github.com/sosgo/sosgo"

func readFloors(file string) (map[key]float64, error) {
	floors := map[key]float64{}
	f, err := os.Open(file)
	if os.IsNotExist(err) {
		return floors, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		if line := strings.TrimSpace(sc.Text()); line == "" || line[0] == '#' {
			continue
		}
		var k key
		var floor float64
		if _, err := fmt.Sscan(sc.Text(), &k.tool, &k.name, &floor); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", file, sc.Text(), err)
		}
		floors[k] = floor
	}
	return floors, sc.Err()
}

func writeFloors(file string, floors map[key]float64) error {
	var b strings.Builder
	b.WriteString("# Percent. Floors only rise: .ci/run -raise\n")
	for _, k := range sorted(maps.Keys(floors)) {
		fmt.Fprintf(&b, "%s %s %.2f\n", k.tool, k.name, floors[k])
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}
