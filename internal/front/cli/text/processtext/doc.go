// Package processtext writes answers about the process and its memory as text: in SOS's form, to the character, or
// with sosgo's additions. It receives answers and cannot read a dump.
package processtext
