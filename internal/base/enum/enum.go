// Package enum formats the values of enumerations, for their String methods.
package enum

import "fmt"

// Name returns names[v], or typ and the number for a value without a name.
func Name[S ~string, T ~uint8 | ~uint16](names []S, v T, typ string) string {
	if int(v) < len(names) && names[v] != "" {
		return string(names[v])
	}
	return fmt.Sprintf("%s(%d)", typ, v)
}
