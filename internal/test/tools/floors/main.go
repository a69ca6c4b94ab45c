// Command floors compares the coverage of the tests with earlier values. It reads a coverage profile of "go test" and a
// file of floors, and fails if a package is covered less.
//
//	floors -file .ci/coverage [-raise] PROFILE
//
// With -raise it writes higher floors, and floors of new packages; floors never fall. Floors are whole percents, a few
// below the measured value, because tests on damaged dumps reach different lines when commands are added.
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path"
	"strings"

	"github.com/sosgo/sosgo/internal/test/floors"
)

func main() {
	file := flag.String("file", ".ci/coverage", "the floors")
	raise := flag.Bool("raise", false, "write what rose")
	flag.Parse()
	low, err := check(*file, *raise, flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "floors:", err)
		os.Exit(2)
	}
	if low {
		os.Exit(1)
	}
}

// slack is how many percents a floor is below the measured value.
const slack = 3

func check(file string, raise bool, profile string) (low bool, err error) {
	covered, err := readProfile(profile)
	if err != nil {
		return false, err
	}
	return floors.Hold(file, covered, slack, raise)
}

// module is the import path at the start of every block in a profile.
const module = "github.com/sosgo/sosgo"

// readProfile returns the percentage of statements that ran, by package. The profile lists a block once for each test
// binary that contains it.
func readProfile(profile string) (map[string]float64, error) {
	raw, err := os.ReadFile(profile)
	if err != nil {
		return nil, err
	}
	ran, statements := map[string]bool{}, map[string]int{}
	for line := range strings.Lines(string(raw)) {
		block, counts, ok := strings.Cut(strings.TrimSpace(line), " ")
		var n, count int
		if !ok || block == "mode:" {
			continue
		}
		if _, err := fmt.Sscan(counts, &n, &count); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", profile, line, err)
		}
		statements[block] = n
		ran[block] = ran[block] || count > 0
	}
	parts, all := map[string]int{}, map[string]int{}
	for block, n := range statements {
		file, _, _ := strings.Cut(block, ":")
		name := "coverage " + path.Clean(strings.TrimPrefix(strings.TrimPrefix(path.Dir(file), module), "/"))
		all[name] += n
		if ran[block] {
			parts[name] += n
		}
	}
	covered := map[string]float64{}
	for name, n := range all {
		covered[name] = math.Floor(floors.Percent(parts[name], n))
	}
	return covered, nil
}
