package text

import (
	"math"
	"strconv"
)

// SOSFloat is f as SOS prints it, with C's %f: six decimals, and the sign of a
// NaN.
func SOSFloat(f float64) string {
	switch {
	case math.IsNaN(f) && math.Signbit(f):
		return "-nan"
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	return strconv.FormatFloat(f, 'f', 6, 64)
}
