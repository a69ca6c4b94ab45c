package agreement

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
)

// FloorsName is the file of floors next to a canned dump.
const FloorsName = "agreement.txt"

// A Count is the number of right answers or equal lines in a section, and the total.
type Count struct{ Right, All int }

// Floors holds the minimum agreement by section: oracle/SECTION or sos/COMMAND.
type Floors map[string]Count

// ReadFloors reads lines of the form "SECTION RIGHT of ALL". A missing file means no floors.
func ReadFloors(file string) (Floors, error) {
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return Floors{}, nil
	}
	if err != nil {
		return nil, err
	}
	out := Floors{}
	for line := range strings.Lines(string(raw)) {
		var name string
		var c Count
		if _, err := fmt.Sscanf(line, "%s %d of %d\n", &name, &c.Right, &c.All); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", file, line, err)
		}
		out[name] = c
	}
	return out, nil
}

// Raise raises floors to higher counts.
func (f Floors) Raise(now Floors) {
	for name, c := range now {
		if c.Right >= f[name].Right {
			f[name] = c
		}
	}
}

// Write writes the floors.
func (f Floors) Write(file string) error {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(f)) {
		fmt.Fprintf(&b, "%s %d of %d\n", name, f[name].Right, f[name].All)
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}
