package dac

import (
	"fmt"
	"strconv"
	"strings"
)

// Release returns the version under which the runtime was released, "10.0.14", or "" if unknown. The folder of a shared
// framework and the catalogue have it. So has a file version of .NET 5 and later: its third part is the number of the
// release and two digits of the year, as in 10.0.1426.52326.
func (i *Instance) Release() string {
	v := i.Version()
	parts := strings.Split(v, ".")
	if len(parts) != 4 {
		return v
	}
	major, _ := strconv.Atoi(parts[0])
	third, err := strconv.Atoi(parts[2])
	if err == nil && major >= 5 && third >= 100 {
		return fmt.Sprintf("%s.%s.%d", parts[0], parts[1], third/100)
	}
	if m := versionInPath().FindStringSubmatch(i.Module.Path); m != nil {
		return m[1]
	}
	if err == nil && major >= 5 {
		return strings.Join(parts[:2], ".") + ".0" // 8.0.23.53103: the first release, of 2023
	}
	return ""
}

// Is reports whether want is the version of the runtime, or the start of one up
// to a full stop: of its release, 10.0.14, or of its file, 10.0.1426.52326.
func (i *Instance) Is(want string) bool {
	for _, v := range []string{i.Version(), i.Release()} {
		if want != "" && (v == want || strings.HasPrefix(v, want+".")) {
			return true
		}
	}
	return false
}

// Title names the runtime among others: "#1 .NET Core 10.0.14 (10.0.1426.52326)".
func (i *Instance) Title() string {
	if i == nil {
		return "an unknown runtime"
	}
	v, release := i.Version(), i.Release()
	switch {
	case v == "":
		v = "of an unknown version"
	case release != "" && release != v:
		v = release + " (" + v + ")"
	}
	return fmt.Sprintf("#%d %v %s", i.Index, i.Flavor, v)
}
