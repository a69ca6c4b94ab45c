package commands

import (
	"math"
	"strconv"
)

// sosFloat is f as SOS prints it, with C's %f: six decimals, and the sign of a
// NaN.
func sosFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return [2]string{"nan", "-nan"}[boolIndex(math.Signbit(f))]
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	return strconv.FormatFloat(f, 'f', 6, 64)
}
