// Package floors holds measured values to the values that were reached before. A file has a floor on each line:
// NAME VALUE, where a name may contain blanks. Floors only rise.
package floors

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Hold compares values with the floors in a file, and prints each. It reports whether one is below its floor. If raise
// is set, it writes floors that rose and floors of new names, slack below the value.
func Hold(file string, now map[string]float64, slack float64, raise bool) (low bool, err error) {
	floors, err := read(file)
	if err != nil {
		return false, err
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		got, floor := now[name], floors[name]
		switch {
		case got < floor:
			low = true
			fmt.Printf("%s: %.2f %%, below the floor of %.2f\n", name, got, floor)
		case got-slack > floor:
			fmt.Printf("%s: %.2f %%, the floor of %.2f can rise\n", name, got, floor)
			floors[name] = got - slack
		default:
			fmt.Printf("%s: %.2f %%\n", name, got)
		}
	}
	if raise {
		err = write(file, floors)
	}
	return low, err
}

// Percent is rounded down to a hundredth, so that a floor never exceeds the measured value.
func Percent(part, all int) float64 {
	return math.Floor(10000*float64(part)/float64(max(all, 1))) / 100
}

func read(file string) (map[string]float64, error) {
	floors := map[string]float64{}
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return floors, nil
	}
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		end := strings.LastIndexByte(line, ' ')
		floor, err := strconv.ParseFloat(line[end+1:], 64)
		if err != nil || end < 0 {
			return nil, fmt.Errorf("%s: %q is not NAME VALUE", file, line)
		}
		floors[line[:end]] = floor
	}
	return floors, err
}

func write(file string, floors map[string]float64) error {
	var b strings.Builder
	b.WriteString("# Percent. Floors only rise: .ci/run -raise\n")
	for _, name := range slices.Sorted(maps.Keys(floors)) {
		fmt.Fprintf(&b, "%s %.2f\n", name, floors[name])
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}
