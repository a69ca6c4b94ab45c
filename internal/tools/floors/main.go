// Command floors holds the agreement with other tools to what was reached
// before: it reads the results of sosdiff and oraclediff (their --json files)
// and a file of floors, one "TOOL CASE PERCENT" a line, and fails if a case
// agrees less than its floor.
//
//	floors -file .ci/floors [-raise] sosdiff=FILE oraclediff=FILE
//
// With -raise it writes the floors that rose, and those of new cases; no floor
// ever falls.
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

// A key is a tool and a case.
type key struct{ tool, name string }

// A score counts questions and right answers.
type score struct{ asked, right int }

// percent is rounded down to a hundredth, so that a floor is never above what
// was measured.
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
		switch {
		case got < floor:
			low = true
			fmt.Printf("%s %s: %.2f %%, below the floor of %.2f\n", k.tool, k.name, got, floor)
		case got > floor:
			fmt.Printf("%s %s: %.2f %%, the floor of %.2f can rise\n", k.tool, k.name, got, floor)
			floors[k] = got
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

// readResults adds up what a tool says of each case: sosdiff compares lines of
// files, oraclediff answers to questions.
func readResults(tool, path string, scores map[key]score) error {
	var rows []struct {
		File         string // of sosdiff: CASE/sos/FILE
		Want, Same   int
		Case         string // of oraclediff
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
	b.WriteString("# Agreement with SOS and with the runtime's data-access library, percent. Floors only rise: .ci/run -raise\n")
	for _, k := range sorted(maps.Keys(floors)) {
		fmt.Fprintf(&b, "%s %s %.2f\n", k.tool, k.name, floors[k])
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}
