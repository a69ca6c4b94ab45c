package layout

import (
	"fmt"
	"strconv"
	"strings"
)

// core31 has the release of .NET Core 3.1 for the third and fourth part of the file version 4.700. Releases 5 and 6 have
// the same runtime, so it names neither.
var core31 = map[string]int{
	"19.56402": 0, "19.60701": 1, "20.6602": 2, "20.11803": 3, "20.20201": 4, "20.36602": 7, "20.41105": 8, "20.47201": 9, "20.51601": 10,
	"20.56602": 11, "21.6504": 12, "21.11102": 13, "21.16201": 14, "21.21202": 15, "21.26205": 16, "21.31506": 17, "21.35901": 18, "21.41101": 19,
	"21.47003": 20, "21.51404": 21, "21.56803": 22, "22.11601": 23, "22.16002": 24, "22.21202": 25, "22.26002": 26, "22.30802": 27, "22.36202": 28,
	"22.41602": 29, "22.47601": 30, "22.51102": 31, "22.55902": 32,
}

// Release returns the version under which a runtime with a file version was released: "10.0.14" for 10.0.1426.52326,
// "8.0.0" for 8.0.23.53103, "3.1.27" for 4.700.22.30802. It returns "" for a file version of an unknown release, and
// version itself if it does not have four parts.
func Release(version string) string {
	parts := strings.Split(version, ".")
	if len(parts) != 4 {
		return version
	}
	major, err := strconv.Atoi(parts[0])
	third, terr := strconv.Atoi(parts[2])
	switch {
	case err != nil || terr != nil:
		return ""
	case major == 4 && parts[1] == "700":
		if n, ok := core31[parts[2]+"."+parts[3]]; ok {
			return fmt.Sprintf("3.1.%d", n)
		}
		return ""
	case major < 5:
		return ""
	}
	// The third part is the release and two digits of the year. The first release has the year alone.
	return fmt.Sprintf("%s.%s.%d", parts[0], parts[1], third/100)
}
