// Package enum names the values of enumerations.
package enum

import "fmt"

// Name returns the name of v, and for a value without one its type and number.
func Name[T ~uint8 | ~uint16](names []string, v T, typ string) string {
	if int(v) < len(names) && names[v] != "" {
		return names[v]
	}
	return fmt.Sprintf("%s(%d)", typ, v)
}
