// Package typetext writes answers about types and code as text: in SOS's form, to the character, or with sosgo's
// additions. It receives answers and cannot read a dump.
package typetext
